// Dot products and cosines in binary32 by one fixed order: a device gives the same bits.
const fround = Math.fround;
const partials = new Float32Array(32);

/**
 * Sum over d of a[aStart + d] b[bStart + d] in binary32 by docs/numerics.md, rule 1: 32 partial
 * sums over d, d + 32, ... from +0, each product rounded and then added, and a butterfly 16, 8, 4,
 * 2, 1.
 */
export function dot32(a: Float32Array, aStart: number, b: Float32Array, bStart: number, length: number): number {
  partials.fill(0);
  for (let d = 0; d < length; d++) {
    partials[d & 31] = partials[d & 31]! + fround(a[aStart + d]! * b[bStart + d]!);
  }
  for (let half = 16; half >= 1; half /= 2) for (let l = 0; l < half; l++) partials[l] = partials[l]! + partials[l + half]!;
  return partials[0]!;
}

/** sqrt(a . a), rounded to binary32. */
export function norm32(a: Float32Array, start: number, length: number): number {
  return fround(Math.sqrt(dot32(a, start, a, start, length)));
}

/**
 * dot / (normA normB) in binary32: the product of the norms is rounded, then the quotient. 0 if
 * a norm is 0.
 */
export function cosine32(dot: number, normA: number, normB: number): number {
  const product = fround(normA * normB);
  return product === 0 ? 0 : fround(dot / product);
}

/**
 * A score as it is reported: rounding takes the cosine of parallel vectors up to 1.2e-7 beyond 1,
 * which is brought back.
 */
export const reportedCosine = (score: number): number => Math.max(-1, Math.min(1, score));
