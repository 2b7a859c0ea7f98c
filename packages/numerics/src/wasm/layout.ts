// Packs W for the WebAssembly kernels. The order inside a row's sum is the portable one
// (docs/numerics.md, rules 1 and 2); only where the numbers stand in memory is chosen here.
import { visitGroups } from "../drawing.js";
import { type FloatArray, Matrix, precisionOf, type SparseMatrix } from "../matrix.js";

/** Bytes of a vector, and vectors in a panel of dense rows. */
const vectorBytes = 16;
const panelVectors = 6;

/** A larger W comes from memory at each step, and not from a cache. */
const cacheBytes = 8 * 2 ** 20;

/**
 * Dense panels: [stream][panel][partial sum, bit-reversed][column of the partial][row of the
 * panel's part in the stream].
 */
export interface PanelLayout {
  readonly panelRows: number;
  readonly panels: number;
  /** Panels that O has, before those of W; 0 if the cell has none. */
  readonly before: number;
  /** Neurons rounded up to whole panels of W, and to 32. */
  readonly paddedSize: number;
  /** The most columns of a partial sum: the state lies in 32 parts of as many. */
  readonly columnsPerPartial: number;
  /** 1, or 2 for a W that comes from memory: each holds half of every panel's rows. */
  readonly streams: 1 | 2;
  readonly bytes: number;
}

/** Sizes of the dense layout. */
export function panelLayout(size: number, elementBytes: number, hasOrthogonal = false): PanelLayout {
  const panelRows = (panelVectors * vectorBytes) / elementBytes;
  const ofWeights = Math.ceil(size / panelRows);
  const paddedSize = Math.ceil((ofWeights * panelRows) / 32) * 32;
  const before = hasOrthogonal ? Math.ceil(paddedSize / panelRows) : 0;
  const panels = before + ofWeights;
  const columnsPerPartial = Math.ceil(size / 32);
  const bytes = panels * size * panelVectors * vectorBytes;
  return { panelRows, panels, before, paddedSize, columnsPerPartial, streams: bytes > cacheBytes ? 2 : 1, bytes };
}

/** What `packPanels` needs to know of a layout. */
type Panels = Pick<PanelLayout, "panelRows" | "panels" | "streams">;

/** Panels of any dense matrix for assembly/panels.ts, and how many numbers they hold. */
export interface MatrixPanels extends Panels {
  readonly length: number;
}

/**
 * Panels of a matrix. With `right` 2 they have half as many rows, in one stream: the product with
 * two vectors at once takes as many sums.
 */
export function matrixPanels({ rows, cols }: Pick<Matrix, "rows" | "cols">, elementBytes: number, right: 1 | 2 = 1): MatrixPanels {
  const panelRows = (panelVectors * vectorBytes) / elementBytes / right;
  const panels = Math.ceil(rows / panelRows);
  const length = panels * panelRows * cols;
  return { panelRows, panels, streams: right === 1 && length * elementBytes > cacheBytes ? 2 : 1, length };
}

/** Writes a dense matrix into panels from `from` on; what is beyond its rows stays zero. */
export function packPanels(weights: Matrix, { panelRows, panels, streams }: Panels, out: FloatArray, from = 0): void {
  const streamRows = panelRows / streams;
  visitGroups(weights, precisionOf(out), streamRows, partialStarts(weights.cols, 5), (group, first) => {
    const panel = from + Math.floor(first / panelRows);
    const stream = Math.floor((first % panelRows) / streamRows);
    out.set(group, (stream * panels + panel) * group.length);
  });
}

/**
 * Sparse slices (sliced ELL): rows sorted by length in groups of `sliceRows`, entries of a slice
 * side by side.
 */
export interface SliceLayout {
  readonly sliceRows: number;
  readonly slices: number;
  /** Entry positions, slice by slice: slices + 1 values. */
  readonly offsets: Uint32Array;
  /** Row of each lane; lanes without a row point behind the last one. */
  readonly rows: Uint32Array;
  readonly wide: boolean;
  readonly bytes: { readonly weights: number; readonly columns: number };
}

/**
 * Sorts rows by length and sizes the slices. `paddedSize` is the index that lanes without a row write
 * to, less one slice.
 */
export function sliceLayout(weights: SparseMatrix, elementBytes: number, spareRow: number): SliceLayout {
  const { rows: size, rowOffsets } = weights;
  const sliceRows = sliceRowsOf(elementBytes);
  const slices = Math.ceil(size / sliceRows);
  const length = (r: number) => rowOffsets[r + 1]! - rowOffsets[r]!;
  const order = Uint32Array.from({ length: size }, (_, r) => r).sort((a, b) => length(a) - length(b) || a - b);
  const rows = new Uint32Array(slices * sliceRows).fill(spareRow);
  rows.set(order);
  const offsets = new Uint32Array(slices + 1);
  for (let s = 0; s < slices; s++) {
    let longest = 0;
    for (let lane = 0; lane < sliceRows; lane++) {
      const r = rows[s * sliceRows + lane]!;
      if (r < size) longest = Math.max(longest, length(r));
    }
    offsets[s + 1] = offsets[s]! + longest;
  }
  const columnBytes = columnBytesOf(size, elementBytes);
  const entries = offsets[slices]! * sliceRows;
  const bytes = { weights: entries * elementBytes, columns: entries * columnBytes };
  return { sliceRows, slices, offsets, rows, wide: columnBytes === 4, bytes };
}

/** Rows of a slice. */
export function sliceRowsOf(elementBytes: number): number {
  return (2 * vectorBytes) / elementBytes;
}

/** Bytes of the position of an entry's column: the byte offset of its state. */
export function columnBytesOf(size: number, elementBytes: number): 2 | 4 {
  return size * elementBytes > 65536 ? 4 : 2;
}

/**
 * Writes values and byte offsets of columns into slices, partial sum by partial sum in bit-reversed
 * order. Missing entries are 0 times x[0].
 */
export function packSlices(weights: SparseMatrix, layout: SliceLayout, values: FloatArray, columns: Uint16Array | Uint32Array): void {
  const { sliceRows, slices, offsets, rows } = layout;
  const elementBytes = values.BYTES_PER_ELEMENT;
  for (let s = 0; s < slices; s++) {
    const length = offsets[s + 1]! - offsets[s]!;
    const starts = partialStarts(length, 3);
    for (let lane = 0; lane < sliceRows; lane++) {
      const r = rows[s * sliceRows + lane]!;
      if (r >= weights.rows) continue;
      const first = weights.rowOffsets[r]!;
      for (let p = first; p < weights.rowOffsets[r + 1]!; p++) {
        const m = p - first;
        const slot = (offsets[s]! + starts[m & 7]! + (m >>> 3)) * sliceRows + lane;
        values[slot] = weights.values[p]!;
        columns[slot] = weights.columns[p]! * elementBytes;
      }
    }
  }
}

/**
 * Where each of the 2^bits partial sums of a row of `length` entries begins, when they are stored
 * in bit-reversed order.
 */
function partialStarts(length: number, bits: number): number[] {
  const count = 1 << bits;
  const starts = new Array<number>(count).fill(0);
  let next = 0;
  for (let i = 0; i < count; i++) {
    const partial = reversedBits(i, bits);
    starts[partial] = next;
    next += Math.floor((length - partial + count - 1) / count);
  }
  return starts;
}

/** The lowest `bits` bits of i in reverse. */
function reversedBits(i: number, bits: number): number {
  let out = 0;
  for (let b = 0; b < bits; b++) out |= ((i >>> b) & 1) << (bits - 1 - b);
  return out;
}

/** Copies an N x K matrix column by column into K padded rows. */
export function packColumns(matrix: Matrix, paddedSize: number, out: FloatArray): void {
  for (let r = 0; r < matrix.rows; r++) {
    for (let k = 0; k < matrix.cols; k++) out[k * paddedSize + r] = matrix.data[r * matrix.cols + k]!;
  }
}

/** One column or row of values as a matrix view. */
export function asColumn(values: FloatArray): Matrix {
  return new Matrix(values.length, 1, values);
}
