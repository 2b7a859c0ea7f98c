// Ridge problems with many shifts through one bidiagonal form, against solving each on its own.
import { describe, expect, it } from "vitest";
import { Bidiagonal, cholesky, Matrix } from "../../packages/numerics/src/index.js";
import { plainGram, randomMatrix } from "./linear-algebra-reference.js";

function transposeTimes(a: Matrix, z: Matrix): Matrix<Float64Array> {
  const out = Matrix.zeros(a.cols, z.cols);
  for (let k = 0; k < a.rows; k++) {
    for (let i = 0; i < a.cols; i++) for (let o = 0; o < z.cols; o++) out.data[i * z.cols + o]! += a.at(k, i) * z.at(k, o);
  }
  return out;
}

describe.each([1, 2, 3, 7, 30, 67])("the bidiagonal form of a %i x %i matrix", (n) => {
  const a = randomMatrix(n, n, `a ${n}`) as Matrix<Float64Array>;
  const z = randomMatrix(n, 2, `z ${n}`) as Matrix<Float64Array>;
  const bidiagonal = new Bidiagonal(a, z);
  const gram = plainGram(a);

  it.each([1e-3, 0.5, 20])("solves with shift %d as normal equations do", (shift) => {
    const solved = bidiagonal.shifted(shift);
    const direct = cholesky(gram, new Float64Array(n).fill(shift)).solve(transposeTimes(a, z));
    // The rotated weights are V^T w: rotating the direct ones gives the same.
    const rows = Matrix.zeros(2, n);
    for (let i = 0; i < n; i++) for (let o = 0; o < 2; o++) rows.data[o * n + i] = direct.at(i, o);
    bidiagonal.rotate(rows);
    for (let o = 0; o < 2; o++) for (let i = 0; i < n; i++) expect(solved.weights.at(i, o)).toBeCloseTo(rows.at(o, i), 7);
    for (let o = 0; o < 2; o++) {
      let squares = 0;
      for (let r = 0; r < n; r++) {
        let residual = z.at(r, o);
        for (let c = 0; c < n; c++) residual -= a.at(r, c) * direct.at(c, o);
        squares += residual * residual;
      }
      expect(solved.residualSquares[o]).toBeCloseTo(squares, 8);
    }
  });

  it("gives the trace and the quadratic forms of the inverse", () => {
    const shift = 0.25;
    const identity = Matrix.zeros(n, n);
    for (let i = 0; i < n; i++) identity.data[i * n + i] = 1;
    const inverse = cholesky(gram, new Float64Array(n).fill(shift)).solve(identity);
    const solved = bidiagonal.shifted(shift);
    let trace = 0;
    for (let i = 0; i < n; i++) trace += inverse.at(i, i);
    expect(solved.inverseTrace).toBeCloseTo(trace, 8);
    const x = randomMatrix(40, n, "rows") as Matrix<Float64Array>;
    const rotated = x.slice();
    bidiagonal.rotate(rotated);
    for (const t of [0, 31, 32, 39]) {
      let form = 0;
      for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) form += x.at(t, i) * inverse.at(i, j) * x.at(t, j);
      expect(solved.leverage(rotated.row(t))).toBeCloseTo(form, 8);
    }
  });
});
