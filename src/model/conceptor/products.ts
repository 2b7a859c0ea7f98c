// Products of small matrices, in one order of sums.
import { Matrix } from "@spillway/numerics";

/** The mean of a matrix and its transpose, in place. */
export function symmetrised(matrix: Matrix<Float64Array>): Matrix<Float64Array> {
  const { rows: n, data } = matrix;
  for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) data[i * n + j] = data[j * n + i] = (data[i * n + j]! + data[j * n + i]!) / 2;
  return matrix;
}

/** A B. */
export function product(a: Matrix<Float64Array>, b: Matrix<Float64Array>): Matrix<Float64Array> {
  const out = Matrix.zeros(a.rows, b.cols);
  for (let i = 0; i < a.rows; i++) {
    const row = out.row(i);
    for (let k = 0; k < a.cols; k++) {
      const factor = a.data[i * a.cols + k]!;
      if (factor === 0) continue;
      const from = k * b.cols;
      for (let j = 0; j < row.length; j++) row[j] = row[j]! + factor * b.data[from + j]!;
    }
  }
  return out;
}
