// Checks that a series has rows and finite values. Series that were checked where they entered are
// noted and not checked again: only memory that nobody outside this package can write is noted.
import { ArgumentError } from "@spillway/core/errors.js";
import { asMatrix, firstNonFinite, type Matrix, type MatrixLike } from "./matrix.js";

const checked = new WeakSet<ArrayBufferLike>();

/** Notes that all of a matrix's memory holds finite values, and gives the matrix. */
export function noteFinite<Given extends Matrix>(matrix: Given): Given {
  if (matrix.data.length > 0) checked.add(matrix.data.buffer);
  return matrix;
}

/** Whether a matrix, or the one it is a part of, was noted. */
export function isKnownFinite({ data }: Matrix): boolean {
  return checked.has(data.buffer);
}

/**
 * At least one row, in the precision of the source; not copied if it is a matrix. @throws
 * ArgumentError
 */
export function filledSeries(source: MatrixLike, name: string): Matrix {
  const matrix = asMatrix(source, name);
  if (matrix.rows === 0) throw ArgumentError.shape(`${name} is empty; it takes at least one row`, { field: name });
  return matrix;
}

/** @throws ArgumentError naming row and column of the first value that is NaN or infinite. */
export function checkFinite(matrix: Matrix, name: string, hint = ""): void {
  if (isKnownFinite(matrix)) return;
  const bad = firstNonFinite(matrix.data);
  if (bad < 0) return;
  const row = Math.floor(bad / matrix.cols);
  throw ArgumentError.because(`${name} is ${matrix.data[bad]} at row ${row}, column ${bad % matrix.cols}${hint}; it takes finite numbers`, {
    field: name,
  });
}
