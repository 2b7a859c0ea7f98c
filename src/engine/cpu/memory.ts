// The layout of one reservoir in the memory of its WebAssembly instance, decided
// before anything is allocated.
import { type FloatArray, isSparse, type Precision, storedValues } from "@spillway/numerics";
import { wasmMemoryLimit, wasmReserved } from "@spillway/numerics/wasm/index.js";
import {
  columnBytesOf,
  type PanelLayout,
  panelLayout,
  type SliceLayout,
  sliceLayout,
  sliceRowsOf,
} from "@spillway/numerics/wasm/layout.js";
import { orFloat32 } from "../../reservoir/engine/errors.js";
import { EngineCapacityError } from "../../reservoir/engine.js";
import type { ReservoirModel } from "../../reservoir/model.js";
import type { ModelShape } from "../../reservoir/shape.js";

/** A region: byte address and bytes. */
export interface Region {
  readonly address: number;
  readonly bytes: number;
}

/** Numbers of a precision in a memory. */
export const viewOf = (buffer: ArrayBuffer, precision: Precision, { address }: Region, length: number): FloatArray =>
  precision === "float32" ? new Float32Array(buffer, address, length) : new Float64Array(buffer, address, length);

/** The memory of one reservoir. */
export interface MemoryMap {
  readonly elementBytes: 4 | 8;
  /** Neurons rounded up to whole panels and 32. */
  readonly paddedSize: number;
  /** Steps in one chunk. */
  readonly capacity: number;
  readonly dense?: PanelLayout;
  readonly sparse?: SliceLayout;
  readonly regions: Readonly<Record<RegionName, Region>>;
  /** Bytes from address 0. */
  readonly totalBytes: number;
}

type RegionName =
  | "state"
  | "barrier"
  | "permutedState"
  | "preactivation"
  | "bias"
  | "leak"
  | "keep"
  | "inputWeights"
  | "feedbackWeights"
  | "inputs"
  | "outputs"
  | "states"
  | "sliceOffsets"
  | "sliceRows"
  | "sliceColumns"
  | "weights";

/** A chunk's states take about this many bytes: they stay in a core's cache. */
const chunkBytes = 256 * 1024;

/** Steps in a chunk whose states take this many bytes each. */
export function stepsPerChunk(stateBytes: number): number {
  return Math.max(1, Math.min(1024, Math.floor(chunkBytes / stateBytes)));
}

/**
 * Regions one after the other from `first` on, in the order of `bytes`, each at a line of the
 * cache.
 */
export function layOutRegions<Name extends string>(
  bytes: Readonly<Record<Name, number>>,
  first: number = wasmReserved,
): { readonly regions: Readonly<Record<Name, Region>>; readonly totalBytes: number } {
  let next = first;
  const regions = {} as Record<Name, Region>;
  for (const [name, length] of Object.entries(bytes) as [Name, number][]) {
    regions[name] = { address: next, bytes: length };
    next = Math.ceil((next + length) / 64) * 64;
  }
  return { regions, totalBytes: next };
}

/** Lays out the memory. @throws EngineCapacityError above 4 GiB. */
export function planMemory(model: ReservoirModel): MemoryMap {
  const { size, weights } = model;
  const elementBytes = model.precision === "float32" ? 4 : 8;
  const dense = isSparse(weights) ? undefined : panelLayout(size, elementBytes, model.cell?.orthogonal !== undefined);
  const paddedSize = paddedFor(size, dense);
  const sparse = isSparse(weights) ? sliceLayout(weights, elementBytes, paddedSize) : undefined;
  const matrix = {
    sliceOffsets: sparse ? sparse.offsets.byteLength : 0,
    sliceRows: sparse ? sparse.rows.byteLength : 0,
    sliceColumns: sparse ? sparse.bytes.columns : 0,
    weights: dense ? dense.bytes : sparse!.bytes.weights,
  };
  const capacity = stepsPerChunk(size * elementBytes);
  const { regions, totalBytes } = layOutRegions<RegionName>(regionBytes(model, elementBytes, dense, matrix));
  if (totalBytes > wasmMemoryLimit) {
    throw new EngineCapacityError(
      `a reservoir of ${size} neurons with ${storedValues(weights).toLocaleString("en")} weights on the CPU engine`,
      totalBytes,
      wasmMemoryLimit,
      `a WebAssembly memory ends there; take fewer neurons${orFloat32("a smaller connectionProbability", model.precision)}`,
    );
  }
  return { elementBytes, paddedSize, capacity, ...(dense ? { dense } : {}), ...(sparse ? { sparse } : {}), regions, totalBytes };
}

/**
 * The bytes that a reservoir of these sizes takes, before it is drawn, as if all rows of a sparse W
 * were equally long.
 */
export function expectedMemory({ size, inputSize, outputSize, precision, storage, nonzeros }: ModelShape): number {
  const elementBytes = precision === "float32" ? 4 : 8;
  const dense = storage === "dense" ? panelLayout(size, elementBytes, nonzeros > size * size) : undefined;
  const slices = Math.ceil(size / sliceRowsOf(elementBytes));
  const matrix = {
    sliceOffsets: dense ? 0 : 4 * (slices + 1),
    sliceRows: dense ? 0 : 4 * slices * sliceRowsOf(elementBytes),
    sliceColumns: dense ? 0 : nonzeros * columnBytesOf(size, elementBytes),
    weights: dense ? dense.bytes : nonzeros * elementBytes,
  };
  return layOutRegions<RegionName>(regionBytes({ size, inputSize, outputSize }, elementBytes, dense, matrix)).totalBytes;
}

function paddedFor(size: number, dense: PanelLayout | undefined): number {
  return dense?.paddedSize ?? Math.ceil(size / 32) * 32;
}

function regionBytes(
  { size, inputSize, outputSize }: Pick<ModelShape, "size" | "inputSize" | "outputSize">,
  elementBytes: number,
  dense: PanelLayout | undefined,
  matrix: Readonly<Record<"sliceOffsets" | "sliceRows" | "sliceColumns" | "weights", number>>,
): Record<RegionName, number> {
  const paddedSize = paddedFor(size, dense);
  const capacity = stepsPerChunk(size * elementBytes);
  const vector = (paddedSize + 32) * elementBytes;
  return {
    state: vector,
    barrier: 256,
    permutedState: dense ? dense.columnsPerPartial * 32 * elementBytes : 0,
    // What O makes of the state stands before the pre-activations, if the cell has an O.
    preactivation: vector + (dense ? dense.before * dense.panelRows * elementBytes : 0),
    bias: vector,
    leak: vector,
    keep: vector,
    inputWeights: inputSize * paddedSize * elementBytes,
    feedbackWeights: outputSize * paddedSize * elementBytes,
    inputs: capacity * inputSize * elementBytes,
    outputs: capacity * outputSize * elementBytes,
    // The last row's vectors may reach beyond it by the padding.
    states: (capacity * size + paddedSize) * elementBytes,
    sliceOffsets: matrix.sliceOffsets,
    sliceRows: matrix.sliceRows,
    sliceColumns: matrix.sliceColumns,
    weights: matrix.weights,
  };
}
