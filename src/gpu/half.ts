// Numbers to the 16 bits of IEEE half precision and of bfloat16, rounded to nearest even. The way back is not needed here.

const scratch = new Float64Array(1);
const words = new Uint32Array(scratch.buffer);

/** 2^k for |k| <= 1022. */
function powerOfTwo(k: number): number {
  words[0] = 0;
  words[1] = (k + 1023) << 20;
  return scratch[0]!;
}

/**
 * Rounds to a binary format and gives its bits. A step of the format at the value's exponent is a power of two, so the quotient is
 * exact in a double, and one rounding happens.
 */
function toBits(value: number, exponentBits: number, fractionBits: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const infinity = ((1 << exponentBits) - 1) << fractionBits;
  if (Number.isNaN(value)) return infinity | (1 << (fractionBits - 1));
  const magnitude = Math.abs(value);
  if (magnitude === Number.POSITIVE_INFINITY) return sign | infinity;
  const bias = (1 << (exponentBits - 1)) - 1;
  scratch[0] = magnitude;
  const exponent = Math.max((words[1]! >>> 20) - 1023, 1 - bias);
  const quotient = magnitude * powerOfTwo(fractionBits - exponent);
  let steps = Math.floor(quotient);
  const rest = quotient - steps;
  if (rest > 0.5 || (rest === 0.5 && steps % 2 === 1)) steps++;
  return sign | Math.min(infinity, steps + ((exponent + bias - 1) << fractionBits));
}

/** The bits of the nearest half: 1 sign, 5 exponent and 10 fraction bits. */
export function halfBits(value: number): number {
  return toBits(value, 5, 10);
}

/** The bits of the nearest bfloat16: 1 sign, 8 exponent and 7 fraction bits. */
export function bfloat16Bits(value: number): number {
  return toBits(value, 8, 7);
}
