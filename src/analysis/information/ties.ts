// Values that come again and again, as rounded ones do: rows that are equal, and columns whose equal
// values are told apart.
import { RandomStream, seedKeys } from "@spillway/numerics";
import type { NeighbourSpace } from "../../reservoir/engine.js";
import { streams } from "../source.js";
import type { Columns } from "./columns.js";
import { forEachRun, sortedBy } from "./partition.js";

/** Rows that equal at least k others outside their window, and how many equal each row. */
export interface EqualRows {
  readonly rows: Uint32Array;
  /** In (x, y, z). */
  readonly inAll: Uint32Array;
  /** In z; n - 1 without z. */
  readonly inZ: Uint32Array;
  readonly inXZ: Uint32Array;
  readonly inYZ: Uint32Array;
}

/** Finds equal rows of one x after the other. */
export class Ties {
  readonly #space: NeighbourSpace;
  #inZ: Uint32Array | undefined;
  #inYZ: Uint32Array | undefined;

  constructor(space: NeighbourSpace) {
    const { y, z, k, window } = space;
    this.#space = space;
    // Rows that are equal in all columns are so in y and z, whatever x is.
    if (!hasRun(y[0]!, k)) return;
    const inYZ = equalsOf([...y, ...z], window);
    if (!inYZ.some((count) => count >= k)) return;
    this.#inYZ = inYZ;
    this.#inZ = z.length > 0 ? equalsOf(z, window) : new Uint32Array(inYZ.length).fill(inYZ.length - 1);
  }

  /** Undefined if no row equals k others. */
  of(x: Columns): EqualRows | undefined {
    const { y, z, k, window } = this.#space;
    const [inZ, inYZ] = [this.#inZ, this.#inYZ];
    if (!inZ || !inYZ || !hasRun(x[0]!, k)) return undefined;
    const inAll = equalsOf([...x, ...y, ...z], window);
    const rows = Uint32Array.from(inAll.keys()).filter((row) => inAll[row]! >= k);
    return rows.length > 0 ? { rows, inAll, inZ, inXZ: equalsOf([...x, ...z], window), inYZ } : undefined;
  }
}

/** Whether any value comes more than k times. */
function hasRun(column: Float64Array, k: number): boolean {
  const sorted = column.slice().sort();
  for (let i = k; i < sorted.length; i++) if (sorted[i] === sorted[i - k]) return true;
  return false;
}

/** Of each row, how many rows that are more than `window` steps apart from it are equal to it. */
function equalsOf(columns: Columns, window: number): Uint32Array {
  const n = columns[0]!.length;
  const difference = (i: number, j: number) => {
    for (const column of columns) if (column[i] !== column[j]) return column[i]! - column[j]!;
    return 0;
  };
  const order = sortedBy(n, difference);
  const group = new Uint32Array(n);
  for (let p = 1; p < n; p++) {
    const [before, row] = [order[p - 1]!, order[p]!];
    group[row] = group[before]! + Number(difference(before, row) !== 0);
  }
  const out = new Uint32Array(n);
  forEachRun(order, group, (equals) => {
    // Rows of a run rise.
    let [first, end] = [0, 0];
    for (const row of equals) {
      while (equals[first]! < row - window) first++;
      while (end < equals.length && equals[end]! <= row + window) end++;
      out[row] = equals.length - (end - first);
    }
  });
  return out;
}

/** The width of the noise: this share of the standard deviation at most, and at least. */
const widest = 2 ** -20;
const narrowest = 2 ** -40;

/**
 * A column with uniform noise if a value comes twice in it, so that no two distances are equal
 * (Kraskov et al. 2004, section II): a quarter of the least difference of two values wide, within
 * 2^-40 to 2^-20 of the standard deviation. The noise depends on the row and on `stream` alone.
 */
export function toldApart(column: Float64Array, stream: number): Float64Array {
  const sorted = column.slice().sort();
  let least = Number.POSITIVE_INFINITY;
  let isTied = false;
  for (let i = 1; i < sorted.length; i++) {
    const difference = sorted[i]! - sorted[i - 1]!;
    if (difference === 0) isTied = true;
    else least = Math.min(least, difference);
  }
  if (!isTied || least === Number.POSITIVE_INFINITY) return column;
  const mean = column.reduce((sum, value) => sum + value, 0) / column.length;
  const deviation = Math.sqrt(column.reduce((sum, value) => sum + (value - mean) * (value - mean), 0) / (column.length - 1));
  const width = Math.min(Math.max(least / 4, deviation * narrowest), deviation * widest);
  const draws = new RandomStream(seedKeys("equal values").weights, streams.equalValues);
  return column.map((value, row) => value + width * (draws.uniform(stream, row) - 0.5));
}
