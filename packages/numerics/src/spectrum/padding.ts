// How rows and vectors are laid out in memory for the kernels. No values here.

/**
 * The least odd multiple of 8 that is at least n: whole cache lines, and columns spread over all
 * sets of a cache.
 */
export function paddedLength(n: number): number {
  return 8 * (Math.ceil(n / 8) | 1);
}
