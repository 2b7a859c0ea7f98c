// Classical forecasts: naive methods, Theta, damped trend, ETS, and the seasons that they take out.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fitSmoothing, type Smoothing } from "../../src/series/exponential-smoothing.js";
import {
  type ClassicalMethod,
  classicalMethods,
  continueSmoothing,
  fitClassical,
  followSmoothing,
  withoutSeason,
} from "../../src/series/index.js";
import { minimise } from "../../src/series/minimise.js";
import { isSeasonal, seasonalIndices } from "../../src/series/seasonal-indices.js";
import { itWithData } from "../data.js";

const methods = Object.keys(classicalMethods) as ClassicalMethod[];
const forecast = (method: ClassicalMethod, values: ArrayLike<number>, season: number, steps: number) => [
  ...continueSmoothing(fitClassical(method, values, season), steps),
];
/** To so many significant digits. */
const toDigits = (values: readonly number[], digits: number) => values.map((value) => Number(value.toPrecision(digits)));
const within = (values: readonly number[], expected: readonly number[], relative: number) => {
  expect(values).toHaveLength(expected.length);
  for (const [k, value] of values.entries()) expect(Math.abs(value / expected[k]! - 1)).toBeLessThan(relative);
};

/** A line with a season of 4 rows and a pattern of 5: x_t = 100 + 2t + s_t + (7t mod 5). */
const made = Float64Array.from({ length: 40 }, (_, t) => 100 + 2 * t + [5, -3, 4, -6][t % 4]! + ((7 * t) % 5));

/** Kept from a program of its own, in plain JavaScript with Math.exp and Math.log. */
const checkValues = [
  {
    ...{ id: "made", file: undefined, season: 4 },
    naive2: [190.0699, 179.2172, 188.857, 175],
    theta: [189.0156, 179.2065, 189.882, 176.9101],
    damped: [188.5925, 179.8954, 191.7106, 179.5867],
    ets: [186.8456, 180.6567, 189.7746, 181.4363],
  },
  {
    ...{ id: "M1-YAF2", file: "m1-yearly", season: 1 },
    naive2: [553400, 553400, 553400, 553400],
    theta: [565073.9, 577621.5, 590169, 602716.6],
    damped: [550756.4, 587896.5, 624293.8, 659963.1],
    ets: [550756.4, 587896.5, 624293.8, 659963.1],
  },
  {
    ...{ id: "M3-N0647", file: "m3-quarterly", season: 4 },
    naive2: [3671.324, 3629.701, 3641.382, 3629.4],
    theta: [3699.409, 3685.009, 3724.497, 3739.78],
    damped: [3805.241, 3868.868, 3986.287, 4075.7],
    ets: [3766.552, 3874.865, 3981.013, 4085.037],
  },
  {
    ...{ id: "M3-N1403", file: "m3-monthly", season: 12 },
    naive2: [600, 600, 600, 600],
    theta: [1526.649, 1523.774, 1520.898, 1518.023],
    damped: [1642.016, 1641.887, 1641.784, 1641.701],
    ets: [1593.6, 1593.6, 1593.6, 1593.6],
  },
  {
    ...{ id: "W1", file: "m4-weekly", season: 1 },
    naive2: [35397.16, 35397.16, 35397.16, 35397.16],
    theta: [35415.72, 35422.53, 35429.34, 35436.14],
    damped: [35380.34, 35321.55, 35263.94, 35207.48],
    ets: [35380.34, 35321.55, 35263.94, 35207.48],
  },
] as const;

describe("check values", () => {
  for (const { id, file, season, naive2, theta, damped, ets } of checkValues) {
    const check = (values: ArrayLike<number>) => {
      expect(toDigits(forecast("naive2", values, season, 4), 7)).toEqual(naive2);
      expect(toDigits(forecast("theta", values, season, 4), 7)).toEqual(theta);
      within(forecast("damped", values, season, 4), damped, 1e-3);
      within(forecast("ets", values, season, 4), ets, 1e-3);
    };
    if (file === undefined) it(id, () => check(made));
    else
      itWithData(id, "m-competitions", (folder) => {
        const all = JSON.parse(readFileSync(join(folder, `m-competitions/${file}.json`), "utf8"));
        check(all.find((series: { id: string }) => series.id === id).train);
      });
  }
});

describe("against statsmodels 0.13.5", () => {
  const start = (season: Smoothing["season"], indices: number[]): Smoothing => ({
    ...{ season, level: 101, trend: 2, damping: 0.9, alpha: 0.4, beta: 0.4 * 0.25, gamma: 0.3 },
    indices: Float64Array.from(indices),
    least: Number.NEGATIVE_INFINITY,
  });
  // "additive": ETSModel(made, "add", "add", damped_trend=True, seasonal="add",
  // seasonal_periods=4).smooth([ .4, .1, .3, .9, 101, 2, -6, 4, -3, 5]).forecast(6). The others:
  // ExponentialSmoothing(made, trend="add", damped_trend=True, seasonal=...,
  // initialization_method="known", initial_level=101, initial_trend=2,
  // initial_seasonal=...).fit(smoothing_level=.4, smoothing_trend=.25, smoothing_seasonal=.3,
  // damping_trend=.9, optimized=False).forecast(6), which takes the index of the last row as it was
  // before that row (NaN: step 4).
  it.each([
    ["none", [], [179.02161137, 179.97275266, 180.82877981, 181.59920425, 182.29258625, 182.91663004]],
    ["additive", [5, -3, 4, -6], [186.83131643, 180.13500215, 187.42229869, 179.09788869, 191.28400381, 184.14242079]],
    ["multiplicative", [1.05, 0.97, 1.04, 0.94], [187.82909623, 180.15853958, 188.41754426, Number.NaN, 192.65240629, 184.29138171]],
  ] as const)("the recursion with season %s", (season, indices, expected) => {
    const made6 = toDigits([...continueSmoothing(followSmoothing(start(season, [...indices]), made), 6)], 11);
    expect(made6.map((value, k) => (Number.isNaN(expected[k]) ? Number.NaN : value))).toEqual(expected);
  });

  it("seasonal indices", () => {
    // seasonal_decompose(made, model=..., period=4).seasonal[:4]
    const { indices } = seasonalIndices(made, 4)!;
    expect([...indices]).toEqual([1.03701258, 0.97780079, 1.03039486, 0.95479177].map((v) => expect.closeTo(v, 7)));
    const additive = seasonalIndices(made, 4, "additive")!.indices;
    expect([...additive]).toEqual([5.15625, -3.05208333, 4.08680556, -6.19097222].map((v) => expect.closeTo(v, 7)));
  });

  it("Theta by its parts", () => {
    // SimpleExpSmoothing of 2 d - L for every alpha (.65 has the least squares, 1293.44), numpy's
    // polyfit, and the indices above.
    const expected = [189.01564988, 179.20654707, 189.88202134, 176.91007548];
    expect(toDigits(forecast("theta", made, 4, 4), 11)).toEqual(expected);
    expect(fitClassical("theta", made, 4).alpha).toBe(0.65);
  });

  it("the test of a season", () => {
    // acf(made, nlags=4): .8609, .8493, .7215, .6972; the band is .5796.
    expect(isSeasonal(made, 4)).toBe(true);
    // The same series with less of a season: acf .9165, .8399, .7558, .6749 and a band of .6093 at
    // lag 4.
    expect(isSeasonal(made.subarray(0, 11), 4)).toBe(false);
  });
});

it("a value that was not measured has no error: level and trend go on", () => {
  const smoothing: Smoothing = {
    ...{ season: "none", level: 10, trend: 2, damping: 0.5, alpha: 0.5, beta: 0.25, gamma: 0, least: Number.NEGATIVE_INFINITY },
    indices: new Float64Array(0),
  };
  // Row 1: 10 + 1 = 11, error 2: level 12, trend 1 + 0.5 = 1.5. Row 2: level 12.75, trend 0.75. Row
  // 3: 13.125, error 4: level 15.125, trend 0.375 + 1 = 1.375. Then 15.125 + 0.6875, and 0.34375
  // more.
  const after = followSmoothing(smoothing, Float64Array.of(13, Number.NaN, 17.125));
  expect([...continueSmoothing(after, 2)]).toEqual([15.8125, 16.15625]);
});

describe("naive methods", () => {
  const values = [3, 1, 4, 1, 5, 9];
  it.each([
    ["naive", 3, [9, 9, 9, 9]],
    ["seasonalNaive", 3, [1, 5, 9, 1]],
    ["seasonalNaive", 1, [9, 9, 9, 9]],
    ["seasonalNaive", 7, [9, 9, 9, 9]],
    // (9 - 3) / 5 a row.
    ["drift", 1, [10.2, 11.4, 12.6, 13.8]],
    // Too short for the test of a season.
    ["naive2", 3, [9, 9, 9, 9]],
  ] as const)("%s with a season of %i", (method, season, expected) => {
    expect(toDigits(forecast(method, values, season, 4), 12)).toEqual(expected);
  });

  it("pass over values that were not measured", () => {
    const gaps = [Number.NaN, 3, 1, 4, 1, Number.NaN, 9, Number.NaN];
    expect(forecast("naive", gaps, 1, 2)).toEqual([9, 9]);
    // Rows 2 to 7 of seasons of 3: the value of row 5 is that of row 2, of row 7 that of row 4.
    expect(forecast("seasonalNaive", gaps, 3, 3)).toEqual([1, 9, 1]);
    // From row 1 to row 6: (9 - 3) / 5 a row, and row 7 is one after the last measured one.
    expect(toDigits(forecast("drift", gaps, 1, 2), 12)).toEqual([11.4, 12.6]);
    expect(forecast("seasonalNaive", [1, Number.NaN, Number.NaN, 5], 2, 2)).toEqual([1, 5]);
  });

  it.each(methods)("%s without a measured value says so", (method) => {
    expect(() => fitClassical(method, [Number.NaN, Number.NaN], 1)).toThrow(
      "values has 2 rows, and none of them was measured; a forecast takes at least one",
    );
  });
});

describe("fits", () => {
  it("find the parameters that made a series", () => {
    // Damped trend with errors too small to matter: the forecast continues the curve.
    const curve = Float64Array.from({ length: 60 }, (_, t) => 50 + 20 * (1 - 0.9 ** t));
    within(
      forecast("damped", curve, 1, 3),
      [60, 61, 62].map((t) => 50 + 20 * (1 - 0.9 ** t)),
      1e-3,
    );
    // A season that grows with the level: only the multiplicative one continues it.
    const growing = Float64Array.from({ length: 48 }, (_, t) => (100 + 3 * t) * [1.2, 0.9, 1.1, 0.8][t % 4]!);
    expect(fitClassical("ets", growing, 4).season).toBe("multiplicative");
    within(
      forecast("ets", growing, 4, 4),
      [0, 1, 2, 3].map((k) => (100 + 3 * (48 + k)) * [1.2, 0.9, 1.1, 0.8][k]!),
      0.03,
    );
  });

  it("of ETS have the AICc of the note's formula", () => {
    // A level alone of ten rows; q = 2 parameters and the variance: n ln(SSE / n) + 2q + 2q(q + 1)
    // / (n - q - 1).
    const values = Float64Array.from([3, 5, 4, 6, 5, 7, 6, 5, 4, 6]);
    const { smoothing, aicc } = fitSmoothing(values, 1, { trend: false, season: "none" })!;
    expect(smoothing).toMatchObject({ trend: 0, damping: 0, beta: 0, gamma: 0 });
    const squares = Math.exp((aicc - 6 - 24 / 6) / 10) * 10;
    // The least squares over alpha and l0, by a grid of 0.001 in each.
    let least = Number.POSITIVE_INFINITY;
    for (let alpha = 0; alpha < 1; alpha += 0.001)
      for (let first = 2; first < 7; first += 0.01) {
        let [level, sum] = [first, 0];
        for (const value of values) {
          sum += (value - level) ** 2;
          level += alpha * (value - level);
        }
        least = Math.min(least, sum);
      }
    expect(squares).toBeCloseTo(least, 2);
  });

  it("minimise Rosenbrock's function", () => {
    const cost = ([x, y]: readonly number[]) => 100 * (y! - x! * x!) ** 2 + (1 - x!) ** 2;
    const { point, value } = minimise(cost, [-1.2, 1], [0.5, 0.5], 400);
    expect(value).toBeLessThan(1e-9);
    expect([...point]).toEqual([expect.closeTo(1, 4), expect.closeTo(1, 4)]);
  });
});

const cases = fc.record({
  values: fc.array(fc.integer({ min: -1e6, max: 1e6 }), { minLength: 2, maxLength: 40 }),
  season: fc.integer({ min: 1, max: 12 }),
});

describe("any series", () => {
  it.each(methods)("%s is finite, also of constants, spikes and gaps", (method) => {
    fc.assert(
      fc.property(cases, fc.constantFrom("as is", "constant", "zeros", "spike", "counts", "gaps"), ({ values, season }, kind) => {
        const kinds: Record<typeof kind, (value: number, t: number) => number> = {
          "as is": (value) => value,
          constant: () => values[0]!,
          zeros: () => 0,
          spike: (_, t) => (t === values.length >> 1 ? 1e6 : 1),
          counts: (value) => Math.floor(Math.abs(value) % 4),
          gaps: (value, t) => (t > 0 && value > 5e5 ? Number.NaN : value),
        };
        expect(forecast(method, values.map(kinds[kind]), season, 20).every(Number.isFinite)).toBe(true);
      }),
    );
  });

  it.each(methods)("%s scales with the series", (method) => {
    // A power of two changes no rounding.
    fc.assert(
      fc.property(cases, ({ values, season }) => {
        const doubled = forecast(
          method,
          values.map((value) => 4 * value),
          season,
          5,
        );
        const once = forecast(method, values, season, 5).map((value) => 4 * value);
        const size = Math.max(...once.map(Math.abs), 1);
        for (const [k, value] of doubled.entries()) expect(Math.abs(value - once[k]!)).toBeLessThan(1e-6 * size);
      }),
    );
  });

  it("leading values that were not measured change nothing", () => {
    for (const method of methods)
      expect(forecast(method, [Number.NaN, Number.NaN, Number.NaN, ...made], 4, 6)).toEqual(forecast(method, made, 4, 6));
  });

  it("a season that is taken out is put back", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 1, max: 100, noNaN: true }), { minLength: 24, maxLength: 40 }), (values) => {
        const series = Float64Array.from(values);
        const season = seasonalIndices(series, 4)!;
        const rest = withoutSeason(series, season);
        for (const [t, value] of rest.entries()) {
          const index = season.indices[t % 4]!;
          expect(season.kind === "multiplicative" ? value * index : value + index).toBeCloseTo(values[t]!, 9);
        }
      }),
    );
  });

  it("a gap is forecast as if it were not there: what a smoothing follows has no other effect", () => {
    for (const method of methods) {
      const fitted = fitClassical(method, made, 4);
      const [whole, later] = [
        continueSmoothing(fitted, 9),
        continueSmoothing(followSmoothing(fitted, new Float64Array(3).fill(Number.NaN)), 6),
      ];
      for (const [k, value] of later.entries()) expect(value).toBeCloseTo(whole[k + 3]!, 9);
    }
  });
});
