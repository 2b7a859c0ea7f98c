// Bands: ranks by hand, coverage on data whose errors are known.

import { describe, expect, it } from "vitest";
import { Matrix, RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import { coverage, winklerScore } from "../../src/metrics/index.js";
import { AdaptiveConformal, conformalOffsets, conformalRank, ensembleBand, fewestScores } from "../../src/series/index.js";

const column = (...values: number[]) => new Matrix(values.length, 1, Float64Array.from(values));
const counted = (n: number) => column(...Array.from({ length: n }, (_, k) => ((k % 2) * 2 - 1) * (n - k)));
const stream = (seed: string) => new RandomStream(seedKeys(seed).weights, 0);

describe("split conformal bands", () => {
  it("take the rank that covers, infinite if there are too few starts", () => {
    expect([19, 9, 8].map((n) => conformalRank(n, 0.9))).toEqual([18, 9, Number.POSITIVE_INFINITY]);
    expect(conformalRank(99, 0.95)).toBe(95);
    expect([0.8, 0.9, 0.95, 0.99].map(fewestScores)).toEqual([4, 9, 19, 99]);
    expect(conformalOffsets(counted(9), 1).upper.data[0]).toBe(9);
    expect([...conformalOffsets(counted(8), 1).lower.data]).toEqual([Number.NEGATIVE_INFINITY]);
  });

  it("are of each step and column by itself", () => {
    const errors = Matrix.zeros(20, 2);
    for (let k = 0; k < 10; k++) errors.data.set([k, 10 * k, -2 * k, -20 * k], 4 * k);
    expect([...conformalOffsets(errors, 2, { level: 0.5 }).upper.data]).toEqual([5, 50, 10, 100]);
  });

  it("miss as often below as above if they are two-sided", () => {
    const errors = column(...Array.from({ length: 39 }, (_, k) => k + 1));
    const { lower, upper } = conformalOffsets(errors, 1, { twoSided: true });
    // Ranks floor(40 * 0.05) = 2 and ceil(40 * 0.95) = 38.
    expect([lower.data[0], upper.data[0]]).toEqual([2, 38]);
  });

  it("are wider at a higher level", () => {
    const errors = counted(99);
    const widths = [0.5, 0.8, 0.9, 0.95, 0.98].map((level) => conformalOffsets(errors, 1, { level }).upper.data[0]!);
    expect(widths).toEqual(widths.toSorted((a, b) => a - b));
    expect(new Set(widths).size).toBe(5);
  });

  it("cover 90 % of white noise with 99 starts", () => {
    const draws = stream("white noise");
    const repeats = 20_000;
    let inside = 0;
    for (let k = 0; k < repeats; k++) {
      const errors = Float64Array.from({ length: 99 }, (_, i) => draws.uniform(k, i) - 0.5);
      const { lower, upper } = conformalOffsets(new Matrix(99, 1, errors), 1);
      const next = draws.uniform(k, 99) - 0.5;
      if (next >= lower.data[0]! && next <= upper.data[0]!) inside++;
    }
    expect(Math.abs(inside / repeats - 0.9)).toBeLessThan(0.006);
  });

  it("refuse rows that are no whole number of starts", () => {
    expect(() => conformalOffsets(counted(9), 2)).toThrow("errors has 9 rows; a horizon of 2 takes a multiple of it");
    expect(() => conformalOffsets(counted(9), 1, { level: 1 })).toThrow("level");
  });
});

describe("adaptive conformal bands", () => {
  it("count a forecast that is no number as one that misses by any distance", () => {
    const bands = new AdaptiveConformal([[1], [2], [3]], 1, { level: 0.5, rate: 0.5 });
    bands.band(0, [[Number.NaN]]);
    bands.reveal(0, [5]);
    expect(bands.allowed[0]).toBeCloseTo(0.5 + 0.5 * (0.5 - 1), 12);
    // The errors are 2, 3 and infinity now, of which .75 of four asks for the third.
    expect(bands.band(1, [[0]]).upper.data[0]).toBe(Number.POSITIVE_INFINITY);
  });

  it("follow what was missed", () => {
    const bands = new AdaptiveConformal(counted(19), 1, { rate: 0.05 });
    bands.band(0, column(0));
    bands.reveal(0, [1000]);
    expect(bands.allowed[0]).toBeCloseTo(0.055, 12);
    const calm = new AdaptiveConformal(counted(19), 1, { rate: 0.05 });
    calm.band(0, column(0));
    calm.reveal(0, [1]);
    expect(calm.allowed[0]).toBeCloseTo(0.105, 12);
  });

  it("count the error of a step only when its value is known, a share of the horizon each", () => {
    const errors = Matrix.zeros(40, 2);
    errors.data.fill(1);
    const bands = new AdaptiveConformal(errors, 2, { rate: 0.1 });
    const zeros = Matrix.zeros(2, 2);
    bands.band(0, zeros);
    bands.reveal(0, [5, 0]);
    // A miss takes 0.1 / 2 * 0.9 from the level of its column, a hit gives 0.1 / 2 * 0.1.
    expect([...bands.allowed]).toEqual([expect.closeTo(0.055, 12), expect.closeTo(0.105, 12)]);
    bands.band(1, zeros);
    // Row 1 is step 1 of the first forecast, and step 0 of the second, whose band has widened to 5.
    bands.reveal(1, [5, 0]);
    expect([...bands.allowed]).toEqual([expect.closeTo(0.055 - 0.045 + 0.005, 12), expect.closeTo(0.105 + 0.01, 12)]);
  });

  it("take the largest error, and count that they do, if the level asks for more; infinite if they are told to", () => {
    const missing = (beyond: "largest" | "infinite") => {
      const bands = new AdaptiveConformal(counted(19), 1, { rate: 0.2, beyond });
      bands.band(0, column(0));
      bands.reveal(0, [1000]);
      return { band: bands.band(1, column(0)), capped: bands.capped };
    };
    expect(missing("largest")).toMatchObject({ band: { upper: { data: Float64Array.of(1000) } }, capped: 1 });
    expect(missing("infinite").band.upper.data[0]).toBe(Number.POSITIVE_INFINITY);
  });

  it("miss a share within the bound, even if the errors grow all the time", () => {
    const [steps, rate] = [2000, 0.05];
    const draws = stream("growing");
    const bands = new AdaptiveConformal(counted(50), 1, { rate, beyond: "infinite" });
    let missed = 0;
    for (let t = 0; t < steps; t++) {
      const value = draws.normal(0, t) * (1 + t / 20);
      const { lower, upper } = bands.band(t, column(0));
      if (value < lower.data[0]! || value > upper.data[0]!) missed++;
      bands.reveal(t, [value]);
    }
    expect(Math.abs(missed / steps - 0.1)).toBeLessThan((0.9 + rate) / (rate * steps));
  });
});

describe("bands of AR(1) noise around a known mean", () => {
  const [phi, horizon, calibrating] = [0.8, 4, 99];

  /**
   * Errors of the forecast of a known mean, from starts a horizon apart: phi carries on from one to
   * the next.
   */
  function noisy(name: string, starts: number, growth = (_: number) => 1): Matrix {
    const draws = stream(name);
    let value = draws.normal(1, 0) / Math.sqrt(1 - phi ** 2);
    return column(
      ...Array.from({ length: starts * horizon }, (_, t) => {
        value = phi * value + draws.normal(0, t);
        return value * growth(t);
      }),
    );
  }

  /**
   * The share that bands of forecasts made one after the other hold, over all steps and repeats.
   */
  function covered(repeats: number, tested: number, isAdaptive: boolean, growth?: (t: number) => number): number {
    let inside = 0;
    for (let repeat = 0; repeat < repeats; repeat++) {
      const all = noisy(`noise ${repeat}`, calibrating + tested, growth);
      const past = all.subarray(0, calibrating * horizon);
      const { lower, upper } = conformalOffsets(past, horizon);
      const adaptive = new AdaptiveConformal(past, horizon);
      for (let k = 0; k < tested; k++) {
        const from = (calibrating + k) * horizon;
        const target = all.subarray(from, from + horizon);
        const band = isAdaptive ? adaptive.band(from, Matrix.zeros(horizon, 1)) : { lower, upper };
        inside += coverage(target, band);
        if (isAdaptive) for (let h = 0; h < horizon; h++) adaptive.reveal(from + h, target.row(h));
      }
    }
    return inside / (repeats * tested);
  }

  it("cover 90 % within a point, split and adaptive", () => {
    expect(Math.abs(covered(400, 10, false) - 0.9)).toBeLessThan(0.01);
    expect(Math.abs(covered(40, 100, true) - 0.9)).toBeLessThan(0.01);
  });

  it("that grows threefold cover 90 % if they are adaptive alone", () => {
    const end = (calibrating + 100) * horizon;
    const growth = (t: number) => 1 + (2 * t) / end;
    expect(covered(40, 100, false, growth)).toBeLessThan(0.78);
    expect(Math.abs(covered(40, 100, true, growth) - 0.9)).toBeLessThan(0.02);
  });
});

describe("bands", () => {
  const band = { lower: column(0, 0, 0), upper: column(2, 2, 2) };

  it("are judged by coverage and the Winkler score", () => {
    expect(coverage(column(0, 2, 3), band)).toBeCloseTo(2 / 3, 12);
    expect(winklerScore(column(3), { lower: column(0), upper: column(2) }, 0.9)).toBeCloseTo(22, 12);
    expect(() => coverage(column(1), band)).toThrow("lower is 3 x 1 and target 1 x 1");
  });

  it("of an ensemble are quantiles of its members", () => {
    const members = Array.from({ length: 11 }, (_, k) => column(k, 10 * k));
    const { lower, upper } = ensembleBand(members, 0.8);
    expect([...lower.data, ...upper.data].map((value) => Math.round(value * 1e9) / 1e9)).toEqual([1, 10, 9, 90]);
    expect(() => ensembleBand([column(1)])).toThrow("a band takes at least two");
  });
});
