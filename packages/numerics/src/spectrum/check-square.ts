// What a matrix must be before its eigenvalues are asked for.
import { ArgumentError } from "@spillway/core/errors.js";
import { describe } from "@spillway/core/text.js";
import { checkSparse, firstNonFinite, isSparse, type Matrix, type SparseMatrix } from "../matrix.js";

/**
 * @throws ArgumentError if it is no matrix, or not square, not well-formed, or not finite; naming
 * row and column.
 */
export function checkSquare(matrix: Matrix | SparseMatrix): void {
  if (typeof matrix !== "object" || matrix === null || !(isSparse(matrix) || ArrayBuffer.isView(matrix.data)))
    throw ArgumentError.because(`the matrix is ${describe(matrix)}; eigenvalues take a Matrix, such as Matrix.from(rows) makes of lists`);
  if (matrix.rows !== matrix.cols)
    throw ArgumentError.because(`the matrix is ${matrix.rows} x ${matrix.cols}; eigenvalues take a square matrix`);
  if (isSparse(matrix)) checkSparse(matrix, "the matrix");
  const values = isSparse(matrix) ? matrix.values : matrix.data;
  const p = firstNonFinite(values);
  if (p < 0) return;
  let row = 0;
  let column = p;
  if (isSparse(matrix)) {
    while (matrix.rowOffsets[row + 1]! <= p) row++;
    column = matrix.columns[p]!;
  } else {
    row = Math.floor(p / matrix.cols);
    column = p - row * matrix.cols;
  }
  throw ArgumentError.because(`the matrix is ${values[p]} at row ${row}, column ${column}; eigenvalues take finite elements`);
}
