// The order of numbers, without a comparison function: observations of a parameter are put in order
// at every suggestion.

/** Runs of so few are put in order by insertion. */
const few = 24;
const mostBuckets = 1024;

/** Memory that every call uses again: an order is made six times a suggestion. */
let bucketOf = new Int32Array(1024);
let moved = new Int32Array(1024);
const counts = new Int32Array(mostBuckets + 1);

/**
 * Indices of the first n values in rising order; equal ones stay in the order of their indices.
 * Values go into buckets between the least and the largest, and full buckets into buckets again.
 */
export function orderOf(values: Float64Array, n: number): Int32Array {
  const order = new Int32Array(n);
  for (let i = 0; i < n; i++) order[i] = i;
  if (n > bucketOf.length) {
    bucketOf = new Int32Array(2 * n);
    moved = new Int32Array(2 * n);
  }
  const ranges: [from: number, to: number][] = [[0, n]];
  for (let range = ranges.pop(); range; range = ranges.pop()) {
    const [from, to] = range;
    if (to - from <= few) {
      insert(values, order, from, to);
      continue;
    }
    let least = Number.POSITIVE_INFINITY;
    let most = Number.NEGATIVE_INFINITY;
    for (let k = from; k < to; k++) {
      const value = values[order[k]!]!;
      if (value < least) least = value;
      if (value > most) most = value;
    }
    if (!(most > least)) continue;
    const buckets = Math.min(mostBuckets, to - from);
    const scale = (buckets - 1) / (most - least);
    // Differences that are subnormal, or beyond the largest number.
    if (!(scale > 0 && Number.isFinite(scale))) {
      insert(values, order, from, to);
      continue;
    }
    counts.fill(0, 0, buckets + 1);
    for (let k = from; k < to; k++) {
      const bucket = Math.floor((values[order[k]!]! - least) * scale);
      bucketOf[k] = bucket;
      counts[bucket + 1]!++;
    }
    for (let b = 0; b < buckets; b++) counts[b + 1]! += counts[b]!;
    for (let b = 0, at = from; b < buckets; b++) {
      const end = from + counts[b + 1]!;
      if (end - at > few) ranges.push([at, end]);
      at = end;
    }
    for (let k = from; k < to; k++) moved[from + counts[bucketOf[k]!]!++] = order[k]!;
    order.set(moved.subarray(from, to), from);
    // A bucket's count is now where it ends.
    for (let b = 0, at = from; b < buckets; b++) {
      const end = from + counts[b]!;
      if (end - at > 1 && end - at <= few) insert(values, order, at, end);
      at = end;
    }
  }
  return order;
}

function insert(values: Float64Array, order: Int32Array, from: number, to: number): void {
  for (let k = from + 1; k < to; k++) {
    const index = order[k]!;
    const value = values[index]!;
    let at = k;
    for (; at > from && values[order[at - 1]!]! > value; at--) order[at] = order[at - 1]!;
    order[at] = index;
  }
}

/** The first index of the first `length` of numbers in rising order that is not below a value. */
export function firstNotBelow(sorted: Float64Array | Int32Array, value: number, length = sorted.length): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
