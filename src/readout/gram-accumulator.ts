// Training rows summed up as normal equations: X^T X, X^T Y and Y^T Y in the portable order
// (docs/numerics.md, rule 9). Memory does not grow with the rows. It solves nothing.
import { ArgumentError } from "../core/errors.js";
import { type DenseBlas, describe, type GramSum, Matrix, mirrorLowerTriangle, PortableGram } from "../numerics/index.js";
import type { TrainingSink } from "../reservoir/engine.js";
import type { FeatureSpec } from "../reservoir/features.js";
import { flag } from "../core/options.js";
import { checkFeatures, checkSizes, featureColumns, featuresOf } from "./features-option.js";
import { checkFinite, checkShape, type ReadoutShape } from "./training-data.js";

/** Which features are summed, of rows of what shape. */
export interface GramAccumulatorOptions extends ReadoutShape {
  /** What of state and input the readout sees. */
  readonly features: FeatureSpec;
  /** Whether a last feature that is always 1 is summed too. Default true. */
  readonly constant?: boolean | undefined;
  /** Sums by a library in place of the portable order. */
  readonly blas?: DenseBlas | undefined;
}

/**
 * X^T X, X^T Y and Y^T Y of the features X (T x F, with a last column of ones if `constant` is
 * set) and targets Y (T x O).
 */
export class GramAccumulator implements TrainingSink {
  readonly features: FeatureSpec;
  readonly shape: ReadoutShape;
  /** F, the constant one included. */
  readonly featureCount: number;
  readonly constant: boolean;
  readonly #sum: GramSum;

  /** @throws ArgumentError naming the option, MemoryLimitError if the sums do not fit 4 GiB */
  constructor(options: GramAccumulatorOptions) {
    checkSizes(options, "the accumulator");
    checkFeatures(options.features);
    this.features = options.features;
    this.shape = { stateSize: options.stateSize, inputSize: options.inputSize, outputSize: options.outputSize };
    this.constant = flag.read(options.constant ?? true, "constant");
    this.featureCount = featuresOf(this.features, this.shape) + (this.constant ? 1 : 0);
    const columns = this.featureCount + this.shape.outputSize;
    this.#sum = options.blas ? options.blas.gram(columns) : new PortableGram(columns);
  }

  /** T, rows that were added so far, washout left out. */
  get rows(): number {
    return this.#sum.rows;
  }

  /**
   * Adds T rows: T x N states, T x I inputs and T x O targets. The sums do not depend on how rows
   * are cut into calls.
   * @throws ArgumentError if columns are not those of the shape, row counts differ, or a value
   * is not finite; nothing was added then
   */
  add(states: Matrix, inputs: Matrix, targets: Matrix): void {
    checkRows(this.shape, states, inputs, targets);
    this.addChecked(states, inputs, targets);
  }

  /** @internal The same for rows that were checked before. */
  addChecked(states: Matrix, inputs: Matrix, targets: Matrix): void {
    this.#sum.add([...featureColumns(this.features, states, inputs, this.constant), { matrix: targets, square: "none" }], states.rows);
  }

  /**
   * Adds another accumulator's sums (docs/numerics.md, rule 9). @throws ArgumentError if its
   * shape or features differ
   */
  merge(other: GramAccumulator): void {
    if (!(other instanceof GramAccumulator)) throw new ArgumentError("the other accumulator", other, "a GramAccumulator");
    const same =
      JSON.stringify([this.features, this.shape, this.constant]) === JSON.stringify([other.features, other.shape, other.constant]);
    if (!same) throw ArgumentError.because("the accumulators have other shapes or features; only like can be added to like");
    if (!(this.#sum instanceof PortableGram && other.#sum instanceof PortableGram)) {
      throw ArgumentError.because('accumulators that sum by a library cannot be added; take blas: "portable"');
    }
    this.#sum.merge(other.#sum);
  }

  /** The sums of the rows so far. */
  sums(): GramSums {
    const { lower, cross, targetSquares, rows } = this.lowerSums();
    const gram = Matrix.zeros(this.featureCount, this.featureCount);
    for (let i = 0; i < gram.rows; i++) gram.data.set(lower.data.subarray(i * lower.cols, i * lower.cols + i + 1), i * gram.cols);
    return { gram: mirrorLowerTriangle(gram), cross, targetSquares, rows };
  }

  /**
   * @internal The same with X^T X as the leading block of a larger matrix; only its lower triangle
   * is filled.
   */
  lowerSums(): Omit<GramSums, "gram"> & { readonly lower: Matrix<Float64Array> } {
    const lower = this.#sum.lowerTriangle();
    const outputs = this.shape.outputSize;
    const cross = Matrix.zeros(this.featureCount, outputs);
    const targetSquares = new Float64Array(outputs);
    for (let o = 0; o < outputs; o++) {
      const row = lower.row(this.featureCount + o);
      for (let f = 0; f < this.featureCount; f++) cross.data[f * outputs + o] = row[f]!;
      targetSquares[o] = row[this.featureCount + o]!;
    }
    return { lower, cross, targetSquares, rows: this.rows };
  }

  /** @internal The sum over the rows of each feature's square, and then of each target's. */
  squares(): Float64Array {
    return this.#sum.diagonal();
  }

  /** @internal The sums themselves, wherever they are computed. */
  get sum(): GramSum {
    return this.#sum;
  }

  /** @internal The sums themselves, if they are made in the portable order. */
  get portable(): PortableGram | undefined {
    return this.#sum instanceof PortableGram ? this.#sum : undefined;
  }

  /** Gives the memory back. Idempotent. */
  dispose(): void {
    this.#sum.dispose();
  }
}

/**
 * The sums that a ridge fit needs of its T rows of F features and O targets; sums of parts add up.
 */
export interface GramSums {
  /** X^T X, F x F. */
  readonly gram: Matrix<Float64Array>;
  /** X^T Y, F x O. */
  readonly cross: Matrix<Float64Array>;
  /** Sum of y^2, a value for each target. */
  readonly targetSquares: Float64Array;
  /** T. */
  readonly rows: number;
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
