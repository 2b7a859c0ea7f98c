// The options of each readout, as tables. Apart from the readouts, for a trainer's description names
// them all.
import { checked, choice, either, flag, type InputOf, list, number, option, optional, whole } from "@spillway/core/options.js";
import type { DenseBlas, DoubleDoubleReflections } from "@spillway/numerics";
import { type FeatureOptions, featureTable } from "./features-option.js";

/**
 * "cholesky": normal equations. "qr": Householder reflections, for tiny lambda. "doubleDouble": the
 * same in 106 bits, for few features of nearly one direction. "dual": T x T. "auto": dual if rows
 * are fewer than features.
 */
export type RidgeSolver = "cholesky" | "qr" | "doubleDouble" | "dual" | "auto";

const penalty = number({ atLeast: 0, takes: "a finite number of at least 0" });
export const isReflections = (value: unknown): value is DoubleDoubleReflections =>
  typeof value === "object" && value !== null && "triangularise" in value && typeof value.triangularise === "function";
const isBlas = (value: unknown): boolean =>
  isReflections(value) ||
  (typeof value === "object" && value !== null && "gram" in value && typeof value.gram === "function" && "solvePositiveDefinite" in value);

export const ridgeTable = {
  ...featureTable,
  /**
   * The penalty on squared weights, not divided by the number of rows; at least 0. Default 1e-6.
   */
  lambda: optional(penalty, "The penalty on squared weights; left out, 1e-6."),
  /** A grid to choose lambda from, in place of `lambda`. */
  lambdas: optional(list(penalty, "at least one number", 1), "A grid to choose lambda from."),
  /**
   * How it is chosen: generalised cross-validation (default), or true leave-one-out, which goes
   * over the rows once more.
   */
  selection: optional(choice("gcv", "leaveOneOut"), "How lambda is chosen from lambdas; left out, gcv."),
  /**
   * Fits the weights on features minus their training means, folded into the intercept afterwards.
   * With an intercept it changes only rounding. Default false.
   */
  subtractMean: option(flag, false, "Fit the weights on features minus their means, folded into the intercept afterwards."),
  /** Default "cholesky". */
  solver: option(choice("cholesky", "qr", "doubleDouble", "dual", "auto"), "cholesky", "How the weights are found."),
  /**
   * "portable": the same bits everywhere. "system": a system's BLAS, faster if there is one. Or
   * a library that was opened, such as that of `cudaBlas`; for "doubleDouble" the device of
   * `deviceDoubleDouble`, with the portable bits. Default "portable".
   */
  blas: option(
    either(
      '"portable", "system" or a library',
      choice("portable", "system"),
      checked<DenseBlas | DoubleDoubleReflections>("a library", isBlas, { not: {} }),
    ),
    "portable",
    "portable: the same bits everywhere; system: a system's BLAS, faster if there is one.",
  ),
};

/** The penalty of a ridge regression, how it is chosen and solved, and what the readout sees. */
export interface RidgeOptions extends FeatureOptions, InputOf<typeof ridgeTable> {}

export const recursiveLeastSquaresTable = {
  ...featureTable,
  /**
   * Weight of a row against the next one, in (0, 1]; rows k steps back count forgetting^k. Default
   * 1, nothing is forgotten.
   */
  forgetting: option(number({ above: 0, atMost: 1 }), 1, "Weight of a row against the next one."),
  /**
   * P starts as I / alpha, which penalises the weights as ridge regression with lambda = alpha
   * does; above 0. Default 1e-6.
   */
  alpha: option(number({ above: 0 }), 1e-6, "P starts as I / alpha, a penalty as ridge's lambda."),
};

/** Forgetting, penalty and features of recursive least squares. */
export interface RecursiveLeastSquaresOptions extends FeatureOptions, InputOf<typeof recursiveLeastSquaresTable> {}

export const leastMeanSquaresTable = {
  ...featureTable,
  /**
   * Step size; above 0. Plain: below 2 / |x|^2 to be stable. Normalised: below 2. Default 0.01, or
   * 0.5 if normalised.
   */
  learningRate: optional(number({ above: 0 }), "Step size; left out, 0.01, or 0.5 if normalised."),
  /** Divides the step by |x|^2 (normalised least mean squares). Default false. */
  normalised: option(flag, false, "Divide the step by |x|^2."),
};

/** Step size and features of least mean squares. */
export interface LeastMeanSquaresOptions extends FeatureOptions, InputOf<typeof leastMeanSquaresTable> {}

export const softmaxTable = {
  ...featureTable,
  /**
   * The penalty l2 / 2 |W|^2 on the summed loss; at least 0. Default 1, the same as C = 1
   * elsewhere. The intercept is not penalised.
   */
  l2: option(number({ atLeast: 0, takes: "a finite number of at least 0" }), 1, "The penalty l2 / 2 |W|^2 on the summed loss."),
  /**
   * Converged when the largest element of the gradient is at most tolerance times the rows. Default
   * 1e-8.
   */
  tolerance: option(number({ above: 0 }), 1e-8, "Converged when the gradient's largest element is at most this times the rows."),
  /** Newton steps before it gives up with an error. Default 100. */
  maxIterations: option(whole({ above: 0 }), 100, "Newton steps before it gives up with an error."),
};

/** Penalty, stopping rule and features of softmax regression. */
export interface SoftmaxOptions extends FeatureOptions, InputOf<typeof softmaxTable> {}
