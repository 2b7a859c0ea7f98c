// Eigenvalues and vectors of symmetric matrices.
import { describe, expect, it } from "vitest";
import { Matrix, symmetricEigen } from "../../packages/numerics/src/index.js";
import { plainGram, randomMatrix } from "./linear-algebra-reference.js";

/** The largest element of V^T diag(values) V - A, and of V V^T - I. */
function errors(a: Matrix): readonly [number, number] {
  const { values, vectors } = symmetricEigen(a);
  const n = a.rows;
  let residual = 0;
  let turned = 0;
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++) {
      let sum = -a.at(i, j);
      let dot = i === j ? -1 : 0;
      for (let k = 0; k < n; k++) {
        sum += values[k]! * vectors.at(k, i) * vectors.at(k, j);
        dot += vectors.at(i, k) * vectors.at(j, k);
      }
      residual = Math.max(residual, Math.abs(sum));
      turned = Math.max(turned, Math.abs(dot));
    }
  return [residual, turned];
}

function symmetric(n: number): Matrix<Float64Array> {
  const a = randomMatrix(n, n, `symmetric ${n}`) as Matrix<Float64Array>;
  for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) a.data[j * n + i] = a.data[i * n + j]!;
  return a;
}

describe("eigenvalues and vectors of a symmetric matrix", () => {
  it("are those of a 3 x 3 matrix that is known", () => {
    const { values } = symmetricEigen(
      Matrix.from([
        [2, -1, 0],
        [-1, 2, -1],
        [0, -1, 2],
      ]),
    );
    for (const [k, value] of [2 + Math.SQRT2, 2, 2 - Math.SQRT2].entries()) expect(values[k]).toBeCloseTo(value, 14);
  });

  it.each([1, 2, 3, 7, 40, 150])("give a %i x %i matrix back, and are orthogonal", (n) => {
    const a = symmetric(n);
    const scale = Math.max(...a.data.map(Math.abs));
    const [residual, turned] = errors(a);
    expect(residual).toBeLessThan(1e-14 * scale * n);
    expect(turned).toBeLessThan(1e-14 * n);
  });

  it("hold for few directions, equal values, tiny ones and zeros", () => {
    const few = plainGram(randomMatrix(3, 30, "few")) as Matrix<Float64Array>;
    for (let i = 0; i < 30; i++) for (let j = 0; j < i; j++) few.data[j * 30 + i] = few.data[i * 30 + j]!;
    const { values } = symmetricEigen(few);
    expect(values.filter((value) => value > 1e-10).length).toBe(3);
    expect(errors(few)[1]).toBeLessThan(1e-13);
    const unit = Matrix.from(Array.from({ length: 9 }, (_, i) => Array.from({ length: 9 }, (_, j) => (i === j ? 3 : 0))));
    expect([...symmetricEigen(unit).values]).toEqual(Array<number>(9).fill(3));
    const tiny = symmetric(12);
    tiny.data.forEach((value, i) => {
      tiny.data[i] = value * 2 ** -1060;
    });
    expect(errors(tiny)[1]).toBeLessThan(1e-13);
    expect([...symmetricEigen(Matrix.zeros(4, 4)).values]).toEqual([0, 0, 0, 0]);
  });

  it("are refused of a matrix that is not square, or not finite", () => {
    expect(() => symmetricEigen(Matrix.zeros(2, 3))).toThrow("a 2 x 3 matrix has no eigenvalues");
    expect(() => symmetricEigen(Matrix.from([[Number.NaN]]))).toThrow("matrix[0, 0] is NaN");
  });
});
