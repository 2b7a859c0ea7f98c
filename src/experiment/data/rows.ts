// Rows of matrices put together and taken apart.
import { Matrix } from "@spillway/numerics";

/** The mean of each column. */
export function columnMeans({ rows, cols, data }: Matrix): Float64Array {
  const means = new Float64Array(cols);
  for (let i = 0; i < data.length; i++) means[i % cols] = means[i % cols]! + data[i]! / rows;
  return means;
}

/** The rows k-1, 2k-1, ... as a copy, in the precision of the matrix. */
export function everyRow(matrix: Matrix, every: number): Matrix {
  const rows = Math.floor(matrix.rows / every);
  const data = matrix.data instanceof Float32Array ? new Float32Array(rows * matrix.cols) : new Float64Array(rows * matrix.cols);
  for (let r = 0; r < rows; r++) data.set(matrix.row((r + 1) * every - 1), r * matrix.cols);
  return new Matrix(rows, matrix.cols, data);
}
