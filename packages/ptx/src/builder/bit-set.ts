// Sets of small whole numbers as bits, 32 in a word: what the analysis of a kernel keeps for each
// of its blocks.

/** A set that numbers below `count` fit in, with none of them or with all. */
export function bitSet(count: number, full = false): Int32Array {
  return new Int32Array((count + 31) >> 5).fill(full ? -1 : 0);
}

export const has = (set: Int32Array, k: number): boolean => ((set[k >> 5]! >>> (k & 31)) & 1) === 1;

export function add(set: Int32Array, k: number): void {
  set[k >> 5]! |= 1 << (k & 31);
}

export function remove(set: Int32Array, k: number): void {
  set[k >> 5]! &= ~(1 << (k & 31));
}

/** Makes `set` what `other` is; true if that changes it. */
export function become(set: Int32Array, other: Int32Array): boolean {
  let changed = false;
  for (let w = 0; w < set.length; w++) {
    if (set[w] === other[w]) continue;
    set[w] = other[w]!;
    changed = true;
  }
  return changed;
}
