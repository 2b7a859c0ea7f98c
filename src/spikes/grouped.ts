// Entries of a list by their key, as rows of a sparse matrix are by their column.

/** Positions by key: those of key k are order[offsets[k]] to order[offsets[k + 1]], rising. */
export function grouped(keys: Uint32Array, keyCount: number): { readonly offsets: Uint32Array; readonly order: Uint32Array } {
  const offsets = new Uint32Array(keyCount + 1);
  for (const key of keys) offsets[key + 1] = offsets[key + 1]! + 1;
  for (let k = 0; k < keyCount; k++) offsets[k + 1] = offsets[k + 1]! + offsets[k]!;
  const next = offsets.slice();
  const order = new Uint32Array(keys.length);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    order[next[key]!] = i;
    next[key] = next[key]! + 1;
  }
  return { offsets, order };
}
