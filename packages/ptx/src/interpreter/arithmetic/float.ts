// Binary32 and binary64 operations rounded to nearest: fused multiply-add, minimum and maximum,
// saturation, flushing to zero. Add, multiply, divide and square root need nothing here:
// JavaScript's are exact, and Math.fround of a double result is the binary32 one.
import { exponentOf, toOdd } from "./bits.js";
import { binary64, exactFma } from "./exact.js";

/**
 * a * b + c in binary32 with one rounding. The product is exact in a double, so rounding the double
 * sum is right unless that sum fell half-way between two binary32 values and had itself been
 * rounded.
 */
export function fma32(a: number, b: number, c: number): number {
  const product = a * b;
  const sum = product + c;
  const rounded = Math.fround(sum);
  const rest = sum - rounded;
  if (rest === 0) return rounded;
  const other = rounded + 2 * rest;
  // Infinite results leave a NaN in `other`, and are looked at again as well.
  return Math.fround(other) === other || Number.isNaN(other) ? fma32Tie(product, c, sum) : rounded;
}

function fma32Tie(product: number, c: number, sum: number): number {
  if (!Number.isFinite(sum)) return Math.fround(sum);
  const part = sum - product;
  const error = product - (sum - part) + (c - part);
  return Math.fround(toOdd(sum, error));
}

const splitter = 134217729;

/** a * b + c in binary64, rounded once (Boldo and Melquiond 2008; elsewhere exact integers). */
export function fma64(a: number, b: number, c: number): number {
  const product = a * b;
  const sum = product + c;
  const ea = exponentOf(a);
  const eb = exponentOf(b);
  const ec = exponentOf(c);
  if (ea < -450 || ea > 450 || eb < -450 || eb > 450 || ec < -900 || ec > 900) {
    if (a === 0 || b === 0 || (c === 0 && product !== 0)) return sum;
    return exactFma(a, b, c, binary64, "rn");
  }
  const at = splitter * a;
  const ah = at - (at - a);
  const al = a - ah;
  const bt = splitter * b;
  const bh = bt - (bt - b);
  const bl = b - bh;
  const productLow = al * bl - (product - ah * bh - al * bh - ah * bl);
  const high = c + productLow;
  const highPart = high - c;
  const low = c - (high - highPart) + (productLow - highPart);
  const top = product + high;
  const topPart = top - product;
  const middle = product - (top - topPart) + (high - topPart);
  const rest = middle + low;
  const restPart = rest - middle;
  const error = middle - (rest - restPart) + (low - restPart);
  const odd = rest === 0 ? rest : toOdd(rest, error);
  return top + odd;
}

/** Subnormal binary32 values to a zero of their sign. */
export function flush32(x: number): number {
  return x > -1.1754943508222875e-38 && x < 1.1754943508222875e-38 ? x * 0 : x;
}

/** To [0, 1]; NaN to +0. */
export function saturate(x: number): number {
  return x > 0 ? Math.min(x, 1) : 0;
}

/** The smaller; of a number and a NaN the number; -0 below +0. */
export function minimum(a: number, b: number): number {
  if (Number.isNaN(a)) return b;
  if (Number.isNaN(b)) return a;
  return Math.min(a, b);
}

export function maximum(a: number, b: number): number {
  if (Number.isNaN(a)) return b;
  if (Number.isNaN(b)) return a;
  return Math.max(a, b);
}

/** The exact sum of two doubles, rounded to odd. */
export function sumToOdd(a: number, b: number): number {
  const sum = a + b;
  if (!Number.isFinite(sum)) return sum;
  const part = sum - a;
  return toOdd(sum, a - (sum - part) + (b - part));
}
