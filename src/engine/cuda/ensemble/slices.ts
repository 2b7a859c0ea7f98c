// Sparse weights as the ensemble's kernels read them: rows of similar length side by side, 32 to a
// slice. The order of a row's sum does not change.
import type { FloatArray, SparseMatrix } from "@spillway/numerics";

/** Rows of a slice. */
const width = 32;

/**
 * A slice's entries are a multiple of this, one for each partial sum of docs/numerics.md rule 2.
 */
const partials = 8;

/** Where the entries of a sparse pattern stand. */
export interface SlicedPattern {
  /** Rows, and what fills up the last slice. */
  readonly slots: number;
  /** Stored entries, those of weight 0 that fill up the slices included. */
  readonly entries: number;
  /** Of each slot its row; N if it has none. */
  readonly order: Int32Array<ArrayBuffer>;
  /** Of each slice the entries before it, in groups of 32. */
  readonly offsets: Int32Array<ArrayBuffer>;
  readonly columns: Uint16Array<ArrayBuffer>;
  /** Of each entry the position of its value in the CSR arrays; -1 if it fills up. */
  readonly positions: Int32Array<ArrayBuffer>;
}

/** Lays out a CSR pattern of at most 65,536 columns. */
export function slicePattern({ rows, rowOffsets, columns }: Pick<SparseMatrix, "rows" | "rowOffsets" | "columns">): SlicedPattern {
  const length = (row: number): number => rowOffsets[row + 1]! - rowOffsets[row]!;
  const slices = Math.ceil(rows / width);
  const slots = slices * width;
  const order = new Int32Array(slots).fill(rows);
  order.set(Array.from({ length: rows }, (_, row) => row).sort((a, b) => length(b) - length(a) || a - b));
  const offsets = new Int32Array(slices + 1);
  for (let slice = 0; slice < slices; slice++)
    offsets[slice + 1] = offsets[slice]! + Math.ceil(length(order[slice * width]!) / partials) * partials;
  const entries = offsets[slices]! * width;
  const laidOut = new Uint16Array(entries);
  const positions = new Int32Array(entries).fill(-1);
  for (let slot = 0; slot < rows; slot++) {
    const row = order[slot]!;
    const first = offsets[Math.floor(slot / width)]! * width + (slot % width);
    for (let m = 0; m < length(row); m++) {
      const position = rowOffsets[row]! + m;
      laidOut[first + m * width] = columns[position]!;
      positions[first + m * width] = position;
    }
  }
  return { slots, entries, order, offsets, columns: laidOut, positions };
}

/** The values of a pattern's entries. */
export function sliceValues<Values extends FloatArray>({ positions }: SlicedPattern, values: ArrayLike<number>, out: Values): Values {
  for (let entry = 0; entry < positions.length; entry++) {
    const position = positions[entry]!;
    out[entry] = position < 0 ? 0 : values[position]!;
  }
  return out;
}
