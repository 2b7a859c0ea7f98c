// What all accumulators of training rows share: which features are taken, and the checks of rows
// and of another accumulator that is added.
import { ArgumentError } from "@spillway/core/errors.js";
import { flag } from "@spillway/core/options.js";
import { describe, Matrix } from "@spillway/numerics";
import type { TrainingSink } from "../reservoir/engine.js";
import type { FeatureSpec } from "../reservoir/features.js";
import { checkFeatures, checkSizes, featuresOf } from "./features-option.js";
import { checkFinite, checkShape, type ReadoutShape } from "./training-data.js";

/** Which features are gathered, of rows of what shape. */
export interface RowAccumulatorOptions extends ReadoutShape {
  /** What of state and input the readout sees. */
  readonly features: FeatureSpec;
  /** Whether there is a last feature that is always 1. Default true. */
  readonly constant?: boolean | undefined;
}

/** Gathers training rows: features X (T x F) and targets Y (T x O). */
export abstract class RowAccumulator implements TrainingSink {
  readonly features: FeatureSpec;
  readonly shape: ReadoutShape;
  /** F, the constant one included. */
  readonly featureCount: number;
  readonly constant: boolean;

  /** @throws ArgumentError naming the option */
  protected constructor(options: RowAccumulatorOptions) {
    checkSizes(options, "the accumulator");
    checkFeatures(options.features);
    this.features = options.features;
    this.shape = { stateSize: options.stateSize, inputSize: options.inputSize, outputSize: options.outputSize };
    this.constant = flag.read(options.constant ?? true, "constant");
    this.featureCount = featuresOf(this.features, this.shape) + (this.constant ? 1 : 0);
  }

  /** T, rows that were added so far, washout left out. */
  abstract get rows(): number;

  /**
   * Adds T rows: T x N states, T x I inputs and T x O targets. The result does not depend on how
   * rows are cut into calls.
   * @throws ArgumentError if columns are not those of the shape, row counts differ, or a value
   * is not finite; nothing was added then
   */
  add(states: Matrix, inputs: Matrix, targets: Matrix): void {
    checkRows(this.shape, states, inputs, targets);
    this.addChecked(states, inputs, targets);
  }

  /** @internal The same for rows that were checked before. */
  abstract addChecked(states: Matrix, inputs: Matrix, targets: Matrix): void;

  /**
   * @internal @throws ArgumentError if the other is no such class, or its shape or features differ
   */
  protected checkLike(other: RowAccumulator, name: string): void {
    if (other?.constructor !== this.constructor) throw new ArgumentError("the other accumulator", other, `a ${name}`);
    const described = ({ features, shape, constant }: RowAccumulator) => JSON.stringify([features, shape, constant]);
    if (described(this) !== described(other))
      throw ArgumentError.because("the accumulators have other shapes or features; only like can be added to like");
  }

  /** Gives the memory back. Idempotent. */
  abstract dispose(): void;
}

/** @throws ArgumentError if one is no Matrix, or if rows for a sink do not fit together */
export function checkRows(shape: ReadoutShape, states: Matrix, inputs: Matrix, targets: Matrix): void {
  for (const [name, rows] of Object.entries({ states, inputs, targets }))
    if (!(rows instanceof Matrix))
      throw ArgumentError.because(`${name} is ${describe(rows)}; an accumulator takes a Matrix`, { field: name });
  checkShape(shape, { states, inputs, targets }, "training rows");
  for (const [name, series] of [
    ["inputs", inputs],
    ["targets", targets],
  ] as const) {
    if (series.rows !== states.rows && series.cols > 0) {
      throw ArgumentError.shape(`${name} has ${series.rows} rows and states has ${states.rows}; the two take the same number`, {
        field: name,
      });
    }
    checkFinite(series, name);
  }
  checkFinite(states, "states");
}
