// Weights by errors from earlier origins, and quantiles of those errors.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { studentQuantile } from "../../packages/numerics/src/index.js";
import { Matrix } from "../../src/index.js";
import { weighted } from "../../src/model/forecaster/ensemble.js";
import { earlierOrigins, errorQuantile, leastWithNeighbours, meanSize, memberWeights } from "../../src/series/index.js";

const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, k) => first + k);

describe("earlier origins", () => {
  // Kept from a program of its own, but the last three: by hand.
  it.each([
    [40, 4, 4, range(29, 36)],
    [2179, 13, 1, [1634, 1710, 1786, 1862, 1938, 2014, 2090, 2166]],
    [22, 6, 1, range(9, 16)],
    [36, 8, 4, range(21, 28)],
    [50, 18, 12, range(25, 32)],
    // One row is known, one is forecast.
    [2, 5, 1, [1]],
    [7, 3, 1, [6]],
    // fewest = max(6, min(10, 5)) = 6; last = max(7, 6) = 7; first = max(6, min(7, 0)) = 6.
    [10, 3, 4, [6, 7]],
  ])("of %i rows, horizon %i, season %i", (rows, horizon, season, origins) => {
    expect(earlierOrigins(rows, horizon, season)).toEqual({ origins, horizons: (rows - origins[0]!) / horizon });
  });

  it("know a row and forecast a row, and ascend", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 3000 }),
        fc.integer({ min: 1, max: 200 }),
        fc.integer({ min: 1, max: 60 }),
        (rows, horizon, season) => {
          const { origins } = earlierOrigins(rows, horizon, season);
          expect(origins.length).toBeGreaterThan(0);
          expect(origins.length).toBeLessThanOrEqual(8);
          expect(origins[0]!).toBeGreaterThan(0);
          expect(origins.at(-1)!).toBeLessThan(rows);
          expect([...new Set(origins)].sort((a, b) => a - b)).toEqual(origins);
        },
      ),
    );
  });
});

describe("weights", () => {
  it("are inverse errors to the power K, at least 2 and at most 8", () => {
    // (1, 2)^-2 = 1, 1/4; ^-3 = 1, 1/8; ^-8 = 1, 1/256.
    expect([...memberWeights([1, 2], 0.5)]).toEqual([0.8, 0.2]);
    expect([...memberWeights([1, 2], 3)]).toEqual([8 / 9, 1 / 9]);
    expect([...memberWeights([2, 4], 100)]).toEqual([256 / 257, 1 / 257]);
  });

  it("are equal if nothing was measured, and 0 for a member that left for infinity", () => {
    expect([...memberWeights([Number.NaN, Number.NaN], 4)]).toEqual([0.5, 0.5]);
    expect([...memberWeights([3, Number.POSITIVE_INFINITY, 3], 4)]).toEqual([0.5, 0, 0.5]);
    expect([...memberWeights([0, 0, 1], 4)]).toEqual([0.5, 0.5, expect.closeTo(0, 40)]);
  });

  it("make a weighted sum, without what has no weight", () => {
    const forecasts = [
      [1, 2],
      [5, 10],
      [Number.NaN, 0],
    ].map((values) => new Matrix(2, 1, Float64Array.from(values)));
    const members = [0.75, 0.25, 0].map((weight) => ({ weights: [weight] }));
    expect([...weighted(members, forecasts).data]).toEqual([2, 4]);
  });

  it("count errors that were measured alone", () => {
    expect(meanSize([Float64Array.of(-1, Number.NaN), Float64Array.of(3)])).toBe(2);
    expect(meanSize([Float64Array.of(Number.NaN)])).toBeNaN();
  });
});

describe("the penalty with the least smoothed error", () => {
  it("is not a lucky one beside bad ones", () => {
    // Geometric means: (.78 * 3.7)^(1/2) = 1.699, (.78 * 3.7 * 3.9)^(1/3) = 2.241, ..., (1 *
    // 1.1)^(1/2) = 1.049.
    const { index, error } = leastWithNeighbours([0.78, 3.7, 3.9, 2, 1.1, 1]);
    expect(index).toBe(5);
    expect(error).toBeCloseTo(Math.sqrt(1.1), 12);
  });

  it("passes over errors that are not finite", () => {
    expect(leastWithNeighbours([Number.NaN, 2, Number.POSITIVE_INFINITY, 8, 1])).toEqual({
      index: 3,
      error: expect.closeTo(Math.cbrt(16), 12),
    });
    expect(leastWithNeighbours([Number.NaN]).index).toBe(-1);
  });
});

describe("quantiles of errors", () => {
  it("of many horizons are those of the errors and their mirror images, by step", () => {
    // u = error / k^.3: 1, -2 of step 1, 3 and 4 of step 2; with mirror images -4 -3 -2 -1 1 2 3 4.
    // Quantile .9 at 6.3 between 3 and 4.
    const errors = [Float64Array.of(1, 3 * 2 ** 0.3), Float64Array.of(-2, 4 * 2 ** 0.3)];
    const at = (level: number) => [...errorQuantile({ errors, horizons: 3, validated: 6, season: 1 }, level, 3)];
    expect(at(0.9)).toEqual([3.3, 3.3 * 2 ** 0.3, 3.3 * 3 ** 0.3].map((v) => expect.closeTo(v, 12)));
    expect(at(0.5)).toEqual([0, 0, 0].map((v) => expect.closeTo(v, 12)));
    expect(at(0.1)[0]).toBeCloseTo(-3.3, 12);
  });

  it("of few horizons are Student's t times the root mean square", () => {
    // u = 3, 4 / 2^.5 ... root mean square of (3, 4) is 12.5^.5; 0.4 (30 - 12) = 7.2 degrees: t(.1)
    // = -1.41086.
    const errors = [Float64Array.of(3, 4 * 2 ** 0.5, Number.NaN)];
    const [first, , third] = errorQuantile({ errors, horizons: 2, validated: 30, season: 1 }, 0.1, 3);
    expect(first).toBeCloseTo(-1.4108620924257005 * 12.5 ** 0.5, 10);
    expect(third! / first!).toBeCloseTo(3 ** 0.5, 12);
    const [, seasonal] = errorQuantile({ errors, horizons: 2, validated: 5, season: 4 }, 0.95, 2);
    // 2 degrees of freedom; growth .3 with a season.
    expect(seasonal).toBeCloseTo(2.919985580353726 * Math.sqrt((9 + (4 * 2 ** 0.2) ** 2) / 2) * 2 ** 0.3, 9);
  });

  it("do not cross", () => {
    const error = fc.double({ min: -1e3, max: 1e3, noNaN: true });
    fc.assert(
      fc.property(
        fc.array(fc.array(error, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 8 }),
        fc.double({ min: 0.1, max: 9, noNaN: true }),
        (rows, horizons) => {
          const errors = rows.map((row) => Float64Array.from(row));
          const quantiles = [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95].map((level) =>
            errorQuantile({ errors, horizons, validated: 9, season: 1 }, level, 6),
          );
          for (let q = 1; q < quantiles.length; q++)
            for (let k = 0; k < 6; k++) expect(quantiles[q]![k]!).toBeGreaterThanOrEqual(quantiles[q - 1]![k]!);
        },
      ),
    );
  });

  it("are unknown without a measured error", () => {
    expect([...errorQuantile({ errors: [Float64Array.of(Number.NaN)], horizons: 4, validated: 4, season: 1 }, 0.9, 1)]).toEqual([
      Number.NaN,
    ]);
  });
});

// sqrt(v (1 - x) / x), x = scipy.special.betaincinv(v / 2, 1 / 2, 2 min(p, 1 - p)), SciPy 1.10.
// (t.ppf has nine digits.)
it.each([
  [0.05, 2, -2.919985580353726],
  [0.1, 7.2, -1.4108620924257005],
  [0.975, 30, 2.042272456301239],
  [0.6, 2.4, 0.28265984145965534],
  [0.9995, 4.8, 7.125097012129183],
])("the quantile %f of Student's t with %f degrees of freedom", (p, degrees, expected) => {
  expect(studentQuantile(p, degrees)).toBeCloseTo(expected, 11);
});
