// Turns what users hand over into matrices of the model's precision, or says what is wrong with it.
import { asMatrix, describe, firstNonFinite, inPrecision, type Matrix, type MatrixLike, type Precision } from "../numerics/index.js";

/** Data that cannot be used: a wrong shape, no rows, or a value that is not finite. */
export class DataError extends Error {
  override readonly name = "DataError";
}

/** Checks and converts a T x `cols` series; `what` says whose number `cols` is. @throws DataError */
export function series(source: MatrixLike, name: string, cols: number, what: string, precision: Precision): Matrix {
  const matrix = filledSeries(source, name);
  if (matrix.cols !== cols) throw new DataError(`${name} has ${count(matrix.cols, "column")}; this reservoir takes ${cols} (${what})`);
  return finite(matrix, name, precision);
}

/** The same for a series of any width. @throws DataError */
export function anySeries(source: MatrixLike, name: string, precision: Precision): Matrix {
  return finite(filledSeries(source, name), name, precision);
}

/** At least one row of whatever precision the source has; not copied where it is a matrix. @throws DataError */
export function filledSeries(source: MatrixLike, name: string): Matrix {
  let matrix: Matrix;
  try {
    matrix = asMatrix(source, name);
  } catch (error) {
    throw new DataError((error as Error).message);
  }
  if (matrix.rows === 0) throw new DataError(`${name} is empty; it takes at least one row`);
  return matrix;
}

function finite(matrix: Matrix, name: string, precision: Precision): Matrix {
  checkFinite(matrix, name);
  const converted = inPrecision(matrix, precision);
  if (converted !== matrix) checkFinite(converted, name, " (beyond float32; scale the data or take precision float64)");
  return converted;
}

/** @throws DataError naming row and column of the first value that is NaN or infinite. */
export function checkFinite(matrix: Matrix, name: string, hint = ""): void {
  const bad = firstNonFinite(matrix.data);
  if (bad < 0) return;
  const row = Math.floor(bad / matrix.cols);
  throw new DataError(`${name} is ${matrix.data[bad]} at row ${row}, column ${bad % matrix.cols}${hint}; it takes finite numbers`);
}

/** @throws DataError unless `value` is a whole number of at least `least`. */
export function checkWhole(name: string, value: number, least: number): number {
  if (!Number.isSafeInteger(value) || value < least)
    throw new DataError(`${name} is ${describe(value)}; it takes a whole number of at least ${least}`);
  return value;
}

/** `1 column`, `3 columns`. */
export function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}
