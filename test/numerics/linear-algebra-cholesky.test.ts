// The Cholesky factorisation of rule 11, bit for bit, and how it fails.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cholesky, Matrix, MemoryLimitError, NotPositiveDefiniteError } from "../../packages/numerics/src/index.js";
import { bits, plainCholesky, plainGram, plainSolve, randomMatrix } from "./linear-algebra-reference.js";

/** X^T X + I of random rows: positive definite, with a condition of some thousands. */
function positiveDefinite(n: number): Matrix<Float64Array> {
  const a = plainGram(randomMatrix(n + 5, n, `spd ${n}`));
  for (let i = 0; i < n; i++) a.data[i * n + i]! += 1e-3;
  return a;
}

function error(run: () => unknown): NotPositiveDefiniteError {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof NotPositiveDefiniteError) return thrown;
    throw thrown;
  }
  throw new Error("it did not fail");
}

describe("the Cholesky factorisation", () => {
  it.each([1, 2, 5, 6, 7, 12, 31, 59, 60, 61, 66, 119, 120, 121, 150])("of a %i x %i matrix has the bits of plain loops", (n) => {
    const a = positiveDefinite(n);
    const expected = plainCholesky(a);
    const lower = cholesky(a).lower();
    for (let i = 0; i < n; i++) expect(bits(lower.row(i).subarray(0, i + 1))).toEqual(bits(expected[i]!));
    expect(
      lower
        .row(0)
        .subarray(1)
        .every((value) => value === 0),
    ).toBe(true);
  });

  it("solves with the bits of plain loops, for any number of right-hand sides", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 80 }), fc.integer({ min: 1, max: 14 }), (n, columns) => {
        const a = positiveDefinite(n);
        const rhs = randomMatrix(n, columns, "rhs");
        const factor = cholesky(a);
        const plain = plainCholesky(a);
        const solved = factor.solve(rhs);
        const forward = factor.solveLower(rhs);
        for (let c = 0; c < columns; c++) {
          const { z, w } = plainSolve(plain, rhs.column(c));
          expect(bits(forward.column(c))).toEqual(bits(z));
          expect(bits(solved.column(c))).toEqual(bits(w));
        }
      }),
      { numRuns: 25, seed: 2 },
    );
  });

  it("adds a diagonal once to each element", () => {
    const a = positiveDefinite(9);
    const shifted = a.slice();
    for (let i = 0; i < 9; i++) shifted.data[i * 10]! += i / 7;
    const lower = cholesky(
      a,
      Array.from({ length: 9 }, (_, i) => i / 7),
    ).lower();
    expect(bits(lower.data)).toEqual(bits(cholesky(shifted).lower().data));
  });

  it("reads the lower triangle only", () => {
    const a = positiveDefinite(8);
    const garbled = a.slice();
    for (let i = 0; i < 8; i++) for (let j = i + 1; j < 8; j++) garbled.data[i * 8 + j] = Number.NaN;
    expect(bits(cholesky(garbled).lower().data)).toEqual(bits(cholesky(a).lower().data));
  });

  it("names the pivot that fails and what was left of it", () => {
    const a = positiveDefinite(100);
    for (let i = 0; i < 100; i++) {
      a.data[i * 100 + 70] = a.data[i * 100 + 3]!;
      a.data[70 * 100 + i] = a.data[3 * 100 + i]!;
    }
    a.data[70 * 100 + 70] = a.data[3 * 100 + 3]! - 1;
    const thrown = error(() => cholesky(a));
    expect(thrown.pivotIndex).toBe(70);
    expect(thrown.pivot).toBeCloseTo(-1, 9);
    expect(thrown.message).toMatch(/^the 100 x 100 matrix is not positive definite: pivot 70 is -1.* and must be above .*, its rounding/);
  });

  it("estimates the condition from below: a Hilbert matrix of order 14 has one above 1e17", () => {
    const hilbert = Matrix.zeros(14, 14);
    for (let i = 0; i < 14; i++) for (let j = 0; j < 14; j++) hilbert.data[i * 14 + j] = 1 / (i + j + 1);
    const { conditionEstimate } = error(() => cholesky(hilbert));
    expect(conditionEstimate).toBeGreaterThan(1e14);
    expect(conditionEstimate).toBeLessThan(1e19);
  });

  it("fails at a NaN rather than going on", () => {
    const a = positiveDefinite(4);
    a.data[5] = Number.NaN;
    expect(error(() => cholesky(a)).pivotIndex).toBe(1);
  });

  it("takes a square matrix, and right-hand sides with as many rows", () => {
    expect(() => cholesky(Matrix.zeros(2, 3))).toThrow("a 2 x 3 matrix has no Cholesky factor; it takes a square one");
    expect(() => cholesky(positiveDefinite(3)).solve(Matrix.zeros(4, 1))).toThrow("the right-hand side has 4 rows; the matrix has 3");
  });

  it("refuses what does not fit 4 GiB before it allocates", () => {
    const huge = { rows: 24000, cols: 24000, data: new Float64Array(0) } as unknown as Matrix;
    expect(() => cholesky(huge)).toThrow(MemoryLimitError);
  });
});
