// Training rows gathered as a triangular factor: what ridge regression by QR needs, without normal
// equations and without keeping the rows. It solves nothing.
import { type Matrix, TriangularFactor } from "../numerics/index.js";
import { featureColumns } from "./features-option.js";
import { RowAccumulator, type RowAccumulatorOptions } from "./row-accumulator.js";

/**
 * R and Q^T Y of the features X = Q R (T x F, with a last column of ones if `constant` is set)
 * and targets Y (T x O).
 */
export class TriangularAccumulator extends RowAccumulator {
  readonly #factor: TriangularFactor;

  /**
   * @throws ArgumentError naming the option, MemoryLimitError if F x (F + O) values do not fit 4
   * GiB
   */
  constructor(options: RowAccumulatorOptions) {
    super(options);
    this.#factor = new TriangularFactor(this.featureCount, this.shape.outputSize);
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
