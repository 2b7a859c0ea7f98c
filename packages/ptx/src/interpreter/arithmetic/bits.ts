// Reading and writing the bits of floats, and what a NaN looks like in a register. No rounding
// happens here.

const buffer = new ArrayBuffer(8);
const asDouble = new Float64Array(buffer);
const asSingle = new Float32Array(buffer);
const asInt = new Int32Array(buffer);

/** The one NaN that binary32 operations give (PTX ISA, 9.7.3). */
export const canonicalNaN32 = 0x7fffffff;
/** High word of the NaN that binary64 operations give here; the ISA leaves it open. */
export const canonicalNaN64High = 0xfff80000 | 0;

/** The bits of a binary32 as a signed 32-bit integer. */
export function singleBits(value: number): number {
  if (Number.isNaN(value)) return canonicalNaN32;
  asSingle[0] = value;
  return asInt[0]!;
}

export function singleFromBits(bits: number): number {
  asInt[0] = bits;
  return asSingle[0]!;
}

export function doubleLow(value: number): number {
  if (Number.isNaN(value)) return 0;
  asDouble[0] = value;
  return asInt[0]!;
}

export function doubleHigh(value: number): number {
  if (Number.isNaN(value)) return canonicalNaN64High;
  asDouble[0] = value;
  return asInt[1]!;
}

export function doubleFromBits(low: number, high: number): number {
  asInt[0] = low;
  asInt[1] = high;
  return asDouble[0]!;
}

/** The double next to `value` on the side of `direction`'s sign, for finite nonzero `value`. */
export function doubleNeighbour(value: number, direction: number): number {
  asDouble[0] = value;
  const away = value > 0 === direction > 0;
  if (away) {
    asInt[0] = (asInt[0]! + 1) | 0;
    if (asInt[0] === 0) asInt[1] = asInt[1]! + 1;
  } else {
    if (asInt[0] === 0) asInt[1] = asInt[1]! - 1;
    asInt[0] = (asInt[0]! - 1) | 0;
  }
  return asDouble[0]!;
}

/**
 * Rounds the exact sum `value + error` (|error| below half an ulp of `value`) to odd: a result that
 * a second rounding to fewer than 52 bits cannot spoil (Boldo and Melquiond, Emulation of FMA and
 * correctly rounded sums, 2008).
 */
export function toOdd(value: number, error: number): number {
  if (error === 0 || !Number.isFinite(value)) return value;
  asDouble[0] = value;
  return (asInt[0]! & 1) === 1 ? value : doubleNeighbour(value, error);
}

/** e of 2^e <= |value| < 2^(e+1) for normal doubles; -1023 for subnormal ones and zero. */
export function exponentOf(value: number): number {
  asDouble[0] = value;
  return ((asInt[1]! >>> 20) & 0x7ff) - 1023;
}

/** 2^exponent as a double, -1074 <= exponent <= 1023. */
export function powerOfTwo(exponent: number): number {
  if (exponent >= -1022) {
    asInt[0] = 0;
    asInt[1] = (exponent + 1023) << 20;
  } else if (exponent >= -1042) {
    asInt[0] = 0;
    asInt[1] = 1 << (exponent + 1042);
  } else {
    asInt[0] = 1 << (exponent + 1074);
    asInt[1] = 0;
  }
  return asDouble[0]!;
}
