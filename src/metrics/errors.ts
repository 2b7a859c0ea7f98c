// Scores of all values together: in the units of the target, and without units. The field means
// several things by a normalised error: the norm has a name here.

import { ArgumentError } from "@spillway/core/errors.js";
import { choice, type InputOf, number, option, optional, resolve } from "@spillway/core/options.js";
import { Matrix, type MatrixLike } from "@spillway/numerics";
import { isKnownFinite } from "@spillway/numerics/known-finite.js";
import { checkedPair, columnSquaredErrors, columnsOption, columnVariances, mean, type Pair, pooled } from "./check.js";
import { hasNaN } from "./measured.js";

/**
 * Mean squared error: mean over all rows and columns of (y - p)^2.
 * @param target y, T x D.
 * @param prediction p, T x D.
 * @throws ArgumentError on different shapes, no values, or a value that is not finite.
 */
export function mse(target: MatrixLike, prediction: MatrixLike): number {
  return mseOf(checkedPair("mse", target, prediction));
}

/** The same over the values that were measured. */
export function mseOf(pair: Pair): number {
  return pooled(columnSquaredErrors(pair), pair.target);
}

/**
 * Root mean squared error: the square root of `mse`, in the target's units.
 * @param target y, T x D.
 * @param prediction p, T x D.
 * @throws ArgumentError on different shapes, no values, or a value that is not finite.
 */
export function rmse(target: MatrixLike, prediction: MatrixLike): number {
  return Math.sqrt(mseOf(checkedPair("rmse", target, prediction)));
}

/**
 * Mean absolute error: mean over all rows and columns of |y - p|, in the target's units.
 * @param target y, T x D.
 * @param prediction p, T x D.
 * @throws ArgumentError on different shapes, no values, or a value that is not finite.
 */
export function mae(target: MatrixLike, prediction: MatrixLike): number {
  return maeOf(checkedPair("mae", target, prediction));
}

/** The same over the values that were measured. */
export function maeOf({ target, prediction }: Pair): number {
  let sum = 0;
  let measured = 0;
  for (let i = 0; i < target.data.length; i++) {
    if (Number.isNaN(target.data[i]!)) continue;
    sum += Math.abs(target.data[i]! - prediction.data[i]!);
    measured++;
  }
  return sum / measured;
}

/** What the root mean squared error is divided by. */
export type NrmseNorm = "std" | "range" | "mean" | "variance";

const nrmseTable = {
  /** Default "std". */
  norm: option(choice("std", "range", "mean", "variance"), "std", "What the error is divided by."),
  /**
   * A divisor of your own in place of the norm of the target, in the target's units: the standard
   * deviation of a longer series, say.
   */
  scale: optional(number({ above: 0 }), "Your own divisor in place of the norm."),
  /** How several columns become one score. Default "pooled". */
  columns: columnsOption,
};

/** What the root mean square error is divided by, and how columns are joined. */
export interface NrmseOptions extends InputOf<typeof nrmseTable> {}

/**
 * Normalised root mean squared error: sqrt(MSE) / norm, where norm is, of the target,
 *
 * - `"std"` (default): the standard deviation; predicting the mean scores 1. This is the NRMSE of
 *   the echo state literature (Jaeger 2001, GMD report 148); 1 - nrmse^2 is `r2`. The variance is
 *   the population's (divided by T, where EchoTorch takes T - 1);
 * - `"range"`: maximum - minimum, ReservoirPy's default `"minmax"`;
 * - `"mean"`: the absolute value of the mean;
 * - `"variance"`: the variance and not its root, ReservoirPy's `"var"`. It has a unit: for
 *   comparisons with such figures only.
 *
 * Several columns: `"pooled"` divides the error of all columns by one norm: sqrt(sum of MSE_c / sum
 * of var_c) for "std", each column's variance being about its own mean (for "variance" the mean of
 * the variances, for "range" and "mean" all values together). `"mean"` is the mean of the columns'
 * own scores, where a column that hardly moves counts as much as any other.
 *
 * @param target y, T x D.
 * @param prediction p, T x D.
 * @throws ArgumentError on different shapes, no values, a value that is not finite, or a norm of 0
 * (a constant target) unless
 * `scale` is given.
 */
export function nrmse(target: MatrixLike, prediction: MatrixLike, options: NrmseOptions = {}): number {
  const { norm, scale, columns } = resolve(nrmseTable, options, "nrmse");
  const pair = checkedPair("nrmse", target, prediction);
  const errors = columnSquaredErrors(pair);
  if (columns === "pooled") return nrmseOf(pair, scale ?? normOf(pair.target, norm));
  const divisors = scale === undefined ? columnNorms(pair.target, norm) : new Float64Array(errors.length).fill(scale);
  return mean(errors.map((error, c) => Math.sqrt(error) / divisors[c]!));
}

/** The pooled error over the values that were measured, divided by `scale`. */
export function nrmseOf(pair: Pair, scale: number): number {
  return Math.sqrt(pooled(columnSquaredErrors(pair), pair.target)) / scale;
}

/** Norms of series whose memory nobody writes. */
const norms = new WeakMap<Matrix, Map<NrmseNorm, number>>();

/** The norm of a series. @throws ArgumentError if it is 0 */
export function normOf(target: Matrix, norm: NrmseNorm): number {
  const known = isKnownFinite(target) ? (norms.get(target) ?? new Map<NrmseNorm, number>()) : undefined;
  const value = known?.get(norm) ?? spreadOf(target, norm);
  if (known) norms.set(target, known.set(norm, value));
  if (value > 0) return value;
  throw ArgumentError.because(`the ${norm} of the target is 0; take another norm, or give a scale`, { of: "nrmse" });
}

function spreadOf(target: Matrix, norm: NrmseNorm): number {
  if (norm === "range") return rangeOf(target.data);
  if (norm === "mean") return Math.abs(mean(hasNaN(target.data) ? target.data.filter((value) => !Number.isNaN(value)) : target.data));
  const variance = pooled(columnVariances(target), target);
  return norm === "std" ? Math.sqrt(variance) : variance;
}

function columnNorms(target: Matrix, norm: NrmseNorm): Float64Array {
  const values = Float64Array.from({ length: target.cols }, (_, c) => {
    const column = target.column(c);
    return spreadOf(new Matrix(column.length, 1, column), norm);
  });
  const bad = values.findIndex((value) => !(value > 0));
  if (bad >= 0)
    throw ArgumentError.because(`the ${norm} of column ${bad} of the target is 0; take another norm, or leave that column out`, {
      of: "nrmse",
    });
  return values;
}

function rangeOf(data: ArrayLike<number>): number {
  let low = Infinity;
  let high = -Infinity;
  for (let i = 0; i < data.length; i++) {
    if (Number.isNaN(data[i]!)) continue;
    low = Math.min(low, data[i]!);
    high = Math.max(high, data[i]!);
  }
  return high - low;
}

const r2Table = {
  /** How several columns become one score. Default "pooled". */
  columns: columnsOption,
};

/** How columns are joined. */
export interface R2Options extends InputOf<typeof r2Table> {}

/**
 * Coefficient of determination: 1 - sum of (y - p)^2 / sum of (y - mean of y)^2. 1 is perfect, 0 is
 * as good as the mean, below 0 is worse.
 *
 * Several columns: `"pooled"` (default) sums both over all columns, each about its own mean, so r2
 * = 1 - nrmse^2 (scikit-learn's "variance_weighted"); `"mean"` is the mean of the columns' scores
 * (scikit-learn's default, "uniform_average").
 *
 * @param target y, T x D.
 * @param prediction p, T x D.
 * @throws ArgumentError on different shapes, no values, a value that is not finite, or a constant
 * target, for which the score is undefined.
 */
export function r2(target: MatrixLike, prediction: MatrixLike, options: R2Options = {}): number {
  const { columns } = resolve(r2Table, options, "r2");
  const pair = checkedPair("r2", target, prediction);
  if (columns === "pooled") return r2Of(pair);
  const errors = columnSquaredErrors(pair);
  const variances = columnVariances(pair.target);
  const constant = variances.indexOf(0);
  if (constant >= 0) throw ArgumentError.because(`column ${constant} of the target is constant; r2 takes columns that vary`, { of: "r2" });
  return 1 - mean(errors.map((error, c) => error / variances[c]!));
}

/** The pooled score over the values that were measured. @throws ArgumentError for a constant target */
export function r2Of(pair: Pair): number {
  const variance = pooled(columnVariances(pair.target), pair.target);
  if (variance === 0) throw ArgumentError.because("the target is constant; r2 takes a target that varies", { of: "r2" });
  return 1 - pooled(columnSquaredErrors(pair), pair.target) / variance;
}
