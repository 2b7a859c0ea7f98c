// What every metric checks before it computes: same shape, at least one value, finite numbers. The
// scores themselves are elsewhere.
import { ArgumentError } from "@spillway/core/errors.js";
import { choice, type Option, option } from "@spillway/core/options.js";
import { asMatrix, firstNonFinite, type Matrix, type MatrixLike } from "@spillway/numerics";
import { isKnownFinite } from "@spillway/numerics/known-finite.js";
import { hasNaN } from "./measured.js";

/** How several columns become one score: an option of several metrics. */
export const columnsOption: Option<"pooled" | "mean"> = option(choice("pooled", "mean"), "pooled", "How several columns become one score.");

/**
 * Target and prediction as matrices. @throws ArgumentError unless both have the same shape, hold
 * something, and are finite.
 */
export function checkedPair(metric: string, target: MatrixLike, prediction: MatrixLike): { target: Matrix; prediction: Matrix } {
  const pair = sameShape(metric, target, prediction);
  checkFinite(metric, "target", pair.target);
  checkFinite(metric, "prediction", pair.prediction);
  return pair;
}

/**
 * Target and prediction as matrices of one shape. @throws ArgumentError unless both have the same
 * shape and hold something.
 */
export function sameShape(metric: string, target: MatrixLike, prediction: MatrixLike): { target: Matrix; prediction: Matrix } {
  const y = asMatrix(target, "target");
  const p = asMatrix(prediction, "prediction");
  if (y.rows !== p.rows || y.cols !== p.cols) {
    throw ArgumentError.shape(`target is ${y.rows} x ${y.cols} and prediction is ${p.rows} x ${p.cols}; the two take the same shape`, {
      of: metric,
      field: "target",
    });
  }
  checkFilled(metric, "target", y);
  return { target: y, prediction: p };
}

/** @throws ArgumentError for a matrix without a value. */
export function checkFilled(metric: string, name: string, matrix: Matrix): void {
  if (matrix.data.length === 0)
    throw ArgumentError.shape(`${name} is ${matrix.rows} x ${matrix.cols}; it takes at least one value`, { of: metric, field: name });
}

/** @throws ArgumentError naming the first value that is not a finite number. */
export function checkFinite(metric: string, name: string, matrix: Matrix): void {
  const bad = isKnownFinite(matrix) ? -1 : firstNonFinite(matrix.data);
  if (bad < 0) return;
  const row = Math.floor(bad / matrix.cols);
  throw ArgumentError.because(`${name} is ${matrix.data[bad]} at row ${row}, column ${bad % matrix.cols}; it takes finite numbers`, {
    of: metric,
    field: name,
  });
}

/**
 * The population variance of each column over its measured values (NaN is not). Exactly 0 for a
 * constant column, NaN for one without a measured value.
 */
export function columnVariances(matrix: Matrix): Float64Array {
  return Float64Array.from({ length: matrix.cols }, (_, c) => {
    const own = measuredColumn(matrix, c);
    const first = own[0]!;
    let sum = 0;
    for (let r = 0; r < own.length; r++) sum += own[r]! - first;
    const middle = sum / own.length;
    let squares = 0;
    for (let r = 0; r < own.length; r++) squares += (own[r]! - first - middle) ** 2;
    return squares / own.length;
  });
}

/** The mean squared error of each column over its measured values; NaN for one without any. */
export function columnSquaredErrors({ target, prediction }: { target: Matrix; prediction: Matrix }): Float64Array {
  const { cols } = target;
  const [y, p] = [target.data, prediction.data];
  const errors = new Float64Array(cols);
  for (let c = 0; c < cols; c++) {
    let sum = 0;
    let measured = 0;
    for (let i = c; i < y.length; i += cols) {
      if (Number.isNaN(y[i]!)) continue;
      const error = y[i]! - p[i]!;
      sum += error * error;
      measured++;
    }
    errors[c] = sum / measured;
  }
  return errors;
}

/** The mean of a figure of each column over all measured values of the target. */
export function pooled(figures: Float64Array, target: Matrix): number {
  if (!hasNaN(target.data)) return mean(figures);
  const counts = figures.map((_, c) => measuredColumn(target, c).length);
  let sum = 0;
  for (let c = 0; c < figures.length; c++) if (counts[c]! > 0) sum += figures[c]! * counts[c]!;
  return sum / counts.reduce((all, count) => all + count, 0);
}

function measuredColumn(matrix: Matrix, c: number): ArrayLike<number> {
  const column = matrix.column(c);
  return column.some(Number.isNaN) ? column.filter((value) => !Number.isNaN(value)) : column;
}

/** A term of a value, what was said of it, and its position in the matrix. */
export type Term = (target: number, said: number, index: number) => number;

/** The score of a column, of a term for each of its measured values. */
export type ColumnScore = (terms: Float64Array, values: Float64Array, c: number) => number;

/**
 * The mean over the columns with a measured value of a score of each. @throws ArgumentError on
 * different shapes or no values
 */
export function meanOverColumns(metric: string, target: MatrixLike, said: MatrixLike, term: Term, score: ColumnScore): number {
  const { target: y, prediction } = sameShape(metric, target, said);
  const scores: number[] = [];
  for (let c = 0; c < y.cols; c++) {
    const indices = Array.from({ length: y.rows }, (_, t) => t * y.cols + c).filter((i) => !Number.isNaN(y.data[i]!));
    if (indices.length === 0) continue;
    const terms = Float64Array.from(indices, (i) => term(y.data[i]!, prediction.data[i]!, i));
    scores.push(
      score(
        terms,
        Float64Array.from(indices, (i) => y.data[i]!),
        c,
      ),
    );
  }
  return mean(scores);
}

/** What came, and what was predicted: T x D each. */
export interface Pair {
  /** NaN where a value was not measured. */
  readonly target: Matrix;
  readonly prediction: Matrix;
}

/** The mean of some numbers. */
export function mean(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]!;
  return sum / values.length;
}
