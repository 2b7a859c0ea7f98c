// Training rows gathered as a triangular factor: what ridge regression by QR needs, without normal
// equations and without keeping the rows. It solves nothing.
import { ArgumentError } from "@spillway/core/errors.js";
import { DoubleDoubleFactor, type DoubleDoubleReflections, type Matrix, TriangularFactor } from "@spillway/numerics";
import { featureColumns } from "./features-option.js";
import { RowAccumulator, type RowAccumulatorOptions } from "./row-accumulator.js";

/** Which features are gathered, and in how many bits. */
export interface TriangularAccumulatorOptions extends RowAccumulatorOptions {
  /** Whether in double-double, about 106 bits, for few features. Default false: binary64. */
  readonly doubleDouble?: boolean | undefined;
  /** What reflects rows of double-double, in place of the host. */
  readonly reflections?: DoubleDoubleReflections | undefined;
}

/**
 * R and Q^T Y of the features X = Q R (T x F, with a last column of ones if `constant` is set)
 * and targets Y (T x O).
 */
export class TriangularAccumulator extends RowAccumulator {
  readonly #factor: TriangularFactor | DoubleDoubleFactor;

  /**
   * @throws ArgumentError naming the option, MemoryLimitError if F x (F + O) values do not fit 4
   * GiB
   */
  constructor(options: TriangularAccumulatorOptions) {
    super(options);
    const { featureCount, shape } = this;
    this.#factor = options.doubleDouble
      ? new DoubleDoubleFactor(featureCount, shape.outputSize, options.reflections)
      : new TriangularFactor(featureCount, shape.outputSize);
  }

  /** Whether it sums in double-double. */
  get doubleDouble(): boolean {
    return this.#factor instanceof DoubleDoubleFactor;
  }

  get rows(): number {
    return this.#factor.rows;
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
    this.checkLike(other, "TriangularAccumulator");
    const [mine, theirs] = [this.#factor, other.#factor];
    if (mine instanceof DoubleDoubleFactor && theirs instanceof DoubleDoubleFactor) mine.merge(theirs);
    else if (mine instanceof TriangularFactor && theirs instanceof TriangularFactor) mine.merge(theirs);
    else throw ArgumentError.because("the accumulators are of different solvers; only like can be added to like");
  }

  /** A factor that may be changed, with the rows so far; this one can go on. */
  factor(): TriangularFactor | DoubleDoubleFactor {
    return this.#factor.clone();
  }

  /** Gives the memory back. Idempotent. */
  dispose(): void {
    this.#factor.dispose();
  }
}
