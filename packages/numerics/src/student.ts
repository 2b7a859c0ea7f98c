// Student's t distribution, in portable arithmetic.
import { portableExp, portableLog } from "./portable.js";

/** Coefficients of Lanczos' approximation, g = 7, n = 9 (Press et al., Numerical Recipes, 6.1). */
const lanczos = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905,
  -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];

/** ln Gamma(x), x >= 0.5, within 1e-13 relative. */
export function logGamma(x: number): number {
  let sum = lanczos[0]!;
  for (let i = 1; i < lanczos.length; i++) sum += lanczos[i]! / (x - 1 + i);
  const t = x + 6.5;
  return 0.5 * portableLog(2 * Math.PI) + (x - 0.5) * portableLog(t) - t + portableLog(sum);
}

/**
 * The t for which a value of Student's distribution with `degrees` degrees of freedom is below t
 * with probability p, 0 < p < 1. By bisection, to the last bits.
 */
export function studentQuantile(p: number, degrees: number): number {
  if (p > 0.5) return -studentQuantile(1 - p, degrees);
  if (p === 0.5) return 0;
  let low = 0;
  let high = 1;
  while (tail(high, degrees) > p) high *= 2;
  for (;;) {
    const middle = (low + high) / 2;
    if (middle <= low || middle >= high) return -middle;
    if (tail(middle, degrees) > p) low = middle;
    else high = middle;
  }
}

/** P(T > t), t >= 0: half the regularised incomplete beta function of (v / 2, 1 / 2). */
function tail(t: number, degrees: number): number {
  const [a, x, rest] = [degrees / 2, degrees / (degrees + t * t), (t * t) / (degrees + t * t)];
  if (rest === 0) return 0.5;
  const logFront = a * portableLog(x) + 0.5 * portableLog(rest) + logGamma(a + 0.5) - logGamma(a) - logGamma(0.5);
  const front = portableExp(logFront);
  const share = x < (a + 1) / (a + 2.5) ? (front * betaFraction(a, 0.5, x)) / a : 1 - 2 * front * betaFraction(0.5, a, rest);
  return share / 2;
}

/** The continued fraction of the incomplete beta function (Lentz; Numerical Recipes, 6.4). */
function betaFraction(a: number, b: number, x: number): number {
  let c = 1;
  let d = 1 / (1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m < 10_000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / (1 + even * d);
    c = 1 + even / c;
    fraction *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / (1 + odd * d);
    c = 1 + odd / c;
    fraction *= d * c;
    if (Math.abs(d * c - 1) < 2 ** -52) break;
  }
  return fraction;
}
