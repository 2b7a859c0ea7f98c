// The persistent family of time loops: a reservoir whose blocks stay on the chip for a whole chunk
// of steps. "cluster" for small dense reservoirs, "grid" for all that fit the multiprocessors of a
// device together; by kernels that are shipped, or compiled for the model if those fit it badly.
import type { Context, DeviceInfo } from "@spillway/gpu";
import { storedValues } from "@spillway/numerics";
import type { ReservoirModel } from "../../../reservoir/model.js";
import type { ModelShape } from "../shape.js";
import type { TimeLoop, TimeLoopFamily, TimeLoopOptions, TimeLoopPlan } from "../time-loop.js";
import { compiledDenseFits, compiledSparseFits } from "./compiled-shapes.js";
import { canPack, drawnInPlace, longestOf, sparseOf } from "./device-weights.js";
import { type AnyFit, describeFit, entryOfFit, isDense, type LoopParts, type Made, partsOfFit } from "./fit-kernels.js";
import { noteFailure } from "./kernel-code.js";
import { PersistentLoop } from "./loop.js";
import { type DenseVariant, denseVariants, fitDense, fitSparse, runsOn, type SparseFit, sparseVariants, unitEntries } from "./shapes.js";
import { describeSorted, packSorted, sortedFits, sortedParts } from "./sorted.js";
import { type SortedFit, sortedEntry } from "./sorted-shapes.js";

/**
 * Rows may differ in length until padding them all to the longest makes W this many times larger.
 */
const mostPadding = 1.75;

/**
 * If no shipped kernel suits a reservoir, one is worth its making whose step is modelled to take
 * no more than this of a shipped one's, and so many microseconds less.
 */
const worthMaking = { share: 0.9, less: 0.06 };

/** Fits that are offered of one maker: the first may turn out not to be possible. */
const offered = 3;

const shippedPortable: Made = { source: "shipped", arithmetic: "portable" };

async function open(
  context: Context,
  model: ReservoirModel,
  { arithmetic }: Made,
  options: TimeLoopOptions,
  make: () => LoopParts,
): Promise<TimeLoop | undefined> {
  // Asked for by name, a source is not silently another.
  const mayPass = options.kernelSource === undefined || options.kernelSource === "auto";
  const begun = performance.now();
  const { kernel, memory } = make();
  try {
    const drawn = drawnInPlace(model) ? { drawn: "on the device" } : {};
    const described = { ...kernel, details: { arithmetic, ...kernel.details, ...drawn } };
    return await PersistentLoop.open(context, model, described, () => memory(context, model), options.spinLimit, begun);
  } catch (error) {
    if (mayPass && noteFailure(context, kernel.code, error)) return undefined;
    throw error;
  }
}

async function openSparse(context: Context, model: ReservoirModel, planned: SparseFit, made: Made, options: TimeLoopOptions) {
  const { source, arithmetic } = made;
  const longest = longestOf(context, model);
  const nonzeros = model.draws?.nonzeros ?? storedValues(model.weights);
  const units = planned.held + planned.shared + planned.streamed;
  const shape = { size: model.size, precision: model.precision, arithmetic };
  const fits = source === "shipped" ? shippedSparseFits(shape, longest, context.info) : compiledSparseFits(shape, longest, context.info);
  const fit = Math.ceil(longest / unitEntries) === units ? planned : (fits.find(({ variant }) => variant === planned.variant) ?? fits[0]);
  if (!fit || longest * model.size > mostPadding * nonzeros + 64 * model.size) return undefined;
  return open(context, model, made, options, () => partsOfFit(fit, model, made));
}

function shippedSparseFits({ precision, size }: Pick<ModelShape, "size" | "precision">, longest: number, device: DeviceInfo): SparseFit[] {
  return sparseVariants
    .filter((variant) => variant.precision === precision)
    .flatMap((variant) => fitSparse(variant, size, longest, device) ?? [])
    .sort((a, b) => a.microsecondsPerStep - b.microsecondsPerStep);
}

/**
 * The longest row of a random matrix, near enough: the mean and four standard deviations of a
 * Poisson distribution.
 */
export const likelyLongest = ({ nonzeros, size }: ModelShape): number => {
  const mean = nonzeros / size;
  return Math.min(size, Math.ceil(mean + 4 * Math.sqrt(mean)));
};

/** The plan that runs a reservoir as it fits a variant, a sparse one as its longest row has it. */
export function fitPlan(fit: AnyFit, made: Made = shippedPortable): TimeLoopPlan {
  const { source, arithmetic } = made;
  return {
    ...{ name: isDense(fit) ? fit.variant.plan : "grid", kernelSource: source, arithmetic },
    details: { kernel: entryOfFit(fit, made), kernelSource: source, arithmetic, ...describeFit(fit) },
    bytes: fit.weightBytes + fit.slotBytes,
    microsecondsPerStep: fit.microsecondsPerStep,
    open: (context, model, options) =>
      isDense(fit)
        ? open(context, model, made, options, () => partsOfFit(fit, model, made))
        : openSparse(context, model, fit, made, options),
  };
}

/** The plan that runs a sparse reservoir with its rows sorted by length, as it fits a variant. */
export function sortedPlan(fit: SortedFit): TimeLoopPlan {
  const { source, arithmetic } = shippedPortable;
  return {
    ...{ name: "grid", kernelSource: source, arithmetic },
    details: { kernel: sortedEntry(fit.variant), kernelSource: source, arithmetic, ...describeSorted(fit) },
    bytes: fit.weightBytes + fit.slotBytes,
    microsecondsPerStep: fit.microsecondsPerStep,
    open: async (context, model, options) => {
      const packed = packSorted(await sparseOf(context, model), fit, mostPadding * fit.unitsOfBlock + 4);
      return packed && open(context, model, shippedPortable, options, () => sortedParts(fit, packed));
    },
  };
}

interface ShippedPlan {
  readonly plan: TimeLoopPlan;
  /** Whether W lies in registers altogether, and in a dense kernel takes all that it has. */
  readonly suits: boolean;
}

const suits = ({ precision, weights }: DenseVariant, shape: ModelShape): boolean =>
  precision === shape.precision && (weights === "full" || weights === shape.weightPrecision);

/** Plans by shipped kernels, the fastest first. */
function shippedPlans(shape: ModelShape, device: DeviceInfo): ShippedPlan[] {
  if (shape.storage === "sparse") {
    const inOrder = shippedSparseFits(shape, likelyLongest(shape), device).map((fit) => ({
      ...{ plan: fitPlan(fit), suits: !fit.variant.mixed },
    }));
    const sorted = sortedFits(shape, device).map((fit) => ({ plan: sortedPlan(fit), suits: false }));
    return [...inOrder, ...sorted].sort((a, b) => a.plan.microsecondsPerStep - b.plan.microsecondsPerStep);
  }
  return denseVariants
    .filter((variant) => runsOn(variant, device) && suits(variant, shape))
    .flatMap((variant) => fitDense(variant, shape.size, device) ?? [])
    .sort((a, b) => a.microsecondsPerStep - b.microsecondsPerStep)
    .map((fit) => ({ plan: fitPlan(fit), suits: fit.groups === fit.variant.held }));
}

/** Plans by kernels that NVRTC compiles, the fastest first: a few of each name. */
function compiledPlans(shape: ModelShape, device: DeviceInfo): TimeLoopPlan[] {
  const made = { source: "nvrtc", arithmetic: shape.arithmetic } as const;
  const found =
    shape.storage === "sparse"
      ? compiledSparseFits(shape, likelyLongest(shape), device).map((fit) => fitPlan(fit, made))
      : compiledDenseFits(shape, device).map((fit) => fitPlan(fit, made));
  return persistentLoops.names.flatMap((name) => found.filter((plan) => plan.name === name).slice(0, offered));
}

function plans(shape: ModelShape, device: DeviceInfo, options: TimeLoopOptions): readonly TimeLoopPlan[] {
  if (!canPack(shape)) return [];
  const { kernelSource: asked = "auto", whyNoCompiler } = options;
  const shipped = asked === "auto" || asked === "shipped" ? shippedPlans(shape, device) : [];
  const [best] = shipped;
  const free = shape.arithmetic === "fast";
  const time = best?.plan.microsecondsPerStep ?? Number.POSITIVE_INFINITY;
  const limit = asked !== "auto" || free ? Number.POSITIVE_INFINITY : Math.min(worthMaking.share * time, time - worthMaking.less);
  const compiles = asked === "nvrtc" || (asked === "auto" && (free || !best?.suits));
  const worth = compiles ? compiledPlans(shape, device).filter((plan) => plan.microsecondsPerStep <= limit) : [];
  const compiled = worth.length > 0 && whyNoCompiler?.() !== undefined ? [] : worth;
  return [...compiled, ...shipped.map(({ plan }) => plan)];
}

export const persistentLoops: TimeLoopFamily = { names: ["cluster", "grid"], plans };
