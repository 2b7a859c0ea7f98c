// W in the order in which the persistent kernels read it: padded with zeros, 16 bytes of a lane
// side by side.
import { allocate, type FloatArray, type Matrix, type SparseMatrix } from "@spillway/numerics";
import { elementBytes } from "../shape.js";
import { type DenseFit, groupSize, type SparseFit, tileGroups, unitBytes, unitEntries } from "./shapes.js";

/** The neuron at a position: neuronAt of kernels/recurrence.cuh. */
export const neuronAt = (position: number): number => (position & ~127) | ((position & 3) << 5) | ((position >> 2) & 31);

/**
 * The tile of columns in each slot of storage: those in registers, in shared memory and streamed
 * take turns. What is streamed then comes while the rest is summed. This is the order in which
 * kernels/reservoir_grid.cuh meets them.
 */
export function tileOrder({ variant: { plan, held, mixed }, shared, streamed }: DenseFit): Int32Array {
  const order = new Int32Array(held + shared + streamed);
  if (plan === "cluster" || !mixed) return order.map((_, index) => index);
  const rounds = Math.ceil(held / 2);
  let next = 0;
  let sharedDone = 0;
  let streamedDone = 0;
  for (let round = 0; round < rounds; round++) {
    order[2 * round] = next++;
    if (2 * round + 1 < held) order[2 * round + 1] = next++;
    const sharedEnd = Math.floor((shared * (round + 1)) / rounds);
    while (sharedDone < sharedEnd) order[held + sharedDone++] = next++;
    const streamedEnd = Math.floor((streamed * (round + 1)) / rounds);
    while (streamedDone + 2 <= streamedEnd || (round === rounds - 1 && streamedDone < streamed)) {
      order[held + shared + streamedDone++] = next++;
      order[held + shared + streamedDone++] = next++;
    }
  }
  return order;
}

/**
 * [block][warp][tile][row][lane][4 or 8]: a lane's are columns l, l + 32, l + 64, ... of the tile.
 * A W that was rounded to bfloat16 comes as the upper halves of its binary32 values, if the fit has
 * them so. Only the blocks from `from` up to `to`, if they are named.
 */
export function packDense(weights: Matrix, fit: DenseFit, from = 0, to = fit.blocks): FloatArray | Uint16Array<ArrayBuffer> {
  const { variant } = fit;
  const weightBytes = (fit.weightBytes / fit.blocks) * (to - from);
  const { rows, warps, precision } = variant;
  const { rows: size } = weights;
  const halves = variant.weights === "bfloat16";
  const data = halves ? upperHalves(weights.data as Float32Array) : weights.data;
  const packed = halves ? new Uint16Array(weightBytes / 2) : allocate(precision, weightBytes / data.BYTES_PER_ELEMENT);
  const order = tileOrder(fit);
  const tileColumns = tileGroups(variant) * groupSize;
  const perLane = tileColumns / 32;
  let at = 0;
  for (let warp = from * warps; warp < to * warps; warp++)
    for (const tile of order)
      for (let row = 0; row < rows; row++) {
        const neuron = neuronAt(warp * rows + row);
        const first = tile * tileColumns;
        if (neuron < size && first < size) {
          const start = neuron * size + first;
          const columns = Math.min(tileColumns, size - first);
          for (let column = 0; column < columns; column++) packed[at + (column & 31) * perLane + (column >> 5)] = data[start + column]!;
        }
        at += tileColumns;
      }
  return packed;
}

function upperHalves(values: Float32Array): Uint16Array {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length);
  return Uint16Array.from({ length: words.length }, (_, index) => words[index]! >>> 16);
}

/** Entries of the longest row. */
export function longestRow({ rowOffsets }: SparseMatrix): number {
  let longest = 0;
  for (let row = 0; row + 1 < rowOffsets.length; row++) longest = Math.max(longest, rowOffsets[row + 1]! - rowOffsets[row]!);
  return longest;
}

/**
 * Rows in order, eight lanes each: entry m of a row is in lane m mod 8 of its octet. The units of a
 * round in registers, shared memory and streamed take turns, in the order in which
 * kernels/reservoir_sparse.cuh meets them. [block][warp][round][unit][16 bytes of a
 * unit][lane], in 32-bit words. Only the blocks from `from` up to `to`, if they are named.
 */
export function packSparse(weights: SparseMatrix, fit: SparseFit, from = 0, to = fit.blocks): Uint32Array {
  const { variant, held, shared, streamed } = fit;
  const { rounds, warps, precision } = variant;
  const { rows: size, rowOffsets, columns, values } = weights;
  const order = unitOrder(fit);
  const element = elementBytes(precision);
  const bytes = unitBytes(precision);
  const buffer = new ArrayBuffer((fit.weightBytes / fit.blocks) * (to - from));
  const reals = precision === "float32" ? new Float32Array(buffer) : new Float64Array(buffer);
  const columnsOf = new Uint16Array(buffer);
  const units = held + shared + streamed;
  const perPart = 16 / element;
  const valueParts = 8 / perPart;
  const firstWarp = from * warps;
  for (let warp = firstWarp; warp < to * warps; warp++)
    for (let round = 0; round < rounds; round++)
      for (let octet = 0; octet < 4; octet++) {
        const row = (warp * 4 + octet) * rounds + round;
        if (row >= size) continue;
        const start = rowOffsets[row]!;
        const length = rowOffsets[row + 1]! - start;
        for (let unit = 0; unit < units; unit++) {
          const base = (((warp - firstWarp) * rounds + round) * units + unit) * bytes;
          const first = order[unit]! * unitEntries;
          for (let m = first; m < Math.min(length, first + unitEntries); m++) {
            const lane = octet * 8 + (m & 7);
            const k = (m - first) >> 3;
            reals[(base + (Math.floor(k / perPart) * 32 + lane) * 16) / element + (k % perPart)] = values[start + m]!;
            columnsOf[(base + (valueParts * 32 + lane) * 16) / 2 + k] = columns[start + m]!;
          }
        }
      }
  return new Uint32Array(buffer);
}

/** The unit of a row in each slot of storage. */
export function unitOrder({ variant, held, shared, streamed }: SparseFit): Int32Array {
  const order = new Int32Array(held + shared + streamed);
  const rounds = Math.max(1, variant.held);
  let next = 0;
  let sharedDone = 0;
  let streamedDone = 0;
  for (let round = 0; round < rounds; round++) {
    if (round < held) order[round] = next++;
    const sharedEnd = Math.floor((shared * (round + 1)) / rounds);
    const streamedEnd = Math.floor((streamed * (round + 1)) / rounds);
    while (sharedDone < sharedEnd || streamedDone < streamedEnd) {
      if (sharedDone < sharedEnd) order[held + sharedDone++] = next++;
      if (streamedDone < streamedEnd) order[held + shared + streamedDone++] = next++;
    }
  }
  return order;
}
