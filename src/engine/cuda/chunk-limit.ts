// The most steps that work on a context may take before it looks around: for devices that are slow,
// such as a simulated one.
import type { Context } from "../../gpu/index.js";

const limits = new WeakMap<Context, number>();

/** Keeps chunks on a context to this many steps. */
export function limitChunks(context: Context, steps: number): void {
  limits.set(context, steps);
}

/** The most steps of a chunk on a context. */
export function mostChunkSteps(context: Context): number {
  return limits.get(context) ?? Number.POSITIVE_INFINITY;
}
