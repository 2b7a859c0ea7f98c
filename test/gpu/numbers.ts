// Repeatable numbers for the tests of kernels.

/** A repeatable stream of numbers in [-1, 1) (xorshift, Marsaglia 2003). */
export function uniform(seed: number): () => number {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state / 2 ** 31;
  };
}

export function randomArray(length: number, seed: number, scale = 1, shift = 0): Float32Array {
  const random = uniform(seed);
  return Float32Array.from({ length }, () => scale * random() + shift);
}
