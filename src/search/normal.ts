// The normal distribution far into its tails: logarithms of masses, and draws between bounds.
import { portableExp, portableLog } from "../numerics/index.js";

const sqrtHalf = Math.SQRT1_2;
const oneOverSqrtPi = 0.5641895835477563;

/** log(2 pi) / 2. */
export const halfLogTwoPi = 0.9189385332046727;

/** log(1 + x), exact also for small x. */
export function logOnePlus(x: number): number {
  const sum = 1 + x;
  return sum === 1 ? x : portableLog(sum) * (x / (sum - 1));
}

/**
 * exp(x^2) erfc(x) for x >= 0: by erf's series with positive terms below 2, by the continued
 * fraction above (Abramowitz and Stegun, 7.1.6 and 7.1.14).
 */
function scaledErfc(x: number): number {
  if (x < 2) {
    let term = x;
    let sum = x;
    for (let n = 1; term > 1e-17 * sum; n++) {
      term *= (2 * x * x) / (2 * n + 1);
      sum += term;
    }
    return portableExp(x * x) - 2 * oneOverSqrtPi * sum;
  }
  let fraction = 0;
  for (let n = x < 3 ? 60 : x < 6 ? 30 : 12; n > 0; n--) fraction = n / 2 / (x + fraction);
  return oneOverSqrtPi / (x + fraction);
}

/** log of the normal distribution function. */
export function logNormalCdf(x: number): number {
  if (x > 9) return -portableExp(logNormalCdf(-x));
  if (x > 0) return logOnePlus(-0.5 * portableExp((-x * x) / 2) * scaledErfc(x * sqrtHalf));
  return portableLog(0.5 * scaledErfc(-x * sqrtHalf)) - (x * x) / 2;
}

/** The mass above x >= 0. */
function upperTail(x: number): number {
  return x > 38 ? 0 : 0.5 * portableExp((-x * x) / 2) * scaledErfc(x * sqrtHalf);
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
  if (a >= 0) return portableLog(upperTail(a) - upperTail(b));
  if (b <= 0) return portableLog(upperTail(-b) - upperTail(-a));
  return logOnePlus(-(upperTail(-a) + upperTail(b)));
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
