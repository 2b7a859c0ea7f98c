// The normalised root mean squared error. The field means several things by it: the norm has a name
// here.
import { ArgumentError } from "@spillway/core/errors.js";
import { choice, type InputOf, number, option, optional, resolve } from "@spillway/core/options.js";
import { Matrix, type MatrixLike } from "@spillway/numerics";
import { isKnownFinite } from "@spillway/numerics/known-finite.js";
import { checkedPair, columnSquaredErrors, columnsOption, columnVariances, mean, type Pair, pooled } from "./check.js";
import { hasNaN } from "./measured.js";

/** What the root mean squared error is divided by. */
export type NrmseNorm = "std" | "range" | "mean" | "variance";

const table = {
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
export interface NrmseOptions extends InputOf<typeof table> {}

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
  const { norm, scale, columns } = resolve(table, options, "nrmse");
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
