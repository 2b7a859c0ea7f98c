// Numbers of twice the precision of binary64, as unevaluated sums of two: for sums that must not
// lose anything. IEEE operations only, so the same bits everywhere. No array arithmetic lives here.

import { ArgumentError } from "@spillway/core/errors.js";
import { productError } from "./product-error.js";

/**
 * high + low with |low| <= ulp(high) / 2: about 106 bits, in the range of binary64. Infinities and
 * NaN are as in binary64, low 0.
 */
export interface DoubleDouble {
  readonly high: number;
  readonly low: number;
}

/** A binary64 number, or two added, without loss (Knuth 1969: TwoSum). */
export function doubleDouble(a: number, b = 0): DoubleDouble {
  const high = a + b;
  const part = high - a;
  return { high, low: finite(a - (high - part) + (b - part)) };
}

/**
 * a + b, relative error at most 3 * 2^-106 (Joldes, Muller, Popescu 2017, "Tight and rigorous error
 * bounds for basic building blocks of double-word arithmetic", algorithm 6).
 */
export function ddAdd(a: DoubleDouble, b: DoubleDouble): DoubleDouble {
  const s = doubleDouble(a.high, b.high);
  const t = doubleDouble(a.low, b.low);
  const v = fastSum(s.high, s.low + t.high);
  return fastSum(v.high, t.low + v.low);
}

/** -a, exactly. */
export function ddNegate({ high, low }: DoubleDouble): DoubleDouble {
  return { high: -high, low: -low };
}

/** a - b, as {@link ddAdd}. */
export function ddSubtract(a: DoubleDouble, b: DoubleDouble): DoubleDouble {
  return ddAdd(a, ddNegate(b));
}

/**
 * a b, relative error at most 7 * 2^-106 (same source, algorithm 10). Exact products need |a b|
 * between 2^-960 and 2^970.
 */
export function ddMultiply(a: DoubleDouble, b: DoubleDouble): DoubleDouble {
  const c = exactProduct(a.high, b.high);
  const cross = a.high * b.low + a.low * b.high;
  return fastSum(c.high, c.low + finite(cross));
}

/**
 * a / b, relative error below 2^-100: two corrections of the quotient of the high parts. Division
 * by 0 gives what binary64 gives.
 */
export function ddDivide(a: DoubleDouble, b: DoubleDouble): DoubleDouble {
  const first = a.high / b.high;
  if (!Number.isFinite(first) || first === 0) return { high: first, low: 0 };
  const rest = ddSubtract(a, ddMultiply(b, { high: first, low: 0 }));
  const second = rest.high / b.high;
  const left = ddSubtract(rest, ddMultiply(b, { high: second, low: 0 }));
  return ddAdd(doubleDouble(first, second), { high: left.high / b.high, low: 0 });
}

/** The square root, relative error below 2^-100; NaN below 0. */
export function ddSqrt(a: DoubleDouble): DoubleDouble {
  if (!(a.high > 0 && a.high < Infinity)) return { high: Math.sqrt(a.high), low: 0 };
  const root = Math.sqrt(a.high);
  const rest = ddSubtract(a, exactProduct(root, root));
  return fastSum(root, rest.high / (2 * root));
}

/**
 * The sum of binary64 numbers in rising order, each added by {@link ddAdd}. 1e16 + 1 - 1e16 is 1.
 */
export function ddSum(values: ArrayLike<number>): DoubleDouble {
  let sum: DoubleDouble = { high: 0, low: 0 };
  for (let i = 0; i < values.length; i++) sum = ddAdd(sum, { high: values[i]!, low: 0 });
  return sum;
}

/**
 * The sum of a[i] b[i] in rising order, products without loss. @throws ArgumentError if the two
 * differ in length.
 */
export function ddDot(a: ArrayLike<number>, b: ArrayLike<number>): DoubleDouble {
  if (a.length !== b.length)
    throw ArgumentError.shape(`the vectors have ${a.length} and ${b.length} values; a dot product takes as many of both`);
  let sum: DoubleDouble = { high: 0, low: 0 };
  for (let i = 0; i < a.length; i++) sum = ddAdd(sum, exactProduct(a[i]!, b[i]!));
  return sum;
}

/** a + b without loss if |a| >= |b| (Dekker 1971). */
function fastSum(a: number, b: number): DoubleDouble {
  const high = a + b;
  return { high, low: finite(b - (high - a)) };
}

/** a b without loss. */
function exactProduct(a: number, b: number): DoubleDouble {
  const high = a * b;
  return { high, low: finite(productError(a, b, high)) };
}

/**
 * A low part, or 0 if there is none: beside an infinite high part, or if the splitting overflowed.
 * The high part says what binary64 says.
 */
const finite = (low: number): number => (Number.isFinite(low) ? low : 0);
