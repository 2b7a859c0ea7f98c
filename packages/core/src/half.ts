// IEEE-754 binary16 and bfloat16, as the 16 bits that they travel in: numbers rounded to them, and
// back. It knows no arithmetic of theirs.

/** What every NaN becomes: the one that half-precision instructions of CUDA give. */
export const canonicalNaN16 = 0x7fff;

const double = new Float64Array(1);
const words = new Uint32Array(double.buffer);
const single = new Float32Array(1);
const singleWords = new Uint32Array(single.buffer);

/** 2^k for |k| <= 1022. */
function powerOfTwo(k: number): number {
  words[0] = 0;
  words[1] = (k + 1023) << 20;
  return double[0]!;
}

/**
 * The bits of a magnitude in a binary format, rounded once to nearest even, as if its exponent had
 * no end. A step of the format at the number's exponent is a power of two, so the quotient is
 * exact; a fraction that rounds up to the next power of two carries into the exponent by itself.
 */
export function nearestBits(magnitude: number, exponentBits: number, fractionBits: number): number {
  const bias = (1 << (exponentBits - 1)) - 1;
  double[0] = magnitude;
  const exponent = Math.max((words[1]! >>> 20) - 1023, 1 - bias);
  // Adding 2^52 removes the fraction.
  const steps = magnitude * powerOfTwo(fractionBits - exponent) + 4503599627370496 - 4503599627370496;
  return steps + ((exponent + bias - 1) << fractionBits);
}

function toBits(value: number, exponentBits: number, fractionBits: number): number {
  if (Number.isNaN(value)) return canonicalNaN16;
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const infinity = ((1 << exponentBits) - 1) << fractionBits;
  return sign | Math.min(infinity, nearestBits(Math.abs(value), exponentBits, fractionBits));
}

/**
 * The bits of the nearest binary16: 1 sign, 5 exponent and 10 fraction bits. Ties go to even, what
 * is beyond 65504 to infinity.
 */
export function halfBits(value: number): number {
  return toBits(value, 5, 10);
}

/** The bits of the nearest bfloat16: 1 sign, 8 exponent and 7 fraction bits. */
export function bfloat16Bits(value: number): number {
  return toBits(value, 8, 7);
}

/** One step of each exponent of binary16. */
const halfSteps = Float64Array.from({ length: 32 }, (_, exponent) => (exponent === 31 ? Infinity : powerOfTwo(Math.max(exponent, 1) - 25)));

/** The number that the bits of a binary16 mean. */
export function halfValue(bits: number): number {
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31 && fraction !== 0) return Number.NaN;
  const magnitude = (exponent === 0 ? fraction : 1024 + fraction) * halfSteps[exponent]!;
  return bits & 0x8000 ? -magnitude : magnitude;
}

/** The number that the bits of a bfloat16 mean, the upper half of a binary32. */
export function bfloat16Value(bits: number): number {
  singleWords[0] = bits << 16;
  return single[0]!;
}
