// Sparse reservoirs in the kernels of kernels/reservoir_sparse_sorted.cu: W as they want it, and
// their plan.
import { Making } from "@spillway/core/disposal.js";
import type { Context, DeviceInfo } from "@spillway/gpu";
import type { SparseMatrix } from "@spillway/numerics";
import type { ModelShape } from "../shape.js";
import type { TimeLoopPlan } from "../time-loop.js";
import { type LoopParts, slotsFor } from "./fit-kernels.js";
import { shippedCode } from "./kernel-code.js";
import { stepParameters } from "./loop.js";
import { chunks, fitSorted, laneEntries, type SortedFit, sortedEntry, sortedVariants, warpUnitBytes, warpWords } from "./sorted-shapes.js";

/** Fits of the shipped shapes, the fastest first. */
export function sortedFits(shape: Pick<ModelShape, "size" | "nonzeros" | "precision">, device: DeviceInfo): SortedFit[] {
  return sortedVariants
    .flatMap((variant) => fitSorted(variant, shape, device) ?? [])
    .sort((a, b) => a.microsecondsPerStep - b.microsecondsPerStep);
}

export interface PackedRows {
  readonly entries: Uint32Array<ArrayBuffer>;
  /** Warp of kernels/reservoir_sparse_sorted.cuh, one after another. */
  readonly warps: Uint32Array<ArrayBuffer>;
  /** The most units that a block has in shared memory, and those that each step streams. */
  readonly shared: number;
  readonly streamed: number;
}

interface WarpRows {
  readonly rows: readonly number[];
  readonly units: number;
}

/** The rows of each block by length, longest first, distributed over its warps in order. */
function distributeRows({ rows: size, rowOffsets }: SparseMatrix, { variant, blocks, rowsOfBlock }: SortedFit): WarpRows[] {
  const length = (row: number) => rowOffsets[row + 1]! - rowOffsets[row]!;
  const rowsOfWarp = 32 / variant.lanes;
  return Array.from({ length: blocks }, (_, block) => {
    const first = block * rowsOfBlock;
    const sorted = Array.from({ length: Math.min(rowsOfBlock, size - first) }, (_, k) => first + k).sort(
      (a, b) => length(b) - length(a) || a - b,
    );
    return Array.from({ length: variant.warps }, (_, warp): WarpRows => {
      const rows = sorted.slice(warp * rowsOfWarp, (warp + 1) * rowsOfWarp);
      return { rows, units: rows.length === 0 ? 0 : Math.ceil(length(rows[0]!) / (laneEntries * variant.lanes)) };
    });
  }).flat();
}

/**
 * Entry m of a row is in lane m mod `lanes` of its lanes. [block][warp][unit][16 bytes of a
 * unit][lane], in 32-bit words. Undefined if some block has more than `mostUnits`, for which all
 * others would wait.
 */
export function packSorted(weights: SparseMatrix, fit: SortedFit, mostUnits: number): PackedRows | undefined {
  const { lanes, held: registers, warps: warpsOfBlock } = fit.variant;
  const { rowOffsets, columns, values } = weights;
  const warps = distributeRows(weights, fit);
  const unitsOf = (warps: readonly WarpRows[]) => warps.reduce((sum, warp) => sum + warp.units, 0);
  for (let warp = 0; warp < warps.length; warp += warpsOfBlock)
    if (unitsOf(warps.slice(warp, warp + warpsOfBlock)) > mostUnits) return undefined;
  const units = unitsOf(warps);
  const entries = new Uint32Array((Math.max(1, units) * warpUnitBytes) / 4);
  const [reals, columnsOf] = [new Float32Array(entries.buffer), new Uint16Array(entries.buffer)];
  const table = new Uint32Array(warps.length * warpWords);
  const chunkEnds = Array.from({ length: chunks }, (_, c) => Math.floor((fit.blocks * (c + 1)) / chunks) * fit.rowsOfBlock);
  let [first, streamed, shared, sharedAt] = [0, 0, 0, 0];
  for (const [index, { rows, units: own }] of warps.entries()) {
    if (index % warpsOfBlock === 0) sharedAt = 0;
    const ahead = own > registers ? 1 : 0;
    const held = Math.min(registers, own - ahead);
    const near = Math.min(own - ahead - held, fit.sharedUnits - sharedAt);
    const at = index * warpWords;
    const rowsAt = at + 7;
    table.fill(0xffffffff, rowsAt, rowsAt + 32);
    const lastColumns = new Int32Array(own);
    for (const [position, row] of rows.entries()) {
      table.fill(row % fit.rowsOfBlock, rowsAt + position * lanes, rowsAt + (position + 1) * lanes);
      const start = rowOffsets[row]!;
      for (let m = 0; start + m < rowOffsets[row + 1]!; m++) {
        const turn = Math.floor(m / lanes);
        const unit = Math.floor(turn / laneEntries);
        const k = turn % laneEntries;
        const base = (first + unit) * warpUnitBytes;
        const lane = position * lanes + (m % lanes);
        reals[base / 4 + ((k >> 2) * 32 + lane) * 4 + (k & 3)] = values[start + m]!;
        columnsOf[base / 2 + (64 + lane) * 8 + k] = columns[start + m]!;
        lastColumns[unit] = Math.max(lastColumns[unit]!, columns[start + m]!);
      }
    }
    /** Chunks that the first `count` units want. */
    const wanted = (count: number): number => {
      const last = lastColumns.subarray(0, count).reduce((most, column) => Math.max(most, column), 0);
      return 1 + chunkEnds.findIndex((end) => last < end);
    };
    const thirds = [1, 2, 3].map((third) => wanted(ahead + Math.floor((third * registers) / 3)));
    table.set([first, sharedAt, own | (ahead << 16), held | (near << 16), ...thirds], at);
    first += own;
    sharedAt += near;
    shared = Math.max(shared, sharedAt);
    streamed += own - held - near;
  }
  return { entries, warps: table, shared, streamed };
}

export function describeSorted(fit: SortedFit): TimeLoopPlan["details"] {
  const { variant, blocks, rowsOfBlock } = fit;
  return {
    ...{ blocks, threads: 32 * variant.warps, lanesOfRow: variant.lanes, rowsOfBlock },
    entriesInRegisters: laneEntries * variant.lanes * variant.held,
  };
}

/** The kernel and memory of a W that was packed for a fit. */
export function sortedParts(fit: SortedFit, packed: PackedRows): LoopParts {
  const { variant, blocks, rowsOfBlock, slotBytes } = fit;
  const shared = 4 * blocks * rowsOfBlock + packed.shared * warpUnitBytes;
  const kernel = {
    name: "grid",
    code: shippedCode("reservoir_sparse_sorted", sortedEntry(variant), "float32", false),
    details: { ...describeSorted(fit), sharedBytes: shared, bytesStreamed: packed.streamed * warpUnitBytes },
    parameters: {
      ...({ entries: "const u32*", warps: "const u32*", slots: "u64*" } as const),
      ...stepParameters,
      ...({ rowsOfBlock: "i32", spinLimit: "i64" } as const),
    },
    config: { grid: blocks, block: 32 * variant.warps, shared, cooperative: true },
  } as const;
  const memory = (context: Context) => {
    using made = new Making();
    const entries = made.own(context.upload(packed.entries, { label: "W" }));
    const warps = made.own(context.upload(packed.warps, { label: "rows of warps" }));
    return made.done({ buffers: { entries, warps, slots: slotsFor(context, slotBytes) }, numbers: { rowsOfBlock } });
  };
  return { kernel, memory };
}
