// A reservoir as it fits a variant of the persistent kernels: which kernel runs it, from each
// source, and W as that wants it.
import { Making } from "@spillway/core/disposal.js";
import type { Context, Stream } from "@spillway/gpu";
import type { ReservoirModel } from "../../../reservoir/model.js";
import { activationNumber } from "../activation.js";
import type { AnyBuffer, RealParameter } from "../kernels.js";
import type { ModelShape } from "../shape.js";
import type { TimeLoopPlan } from "../time-loop.js";
import { loadDense, loadSparse, onceReady } from "./device-weights.js";
import { compiledCode, type KernelCode, type KernelSource, type NamedParameters, shippedCode } from "./kernel-code.js";
import { type PersistentKernel, type PersistentMemory, stepParameters } from "./loop.js";
import {
  type DenseFit,
  denseEntry,
  foursAtOnce,
  groupSize,
  type SparseFit,
  shippedIn,
  sparseEntry,
  tileGroups,
  unitEntries,
} from "./shapes.js";

export type Arithmetic = ModelShape["arithmetic"];

/** Where a kernel comes from, and how it reckons. */
export interface Made {
  readonly source: KernelSource;
  readonly arithmetic: Arithmetic;
}

/** A kernel, and the memory that it wants beside that of the steps. */
export interface LoopParts {
  readonly kernel: PersistentKernel;
  readonly memory: (context: Context, model: ReservoirModel) => PersistentMemory;
}

/** A fit of either storage. */
export type AnyFit = DenseFit | SparseFit;

export const isDense = (fit: AnyFit): fit is DenseFit => "groups" in fit;

/** What a fit's kernel is and takes, whichever its source. */
export interface FitKernel {
  readonly plan: "cluster" | "grid";
  /** The name of a shipped kernel of its sizes, and the file that it would be in. */
  readonly entry: string;
  readonly shippedIn: string;
  /** The source that it is compiled from, what its macros begin with, and those of its shape. */
  readonly file: string;
  readonly prefix: string;
  readonly shape: Readonly<Record<string, number | boolean | string>>;
  /** The argument that W is, and its type. */
  readonly weights: readonly [name: "weights" | "entries", type: RealParameter];
  /** How W and the states lie, in the order of the kernel's parameters. */
  readonly layout: Readonly<Record<string, number>>;
  /** Neurons whose values a block makes, in the order of the slots. */
  readonly rowsOfBlock: number;
  /** W of the blocks from `from` up to `to`, once the stream has come this far; left out, all. */
  load(context: Context, stream: Stream, model: ReservoirModel, from?: number, to?: number): AnyBuffer;
}

function denseKernel(fit: DenseFit): FitKernel {
  const { variant, groups, shared, streamed, kept, copies, buffers } = fit;
  const { plan, precision, weights, rows, held, warps, mixed } = variant;
  const halves = weights === "bfloat16";
  const weight = halves ? "packing::bfloat16" : precision === "float32" ? "float" : "double";
  const stored = { MIXED: mixed, WEIGHT: weight, BATCH: foursAtOnce(fit) };
  return {
    ...{ plan, entry: denseEntry(variant), shippedIn: shippedIn(variant), file: `reservoir_${plan}`, prefix: plan.toUpperCase() },
    shape: { ROWS: rows, HELD: held, WARPS: warps, ...(plan === "grid" ? stored : {}) },
    weights: ["weights", halves ? "const u16*" : "const real*"],
    layout: plan === "cluster" ? { groups, shared } : { groups, shared, streamed, kept, copies, buffers },
    rowsOfBlock: rows * warps,
    load: (context, stream, model, from, to) => loadDense(context, stream, model, fit, from, to),
  };
}

function sparseKernel(fit: SparseFit): FitKernel {
  const { variant, count, held, shared, streamed, copies } = fit;
  const { rounds, warps, mixed } = variant;
  return {
    ...{ plan: "grid", entry: sparseEntry(variant), shippedIn: "reservoir_sparse", file: "reservoir_sparse", prefix: "SPARSE" },
    shape: { ROUNDS: rounds, HELD: variant.held, WARPS: warps, MIXED: mixed },
    weights: ["entries", "const u32*"],
    layout: { count, held, shared, streamed, copies },
    rowsOfBlock: 4 * rounds * warps,
    load: (context, stream, model, from, to) => loadSparse(context, stream, model, fit, from, to),
  };
}

export const kernelOfFit = (fit: AnyFit): FitKernel => (isDense(fit) ? denseKernel(fit) : sparseKernel(fit));

/**
 * What a variant is called where it is made: as a shipped one of its sizes, and fast if its
 * arithmetic is.
 */
export const compiledEntry = (entry: string, arithmetic: Arithmetic): string => (arithmetic === "fast" ? `${entry}_fast` : entry);

/** The name that a kernel will have. */
export const entryOfFit = (fit: AnyFit, { arithmetic }: Made): string => compiledEntry(kernelOfFit(fit).entry, arithmetic);

export function describeFit(fit: AnyFit): TimeLoopPlan["details"] {
  const { blocks, shared, streamed, sharedBytes } = fit;
  const threads = fit.variant.warps * 32;
  if (!isDense(fit)) {
    const lying = { entriesInRegisters: unitEntries * fit.held, entriesInShared: unitEntries * shared };
    return { ...{ blocks, threads, sharedBytes }, ...lying, entriesStreamed: unitEntries * streamed };
  }
  const columns = (count: number): number => count * tileGroups(fit.variant) * groupSize;
  return {
    ...{ blocks, threads, rowsPerWarp: fit.variant.rows, sharedBytes },
    columnsInRegisters: Math.min(fit.groups * groupSize, columns(fit.variant.held)),
    ...{ columnsInShared: columns(shared), columnsStreamed: columns(streamed) },
  };
}

/** The parameters of a fit's kernel. */
export function parametersOf({ plan, weights: [name, type], layout }: FitKernel): NamedParameters {
  const numbers = Object.keys(layout).map((field) => [field, field === "kept" ? "u32" : "i32"] as const);
  return {
    ...{ [name]: type, ...(plan === "grid" ? ({ slots: "u64*" } as const) : {}) },
    ...{ ...stepParameters, ...Object.fromEntries(numbers), spinLimit: "i64" },
  };
}

/**
 * The code of a fit's kernel that NVRTC makes for a model; on several devices, for a reach across
 * them.
 */
export function compiledFor(
  fit: AnyFit,
  { size, activation, noiseLevel }: ReservoirModel,
  arithmetic: Arithmetic,
  across = false,
): KernelCode {
  const { entry, file, prefix, shape, layout } = kernelOfFit(fit);
  const known = { size, activation: activationNumber[activation], ...layout, ...(across ? { devices: fit.devices } : {}) };
  return compiledCode({
    ...{ file, prefix, entry: compiledEntry(across ? `${entry}_x${fit.devices}` : entry, arithmetic) },
    ...{ precision: fit.variant.precision, fast: arithmetic === "fast", sharded: across, shape },
    given: [...Object.entries(known).map(([name, value]) => `${name}==${value}`), ...(noiseLevel === 0 ? ["noiseLevel==0"] : [])],
  });
}

/** What runs a fit, by a kernel that comes with the package or one that is made for the model. */
export function partsOfFit(fit: AnyFit, model: ReservoirModel, { source, arithmetic }: Made): LoopParts {
  const kernel = kernelOfFit(fit);
  const { plan, entry, layout, weights } = kernel;
  const { precision, closed, warps } = fit.variant;
  const { blocks, sharedBytes: shared, slotBytes } = fit;
  const cluster = plan === "cluster";
  return {
    kernel: {
      ...{ name: plan, parameters: parametersOf(kernel), details: describeFit(fit) },
      code: source === "shipped" ? shippedCode(kernel.shippedIn, entry, precision, closed) : compiledFor(fit, model, arithmetic),
      config: { grid: blocks, block: warps * 32, shared, ...(cluster ? { cluster: blocks } : { cooperative: true }) },
    },
    memory(context, of) {
      using made = new Making();
      const buffers = { [weights[0]]: made.own(onceReady(context, (stream) => kernel.load(context, stream, of))) };
      return made.done({ buffers: cluster ? buffers : { ...buffers, slots: slotsFor(context, slotBytes) }, numbers: layout });
    },
  };
}

/** Slots for exchanged states, zeros. */
export const slotsFor = (context: Context, bytes: number): AnyBuffer =>
  context.zeros("u64", Math.ceil(bytes / 8), { label: "exchanged states" });
