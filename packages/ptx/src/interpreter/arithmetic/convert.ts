// Conversions between integers and floats where JavaScript has none: rounding to whole numbers,
// saturation, 64-bit halves, directed rounding.
import { toOdd } from "./bits.js";
import { binary32, type FloatFormat, integerTo, type Rounding, roundTo } from "./exact.js";
import { toBigInt, wide } from "./integer64.js";

const twoTo63 = 4294967296 * 2147483648;

/** Rounding of a float to a whole number: to nearest even, toward zero, down, up. */
export type IntegerRounding = "rni" | "rzi" | "rmi" | "rpi";

export function roundToWhole(x: number, mode: IntegerRounding): number {
  if (mode === "rzi") return Math.trunc(x);
  if (mode === "rmi") return Math.floor(x);
  if (mode === "rpi") return Math.ceil(x);
  const magnitude = Math.abs(x);
  if (!(magnitude < 4503599627370496)) return x;
  const rounded = magnitude + 4503599627370496 - 4503599627370496;
  return x < 0 || Object.is(x, -0) ? -rounded : rounded;
}

/** Whole number to at most 32 bits, clamped to a range; `notANumber` for NaN. */
export function clampToInteger(x: number, least: number, most: number, notANumber: number): number {
  if (Number.isNaN(x)) return notANumber;
  return (x < least ? least : Math.min(x, most)) | 0;
}

/** Whole number to 64 bits, clamped; NaN gives 2^63. The high half goes to `wide.high`. */
export function clampToInteger64(x: number, signed: boolean): number {
  const top = signed ? twoTo63 : 4294967296 * 4294967296;
  if (Number.isNaN(x)) {
    wide.high = 0x80000000 | 0;
    return 0;
  }
  if (x >= top) {
    wide.high = signed ? 0x7fffffff : -1;
    return -1;
  }
  if (x < 0 && (!signed || x < -twoTo63)) {
    wide.high = signed ? 0x80000000 | 0 : 0;
    return 0;
  }
  const high = Math.floor(x / 4294967296);
  wide.high = high | 0;
  return (x - high * 4294967296) | 0;
}

/** 64-bit integer to the nearest double: both halves are exact, so their sum rounds once. */
export function doubleFromInteger64(low: number, high: number, signed: boolean): number {
  return (signed ? high : high >>> 0) * 4294967296 + (low >>> 0);
}

/** 64-bit integer to the nearest binary32, through a double rounded to odd. */
export function singleFromInteger64(low: number, high: number, signed: boolean): number {
  const top = (signed ? high : high >>> 0) * 4294967296;
  const sum = top + (low >>> 0);
  const part = sum - top;
  return Math.fround(toOdd(sum, top - (sum - part) + ((low >>> 0) - part)));
}

export function floatFromInteger64(low: number, high: number, signed: boolean, format: FloatFormat, mode: Rounding): number {
  return integerTo(toBigInt(low, high, signed), format, mode);
}

export function narrowToSingle(x: number, mode: Rounding): number {
  return mode === "rn" ? Math.fround(x) : roundTo(x, binary32, mode);
}

/** Saturating conversion of an integer that is given as a number. */
export function saturateInteger(value: number, least: number, most: number): number {
  return (value < least ? least : Math.min(value, most)) | 0;
}

export function saturateInteger64(low: number, high: number, signed: boolean, least: number, most: number): number {
  return saturateInteger((signed ? high : high >>> 0) * 4294967296 + (low >>> 0), least, most);
}
