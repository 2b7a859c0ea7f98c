// The preprocessing of a series in a forecaster: inputs known beforehand, lags that the readout sees,
// and outputs that a closed loop holds.
import { describe, expect, it } from "vitest";
import { Forecaster, Matrix, NonFiniteStateError, nrmse, ridge } from "../../src/index.js";
import { toOnnx } from "../../src/model/index.js";
import { mackeyGlass } from "../../src/tasks/index.js";

const series = mackeyGlass(900);
const reservoir = { size: 40, seed: 1 };
const column = (rows: number, value: (t: number) => number) =>
  new Matrix(
    rows,
    1,
    Float64Array.from({ length: rows }, (_, t) => value(t)),
  );

/** y(t) = .6 y(t-1) + k(t), k two tones that nobody could foresee from y. */
const known = column(700, (t) => Math.sin(0.9 * t * t) + (t % 7 === 0 ? 1 : 0));
const driven = column(700, () => 0);
for (let t = 1; t < 700; t++) driven.data[t] = 0.6 * driven.data[t - 1]! + known.data[t]!;
const training = { series: driven.subarray(0, 600), known: known.subarray(0, 600) };

describe("inputs known beforehand", () => {
  it("reach the prediction of their own row", async () => {
    await using forecaster = await Forecaster.fit(training, { reservoir, readout: { lambda: 1e-6 } });
    const forecast = await forecaster.forecast(20, { known: known.subarray(600, 620) });
    expect(nrmse(driven.subarray(600, 620), forecast)).toBeLessThan(0.1);
    await using blind = await Forecaster.fit(training.series, { reservoir, readout: { lambda: 1e-6 } });
    expect(nrmse(driven.subarray(600, 620), await blind.forecast(20))).toBeGreaterThan(0.5);
  });

  it("give one-step predictions of the rows themselves, from which a forecast goes on", async () => {
    await using forecaster = await Forecaster.fit(training, { reservoir });
    const first = await forecaster.forecast(1, { known: known.subarray(600, 601) });
    const warmup = { series: driven.subarray(0, 650), known: known.subarray(0, 650) };
    const warmed = await forecaster.forecast(9, { warmup, known: known.subarray(650, 659) });
    const predicted = await forecaster.predict(driven.subarray(600, 650), { known: known.subarray(600, 650) });
    expect(predicted.at(0, 0)).toBe(first.at(0, 0));
    expect(await forecaster.forecast(9, { known: known.subarray(650, 659) })).toEqual(warmed);
    expect(await forecaster.score({ series: driven.subarray(650), known: known.subarray(650) })).toBeLessThan(0.1);
  });

  it("drive a reservoir with feedback at their own row", async () => {
    const fedBack = { ...reservoir, feedback: {} };
    await using forecaster = await Forecaster.fit(training, { reservoir: fedBack });
    await using same = await Forecaster.fit({ inputs: training.known, targets: training.series }, { reservoir: fedBack });
    const inputs = known.subarray(600, 620);
    expect(await forecaster.forecast(20, { known: inputs })).toEqual(await same.forecast(20, { inputs }));
    const teacher = driven.subarray(600, 620);
    expect(await forecaster.score({ series: teacher, known: inputs })).toBe(await same.score({ inputs, targets: teacher }));
    const predicted = await forecaster.predict({ steps: 20 }, { known: inputs, teacher });
    expect(predicted).toEqual(await same.predict(inputs, { teacher }));
    await expect(forecaster.predict(inputs, { teacher })).rejects.toThrow("take { steps } and known");
  });

  it("are kept in the file with the row that waits for them", async () => {
    await using forecaster = await Forecaster.fit(training, { reservoir, lags: 3 });
    await using loaded = await Forecaster.fromBytes(await forecaster.toBytes());
    const ahead = { known: known.subarray(600, 620) };
    expect(await loaded.forecast(20, ahead)).toEqual(await forecaster.forecast(20, ahead));
  });

  it.each([
    ["left out", {}, "known is missing; this forecaster takes 1 known inputs for each of the 20 steps"],
    ["too short", { known: known.subarray(0, 19) }, "known has 19 rows; 20 steps take as many"],
    ["of another width", { known: new Matrix(20, 2, new Float64Array(40)) }, "known has 2 columns; this forecaster takes 1"],
    ["called inputs", { inputs: known.subarray(0, 20) }, "inputs was given; this forecaster takes known"],
  ])("are refused in a forecast if they are %s", async (_, options, message) => {
    await using forecaster = await Forecaster.fit(training, { reservoir });
    await expect(forecaster.forecast(20, options)).rejects.toThrow(message);
  });

  it("are refused if they end before the series, or in a model that knows none", async () => {
    const short = { series: driven.subarray(0, 600), known: known.subarray(0, 599) };
    await expect(Forecaster.fit(short, { reservoir })).rejects.toThrow("known has 599 rows and series has 600");
    await using forecaster = await Forecaster.fit(training.series, { reservoir });
    await expect(forecaster.forecast(3, { known: known.subarray(0, 3) })).rejects.toThrow("known was given");
  });
});

describe("lags", () => {
  it("make a readout over state and rows of the series, newest first", async () => {
    const rows = series.subarray(0, 400);
    await using plain = await Forecaster.fit(rows, { reservoir: { ...reservoir, precision: "float64" }, washout: 10, standardise: false });
    await using forecaster = await Forecaster.fit(rows, {
      reservoir: { ...reservoir, precision: "float64" },
      washout: 10,
      standardise: false,
      lags: 3,
      readout: { lambda: 1e-4 },
    });
    plain.reset();
    const states = await plain.computer.run(rows.subarray(0, 399));
    const inputs = Matrix.zeros(399, 3);
    for (let t = 0; t < 399; t++) for (let lag = 0; lag < 3; lag++) inputs.data[t * 3 + lag] = t < lag ? 0 : rows.data[t - lag]!;
    const readout = ridge({ lambda: 1e-4, input: true }).fit(states, rows.subarray(1), { washout: 10, inputs });
    expect(forecaster.readout.weights.data).toEqual(readout.weights.data);
  });

  it("are shifted by the closed loop: it goes on as one-step predictions of its own outputs", async () => {
    await using forecaster = await Forecaster.fit(series.subarray(0, 600), { reservoir, lags: 12 });
    const forecast = await forecaster.forecast(30);
    await using again = await Forecaster.fromBytes(await forecaster.toBytes());
    const [first] = (await forecaster.predict(series.subarray(600, 601), { warmup: series.subarray(0, 600) })).data;
    expect(first).not.toBe(forecast.data[0]);
    const onward = await again.predict(forecast, {});
    for (let t = 1; t < 30; t++) expect(onward.data[t - 1]).toBeCloseTo(forecast.data[t]!, 5);
  });

  it("have the same bits on the reference engine", async () => {
    const options = { reservoir, lags: 5 };
    await using cpu = await Forecaster.fit(series.subarray(0, 300), { ...options, engine: "cpu" });
    await using reference = await Forecaster.fit(series.subarray(0, 300), { ...options, engine: "reference" });
    expect(await reference.forecast(10)).toEqual(await cpu.forecast(10));
  });

  it("are refused with feedback, beside targets, where a warm-up is shorter, and in an ONNX file", async () => {
    const rows = series.subarray(0, 300);
    await expect(Forecaster.fit(rows, { reservoir: { ...reservoir, feedback: {} }, lags: 2 })).rejects.toThrow("lags are of a series");
    await expect(Forecaster.fit({ inputs: rows, targets: rows }, { reservoir, lags: 2 })).rejects.toThrow("lags are of a series");
    await expect(Forecaster.fit(rows, { reservoir, lags: 400 })).rejects.toThrow("take fewer lags");
    await using forecaster = await Forecaster.fit(rows, { reservoir, lags: 20 });
    await expect(forecaster.forecast(3, { warmup: rows.subarray(0, 19) })).rejects.toThrow("19 rows were seen; a readout of 20 lags");
    await expect(toOnnx(forecaster)).rejects.toThrow("lags");
  });
});

describe("a held closed loop", () => {
  /** A linear reservoir whose loop grows without end. */
  const growing = column(300, (t) => 1.02 ** t * Math.sin(0.3 * t));
  const linear = { size: 20, activation: "identity", spectralRadius: 0.9, seed: 3, precision: "float64" } as const;

  it("keeps outputs between the least and the largest of the training rows, half a deviation wider", async () => {
    await using held = await Forecaster.fit(growing, { reservoir: linear });
    await using free = await Forecaster.fit(growing, { reservoir: linear, hold: false });
    const { data } = growing;
    const mean = data.reduce((sum, value) => sum + value, 0) / 300;
    const deviation = Math.sqrt(data.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 300);
    const forecast = await held.forecast(200);
    expect(Math.max(...forecast.data)).toBeCloseTo(Math.max(...data) + deviation / 2, 6);
    expect(Math.min(...forecast.data)).toBeCloseTo(Math.min(...data) - deviation / 2, 6);
    expect(Math.max(...(await free.forecast(200)).data)).toBeGreaterThan(2 * Math.max(...forecast.data));
    await using loaded = await Forecaster.fromBytes(await held.toBytes());
    expect(await loaded.forecast(200)).toEqual(forecast);
  });

  it("does not end in an error that a free one ends in, with feedback neither", async () => {
    for (const feedback of [null, { scaling: 0.5 }]) {
      const options = { reservoir: { ...linear, feedback }, readout: { lambda: 1e-8 } };
      await using free = await Forecaster.fit(growing, { ...options, hold: false });
      await using held = await Forecaster.fit(growing, options);
      await expect(free.forecast(40_000)).rejects.toThrow(NonFiniteStateError);
      expect((await held.forecast(40_000)).data.every(Number.isFinite)).toBe(true);
    }
  });
});
