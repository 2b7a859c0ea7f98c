// What can go wrong when a readout is trained, as classes with fields.
import { SpillwayError } from "@spillway/core/errors.js";
import { NotPositiveDefiniteError } from "@spillway/numerics";

/**
 * Ridge regression could not be solved by Cholesky factorisation: lambda is too small for the
 * features.
 */
export class IllConditionedError extends SpillwayError {
  override readonly name = "IllConditionedError";
  readonly lambda: number;
  /**
   * The feature (or row, in the dual form) whose pivot failed, from 0; the intercept is the last
   * feature.
   */
  readonly pivotIndex: number;
  /** What was left of the pivot; NaN if a library does not say. */
  readonly pivot: number;
  /** The condition of the regularised matrix is at least about this. */
  readonly conditionEstimate: number;
  constructor(lambda: number, size: number, pivotIndex: number, pivot: number, leastPivot: number, conditionEstimate: number) {
    const found = Number.isNaN(leastPivot)
      ? "is not above its rounding"
      : `is ${pivot.toExponential(3)} and must be above its rounding, ${leastPivot.toExponential(1)}`;
    const condition = Number.isNaN(conditionEstimate) ? "" : ` (condition at least about ${conditionEstimate.toExponential(1)})`;
    super(
      "numeric",
      `ridge regression with lambda ${lambda} failed: pivot ${pivotIndex} of the ${size} x ${size} matrix ${found}${condition}. Take a larger lambda, or solver: "qr"`,
    );
    this.lambda = lambda;
    this.pivotIndex = pivotIndex;
    this.pivot = pivot;
    this.conditionEstimate = conditionEstimate;
  }
}

/** Runs a factorisation of A + lambda I and says which lambda was too small. */
export function withLambda<Result>(lambda: number, factor: () => Result): Result {
  try {
    return factor();
  } catch (error) {
    if (!(error instanceof NotPositiveDefiniteError)) throw error;
    throw new IllConditionedError(lambda, error.size, error.pivotIndex, error.pivot, error.leastPivot, error.conditionEstimate);
  }
}

/** A fit gave weights that are not finite: the features do not determine them. */
export class SingularFitError extends SpillwayError {
  override readonly name = "SingularFitError";
  readonly lambda: number;
  constructor(lambda: number, rows: number, features: number) {
    super(
      "numeric",
      `the weights of the fit are not finite: ${rows} rows do not determine ${features} features with lambda ${lambda}. Take a larger lambda, more rows or fewer features`,
    );
    this.lambda = lambda;
  }
}
