// A saved model forecasts from a table: by the names of columns and the time stamps of rows.
import "../../src/index.js";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Matrix } from "../../packages/numerics/src/index.js";
import { runExperiment } from "../../src/experiment/index.js";
import { forecastAhead } from "../../src/experiment/runs/ahead.js";
import { Classifier, FieldForecaster, Forecaster, NvarForecaster } from "../../src/model/index.js";
import { lorenz, mackeyGlass } from "../../src/tasks/index.js";

const day = 24;
let folder: string;
const at = (name: string) => join(folder, name);
const hourOf = (t: number) => new Date(Date.UTC(2024, 0, 1, t)).toISOString().slice(0, 16).replace("T", " ");

/** Hours of a load that follows the temperature, of two columns. */
const temperature = (t: number) => 10 * Math.cos((2 * Math.PI * t) / day) + 3 * Math.sin(t / 50);
const load = (t: number) => 100 - 2 * temperature(t - 1) + 5 * Math.sin((2 * Math.PI * t) / (7 * day));
const rows = 700;
const trained = 600;

interface Layout {
  readonly order?: readonly string[];
  readonly from?: number;
  readonly to?: number;
  /** Rows from here on have no load. */
  readonly measured?: number;
  readonly change?: (cells: Record<string, string>, t: number) => unknown;
  readonly keep?: (t: number) => boolean;
  /** Whether the first row names the columns; left out, it does. */
  readonly named?: boolean;
}

async function table(name: string, { order = ["date", "load", "temperature"], from = 0, to = rows, ...how }: Layout = {}): Promise<string> {
  const lines = how.named === false ? [] : [order.join(",")];
  for (let t = from; t < to; t++) {
    if (how.keep?.(t) === false) continue;
    const cells: Record<string, string> = {
      date: hourOf(t),
      load: t < (how.measured ?? rows) ? String(load(t)) : "",
      temperature: String(temperature(t)),
      remark: "x",
    };
    how.change?.(cells, t);
    lines.push(order.map((column) => cells[column]!).join(","));
  }
  await writeFile(at(name), `${lines.join("\n")}\n`);
  return at(name);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-ahead-"));
  await runExperiment(
    {
      name: "load",
      data: { file: await table("all.csv"), time: "date", columns: ["load"], known: ["temperature"] },
      transforms: ["standardise"],
      reservoir: { size: 30 },
      readout: { lambda: 1e-3 },
      task: { type: "forecast", horizon: day, starts: 3, warmup: 200 },
      split: { train: trained, test: rows - trained },
      seed: 1,
      outputs: { report: false, refit: false },
    },
    { out: folder },
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The rows of forecasts.csv that start at `start`, without the column of starts. */
async function lines(path: string, start: string): Promise<string[][]> {
  const all = (await readFile(path, "utf8")).trimEnd().split("\n").slice(1);
  return all.map((line) => line.split(",")).filter(([own]) => own === start);
}

describe("a run's model", () => {
  it("forecasts from a table of another order as the run did from the same rows, to the last bit", async () => {
    const data = await table("new.csv", { order: ["temperature", "remark", "load", "date"], to: trained + day, measured: trained });
    const { steps, after, unused } = await forecastAhead(at("load"), { data, out: at("forecasts.csv") });
    expect({ steps, after, unused }).toEqual({ steps: day, after: hourOf(trained - 1), unused: ["remark"] });
    const own = await lines(join(at("load"), "forecasts.csv"), String(trained));
    const made = await lines(at("forecasts.csv"), "last");
    // Start, step, time, column, target, prediction.
    expect(made.map((cells) => [cells[1], cells[2], cells[3], cells[5]])).toEqual(
      own.map((cells) => [cells[1], cells[2], cells[3], cells[5]]),
    );
  });

  it("takes what is known of the rows to come from a table of its own", async () => {
    const data = await table("new.csv", { to: trained + day, measured: trained });
    const before = await table("before.csv", { to: trained });
    const inputs = await table("weather.csv", { order: ["temperature", "date"], from: trained - 5, to: trained + day });
    const [together] = (await forecastAhead(at("load"), { data })).forecasts;
    const [apart] = (await forecastAhead(at("load"), { data: before, inputs, steps: day })).forecasts;
    expect(apart).toEqual(together);
  });

  it("goes on from the end of its training rows without a table", async () => {
    const inputs = await table("weather.csv", { order: ["temperature", "date"], from: trained, to: trained + 5 });
    const { steps, after, names, forecasts } = await forecastAhead(at("load"), { inputs });
    expect({ steps, after, names }).toEqual({ steps: 5, after: hourOf(trained - 1), names: ["load"] });
    expect(forecasts[0]!.times).toEqual(Array.from({ length: 5 }, (_, k) => hourOf(trained + k)));
  });

  it.each<[string, Layout, Parameters<typeof forecastAhead>[1], string]>([
    [
      "another name",
      { order: ["date", "lod", "temperature"] },
      {},
      'there is no column "load", which the model predicts; the columns are "date", "lod", "temperature"; did you mean lod?',
    ],
    [
      "no names",
      { order: ["date", "load", "temperature"], named: false },
      {},
      'there is no column "date", in which the model takes time stamps; the columns are "2024-01-01 00:00"',
    ],
    ["no known column", { order: ["date", "load"] }, {}, 'there is no column "temperature", which the model takes as known beforehand'],
    [
      "a missing value",
      { change: (cells, t) => t === 688 && Object.assign(cells, { load: "" }) },
      {},
      'row 690, column "load": the value is missing; set `missing` to "interpolate" or "hold"',
    ],
    [
      "a missing known value to come",
      { measured: trained, change: (cells, t) => t === trained + 1 && Object.assign(cells, { temperature: "" }) },
      {},
      `row ${trained + 3}, column "temperature": the value is missing; the model takes this column as known beforehand`,
    ],
    [
      "a gap",
      { keep: (t) => t !== 688 },
      {},
      `row 690 (${hourOf(689)}): 1 row before it is missing, at a step of 1 hour; it is the only gap. Set \`gaps\` to "interpolate" or "hold"`,
    ],
    [
      "a time stamp out of order",
      { change: (cells, t) => t === 8 && Object.assign(cells, { date: hourOf(2) }) },
      { missing: "hold" },
      `row 10, column "date" (${hourOf(2)}) is earlier than the row before it; it is the only such row. Sort the rows`,
    ],
    [
      "a repeated time stamp",
      { change: (cells, t) => t === 8 && Object.assign(cells, { date: hourOf(7) }) },
      {},
      `row 10, column "date" (${hourOf(7)}) has the time of the row before it`,
    ],
    [
      "a time stamp between hours",
      { change: (cells, t) => t === 8 && Object.assign(cells, { date: "2024-01-01 08:30" }) },
      {},
      "is not on the grid of the training rows",
    ],
    ["no measured value", { measured: 0 }, {}, 'no row has a value of "load"'],
    ["too few known rows", { to: 620, measured: trained }, { steps: 30 }, `known has no row of ${hourOf(620)}, step 21 of 30`],
    ["no known rows", { to: trained }, { steps: 30 }, "known is missing; this forecaster takes 1 known inputs for each of the 30 steps"],
    ["bands beyond the horizon", { measured: trained }, { intervals: [0.9] }, "steps is 100; it takes at most 24 with intervals"],
  ])("refuses %s in a sentence", async (_, layout, options, sentence) => {
    const data = await table("bad.csv", layout);
    await expect(forecastAhead(at("load"), { data, ...options })).rejects.toThrow(sentence);
  });

  it("checks for gaps and missing values only the rows that it takes", async () => {
    const to = trained + day;
    const clean = await forecastAhead(at("load"), { data: await table("new.csv", { to, measured: trained }) });
    const data = await table("old-gap.csv", {
      to,
      measured: trained,
      keep: (t) => t < 100 || t > 147,
      change: (cells, t) => t === 200 && Object.assign(cells, { load: "" }),
    });
    expect((await forecastAhead(at("load"), { data })).forecasts[0]!.prediction).toEqual(clean.forecasts[0]!.prediction);
  });

  it("does with gaps and missing values what was done in the table it was trained on", async () => {
    const keep = (t: number) => t !== 300 && t !== 590;
    const change = (cells: Record<string, string>, t: number) => (t === 40 || t === 580) && Object.assign(cells, { load: "n/a" });
    const source = { file: await table("held.csv", { keep, change }), time: "date", columns: ["load"] };
    const data = { ...source, gaps: "hold", missing: "hold" } as const;
    const task = { type: "forecast", horizon: day, starts: 3, warmup: 200 } as const;
    await runExperiment(
      { name: "held", data, reservoir: { size: 30 }, readout: { lambda: 1e-3 }, task, outputs: { report: false } },
      { out: folder },
    );
    const file = await table("held-to-600.csv", { order: ["date", "load"], to: trained, keep, change });
    const own = await forecastAhead(at("held"), { data: file });
    const said = await forecastAhead(at("held"), { data: file, gaps: "hold", missing: "hold" });
    expect(own.forecasts).toEqual(said.forecasts);
    await expect(forecastAhead(at("held"), { data: file, missing: "error" })).rejects.toThrow('column "load": the value is missing');
  });

  it("mends what it is told to mend", async () => {
    const to = trained + day;
    const clean = await forecastAhead(at("load"), { data: await table("new.csv", { to, measured: trained }) });
    const holes = await table("holes.csv", {
      to,
      measured: trained,
      keep: (t) => t !== 590,
      change: (cells, t) => t === 580 && Object.assign(cells, { load: "" }),
    });
    const mended = await forecastAhead(at("load"), { data: holes, missing: "interpolate", gaps: "interpolate" });
    expect(mended.forecasts[0]!.times).toEqual(clean.forecasts[0]!.times);
    const off = mended.forecasts[0]!.prediction.data.map((value, i) => Math.abs(value - clean.forecasts[0]!.prediction.data[i]!));
    expect(Math.max(...off)).toBeLessThan(5);
    expect(Math.max(...off)).toBeGreaterThan(0);
  });
});

describe("a run that chose its lambda and has a logarithm", () => {
  const grown = (t: number) => Math.exp(t / 150 + 0.3 * Math.sin(t / 3) + 0.1 * Math.sin(t * t));
  const write = async (name: string, count: number) => {
    const lines = Array.from({ length: count }, (_, t) => `${hourOf(t)},${grown(t)}`);
    await writeFile(at(name), ["date,flow", ...lines].join("\n"));
    return at(name);
  };
  const run = async (name: string, readout: object) =>
    runExperiment(
      {
        name,
        data: { file: await write("grown.csv", 400), time: "date" },
        transforms: ["log", "standardise"],
        reservoir: { size: 20 },
        readout,
        task: { type: "forecast", horizon: 6, starts: 5, warmup: 100, members: 2, lags: 0 },
        split: { train: 320, test: 80 },
        outputs: { report: false, refit: false },
      },
      { out: folder },
    );

  it("has bands of its choice, and the same ones from its model and a table", async () => {
    await run("grown", {});
    const own = await lines(join(at("grown"), "forecasts.csv"), "320");
    const data = await write("so-far.csv", 320);
    await forecastAhead(at("grown"), { data, out: at("grown.csv.out") });
    const made = await lines(at("grown.csv.out"), "last");
    expect(made.map((cells) => [cells[2], ...cells.slice(5, 8)])).toEqual(own.map((cells) => [cells[2], ...cells.slice(5, 8)]));
  });

  it.each([
    ["chosen", {}],
    ["set", { lambda: 1e-2 }],
  ])("has bands as wide as the forecast is large, if lambda is %s", async (name, readout) => {
    await run(name, readout);
    const table = (await readFile(join(at(name), "forecasts.csv"), "utf8")).trimEnd().split("\n").slice(1);
    const ratios = new Map<string, number[]>();
    for (const line of table) {
      const [, step, , , , prediction, lower, upper] = line.split(",");
      ratios.set(step!, [...(ratios.get(step!) ?? []), Number(upper) / Number(prediction), Number(prediction) / Number(lower)]);
    }
    expect(ratios.size).toBe(6);
    for (const [, [first, ...others]] of ratios) {
      expect(first).toBeGreaterThan(1);
      for (const ratio of others) expect(ratio / first!).toBeCloseTo(1, 9);
    }
  });
});

describe("a model that a program saved", () => {
  const series = (count: number) => Matrix.from(mackeyGlass(count, { seed: 1 }));
  const csv = async (name: string, heads: readonly string[], matrix: Matrix) => {
    await writeFile(at(name), [heads.join(","), ...matrix.toArrays().map((row) => row.join(","))].join("\n"));
    return at(name);
  };

  it("forecasts with the bands of its choice, as many as are asked for", async () => {
    const model = at("chosen.safetensors");
    await using forecaster = await Forecaster.fit(series(500), {
      reservoir: { size: 30 },
      members: 1,
      horizon: 10,
      table: { columns: ["y"] },
    });
    await forecaster.save(model);
    const data = await csv("y.csv", ["y"], series(520));
    const usual = await forecastAhead(model, { data });
    expect({ steps: usual.steps, levels: usual.levels }).toEqual({ steps: 10, levels: [0.9] });
    const said = await forecaster.forecast(10, { warmup: series(520), intervals: [0.8, 0.9] });
    const { forecasts } = await forecastAhead(model, { data, intervals: [0.8, 0.9], out: at("bands.csv") });
    expect(forecasts[0]).toMatchObject({ row: 520, prediction: { data: said.data }, band: said.bands![0], more: [said.bands![1]] });
    await expect(forecastAhead(model, { data, bandsFrom: "members" })).rejects.toThrow(
      'bandsFrom is "members" and this forecaster has one',
    );
    const written = (await readFile(at("bands.csv"), "utf8")).split("\n");
    expect(written[0]).toBe("start,step,time,column,target,prediction,lower,upper,baseline,lower 0.9,upper 0.9");
    expect(written[1]!.split(",")).toHaveLength(11);
  });

  it("takes columns in their order if its file names none, and as many as it takes", async () => {
    const model = at("plain.safetensors");
    await using forecaster = await Forecaster.fit(series(300), { reservoir: { size: 20 } });
    await forecaster.save(model);
    const data = await csv("any.csv", ["any"], series(320));
    const { forecasts, names } = await forecastAhead(model, { data, steps: 5 });
    expect(names).toEqual(["any"]);
    expect(forecasts[0]!.prediction.data).toEqual((await forecaster.forecast(5, { warmup: series(320) })).data);
    const two = await csv("two.csv", ["a", "b"], Matrix.zeros(5, 2));
    await expect(forecastAhead(model, { data: two, steps: 5 })).rejects.toThrow(
      'has 2 columns ("a", "b"); the model\'s file names none, and it takes 1 column',
    );
    await expect(forecastAhead(model, { data })).rejects.toThrow("steps is missing; the settings of the model were chosen for no horizon");
  });

  it("forecasts polynomials and fields by the same names", async () => {
    const names = ["x", "y", "z"];
    const data = Matrix.from(lorenz(420));
    const file = await csv("lorenz.csv", names, data);
    await using nvar = await NvarForecaster.fit(data.subarray(0, 400), { table: { columns: names } });
    await nvar.save(at("nvar.safetensors"));
    const said = await forecastAhead(at("nvar.safetensors"), { data: file, steps: 5 });
    expect(said.forecasts[0]!.prediction.data).toEqual((await nvar.forecast(5, { warmup: data })).data);
    await using field = await FieldForecaster.fit(data.subarray(0, 400), { groups: 3, reservoir: { size: 20 }, table: { columns: names } });
    await field.save(at("field.safetensors"));
    const turned = await csv("turned.csv", ["z", "x", "y"], Matrix.from(data.toArrays().map(([x, y, z]) => [z!, x!, y!])));
    const ring = await forecastAhead(at("field.safetensors"), { data: turned, steps: 5 });
    expect(ring.forecasts[0]!.prediction.data).toEqual((await field.forecast(5, { warmup: data })).data);
    await expect(forecastAhead(at("nvar.safetensors"), { steps: 5, bandsFrom: "members" })).rejects.toThrow(
      'bandsFrom is "members" and this forecaster has one',
    );
  });

  it("has bands of polynomials and fields that were fitted with a horizon", async () => {
    const data = Matrix.from(lorenz(420));
    const choice = { horizon: 4, choose: { lambdas: [1], starts: 9 } };
    await using nvar = await NvarForecaster.fit(data, choice);
    await using field = await FieldForecaster.fit(data, { ...choice, groups: 3, reservoir: { size: 20 } });
    for (const model of [nvar, field]) {
      await model.save(at("bands.safetensors"));
      const { levels, steps, forecasts } = await forecastAhead(at("bands.safetensors"));
      expect([levels, steps]).toEqual([[0.9], 4]);
      expect(forecasts[0]!.band).toEqual((await model.forecast(4, { intervals: [0.9] })).bands![0]);
    }
  });

  it("carries the time stamps of a field on", async () => {
    const data = Matrix.from(lorenz(220));
    const day = (t: number) => new Date(Date.UTC(2024, 0, 1 + t)).toISOString().slice(0, 10);
    const times = Array.from({ length: 200 }, (_, t) => day(t));
    await using field = await FieldForecaster.fit(data.subarray(0, 200), {
      ...{ times, groups: 3, reservoir: { size: 20 }, table: { columns: ["x", "y", "z"], time: "day" } },
    });
    await field.save(at("days.safetensors"));
    const saved = await forecastAhead(at("days.safetensors"), { steps: 2 });
    expect([saved.after, saved.forecasts[0]!.times]).toEqual([day(199), [day(200), day(201)]]);
    await writeFile(at("days.csv"), ["day,x,y,z", ...data.toArrays().map((row, t) => [day(t + 100), ...row].join(","))].join("\n"));
    const later = await forecastAhead(at("days.safetensors"), { data: at("days.csv"), steps: 2 });
    expect(later.forecasts[0]!.times).toEqual([day(320), day(321)]);
    expect(later.forecasts[0]!.prediction.data).toEqual((await field.forecast(2, { warmup: data })).data);
  });

  it.each(["field", "nvar"])("takes known inputs, the calendar and gaps of a %s from the table", async (kind) => {
    const swing = (t: number) => [load(t), load(t - 3), load(t - 6), load(t - 9)];
    const [open, to] = [trained, trained + day];
    const gap = (t: number, c: number) => t % 17 === 5 && c === t % 4;
    const series = Matrix.from(Array.from({ length: open }, (_, t) => swing(t).map((value, c) => (gap(t, c) ? Number.NaN : value))));
    const known = Matrix.from(Array.from({ length: to }, (_, t) => [temperature(t)]));
    const data = { series, known: known.subarray(0, open), times: Array.from({ length: open }, (_, t) => hourOf(t)) };
    const table = { columns: ["n", "e", "s", "w"], known: ["temperature"], time: "date" };
    const options = { missing: "mask", calendar: ["hour"], table } as const;
    await using model =
      kind === "nvar"
        ? await NvarForecaster.fit(data, { ...options, degrees: [] })
        : await FieldForecaster.fit(data, { ...options, groups: 2, halo: 1, reservoir: { size: 30 } });
    await model.save(at("swing.safetensors"));
    const line = (t: number) => [
      temperature(t),
      hourOf(t),
      ...(t < open ? swing(t).map((value, c) => (gap(t, c) ? "" : value)) : ["", "", "", ""]),
    ];
    const lines = ["temperature,date,n,e,s,w", ...Array.from({ length: to }, (_, t) => line(t).join(","))];
    await writeFile(at("swing.csv"), lines.join("\n"));
    const said = await forecastAhead(at("swing.safetensors"), { data: at("swing.csv") });
    expect(said.steps).toBe(day);
    const wanted = await model.forecast(day, { warmup: data, known: known.subarray(open) });
    expect(said.forecasts[0]).toMatchObject({ times: wanted.times, prediction: { data: wanted.data } });
    await expect(forecastAhead(at("swing.safetensors"), { steps: 2 })).rejects.toThrow("known is missing; this forecaster takes 1 known");
  });

  it("is refused if it forecasts nothing", async () => {
    await using classifier = await Classifier.fit([series(20), series(25)], ["a", "b"], { reservoir: { size: 10 } });
    await classifier.save(at("classes.safetensors"));
    await expect(forecastAhead(at("classes.safetensors"), { steps: 3 })).rejects.toThrow("it holds a classifier, which says classes");
    await using driven = await Forecaster.fit(
      { inputs: series(300), targets: series(300) },
      { reservoir: { size: 20 }, table: { columns: ["load"], inputs: ["wind"] } },
    );
    await driven.save(at("driven.safetensors"));
    await expect(forecastAhead(at("driven.safetensors"), { steps: 3 })).rejects.toThrow(
      "it predicts load from wind, a row for each row, and was not trained to forecast",
    );
  });

  it("refuses names that are not those of its data", async () => {
    const fitWith = (table: { columns: string[]; known?: string[]; time?: string }) =>
      Forecaster.fit(series(300), { reservoir: { size: 20 }, table });
    await expect(fitWith({ columns: ["a", "b"] })).rejects.toThrow("table.columns has 2 names and the data 1 column; give one each");
    await expect(fitWith({ columns: ["a"], known: ["b"] })).rejects.toThrow("table.known has 1 name and the data 0 columns");
    await expect(fitWith({ columns: ["a"], time: "a" })).rejects.toThrow('table names "a" twice');
  });
});

describe("a table with decimal commas", () => {
  it("is read again as the training table was, without saying so", async () => {
    const line = (t: number) =>
      `${hourOf(t)};${load(t).toFixed(3).replace(".", ",")};${t % 50 === 7 ? "k.A." : temperature(t).toFixed(2).replace(".", ",")}`;
    const written = ["date;load;temperature", ...Array.from({ length: 300 }, (_, t) => line(t))];
    await writeFile(at("commas.csv"), `${written.join("\n")}\n`);
    const data = {
      file: at("commas.csv"),
      time: "date",
      columns: ["load", "temperature"],
      decimal: ",",
      missingMarkers: ["k.A."],
      missing: "hold",
      calendar: [],
    };
    await runExperiment(
      {
        name: "commas",
        data,
        reservoir: { size: 20 },
        readout: { lambda: 1e-3 },
        task: { type: "forecast", horizon: 4, starts: 3, warmup: 60, lags: 0, members: 1 },
        outputs: { report: false },
      } as never,
      { out: folder },
    );
    const { forecasts, after } = await forecastAhead(join(folder, "commas"), { data: at("commas.csv"), steps: 4, missing: "hold" });
    expect(after).toBe(hourOf(299));
    const last = await lines(join(folder, "commas", "forecasts.csv"), "last");
    expect([...forecasts[0]!.prediction.data]).toEqual(last.map((cells) => Number(cells[5])));
  });
});
