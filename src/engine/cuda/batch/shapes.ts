// Which dense batch kernel suits a model and a number of sequences, and how its launch and its weights look. Sizes are those of
// kernels/reservoir_batch*.cu.
import { type DeviceInfo, halfBits } from "../../../gpu/index.js";
import type { ReservoirModel } from "../../../reservoir/model.js";

/** A kernel for batches. */
export interface BatchKernel {
  readonly file: "reservoir_batch" | "reservoir_batch_fast";
  readonly name: string;
  /** Whether sums are those of portable arithmetic; else tensor cores make them of binary16 products. */
  readonly portable: boolean;
  /** Whether W stays in shared memory for all steps; else each step is a launch of its own. */
  readonly resident: boolean;
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
  readonly microsecondsPerStep: number;
}

const portable = { file: "reservoir_batch", portable: true, rows: 32, columns: 32, threads: 512 } as const;
const fast = { file: "reservoir_batch_fast", portable: false, resident: true } as const;

/** Every batch kernel there is. */
export const batchKernels: readonly BatchKernel[] = [
  { ...portable, name: "reservoir_batch_16", resident: true, sequences: 16 },
  { ...portable, name: "reservoir_batch_32", resident: true, sequences: 32 },
  { ...portable, name: "reservoir_batch_step_16", resident: false, sequences: 16 },
  { ...portable, name: "reservoir_batch_step_32", resident: false, sequences: 32 },
  { ...fast, name: "reservoir_batch_fast_16", rows: 32, sequences: 16, columns: 256, threads: 256 },
  { ...fast, name: "reservoir_batch_fast_64", rows: 64, sequences: 64, columns: 128, threads: 512 },
  { ...fast, name: "reservoir_batch_fast_128", rows: 64, sequences: 128, columns: 64, threads: 512 },
];

/** Chunks of columns under way in shared memory, and columns of all chunks of a portable kernel together. */
const stages = 4;
const chunkColumns = 512;

/** Bytes of shared memory that a block takes. */
function sharedBytes({ portable, resident, rows, sequences, columns }: BatchKernel, padded: number): number {
  if (portable) return 4 * ((resident ? rows * padded : 0) + chunkColumns * (sequences + (resident ? 0 : rows)));
  return 2 * (rows * (padded + 8) + stages * sequences * (columns + 8));
}

/** Microseconds of a fast tile: of its own, and of each column. Measured on an H200 (bench/results). */
const fastTiles: Readonly<Record<number, readonly [own: number, column: number]>> = {
  16: [0.8, 0.0024],
  64: [3.5, 0.005],
  128: [6, 0.008],
};

/** What the second cache gives all blocks together, bytes in a microsecond. */
const cacheBytes = 6.3e6;

/** Microseconds of a step of which each of `blocks` blocks makes some tiles. */
function stepTime(
  { portable, resident, sequences, rows }: BatchKernel,
  padded: number,
  blocks: number,
  tilesOfBlock: number,
  clock: number,
) {
  if (!portable) {
    const [own, column] = fastTiles[sequences]!;
    return tilesOfBlock * (own + column * padded + (2 * blocks * sequences * padded) / cacheBytes);
  }
  const cycles = (2 * rows * sequences * padded) / 128;
  return (resident ? 1.7 : 3) + tilesOfBlock * (0.3 + cycles / (resident ? 0.6 : 0.55) / clock);
}

/** The plan that is modelled as fastest, or undefined where no kernel takes the model. `arithmetic: "fast"` and states in [-1, 1] allow the fast ones. */
export function planBatch(
  device: DeviceInfo,
  model: ReservoirModel,
  sequences: number,
  kernels: readonly BatchKernel[] = batchKernels,
): BatchPlan | undefined {
  const { config, size, precision, activation, weights } = model;
  if (precision !== "float32" || "rowOffsets" in weights || device.computeCapability[0] < 8) return undefined;
  const bounded = activation === "tanh" || activation === "sigmoid";
  const allowFast = config.arithmetic === "fast" && bounded && model.initialState.every((x) => Math.abs(x) <= 1);
  const { multiprocessors, sharedBytesPerBlockOptIn, clockKilohertz } = device.attributes;
  const plans = kernels.flatMap((kernel): BatchPlan[] => {
    if (!kernel.portable && !allowFast) return [];
    const padded = Math.ceil(size / kernel.columns) * kernel.columns;
    const rowBlocks = Math.ceil(size / kernel.rows);
    const tiles = Math.ceil(sequences / kernel.sequences);
    const shared = sharedBytes(kernel, padded);
    if (shared > sharedBytesPerBlockOptIn || (kernel.resident && rowBlocks > multiprocessors)) return [];
    const groups = kernel.resident ? Math.min(tiles, Math.floor(multiprocessors / rowBlocks)) : tiles;
    const tilesOfBlock = kernel.resident ? Math.ceil(tiles / groups) : Math.ceil((tiles * rowBlocks) / multiprocessors);
    const microsecondsPerStep = stepTime(kernel, padded, rowBlocks * groups, tilesOfBlock, clockKilohertz / 1000);
    return [{ kernel, padded, rowBlocks, tiles, groups, shared, microsecondsPerStep }];
  });
  const best = Math.min(...plans.map((plan) => plan.microsecondsPerStep));
  return plans.find((plan) => plan.microsecondsPerStep === best);
}

/** Matrix rows as portable kernels read them: quads of rows, [row / 4][column][row mod 4]. */
export function packQuads(
  rows: number,
  columns: number,
  value: (row: number, column: number) => number,
  paddedRows: number,
  padded: number,
) {
  const out = new Float32Array(paddedRows * padded);
  for (let r = 0; r < rows; r++) {
    const base = Math.floor(r / 4) * padded * 4 + (r % 4);
    for (let k = 0; k < columns; k++) out[base + k * 4] = value(r, k);
  }
  return out;
}

/** Matrix rows as fast kernels read them: binary16, one row after the other. */
export function packHalves(
  rows: number,
  columns: number,
  value: (row: number, column: number) => number,
  paddedRows: number,
  padded: number,
) {
  const out = new Uint16Array(paddedRows * padded);
  for (let r = 0; r < rows; r++) for (let k = 0; k < columns; k++) out[r * padded + k] = halfBits(value(r, k));
  return out;
}
