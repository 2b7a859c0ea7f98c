// Roots and the geometric mean of positive numbers from IEEE operations only. No logarithms.
import { exponentOf, timesPowerOfTwo } from "./power-of-two.js";

/**
 * A positive number as mantissa in [1, 2) and exponent: long products neither overflow nor
 * underflow.
 */
type Scaled = readonly [mantissa: number, exponent: number];

function scaled(mantissa: number, exponent: number): Scaled {
  const e = exponentOf(mantissa);
  return [timesPowerOfTwo(mantissa, -e), exponent + e];
}

function power(base: number, exponent: number): Scaled {
  let result: Scaled = [1, 0];
  let square: Scaled = scaled(base, 0);
  for (let left = exponent; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) result = scaled(result[0] * square[0], result[1] + square[1]);
    square = scaled(square[0] * square[0], 2 * square[1]);
  }
  return result;
}

/**
 * (|x_1| |x_2| ... |x_n|)^(1/n), to about one unit in the last place; exact where all are equal.
 * The values are finite, none is 0.
 */
export function geometricMean(values: ArrayLike<number>): number {
  const n = values.length;
  const first = Math.abs(values[0]!);
  let equal = true;
  let product: Scaled = [1, 0];
  for (let i = 0; i < n; i++) {
    const value = Math.abs(values[i]!);
    if (value !== first) equal = false;
    const factor = scaled(value, product[1]);
    product = scaled(product[0] * factor[0], factor[1]);
  }
  if (equal) return first;
  return root(product, n);
}

/** x^(1/n) for x > 0 and whole n >= 1, to about one unit in the last place. */
export function nthRoot(x: number, n: number): number {
  return n === 1 ? x : root(scaled(x, 0), n);
}

function root([mantissa, exponent]: Scaled, n: number): number {
  // x = 2^(n whole) * mantissa * 2^rest with 0 <= rest < n, so the root is 2^whole times a number
  // in [1, 2).
  const whole = Math.floor(exponent / n);
  const rest = exponent - whole * n;
  let low = 1;
  let high = 2;
  for (let middle = 1.5; middle > low && middle < high; middle = (low + high) / 2) {
    const [m, e] = power(middle, n);
    if (e < rest || (e === rest && m <= mantissa)) low = middle;
    else high = middle;
  }
  return timesPowerOfTwo(low, whole);
}
