// The most steps that work on a context may take before it looks around: for devices that are slow,
// such as a simulated one.
import type { Context } from "../../gpu/index.js";

const limits = new WeakMap<Context, number>();

/** Keeps chunks on a context to this many steps. */
export function limitChunks(context: Context, steps: number): void {
  limits.set(context, steps);
}

/** Weights that a slow device multiplies before signals are looked at: some tens of milliseconds. */
const slowWeights = 2 ** 22;

/** The most steps of a chunk that a slow device takes, of a step that multiplies so many weights. */
export const slowSteps = (limit: number, weights: number): number =>
  Math.max(1, Math.min(limit, Math.floor(slowWeights / Math.max(1, weights))));

/** The most steps of a chunk on a context, of a step that multiplies so many weights. */
export function mostChunkSteps(context: Context, weights: number): number {
  const limit = limits.get(context);
  return limit === undefined ? Number.POSITIVE_INFINITY : slowSteps(limit, weights);
}
