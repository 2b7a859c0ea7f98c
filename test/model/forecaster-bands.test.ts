// Bands around forecasts, from the forecasts that chose the model.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import { Forecaster, Matrix } from "../../src/index.js";
import type { ForecastBand } from "../../src/model/index.js";
import { conformalOffsets, ensembleBand, type Transform } from "../../src/series/index.js";

/** A wave with noise, and a second column of another size. */
const noise = new RandomStream(seedKeys("bands").weights, 0);
const rows = (from: number, to: number) =>
  Matrix.from(
    Array.from({ length: to - from }, (_, k) => {
      const t = from + k;
      const wave = Math.sin(t / 4) + 0.1 * noise.normal(0, t);
      return [wave, 100 * wave + 10 * noise.normal(1, t)];
    }),
  );
const options = { horizon: 6, members: 1, reservoir: { size: 30, seed: 1 }, choose: { lambdas: [0.01, 1] } } as const;

describe("forecasts with intervals", () => {
  let forecaster: Forecaster;
  beforeAll(async () => {
    forecaster = await Forecaster.fit(rows(0, 400), options);
  });
  afterAll(() => forecaster.dispose());

  it("have a band a level around the forecast, by the errors of the starts that chose the model", async () => {
    const plain = await forecaster.forecast(4);
    const forecast = await forecaster.forecast(4, { intervals: [0.5, 0.9] });
    expect([plain.bands, forecast.data]).toEqual([undefined, plain.data]);
    const [half, most] = forecast.bands!;
    expect([half!.level, most!.level]).toEqual([0.5, 0.9]);
    const { lower, upper } = conformalOffsets(forecaster.choice!.errors, 6, { level: 0.9 });
    for (const [i, value] of forecast.data.entries()) {
      expect(most!.lower.data[i]).toBe(value + lower.data[i]!);
      expect(most!.upper.data[i]).toBe(value + upper.data[i]!);
      expect(half!.upper.data[i]! - half!.lower.data[i]!).toBeLessThanOrEqual(most!.upper.data[i]! - most!.lower.data[i]!);
    }
  });

  it("hold about as many of the values to come as they say", async () => {
    let inside = 0;
    const starts = 60;
    for (let k = 0; k < starts; k++) {
      const at = 420 + 7 * k;
      const forecast = await forecaster.forecast(6, { warmup: rows(at - 100, at), intervals: [0.8] });
      const [band] = forecast.bands!;
      const target = rows(at, at + 6);
      for (const [i, value] of target.data.entries()) if (value >= band!.lower.data[i]! && value <= band!.upper.data[i]!) inside++;
    }
    const share = inside / (starts * 12);
    expect(share).toBeGreaterThan(0.7);
    expect(share).toBeLessThan(0.92);
  });

  it("are the same from the model's file", async () => {
    const { bands } = await forecaster.forecast(6, { intervals: [0.9] });
    await using opened = await Forecaster.fromBytes(await forecaster.toBytes());
    expect((await opened.forecast(6, { intervals: [0.9] })).bands).toEqual(bands);
  });

  it.each([
    [7, [0.9], "steps is 7; it takes at most 6 with intervals, which is the horizon that the forecaster was fitted with"],
    [
      6,
      [0.9, 0.99],
      "intervals[1] is 0.99; it takes at most 0.962: forecasts from 25 starts inside the training part cannot give more; 99 can",
    ],
    [6, [1], "intervals[0] is 1"],
    [6, [0], "intervals[0] is 0"],
  ])("of %d steps refuse %j", async (steps, intervals, sentence) => {
    await expect(forecaster.forecast(steps, { intervals })).rejects.toThrow(sentence);
  });

  it("take a forecaster that was chosen by forecasts", async () => {
    await using without = await Forecaster.fit(rows(0, 200), { reservoir: { size: 20, seed: 1 } });
    await expect(without.forecast(2, { intervals: [0.9] })).rejects.toThrow("fit it with a horizon, or with choose");
  });
});

describe("bands after a logarithm or a power", () => {
  /** A series that grows: its swings and its noise are in proportion to it. */
  const growing = (from: number, to: number) =>
    Float64Array.from({ length: to - from }, (_, k) => {
      const t = from + k;
      return Math.exp(t / 120 + 0.4 * Math.sin(t / 3) + 0.15 * noise.normal(2, t));
    });
  const fitWith = (transforms: readonly Transform[]) => Forecaster.fit(growing(0, 400), { ...options, transforms });

  it.each<[Transform[]]>([[["log"]], [["log", { difference: 1 }]], [["log", "standardise"]]])(
    "of %j are errors of the logarithm, so that their ends are in proportion to the forecast",
    async (transforms) => {
      await using forecaster = await fitWith(transforms);
      const forecast = await forecaster.forecast(6, { intervals: [0.9] });
      const [{ lower, upper }] = forecast.bands! as [ForecastBand];
      const { targets, errors } = forecaster.choice!;
      const logs = errors.data.map((error, i) => Math.log(targets.data[i]!) - Math.log(targets.data[i]! - error));
      const offsets = conformalOffsets(logs, 6, { level: 0.9 });
      for (const [h, value] of forecast.data.entries()) {
        expect(lower.data[h]! / (value * Math.exp(offsets.lower.data[h]!))).toBeCloseTo(1, 9);
        expect(upper.data[h]! / (value * Math.exp(offsets.upper.data[h]!))).toBeCloseTo(1, 9);
      }
      await using opened = await Forecaster.fromBytes(await forecaster.toBytes());
      expect((await opened.forecast(6, { intervals: [0.9] })).bands).toEqual(forecast.bands);
    },
  );

  it("stay above 0 where those of plain errors end there", async () => {
    const low = growing(0, 400).map((value, t) => (t < 380 ? value : value / 20));
    const bandOf = async (transforms: readonly Transform[]) => {
      await using forecaster = await Forecaster.fit(low, { ...options, transforms });
      return (await forecaster.forecast(6, { intervals: [0.9] })).bands![0]!;
    };
    expect(Math.min(...(await bandOf([{ boxCox: 0.5 }])).lower.data)).toBeGreaterThanOrEqual(0);
    expect(Math.min(...(await bandOf(["log"])).lower.data)).toBeGreaterThan(0);
    expect(Math.min(...(await bandOf([])).lower.data)).toBe(0);
  });

  it("of differences alone, and of members with other transforms, are in the units of the data", async () => {
    await using forecaster = await fitWith([{ difference: 1 }]);
    const forecast = await forecaster.forecast(6, { intervals: [0.9] });
    const { upper } = conformalOffsets(forecaster.choice!.errors, 6, { level: 0.9 });
    expect([...forecast.bands![0]!.upper.data]).toEqual([...forecast.data].map((value, h) => value + upper.data[h]!));
  });

  it("take a function of the user's that falls", async () => {
    await using forecaster = await fitWith([{ forward: (y) => -Math.log(y), back: (z) => Math.exp(-z) }]);
    const { bands, data } = await forecaster.forecast(6, { intervals: [0.9] });
    for (const [h, value] of data.entries()) {
      expect(bands![0]!.lower.data[h]).toBeLessThan(value);
      expect(bands![0]!.upper.data[h]).toBeGreaterThan(value);
    }
  });
});

describe("bands from members", () => {
  it("are quantiles of what the reservoirs of several seeds forecast, of any number of steps", async () => {
    await using forecaster = await Forecaster.fit(rows(0, 300), { reservoir: { size: 20 }, members: [1, 2, 3, 4, 5] });
    const single = await Promise.all(
      [1, 2, 3, 4, 5].map(async (seed) => {
        await using one = await Forecaster.fit(rows(0, 300), { reservoir: { size: 20, seed } });
        return await one.forecast(8);
      }),
    );
    const forecast = await forecaster.forecast(8, { intervals: [0.5, 0.9], bandsFrom: "members" });
    expect(forecast.bands).toEqual([0.5, 0.9].map((level) => ({ level, ...ensembleBand(single, level) })));
  });

  it("take two members", async () => {
    await using one = await Forecaster.fit(rows(0, 200), { reservoir: { size: 20 } });
    await expect(one.forecast(2, { intervals: [0.9], bandsFrom: "members" })).rejects.toThrow(
      'bandsFrom is "members" and this forecaster has one; fit it with members: 2 or more',
    );
  });
});
