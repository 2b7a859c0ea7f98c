// Dense reservoirs in the persistent kernels: the kernel of a fit from each source, and W as it
// wants it.
import type { Context, LaunchConfig } from "@spillway/gpu";
import type { ReservoirModel } from "../../../reservoir/model.js";
import { activationNumber } from "../activation.js";
import type { TimeLoopPlan } from "../time-loop.js";
import { compiledEntry } from "./compiled-shapes.js";
import { loadDense, onceReady } from "./device-weights.js";
import { compiledCode, type KernelCode, shippedCode } from "./kernel-code.js";
import { type PersistentKernel, type PersistentMemory, stepParameters } from "./loop.js";
import { type Arithmetic, type LoopParts, type Made, withSlots } from "./parts.js";
import { type DenseFit, denseEntry, foursAtOnce, groupSize, shippedIn, tileGroups } from "./shapes.js";

const layouts = {
  cluster: { groups: "i32", shared: "i32" },
  grid: { groups: "i32", shared: "i32", streamed: "i32", kept: "u32", copies: "i32", buffers: "i32" },
} as const;

/** The name that a kernel will have. */
export const denseKernel = ({ variant }: DenseFit, { arithmetic }: Made): string => compiledEntry(denseEntry(variant), arithmetic);

export function describeDense(fit: DenseFit): TimeLoopPlan["details"] {
  const { variant, blocks, groups, shared, streamed, sharedBytes } = fit;
  const columns = (count: number): number => count * tileGroups(variant) * groupSize;
  return {
    ...{ blocks, threads: variant.warps * 32, rowsPerWarp: variant.rows, sharedBytes },
    ...{
      columnsInRegisters: Math.min(groups * groupSize, columns(variant.held)),
      columnsInShared: columns(shared),
      columnsStreamed: columns(streamed),
    },
  };
}

export function denseLayout(fit: DenseFit): Record<string, number> {
  const { groups, shared, streamed, kept, copies, buffers } = fit;
  return fit.variant.plan === "cluster" ? { groups, shared } : { groups, shared, streamed, kept, copies, buffers };
}

function parts(fit: DenseFit, code: KernelCode): LoopParts {
  const { blocks, sharedBytes: shared, variant } = fit;
  const { plan, warps } = variant;
  const cluster = plan === "cluster";
  const config: LaunchConfig = { grid: blocks, block: warps * 32, shared, ...(cluster ? { cluster: blocks } : { cooperative: true }) };
  const values = { weights: variant.weights === "bfloat16" ? "const u16*" : "const real*" } as const;
  const weights = cluster ? values : ({ ...values, slots: "u64*" } as const);
  const kernel: PersistentKernel = {
    name: plan,
    code,
    parameters: { ...weights, ...stepParameters, ...layouts[plan], spinLimit: "i64" },
    config,
    details: describeDense(fit),
  };
  return { kernel, memory: (context, model) => denseMemory(context, model, fit) };
}

function denseMemory(context: Context, model: ReservoirModel, fit: DenseFit): PersistentMemory {
  const weights = onceReady(context, (stream) => loadDense(context, stream, model, fit));
  const numbers = denseLayout(fit);
  return fit.variant.plan === "cluster" ? { buffers: { weights }, numbers } : withSlots(context, { weights }, fit.slotBytes, numbers);
}

/** By a kernel that comes with the package. */
export function shippedDense(fit: DenseFit): LoopParts {
  const { precision, closed } = fit.variant;
  return parts(fit, shippedCode(shippedIn(fit.variant), denseEntry(fit.variant), precision, closed));
}

/** By one that NVRTC compiles for this model. */
export function compiledDense(fit: DenseFit, model: ReservoirModel, arithmetic: Arithmetic): LoopParts {
  const { plan, precision, weights, rows, held, warps, mixed } = fit.variant;
  const real = precision === "float32" ? "float" : "double";
  const stored = { MIXED: mixed, WEIGHT: weights === "bfloat16" ? "packing::bfloat16" : real, BATCH: foursAtOnce(fit) };
  const shape = { ROWS: rows, HELD: held, WARPS: warps, ...(plan === "grid" ? stored : {}) };
  const form = {
    ...{ file: `reservoir_${plan}`, prefix: plan.toUpperCase(), entry: compiledEntry(denseEntry(fit.variant), arithmetic), precision },
    ...{ fast: arithmetic === "fast", shape, given: given(model, denseLayout(fit)) },
  };
  return parts(fit, compiledCode(form));
}

/** Conditions that hold of the arguments of a model's kernel. */
export function given({ size, activation, noiseLevel }: ReservoirModel, layout: Readonly<Record<string, number>>): string[] {
  const numbers = { size, activation: activationNumber[activation], ...layout };
  return [...Object.entries(numbers).map(([name, value]) => `${name}==${value}`), ...(noiseLevel === 0 ? ["noiseLevel==0"] : [])];
}
