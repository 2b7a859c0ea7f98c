import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Matrix } from "../../packages/numerics/src/index.js";
import { thin } from "../../src/plot/decimate.js";
import { decimate } from "../../src/plot/index.js";

describe("decimate", () => {
  it("leaves a series that is short enough as it is", () => {
    const { index, values } = decimate([3, 1, 2], 3);
    expect([...index]).toEqual([0, 1, 2]);
    expect([...values]).toEqual([3, 1, 2]);
  });

  it("keeps the least and the greatest of each stretch, in the order they occur", () => {
    // Two stretches of four: 0 5 -2 1 and 7 6 8 8.
    const { index, values } = decimate([0, 5, -2, 1, 7, 6, 8, 8], 4);
    expect([...index]).toEqual([1, 2, 5, 6]);
    expect([...values]).toEqual([5, -2, 6, 8]);
  });

  it("never loses the extremes of the whole, and never gives more points than asked for", () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 1, maxLength: 400 }),
        fc.integer({ min: 2, max: 50 }),
        (series, maximal) => {
          const { index, values } = decimate(series, maximal);
          expect(values.length).toBeLessThanOrEqual(Math.max(maximal, 1));
          expect(Math.min(...values)).toBe(Math.min(...series));
          expect(Math.max(...values)).toBe(Math.max(...series));
          for (let k = 1; k < index.length; k++) expect(index[k]).toBeGreaterThan(index[k - 1]!);
          index.forEach((i, k) => {
            expect(values[k]).toBe(series[i]);
          });
        },
      ),
    );
  });

  it("passes over values that are not finite, and keeps a stretch of nothing else as a gap", () => {
    const { values } = decimate([Number.NaN, Number.NaN, 1, Number.NaN, 3, 2], 4);
    // Stretches of three: NaN NaN 1 and NaN 3 2.
    expect([...values]).toEqual([1, 3, 2]);
    expect([...decimate([Number.NaN, Number.NaN, Number.NaN, 1, 2, 3], 4).values]).toEqual([Number.NaN, 1, 3]);
  });

  it("refuses fewer than two points", () => {
    expect(() => decimate([1, 2, 3], 1)).toThrow("maximal is 1; it takes a whole number of at least 2");
  });
});

describe("thin", () => {
  it("keeps every k-th row and column, so that no more are left than asked for", () => {
    const matrix = new Matrix(
      5,
      3,
      Float64Array.from({ length: 15 }, (_, i) => i),
    );
    const { matrix: kept, everyRow, everyColumn } = thin(matrix, 3, 2);
    expect([everyRow, everyColumn]).toEqual([2, 2]);
    expect(kept.toArrays()).toEqual([
      [0, 2],
      [6, 8],
      [12, 14],
    ]);
  });
});
