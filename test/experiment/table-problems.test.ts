// What keeps a table from being read: all of it in one error, with options that read it.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { SpillwayError } from "../../packages/core/src/errors.js";
import { loadData } from "../../src/experiment/data/data.js";
import type { SeriesData } from "../../src/experiment/data/experiment-data.js";
import { parseExperimentText } from "../../src/experiment/description/file.js";
import { runExperiment } from "../../src/experiment/index.js";
import "../../src/index.js";

const hour = 3_600_000;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-problems-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function load(data: string, task = "{ type: forecast, horizon: 6 }"): Promise<SeriesData> {
  const path = join(folder, "x.yaml");
  const { experiment } = parseExperimentText(`name: x\nreservoir: { size: 20 }\ndata: ${data}\ntask: ${task}\n`, path);
  return (await loadData(experiment, path, 0)) as SeriesData;
}

/** The error of a table, and what it reads with the options that the error says. */
async function followed(
  data: string,
  task?: string,
): Promise<{ readonly message: string; readonly data: string; readonly read: SeriesData }> {
  const error: SpillwayError = await load(data, task).then(
    () => expect.unreachable("the table was read"),
    (reason) => reason,
  );
  const said = /The table can be read with data: (\{ .* \})$/.exec(error.message)?.[1];
  expect(said, error.message).toBeDefined();
  return { message: error.message, data: said!, read: await load(said!, task) };
}

const german = Array.from({ length: 200 }, (_, t) => {
  const [day, time] = new Date(Date.UTC(2010, 0, 1) + t * hour).toISOString().slice(0, 16).split("T") as [string, string];
  const comma = (value: number) => value.toFixed(1).replace(".", ",");
  return [
    `${day.split("-").toReversed().join(".")} ${time}`,
    t < 24 ? "" : t % 50 === 0 ? "-" : comma(129 + t),
    String(-21 + (t % 7)),
    comma(-11 - t / 10),
    ["NW", "SE", "cv"][t % 3],
    t > 100 ? `1.${100 + t},5` : comma(t),
  ].join(";");
});

describe("a German table", () => {
  it("is read after one message, which names every problem", async () => {
    await writeFile(join(folder, "de.csv"), ["Zeit;Feinstaub;Taupunkt;Temperatur;Wind;Windweg", ...german].join("\n"));
    const { message, data, read } = await followed("{ file: de.csv }");
    expect(message).toContain('row 2, column "Zeit": "01.01.2010 00:00" is not a number');
    expect(message).toContain('row 52, column "Feinstaub": "-" is not a number');
    expect(message).toContain('row 2, column "Wind": "NW" is not a number');
    expect(message).toContain(
      '"Temperatur": "-11,0" is not a number; set `decimal` to "," if a comma is the decimal mark and set `thousands` to "."',
    );
    expect(message).toContain(
      'row 2, column "Feinstaub": the value is missing; set `missing` to "interpolate", "hold" or "drop", or to "mask"',
    );
    expect(parse(data)).toEqual({
      file: "de.csv",
      decimal: ",",
      thousands: ".",
      missingMarkers: ["-", ""],
      text: ["Wind"],
      time: "Zeit",
      timeFormat: "DD.MM.YYYY hh:mm",
      missing: "mask",
    });
    expect(read.names).toEqual(["Feinstaub", "Taupunkt", "Temperatur", "Windweg"]);
    expect(Array.from(read.series.row(150))).toEqual([129 + 149, -21 + (150 % 7), -26, 1250.5]);
    expect(read.times!.slice(0, 2)).toEqual(["01.01.2010 00:00", "01.01.2010 01:00"]);
  });

  it("gives a forecast with stamps in its form", async () => {
    await writeFile(
      join(folder, "short.csv"),
      [
        "Zeit;Temperatur",
        ...german.map((line) =>
          line
            .split(";")
            .filter((_, k) => k === 0 || k === 3)
            .join(";"),
        ),
      ].join("\n"),
    );
    const { data } = await followed("{ file: short.csv }");
    const path = join(folder, "run.yaml");
    await writeFile(
      path,
      `name: run\nreservoir: { size: 20 }\ndata: ${data}\noutputs: { report: false }\ntask: { type: forecast, horizon: 6, starts: 4 }\n`,
    );
    const { result } = await runExperiment(path, { out: join(folder, "run") });
    expect(result.data["times"]).toBe("step 1 hour, 01.01.2010 00:00 to 09.01.2010 07:00, no gap");
  });
});

describe("a table of which only the stamps are named", () => {
  it.each(["{ file: plain.csv, time: ds, columns: [ds] }", "{ file: plain.csv, columns: [ds] }"])(
    "is read by all others: %s",
    async (data) => {
      const rows = Array.from({ length: 60 }, (_, t) => `${new Date(Date.UTC(2010, 0, 1) + t * hour).toISOString().slice(0, 16)},${t}`);
      await writeFile(join(folder, "plain.csv"), ["ds,y", ...rows].join("\n"));
      const found = await followed(data);
      expect(parse(found.data)).toEqual({ file: "plain.csv", time: "ds" });
      expect(found.read.names).toEqual(["y"]);
    },
  );
});

describe("a table of several columns with missing cells", () => {
  it("is read after one message", async () => {
    const rows = Array.from({ length: 120 }, (_, t) => {
      const stamp = new Date(Date.UTC(2010, 0, 2) + t * hour).toISOString().slice(0, 16).replace("T", " ");
      return `${stamp},${t % 40 === 7 ? "" : 100 + t},${-16 + (t % 3)},${-4 + t},${1020 + (t % 5)},${1.79 * t}`;
    });
    await writeFile(join(folder, "bj.csv"), ["time,pm25,dewp,temp,pres,iws", ...rows].join("\n"));
    const { data, read } = await followed("{ file: bj.csv }");
    expect(parse(data)).toEqual({ file: "bj.csv", time: "time", missing: "mask" });
    expect([read.names.length, read.filled!.data.reduce((sum, cell) => sum + cell, 0)]).toEqual([5, 3]);
    const predicted = await followed("{ file: bj.csv }", "{ type: predict }");
    expect(parse(predicted.data)).toEqual({ file: "bj.csv", time: "time", missing: "hold" });
  });
});

describe("a table of a local clock", () => {
  // 02:00 standard time of the first Sundays of April and October.
  const changes = [Date.UTC(2012, 2, 31, 16), Date.UTC(2012, 9, 6, 16)] as const;
  const offset = (instant: number) => (instant >= changes[0] && instant < changes[1] ? 10 : 11);
  const rows = Array.from({ length: 366 * 48 }, (_, t) => {
    const instant = Date.UTC(2011, 11, 31, 13) + (t * hour) / 2;
    return `${new Date(instant + offset(instant) * hour).toISOString().slice(0, 16).replace("T", " ")},${4000 + (t % 48)}`;
  });

  it("is read with the zone that one message names, without a gap", async () => {
    await writeFile(join(folder, "vic.csv"), ["time,demand", ...rows].join("\n"));
    const { message, read } = await followed("{ file: vic.csv, time: time }");
    expect(message).toContain("row 4376 (2012-04-01 02:00) is earlier than the row before it");
    expect(message).toMatch(/set timeZone to the right one of .*"Australia\/Melbourne"/);
    expect(read.timesSaid).toMatch(/^step 30 minutes, 2012-01-01 00:00 to 2012-12-31 23:30, clock of [\w/]+, no gap$/);
    expect((await load("{ file: vic.csv, time: time, timeZone: Australia/Melbourne }")).series.rows).toBe(rows.length);
  });

  it("is recognised by the hour that is left out alone", async () => {
    await writeFile(join(folder, "spring.csv"), ["time,demand", ...rows.slice(12_000, 14_000)].join("\n"));
    const { message, read } = await followed("{ file: spring.csv, time: time }");
    expect(message).toMatch(/set timeZone to the right one of .*"Australia\/Melbourne"/);
    expect(read.series.rows).toBe(2000);
  });
});

describe("gaps in time", () => {
  it("are filled after one message", async () => {
    const rows = Array.from({ length: 100 }, (_, t) => `${new Date(Date.UTC(2020, 0, 1 + t)).toISOString().slice(0, 10)},${t}`);
    await writeFile(join(folder, "gap.csv"), ["day,x", ...rows.filter((_, t) => t !== 50)].join("\n"));
    expect(parse((await followed("{ file: gap.csv, time: day }")).data)).toEqual({ file: "gap.csv", time: "day", gaps: "hold" });
  });
});

describe("a column without a value", () => {
  it.each(["", "missing: drop, ", "columns: [x, empty], "])("is left out with { file: empty.csv, %s... }", async (more) => {
    await writeFile(join(folder, "empty.csv"), ["x,empty", ...Array.from({ length: 50 }, (_, t) => `${t},`)].join("\n"));
    const { message, data, read } = await followed(`{ file: empty.csv, ${more}}`);
    expect(message).toContain('column "empty": all 50 values of this column are missing; leave the column out');
    expect(parse(data)).toMatchObject({ text: ["empty"] });
    expect(read.names).toEqual(["x"]);
  });
});

describe("a problem that no option solves", () => {
  it("is the error that it was", async () => {
    await writeFile(join(folder, "width.csv"), "a,b\n1,2\n3\n");
    await expect(load("{ file: width.csv }")).rejects.toThrow(
      /row 3 holds 1 cells and the first row 2; every row takes the same number \(is the delimiter right\?\)$/,
    );
  });

  it("stands behind those that options solve", async () => {
    await writeFile(join(folder, "back.csv"), ["day,x", "01.01.2020,1", "02.01.2020,2", "31.12.2019,3", "04.01.2020,4"].join("\n"));
    await expect(load("{ file: back.csv }")).rejects.toThrow(
      /\(1\) row 2, column "day".*\(2\) column "day": row 4 \(31\.12\.2019\) is earlier.*Some of it is solved with data: \{ file: back\.csv, time: day/,
    );
  });
});

describe("any table of numbers, times and texts", () => {
  it("is read after at most one message", async () => {
    const forms = fc.constantFrom("iso", "DD.MM.YYYY", "M/D/YYYY");
    const marks = fc.constantFrom(["", "."], ["", ","], [".", ","], [",", "."], [" ", ","], ["'", "."]);
    const missing = fc.constantFrom("", "-", "n/a", "missing", undefined);
    await fc.assert(
      fc.asyncProperty(forms, marks, missing, fc.boolean(), async (form, [thousands, decimal], marker, hasText) => {
        const number = (value: number) => {
          const [whole, part] = value.toFixed(2).split(".") as [string, string];
          return whole.replace(/\B(?=(\d{3})+$)/g, thousands!) + decimal + part;
        };
        const values = Array.from({ length: 40 }, (_, t) => 990 + 7.25 * t);
        const rows = values.map((value, t) => {
          const date = new Date(Date.UTC(2021, 0, 5 + t)).toISOString().slice(0, 10);
          const [year, month, day] = date.split("-") as [string, string, string];
          const stamp =
            form === "iso" ? date : form === "DD.MM.YYYY" ? `${day}.${month}.${year}` : `${Number(month)}/${Number(day)}/${year}`;
          return [stamp, marker !== undefined && t === 20 ? marker : number(value), ...(hasText ? [`t${t % 3}`] : [])].join(";");
        });
        await writeFile(join(folder, "any.csv"), [hasText ? "when;value;kind" : "when;value", ...rows].join("\n"));
        const { read } = await followed("{ file: any.csv }");
        expect([read.names, read.axis !== undefined]).toEqual([["value"], true]);
        const expected = marker === undefined ? values : values.map((value, t) => (t === 20 ? values[19]! : value));
        expect(Array.from(read.series.data)).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });
});
