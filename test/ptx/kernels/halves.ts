// Halves for tests: numbers to the bits of f16 or bf16 and back, each by its definition.
import { literal } from "../../../packages/ptx/src/builder/index.js";

/** Bits of numbers rounded to nearest even. */
export function toHalves(values: ArrayLike<number>, type: "f16" | "bf16"): Uint16Array {
  return Uint16Array.from({ length: values.length }, (_, k) => Number(literal(type, values[k]!)));
}

function fromHalf(bits: number, type: "f16" | "bf16"): number {
  const [exponentBits, fractionBits, bias] = type === "f16" ? [5, 10, 15] : [8, 7, 127];
  const exponent = (bits >> fractionBits) & (2 ** exponentBits - 1);
  const fraction = bits & (2 ** fractionBits - 1);
  const sign = bits & 0x8000 ? -1 : 1;
  if (exponent === 2 ** exponentBits - 1) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  if (exponent === 0) return sign * fraction * 2 ** (1 - bias - fractionBits);
  return sign * (2 ** fractionBits + fraction) * 2 ** (exponent - bias - fractionBits);
}

export function fromHalves(bits: Uint16Array, type: "f16" | "bf16"): Float64Array {
  return Float64Array.from(bits, (each) => fromHalf(each, type));
}
