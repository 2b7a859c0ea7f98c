// How the bases of an evaluation run on a device: the kernel, and their draws laid out for it.
import { ArgumentError } from "@spillway/core/errors.js";
import { getOrMake } from "@spillway/core/maps.js";
import type { Context } from "@spillway/gpu";
import { isSparse, type Matrix, type SparseMatrix, toDense } from "@spillway/numerics";
import type { SweepBase } from "../../../reservoir/engine.js";
import { floatingArithmetic } from "../../../reservoir/shape.js";
import { isQuantized } from "../../../reservoir/weight-rounding.js";
import { chooseEnsembleKernel, type EnsembleKernel } from "./kernel-choice.js";
import { type SlicedPattern, slicePattern, sliceValues } from "./slices.js";

/** Draws of a base as the kernel wants its weights laid out. */
export interface Laid {
  readonly values: Float64Array;
  readonly pattern: SlicedPattern | undefined;
}

/** A search brings the same draws with every batch. */
const laidOut = new WeakMap<SparseMatrix, Laid>();

function layOut(draws: Matrix | SparseMatrix, sparse: boolean): Laid {
  if (!sparse) return { values: (isSparse(draws) ? toDense(draws) : draws).data as Float64Array, pattern: undefined };
  if (!isSparse(draws)) throw ArgumentError.because("draws of sparse weights are sparse themselves");
  return getOrMake(laidOut, draws, () => {
    const pattern = slicePattern(draws);
    return { values: sliceValues(pattern, draws.values, new Float64Array(pattern.entries)), pattern };
  });
}

/** How the members of some bases run. */
export interface SweepShape {
  readonly kernel: EnsembleKernel;
  readonly laid: readonly Laid[];
  /** Stored values of a weight matrix. */
  readonly entries: number;
}

/**
 * Undefined if a base is of another shape than the first, too large for a block, or has weights of
 * steps.
 */
export function sweepShape(context: Context, bases: readonly SweepBase[]): SweepShape | undefined {
  const first = bases[0]!.model;
  const sparse = isSparse(first.weights);
  const same = bases.every(
    ({ model }) =>
      model.size === first.size &&
      model.precision === first.precision &&
      isSparse(model.weights) === sparse &&
      !isQuantized(model.config.weightPrecision) &&
      model.config.arithmetic === first.config.arithmetic &&
      model.activation === first.activation,
  );
  if (!same || first.outputSize > 0 || first.size > 65_536 || first.config.arithmetic === "integer") return undefined;
  const laid = bases.map(({ draws }) => layOut(draws, sparse));
  const patterns = laid.flatMap(({ pattern }) => (pattern ? [pattern] : []));
  const sliced = patterns[0] && { slots: patterns[0].slots, entries: patterns.reduce((most, { entries }) => Math.max(most, entries), 0) };
  const { size, precision, config } = first;
  const kernel = chooseEnsembleKernel(context.info, { size, precision, arithmetic: floatingArithmetic(config), sliced });
  return kernel && { kernel, laid, entries: sliced?.entries ?? size * size };
}
