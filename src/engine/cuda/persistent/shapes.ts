// The compiled shapes of the persistent kernels, and how a reservoir lies in one: blocks, where the
// weights are, memory, modelled cost. Only arithmetic: nothing here touches a device.
import type { DeviceInfo } from "@spillway/gpu";
import type { Precision } from "@spillway/numerics";
import { realType } from "../kernels.js";
import { elementBytes } from "../shape.js";

/**
 * A compiled shape of kernels/reservoir_cluster.cu or reservoir_grid.cu: rows of a warp, tiles of
 * columns in registers, warps of a block.
 */
export interface DenseVariant {
  readonly plan: "cluster" | "grid";
  readonly precision: Precision;
  /** How weights lie on the chip: as they are, or (only in the grid) a bfloat16 W in halves. */
  readonly weights: "full" | "bfloat16";
  readonly rows: number;
  readonly held: number;
  readonly warps: number;
  /** Whether further columns may lie in shared memory and, on the grid, in L2. */
  readonly mixed: boolean;
  /** Whether there is a kernel of this shape with the loop closed. */
  readonly closed: boolean;
}

const dense = (
  plan: "cluster" | "grid",
  precision: Precision,
  rows: number,
  held: number,
  warps: number,
  mixed: boolean,
  closed = false,
): DenseVariant => ({ plan, precision, weights: "full", rows, held, warps, mixed, closed });

/**
 * Shapes of kernels/reservoir_grid_streamed.cu, for devices of compute capability 8.0: their loads
 * say what L2 is to keep.
 */
const streamedVariants: readonly DenseVariant[] = [
  dense("grid", "float32", 5, 6, 8, true),
  dense("grid", "float32", 6, 5, 8, true),
  { ...dense("grid", "float32", 4, 5, 12, true), weights: "bfloat16" },
];

/** The file that a shipped shape's kernel is in, without its ending. */
export function shippedIn(variant: DenseVariant): string {
  return streamedVariants.includes(variant) ? "reservoir_grid_streamed" : `reservoir_${variant.plan}`;
}

/** Whether a device runs a shipped shape. */
export const runsOn = (variant: DenseVariant, { computeCapability: [major] }: DeviceInfo): boolean =>
  major >= 8 || !streamedVariants.includes(variant);

/**
 * Every dense shape that is shipped. A cluster's blocks hold what is beyond their registers in
 * shared memory.
 */
export const denseVariants: readonly DenseVariant[] = [
  dense("cluster", "float32", 4, 1, 4, true, true),
  dense("cluster", "float32", 4, 2, 4, true, true),
  dense("cluster", "float32", 4, 2, 8, true),
  dense("cluster", "float32", 4, 4, 8, true, true),
  dense("cluster", "float32", 8, 5, 8, true),
  dense("cluster", "float64", 4, 2, 4, true, true),
  dense("cluster", "float64", 4, 3, 8, true),
  dense("grid", "float32", 2, 2, 4, false),
  dense("grid", "float32", 2, 4, 4, false),
  dense("grid", "float32", 2, 8, 4, false, true),
  dense("grid", "float32", 2, 16, 8, false, true),
  dense("grid", "float32", 4, 4, 8, false),
  dense("grid", "float32", 4, 10, 8, true),
  dense("grid", "float32", 8, 3, 8, true),
  dense("grid", "float64", 1, 8, 8, false, true),
  dense("grid", "float64", 2, 4, 8, true),
  dense("grid", "float64", 4, 2, 8, true),
  ...streamedVariants,
];

export function denseEntry({ plan, precision, weights, rows, held, warps, mixed }: DenseVariant): string {
  return `reservoir_${plan}_${realType(precision)}${weights === "bfloat16" ? "_bf16" : ""}_r${rows}_h${held}_w${warps}${plan === "grid" && mixed ? "_mixed" : ""}`;
}

/**
 * Columns of a group, and positions of neurons in one: see neuronAt in
 * kernels/recurrence.cuh.
 */
export const groupSize = 128;

/**
 * Groups of a tile of W: 16 bytes a lane and row hold twice as many columns of bfloat16 (Piece in
 * kernels/reservoir_grid.cuh).
 */
export const tileGroups = ({ weights }: DenseVariant): 1 | 2 => (weights === "bfloat16" ? 2 : 1);

/** Row sums of a butterfly: as many as rows, or the next power of two. */
const summedRows = (rows: number): number => 2 ** (32 - Math.clz32(rows - 1));

/**
 * Tiles that the grid's kernel has under way from L2 (Depth in kernels/reservoir_grid.cuh).
 */
const streamDepth = 2;

/** Static shared memory of any of the kernels, and a margin. */
const reservedShared = 64;

/** Blocks of the largest cluster that devices have. */
const largestCluster = 16;

/** How a dense reservoir lies in a variant on a device. */
export interface DenseFit {
  readonly variant: DenseVariant;
  readonly blocks: number;
  /** Groups of columns that hold any. */
  readonly groups: number;
  /** Tiles beyond those in registers: in shared memory, and streamed each step. */
  readonly shared: number;
  readonly streamed: number;
  /** The share of the streamed ones that L2 is to keep, in 2^-32. */
  readonly kept: number;
  /** Copies of each exchanged value, and buffers of x in shared memory. */
  readonly copies: number;
  readonly buffers: number;
  /** Dynamic shared memory of a block. */
  readonly sharedBytes: number;
  readonly weightBytes: number;
  /** Of the exchanged values: those of bounded states and any others apart. */
  readonly slotBytes: number;
  readonly microsecondsPerStep: number;
  /** Devices that share out the blocks; `weightBytes` and `blocks` are of all of them. */
  readonly devices: number;
}

/** Blocks of the device that has most. */
export const blocksOfDevice = ({ blocks, devices }: { readonly blocks: number; readonly devices: number }): number =>
  Math.ceil(blocks / devices);

/** Measured on an H200 (docs/internals): what a step costs beside arithmetic, in microseconds. */
const fixedCost = { cluster: 0.33, grid: 0.95 };

/** Bytes a microsecond that all multiprocessors of an H200 read from L2, and from memory. */
const l2Rate = 5.6e6;
const memoryRate = 4.0e6;

/**
 * Instructions of a product with a weight of bfloat16, over those of another: unpacking is one more
 * beside a product and a sum.
 */
export const unpacking = 1.5;

/** Values a cycle that a block of a cluster takes in from the others. */
const clusterIntake = 1.2;

export const clockMegahertz = (device: DeviceInfo): number => device.attributes.clockKilohertz / 1000 || 1980;

/** The share of the H200's memory clock and bus width that this device has. */
export function relativeBandwidth(device: DeviceInfo): number {
  const { memoryClockKilohertz, memoryBusBits } = device.attributes;
  const own = memoryClockKilohertz * memoryBusBits;
  return own > 0 ? own / (3_201_000 * 6144) : 1;
}

/**
 * Microseconds that every step reads `bytes` of weights from outside the multiprocessors, `kept` of
 * them from L2 and the rest through it.
 */
export function streamingCost(
  bytes: number,
  device: DeviceInfo,
  kept: number = bytes > 0.6 * device.attributes.l2Bytes ? 0 : bytes,
): number {
  const scale = device.attributes.multiprocessors / 132;
  return Math.max(bytes / l2Rate, (bytes - kept) / (memoryRate * relativeBandwidth(device))) / scale;
}

/**
 * What an H200's L2 keeps of weights that are read again each step, beside those that pass through,
 * and of those that are more than three times its size.
 */
const keptOfL2 = { few: 0.64, many: 0.4 };

/** Bytes of a fit's weights that each step streams, and what that costs. */
export function denseStreaming(fit: Pick<DenseFit, "variant" | "streamed" | "blocks" | "devices">, device: DeviceInfo) {
  const { variant, streamed } = fit;
  const tile = blocksOfDevice(fit) * variant.rows * variant.warps * tileBytes(variant);
  const { l2Bytes } = device.attributes;
  const share = streamed * tile > 3 * l2Bytes ? keptOfL2.many : keptOfL2.few;
  const kept = Math.min(streamed, Math.floor((share * l2Bytes) / tile));
  return { kept, microseconds: streamingCost(streamed * tile, device, kept * tile) };
}

/**
 * Fours of states that a thread of a kernel made for a fit asks for at once. In blocks of up to
 * eight warps, which have registers to spare, more of them save rounds.
 */
export const foursAtOnce = ({ variant: { mixed, warps }, groups }: Pick<DenseFit, "variant" | "groups">): 4 | 8 =>
  mixed && warps <= 8 && groups > 4 * warps ? 8 : 4;

/** Bytes of a row of a tile. */
export const tileBytes = ({ precision, weights }: DenseVariant): number =>
  groupSize * (weights === "bfloat16" ? 4 : elementBytes(precision));

/**
 * The fit of N neurons in a variant on so many devices alike, or undefined if they or the devices
 * do not suit it.
 */
export function fitDense(variant: DenseVariant, size: number, device: DeviceInfo, devices = 1): DenseFit | undefined {
  const { plan, precision, weights, rows, held, warps, mixed } = variant;
  const { multiprocessors, sharedBytesPerBlockOptIn, clusterLaunch, cooperativeLaunch } = device.attributes;
  const element = elementBytes(precision);
  const cluster = plan === "cluster";
  const groups = Math.ceil(size / groupSize);
  const tiles = Math.ceil(groups / tileGroups(variant));
  const rowsPerBlock = rows * warps;
  const blocks = Math.ceil((groups * groupSize) / rowsPerBlock);
  if (
    cluster
      ? clusterLaunch === 0 || blocks > largestCluster
      : cooperativeLaunch === 0 || blocksOfDevice({ blocks, devices }) > multiprocessors
  )
    return undefined;
  if (blocks < devices) return undefined;
  // A cluster's blocks have only the rows of its positions.
  if (cluster && blocks * rowsPerBlock !== groups * groupSize) return undefined;
  const buffers = cluster || !mixed ? 2 : 1;
  const bytes = rowsPerBlock * tileBytes(variant);
  const stateBytes = (count: number): number => buffers * count * tileGroups(variant) * groupSize * element;
  const most = sharedBytesPerBlockOptIn - reservedShared;
  const beyond = Math.max(0, tiles - held);
  if (beyond > 0 && !mixed) return undefined;
  let shared = Math.min(beyond, Math.floor((most - stateBytes(held + beyond + streamDepth)) / bytes));
  if (shared < 0) return undefined;
  let streamed = beyond - shared;
  if (streamed > 0) {
    if (cluster) return undefined;
    const rest = streamed % streamDepth;
    if (rest !== 0 && shared >= streamDepth - rest) {
      streamed += streamDepth - rest;
      shared -= streamDepth - rest;
    } else if (rest !== 0) streamed += streamDepth - rest;
  }
  const stored = held + shared + streamed;
  const sharedBytes = stateBytes(stored) + shared * bytes;
  if (sharedBytes > most) return undefined;
  const copies = cluster || devices > 1 ? 1 : groups >= 16 ? Math.min(4, 32 / summedRows(rows)) : groups >= 8 ? 2 : 1;
  const wide = precision === "float64" ? 2 : 1;
  const columns = stored * tileGroups(variant) * groupSize;
  const products = (rowsPerBlock * columns * (weights === "bfloat16" ? unpacking : 1) * 2 * wide) / 128;
  const reads = (warps * columns * element + shared * bytes) / 128;
  const cycles = (products + reads) * (streamed > 0 || shared > 0 ? 1.2 : 1) + (cluster ? (groups * groupSize * wide) / clusterIntake : 0);
  const streaming = denseStreaming({ variant, streamed, blocks, devices }, device);
  return {
    ...{ variant, blocks, devices, groups, shared, streamed, copies, buffers, sharedBytes },
    kept: streamed === 0 ? 0 : Math.min(2 ** 32 - 1, Math.ceil((2 ** 32 * streaming.kept) / streamed)),
    weightBytes: blocks * stored * bytes,
    slotBytes: cluster ? 0 : 2 * copies * groups * groupSize * 3 * element,
    microsecondsPerStep: fixedCost[plan] + Math.max(cycles / clockMegahertz(device), streaming.microseconds),
  };
}

/**
 * A compiled shape of kernels/reservoir_sparse.cu: rows that eight lanes take in turn, units of
 * eight entries in registers, warps of a block.
 */
export interface SparseVariant {
  readonly precision: Precision;
  readonly rounds: number;
  readonly held: number;
  readonly warps: number;
  readonly mixed: boolean;
  readonly closed: boolean;
}

const sparse = (precision: Precision, rounds: number, held: number, warps: number, mixed: boolean, closed = false): SparseVariant => ({
  ...{ precision, rounds, held, warps, mixed, closed },
});

/** Every sparse shape that is shipped. */
export const sparseVariants: readonly SparseVariant[] = [
  sparse("float32", 1, 3, 4, false, true),
  sparse("float32", 1, 3, 19, true),
  sparse("float32", 2, 1, 19, true),
  sparse("float32", 4, 1, 16, true),
  sparse("float64", 1, 2, 4, false, true),
  sparse("float64", 1, 1, 16, true),
  sparse("float64", 2, 1, 16, true),
];

export function sparseEntry({ precision, rounds, held, warps, mixed }: SparseVariant): string {
  return `reservoir_sparse_${realType(precision)}_r${rounds}_h${held}_w${warps}${mixed ? "_mixed" : ""}`;
}

/** Entries of a row in one unit: eight in each of eight lanes. */
export const unitEntries = 64;

/** Columns are positions of 16 bits. */
const mostPlaces = 65536;

/** How a sparse reservoir lies in a variant on a device. */
export interface SparseFit {
  readonly variant: SparseVariant;
  readonly blocks: number;
  /** Positions of states, a multiple of 4. */
  readonly count: number;
  /** Units of the longest row: in registers, in shared memory, and streamed each step. */
  readonly held: number;
  readonly shared: number;
  readonly streamed: number;
  readonly copies: number;
  readonly sharedBytes: number;
  readonly weightBytes: number;
  readonly slotBytes: number;
  readonly microsecondsPerStep: number;
  /** As `DenseFit.devices`. */
  readonly devices: number;
}

/** Bytes of a unit in the 32 lanes of a warp. */
export const unitBytes = (precision: Precision): number => 32 * (8 * elementBytes(precision) + 16);

/**
 * The fit of N rows of at most `longest` entries in a variant on so many devices alike, or
 * undefined if they or the devices do not suit it.
 */
export function fitSparse(variant: SparseVariant, size: number, longest: number, device: DeviceInfo, devices = 1): SparseFit | undefined {
  const { precision, rounds, warps, mixed } = variant;
  const { multiprocessors, sharedBytesPerBlockOptIn, cooperativeLaunch } = device.attributes;
  const element = elementBytes(precision);
  const blocks = Math.ceil(size / (4 * rounds * warps));
  const count = Math.ceil(size / 4) * 4;
  const mostBlocks = blocksOfDevice({ blocks, devices });
  if (cooperativeLaunch === 0 || mostBlocks > multiprocessors || blocks < devices || count > mostPlaces) return undefined;
  const units = Math.max(1, Math.ceil(longest / unitEntries));
  const held = Math.min(units, variant.held);
  if (units > held && !mixed) return undefined;
  const blockUnit = warps * rounds * unitBytes(precision);
  const stateBytes = Math.ceil((count * element) / 16) * 16;
  const shared = Math.min(units - held, Math.floor((sharedBytesPerBlockOptIn - reservedShared - stateBytes) / blockUnit));
  if (shared < 0) return undefined;
  const streamed = units - held - shared;
  // A fifth of the sums meets what crosses between devices.
  const alone = devices > 1 && streamed === 0 ? 0.8 : 1;
  const cycles = alone * units * 8 * warps * rounds * 4 * (element / 4) + (shared * blockUnit) / 128;
  return {
    ...{ variant, blocks, devices, count, held, shared, streamed, copies: 1 },
    sharedBytes: stateBytes + shared * blockUnit,
    weightBytes: blocks * units * blockUnit,
    slotBytes: 2 * count * 3 * element,
    microsecondsPerStep:
      fixedCost.grid +
      Math.max(cycles / clockMegahertz(device), streamingCost(streamed * blockUnit * mostBlocks, device)) +
      (count * element) / 40_000,
  };
}
