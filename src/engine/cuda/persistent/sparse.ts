// Sparse reservoirs in the persistent kernels: the kernel of a fit from each source, and W as it
// wants it.
import type { Context } from "@spillway/gpu";
import type { ReservoirModel } from "../../../reservoir/model.js";
import type { TimeLoopPlan } from "../time-loop.js";
import { compiledEntry } from "./compiled-shapes.js";
import { given } from "./dense.js";
import { loadSparse, onceReady } from "./device-weights.js";
import { compiledCode, type KernelCode, shippedCode } from "./kernel-code.js";
import { stepParameters } from "./loop.js";
import { type Arithmetic, type LoopParts, type Made, withSlots } from "./parts.js";
import { type SparseFit, sparseEntry } from "./shapes.js";

/** The name that a kernel will have. */
export const sparseKernel = ({ variant }: SparseFit, { arithmetic }: Made): string => compiledEntry(sparseEntry(variant), arithmetic);

export function describeSparse(fit: SparseFit): TimeLoopPlan["details"] {
  const { variant, blocks, held, shared, streamed, sharedBytes } = fit;
  return {
    ...{ blocks, threads: variant.warps * 32, sharedBytes },
    ...{ entriesInRegisters: 64 * held, entriesInShared: 64 * shared, entriesStreamed: 64 * streamed },
  };
}

const layout = { count: "i32", held: "i32", shared: "i32", streamed: "i32", copies: "i32" } as const;

export function sparseLayout({ count, held, shared, streamed, copies }: SparseFit): Record<string, number> {
  return { count, held, shared, streamed, copies };
}

function parts(fit: SparseFit, code: KernelCode): LoopParts {
  const { blocks, sharedBytes: shared, variant, slotBytes } = fit;
  const kernel = {
    ...{ name: "grid", code, details: describeSparse(fit) },
    parameters: { entries: "const u32*", slots: "u64*", ...stepParameters, ...layout, spinLimit: "i64" },
    config: { grid: blocks, block: variant.warps * 32, shared, cooperative: true },
  } as const;
  const memory = (context: Context, model: ReservoirModel) => {
    const entries = onceReady(context, (stream) => loadSparse(context, stream, model, fit));
    return withSlots(context, { entries }, slotBytes, sparseLayout(fit));
  };
  return { kernel, memory };
}

/** By a kernel that comes with the package. */
export function shippedSparse(fit: SparseFit): LoopParts {
  const { precision, closed } = fit.variant;
  return parts(fit, shippedCode("reservoir_sparse", sparseEntry(fit.variant), precision, closed));
}

/** By one that NVRTC compiles for this model. */
export function compiledSparse(fit: SparseFit, model: ReservoirModel, arithmetic: Arithmetic): LoopParts {
  const { precision, rounds, held, warps, mixed } = fit.variant;
  const form = {
    ...{ file: "reservoir_sparse", prefix: "SPARSE", entry: compiledEntry(sparseEntry(fit.variant), arithmetic), precision },
    ...{
      fast: arithmetic === "fast",
      shape: { ROUNDS: rounds, HELD: held, WARPS: warps, MIXED: mixed },
      given: given(model, sparseLayout(fit)),
    },
  };
  return parts(fit, compiledCode(form));
}
