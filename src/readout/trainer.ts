// What a trainer of readouts is, and the trainers that have a name.
import { ArgumentError } from "../core/errors.js";
import { nearest } from "../core/near-names.js";
import type { TrainingSink } from "../reservoir/engine.js";
import type { FeatureSpec, LinearReadout } from "../reservoir/features.js";
import { checkFeatures } from "./features-option.js";
import { type LeastMeanSquaresOptions, leastMeanSquares } from "./least-mean-squares.js";
import { type RecursiveLeastSquaresOptions, recursiveLeastSquares } from "./recursive-least-squares.js";
import { type RidgeOptions, ridge } from "./ridge.js";
import { type SoftmaxOptions, softmaxRegression } from "./softmax-regression.js";
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
 * A trainer by name, and its options. The default is ridge. "rls": recursive least squares. "lms":
 * least mean squares. "softmax": multinomial logistic regression.
 */
export type ReadoutDescription =
  | ({ readonly type?: "ridge" | undefined } & RidgeOptions)
  | ({ readonly type: "softmax" } & SoftmaxOptions)
  | ({ readonly type: "rls" } & RecursiveLeastSquaresOptions)
  | ({ readonly type: "lms" } & LeastMeanSquaresOptions);

const trainers: Readonly<Record<string, (options: object) => Trainer>> = {
  ridge,
  softmax: softmaxRegression,
  rls: recursiveLeastSquares,
  lms: leastMeanSquares,
};

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

/**
 * The trainer that a description names; a trainer is given back as it is.
 * @throws ArgumentError for what is neither, or naming the option of the trainer
 */
export function trainerOf(readout: ReadoutDescription | Trainer = {}): Trainer {
  if (isTrainer(readout)) {
    checkFeatures(readout.features);
    return readout;
  }
  if (typeof readout !== "object" || readout === null || Array.isArray(readout))
    throw new ArgumentError("readout", readout, "an object of readout options, or a trainer");
  const { type = "ridge", ...options } = readout;
  const known = Object.keys(trainers);
  if (typeof type === "string" && Object.hasOwn(trainers, type)) return trainers[type]!(options);
  const near = typeof type === "string" ? nearest(type, known) : undefined;
  throw new ArgumentError("readout.type", type, `${known.join(", ")}${near ? ` (did you mean ${near}?)` : ""}`);
}
