// The most steps that work on a context may take before it looks around: for devices that are slow,
// such as a simulated one.
import type { Context } from "@spillway/gpu";

/**
 * Weights that a slow device multiplies before signals are looked at: some tens of milliseconds.
 */
const slowWeights = 2 ** 22;

const limits = new WeakMap<Context, { readonly steps: number; readonly weights: number }>();

/**
 * Keeps chunks on a context to this many steps, and to fewer of a step that multiplies many
 * weights.
 */
export function limitChunks(context: Context, steps: number, weights = slowWeights): void {
  limits.set(context, { steps, weights });
}

/**
 * The most steps of a chunk that a slow device takes, of a step that multiplies so many weights.
 */
export const slowSteps = (limit: number, weights: number, most = slowWeights): number =>
  Math.max(1, Math.min(limit, Math.floor(most / Math.max(1, weights))));

/** The most steps of a chunk on a context, of a step that multiplies so many weights. */
export function mostChunkSteps(context: Context, weights: number): number {
  const limit = limits.get(context);
  return limit === undefined ? Number.POSITIVE_INFINITY : slowSteps(limit.steps, weights, limit.weights);
}
