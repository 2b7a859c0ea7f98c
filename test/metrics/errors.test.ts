// mse, rmse and mae, and what every metric refuses.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ArgumentError } from "../../packages/core/src/errors.js";
import { Matrix } from "../../packages/numerics/src/index.js";
import { mae, mse, nrmse, r2, rmse } from "../../src/metrics/index.js";

describe("mse, rmse, mae", () => {
  it("average over all rows and columns", () => {
    // Errors 1, -2, 0, 3: squares 1 + 4 + 0 + 9 = 14.
    const target = [
      [1, 2],
      [3, 4],
    ];
    const prediction = [
      [0, 4],
      [3, 1],
    ];
    expect(mse(target, prediction)).toBe(3.5);
    expect(rmse(target, prediction)).toBe(Math.sqrt(3.5));
    expect(mae(target, prediction)).toBe(1.5);
  });

  it("take flat arrays, typed arrays and matrices of either precision", () => {
    const values = [0.5, -1, 2];
    const forms = [values, Float64Array.from(values), Float32Array.from(values), new Matrix(3, 1, Float64Array.from(values))];
    for (const target of forms) for (const prediction of forms) expect(mse(target, prediction)).toBe(0);
    expect(mse(Float32Array.from(values), [1.5, 0, 3])).toBe(1);
  });

  it("are 0 for the target itself, do not change when the two are swapped, and scale with the values", () => {
    const pairs = fc.array(fc.tuple(fc.double({ min: -1e3, max: 1e3, noNaN: true }), fc.double({ min: -1e3, max: 1e3, noNaN: true })), {
      minLength: 1,
    });
    fc.assert(
      fc.property(pairs, (rows) => {
        const y = rows.map(([a]) => a);
        const p = rows.map(([, b]) => b);
        expect(mse(y, y)).toBe(0);
        expect(mse(y, p)).toBe(mse(p, y));
        expect(mae(y, p)).toBeLessThanOrEqual(rmse(y, p) * (1 + 1e-12) + 1e-150);
        const twice = (values: number[]) => values.map((value) => 2 * value);
        expect(rmse(twice(y), twice(p))).toBeCloseTo(2 * rmse(y, p), 9);
      }),
    );
  });
});

describe.each([
  ["mse", mse],
  ["rmse", rmse],
  ["mae", mae],
  ["nrmse", nrmse],
  ["r2", r2],
] as const)("%s", (name, metric) => {
  it("refuses different shapes, naming both", () => {
    expect(() => metric([1, 2, 3], [1, 2])).toThrow(`${name}: target is 3 x 1 and prediction is 2 x 1; the two take the same shape`);
    expect(() => metric([[1, 2]], [1, 2])).toThrow(`${name}: target is 1 x 2 and prediction is 2 x 1; the two take the same shape`);
  });

  it("refuses nothing to score", () => {
    expect(() => metric([], [])).toThrow(`${name}: target is 0 x 1; it takes at least one value`);
  });

  it("refuses a value that is not finite, naming its place", () => {
    const good = [
      [1, 2],
      [3, 5],
    ];
    const bad = [
      [1, 2],
      [3, Number.NaN],
    ];
    expect(() => metric(bad, good)).toThrow(`${name}: target is NaN at row 1, column 1; it takes finite numbers`);
    expect(() => metric(good, bad)).toThrow(`${name}: prediction is NaN at row 1, column 1; it takes finite numbers`);
    expect(() => metric([1, 2], [Infinity, 2])).toThrow(`${name}: prediction is Infinity at row 0, column 0; it takes finite numbers`);
  });

  it("refuses with an error that names the metric", () => {
    try {
      metric([1], [1, 2]);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(ArgumentError);
      expect((error as Error).message).toMatch(`${name}: `);
    }
  });
});
