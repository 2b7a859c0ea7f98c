// The layout of a reservoir in integers in the memory of its WebAssembly instance: the table of
// fields of assembly/integer.ts, and W in pairs of columns.
import { isSparse } from "@spillway/numerics";
import type { WasmInstance } from "@spillway/numerics/wasm/index.js";
import { type SliceLayout, sliceLayout, sliceRowsOf } from "@spillway/numerics/wasm/layout.js";
import { tanhTable } from "../../reservoir/integer/tanh.js";
import type { IntegerRows } from "../../reservoir/integer/weights.js";
import type { ReservoirModel } from "../../reservoir/model.js";
import { layOutRegions, type Region, stepsPerChunk } from "./memory.js";

/** Rows of a dense panel: six vectors. */
const panelRows = 24;

/** Slices have the rows of binary32, whose vectors too have four lanes. */
const elementBytes = 4;

/** The fields of assembly/integer.ts that are addresses, in its order. */
const addressFields = [
  "inputs",
  "outputs",
  "states",
  "state",
  "sums",
  "weights",
  "sliceOffsets",
  "sliceColumns",
  "sliceRows",
  "driving",
  "drivingWeights",
  "bias",
  "exponents",
  "leak",
  "table",
] as const;

type RegionName = (typeof addressFields)[number] | "fields";

/** The memory of one reservoir. */
export interface IntegerMemoryMap {
  /** Neurons rounded up to whole panels. */
  readonly paddedSize: number;
  /** Steps in one chunk. */
  readonly capacity: number;
  /** Bytes of a weight of W. */
  readonly weightBytes: 1 | 2;
  /** Of a sparse W: its slices, and where each begins, in pairs of entries. */
  readonly sparse?: SliceLayout & { readonly pairs: Uint32Array };
  readonly regions: Readonly<Record<RegionName, Region>>;
  /** Bytes from address 0. */
  readonly totalBytes: number;
}

const half = (count: number): number => Math.ceil(count / 2);

/** Lays out the memory. */
export function planIntegerMemory(model: ReservoirModel): IntegerMemoryMap {
  const { size, inputSize, outputSize, weights, config } = model;
  const paddedSize = Math.ceil(size / panelRows) * panelRows;
  const capacity = stepsPerChunk(4 * size);
  const weightBytes = config.weightPrecision === "int8" ? 1 : 2;
  const sparse = isSparse(weights) ? inPairs(sliceLayout(weights, elementBytes, paddedSize)) : undefined;
  const pairs = sparse ? sparse.pairs.at(-1)! * sliceRowsOf(elementBytes) : paddedSize * half(size);
  // Lanes without a row write behind the last one.
  const vector = 4 * (paddedSize + 1);
  const { regions, totalBytes } = layOutRegions<RegionName>({
    fields: 128,
    table: 2 * tanhTable.length,
    state: 2 * paddedSize,
    sums: vector,
    bias: vector,
    exponents: vector,
    leak: vector,
    driving: 4 * half(inputSize + outputSize),
    drivingWeights: 4 * paddedSize * half(inputSize + outputSize),
    inputs: 4 * capacity * inputSize,
    outputs: 4 * capacity * outputSize,
    // The last row's vectors may reach beyond it by the padding.
    states: 4 * (capacity * size + paddedSize),
    sliceOffsets: sparse?.pairs.byteLength ?? 0,
    sliceRows: sparse?.rows.byteLength ?? 0,
    sliceColumns: sparse ? 4 * pairs : 0,
    weights: 2 * weightBytes * pairs,
  });
  return { paddedSize, capacity, weightBytes, ...(sparse && { sparse }), regions, totalBytes };
}

function inPairs(layout: SliceLayout): SliceLayout & { readonly pairs: Uint32Array } {
  const pairs = new Uint32Array(layout.slices + 1);
  for (let s = 0; s < layout.slices; s++) pairs[s + 1] = pairs[s]! + half(layout.offsets[s + 1]! - layout.offsets[s]!);
  return { ...layout, pairs };
}

/** Writes the model and the table of fields. */
export function fillIntegerMemory(
  model: ReservoirModel,
  rows: IntegerRows,
  map: IntegerMemoryMap,
  buffer: WasmInstance["memory"]["buffer"],
): void {
  const { regions, paddedSize, sparse, weightBytes } = map;
  const { size, inputSize, outputSize, weights } = model;
  const words = ({ address }: Region) => new Int32Array(buffer, address, paddedSize);
  words(regions.bias).set(rows.bias);
  words(regions.exponents).set(rows.exponents);
  words(regions.leak).set(rows.leakRate);
  new Int16Array(buffer, regions.table.address, tanhTable.length).set(tanhTable);
  const driving = new Int16Array(buffer, regions.drivingWeights.address, regions.drivingWeights.bytes / 2);
  packDriving(rows.inputWeights, inputSize, 0, paddedSize, driving);
  packDriving(rows.feedbackWeights, outputSize, inputSize, paddedSize, driving);
  const { address, bytes } = regions.weights;
  const target = weightBytes === 1 ? new Int8Array(buffer, address, bytes) : new Int16Array(buffer, address, bytes / 2);
  if (sparse && isSparse(weights)) {
    const columns = new Uint16Array(buffer, regions.sliceColumns.address, regions.sliceColumns.bytes / 2);
    packPairs(weights, rows.weights, sparse, target, columns);
    new Uint32Array(buffer, regions.sliceOffsets.address, sparse.pairs.length).set(sparse.pairs);
    new Uint32Array(buffer, regions.sliceRows.address, sparse.rows.length).set(sparse.rows.map((r) => 4 * r));
  } else packPanels(rows.weights, size, target);
  const parts = sparse ? sparse.slices : paddedSize / panelRows;
  new Int32Array(buffer, regions.fields.address, 22).set([
    ...addressFields.map((name) => regions[name].address),
    ...[size, paddedSize, inputSize, outputSize, parts, sparse ? 1 : 0, weightBytes],
  ]);
}

/** Puts columns of W_in or W_fb behind `from` others in pairs. */
function packDriving(weights: Int16Array, columns: number, from: number, paddedSize: number, out: Int16Array): void {
  for (const [i, weight] of weights.entries()) {
    const at = from + (i % columns);
    out[((at >> 1) * paddedSize + Math.floor(i / columns)) * 2 + (at & 1)] = weight;
  }
}

/** Dense W: panel by panel, pair by pair of columns, row by row of the panel. */
function packPanels(weights: Int16Array, size: number, out: Int8Array | Int16Array): void {
  const pairs = half(size);
  for (let r = 0; r < size; r++) {
    const first = Math.floor(r / panelRows) * pairs * panelRows + (r % panelRows);
    for (let k = 0; k < size; k++) out[(first + (k >> 1) * panelRows) * 2 + (k & 1)] = weights[r * size + k]!;
  }
}

/**
 * Sparse W: slice by slice, pair by pair of entries, row by row; missing ones are 0 times x[0].
 */
function packPairs(
  { rows: size, rowOffsets, columns: from }: { readonly rows: number; readonly rowOffsets: Uint32Array; readonly columns: Uint32Array },
  values: Int16Array,
  { slices, sliceRows, rows, pairs }: NonNullable<IntegerMemoryMap["sparse"]>,
  out: Int8Array | Int16Array,
  columns: Uint16Array,
): void {
  for (let group = 0; group < slices * sliceRows; group++) {
    const r = rows[group]!;
    if (r >= size) continue;
    const first = pairs[Math.floor(group / sliceRows)]! * sliceRows + (group % sliceRows);
    for (let p = rowOffsets[r]!; p < rowOffsets[r + 1]!; p++) {
      const m = p - rowOffsets[r]!;
      const at = (first + (m >> 1) * sliceRows) * 2 + (m & 1);
      out[at] = values[p]!;
      columns[at] = 2 * from[p]!;
    }
  }
}
