// What a trainer of readouts is.
import type { TrainingSink } from "../reservoir/engine.js";
import type { FeatureSpec, LinearReadout } from "../reservoir/features.js";
import type { LeastMeanSquaresOptions, RecursiveLeastSquaresOptions, RidgeOptions, SoftmaxOptions } from "./options.js";
import { TrainedReadout } from "./trained-readout.js";
import type { FitOptions, ReadoutShape, SeriesLike } from "./training-data.js";

/**
 * Trains readouts: what `ridge`, `recursiveLeastSquares`, `leastMeanSquares` and
 * `softmaxRegression` give, or your own object.
 */
export interface Trainer {
  /** What of state and input the readout sees. */
  readonly features: FeatureSpec;
  /** Its name and options, from which a model file makes it again. Your own needs none. */
  readonly description?: ReadoutDescription | undefined;
  /**
   * Trains on T x N states and T x O targets, or on lists of them. Rows of an earlier call are
   * forgotten.
   */
  fit(states: SeriesLike, targets: SeriesLike, options?: FitOptions): LinearReadout;
  /**
   * Training on rows that stream by, without keeping them. Left out, or undefined, if the trainer
   * needs all rows at once.
   */
  stream?(shape: ReadoutShape): TrainingStream | undefined;
}

/** One training on rows that stream by. */
export interface TrainingStream {
  /** What takes the rows; an engine fills it. */
  readonly sink: TrainingSink;
  /** The readout of the rows so far. */
  solve(): LinearReadout;
  /** Gives memory back. */
  dispose?(): void;
}

/**
 * The options of each readout by its name. A package that registers its own adds to it:
 * `declare module "spillway/model" { interface ReadoutTypes { own: OwnOptions } }`.
 */
export interface ReadoutTypes {
  readonly softmax: SoftmaxOptions;
  readonly rls: RecursiveLeastSquaresOptions;
  readonly lms: LeastMeanSquaresOptions;
}

/**
 * A trainer by name, and its options. The default is ridge. "rls": recursive least squares. "lms":
 * least mean squares. "softmax": multinomial logistic regression.
 */
export type ReadoutDescription =
  | ({ readonly type?: "ridge" | undefined } & RidgeOptions)
  | { [Name in keyof ReadoutTypes]: { readonly type: Name } & ReadoutTypes[Name] }[keyof ReadoutTypes];

/** Whether a value is a trainer, not the description of one. */
export function isTrainer(value: unknown): value is Trainer {
  return typeof value === "object" && value !== null && "fit" in value && typeof value.fit === "function";
}

/**
 * The readout that a trainer gave, with what this package's readouts can do. @throws ArgumentError
 */
export function asTrained(readout: LinearReadout, rows: number): TrainedReadout {
  return readout instanceof TrainedReadout ? readout : new TrainedReadout(readout, { method: "own", rows, details: {} });
}
