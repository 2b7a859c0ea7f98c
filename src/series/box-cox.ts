// The power of a Box-Cox transform by maximum likelihood (Box and Cox 1964).
import { type Matrix, portableExp } from "../numerics/index.js";
import { logarithm } from "./logarithm.js";

/**
 * The L of the largest likelihood l(L) = -n/2 ln var(z) + (L - 1) sum ln y, between -5 and 5, to
 * 1e-10: with w = ln y minus its mean, that is the least var((exp(L w) - 1) / L).
 */
export function likeliestPower(training: readonly Matrix[], c: number): number {
  const logs = Float64Array.from(
    training.flatMap((series) => Array.from(series.column(c), (value, t) => logarithm(value, t, c, "boxCox"))),
  ).filter((value) => !Number.isNaN(value));
  const mean = logs.reduce((sum, value) => sum + value, 0) / logs.length;
  const spread = (power: number): number => {
    const z = logs.map((log) => (Math.abs(power) < 1e-9 ? log - mean : (portableExp(power * (log - mean)) - 1) / power));
    const middle = z.reduce((sum, value) => sum + value, 0) / z.length;
    return z.reduce((sum, value) => sum + (value - middle) ** 2, 0);
  };
  const share = (Math.sqrt(5) - 1) / 2;
  let [low, high] = [-5, 5];
  let [left, right] = [high - share * (high - low), low + share * (high - low)];
  let [atLeft, atRight] = [spread(left), spread(right)];
  while (high - low > 1e-10) {
    if (atLeft <= atRight) {
      [high, right, atRight] = [right, left, atLeft];
      left = high - share * (high - low);
      atLeft = spread(left);
    } else {
      [low, left, atLeft] = [left, right, atRight];
      right = low + share * (high - low);
      atRight = spread(right);
    }
  }
  return (low + high) / 2;
}
