// What one state of a reservoir shows at a glance. None of it measures memory, separation or the
// echo state property: the module analysis does.
import { ArgumentError } from "@spillway/core/errors.js";
import { checked, optional, position, resolve } from "@spillway/core/options.js";
import type { FloatArray } from "@spillway/numerics";

/** A state and the one before it, in numbers. */
export interface ReservoirSnapshot {
  /** Mean of x. */
  readonly averageActivation: number;
  /** Largest x. */
  readonly maxActivation: number;
  /** Spikes of the pattern that led here, if one did. */
  readonly spikeCount: number | undefined;
  /**
   * |x . x'| / (|x| |x'|) with x' the state before, from 0 to 1: how little the direction of the
   * state moves. 0 if either is all zeros; undefined without x'.
   */
  readonly snapshotSimilarity: number | undefined;
  /**
   * min(1, sample standard deviation of x over the neurons): how much the neurons differ. 0 for a
   * single neuron.
   */
  readonly snapshotSpread: number;
  /** The share of neurons with |x| > 0.01. */
  readonly snapshotActiveShare: number;
}

const stateKind = checked<FloatArray>("a state, N values", (value) => ArrayBuffer.isView(value) && !(value instanceof DataView));

/** The options of `reservoirSnapshot`. */
export const snapshotTable = {
  before: optional(stateKind, "The state before this one."),
  spikeCount: optional(position, "Spikes of the pattern that led here."),
};

/**
 * The snapshot of a state, N values; sums run over neurons in rising order in binary64. @throws
 * ArgumentError on no values, or states of two sizes.
 */
export function reservoirSnapshot(
  state: FloatArray,
  options: { readonly before?: FloatArray | undefined; readonly spikeCount?: number | undefined } = {},
): ReservoirSnapshot {
  const { before, spikeCount } = resolve(snapshotTable, options);
  const size = stateKind.read(state, "state").length;
  if (size === 0) throw new ArgumentError("the number of neurons", 0, "at least 1", { code: "shape" });
  if (before && before.length !== size)
    throw new ArgumentError("the size of the state before", before.length, `${size}, as the state`, { code: "shape" });
  let sum = 0;
  let maximal = -Infinity;
  let active = 0;
  for (const x of state) {
    sum += x;
    if (x > maximal) maximal = x;
    if (Math.abs(x) > 0.01) active++;
  }
  const mean = sum / size;
  let squares = 0;
  for (const x of state) squares += (x - mean) * (x - mean);
  return {
    averageActivation: mean,
    maxActivation: maximal,
    spikeCount,
    snapshotSimilarity: before && similarity(state, before),
    snapshotSpread: size === 1 ? 0 : Math.min(1, Math.sqrt(squares / (size - 1))),
    snapshotActiveShare: active / size,
  };
}

function similarity(a: FloatArray, b: FloatArray): number {
  let dot = 0;
  let aSquares = 0;
  let bSquares = 0;
  for (let i = 0; i < a.length; i++) {
    dot += a[i]! * b[i]!;
    aSquares += a[i]! * a[i]!;
    bSquares += b[i]! * b[i]!;
  }
  const length = Math.sqrt(aSquares) * Math.sqrt(bSquares);
  return length === 0 ? 0 : Math.min(1, Math.abs(dot) / length);
}
