// The compiled shapes of kernels/reservoir_sparse_sorted.cu, and how a reservoir lies in one: rows
// of a block, where entries are, memory, modelled cost. Only arithmetic, as in shapes.ts.
import type { DeviceInfo } from "@spillway/gpu";
import type { ModelShape } from "../shape.js";
import { clockMegahertz, streamingCost } from "./shapes.js";

/** Lanes of a row, units of eight entries of a lane in registers, warps of a block. */
export interface SortedVariant {
  readonly lanes: 1 | 2 | 4;
  readonly held: number;
  readonly warps: number;
}

/** Every shape that is shipped. */
export const sortedVariants: readonly SortedVariant[] = [
  { lanes: 1, held: 7, warps: 12 },
  { lanes: 2, held: 8, warps: 12 },
  { lanes: 4, held: 8, warps: 12 },
];

export function sortedEntry({ lanes, held, warps }: SortedVariant): string {
  return `reservoir_sparse_sorted_f32_l${lanes}_h${held}_w${warps}`;
}

/** Entries of a lane in a unit, and bytes of the unit in a warp's 32 lanes. */
export const laneEntries = 8;
export const warpUnitBytes = 32 * laneEntries * 6;

/**
 * Chunks of states, words of their counters and of a warp's description
 * (kernels/reservoir_sparse_sorted.cuh).
 */
export const chunks = 4;
export const counterWords = 32 * chunks;
export const warpWords = 4 + 3 + 32;

/** Static shared memory of any of the kernels, and a margin. */
const reservedShared = 512;

/** Columns are of 16 bits. */
const mostNeurons = 65536;

/** How a sparse reservoir lies in a variant on a device. */
export interface SortedFit {
  readonly variant: SortedVariant;
  readonly blocks: number;
  readonly rowsOfBlock: number;
  /** Units of a block's warps that fit into its shared memory beside the states. */
  readonly sharedUnits: number;
  /** Units that a block's warps are expected to have, of a random matrix, and bytes of W in all. */
  readonly unitsOfBlock: number;
  readonly weightBytes: number;
  readonly slotBytes: number;
  readonly microsecondsPerStep: number;
}

/**
 * Fitted to nine shapes that a program of C++ around the same loop timed on an H200 (it is not
 * kept), in microseconds, to .7 of each: a step's waits; the time of gathers over that of their
 * banks, 3.5 cycles for 32 random columns; a unit of one warp by itself; and bytes of states a
 * microsecond.
 */
const fixedCost = 1.8;
const gathering = 1.36 * 3.5;
const unitCost = 0.14;
const intake = 97_000;

/** The fit of N rows in a variant, or undefined if they or the device do not suit it. */
export function fitSorted(variant: SortedVariant, shape: Pick<ModelShape, "size" | "nonzeros" | "precision">, device: DeviceInfo) {
  const { lanes, held, warps } = variant;
  const { size, nonzeros, precision } = shape;
  const { multiprocessors, sharedBytesPerBlockOptIn, cooperativeLaunch } = device.attributes;
  if (precision !== "float32" || device.computeCapability[0] < 9 || cooperativeLaunch === 0 || size > mostNeurons) return undefined;
  const rowsOfBlock = 4 * Math.ceil(size / multiprocessors / 4);
  const blocks = Math.ceil(size / rowsOfBlock);
  const stateBytes = 4 * blocks * rowsOfBlock;
  const sharedUnits = Math.floor((sharedBytesPerBlockOptIn - reservedShared - stateBytes) / warpUnitBytes);
  if (rowsOfBlock * lanes > warps * 32 || sharedUnits < 0) return undefined;
  const used = Math.ceil((rowsOfBlock * lanes) / 32);
  const units = Array.from({ length: used }, (_, warp) => likelyUnits(nonzeros / size, lanes, (warp + 0.5) / used));
  const unitsOfBlock = units.reduce((sum, count) => sum + count, 0);
  const beyond = units.reduce((sum, count) => sum + Math.max(0, count - held), 0);
  const streamed = Math.max(0, beyond - sharedUnits);
  const sums = (gathering * unitsOfBlock * laneEntries) / clockMegahertz(device);
  const streaming = streamingCost(streamed * blocks * warpUnitBytes, device);
  return {
    ...{ variant, blocks, rowsOfBlock, sharedUnits, unitsOfBlock },
    weightBytes: Math.ceil(unitsOfBlock * blocks) * warpUnitBytes + 4 * warpWords * warps * blocks,
    slotBytes: 4 * counterWords + 2 * stateBytes,
    microsecondsPerStep: fixedCost + stateBytes / intake + Math.max(sums, unitCost * Math.max(...units), streaming),
  } satisfies SortedFit;
}

/**
 * Units of the warp whose rows are longer than the share `shorter` of a block's, of a random
 * matrix: lengths are about normal, and 1.25 t + .9 t^5 with t = 2 shorter - 1 is about the normal
 * distribution's quantile.
 */
function likelyUnits(mean: number, lanes: number, shorter: number): number {
  const t = 2 * shorter - 1;
  const length = mean + Math.sqrt(mean) * (1.25 * t + 0.9 * t * t * t * t * t);
  return Math.max(0, length / (laneEntries * lanes)) + 0.5;
}
