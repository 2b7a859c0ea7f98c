// The normal distribution far into its tails: logarithms of masses, and draws between bounds.
import { portableExp, portableLog } from "@spillway/numerics";
import { normalUpperTail, scaledErfc } from "@spillway/numerics/normal.js";

const sqrtHalf = Math.SQRT1_2;

/** log(2 pi) / 2. */
export const halfLogTwoPi = 0.9189385332046727;

/** log(1 + x), exact also for small x. */
export function logOnePlus(x: number): number {
  const sum = 1 + x;
  return sum === 1 ? x : portableLog(sum) * (x / (sum - 1));
}

/** log of the normal distribution function. */
export function logNormalCdf(x: number): number {
  if (x > 9) return -portableExp(logNormalCdf(-x));
  if (x > 0) return logOnePlus(-0.5 * portableExp((-x * x) / 2) * scaledErfc(x * sqrtHalf));
  return portableLog(0.5 * scaledErfc(-x * sqrtHalf)) - (x * x) / 2;
}

/**
 * log of the mass that the standard normal distribution has between a and b, a < b. Beyond 14
 * deviations, where it is below 1e-43, only its order.
 */
export function logNormalMass(a: number, b: number): number {
  // Both tails are below half a unit of the last place of 1.
  if (a < -9 && b > 9) return 0;
  // Nothing beside the masses of other kernels, which one of them has near.
  if (a > 14) return (-a * a) / 2;
  if (b < -14) return (-b * b) / 2;
  if (a >= 0) return portableLog(normalUpperTail(a) - normalUpperTail(b));
  if (b <= 0) return portableLog(normalUpperTail(-b) - normalUpperTail(-a));
  return logOnePlus(-(normalUpperTail(-a) + normalUpperTail(b)));
}

/**
 * The x between a and b below which the share q of that mass lies: Newton's method on the logarithm
 * of the distribution function, bisected if a step leaves the bounds.
 */
export function truncatedNormal(q: number, a: number, b: number): number {
  if (a > 0) return -truncatedNormal(1 - q, -b, -a);
  const target = portableLog(portableExp(logNormalCdf(a)) + q * portableExp(logNormalMass(a, b)));
  let low = a;
  let high = b;
  let x = Math.max(a, Math.min(b, 0));
  for (let i = 0; i < 200; i++) {
    const found = logNormalCdf(x);
    if (found < target) low = x;
    else high = x;
    const step = (found - target) * portableExp(found + (x * x) / 2 + halfLogTwoPi);
    if (Math.abs(step) < 1e-13 * (1 + Math.abs(x))) break;
    const next = x - step;
    x = next > low && next < high ? next : (low + high) / 2;
  }
  return x;
}
