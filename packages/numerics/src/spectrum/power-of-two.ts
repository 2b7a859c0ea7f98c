// Exact scaling by powers of two, made of the bits of binary64 numbers: the power operator differs
// between engines.

const float = new Float64Array(1);
const words = new Uint32Array(float.buffer);

/** The exponent e with 2^e <= |x| < 2^(e+1). x is finite and not 0. */
export function exponentOf(x: number): number {
  const subnormal = Math.abs(x) < 2.2250738585072014e-308;
  float[0] = subnormal ? x * powerOfTwo(54) : x;
  return ((words[1]! >>> 20) & 2047) - (subnormal ? 1077 : 1023);
}

/**
 * x times 2^exponent for any whole exponent; rounded only if the result leaves the normal range.
 */
export function timesPowerOfTwo(x: number, exponent: number): number {
  let e = exponent;
  for (; e > 1023; e -= 1023) x *= powerOfTwo(1023);
  for (; e < -1022; e += 1022) x *= powerOfTwo(-1022);
  return x * powerOfTwo(e);
}

/**
 * 2^exponent as two factors, each within range: x times the one, times the other. -2044 <= exponent
 * <= 2046.
 */
export function powerOfTwoFactors(exponent: number): readonly [number, number] {
  const half = Math.trunc(exponent / 2);
  return [powerOfTwo(half), powerOfTwo(exponent - half)];
}

/** 2^exponent for -1022 <= exponent <= 1023. */
function powerOfTwo(exponent: number): number {
  words[0] = 0;
  words[1] = (exponent + 1023) << 20;
  return float[0]!;
}
