// What a ridge fit needs of a BLAS that is not the portable order: a library of the system, or one
// that works on a GPU. It computes nothing.
import type { Matrix } from "../matrix.js";
import type { GramSum } from "./gram.js";

/**
 * Gram matrices and solves in binary64, in the library's own order: fast, and not the portable
 * bits.
 */
export interface DenseBlas {
  /** What computes, for people and for files of readouts. */
  readonly library: string;
  /** An empty X^T X over rows of `columns` values. */
  gram(columns: number): GramSum;
  /**
   * W with (A + diag(d)) W = B, B n x O. A is the leading n x n block of a symmetric matrix whose
   * lower triangle is read. Returns the failed pivot's index, from 0, if it is not positive
   * definite; `lostPivot` judges that, whatever the library says.
   */
  solvePositiveDefinite(
    matrix: Matrix<Float64Array>,
    diagonal: ArrayLike<number>,
    rhs: Matrix<Float64Array>,
  ): Matrix<Float64Array> | number;
}

/**
 * The lower triangle of the leading n x n block with a diagonal added, row by row, n =
 * diagonal.length; zeros above it.
 */
export function shiftedTriangle(matrix: Matrix<Float64Array>, diagonal: ArrayLike<number>): Float64Array {
  const n = diagonal.length;
  const out = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    out.set(matrix.data.subarray(i * matrix.cols, i * matrix.cols + i + 1), i * n);
    out[i * n + i] = out[i * n + i]! + diagonal[i]!;
  }
  return out;
}
