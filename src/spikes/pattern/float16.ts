// Numbers to IEEE-754 binary16 bits. The way back is in the io room.

const number = new Float64Array(1);

/**
 * The nearest binary16 of each number, ties to even, as bits; beyond 65504 infinity.
 */
export function toFloat16(values: ArrayLike<number>): Uint16Array {
  const out = new Uint16Array(values.length);
  for (let i = 0; i < values.length; i++) out[i] = halfBits(values[i]!);
  return out;
}

function halfBits(value: number): number {
  number[0] = value;
  const sign = Object.is(Math.sign(value), -0) || value < 0 ? 0x8000 : 0;
  const size = Math.abs(value);
  if (Number.isNaN(size)) return 0x7e00;
  if (size >= 65520) return sign | 0x7c00;
  // The unit of the last place: 2^-24 below 2^-14, then 10 bits below the leading one. Adding 1.5 * 2^52 of it rounds to even.
  let unit = 2 ** -24;
  let exponent = 0;
  for (let limit = 2 ** -14; size >= limit && exponent < 30; limit *= 2) {
    exponent++;
    if (exponent > 1) unit *= 2;
  }
  const steps = size / unit + 6755399441055744 - 6755399441055744;
  // A fraction that rounds up to the next power of two carries into the exponent by itself.
  return sign | (exponent === 0 ? steps : ((exponent - 1) << 10) + steps);
}
