// Training rows summed up as normal equations: X^T X, X^T Y and Y^T Y in the portable order
// (docs/numerics.md, rule 9). Memory does not grow with the rows. It solves nothing.
import { ArgumentError } from "@spillway/core/errors.js";
import { type DenseBlas, type GramSum, Matrix, mirrorLowerTriangle, PortableGram } from "@spillway/numerics";
import { featureColumns } from "./features-option.js";
import { RowAccumulator, type RowAccumulatorOptions } from "./row-accumulator.js";

/** Which features are summed, of rows of what shape. */
export interface GramAccumulatorOptions extends RowAccumulatorOptions {
  /** Sums by a library in place of the portable order. */
  readonly blas?: DenseBlas | undefined;
}

/**
 * X^T X, X^T Y and Y^T Y of the features X (T x F, with a last column of ones if `constant` is
 * set) and targets Y (T x O).
 */
export class GramAccumulator extends RowAccumulator {
  readonly #sum: GramSum;
  /** The sums as they were last asked for, until a row is added. */
  #lowered: ReturnType<GramAccumulator["lowerSums"]> | undefined;

  /** @throws ArgumentError naming the option, MemoryLimitError if the sums do not fit 4 GiB */
  constructor(options: GramAccumulatorOptions) {
    super(options);
    const columns = this.featureCount + this.shape.outputSize;
    this.#sum = options.blas ? options.blas.gram(columns) : new PortableGram(columns);
  }

  get rows(): number {
    return this.#sum.rows;
  }

  /** @internal The same for rows that were checked before. */
  addChecked(states: Matrix, inputs: Matrix, targets: Matrix): void {
    this.#lowered = undefined;
    this.#sum.add([...featureColumns(this.features, states, inputs, this.constant), { matrix: targets, square: "none" }], states.rows);
  }

  /**
   * Adds another accumulator's sums (docs/numerics.md, rule 9). @throws ArgumentError if its
   * shape or features differ
   */
  merge(other: GramAccumulator): void {
    this.checkLike(other, "GramAccumulator");
    this.#lowered = undefined;
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
    const own = new Matrix(cross.rows, cross.cols, cross.data.slice());
    return { gram: mirrorLowerTriangle(gram), cross: own, targetSquares: targetSquares.slice(), rows };
  }

  /**
   * @internal The same with X^T X as the leading block of a larger matrix; only its lower triangle
   * is filled. Who asks again before a row is added gets the same objects, and changes none.
   */
  lowerSums(): Omit<GramSums, "gram"> & { readonly lower: Matrix<Float64Array> } {
    if (this.#lowered?.rows === this.rows) return this.#lowered;
    const lower = this.#sum.lowerTriangle();
    const outputs = this.shape.outputSize;
    const cross = Matrix.zeros(this.featureCount, outputs);
    const targetSquares = new Float64Array(outputs);
    for (let o = 0; o < outputs; o++) {
      const row = lower.row(this.featureCount + o);
      for (let f = 0; f < this.featureCount; f++) cross.data[f * outputs + o] = row[f]!;
      targetSquares[o] = row[this.featureCount + o]!;
    }
    this.#lowered = { lower, cross, targetSquares, rows: this.rows };
    return this.#lowered;
  }

  /** @internal The sum over the rows of each feature's square, and then of each target's. */
  squares(): Float64Array {
    return this.#sum.diagonal();
  }

  /** @internal The sums themselves, wherever they are computed. */
  get sum(): GramSum {
    this.#lowered = undefined;
    return this.#sum;
  }

  /** @internal The sums themselves, if they are made in the portable order. */
  get portable(): PortableGram | undefined {
    this.#lowered = undefined;
    return this.#sum instanceof PortableGram ? this.#sum : undefined;
  }

  /** Gives the memory back. Idempotent. */
  dispose(): void {
    this.#lowered = undefined;
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
