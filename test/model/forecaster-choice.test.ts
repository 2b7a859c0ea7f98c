// Settings and lambda chosen by closed-loop forecasts inside the training part, and the ensembles
// that are made of what was chosen.

import { describe, expect, it } from "vitest";
import { Forecaster, Matrix, mackeyGlass, NonFiniteStateError, nrmse } from "../../src/index.js";
import { isNoWorse, losses } from "../../src/model/forecaster/loss.js";
import type { ForecasterMember } from "../../src/model/forecaster/member.js";
import { forecastAll } from "../../src/model/forecaster/validation.js";
import { type GramAccumulator, IllConditionedError, ridge, type TrainedReadout } from "../../src/readout/index.js";
import { ridgePath } from "../../src/readout/ridge-path.js";
import { describedBy } from "../../src/reservoir/kinds.js";

const series = mackeyGlass(700);
const reservoir = { size: 40, seed: 1 };
const small = { horizon: 12, members: 2, reservoir, choose: { starts: 5, lambdas: [1e-6, 1e-3, 10] } } as const;
const column = (rows: number, value: (t: number) => number) =>
  new Matrix(
    rows,
    1,
    Float64Array.from({ length: rows }, (_, t) => value(t)),
  );
/** A week of seven different days, with noise of a fixed stream. */
const weekly = column(500, (t) => [3, 1, 4, 1, 5, 9, 2][t % 7]! + 0.4 * Math.sin(1.7 * t * t));

/** The reservoirs of a loop alone. */
const membersOf = ({ members }: Forecaster) => members as readonly ForecasterMember[];

describe("the readouts of many lambdas", () => {
  const x = new Matrix(
    60,
    4,
    Float64Array.from({ length: 240 }, (_, i) => Math.sin(i * i * 0.37)),
  );
  const y = new Matrix(
    60,
    2,
    Float64Array.from({ length: 120 }, (_, i) => Math.cos(i * 0.71) + 0.1 * i),
  );
  it.each([true, false])("are those of a ridge regression each (intercept: %s)", (intercept) => {
    const sums = ridge({ intercept }).accumulator({ stateSize: 4, inputSize: 0, outputSize: 2 }) as GramAccumulator;
    sums.add(x, Matrix.zeros(60, 0), y);
    const lambdas = [1e-3, 1, 50];
    ridgePath(sums, lambdas).forEach((found, l) => {
      const alone = ridge({ intercept, lambda: lambdas[l]! }).fit(x, y);
      const readout = found as TrainedReadout;
      for (const [i, value] of readout.weights.data.entries()) expect(value).toBeCloseTo(alone.weights.data[i]!, 10);
      for (const [o, value] of readout.intercept.entries()) expect(value).toBeCloseTo(alone.intercept[o]!, 10);
    });
  });

  it("leave out a lambda that is too small, and say so", () => {
    const twice = new Matrix(
      60,
      2,
      Float64Array.from({ length: 120 }, (_, i) => Math.sin(i >> 1)),
    );
    const sums = ridge().accumulator({ stateSize: 2, inputSize: 0, outputSize: 2 }) as GramAccumulator;
    sums.add(twice, Matrix.zeros(60, 0), y);
    const [failed, found] = ridgePath(sums, [1e-18, 1]);
    expect(failed).toBeInstanceOf(IllConditionedError);
    expect((found as TrainedReadout).weights.data.every(Number.isFinite)).toBe(true);
  });
});

describe("costs of starts", () => {
  it("cannot be told apart if the mean log ratio is within its standard error over those that do not overlap", () => {
    const costs = Float64Array.of(1.2, 0.9, 1.3, 0.95);
    const ones = new Float64Array(4).fill(1);
    // Mean log ratio .0721, deviation .1801: standard error .0900 of four starts, .0681 of seven.
    expect(isNoWorse(costs, ones, 4)).toBe(true);
    expect(isNoWorse(Float64Array.of(1.4, 1.1, 1.5, 1.15), ones, 4)).toBe(false);
    expect(isNoWorse(costs, ones, 7)).toBe(false);
    expect(isNoWorse(new Float64Array(4).fill(2), ones, 4)).toBe(false);
    expect(isNoWorse(Float64Array.of(-3, -3), Float64Array.of(-4, -4), 2)).toBe(false);
  });

  it("make scores: root mean square, mean absolute error, sMAPE, and minus the median valid time", () => {
    const rows = (...values: number[]) => new Matrix(values.length, 1, Float64Array.from(values));
    const context = { deviation: Float64Array.of(2), changing: [true], horizon: 2 };
    const scored = (loss: keyof typeof losses) => losses[loss].score(losses[loss].costs(rows(1, 2, 3, 4), rows(1, 4, 5, 4.5), context));
    expect(scored("rmse")).toBeCloseTo(Math.sqrt((0 + 1 + 1 + 0.0625) / 4), 12);
    expect(scored("mae")).toBeCloseTo((0 + 1 + 1 + 0.25) / 4, 12);
    expect(scored("smape")).toBeCloseTo((200 * (0 + 2 / 6 + 2 / 8 + 0.5 / 8.5)) / 4, 12);
    expect(scored("validTime")).toBe(-0.5);
  });
});

describe("a forecaster with a horizon", () => {
  it("scores lambdas by forecasts from starts in the last quarter, with training rows before it alone", async () => {
    await using forecaster = await Forecaster.fit(series.subarray(0, 600), { ...small, members: 1 });
    const { starts, scores, kept } = forecaster.choice!;
    expect(starts).toEqual([450, 484, 519, 553, 588].map((row) => ({ sequence: 0, row })));
    // The same by hand: a model of the first 450 rows with the lambda that was chosen.
    const { lambda } = kept[0]!;
    await using early = await Forecaster.fit(series.subarray(0, 450), { reservoir, washout: 100, readout: { lambda } });
    let squares = 0;
    for (const { row } of starts) {
      const forecast = await early.forecast(12, { warmup: series.subarray(0, row) });
      for (let h = 0; h < 12; h++) squares += (series.data[row + h]! - forecast.data[h]!) ** 2;
    }
    const mean = series.subarray(0, 450).data.reduce((sum, value) => sum + value, 0) / 450;
    const variance = series.subarray(0, 450).data.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 450;
    expect(kept[0]!.error).toBeCloseTo(Math.sqrt(squares / 60 / variance), 4);
    expect(scores.map((pair) => pair.lambda)).toEqual([1e-6, 1e-3, 10]);
    expect(scores).toContainEqual(kept[0]);
  });

  it("trains again on all rows with what it chose, and forecasts as a forecaster with that lambda", async () => {
    await using forecaster = await Forecaster.fit(series, { ...small, members: 1 });
    const { lambda } = forecaster.choice!.kept[0]!;
    await using plain = await Forecaster.fit(series, { reservoir, readout: { lambda } });
    expect(await forecaster.forecast(12)).toEqual(await plain.forecast(12));
  });

  it("chooses a large lambda for noise and a small one for a series without", async () => {
    const noise = column(220, (t) => Math.sin(12.9898 * t * t) * 43.5);
    await using noisy = await Forecaster.fit(noise, { ...small, members: 1 });
    await using exact = await Forecaster.fit(series, { ...small, members: 1 });
    expect(noisy.choice!.kept[0]!.lambda).toBeGreaterThan(exact.choice!.kept[0]!.lambda);
  });

  it("is the median of its members, five reservoirs of 300 neurons if nothing else is said", async () => {
    await using forecaster = await Forecaster.fit(series, small);
    const [one, two] = await Promise.all(
      membersOf(forecaster).map(async ({ computer }) =>
        Forecaster.fit(series, { reservoir: describedBy(computer.model), readout: { lambda: forecaster.choice!.kept[0]!.lambda } }),
      ),
    );
    const each = [await one!.forecast(3), await two!.forecast(3)];
    const median = await forecaster.forecast(3);
    for (const [i, value] of median.data.entries()) expect(value).toBe((each[0]!.data[i]! + each[1]!.data[i]!) / 2);
    await one!.dispose();
    await two!.dispose();
    await using plain = await Forecaster.fit(series, { horizon: 5, choose: { starts: 2, lambdas: [1e-4] } });
    expect(membersOf(plain).map(({ computer }) => computer.model.size)).toEqual([300, 300, 300, 300, 300]);
    expect(new Set(membersOf(plain).map(({ computer }) => computer.config.seed)).size).toBe(5);
  });

  it("keeps its members, its choice and where it stands in one file", async () => {
    await using forecaster = await Forecaster.fit(weekly, { ...small, horizon: 7, season: 7 });
    await using loaded = await Forecaster.fromBytes(await forecaster.toBytes());
    expect(loaded.choice).toEqual({ ...forecaster.choice, seconds: undefined });
    expect(await loaded.forecast(14)).toEqual(await forecaster.forecast(14));
    await loaded.fit(weekly);
    expect(await loaded.forecast(14)).toEqual(await forecaster.forecast(14));
  });

  it("tries 0 lags, and a season and a seventh of it", async () => {
    await using forecaster = await Forecaster.fit(weekly, { ...small, horizon: 7, season: 7 });
    expect(forecaster.choice!.scores).toHaveLength(6);
    expect(membersOf(forecaster).map(({ lags }) => lags)).toEqual([8, 8]);
    const again = column(14, (t) => [3, 1, 4, 1, 5, 9, 2][(t + 500) % 7]!);
    expect(nrmse(again, await forecaster.forecast(14))).toBeLessThan(0.3);
  });

  it("keeps the best pairs of several settings, at most two of one", async () => {
    const candidates = [{ reservoir: { leakRate: 0.9 } }, { reservoir: { spectralRadius: 0.5 } }, { lags: 4 }];
    await using forecaster = await Forecaster.fit(series, { ...small, members: 1, choose: { ...small.choose, candidates, keep: 4 } });
    const { kept, scores } = forecaster.choice!;
    expect(scores).toHaveLength(9);
    expect(kept).toHaveLength(4);
    for (const c of [0, 1, 2]) expect(kept.filter(({ candidate }) => candidate === c).length).toBeLessThanOrEqual(2);
    for (const pair of kept) expect(scores).toContainEqual(pair);
    expect(forecaster.members).toHaveLength(4);
  });

  it("chooses among several series, and with inputs known beforehand", async () => {
    const sequences = [series.subarray(0, 350), series.subarray(400, 700)];
    await using several = await Forecaster.fit({ sequences }, { ...small, members: 1, choose: { ...small.choose, starts: 4 } });
    expect(several.choice!.starts.map(({ sequence }) => sequence)).toEqual([1, 1, 0, 0]);
    const known = column(500, (t) => (t % 7 === 5 ? 1 : 0));
    await using with1 = await Forecaster.fit({ series: weekly, known }, { ...small, members: 1, horizon: 7 });
    await using without = await Forecaster.fit(weekly, { ...small, members: 1, horizon: 7 });
    expect(with1.choice!.kept[0]!.score).toBeLessThan(without.choice!.kept[0]!.score!);
  });

  it("scores forecasts after as many rows as the model's own will have", async () => {
    const warmup = 9;
    const settings = { ...small, members: 1, choose: { starts: 4, lambdas: [1e-8], warmup }, transforms: [{ difference: 2 }] } as const;
    await using forecaster = await Forecaster.fit(series, settings);
    const { errorStarts: starts = [], targets, errors } = forecaster.choice!;
    const earlier = { reservoir, washout: 100, readout: { lambda: 1e-8 }, transforms: settings.transforms };
    await using alone = await Forecaster.fit(series.subarray(0, 525), earlier);
    for (const [k, { row }] of starts.entries()) {
      const made = await alone.forecast(12, { warmup: series.subarray(row - warmup - 2, row) });
      for (let h = 0; h < 12; h++) expect(targets.data[k * 12 + h]! - errors.data[k * 12 + h]!).toBeCloseTo(made.data[h]!, 4);
    }
    await using whole = await Forecaster.fit(series, { ...settings, choose: { starts: 4, lambdas: [1e-8] } });
    expect(whole.choice!.kept[0]!.score).toBeLessThan(0.5 * forecaster.choice!.kept[0]!.score!);
  });

  it("measures what it chose from all starts that fit, a row more than the horizon apart", async () => {
    await using forecaster = await Forecaster.fit(series.subarray(0, 600), { ...small, members: 1 });
    const { errorStarts = [], targets, errors, kept } = forecaster.choice!;
    expect(errorStarts).toEqual(Array.from({ length: 11 }, (_, k) => ({ sequence: 0, row: 450 + 13 * k })));
    expect(targets.subarray(12, 24).data).toEqual(series.subarray(463, 475).data);
    const { lambda } = kept[0]!;
    await using early = await Forecaster.fit(series.subarray(0, 450), { reservoir, washout: 100, readout: { lambda } });
    for (const [k, { row }] of errorStarts.entries()) {
      const forecast = await early.forecast(12, { warmup: series.subarray(0, row) });
      for (let h = 0; h < 12; h++) expect(targets.data[k * 12 + h]! - errors.data[k * 12 + h]!).toBeCloseTo(forecast.data[h]!, 4);
    }
    await using opened = await Forecaster.fromBytes(await forecaster.toBytes());
    expect(opened.choice).toMatchObject({ errorStarts, targets, errors });
  });

  it("leaves it at the starts of the choice if no more fit, and takes no more than its bound", async () => {
    await using few = await Forecaster.fit(series.subarray(0, 200), { ...small, washout: 20, members: 1 });
    expect(few.choice!.errorStarts).toBeUndefined();
    expect(few.choice!.errors.rows).toBe(5 * 12);
    await using many = await Forecaster.fit(
      column(4000, (t) => Math.sin(t)),
      { ...small, horizon: 1, members: 1 },
    );
    expect(many.choice!.errorStarts!.length).toBeGreaterThan(100);
    expect(many.choice!.errorStarts!.length).toBeLessThanOrEqual(200);
    await using warmed = await Forecaster.fit(series, { ...small, members: 1, choose: { ...small.choose, warmup: 12_000 } });
    expect(warmed.choice!.errorStarts).toHaveLength(7);
  });

  it("counts a forecast that runs away as infinitely far off, in its file too", async () => {
    const model = {
      state: 0,
      preprocessing: { transforms: { steps: [], lost: 0 }, known: 1 },
      start: async () => {},
      follow: async () => {},
      forecast: async (steps: number, known: Matrix | undefined) => {
        if (known!.data[0] === 3) throw new NonFiniteStateError(0, 0);
        return Matrix.zeros(steps, 1);
      },
    };
    const data = [{ series: series.subarray(0, 8), known: column(8, (t) => t) }];
    const starts = [1, 3, 5].map((row) => ({ sequence: 0, row }));
    const parts = { training: data, starts };
    const from = (runaway: "error" | "infinite") => forecastAll(data, parts, [model], { horizon: 2, warmup: 1, runaway }, undefined);
    expect((await from("error"))[0]).toBeInstanceOf(NonFiniteStateError);
    expect([...((await from("infinite"))[0] as Matrix).data]).toEqual([0, 0, Infinity, Infinity, 0, 0]);
    await using forecaster = await Forecaster.fit(weekly, { ...small, members: 1 });
    const { errors } = forecaster.choice!;
    errors.data.set([Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, Number.NaN]);
    await using opened = await Forecaster.fromBytes(await forecaster.toBytes());
    expect(opened.choice!.errors).toEqual(errors);
  });

  it("leaves a file of the same bytes each time", async () => {
    await using once = await Forecaster.fit(weekly, { ...small, members: 1 });
    await using again = await Forecaster.fit(weekly, { ...small, members: 1 });
    expect(once.choice!.seconds).toBeGreaterThan(0);
    expect(await again.toBytes()).toEqual(await once.toBytes());
    await using opened = await Forecaster.fromBytes(await once.toBytes());
    expect(opened.choice!.seconds).toBeUndefined();
  });

  it("chooses with feedback", async () => {
    await using forecaster = await Forecaster.fit(series, { ...small, members: 1, reservoir: { ...reservoir, feedback: {} } });
    expect(forecaster.choice!.kept[0]!.score).toBeLessThan(1);
  });

  it("chooses the same, bit for bit, whatever engine trains", async () => {
    const options = { ...small, reservoir: { size: 20, seed: 1 }, season: 5 };
    await using cpu = await Forecaster.fit(weekly.subarray(0, 300), { ...options, engine: "cpu" });
    await using reference = await Forecaster.fit(weekly.subarray(0, 300), { ...options, engine: "reference" });
    const { seconds: _, ...choice } = reference.choice!;
    expect(cpu.choice).toMatchObject(choice);
    expect(await cpu.forecast(12)).toEqual(await reference.forecast(12));
  });

  it("lists what failed with the reason", async () => {
    const linear = { size: 40, activation: "identity", spectralRadius: 0.5, seed: 1 } as const;
    const options = { ...small, members: 1, reservoir: linear, choose: { ...small.choose, lambdas: [1e-30, 1] } };
    await using forecaster = await Forecaster.fit(series, options);
    const [failed, found] = forecaster.choice!.scores;
    expect(failed!.score).toBeUndefined();
    expect(failed!.failure).toContain("lambda 1e-30 failed");
    expect(forecaster.choice!.kept[0]).toEqual(found);
  });

  it("stops when it is told to", async () => {
    const controller = new AbortController();
    const work = Forecaster.fit(series, { ...small, signal: controller.signal, onProgress: () => controller.abort() });
    await expect(work).rejects.toThrow("stopped after");
  });

  it.each([
    [
      "a horizon that the data cannot hold",
      series.subarray(0, 40),
      { horizon: 30, members: ["loop"] },
      "horizon is 30 and the series has 40 rows, 30 to train on and 10 to forecast",
    ],
    ["a series that never changes", column(300, () => 4), { horizon: 5, members: ["loop"] }, "the series never changes"],
    ["targets beside inputs", { inputs: series, targets: series }, { horizon: 5 }, "horizon chooses by closed loops over a series"],
    ["a readout without lambda", series, { horizon: 5, readout: { type: "rls" } }, 'readout is of type "rls"'],
    ["a second way to choose", series, { horizon: 5, readout: { lambdas: [1, 2], selection: "gcv" } }, "leave one of the two out"],
    ["candidates without a horizon", series, { choose: { candidates: [{ lags: 2 }] } }, "no horizon"],
    ["lags of a season that is not said", series, { horizon: 5, lags: "season" }, "season is missing"],
    ["a horizon that is none", series, { horizon: 0 }, "horizon is 0; it takes a whole number of at least 1"],
    ["an unknown option of choose", series, { horizon: 5, choose: { lamdas: [1] } }, "lambdas"],
  ])("refuses %s", async (_, data, options, message) => {
    await expect(Forecaster.fit(data as never, { reservoir, ...options } as never)).rejects.toThrow(message);
  });
});
