// A CSR matrix as the sparse step reads it: slices of four rows of similar length, eight lanes a
// row, a lane's next entries side by side. The order of a row's sum is that of docs/numerics.md,
// rule 2: position m belongs to lane m mod 8.
import type { SparseMatrix } from "@spillway/numerics";

const sliceRows = 4;
const rowLanes = 8;

/** Rows of at least this many entries on average are read four entries at a time. */
const longRow = 48;

export interface SparseLayout {
  /** Entries that a lane loads at once. */
  readonly entries: 1 | 4;
  readonly slices: number;
  /** Row of each group of lanes, -1 if there is none: slices x 4. */
  readonly rows: Int32Array;
  /** Loads before each slice: slices + 1 values. A load is 32 lanes of `entries` entries. */
  readonly offsets: Uint32Array;
  /** Entries with their padding. */
  readonly padded: number;
}

export const entriesPerLoad = (size: number, nonzeros: number): 1 | 4 => (nonzeros / size >= longRow ? 4 : 1);

/** The most bytes that a layout can take; the lengths of its rows may not be known yet. */
export function mostLayoutBytes(size: number, nonzeros: number, entryBytes: number): number {
  const slices = Math.ceil(size / sliceRows);
  // A slice has its longest row four times, the first's of at most `size` entries, each other's no
  // longer than the four rows before; all of whole loads.
  const padded = nonzeros + sliceRows * size + slices * sliceRows * rowLanes * entriesPerLoad(size, nonzeros);
  return entryBytes * padded + 4 * (slices * sliceRows + slices + 1);
}

/**
 * Sorts rows by length, longest first, and sizes the slices, by where each row of W begins in CSR
 * form, for a kernel that was planned to load so many entries at once: a W that was drawn may have
 * fewer connections than its description lets expect. Only the rows from `from` up to `to`, if they
 * are named.
 */
export function sparseLayout(rowOffsets: Uint32Array, entries: 1 | 4, from = 0, to = rowOffsets.length - 1): SparseLayout {
  const slices = Math.ceil((to - from) / sliceRows);
  const length = (r: number) => rowOffsets[r + 1]! - rowOffsets[r]!;
  const order = Uint32Array.from({ length: to - from }, (_, r) => from + r).sort((a, b) => length(b) - length(a) || a - b);
  const rows = new Int32Array(slices * sliceRows).fill(-1);
  rows.set(order);
  const offsets = new Uint32Array(slices + 1);
  for (let s = 0; s < slices; s++) offsets[s + 1] = offsets[s]! + Math.ceil(length(order[s * sliceRows]!) / (rowLanes * entries));
  return { entries, slices, rows, offsets, padded: offsets[slices]! * 32 * entries };
}

/**
 * Writes values and columns of slices `from` to `to` to their positions, counted from the first of
 * them; padding has weight and column 0.
 */
export function packSlices(
  weights: Pick<SparseMatrix, "rowOffsets" | "columns"> & { readonly values: ArrayLike<number> },
  layout: SparseLayout,
  from: number,
  to: number,
  values: Float32Array | Float64Array | Uint16Array | Int16Array | Int8Array,
  columns: Uint16Array | Uint32Array,
): void {
  const { entries, rows, offsets } = layout;
  const { rowOffsets } = weights;
  const rounded = values instanceof Uint16Array;
  const float = new Float32Array(1);
  const word = new Uint32Array(float.buffer);
  values.fill(0);
  columns.fill(0);
  for (let group = from * sliceRows; group < to * sliceRows; group++) {
    const r = rows[group]!;
    if (r < 0) continue;
    const slice = (offsets[group >> 2]! - offsets[from]!) * 32 * entries;
    const firstLane = (group & 3) * rowLanes;
    const start = rowOffsets[r]!;
    for (let p = start; p < rowOffsets[r + 1]!; p++) {
      const m = p - start;
      const turn = m >> 3;
      const load = entries === 1 ? turn : turn >> 2;
      const at = slice + (load * 32 + firstLane + (m & 7)) * entries + (entries === 1 ? 0 : turn & 3);
      float[0] = weights.values[p]!;
      values[at] = rounded ? word[0]! >>> 16 : weights.values[p]!;
      columns[at] = weights.columns[p]!;
    }
  }
}
