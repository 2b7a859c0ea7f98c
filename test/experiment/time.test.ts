// Time stamps of an experiment's table: what is refused, what is mended, and several series in one.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadData } from "../../src/experiment/data/data.js";
import type { SeriesData } from "../../src/experiment/data/experiment-data.js";
import { parseExperimentText } from "../../src/experiment/description/file.js";
import { type FinishedRun, runExperiment } from "../../src/experiment/index.js";
import { Forecaster } from "../../src/index.js";

const hours = Array.from({ length: 400 }, (_, t) =>
  new Date(Date.UTC(2024, 0, 1) + t * 3_600_000).toISOString().slice(0, 16).replace("T", " "),
);
const wave = (t: number) => Math.round(1000 * Math.sin((2 * Math.PI * t) / 24)) / 1000;
const lines = hours.map((hour, t) => `${hour},${wave(t)}`);
const stocks = ["AAPL", "AMZN", "GOOG", "IBM", "MSFT"];
const table = (rows: readonly string[], header = "time,load") => `${header}\n${rows.join("\n")}\n`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-time-"));
  const files = {
    "hourly.csv": table(lines),
    "deleted.csv": table(lines.filter((_, t) => t % 7 !== 6)),
    "holes.csv": table(lines.filter((_, t) => t !== 130 && t !== 350)),
    "reversed.csv": table(lines.toReversed()),
    "repeated.csv": table(lines.flatMap((line, t) => (t >= 10 && t < 15 ? [line, line] : [line]))),
    "half.csv": table(lines.flatMap((line, t) => (t === 20 ? [line, line.replace(":00,", ":30,")] : [line]))),
    "forms.csv": table([...lines.slice(0, 3), "2024-01-01,0"]),
    "stocks.csv": table(
      stocks.flatMap((stock, k) => lines.slice(0, 200).map((line, t) => `${stock},${line.split(",")[0]},${wave(t + k)}`)),
      "symbol,time,price",
    ),
    "driven.csv": table(
      hours.map((hour, t) => `${hour},${wave(t) + (t % 5 === 0 ? 1 : 0)},${t % 5 === 0 ? 1 : 0}`),
      "time,load,open",
    ),
    "epoch.csv": table(hours.map((_, t) => `${1_704_067_200 + 3600 * t},${wave(t)}`)),
    "test.csv": table(lines.slice(0, 150)),
    "daily.csv": table(lines.slice(0, 150).map((_, t) => `${new Date(Date.UTC(2024, 0, 1 + t)).toISOString().slice(0, 10)},1`)),
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
});
afterAll(() => rm(folder, { recursive: true }));

const forecast = "task: { type: forecast, horizon: 6, starts: 4, warmup: 20 }\nwashout: 20";
async function load(data: string, rest = forecast): Promise<SeriesData> {
  const path = join(folder, "x.yaml");
  const { experiment } = parseExperimentText(`name: x\nreservoir: { size: 20 }\ndata: ${data}\n${rest}\n`, path);
  return (await loadData(experiment, path, 0)) as SeriesData;
}
async function run(data: string, rest = forecast, more: { readonly out?: string } = {}): Promise<FinishedRun> {
  const path = join(folder, "x.yaml");
  await writeFile(
    path,
    `name: x\nreservoir: { size: 20 }\ndata: ${data}\n${rest.includes("outputs:") ? "" : "outputs: { report: false, refit: false }\n"}${rest}\n`,
  );
  return runExperiment(path, more);
}

describe("the time column of a table", () => {
  it("gives the rows their stamps, and says step, span and gaps", async () => {
    const data = await load("{ file: hourly.csv, time: time }");
    expect(data.names).toEqual(["load"]);
    expect(data.times!.slice(0, 2)).toEqual(["2024-01-01 00:00", "2024-01-01 01:00"]);
    expect(data.timesSaid).toBe("step 1 hour, 2024-01-01 00:00 to 2024-01-17 15:00, no gap");
  });

  it("is said in the result", async () => {
    const { result } = await run("{ file: hourly.csv, time: time }");
    expect(result.data["times"]).toBe("step 1 hour, 2024-01-01 00:00 to 2024-01-17 15:00, no gap");
  });

  it("is named by its index too, and may count seconds", async () => {
    const data = await load("{ file: epoch.csv, time: 0, timeUnit: s }");
    expect(data.timesSaid).toBe("step 1 hour, 1704067200 to 1705503600, no gap");
  });

  it.each([
    [
      "deleted.csv",
      "row 8 (2024-01-01 07:00): 1 row before it is missing, at a step of 1 hour; there are 57 gaps, of 57 rows in all. Set `gaps` to",
    ],
    ["reversed.csv", "row 3 (2024-01-17 14:00) is earlier than the row before it, and so is every row: turn the rows round"],
    ["repeated.csv", "row 13 (2024-01-01 10:00) has the time of the row before it; there are 5 such rows. Leave repeated rows out"],
    ["half.csv", "row 23 (2024-01-01 20:30) comes 30 minutes after the row before it, which is no multiple of the step of 1 hour"],
    ["forms.csv", 'row 5: "2024-01-01" has the form YYYY-MM-DD and the rows before it YYYY-MM-DD hh:mm'],
  ])("of %s is refused: %s", async (file, sentence) => {
    const refused = await load(`{ file: ${file}, time: time }`).catch((error: Error) => error.message);
    expect(refused).toContain(`${join(folder, file)}, column "time": ${sentence}`);
    expect(refused).not.toContain("\n");
  });

  it("of five series under each other is refused, with the column that may tell them apart", async () => {
    await expect(load("{ file: stocks.csv, time: time, columns: [price] }")).rejects.toThrow(
      "row 202 (2024-01-01 00:00) is earlier than the row before it; there are 4 such rows. Sort the rows; or are these several series? " +
        'Then name the column that tells them apart (group); columns beside it: "symbol"',
    );
  });

  it("takes the same step in a test file", async () => {
    const data = await load("{ file: hourly.csv, test: test.csv, time: time }");
    expect(data.testAxis!.wall).toHaveLength(150);
    await expect(load("{ file: hourly.csv, test: daily.csv, time: time }")).rejects.toThrow(
      /daily\.csv has time stamps YYYY-MM-DD with a step of 1 day, and .*hourly\.csv YYYY-MM-DD hh:mm with 1 hour; they take the same$/,
    );
  });

  it.each(["timeUnit: s", "gaps: hold"])("has to be there for %s", async (option) => {
    await expect(load(`{ file: hourly.csv, text: [time], ${option} }`)).rejects.toThrow(
      "nothing without data.time, which names the column of time stamps",
    );
  });
});

describe("gaps of a table", () => {
  it("are filled by a line or by the last row", async () => {
    const line = await load("{ file: deleted.csv, time: time, gaps: interpolate }");
    expect(line.timesSaid).toBe("step 1 hour, 2024-01-01 00:00 to 2024-01-17 15:00, 57 gaps of 57 rows, interpolated");
    expect(line.series.rows).toBe(400);
    expect(line.series.data[6]).toBeCloseTo((wave(5) + wave(7)) / 2, 12);
    expect(line.times![6]).toBe("2024-01-01 06:00");
    const held = await load("{ file: deleted.csv, time: time, gaps: hold }");
    expect(held.series.data[6]).toBe(wave(5));
  });

  it("split a series into parts that do not touch", async () => {
    const { result } = await run("{ file: holes.csv, time: time, gaps: split }");
    expect(result.data["times"]).toBe("step 1 hour, 2024-01-01 00:00 to 2024-01-17 15:00, 2 gaps of 2 rows, split there into 3 parts");
    // Rows 0 to 129, 131 to 349 and 351 to 399: 398, of which 318 train, 129 of the first part.
    expect(result.data["task"]).toContain(
      "from 4 starts, each after 28 rows; trained on 318 rows of 2 series (20 of them washout in each)",
    );
  });

  it("that leave no part long enough to train are refused", async () => {
    await expect(run("{ file: deleted.csv, time: time, gaps: split }")).rejects.toThrow(
      "washout is 20; it takes fewer than 5 rows: the longest of 58 parts has 6 to train on",
    );
  });
});

describe("several series in one table", () => {
  const data = "{ file: stocks.csv, time: time, columns: [price], group: symbol }";

  it("have their missing values filled from their own rows", async () => {
    const table = (second: string) => `price,own\n1,A\n1,A\n1,A\n1,A\nNA,A\n${second},B\n8,B\nNA,B\n9,B\n`;
    await writeFile(join(folder, "gaps.csv"), table("7"));
    const from = "{ file: gaps.csv, columns: [price], group: own, missing: hold }";
    const { series, more, summary } = await load(from);
    expect([[...series.data], [...more![0]!.series.data]]).toEqual([
      [1, 1, 1, 1, 1],
      [7, 8, 8, 9],
    ]);
    expect(summary).toContain("2 missing values: hold");
    await writeFile(join(folder, "gaps.csv"), table("NA"));
    await expect(load(from)).rejects.toThrow('row 7, column "price" ("B"): the value is missing and none before it can be held');
  });

  it("are told apart by a column, in the order in which they begin", async () => {
    const { series, group, more, timesSaid } = await load(data);
    expect([group, ...more!.map((each) => each.group)]).toEqual(stocks);
    expect([series, ...more!.map((each) => each.series)].every(({ rows }) => rows === 200)).toBe(true);
    expect(timesSaid).toBe("5 series, step 1 hour, no gap");
  });

  it("each have a part that trains and a part that tests", async () => {
    const { result } = await run(data);
    expect(result.data["task"]).toContain("trained on 800 rows of 5 series (20 of them washout in each)");
    expect(result.scores.find(({ metric }) => metric === "nrmse")!.value).toBeLessThan(0.2);
  });

  it("need no time column", async () => {
    const { result } = await run("{ file: stocks.csv, text: [time], columns: [price], group: symbol }");
    expect(result.data["task"]).toContain("trained on 800 rows of 5 series");
  });

  it("are for forecasts", async () => {
    await expect(load(data, "task: predict")).rejects.toThrow('data.group is "symbol"; it takes a task of type "forecast" without inputs');
  });
});

describe("what is known beforehand", () => {
  it("is a column of the table, of the row that is forecast", async () => {
    const data = await load("{ file: driven.csv, time: time, known: [open] }");
    expect(data.names).toEqual(["load"]);
    expect([...data.known!.data.subarray(0, 6)]).toEqual([1, 0, 0, 0, 0, 1]);
    const out = join(folder, "known");
    const knowing = "{ file: driven.csv, columns: [load], known: [open], time: time }";
    const { result } = await run(knowing, `${forecast}\noutputs: { states: npy, refit: false }`, { out });
    expect(result.files).toEqual(["result.json", "states.npy", "model.safetensors", "forecasts.csv", "history.csv", "report.html"]);
    const { result: alone } = await run("{ file: driven.csv, columns: [load], time: time }");
    expect(result.scores[0]!.value).toBeLessThan(0.8 * alone.scores[0]!.value);
  });

  it("is the calendar of the time stamps, which the model keeps", async () => {
    const data = "{ file: driven.csv, columns: [load], known: [open], time: time, calendar: [hour, weekday] }";
    const { result, folder: written } = await run(data, forecast, { out: join(folder, "calendar") });
    expect(result.config.reservoir).toMatchObject({ inputSize: 12 });
    await using model = await Forecaster.load(join(written!, "model.safetensors"));
    const { times } = await model.forecast(2, { known: [[0], [0]] });
    expect(times).toEqual([hours[320], hours[321]]);
  });

  it("is known of several series too", async () => {
    const { result } = await run("{ file: stocks.csv, time: time, columns: [price], group: symbol, calendar: [hour] }");
    expect(result.config.reservoir).toMatchObject({ inputSize: 5 });
  });

  it.each([
    ["{ file: hourly.csv, text: [time], calendar: [hour] }", forecast, "nothing without data.time"],
    ["{ file: hourly.csv, time: time, known: [load] }", forecast, "data.known takes all columns; one at least is left to be forecast"],
    [
      "{ file: hourly.csv, time: time, calendar: [minute] }",
      forecast,
      'data.calendar[0] is "minute"; it takes "hour", "weekday" or "yearday"',
    ],
    [
      "{ file: hourly.csv, time: time, calendar: [hour] }",
      "task: predict",
      'it takes a task of type "forecast": it is known of the rows that are forecast',
    ],
  ])("%s, %s: %s", async (data, rest, sentence) => {
    await expect(load(data, rest)).rejects.toThrow(sentence);
  });
});
