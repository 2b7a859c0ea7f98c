// The 8-bit floats e4m3 and e5m2, as the byte that they travel in (PTX ISA 9.0, section 5.2.3).
// e4m3 has no infinity, and one NaN of each sign.
import { canonicalNaN16, halfBits, halfValue, nearestBits } from "@spillway/core/half.js";

export type ByteFloat = "e4m3" | "e5m2";

const formats = {
  e4m3: { exponentBits: 4, fractionBits: 3, largest: 0x7e },
  e5m2: { exponentBits: 5, fractionBits: 2, largest: 0x7b },
} as const;

/** The one NaN that conversions give. */
const canonicalNaN8 = 0x7f;

/** The bits of the equal binary16, which every byte has. NaN becomes the canonical one. */
export function halfFromByte(type: ByteFloat, byte: number): number {
  const magnitude = byte & 0x7f;
  if (type === "e5m2") return magnitude > 0x7c ? canonicalNaN16 : (byte & 0xff) << 8;
  if (magnitude === canonicalNaN8) return canonicalNaN16;
  // Read as a binary16, the exponent of an e4m3 is 8 too small.
  return ((byte & 0x80) << 8) | halfBits(halfValue(magnitude << 7) * 256);
}

const valuesOf = (type: ByteFloat): Float64Array => Float64Array.from({ length: 256 }, (_, byte) => halfValue(halfFromByte(type, byte)));
const values: Readonly<Record<ByteFloat, Float64Array>> = { e4m3: valuesOf("e4m3"), e5m2: valuesOf("e5m2") };

export function byteFloatValue(type: ByteFloat, byte: number): number {
  return values[type][byte]!;
}

/** The byte of the nearest value: ties to even, beyond the largest that, NaN canonical. */
export function byteFloatBits(type: ByteFloat, value: number): number {
  if (Number.isNaN(value)) return canonicalNaN8;
  const { exponentBits, fractionBits, largest } = formats[type];
  const sign = value < 0 || Object.is(value, -0) ? 0x80 : 0;
  return sign | Math.min(largest, nearestBits(Math.abs(value), exponentBits, fractionBits));
}

/** Negative values to +0, of the bytes that conversions give. */
export function relu8(byte: number): number {
  return byte & 0x80 ? 0 : byte;
}
