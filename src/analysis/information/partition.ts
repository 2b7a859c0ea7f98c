// Bins for series: as many values in each as equal values allow. What is counted in them is not
// known here.

/**
 * The bin of each value, 0 to bins - 1: floor(bins r), r the share of values below it and half of
 * those equal to it. Equal values share a bin, and only the order of the values counts: an outlier
 * takes no bins from the others. With a `cell` for each value, the values of each cell are ranked
 * among themselves.
 */
export function rankBins(values: Float64Array, bins: number, cell: ArrayLike<number> = new Uint8Array(values.length)): Uint32Array {
  const out = new Uint32Array(values.length);
  const order = sortedBy(values.length, (i, j) => cell[i]! - cell[j]! || values[i]! - values[j]!);
  forEachRun(order, cell, (members) => {
    let below = 0;
    forEachRun(members, values, (equals) => {
      const bin = Math.min(bins - 1, Math.floor((bins * (below + equals.length / 2)) / members.length));
      for (const i of equals) out[i] = bin;
      below += equals.length;
    });
  });
  return out;
}

/**
 * A number, from 0 on, for every stretch of `length` values from position i on: the same for the
 * same values.
 */
export function wordIds(values: Uint32Array, length: number): Uint32Array {
  const radix = values.reduce((a, b) => Math.max(a, b), 0) + 1;
  let ids = values;
  for (let more = 1; more < length; more++) {
    const known = new Map<number, number>();
    ids = Uint32Array.from({ length: ids.length - 1 }, (_, i) => {
      const key = ids[i + 1]! * radix + values[i]!;
      const id = known.get(key) ?? known.size;
      known.set(key, id);
      return id;
    });
  }
  return ids;
}

/** 0 to length - 1 in rising order by `compare`; equals keep their order. */
export function sortedBy(length: number, compare: (i: number, j: number) => number): Uint32Array {
  return Uint32Array.from({ length }, (_, i) => i).sort((i, j) => compare(i, j) || i - j);
}

/** Calls `use` with every stretch of `order` over which `key` stays the same. */
export function forEachRun(order: Uint32Array, key: ArrayLike<number>, use: (run: Uint32Array) => void): void {
  for (let from = 0, to = 0; from < order.length; from = to) {
    while (to < order.length && key[order[to]!] === key[order[from]!]) to++;
    use(order.subarray(from, to));
  }
}
