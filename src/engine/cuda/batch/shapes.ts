// Which dense batch kernel suits a model and a number of sequences, and how its launch and its
// weights look. Sizes are those of kernels/reservoir_batch*.cu.
import { type DeviceInfo, halfBits } from "@spillway/gpu";
import type { FloatArray } from "@spillway/numerics";
import type { ReservoirModel } from "../../../reservoir/model.js";
import { callMicroseconds } from "../host-calls.js";

/** A kernel for batches. */
export interface BatchKernel {
  readonly file: "reservoir_batch" | "reservoir_batch_slices" | "reservoir_batch_fast" | "reservoir_batch_pair";
  readonly name: string;
  /**
   * Whether sums are those of portable arithmetic; else tensor cores make them of binary16
   * products.
   */
  readonly portable: boolean;
  /** Whether only multiprocessors of compute capability 9.0 have its instructions. */
  readonly hopper: boolean;
  /** Whether one launch makes all steps; else each step is a launch of its own. */
  readonly persistent: boolean;
  /** Whether a launch takes its first and its last step as arguments. */
  readonly ranged: boolean;
  /** How matrices lie in memory: the functions below. */
  readonly layout: "quads" | "slices" | "halves" | "swizzled";
  /** Tiles that a block has in work at a time. */
  readonly teams: number;
  /** Rows and sequences of a block's tile. */
  readonly rows: number;
  readonly sequences: number;
  /** Columns are padded to a multiple of this. */
  readonly columns: number;
  readonly threads: number;
}

/** A kernel for one model and number of sequences. */
export interface BatchPlan {
  readonly kernel: BatchKernel;
  readonly padded: number;
  readonly rowBlocks: number;
  readonly tiles: number;
  /** Blocks that share a row block's tiles. */
  readonly groups: number;
  /** Dynamic shared memory in bytes. */
  readonly shared: number;
  /** Chunks of states that a team of a block has under way, if the kernel takes their number. */
  readonly slots?: number | undefined;
  readonly microsecondsPerStep: number;
}

const quads = {
  ...({ file: "reservoir_batch", portable: true, hopper: false, ranged: true, layout: "quads" } as const),
  ...({ teams: 1, rows: 32, columns: 32, threads: 512 } as const),
};
const slices = { file: "reservoir_batch_slices", portable: true, hopper: true, persistent: true, ranged: false, layout: "slices" } as const;
const fast = { file: "reservoir_batch_fast", portable: false, hopper: false, persistent: true, ranged: false, layout: "halves" } as const;
const pair = { file: "reservoir_batch_pair", portable: false, hopper: true, persistent: true, ranged: false, layout: "swizzled" } as const;

/** Every batch kernel there is. */
export const batchKernels: readonly BatchKernel[] = [
  { ...quads, name: "reservoir_batch_16", persistent: true, sequences: 16 },
  { ...quads, name: "reservoir_batch_32", persistent: true, sequences: 32 },
  { ...quads, name: "reservoir_batch_step_16", persistent: false, sequences: 16 },
  { ...quads, name: "reservoir_batch_step_32", persistent: false, sequences: 32 },
  { ...slices, name: "reservoir_batch_slices", teams: 1, rows: 64, sequences: 64, columns: 256, threads: 384 },
  { ...fast, name: "reservoir_batch_fast_16", teams: 1, rows: 32, sequences: 16, columns: 256, threads: 256 },
  { ...fast, name: "reservoir_batch_fast_64", teams: 1, rows: 64, sequences: 64, columns: 128, threads: 512 },
  { ...fast, name: "reservoir_batch_fast_128", teams: 1, rows: 64, sequences: 128, columns: 64, threads: 512 },
  { ...pair, name: "reservoir_batch_pair", teams: 2, rows: 64, sequences: 64, columns: 128, threads: 320 },
];

/**
 * Chunks of columns under way in shared memory, and columns of all chunks of a portable kernel
 * together.
 */
const stages = 4;
const chunkColumns = 512;

/**
 * What a block of the paired tiles has in shared memory beside W and states, and what W loses to
 * its alignment.
 */
const pairStatic = 1024;
const pairAlignment = 1024;
const mostPairSlots = 3;

/** Slots of a team that fit beside W. */
function pairSlots({ rows, sequences, columns, teams }: BatchKernel, padded: number, limit: number): number {
  const available = limit - pairStatic - pairAlignment - 2 * rows * padded;
  return Math.min(mostPairSlots, Math.floor(available / (2 * teams * sequences * columns)));
}

/**
 * What a block of slices has in shared memory: two stages of sums that wait for others, 64 KiB
 * each, and six slots of 32 columns.
 */
const slicesBytes = 2 * 65536 + 6 * 4 * 32 * (64 + 64);

/** Bytes of dynamic shared memory that a block takes. */
function sharedBytes(
  { layout, persistent, rows, sequences, columns, teams }: BatchKernel,
  padded: number,
  slots: number | undefined,
): number {
  if (slots !== undefined) return pairAlignment + 2 * rows * padded + 2 * teams * slots * sequences * columns;
  if (layout === "slices") return slicesBytes;
  if (layout === "quads") return 4 * ((persistent ? rows * padded : 0) + chunkColumns * (sequences + (persistent ? 0 : rows)));
  return 2 * (rows * (padded + 8) + stages * sequences * (columns + 8));
}

/**
 * Microseconds of a round of fast tiles, one a team: of its own, and of each column. Measured on an
 * H200 (bench/results).
 */
const fastRounds: Readonly<Record<string, readonly [own: number, column: number]>> = {
  reservoir_batch_fast_16: [0.8, 0.0024],
  reservoir_batch_fast_64: [3.5, 0.005],
  reservoir_batch_fast_128: [6, 0.008],
  reservoir_batch_pair: [3.1, 0.0015],
};

/** What the second cache gives all blocks together, bytes in a microsecond. */
const cacheBytes = 6.3e6;

/** Microseconds of a step in which each of `blocks` blocks makes some tiles. */
function stepTime(
  { name, portable, layout, persistent, sequences, rows, teams }: BatchKernel,
  padded: number,
  blocks: number,
  tilesOfBlock: number,
  clock: number,
): number {
  if (!portable) {
    const [own, column] = fastRounds[name]!;
    const bytes = 2 * blocks * Math.min(teams, tilesOfBlock) * sequences * padded;
    return Math.ceil(tilesOfBlock / teams) * (own + column * padded + bytes / cacheBytes);
  }
  const cycles = (2 * rows * sequences * padded) / 128;
  if (layout === "slices") return 4 + tilesOfBlock * (2.5 + cycles / 0.75 / clock);
  return (persistent ? 1.7 : 3) + tilesOfBlock * (0.3 + cycles / (persistent ? 0.6 : 0.55) / clock);
}

/** What a plan is chosen from and for. */
export interface BatchChoice {
  /** Default all. */
  readonly kernels?: readonly BatchKernel[] | undefined;
  /**
   * Devices that have a share of the batch, each of so many sequences: one thread launches on all
   * of them, and the last begins when those before it have their launches. Default 1.
   */
  readonly devices?: number | undefined;
}

/**
 * The plan that is modelled as fastest, or undefined if no kernel takes the model.
 * `arithmetic: "fast"` and states in [-1, 1] allow the fast ones.
 */
export function planBatch(
  device: DeviceInfo,
  model: ReservoirModel,
  sequences: number,
  { kernels = batchKernels, devices = 1 }: BatchChoice = {},
): BatchPlan | undefined {
  const { config, size, precision, activation, weights } = model;
  if (precision !== "float32" || "rowOffsets" in weights || device.computeCapability[0] < 8) return undefined;
  if (config.arithmetic === "integer") return undefined;
  const bounded = activation === "tanh" || activation === "sigmoid";
  const allowFast = config.arithmetic === "fast" && bounded && model.initialState.every((x) => Math.abs(x) <= 1);
  const { multiprocessors, sharedBytesPerBlockOptIn, clockKilohertz } = device.attributes;
  const hopper = device.computeCapability.join(".") === "9.0";
  const plans = kernels.flatMap((kernel): BatchPlan[] => {
    if ((!kernel.portable && !allowFast) || (kernel.hopper && !hopper)) return [];
    const padded = Math.ceil(size / kernel.columns) * kernel.columns;
    const rowBlocks = Math.ceil(size / kernel.rows);
    const tiles = Math.ceil(sequences / kernel.sequences);
    const slots = kernel.teams > 1 ? pairSlots(kernel, padded, sharedBytesPerBlockOptIn) : undefined;
    const shared = sharedBytes(kernel, padded, slots);
    if ((slots ?? 2) < 2 || shared > sharedBytesPerBlockOptIn || (kernel.persistent && rowBlocks > multiprocessors)) return [];
    const groups = kernel.persistent ? Math.min(tiles, Math.floor(multiprocessors / rowBlocks)) : tiles;
    const tilesOfBlock = kernel.persistent ? Math.ceil(tiles / groups) : Math.ceil((tiles * rowBlocks) / multiprocessors);
    const launches = kernel.persistent ? 0 : (devices - 1) * callMicroseconds;
    const microsecondsPerStep = launches + stepTime(kernel, padded, rowBlocks * groups, tilesOfBlock, clockKilohertz / 1000);
    return [{ kernel, padded, rowBlocks, tiles, groups, shared, slots, microsecondsPerStep }];
  });
  const best = Math.min(...plans.map((plan) => plan.microsecondsPerStep));
  return plans.find((plan) => plan.microsecondsPerStep === best);
}

/**
 * Matrix rows, of which each begins `stride` numbers after the one before, as portable kernels read
 * them: quads of rows, [row / 4][column][row mod 4].
 */
export function packQuads(
  data: FloatArray,
  stride: number,
  rows: number,
  columns: number,
  paddedRows: number,
  padded: number,
): Float32Array {
  const out = new Float32Array(paddedRows * padded);
  for (let r = 0; r < rows; r++) {
    const base = Math.floor(r / 4) * padded * 4 + (r % 4);
    for (let k = 0; k < columns; k++) out[base + k * 4] = data[r * stride + k]!;
  }
  return out;
}

/**
 * Edge of a tile of slices, the teams that divide the partial sums among them, and a team's columns
 * in a slot.
 */
const tileEdge = 64;
const sliceTeams = 4;
const slotColumns = 8;

/**
 * Matrix rows as the kernels with slices read them: [tile of 64 rows][partial sum of the
 * team][slot] [team][column][row]. Team g has the partial sums l with l mod 4 = g of rule 1, and
 * makes them in the order in which the butterfly adds them: the bits of l / 4 reversed.
 */
export function packSlices(
  data: FloatArray,
  stride: number,
  rows: number,
  columns: number,
  paddedRows: number,
  padded: number,
): Float32Array {
  const out = new Float32Array(paddedRows * padded);
  const slots = padded / (32 * slotColumns);
  const turns = Uint8Array.of(0, 4, 2, 6, 1, 5, 3, 7);
  const positions = Uint32Array.from({ length: columns }, (_, k) => {
    const [partial, j] = [k % 32, Math.floor(k / 32)];
    const slot = turns[Math.floor(partial / sliceTeams)]! * slots + Math.floor(j / slotColumns);
    return ((slot * sliceTeams + (partial % sliceTeams)) * slotColumns + (j % slotColumns)) * tileEdge;
  });
  for (let r = 0; r < rows; r++) {
    const base = Math.floor(r / tileEdge) * tileEdge * padded + (r % tileEdge);
    for (let k = 0; k < columns; k++) out[base + positions[k]!] = data[r * stride + k]!;
  }
  return out;
}

/** Matrix rows as fast kernels read them: binary16, one row after the other. */
export function packHalves(
  data: FloatArray,
  stride: number,
  rows: number,
  columns: number,
  paddedRows: number,
  padded: number,
): Uint16Array {
  const out = new Uint16Array(paddedRows * padded);
  for (let r = 0; r < rows; r++) for (let k = 0; k < columns; k++) out[r * padded + k] = halfBits(data[r * stride + k]!);
  return out;
}

/** Edge of the blocks of `packSwizzled`. */
const edge = 64;

/**
 * Matrix rows as the tensor cores of a warp group read them from shared memory: binary16, blocks of
 * 64 x 64, [row block][column block], in which a row is 128 bytes wide and its eight pieces of 16
 * bytes stand at positions that the row's number turns (PTX ISA 9.0, "128-Byte swizzling mode").
 */
export function packSwizzled(
  data: FloatArray,
  stride: number,
  rows: number,
  columns: number,
  paddedRows: number,
  padded: number,
): Uint16Array {
  const out = new Uint16Array(paddedRows * padded);
  for (let r = 0; r < rows; r++)
    for (let k = 0; k < columns; k++) {
      const block = Math.floor(r / edge) * (padded / edge) + Math.floor(k / edge);
      const piece = Math.floor((k % edge) / 8) ^ (r % 8);
      out[(block * edge + (r % edge)) * edge + piece * 8 + (k % 8)] = halfBits(data[r * stride + k]!);
    }
  return out;
}

/** How each layout is made. */
export const packs = { quads: packQuads, slices: packSlices, halves: packHalves, swizzled: packSwizzled } as const;
