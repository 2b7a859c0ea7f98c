// Scores in the units of the target: mean squared error, its root, mean absolute error. Scores
// without units are in nrmse.ts and r2.ts.
import type { MatrixLike } from "@spillway/numerics";
import { checkedPair, columnSquaredErrors, type Pair, pooled } from "./check.js";

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
