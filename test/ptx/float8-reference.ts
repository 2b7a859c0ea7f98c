// The 8-bit floats by their definition (PTX ISA 9.0, section 5.2.3), written apart from the
// interpreter's own.

export type ByteFloat = "e4m3" | "e5m2";

/**
 * The number that a byte means: a sign, an exponent of 4 or 5 bits that counts from -7 or -15, and
 * a fraction of 3 or 2 bits.
 */
export function meaning(type: ByteFloat, byte: number): number {
  const [fractionBits, bias] = type === "e4m3" ? [3, 7] : [2, 15];
  const magnitude = byte & 127;
  const exponent = magnitude >> fractionBits;
  const fraction = (magnitude & (2 ** fractionBits - 1)) / 2 ** fractionBits;
  const sign = byte & 128 ? -1 : 1;
  if (type === "e4m3" && magnitude === 127) return Number.NaN;
  if (type === "e5m2" && exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN;
  return sign * (exponent === 0 ? fraction * 2 ** (1 - bias) : (1 + fraction) * 2 ** (exponent - bias));
}

/** All values that are finite and not negative, each at the place of its byte. */
export const finiteValues: Readonly<Record<ByteFloat, readonly number[]>> = {
  e4m3: Array.from({ length: 127 }, (_, byte) => meaning("e4m3", byte)),
  e5m2: Array.from({ length: 124 }, (_, byte) => meaning("e5m2", byte)),
};

/**
 * The byte that a number becomes with .satfinite: the nearest, of two as near the even one, and
 * never more than the largest.
 */
export function nearestByte(type: ByteFloat, value: number, relu: boolean): number {
  if (Number.isNaN(value)) return 0x7f;
  const sign = value < 0 || Object.is(value, -0) ? 128 : 0;
  if (relu && sign !== 0) return 0;
  const values = finiteValues[type];
  // Half-way points of values of so few bits are exact.
  const byte = values.findIndex((each, k) => {
    const middle = (each + (values[k + 1] ?? Infinity)) / 2;
    return Math.abs(value) < middle || (Math.abs(value) === middle && (k % 2 === 0 || middle === Infinity));
  });
  return sign | byte;
}
