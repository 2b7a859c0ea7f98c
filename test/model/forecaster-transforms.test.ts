// A forecaster with transforms: fitted on its training rows, kept in its file, undone on what comes
// out.
import { describe, expect, it } from "vitest";
import { Forecaster, type ForecasterOptions, Matrix } from "../../src/index.js";
import { fitTransforms, registerTransform, restoredForecast, type Transform, transformed } from "../../src/series/index.js";
import { passengers } from "../series/passengers.js";

const column = (values: readonly number[]) => new Matrix(values.length, 1, Float64Array.from(values));
const months = column(passengers);
const small: ForecasterOptions = { reservoir: { size: 30, seed: 4 }, washout: 12, readout: { lambda: 0.1 } };
const yearly: readonly Transform[] = ["log", { difference: 12 }];
/** Two columns: the passengers, and a rising line with a season. */
const both = Matrix.from(passengers.map((value, t) => [value, 50 + t + 10 * Math.cos((2 * Math.PI * t) / 12)]));

describe("a forecaster with transforms", () => {
  it.each<[string, Matrix<Float64Array>, Partial<ForecasterOptions>]>([
    ["one column", months, {}],
    ["several columns", both, {}],
    ["lags", months, { lags: 3 }],
    ["feedback", months, { reservoir: { size: 30, seed: 4, feedback: {} } }],
  ])("of %s forecasts as one of the transformed series does, turned back", async (_, series, options) => {
    const known = series.subarray(0, 120);
    await using forecaster = await Forecaster.fit(known, { ...small, ...options, transforms: yearly });
    const fitted = fitTransforms([known], yearly);
    await using plain = await Forecaster.fit(transformed(known, fitted), { ...small, ...options });
    const made = await forecaster.forecast(20);
    expect(made).toEqual(restoredForecast(await plain.forecast(20), known, fitted));
    // And again later, after rows that follow.
    const more = series.subarray(120, 126);
    if (options.reservoir?.feedback) return;
    await forecaster.predict(more);
    await plain.predict(transformed(series.subarray(108, 126), fitted));
    expect(await forecaster.forecast(20)).toEqual(restoredForecast(await plain.forecast(20), series.subarray(0, 126), fitted));
  });

  it("forecasts from a warm-up on raw rows what it forecasts at the end of them", async () => {
    await using forecaster = await Forecaster.fit(both.subarray(0, 120), { ...small, transforms: yearly });
    expect(await forecaster.forecast(12, { warmup: both.subarray(0, 120) })).toEqual(await forecaster.forecast(12));
    await expect(forecaster.forecast(12, { warmup: both.subarray(0, 12) })).rejects.toThrow(
      "a difference of 12 rows takes a longer series",
    );
  });

  it("predicts one step in the units of the data, whatever the rows come in", async () => {
    await using forecaster = await Forecaster.fit(months.subarray(0, 120), { ...small, transforms: [...yearly, { difference: 1 }] });
    const { state } = forecaster;
    const whole = await forecaster.predict(months.subarray(120));
    forecaster.state = state;
    const parts = [await forecaster.predict(months.subarray(120, 121)), await forecaster.predict(months.subarray(121))];
    expect([...parts[0]!.data, ...parts[1]!.data]).toEqual([...whole.data]);
    // Row t is the prediction of row t + 1: nearer to it than a tenth.
    for (let t = 0; t + 1 < whole.rows; t++) expect(Math.abs(whole.data[t]! / passengers[121 + t]! - 1)).toBeLessThan(0.15);
    forecaster.state = state;
    expect(await forecaster.score(months.subarray(120))).toBeLessThan(0.6);
    forecaster.reset();
    await expect(forecaster.predict(months.subarray(120))).rejects.toThrow(
      "0 rows were seen; differences of 13 rows in all take at least 13, in warmup",
    );
  });

  it("takes known inputs of the rows that differences leave", async () => {
    const known = column(passengers.map((_, t) => Math.cos((2 * Math.PI * t) / 12)));
    const cut = (from: number, to: number) => ({ series: months.subarray(from, to), known: known.subarray(from, to) });
    await using forecaster = await Forecaster.fit(cut(0, 120), { ...small, transforms: ["log", { difference: 1 }] });
    const made = await forecaster.forecast(12, { known: known.subarray(120, 132) });
    expect(await forecaster.forecast(12, { known: known.subarray(120, 132), warmup: cut(0, 120) })).toEqual(made);
    const one = await forecaster.predict(months.subarray(120, 132), { known: known.subarray(120, 132) });
    expect(one.data[0]).toBeCloseTo(made.data[0]!, 3);
  });

  it("adds to the last rows that it keeps, or to a history", async () => {
    await using forecaster = await Forecaster.fit(months.subarray(0, 120), { ...small, transforms: [{ difference: 12 }] });
    const made = await forecaster.forecast(12);
    const raised = column(passengers.slice(108, 120).map((value) => value + 1000));
    const said = await forecaster.forecast(12, { history: raised });
    said.data.forEach((value, h) => {
      expect(value).toBeCloseTo(made.data[h]! + 1000, 9);
    });
    expect(await forecaster.forecast(12)).toEqual(made);
    await expect(forecaster.forecast(12, { history: raised.subarray(1) })).rejects.toThrow(
      "history has 11 rows; this forecaster takes at least 12",
    );
    await using plain = await Forecaster.fit(months, small);
    await expect(plain.forecast(1, { history: raised })).rejects.toThrow("history was given; this forecaster has no transforms");
  });

  it.each<[string, readonly Transform[]]>([
    ["a logarithm and a difference", yearly],
    ["Box-Cox, two differences and z-scores", ["boxCox", { difference: 12 }, { difference: 1 }, "standardise"]],
    ["a transform of one's own", [{ transform: "halves" }]],
  ])("comes back from its file with %s, to the bit", async (_, transforms) => {
    if (transforms.length === 1)
      try {
        registerTransform({ name: "halves", description: "Half of it.", options: {}, forward: (y) => y / 2, back: (z) => 2 * z });
      } catch {
        // It is there.
      }
    await using forecaster = await Forecaster.fit(both, { ...small, transforms });
    const bytes = await forecaster.toBytes();
    await using again = await Forecaster.fromBytes(bytes);
    expect(await again.forecast(24)).toEqual(await forecaster.forecast(24));
    expect(await again.toBytes()).toEqual(bytes);
  });

  it("with a pair of functions forecasts, and has no file", async () => {
    const pair = { forward: (y: number) => y / 100, back: (z: number) => z * 100 };
    await using forecaster = await Forecaster.fit(months, { ...small, transforms: [pair] });
    expect((await forecaster.forecast(1)).data[0]).toBeGreaterThan(200);
    await expect(forecaster.toBytes()).rejects.toThrow("transforms[0] is a pair of functions, which a file cannot hold");
  });

  it("fits transforms on all sequences, of different lengths", async () => {
    const sequences = [both.subarray(0, 60), both.subarray(50, 144), both.subarray(20, 70)];
    await using forecaster = await Forecaster.fit({ sequences }, { ...small, transforms: ["boxCox", { difference: 12 }] });
    const fitted = fitTransforms(sequences, ["boxCox", { difference: 12 }]);
    await using plain = await Forecaster.fit({ sequences: sequences.map((one) => transformed(one, fitted)) }, small);
    expect(await forecaster.forecast(12)).toEqual(restoredForecast(await plain.forecast(12), sequences[2]!, fitted));
    await expect(Forecaster.fit({ sequences: [months, months.subarray(0, 12)] }, { ...small, transforms: yearly })).rejects.toThrow(
      "sequences[1] has 12 rows; differences of 12 rows in all take more, in training",
    );
  });

  it("chooses among transforms by closed loops in the units of the data, each fitted on the rows before them", async () => {
    const grown = column(Array.from({ length: 240 }, (_, t) => Math.exp(0.02 * t) * (3 + Math.cos((2 * Math.PI * t) / 12))));
    const candidates = [{}, { transforms: yearly }];
    const options = { reservoir: { size: 20, seed: 1 }, horizon: 12, members: 1, choose: { candidates, lambdas: [1e-4, 1] } };
    await using forecaster = await Forecaster.fit(grown.subarray(0, 228), options);
    expect(forecaster.choice!.kept[0]!.candidate).toBe(1);
    const made = await forecaster.forecast(12);
    made.data.forEach((value, h) => {
      expect(Math.abs(value / grown.data[228 + h]! - 1)).toBeLessThan(0.05);
    });
    await using again = await Forecaster.fromBytes(await forecaster.toBytes());
    expect(await again.forecast(12)).toEqual(made);
  });

  it("holds a closed loop in the units of the root, so that it does not run away", async () => {
    // Bursts that grow: the last ones leave the range that the first 300 rows have.
    const bursts = column(Array.from({ length: 400 }, (_, t) => (1 + t / 100) * (1 + Math.cos(t / 9)) ** 2));
    const known = bursts.subarray(0, 300);
    const roots = known.data.map(Math.sqrt);
    const mean = roots.reduce((sum, value) => sum + value, 0) / 300;
    const deviation = Math.sqrt(roots.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 300);
    const most = (Math.max(...roots) + deviation / 2) ** 2;
    for (const seed of [1, 2, 3]) {
      await using forecaster = await Forecaster.fit(known, {
        reservoir: { size: 100, seed, spectralRadius: 1.4, inputScaling: 0.05 },
        readout: { lambda: 1e-10 },
        transforms: [{ boxCox: 0.5 }],
      });
      const made = await forecaster.forecast(500, { warmup: bursts.subarray(100) });
      for (const value of made.data) {
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThanOrEqual(most * (1 + 1e-6));
      }
    }
  });

  it("refuses transforms of inputs with targets, and values that they do not take", async () => {
    await expect(Forecaster.fit({ inputs: months, targets: months }, { ...small, transforms: ["log"] })).rejects.toThrow(
      "transforms are of a series, and inputs with targets were given",
    );
    await expect(Forecaster.fit(column([3, 2, 1, 0, -1, 2]), { ...small, washout: 0, transforms: ["log"] })).rejects.toThrow(
      "log with 0 added takes values above 0; row 3, column 0 gives 0",
    );
    await expect(Forecaster.create({ ...small, transforms: [{ lag: 3 } as never] })).rejects.toThrow("transforms[0]");
  });
});
