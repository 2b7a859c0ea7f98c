// Dot products of rows in the order of rule 1, sums of weighted rows, and the matrix of recursive
// least squares.
import { describe, expect, it } from "vitest";
import { cholesky, evaluateRows, InverseCovariance, Matrix, MemoryLimitError, ResidentRows } from "../../packages/numerics/src/index.js";
import { bits, plainGram, randomMatrix } from "./linear-algebra-reference.js";

/** Rule 1: 32 partial sums, then the butterfly. */
function portableDot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const p = new Array<number>(32).fill(0);
  for (let k = 0; k < a.length; k++) p[k % 32]! += a[k]! * b[k]!;
  for (const half of [16, 8, 4, 2, 1]) for (let l = 0; l < half; l++) p[l]! += p[l + half]!;
  return p[0]!;
}

describe("products of rows", () => {
  it.each([1, 5, 31, 32, 33, 63, 64, 65, 100, 257])("have the bits of rule 1 for %i columns", (columns) => {
    const rows = randomMatrix(11, columns, "rows");
    const weights = randomMatrix(3, columns, "weights") as Matrix<Float64Array>;
    const intercept = Float64Array.of(0.1, -2, 0);
    const out = new Float64Array(33);
    evaluateRows(weights, intercept, 11, (t, row) => row.set(rows.row(t)), out);
    const expected = Array.from({ length: 33 }, (_, i) => portableDot(rows.row(Math.floor(i / 3)), weights.row(i % 3)) + intercept[i % 3]!);
    expect(bits(out)).toEqual(bits(expected));
  });

  it("are rounded once to binary32 where the result is", () => {
    const rows = randomMatrix(4, 40, "rows");
    const weights = randomMatrix(1, 40, "weights") as Matrix<Float64Array>;
    const out = new Float32Array(4);
    evaluateRows(weights, new Float64Array(1), 4, (t, row) => row.set(rows.row(t)), out);
    expect(Array.from(out)).toEqual(Array.from({ length: 4 }, (_, t) => Math.fround(portableDot(rows.row(t), weights.row(0)))));
  });

  it("stay at hand for fits that go over them again and again", () => {
    const rows = randomMatrix(13, 35, "rows") as Matrix<Float64Array>;
    const resident = new ResidentRows(rows, 2);
    const weights = randomMatrix(2, 35, "weights") as Matrix<Float64Array>;
    const scores = resident.multiply(weights.data).slice();
    scores.forEach((score, i) => {
      expect(score).toBe(portableDot(rows.row(Math.floor(i / 2)), weights.row(i % 2)));
    });
    const sums = new Float64Array(70);
    resident.weightedSum(scores, sums);
    for (let o = 0; o < 2; o++) {
      for (let f = 0; f < 35; f++) {
        let sum = 0;
        for (let t = 0; t < 13; t++) sum += scores[t * 2 + o]! * rows.at(t, f);
        expect(sums[o * 35 + f]).toBe(sum);
      }
    }
  });

  it("refuse what does not fit 4 GiB", () => {
    const huge = { rows: 1_000_000, cols: 1000, data: new Float64Array(0) } as unknown as Matrix<Float64Array>;
    expect(() => new ResidentRows(huge, 2)).toThrow(MemoryLimitError);
  });
});

describe("the inverse covariance of recursive least squares", () => {
  it("is (X^T X + I / scale)^-1: its gain is that inverse times the row", () => {
    const rows = randomMatrix(60, 37, "rows") as Matrix<Float64Array>;
    const covariance = new InverseCovariance(37, 1000);
    for (let t = 0; t < 60; t++) {
      const gain = covariance.update(rows.row(t), 1) as Float64Array;
      if (t % 20 !== 19) continue;
      const column = Matrix.from(Array.from(rows.row(t)));
      const expected = cholesky(plainGram(rows.subarray(0, t + 1)), new Float64Array(37).fill(1e-3)).solve(column);
      expected.data.forEach((value, i) => {
        expect(gain[i]).toBeCloseTo(value, 9);
      });
    }
  });

  it("says so where it is no longer positive definite, and stays as it was", () => {
    const covariance = new InverseCovariance(2, -1);
    expect(covariance.update(Float64Array.of(3, 0), 1)).toBe(1 - 9);
    expect(covariance.update(Float64Array.of(3, 0), 1)).toBe(1 - 9);
  });
});
