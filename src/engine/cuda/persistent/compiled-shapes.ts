// Shapes of persistent kernels that are made for a model: which rows, warps and columns in
// registers suit N neurons on a device. Only arithmetic, as in shapes.ts.
import type { DeviceInfo } from "@spillway/gpu";
import type { ModelShape } from "../shape.js";
import {
  clockMegahertz,
  type DenseFit,
  type DenseVariant,
  denseStreaming,
  fitDense,
  fitSparse,
  groupSize,
  type SparseFit,
  tileGroups,
  unitEntries,
  unpacking,
} from "./shapes.js";

/**
 * Registers of a thread in a block of so many warps, which four schedulers share out: 16,384 each.
 */
function registersOf(warps: number): number {
  const each = Math.floor(16_384 / Math.ceil(warps / 4) / 32);
  return Math.min(255, each - (each % 8));
}

/** Where columns lie beside registers. */
type Beyond = "nowhere" | "shared" | "streamed";

/**
 * Registers of a thread beside those for W, as ptxas 13 counts them for the shipped shapes: more
 * for each row, and for columns under way from elsewhere.
 */
function otherRegisters(plan: "cluster" | "grid", rows: number, beyond: Beyond, wide: number, fast: boolean): number {
  const least = plan === "cluster" || beyond === "streamed" ? 56 : beyond === "nowhere" ? 64 : 60;
  const underWay = { nowhere: 0, shared: 4, streamed: 12 }[beyond];
  return least + underWay * rows * wide + (fast ? 3 * rows * wide : 0);
}

/** Registers that may be missing for the first group of columns, and spill. */
const mostSpilled = 24;

/**
 * How much faster a step of fast arithmetic is, measured on an H200
 * (docs/internals/one-reservoir.md).
 */
const factorOf = (arithmetic: ModelShape["arithmetic"]): number => (arithmetic === "fast" ? 0.92 : 1);

/**
 * Microseconds for which warps wait that do not share four schedulers evenly, and of a further
 * round of asking for states.
 */
const unevenWarps = 0.1;
const furtherRound = 0.35;

/**
 * Microseconds for which a step waits longer as its states cross to other devices: measured on H200s
 * with NVLink between all of them (bench/results/gpu-sharded-2026-11-27.md).
 */
const crossing = (devices: number): number => (devices > 1 ? 0.4 + 0.2 * (32 - Math.clz32(devices - 1)) : 0);

/**
 * Microseconds of a step by a kernel that knows its layout, fitted to 132 shapes on an H200 (9 %
 * root mean square): sums wait for one another more than for their instructions, and what counts
 * most is reading x and W from shared memory. Weights from elsewhere do not wait for states.
 */
function denseMicroseconds(fit: DenseFit, device: DeviceInfo): number {
  const { variant, groups, shared, streamed, devices } = fit;
  const { plan, precision, weights: form, rows, held, warps } = variant;
  const wide = precision === "float64" ? 2 : 1;
  const stored = (held + shared + streamed) * tileGroups(variant);
  const each = form === "bfloat16" ? 8 * unpacking : 8;
  const products = Math.max(Math.ceil(warps / 4) * rows * stored * each * wide, stored * 16);
  const states = warps * stored * 4 * wide;
  const weights = rows * warps * shared * 4 * wide;
  const microseconds = (cycles: number) => cycles / clockMegahertz(device);
  if (plan === "cluster") {
    const intake = (groups * groupSize * wide) / 1.2;
    const waits = 0.29 + (rows === 8 ? 0.03 : 0) + (warps % 4 === 0 ? 0 : 0.02);
    return waits + microseconds(1.6 * rows * warps * stored * wide + states + weights + intake);
  }
  const quads = Math.ceil((groups * 32) / (warps * 32));
  const elsewhere = shared + streamed > 0 ? 0.1 : 0;
  const waits = 0.92 + elsewhere + 0.03 * quads + furtherRound * (Math.ceil(quads / 4) - 1) + (warps % 4 === 0 ? 0 : unevenWarps);
  const sums = microseconds(0.3 * products + 1.3 * states + 0.9 * weights);
  const streaming = denseStreaming(fit, device).microseconds;
  return waits + Math.max(crossing(devices) + sums + 0.35 * streaming, streaming);
}

/** The same of a sparse one: an octet's sums wait for what they gather. */
function sparseMicroseconds(fit: SparseFit): number {
  const { variant, held, shared, streamed, count, devices, microsecondsPerStep } = fit;
  const { rounds, warps, mixed, precision } = variant;
  const wide = precision === "float64" ? 2 : 1;
  if (shared + streamed > 0) return crossing(devices) + microsecondsPerStep - 0.07;
  const asked = Math.ceil(count / 4 / (warps * 32) / (mixed ? 4 : 2));
  const cycles = held * 8 * warps * rounds * 4 * wide;
  return (
    crossing(devices) + 0.9 + (count * wide) / 10_000 + (0.2 * cycles) / 1980 + furtherRound * (asked - 1) + (warps % 4 === 0 ? 0 : 0.04)
  );
}

const rowsOfWarp = [1, 2, 4, 8] as const;
/**
 * If W is streamed, all rows that a block can have count, since then more of it lies on the chip.
 */
const anyRows = [1, 2, 3, 4, 5, 6, 7, 8] as const;
const mostWarps = 16;

/** What a shape is made for. */
export type SizeOfModel = Pick<ModelShape, "size" | "precision" | "weightPrecision" | "arithmetic">;

/**
 * Dense fits of every shape that NVRTC can compile for N neurons, the fastest first. Of several
 * equal devices, those of the grid.
 */
export function compiledDenseFits(
  { size, precision, weightPrecision, arithmetic }: SizeOfModel,
  device: DeviceInfo,
  devices = 1,
): DenseFit[] {
  const wide = precision === "float64" ? 2 : 1;
  const groups = Math.ceil(size / groupSize);
  const weights: DenseVariant["weights"] = weightPrecision === "bfloat16" && precision === "float32" ? "bfloat16" : "full";
  const tiles = weights === "bfloat16" ? Math.ceil(groups / 2) : groups;
  const fits = anyRows.flatMap((rows) =>
    Array.from({ length: mostWarps }, (_, index) => index + 1).flatMap((warps) =>
      (["cluster", "grid"] as const).flatMap((plan): DenseFit[] => {
        const cluster = plan === "cluster";
        const even = (rows & (rows - 1)) === 0;
        if (cluster && (devices > 1 || rows < 4 || !even || weights !== "full")) return [];
        const lying = (beyond: Beyond): DenseFit | undefined => {
          const registers = registersOf(warps) - otherRegisters(plan, rows, beyond, wide, arithmetic === "fast");
          const first = beyond === "streamed" && registers >= 4 * rows * wide - mostSpilled ? 1 : 0;
          const held = Math.min(tiles, Math.max(first, Math.floor(registers / (4 * rows * wide))));
          if (held < 1 || (beyond === "nowhere" && held < tiles)) return undefined;
          const variant = {
            plan,
            precision,
            weights,
            rows,
            held,
            warps,
            mixed: cluster || beyond !== "nowhere",
            closed: true,
          };
          const found = fitDense(variant, size, device, devices);
          return beyond === "shared" && found && found.streamed > 0 ? undefined : found;
        };
        const kept = lying("nowhere") ?? lying("shared") ?? lying("streamed");
        if (!kept || (!even && kept.streamed === 0)) return [];
        return [{ ...kept, microsecondsPerStep: denseMicroseconds(kept, device) * factorOf(arithmetic) }];
      }),
    ),
  );
  return byTime(fits);
}

/** Sparse fits likewise, for rows of at most `longest` entries. */
export function compiledSparseFits(
  { size, precision, arithmetic }: Omit<SizeOfModel, "weightPrecision">,
  longest: number,
  device: DeviceInfo,
  devices = 1,
): SparseFit[] {
  const wide = precision === "float64" ? 2 : 1;
  const units = Math.max(1, Math.ceil(longest / unitEntries));
  const shapes = rowsOfWarp.flatMap((rounds) =>
    Array.from({ length: mostWarps }, (_, index) => index + 1).flatMap((warps) => {
      // A unit is eight values and eight columns.
      const unit = 8 * wide + 4;
      const unitsInRegisters = (mixed: boolean) =>
        Math.floor(
          (registersOf(warps) - otherRegisters("grid", rounds, "nowhere", wide, arithmetic === "fast") - (mixed ? unit : 0)) /
            (rounds * unit),
        );
      const whole = unitsInRegisters(false) >= units;
      const held = Math.min(units, whole ? units : unitsInRegisters(true));
      return held < 1 ? [] : [{ precision, rounds, held, warps, mixed: !whole, closed: true }];
    }),
  );
  const fits = shapes.flatMap((variant) => fitSparse(variant, size, longest, device, devices) ?? []);
  return byTime(fits.map((fit) => ({ ...fit, microsecondsPerStep: sparseMicroseconds(fit) * factorOf(arithmetic) })));
}

function byTime<F extends { readonly microsecondsPerStep: number }>(fits: F[]): F[] {
  return fits.sort((a, b) => a.microsecondsPerStep - b.microsecondsPerStep);
}
