// The persistent family of time loops: a reservoir whose blocks stay on the chip for a whole chunk of steps. "cluster" for small dense reservoirs,
// "grid" for all that fit the multiprocessors of a device together.
import type { Context, DeviceInfo } from "../../../gpu/index.js";
import type { Matrix, SparseMatrix } from "../../../numerics/index.js";
import type { ReservoirModel } from "../../../reservoir/model.js";
import { abandonAll } from "../dispose.js";
import type { AnyBuffer } from "../kernels.js";
import type { ModelShape } from "../shape.js";
import type { TimeLoop, TimeLoopFamily, TimeLoopOptions, TimeLoopPlan } from "../time-loop.js";
import { PersistentLoop, type PersistentMemory } from "./loop.js";
import { longestRow, packDense, packSparse } from "./pack.js";
import {
  type DenseFit,
  denseEntry,
  denseVariants,
  fitDense,
  fitSparse,
  groupSize,
  type SparseFit,
  sparseEntry,
  sparseVariants,
  unitEntries,
} from "./shapes.js";

/** Rows may differ in length until padding them all to the longest makes W this many times larger. */
const mostPadding = 1.75;

function denseMemory(context: Context, model: ReservoirModel, fit: DenseFit): PersistentMemory {
  const { plan } = fit.variant;
  const packed = packDense(model.weights as Matrix, fit) as Float32Array<ArrayBuffer>;
  const weights = context.upload(packed, { label: "W" }) as unknown as AnyBuffer;
  if (plan === "cluster") return { leading: [weights], trailing: [fit.groups, fit.shared] };
  return withPlaces(context, [weights], fit.placeBytes, [fit.groups, fit.shared, fit.streamed, fit.copies, fit.buffers]);
}

function sparseMemory(context: Context, model: ReservoirModel, fit: SparseFit): PersistentMemory {
  const entries = context.upload(packSparse(model.weights as SparseMatrix, fit) as Uint32Array<ArrayBuffer>, { label: "W" });
  return withPlaces(context, [entries], fit.placeBytes, [fit.count, fit.held, fit.shared, fit.streamed, fit.copies]);
}

function withPlaces(context: Context, leading: readonly AnyBuffer[], bytes: number, trailing: readonly number[]): PersistentMemory {
  try {
    const places = context.zeros("u64", Math.ceil(bytes / 8), { label: "exchanged states" });
    return { leading: [...leading, places], trailing, places };
  } catch (error) {
    abandonAll(leading);
    throw error;
  }
}

function openDense(context: Context, model: ReservoirModel, fit: DenseFit, options: TimeLoopOptions): TimeLoop | undefined {
  const { blocks, sharedBytes: shared, variant } = fit;
  const { plan, warps } = variant;
  const cluster = plan === "cluster";
  return PersistentLoop.open(
    context,
    model,
    {
      name: plan,
      file: `reservoir_${plan}`,
      entry: denseEntry(variant),
      leading: cluster ? ["const real*"] : ["const real*", "u64*"],
      trailing: cluster ? ["i32", "i32"] : ["i32", "i32", "i32", "i32", "i32"],
      config: { grid: blocks, block: warps * 32, shared, ...(cluster ? { cluster: blocks } : { cooperative: true }) },
      details: describeDense(fit),
      closed: variant.closed,
    },
    () => denseMemory(context, model, fit),
    options.spinLimit,
  );
}

function openSparse(context: Context, model: ReservoirModel, planned: SparseFit, options: TimeLoopOptions): TimeLoop | undefined {
  const weights = model.weights as SparseMatrix;
  const longest = longestRow(weights);
  const units = planned.held + planned.shared + planned.streamed;
  const fits = sparseFits(model.precision, model.size, longest, context.info);
  const fit = Math.ceil(longest / unitEntries) === units ? planned : (fits.find(({ variant }) => variant === planned.variant) ?? fits[0]);
  if (!fit || longest * model.size > mostPadding * weights.values.length + 64 * model.size) return undefined;
  const { blocks, sharedBytes: shared, variant } = fit;
  return PersistentLoop.open(
    context,
    model,
    {
      name: "grid",
      file: "reservoir_sparse",
      entry: sparseEntry(variant),
      leading: ["const u32*", "u64*"],
      trailing: ["i32", "i32", "i32", "i32", "i32"],
      config: { grid: blocks, block: variant.warps * 32, shared, cooperative: true },
      details: describeSparse(fit),
      closed: variant.closed,
    },
    () => sparseMemory(context, model, fit),
    options.spinLimit,
  );
}

function describeDense(fit: DenseFit): TimeLoopPlan["details"] {
  const { variant, blocks, groups, shared, streamed, sharedBytes } = fit;
  const columns = (count: number): number => count * groupSize;
  return {
    ...{ kernel: denseEntry(variant), blocks, threads: variant.warps * 32, rowsPerWarp: variant.rows, sharedBytes },
    ...{
      columnsInRegisters: columns(Math.min(groups, variant.held)),
      columnsInShared: columns(shared),
      columnsStreamed: columns(streamed),
    },
  };
}

function describeSparse(fit: SparseFit): TimeLoopPlan["details"] {
  const { variant, blocks, held, shared, streamed, sharedBytes } = fit;
  return {
    ...{ kernel: sparseEntry(variant), blocks, threads: variant.warps * 32, sharedBytes },
    ...{ entriesInRegisters: 64 * held, entriesInShared: 64 * shared, entriesStreamed: 64 * streamed },
  };
}

function sparseFits(precision: ModelShape["precision"], size: number, longest: number, device: DeviceInfo): SparseFit[] {
  return sparseVariants
    .filter((variant) => variant.precision === precision)
    .flatMap((variant) => fitSparse(variant, size, longest, device) ?? [])
    .sort((a, b) => a.microsecondsPerStep - b.microsecondsPerStep);
}

/** The longest row of a random matrix, near enough: the mean and four standard deviations of a Poisson distribution. */
const likelyLongest = ({ nonzeros, size }: ModelShape): number => {
  const mean = nonzeros / size;
  return Math.min(size, Math.ceil(mean + 4 * Math.sqrt(mean)));
};

/** The plan that runs a dense reservoir as it fits a variant. */
export function densePlan(fit: DenseFit): TimeLoopPlan {
  return {
    name: fit.variant.plan,
    details: describeDense(fit),
    bytes: fit.weightBytes + fit.placeBytes,
    microsecondsPerStep: fit.microsecondsPerStep,
    open: (context, model, options) => openDense(context, model, fit, options),
  };
}

/** The plan that runs a sparse reservoir as it fits a variant, or as its longest row has it. */
export function sparsePlan(fit: SparseFit): TimeLoopPlan {
  return {
    name: "grid",
    details: describeSparse(fit),
    bytes: fit.weightBytes + fit.placeBytes,
    microsecondsPerStep: fit.microsecondsPerStep,
    open: (context, model, options) => openSparse(context, model, fit, options),
  };
}

function plans(shape: ModelShape, device: DeviceInfo, _options: TimeLoopOptions): readonly TimeLoopPlan[] {
  if (shape.storage === "sparse") return sparseFits(shape.precision, shape.size, likelyLongest(shape), device).map(sparsePlan);
  return denseVariants
    .filter(({ precision }) => precision === shape.precision)
    .flatMap((variant) => fitDense(variant, shape.size, device) ?? [])
    .map(densePlan);
}

export const persistentLoops: TimeLoopFamily = { names: ["cluster", "grid"], plans };
