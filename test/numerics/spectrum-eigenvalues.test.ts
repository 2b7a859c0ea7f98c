// Whole spectra against NumPy and against matrices whose eigenvalues are known.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { eigenvalues, Matrix, matrixSpectralRadius, toSparse } from "../../packages/numerics/src/index.js";
import { matrixOf, reference, referenceMatrix, reflected, ring } from "./spectrum-matrices.js";

/**
 * The largest distance when every expected eigenvalue is paired with the nearest one that is left.
 */
function distance(found: { re: Float64Array; im: Float64Array }, re: readonly number[], im: readonly number[]): number {
  expect(found.re.length).toBe(re.length);
  expect(found.im.length).toBe(re.length);
  const left = new Set(found.re.keys());
  let worst = 0;
  for (let i = 0; i < re.length; i++) {
    let best = -1;
    let nearest = Number.POSITIVE_INFINITY;
    for (const j of left) {
      const d = Math.hypot(found.re[j]! - re[i]!, found.im[j]! - im[i]!);
      if (d < nearest) [best, nearest] = [j, d];
    }
    left.delete(best);
    worst = Math.max(worst, nearest);
  }
  return worst;
}

describe("eigenvalues", () => {
  for (const expected of reference.lists) {
    it(`agree with NumPy's to 1e-8: ${expected.size} rows, density ${expected.density}, ${expected.kind}`, () => {
      const matrix = referenceMatrix(expected);
      expect(matrix.data.reduce((sum, x) => sum + x, 0)).toBe(expected.sum);
      expect(distance(eigenvalues(matrix), expected.re, expected.im)).toBeLessThan(1e-8);
      expect(eigenvalues(toSparse(matrix))).toEqual(eigenvalues(matrix));
    });
  }

  it("come by falling modulus, conjugates next to each other and exact", () => {
    const { re, im } = eigenvalues(referenceMatrix({ size: 101, density: 1, kind: "uniform", seed: 70 }));
    for (let i = 1; i < 101; i++) expect(Math.hypot(re[i]!, im[i]!)).toBeLessThanOrEqual(Math.hypot(re[i - 1]!, im[i - 1]!) * (1 + 1e-15));
    let pairs = 0;
    for (let i = 0; i < 101; i++) {
      if (im[i] === 0) continue;
      expect(im[i]).toBeGreaterThan(0);
      expect([re[i + 1], im[i + 1]]).toEqual([re[i], -im[i]!]);
      pairs++;
      i++;
    }
    expect(pairs).toBeGreaterThan(30);
  });

  it("of a ring are the N-th roots of its product", () => {
    for (const sign of [1, -1]) {
      const size = 12;
      const angles = Array.from({ length: size }, (_, k) => ((2 * k + (sign < 0 ? 1 : 0)) * Math.PI) / size);
      const found = eigenvalues(ring(size, (r) => (r === 0 ? 0.5 * sign : 0.5)));
      expect(
        distance(
          found,
          angles.map((a) => 0.5 * Math.cos(a)),
          angles.map((a) => 0.5 * Math.sin(a)),
        ),
      ).toBeLessThan(1e-15);
      for (const x of found.im) expect([...found.im]).toContain(x === 0 ? 0 : -x);
    }
  });

  it("of a triangular matrix are its diagonal, exactly", () => {
    const { re, im } = eigenvalues(
      Matrix.from([
        [1, 5, 7],
        [0, -3, 2],
        [0, 0, 0.1],
      ]),
    );
    expect([...re]).toEqual([-3, 1, 0.1]);
    expect([...im]).toEqual([0, 0, 0]);
  });

  it("of a companion matrix are the roots of its polynomial", () => {
    // (x - 1)(x - 2)...(x - 6) = x^6 - 21 x^5 + 175 x^4 - 735 x^3 + 1624 x^2 - 1764 x + 720.
    const last = [-720, 1764, -1624, 735, -175, 21];
    const companion = matrixOf(6, [...last.map((c, r) => [r, 5, c] as const), ...[1, 2, 3, 4, 5].map((r) => [r, r - 1, 1] as const)]);
    expect(distance(eigenvalues(companion), [1, 2, 3, 4, 5, 6], [0, 0, 0, 0, 0, 0])).toBeLessThan(1e-10);
  });

  it("of a matrix that defeats plain shifts are found by exceptional ones", () => {
    // A cyclic shift in another basis: double shifts leave its Hessenberg form if it is.
    const size = 8;
    const shift = reflected(
      ring(size, () => 1),
      [1, 1, 1, 1, -1, 1, 1, 1],
    );
    const angles = Array.from({ length: size }, (_, k) => (2 * k * Math.PI) / size);
    expect(distance(eigenvalues(shift), angles.map(Math.cos), angles.map(Math.sin))).toBeLessThan(1e-13);
  });

  it("sum to the trace, and the largest is the spectral radius", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.constantFrom(0.05, 0.3, 1),
        fc.integer({ min: 0, max: 1e6 }),
        (size, density, seed) => {
          const matrix = referenceMatrix({ size, density, kind: "uniform", seed });
          const { re, im } = eigenvalues(matrix);
          let trace = 0;
          for (let i = 0; i < size; i++) trace += matrix.at(i, i);
          expect(re.reduce((sum, x) => sum + x, 0)).toBeCloseTo(trace, 10);
          expect(im.reduce((sum, x) => sum + x, 0)).toBeCloseTo(0, 10);
          expect(Math.hypot(re[0]!, im[0]!)).toBeCloseTo(matrixSpectralRadius(matrix).radius, 12);
        },
      ),
      { numRuns: 60, seed: 1 },
    );
  });

  it("of nothing are none", () => {
    expect(eigenvalues(Matrix.zeros(0, 0))).toEqual({ re: new Float64Array(0), im: new Float64Array(0) });
  });

  it("take a square matrix of finite elements", () => {
    expect(() => eigenvalues(Matrix.zeros(3, 2))).toThrow("the matrix is 3 x 2; eigenvalues take a square matrix");
    expect(() =>
      eigenvalues(
        Matrix.from([
          [1, Number.POSITIVE_INFINITY],
          [0, 1],
        ]),
      ),
    ).toThrow("the matrix is Infinity at row 0, column 1");
  });
});
