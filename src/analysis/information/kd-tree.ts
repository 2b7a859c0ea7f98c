// Points in the maximum norm: how far the k-th neighbour of each is, which the first k are, and how
// many lie nearer than a given distance. Distances are single subtractions in binary64 and counts
// whole numbers, so any other search has the same bits.

/** Points of a leaf. */
const leafSize = 12;

/**
 * A balanced k-d tree (Friedman, Bentley, Finkel 1977) whose nodes know the box of their points. A
 * node of points `from` to `to` has its children on either side of the middle; node i has the
 * children 2i + 1 and 2i + 2.
 */
export class KdTree {
  readonly #dimensions: number;
  readonly #size: number;
  /** Row of each point, in the order of the leaves. */
  readonly #rows: Uint32Array;
  /** Coordinates in that order, a point's together. */
  readonly #points: Float64Array;
  /** Least and largest coordinate of each node: 2 D numbers a node. */
  readonly #boxes: Float64Array;
  /** Nodes that are still to be visited: node, first point, end. */
  readonly #stack = new Int32Array(3 * 128);
  readonly #query: Float64Array;

  /** `columns` are D lists of n finite numbers. */
  constructor(columns: readonly Float64Array[]) {
    const n = columns[0]!.length;
    const d = columns.length;
    this.#dimensions = d;
    this.#size = n;
    this.#rows = Uint32Array.from({ length: n }, (_, i) => i);
    let nodes = 1;
    for (let width = n; width > leafSize; width = Math.ceil(width / 2)) nodes = 2 * nodes + 1;
    this.#boxes = new Float64Array(nodes * 2 * d);
    this.#query = new Float64Array(d);
    this.#build(columns, 0, 0, n);
    this.#points = new Float64Array(n * d);
    for (let p = 0; p < n; p++) for (let c = 0; c < d; c++) this.#points[p * d + c] = columns[c]![this.#rows[p]!]!;
  }

  /**
   * Distance of each row to its k-th neighbour. Rows within `window` of each other in time are no
   * neighbours. With `nearest` (n x k) also which the first k are, in order of distance, then of
   * row.
   */
  scales(k: number, window: number, nearest?: Uint32Array): Float64Array {
    const out = new Float64Array(this.#size);
    const distances = new Float64Array(k);
    const rows = new Float64Array(k);
    for (let p = 0; p < this.#size; p++) {
      const row = this.#rows[p]!;
      distances.fill(Infinity);
      rows.fill(Infinity);
      this.#search(p, row, window, distances, rows);
      out[row] = distances[k - 1]!;
      if (nearest) for (let i = 0; i < k; i++) nearest[row * k + i] = rows[i]!;
    }
    return out;
  }

  /**
   * How many rows are strictly nearer to each row than its radius, itself and its window left out.
   */
  counts(radii: Float64Array, window: number): Uint32Array {
    const out = new Uint32Array(this.#size);
    const positions = new Uint32Array(this.#size);
    for (let p = 0; p < this.#size; p++) positions[this.#rows[p]!] = p;
    for (let p = 0; p < this.#size; p++) {
      const row = this.#rows[p]!;
      const radius = radii[row]!;
      let count = this.#countAll(p, radius);
      const end = Math.min(this.#size, row + window + 1);
      for (let other = Math.max(0, row - window); other < end; other++) if (this.#distance(p, positions[other]!) < radius) count--;
      out[row] = count;
    }
    return out;
  }

  #build(columns: readonly Float64Array[], node: number, from: number, to: number): void {
    const d = this.#dimensions;
    const rows = this.#rows;
    let widest = 0;
    let width = -1;
    for (let c = 0; c < d; c++) {
      const column = columns[c]!;
      let least = Infinity;
      let most = -Infinity;
      for (let p = from; p < to; p++) {
        const value = column[rows[p]!]!;
        if (value < least) least = value;
        if (value > most) most = value;
      }
      this.#boxes[(node * d + c) * 2] = least;
      this.#boxes[(node * d + c) * 2 + 1] = most;
      if (most - least > width) {
        width = most - least;
        widest = c;
      }
    }
    if (to - from <= leafSize) return;
    const middle = (from + to) >> 1;
    partition(rows, columns[widest]!, from, to, middle);
    this.#build(columns, 2 * node + 1, from, middle);
    this.#build(columns, 2 * node + 2, middle, to);
  }

  #search(p: number, row: number, window: number, distances: Float64Array, rows: Float64Array): void {
    const d = this.#dimensions;
    const points = this.#points;
    const query = this.#query;
    const stack = this.#stack;
    const last = distances.length - 1;
    for (let c = 0; c < d; c++) query[c] = points[p * d + c]!;
    let top = 0;
    stack[0] = 0;
    stack[1] = 0;
    stack[2] = this.#size;
    top = 3;
    while (top > 0) {
      top -= 3;
      let node = stack[top]!;
      let from = stack[top + 1]!;
      let to = stack[top + 2]!;
      if (this.#boxDistance(node) > distances[last]!) continue;
      while (to - from > leafSize) {
        const middle = (from + to) >> 1;
        const left = this.#boxDistance(2 * node + 1);
        const right = this.#boxDistance(2 * node + 2);
        // The point's own half if both hold it.
        const goLeft = left < right || (left === right && p < middle);
        const far = goLeft ? right : left;
        if (far <= distances[last]!) {
          stack[top] = goLeft ? 2 * node + 2 : 2 * node + 1;
          stack[top + 1] = goLeft ? middle : from;
          stack[top + 2] = goLeft ? to : middle;
          top += 3;
        }
        node = goLeft ? 2 * node + 1 : 2 * node + 2;
        if (goLeft) to = middle;
        else from = middle;
      }
      for (let q = from; q < to; q++) {
        const limit = distances[last]!;
        let distance = 0;
        for (let c = 0, at = q * d; c < d; c++, at++) {
          const difference = Math.abs(points[at]! - query[c]!);
          if (difference > distance) distance = difference;
        }
        if (distance > limit) continue;
        const other = this.#rows[q]!;
        if (Math.abs(other - row) <= window) continue;
        if (distance === limit && other > rows[last]!) continue;
        let at = last;
        for (; at > 0 && (distances[at - 1]! > distance || (distances[at - 1] === distance && rows[at - 1]! > other)); at--) {
          distances[at] = distances[at - 1]!;
          rows[at] = rows[at - 1]!;
        }
        distances[at] = distance;
        rows[at] = other;
      }
    }
  }

  /** The least distance that a point in the node's box can have from the query. */
  #boxDistance(node: number): number {
    const boxes = this.#boxes;
    const query = this.#query;
    let distance = 0;
    for (let c = 0, at = node * 2 * this.#dimensions; c < query.length; c++, at += 2) {
      const value = query[c]!;
      const below = boxes[at]! - value;
      const above = value - boxes[at + 1]!;
      if (below > distance) distance = below;
      if (above > distance) distance = above;
    }
    return distance;
  }

  /** Points strictly nearer than the radius to point p, p itself and its window among them. */
  #countAll(p: number, radius: number): number {
    const d = this.#dimensions;
    const points = this.#points;
    const boxes = this.#boxes;
    const query = this.#query;
    const stack = this.#stack;
    for (let c = 0; c < d; c++) query[c] = points[p * d + c]!;
    let count = 0;
    stack[0] = 0;
    stack[1] = 0;
    stack[2] = this.#size;
    let top = 3;
    while (top > 0) {
      top -= 3;
      const node = stack[top]!;
      const from = stack[top + 1]!;
      const to = stack[top + 2]!;
      let inside = true;
      let outside = false;
      for (let c = 0, at = node * 2 * d; c < d; c++, at += 2) {
        const below = boxes[at]! - query[c]!;
        const above = boxes[at + 1]! - query[c]!;
        if (below >= radius || above <= -radius) {
          outside = true;
          break;
        }
        if (below <= -radius || above >= radius) inside = false;
      }
      if (outside) continue;
      if (inside) {
        count += to - from;
        continue;
      }
      if (to - from > leafSize) {
        const middle = (from + to) >> 1;
        stack[top] = 2 * node + 1;
        stack[top + 1] = from;
        stack[top + 2] = middle;
        stack[top + 3] = 2 * node + 2;
        stack[top + 4] = middle;
        stack[top + 5] = to;
        top += 6;
        continue;
      }
      for (let q = from; q < to; q++) {
        let c = 0;
        for (let at = q * d; c < d && Math.abs(points[at]! - query[c]!) < radius; c++, at++);
        if (c === d) count++;
      }
    }
    return count;
  }

  #distance(p: number, q: number): number {
    const d = this.#dimensions;
    let distance = 0;
    for (let c = 0; c < d; c++) distance = Math.max(distance, Math.abs(this.#points[p * d + c]! - this.#points[q * d + c]!));
    return distance;
  }
}

/**
 * Moves rows until those before `middle` have no larger value than those from it on (Hoare 1961).
 */
function partition(rows: Uint32Array, values: Float64Array, from: number, to: number, middle: number): void {
  let low = from;
  let high = to - 1;
  while (low < high) {
    const pivot = values[rows[(low + high) >> 1]!]!;
    let i = low;
    let j = high;
    while (i <= j) {
      while (values[rows[i]!]! < pivot) i++;
      while (values[rows[j]!]! > pivot) j--;
      if (i > j) break;
      const row = rows[i]!;
      rows[i++] = rows[j]!;
      rows[j--] = row;
    }
    if (middle <= j) high = j;
    else if (middle >= i) low = i;
    else return;
  }
}

/** The counts of {@link KdTree.counts} of one column, by its sorted values. */
export function countsOfColumn(values: Float64Array, sorted: Float64Array, radii: Float64Array, window: number): Uint32Array {
  const n = values.length;
  const out = new Uint32Array(n);
  for (let row = 0; row < n; row++) {
    const value = values[row]!;
    const radius = radii[row]!;
    // Differences of sorted values rise, rounding or not: both ends are found by bisection.
    let count = firstOf(sorted, (other) => other - value >= radius) - firstOf(sorted, (other) => other - value > -radius);
    const end = Math.min(n, row + window + 1);
    for (let other = Math.max(0, row - window); other < end; other++) if (Math.abs(values[other]! - value) < radius) count--;
    out[row] = Math.max(0, count);
  }
  return out;
}

function firstOf(sorted: Float64Array, is: (value: number) => boolean): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (is(sorted[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}
