// The chi-squared distribution: how likely a value is by chance, and above what it must lie.
import { logGamma } from "@spillway/numerics";

/**
 * Q(a, x), the upper regularised incomplete gamma function: 1 less its series below a + 1, its
 * continued fraction above (Lentz), as in Numerical Recipes, 6.2.
 */
function upperGamma(a: number, x: number): number {
  const front = Math.exp(a * Math.log(x) - x - logGamma(a));
  if (x < a + 1) {
    let term = 1 / a;
    let sum = term;
    for (let n = 1; term > sum * 1e-17; n++) {
      term *= x / (a + n);
      sum += term;
    }
    return 1 - front * sum;
  }
  let b = x + 1 - a;
  let c = Infinity;
  let d = 1 / b;
  let fraction = d;
  for (let n = 1; n < 10_000; n++) {
    const step = -n * (n - a);
    b += 2;
    d = 1 / (step * d + b);
    c = b + step / c;
    const change = d * c;
    fraction *= change;
    if (Math.abs(change - 1) < 1e-16) break;
  }
  return front * fraction;
}

/** The probability of a chi-squared value above x >= 0 with r >= 1 degrees of freedom. */
export function chiSquaredProbability(x: number, r: number): number {
  return x > 0 ? upperGamma(r / 2, x / 2) : 1;
}

/** The chi-squared quantile of 1 - p with r >= 1 degrees of freedom, 0 < p < 1. */
export function chiSquaredAbove(p: number, r: number): number {
  let low = 0;
  let high = r + 10;
  while (upperGamma(r / 2, high / 2) > p) high *= 2;
  while (high - low > 1e-14 * high) {
    const middle = (low + high) / 2;
    if (middle <= low || middle >= high) break;
    if (upperGamma(r / 2, middle / 2) > p) low = middle;
    else high = middle;
  }
  return high;
}
