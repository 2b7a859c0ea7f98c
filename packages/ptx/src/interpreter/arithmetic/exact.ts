// Arithmetic with one rounding, in any format and rounding mode, by exact integers. Slow and plain:
// the fast paths for rounding to nearest live beside it and fall back to it where their ranges end.
import { powerOfTwo } from "./bits.js";

/** To nearest even, toward zero, to minus and plus infinity (.rn .rz .rm .rp); .rna: ties away. */
export type Rounding = "rn" | "rz" | "rm" | "rp" | "rna";

/** A binary floating-point format whose values are all doubles too. */
export interface FloatFormat {
  /** Bits of the significand, the leading one included. */
  precision: number;
  /** Exponent of the least subnormal. */
  leastExponent: number;
  largest: number;
}

export const binary64: FloatFormat = { precision: 53, leastExponent: -1074, largest: Number.MAX_VALUE };
export const binary32: FloatFormat = { precision: 24, leastExponent: -149, largest: 3.4028234663852886e38 };
export const binary16: FloatFormat = { precision: 11, leastExponent: -24, largest: 65504 };
export const bfloat16: FloatFormat = { precision: 8, leastExponent: -133, largest: 3.3895313892515355e38 };
export const tensorFloat32: FloatFormat = { precision: 11, leastExponent: -136, largest: 3.4011621342146535e38 };

const view = new DataView(new ArrayBuffer(8));

interface Exact {
  /** Signed significand; the value is `significand * 2^exponent`. */
  significand: bigint;
  exponent: number;
}

function exact(value: number): Exact {
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const field = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xfffffffffffffn;
  const magnitude = field === 0 ? fraction : fraction | 0x10000000000000n;
  return { significand: value < 0 ? -magnitude : magnitude, exponent: field === 0 ? -1074 : field - 1075 };
}

const bitLength = (value: bigint): number => value.toString(2).length;

/** Rounds a nonzero `magnitude * 2^exponent`, and something below its last bit if `inexact`. */
function round(negative: boolean, magnitude: bigint, exponent: number, inexact: boolean, format: FloatFormat, mode: Rounding): number {
  const significand = inexact ? (magnitude << 130n) | 1n : magnitude;
  const scale = inexact ? exponent - 130 : exponent;
  const last = Math.max(scale + bitLength(significand) - format.precision, format.leastExponent);
  const shift = last - scale;
  let kept: bigint;
  let up = false;
  if (shift <= 0) kept = significand << BigInt(-shift);
  else {
    kept = significand >> BigInt(shift);
    const rest = significand - (kept << BigInt(shift));
    const half = 1n << BigInt(shift - 1);
    if (mode === "rn") up = rest > half || (rest === half && (kept & 1n) === 1n);
    else if (mode === "rna") up = rest >= half;
    else if (mode !== "rz") up = rest > 0n && negative === (mode === "rm");
  }
  if (up) kept += 1n;
  const sign = negative ? -1 : 1;
  const tooLarge = last + bitLength(kept) > 1024;
  const result = tooLarge ? Infinity : Number(kept) * powerOfTwo(last);
  if (result <= format.largest) return sign * result;
  const toInfinity = mode === "rn" || mode === "rna" || negative === (mode === "rm");
  return sign * (mode !== "rz" && toInfinity ? Infinity : format.largest);
}

export function exactFma(a: number, b: number, c: number, format: FloatFormat, mode: Rounding): number {
  const product = a * b;
  if (!Number.isFinite(a) || !Number.isFinite(b) || !Number.isFinite(c)) return Number.isFinite(a) && Number.isFinite(b) ? c : product + c;
  const x = exact(a);
  const y = exact(b);
  const z = exact(c);
  const significand = x.significand * y.significand;
  const exponent = x.exponent + y.exponent;
  const least = Math.min(exponent, z.exponent);
  const sum = (significand << BigInt(exponent - least)) + (z.significand << BigInt(z.exponent - least));
  if (sum !== 0n) return round(sum < 0n, sum < 0n ? -sum : sum, least, false, format, mode);
  const productNegative = Object.is(product, -0) || product < 0;
  const addendNegative = Object.is(c, -0) || c < 0;
  if (productNegative === addendNegative && significand === 0n) return productNegative ? -0 : 0;
  return mode === "rm" ? -0 : 0;
}

export function exactAdd(a: number, b: number, format: FloatFormat, mode: Rounding): number {
  return exactFma(a, 1, b, format, mode);
}

export function exactMul(a: number, b: number, format: FloatFormat, mode: Rounding): number {
  const product = a * b;
  if (!Number.isFinite(product) && !(Number.isFinite(a) && Number.isFinite(b))) return product;
  if (a === 0 || b === 0) return product;
  return exactFma(a, b, 0, format, mode);
}

export function exactDiv(a: number, b: number, format: FloatFormat, mode: Rounding): number {
  if (!Number.isFinite(a) || !Number.isFinite(b) || b === 0 || a === 0) return a / b;
  const x = exact(a);
  const y = exact(b);
  const negative = x.significand < 0n !== y.significand < 0n;
  const dividend = (x.significand < 0n ? -x.significand : x.significand) << 128n;
  const divisor = y.significand < 0n ? -y.significand : y.significand;
  const quotient = dividend / divisor;
  return round(negative, quotient, x.exponent - y.exponent - 128, quotient * divisor !== dividend, format, mode);
}

export function exactSqrt(a: number, format: FloatFormat, mode: Rounding): number {
  if (!(a > 0) || a === Infinity) return Math.sqrt(a);
  const x = exact(a);
  const odd = (x.exponent & 1) !== 0;
  const radicand = x.significand << (odd ? 129n : 128n);
  const root = integerSquareRoot(radicand);
  return round(false, root, (x.exponent - (odd ? 129 : 128)) / 2, root * root !== radicand, format, mode);
}

function integerSquareRoot(value: bigint): bigint {
  let root = 1n << BigInt((bitLength(value) + 1) >> 1);
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

export function roundTo(value: number, format: FloatFormat, mode: Rounding): number {
  if (value === 0 || !Number.isFinite(value)) return value;
  const x = exact(value);
  return round(value < 0, x.significand < 0n ? -x.significand : x.significand, x.exponent, false, format, mode);
}

export function integerTo(value: bigint, format: FloatFormat, mode: Rounding): number {
  return value === 0n ? 0 : round(value < 0n, value < 0n ? -value : value, 0, false, format, mode);
}
