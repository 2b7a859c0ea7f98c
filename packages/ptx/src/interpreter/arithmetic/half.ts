// Arithmetic of binary16 and bfloat16 with one rounding, on 16 bits in an integer.
import { bfloat16Bits, bfloat16Value, canonicalNaN16, halfBits, halfValue } from "@spillway/core/half.js";
import { maximum, minimum, saturate, sumToOdd } from "./float.js";

export type HalfKind = "f16" | "bf16";

export function toNumber(kind: HalfKind, bits: number): number {
  return kind === "f16" ? halfValue(bits & 0xffff) : bfloat16Value(bits & 0xffff);
}

export function fromNumber(kind: HalfKind, value: number): number {
  return kind === "f16" ? halfBits(value) : bfloat16Bits(value);
}

/** A half-precision operation on bits; instructions add flushing, saturation and relu. */
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

/** A magnitude with the sign that the product of two values has; a NaN has none. */
export function withSigns16(kind: HalfKind, bits: number, a: number, b: number): number {
  return isNaN16(kind, bits) ? bits : bits | ((a ^ b) & 0x8000);
}

/** Finite values for infinite ones. */
export function finite16(kind: HalfKind, bits: number): number {
  return (bits & 0x7fff) === (kind === "f16" ? 0x7c00 : 0x7f80) ? bits - 1 : bits;
}

/** Negative values to +0, NaN to the canonical one. */
export function relu16(kind: HalfKind, bits: number): number {
  return isNaN16(kind, bits) ? canonicalNaN16 : bits & 0x8000 ? 0 : bits;
}
