// Exported modules have the package's bits: every shape of model is run by its own host.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import "../../src/index.js";
import { Matrix } from "../../packages/numerics/src/index.js";
import {
  AnomalyDetector,
  type AnomalyOptions,
  Classifier,
  type ClassifierOptions,
  Forecaster,
  type ForecasterOptions,
  saveWasm,
  toWasm,
} from "../../src/model/index.js";
import { casesOf } from "../exhaustive.js";
import { sequences, waves } from "./c-cases.js";

type Rows = number[][];
interface Host {
  readonly about: { readonly kind: string };
  state: Uint8Array;
  begin(): void;
  reset(): void;
  predict(row?: number[]): number[];
  teach(row: number[], target: number[]): void;
  observe(row: number[], known?: number[]): boolean;
  calendar(wall: number): number[];
  forecast(steps: number, outside?: Rows): Rows;
  classify(rows: Rows): { readonly label: string; readonly shares: number[] } | undefined;
}

const rows = ({ rows: count, cols, data }: Matrix): Rows =>
  Array.from({ length: count }, (_, t) => Array.from(data.subarray(t * cols, (t + 1) * cols)));
const column = (matrix: Matrix, ...columns: number[]) => Matrix.from(rows(matrix).map((row) => columns.map((c) => row[c]!)));

async function hostOf(model: Forecaster | Classifier): Promise<Host> {
  const { module, host } = await toWasm(model);
  const { load } = await import(`data:text/javascript,${encodeURIComponent(host)}`);
  return load(module);
}

const small = { size: 30, seed: 5 } as const;
const integers = { ...small, arithmetic: "integer" } as const;
const steps = 25;

describe("an anomaly detector as WebAssembly", () => {
  it("expects nothing of the first row, as the package does", async () => {
    const { module, host } = await toWasm(await AnomalyDetector.create());
    const { load } = await import(`data:text/javascript,${encodeURIComponent(host)}`);
    const exported = await load(module);
    expect(exported.update([5]).expected).toEqual([Number.NaN]);
    expect(exported.update([6]).expected).toEqual([5]);
  });

  it.each<AnomalyOptions>([
    { columns: ["a"], forecast: false },
    { columns: ["a", "b"], size: 9, detect: "both" },
    { columns: ["a", "b", "c"], forecast: false, rate: "exact" },
  ])("continues with the package's bits: %o", async (options) => {
    const detector = await AnomalyDetector.create({ warmUp: 60, alarmRate: 0.01, ...options });
    const series = waves((options.columns as string[]).length, 5, 500);
    series.data[400 * series.cols] = 99;
    const timeOf = (t: number) => Date.UTC(2024, 1, 1) + 60_000 * t;
    for (let t = 0; t < 200; t++) detector.update(series.row(t), timeOf(t));
    const { module, host } = await toWasm(detector);
    const { load } = await import(`data:text/javascript,${encodeURIComponent(host)}`);
    const exported = await load(module);
    const number = (value: number) => (Number.isNaN(value) ? undefined : value);
    const compare = (t: number) => {
      const { alarm, row: _, time: __, ready: ___, ...said } = detector.update(series.row(t), timeOf(t));
      const { expected, lower, upper, ...rest } = exported.update([...series.row(t)], timeOf(t));
      expect({ ...rest, expected: expected.map(number), lower: lower.map(number), upper: upper.map(number) }).toEqual({
        ...said,
        alarm: alarm?.by,
      });
      return alarm !== undefined;
    };
    let alarms = 0;
    for (let t = 200; t < 402; t++) alarms += Number(compare(t));
    expect(alarms).toBeGreaterThan(0);
    expect(exported.feedback(400, "anomaly")).toBe(true);
    expect(exported.feedback(5, "anomaly")).toBe(false);
    detector.feedback(400, "anomaly");
    const kept = exported.state;
    compare(402);
    exported.state = kept;
    detector.state = new Float64Array(kept.buffer.slice(0));
    for (let t = 402; t < 500; t++) compare(t);
  });
});

describe("a forecaster as WebAssembly", () => {
  it.each<readonly [string, number, ForecasterOptions]>(
    casesOf(
      [
        ["sparse, with its input in the readout", 1, { reservoir: small, readout: { type: "ridge", input: true } }],
        [
          "two columns, dense, weights in 16 bits",
          2,
          { reservoir: { ...small, size: 101, connectionProbability: 1, weightPrecision: "bfloat16" } },
        ],
        [
          "binary64, squares and a sigmoid",
          2,
          {
            reservoir: { ...small, size: 77, connectionProbability: 1, precision: "float64", activation: "sigmoid" },
            readout: { type: "ridge", transform: "squares" },
          },
        ],
        [
          "every second state squared, relu, other scales of inputs and targets",
          1,
          { reservoir: { ...small, activation: "relu" }, readout: { type: "ridge", transform: "squareHalf" }, standardise: "inputs" },
        ],
        ["members with lags, chosen by a horizon", 2, { reservoir: { size: 20 }, horizon: 10, season: 30, members: 4 }],
        ["nine members without noise, whose steps are counted beside the rows", 1, { reservoir: { size: 6 }, members: 9 }],
        ["linear units, held outputs", 1, { reservoir: { ...small, activation: "identity" } }],
        ["integers, sparse", 1, { reservoir: { ...integers, size: 60 } }],
        ["integers, dense, in 8 bits", 2, { reservoir: { ...integers, connectionProbability: 1, weightPrecision: "int8", bias: 0.3 } }],
        ["integers with members and lags", 1, { reservoir: integers, lags: 3, members: 3 }],
        ["the cell es2n, noise", 1, { reservoir: { ...small, cell: { type: "es2n", proximity: 0.4 }, noiseLevel: 0.01 } }],
        [
          "layers of which the last is read",
          1,
          { reservoir: { ...small, layers: [{}, { size: 16, connectionProbability: 1 }], read: "last" } },
        ],
        [
          "groups that see other columns",
          2,
          { reservoir: { size: 14, groups: [{ inputs: [1] }, { inputs: [0], activation: "sigmoid" }] } },
        ],
        ["layers in integers, members", 1, { reservoir: { ...integers, layers: [{}, { size: 30 }] }, members: 2 }],
        ["transforms that keep no row", 2, { reservoir: small, transforms: ["log", "standardise", "squash"] }],
      ],
      (_, k) => k % 2 === 0,
    ),
  )("%s", async (_, cols, options) => {
    const series = waves(cols, 1);
    await using model = await Forecaster.fit(series, options);
    const host = await hostOf(model);
    const before = host.state;
    expect(host.forecast(steps)).toEqual(rows(await model.forecast(steps)));
    expect(host.state).toEqual(before);
    model.reset();
    host.reset();
    const next = series.subarray(0, 40);
    expect(rows(next).map((row) => host.predict(row))).toEqual(rows(await model.predict(next)));
    expect(host.forecast(steps)).toEqual(rows(await model.forecast(steps)));
    host.begin();
    expect(host.state).toEqual(before);
  });

  const numbers = [
    ...(["float32", "float64"] as const).flatMap((precision) =>
      (["full", "bfloat16"] as const).flatMap((weightPrecision) =>
        (["dense", "sparse"] as const).map((storage) => ({ precision, weightPrecision, storage })),
      ),
    ),
    ...(["int8", "q4_k"] as const).map((weightPrecision) => ({ arithmetic: "fast", weightPrecision, storage: "dense" }) as const),
    ...(["full", "int8"] as const).flatMap((weightPrecision) =>
      (["dense", "sparse"] as const).map((storage) => ({ arithmetic: "integer", weightPrecision, storage }) as const),
    ),
  ];
  const readouts = [{}, { input: true, transform: "squares" }, { transform: "squareHalf" }] as const;
  const cells = [undefined, { type: "es2n", proximity: 0.4 }] as const;

  it.each(casesOf(numbers, (_, k) => k % 5 === 0))("all numbers, readouts and sizes: %j", async (of) => {
    const series = waves(1, 1);
    const engine = "arithmetic" in of && of.arithmetic === "fast" ? "reference" : "cpu";
    for (const cell of of.storage === "sparse" || "arithmetic" in of ? [undefined] : cells)
      for (const readout of readouts)
        for (const size of [2, 37, 64]) {
          const reservoir = { ...of, size, seed: 3, connectionProbability: 0.6, ...(cell && { cell }) };
          await using model = await Forecaster.fit(series, { reservoir, readout: { type: "ridge", ...readout }, engine });
          const host = await hostOf(model);
          const next = series.subarray(0, 20);
          const name = JSON.stringify({ size, ...readout, cell });
          expect(
            rows(next).map((row) => host.predict(row)),
            name,
          ).toEqual(rows(await model.predict(next)));
        }
  });

  it("takes differences, and gives no number before it has their rows", async () => {
    const series = waves(1, 1);
    await using model = await Forecaster.fit(series, {
      ...{ reservoir: small, members: 2, lags: 2, transforms: ["boxCox", { difference: 12 }, "standardise", { difference: 1 }] },
    });
    const host = await hostOf(model);
    expect(host.forecast(steps)).toEqual(rows(await model.forecast(steps)));
    host.reset();
    expect(host.forecast(1)).toEqual([]);
    await model.warmUp(series.subarray(0, 40));
    const predicted = rows(series.subarray(0, 80)).map((row) => host.predict(row));
    expect(predicted[0]).toEqual([Number.NaN]);
    expect(predicted.slice(40)).toEqual(rows(await model.predict(series.subarray(40, 80))));
    expect(host.forecast(steps)).toEqual(rows(await model.forecast(steps)));
  });

  it("takes missing values, and what the calendar says", async () => {
    const all = waves(2, 2, 300 + steps);
    const series = Matrix.from(rows(column(all, 0)).map(([value], t) => [t > 0 && t % 11 === 4 ? Number.NaN : value!]));
    const known = column(all, 1);
    const first = Date.UTC(2025, 0, 3);
    const wall = (t: number) => first + t * 3_600_000;
    const of = (from: number, to: number) => ({
      known: known.subarray(from, to),
      times: Array.from({ length: to - from }, (_, t) => new Date(wall(from + t)).toISOString().slice(0, 19)),
    });
    await using model = await Forecaster.fit(
      { series: series.subarray(0, 300), ...of(0, 300) },
      {
        reservoir: small,
        missing: "mask",
        calendar: [{ cycle: "weekday" }, { cycle: "hour", harmonics: 2 }, { holidays: ["2025-01-06"] }],
      },
    );
    const host = await hostOf(model);
    const beside = (t: number) => [known.data[t]!, ...host.calendar(wall(t))];
    const ahead = (from: number) => Array.from({ length: steps }, (_, t) => beside(from + t));
    expect(host.forecast(steps, ahead(300))).toEqual(rows(await model.forecast(steps, { known: known.subarray(300) })));
    await model.warmUp({ series: series.subarray(0, 40), ...of(0, 40) });
    host.reset();
    expect(host.observe([Number.NaN], beside(0))).toBe(false);
    for (let t = 0; t < 40; t++) expect(host.observe([series.data[t]!], beside(t))).toBe(true);
    expect(host.forecast(steps, ahead(40))).toEqual(rows(await model.forecast(steps, { known: known.subarray(40, 40 + steps) })));
  });

  /** Rows of which some values are missing, the first among them. */
  const gappy = (matrix: Matrix) =>
    Matrix.from(rows(matrix).map((row, t) => row.map((value, c) => ((3 * t + c) % 7 < 2 ? Number.NaN : value))));

  it.each<readonly [string, ForecasterOptions]>([
    ["hold", { missing: "hold" }],
    ["interpolate, members, a difference", { missing: "interpolate", members: 2, transforms: [{ difference: 1 }] }],
    ["hold, lags", { missing: "hold", lags: 2 }],
  ])("holds missing values by rows before them: %s", async (_, options) => {
    const series = waves(2, 1, 360);
    const next = gappy(series.subarray(300));
    await using model = await Forecaster.fit(series.subarray(0, 300), { reservoir: small, ...options });
    const host = await hostOf(model);
    const before = model.state;
    // The last row of training stands for the first value, in one call and in many.
    const made = rows(next).map((row) => host.predict(row));
    expect(made).toEqual(rows(await model.predict(next)));
    expect(host.forecast(steps)).toEqual(rows(await model.forecast(steps)));
    model.state = before;
    const one: Rows = [];
    for (let t = 0; t < next.rows; t++) one.push(...rows(await model.predict(next.subarray(t, t + 1))));
    expect(made).toEqual(one);
    const held = rows(next);
    for (const [t, row] of held.entries())
      for (const c of [0, 1]) if (Number.isNaN(row[c])) row[c] = t > 0 ? held[t - 1]![c]! : series.at(299, c);
    model.state = before;
    expect(made).toEqual(rows(await model.predict(Matrix.from(held))));
    // Rows that nothing before them holds are not taken.
    host.reset();
    expect(host.predict([1, Number.NaN])).toEqual([Number.NaN, Number.NaN]);
    const start = next.subarray(1);
    await model.warmUp(start);
    for (const row of rows(start)) host.predict(row);
    expect(host.forecast(steps)).toEqual(rows(await model.forecast(steps)));
  });

  it("holds missing values by rows before them, and says where: mask", async () => {
    const series = waves(2, 1, 360);
    const next = gappy(series.subarray(300));
    await using model = await Forecaster.fit(series.subarray(0, 300), { reservoir: small, missing: "mask" });
    const host = await hostOf(model);
    for (const row of rows(next)) expect(host.observe(row)).toBe(true);
    await model.warmUp(Matrix.from([...rows(series.subarray(0, 300)), ...rows(next)]));
    expect(host.forecast(steps)).toEqual(rows(await model.forecast(steps)));
    host.reset();
    const taken = rows(next).map((row) => host.observe(row));
    expect(taken.slice(0, 3)).toEqual([false, true, true]);
    await model.warmUp(next);
    expect(host.forecast(steps)).toEqual(rows(await model.forecast(steps)));
  });

  it("holds missing targets that are taught, by its own outputs too", async () => {
    const [u, targets] = [waves(1, 3, 360), waves(1, 4, 360)];
    await using model = await Forecaster.fit(
      { inputs: u.subarray(0, 300), targets: targets.subarray(0, 300) },
      { reservoir: { ...small, feedback: {} }, missing: "hold" },
    );
    const host = await hostOf(model);
    const [nextU, nextY] = [gappy(u.subarray(300)), gappy(targets.subarray(300))];
    for (const [from, to] of [
      [0, 20],
      [40, 60],
    ] as const) {
      // A teacher, then free.
      const given = { teacher: nextY.subarray(from, to) };
      await model.predict(nextU.subarray(from, to), given);
      for (let t = from; t < to; t++) host.teach([nextU.data[t]!], [nextY.data[t]!]);
      const free = nextU.subarray(20, 40);
      expect(rows(free).map((row) => host.predict(row))).toEqual(rows(await model.predict(free)));
    }
  });

  it.each<readonly [string, ForecasterOptions]>([
    ["known inputs", { reservoir: small }],
    ["known inputs and lags in integers, members", { reservoir: integers, lags: 5, members: 3 }],
  ])("%s", async (_, options) => {
    const all = waves(3, 2);
    const [series, known] = [column(all, 0), column(all, 1, 2)];
    await using model = await Forecaster.fit({ series, known }, options);
    const host = await hostOf(model);
    const ahead = known.subarray(0, steps);
    expect(host.forecast(steps, rows(ahead))).toEqual(rows(await model.forecast(steps, { known: ahead })));
    await model.warmUp({ series: series.subarray(0, 30), known: known.subarray(0, 30) });
    host.reset();
    expect(host.forecast(steps, rows(ahead))).toEqual([]);
    for (let t = 0; t < 30; t++) host.observe(rows(series)[t]!, rows(known)[t]!);
    expect(host.forecast(steps, rows(ahead))).toEqual(rows(await model.forecast(steps, { known: ahead })));
  });

  it.each<readonly [string, number, ForecasterOptions]>([
    ["feedback beside inputs", 2, { reservoir: { ...small, feedback: {} } }],
    ["feedback alone, outputs not held", 0, { reservoir: { ...small, feedback: {} }, hold: false }],
    ["feedback in integers", 1, { reservoir: { ...integers, feedback: {} } }],
  ])("%s", async (_, inputs, options) => {
    const targets = waves(2, 4);
    const u = inputs > 0 ? waves(inputs, 3) : Matrix.zeros(targets.rows, 0);
    await using model = await Forecaster.fit({ inputs: u, targets }, options);
    const host = await hostOf(model);
    const next = u.subarray(0, steps);
    const drive = inputs > 0 ? next : { steps };
    expect(host.forecast(steps, rows(next))).toEqual(rows(await model.forecast(steps, inputs > 0 ? { inputs: next } : {})));
    expect(rows(next).map((row) => host.predict(row))).toEqual(rows(await model.predict(drive)));
    await model.warmUp({ inputs: next, targets: targets.subarray(0, steps) });
    host.reset();
    for (let t = 0; t < steps; t++) host.teach(rows(next)[t]!, rows(targets)[t]!);
    expect(rows(next).map((row) => host.predict(row))).toEqual(rows(await model.predict(drive)));
  });

  it("refuses rows, states and steps that do not fit, and what the model does not do", async () => {
    await using model = await Forecaster.fit(waves(1, 1), { reservoir: small });
    const host = await hostOf(model);
    const { length } = host.state;
    expect(() => {
      host.state = new Uint8Array(3);
    }).toThrow(`a state has ${length} bytes, and this one 3`);
    expect(() => host.forecast(-1)).toThrow("steps is -1; it takes a whole number");
    expect(() => host.forecast(1e12)).toThrow("1000000000000 numbers are more than a memory holds");
    expect(() => host.observe([1])).toThrow("this model has no observe");
    expect(() => host.predict([1, 2])).toThrow("a row has 2 values; the model takes 1");
  });
});

describe("a classifier as WebAssembly", () => {
  it.each<readonly [string, number, ClassifierOptions]>([
    ["statistics, several members", 2, { reservoir: { size: 21 }, members: 3 }],
    ["statistics of states and inputs, forwards, washout", 1, { reservoir: { size: 25 }, input: true, washout: 3, directions: "forward" }],
    [
      "last states and means, softmax, binary64",
      2,
      {
        ...{ reservoir: { size: 15, precision: "float64" }, representation: "last+mean", readout: { type: "softmax" } },
        ...{ input: true, members: 2, vote: "mean" },
      },
    ],
    ["means", 1, { reservoir: { size: 15 }, representation: "mean" }],
    [
      "groups, every second feature squared, a layer norm",
      2,
      {
        reservoir: { size: 12, groups: [{ inputs: [0] }, { noiseLevel: 0.1 }] },
        ...{ representation: "mean", layerNorm: true, scaleFeatures: false, readout: { type: "ridge", transform: "squareHalf" } },
      },
    ],
    ["integers, statistics of differences", 1, { reservoir: { ...integers, weightPrecision: "int8" }, differences: true }],
  ])("%s", async (_, cols, options) => {
    const train = sequences(24, cols, 5);
    await using model = await Classifier.fit(train.cases, train.labels, options);
    const host = await hostOf(model);
    const { cases } = sequences(9, cols, 6);
    // One by one: noise is drawn by a sequence's place among those of a call.
    for (const one of cases) {
      const [label] = await model.predict([one]);
      expect(host.classify(rows(one))).toEqual({ label, shares: [...(await model.predictProba([one])).data] });
    }
    expect(host.classify([])).toBeUndefined();
    const long = Array.from({ length: 30_000 }, (__, t) => Array.from({ length: cols }, () => Math.sin(t)));
    expect(host.classify(long)!.shares).toEqual(Array.from((await model.predictProba([Matrix.from(long)])).row(0)));
  });
});

it("gives back classes of any name", async () => {
  const names = ['a "b"\n', "*/ int x; /*", "/* it", "?" + "?=\\", "__proto__", "\u{1f600}\u0000", "#define x", ""];
  const { cases } = sequences(2 * names.length, 1, 5);
  const labels = cases.map((_, k) => names[k % names.length]!);
  await using model = await Classifier.fit(cases, labels, { reservoir: { size: 40 } });
  const host = await hostOf(model);
  expect(cases.map((one) => host.classify(rows(one))!.label)).toEqual((await Promise.all(cases.map((one) => model.predict([one])))).flat());
});

it("saveWasm writes a module that imports nothing and a host that loads it from its file", async () => {
  const folder = await mkdtemp(join(tmpdir(), "spillway-wasm-"));
  try {
    const series = waves(1, 1);
    await using model = await Forecaster.fit(series, { reservoir: small });
    expect(await saveWasm(folder, model, { name: "tide" })).toEqual([join(folder, "tide.wasm"), join(folder, "tide.js")]);
    expect(WebAssembly.Module.imports(new WebAssembly.Module(await readFile(join(folder, "tide.wasm"))))).toEqual([]);
    const { load } = await import(pathToFileURL(join(folder, "tide.js")).href);
    const tide: Host = await load(join(folder, "tide.wasm"));
    expect(tide.forecast(5)).toEqual(rows(await model.forecast(5)));
  } finally {
    await rm(folder, { recursive: true });
  }
});
