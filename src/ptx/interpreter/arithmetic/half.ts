// Binary16 and bfloat16 as 16 bits in an integer: to and from numbers, arithmetic with one rounding, alone and in pairs.
import { exponentOf, powerOfTwo, singleBits, singleFromBits } from "./bits.js";
import { maximum, minimum, saturate, sumToOdd } from "./float.js";

export type HalfKind = "f16" | "bf16";

/** The one NaN that half-precision operations give. */
export const canonicalNaN16 = 0x7fff;

export function halfToNumber(bits: number): number {
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  const magnitude =
    exponent === 0
      ? fraction * 0.000000059604644775390625
      : exponent === 31
        ? fraction
          ? NaN
          : Infinity
        : (1024 + fraction) * powerOfTwo(exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

/** Rounds a double to nearest even at `precision` bits with the least bit no lower than 2^least. */
function narrow(value: number, precision: number, least: number): number {
  const last = Math.max(exponentOf(value) - precision + 1, least);
  const shift = powerOfTwo(last) * 6755399441055744;
  return value + shift - shift;
}

/** Bits of the nearest binary16; from a double, with one rounding. */
export function halfFromNumber(value: number): number {
  if (Number.isNaN(value)) return canonicalNaN16;
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const rounded = Math.abs(value) > 1e6 ? Infinity : Math.abs(narrow(value, 11, -24));
  if (rounded > 65504) return sign | 0x7c00;
  if (rounded < 6.103515625e-5) return sign | (rounded * 16777216);
  const exponent = exponentOf(rounded);
  return sign | ((exponent + 15) << 10) | (rounded * powerOfTwo(10 - exponent) - 1024);
}

export function bfloatToNumber(bits: number): number {
  return singleFromBits(bits << 16);
}

/** Bits of the nearest bfloat16; from a double, with one rounding. */
export function bfloatFromNumber(value: number): number {
  if (Number.isNaN(value)) return canonicalNaN16;
  if (Math.abs(value) > 3.5e38) return value > 0 ? 0x7f80 : 0xff80;
  if (value === 0) return Object.is(value, -0) ? 0x8000 : 0;
  const rounded = narrow(value, 8, -133);
  return (singleBits(rounded === 0 && value < 0 ? -0 : Math.fround(rounded)) >>> 16) & 0xffff;
}

export function toNumber(kind: HalfKind, bits: number): number {
  return kind === "f16" ? halfToNumber(bits & 0xffff) : bfloatToNumber(bits & 0xffff);
}

export function fromNumber(kind: HalfKind, value: number): number {
  return kind === "f16" ? halfFromNumber(value) : bfloatFromNumber(value);
}

/** A half-precision operation on bits; `flush` and the finish (saturation, relu) come with the instruction. */
export type HalfOperation = (kind: HalfKind, a: number, b: number, c: number) => number;

const isNaN16 = (kind: HalfKind, bits: number): boolean => (bits & 0x7fff) > (kind === "f16" ? 0x7c00 : 0x7f80);

function pick(kind: HalfKind, a: number, b: number, choose: (x: number, y: number) => number): number {
  if (isNaN16(kind, a) && isNaN16(kind, b)) return canonicalNaN16;
  return fromNumber(kind, choose(toNumber(kind, a), toNumber(kind, b)));
}

export const halfOperations: Readonly<Record<string, HalfOperation>> = {
  add: (kind, a, b) => fromNumber(kind, sumToOdd(toNumber(kind, a), toNumber(kind, b))),
  sub: (kind, a, b) => fromNumber(kind, sumToOdd(toNumber(kind, a), -toNumber(kind, b))),
  mul: (kind, a, b) => fromNumber(kind, toNumber(kind, a) * toNumber(kind, b)),
  fma: (kind, a, b, c) => fromNumber(kind, sumToOdd(toNumber(kind, a) * toNumber(kind, b), toNumber(kind, c))),
  neg: (kind, a) => (isNaN16(kind, a) ? canonicalNaN16 : (a ^ 0x8000) & 0xffff),
  abs: (kind, a) => (isNaN16(kind, a) ? canonicalNaN16 : a & 0x7fff),
  min: (kind, a, b) => pick(kind, a, b, minimum),
  max: (kind, a, b) => pick(kind, a, b, maximum),
  minNaN: (kind, a, b) => (isNaN16(kind, a) || isNaN16(kind, b) ? canonicalNaN16 : pick(kind, a, b, minimum)),
  maxNaN: (kind, a, b) => (isNaN16(kind, a) || isNaN16(kind, b) ? canonicalNaN16 : pick(kind, a, b, maximum)),
};

/** Subnormal binary16 values to a zero of their sign. */
export function flush16(bits: number): number {
  return (bits & 0x7c00) === 0 ? bits & 0x8000 : bits;
}

export function saturate16(kind: HalfKind, bits: number): number {
  return fromNumber(kind, saturate(toNumber(kind, bits)));
}

/** Negative values to +0, NaN to the canonical one. */
export function relu16(kind: HalfKind, bits: number): number {
  return isNaN16(kind, bits) ? canonicalNaN16 : bits & 0x8000 ? 0 : bits;
}
