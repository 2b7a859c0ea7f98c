// The coefficient of determination.
import { ArgumentError } from "@spillway/core/errors.js";
import { type InputOf, resolve } from "@spillway/core/options.js";
import type { MatrixLike } from "@spillway/numerics";
import { checkedPair, columnSquaredErrors, columnsOption, columnVariances, mean, type Pair, pooled } from "./check.js";

const table = {
  /** How several columns become one score. Default "pooled". */
  columns: columnsOption,
};

/** How columns are joined. */
export interface R2Options extends InputOf<typeof table> {}

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
  const { columns } = resolve(table, options, "r2");
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
