// Training rows gathered as a triangular factor: what ridge regression by QR needs, without normal
// equations and without keeping the rows. It solves nothing.
import { ArgumentError } from "../core/errors.js";
import { type Matrix, TriangularFactor } from "../numerics/index.js";
import type { TrainingSink } from "../reservoir/engine.js";
import type { FeatureSpec } from "../reservoir/features.js";
import { flag } from "../core/options.js";
import { checkFeatures, checkSizes, featureColumns, featuresOf } from "./features-option.js";
import { checkRows } from "./gram-accumulator.js";
import type { ReadoutShape } from "./training-data.js";

/** Which features are gathered, of rows of what shape. */
export interface TriangularAccumulatorOptions extends ReadoutShape {
  /** What of state and input the readout sees. */
  readonly features: FeatureSpec;
  /** Whether there is a last feature that is always 1. Default true. */
  readonly constant?: boolean | undefined;
}

/**
 * R and Q^T Y of the features X = Q R (T x F, with a last column of ones if `constant` is set)
 * and targets Y (T x O).
 */
export class TriangularAccumulator implements TrainingSink {
  readonly features: FeatureSpec;
  readonly shape: ReadoutShape;
  /** F, the constant one included. */
  readonly featureCount: number;
  readonly constant: boolean;
  readonly #factor: TriangularFactor;

  /**
   * @throws ArgumentError naming the option, MemoryLimitError if F x (F + O) values do not fit 4
   * GiB
   */
  constructor(options: TriangularAccumulatorOptions) {
    checkSizes(options, "the accumulator");
    checkFeatures(options.features);
    this.features = options.features;
    this.shape = { stateSize: options.stateSize, inputSize: options.inputSize, outputSize: options.outputSize };
    this.constant = flag.read(options.constant ?? true, "constant");
    this.featureCount = featuresOf(this.features, this.shape) + (this.constant ? 1 : 0);
    this.#factor = new TriangularFactor(this.featureCount, this.shape.outputSize);
  }

  /** T, rows that were added so far, washout left out. */
  get rows(): number {
    return this.#factor.rows;
  }

  /**
   * Adds T rows, as a Gram accumulator does. @throws ArgumentError for rows that do not fit or are
   * not finite; nothing was added then
   */
  add(states: Matrix, inputs: Matrix, targets: Matrix): void {
    checkRows(this.shape, states, inputs, targets);
    this.addChecked(states, inputs, targets);
  }

  /** @internal The same for rows that were checked before. */
  addChecked(states: Matrix, inputs: Matrix, targets: Matrix): void {
    this.#factor.add(featureColumns(this.features, states, inputs, this.constant), [{ matrix: targets, square: "none" }], states.rows);
  }

  /**
   * Adds another accumulator: its triangle as rows (docs/numerics.md, rule 11). @throws
   * ArgumentError if its shape or features differ
   */
  merge(other: TriangularAccumulator): void {
    if (!(other instanceof TriangularAccumulator)) throw new ArgumentError("the other accumulator", other, "a TriangularAccumulator");
    const same =
      JSON.stringify([this.features, this.shape, this.constant]) === JSON.stringify([other.features, other.shape, other.constant]);
    if (!same) throw ArgumentError.because("the accumulators have other shapes or features; only like can be added to like");
    this.#factor.merge(other.#factor);
  }

  /** A factor that may be changed, with the rows so far; this one can go on. */
  factor(): TriangularFactor {
    return this.#factor.clone();
  }

  /** Gives the memory back. Idempotent. */
  dispose(): void {
    this.#factor.dispose();
  }
}
