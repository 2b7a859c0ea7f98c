// Scores in the units of the target: mean squared error, its root, mean absolute error. Scores
// without units are in nrmse.ts and r2.ts.
import type { MatrixLike } from "../numerics/index.js";
import { checkedPair, columnSquaredErrors, mean } from "./check.js";

/**
 * Mean squared error: mean over all rows and columns of (y - p)^2.
 * @param target y, T x D.
 * @param prediction p, T x D.
 * @throws ArgumentError on different shapes, no values, or a value that is not finite.
 */
export function mse(target: MatrixLike, prediction: MatrixLike): number {
  return mean(columnSquaredErrors(checkedPair("mse", target, prediction)));
}

/**
 * Root mean squared error: the square root of `mse`, in the target's units.
 * @param target y, T x D.
 * @param prediction p, T x D.
 * @throws ArgumentError on different shapes, no values, or a value that is not finite.
 */
export function rmse(target: MatrixLike, prediction: MatrixLike): number {
  return Math.sqrt(mean(columnSquaredErrors(checkedPair("rmse", target, prediction))));
}

/**
 * Mean absolute error: mean over all rows and columns of |y - p|, in the target's units.
 * @param target y, T x D.
 * @param prediction p, T x D.
 * @throws ArgumentError on different shapes, no values, or a value that is not finite.
 */
export function mae(target: MatrixLike, prediction: MatrixLike): number {
  const pair = checkedPair("mae", target, prediction);
  let sum = 0;
  for (let i = 0; i < pair.target.data.length; i++) sum += Math.abs(pair.target.data[i]! - pair.prediction.data[i]!);
  return sum / pair.target.data.length;
}
