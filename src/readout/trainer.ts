// What a trainer of readouts is, and the trainers that have a name.
import { ArgumentError } from "@spillway/core/errors.js";
import { callback, choice, list } from "@spillway/core/options.js";
import { type Part, Registry } from "@spillway/core/registry.js";
import type { TrainingSink } from "../reservoir/engine.js";
import type { FeatureSpec, LinearReadout } from "../reservoir/features.js";
import { checkFeatures } from "./features-option.js";
import { type LeastMeanSquaresOptions, leastMeanSquares, leastMeanSquaresTable } from "./least-mean-squares.js";
import { type RecursiveLeastSquaresOptions, recursiveLeastSquares, recursiveLeastSquaresTable } from "./recursive-least-squares.js";
import { type RidgeOptions, ridge, ridgeTable } from "./ridge.js";
import { type SoftmaxOptions, SoftmaxReadout, softmaxRegression, softmaxTable } from "./softmax-regression.js";
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

/** A kind of readout by name: what makes its trainer from options. */
export interface Readout extends Part {
  /** What it learns: numbers ("forecast"), classes ("classify"), or both. */
  readonly fits: readonly ("forecast" | "classify")[];
  /**
   * Whether it learns row by row. Experiments then leave series as they are if no transforms are
   * said, and score predictions in binary64. Default false.
   */
  readonly online?: boolean | undefined;
  /** Makes the trainer, which checks its options by `resolve` and the table. */
  make(options: object): Trainer;
  /** A readout that a file holds, with all that it can do. Left out, it is given as it is. */
  restore?(readout: TrainedReadout): TrainedReadout;
}

/** Every readout, by name. */
export const readouts: Registry<Readout> = new Registry<Readout>(
  {
    kind: "readout",
    register: "registerReadout",
    needs: {
      fits: list(choice("forecast", "classify"), 'a list of "forecast", "classify" or both', 1),
      make: callback("a function of options"),
    },
  },
  [
    { name: "ridge", description: "Ridge regression.", options: ridgeTable, fits: ["forecast", "classify"], make: ridge },
    {
      name: "softmax",
      description: "Softmax regression: scores of classes.",
      options: softmaxTable,
      fits: ["classify"],
      make: softmaxRegression,
      restore: (readout) => new SoftmaxReadout(readout, readout.training),
    },
    {
      name: "rls",
      description: "Recursive least squares.",
      options: recursiveLeastSquaresTable,
      fits: ["forecast", "classify"],
      online: true,
      make: recursiveLeastSquares,
    },
    {
      name: "lms",
      description: "Least mean squares.",
      options: leastMeanSquaresTable,
      fits: ["forecast", "classify"],
      online: true,
      make: leastMeanSquares,
    },
  ],
);

/**
 * Adds a readout: `Forecaster`, `Classifier`, pipelines, experiments and model files find it by its
 * name.
 * @throws ArgumentError for a name that another readout has, or a field that is missing or
 * malformed
 */
export function registerReadout(readout: Readout): void {
  readouts.register(readout);
}

/**
 * A readout of a file as its part has it; `type` is its name, or "own" for a trainer without one.
 * @throws ArgumentError for a name that is not registered
 */
export function restoreReadout(type: string | undefined, readout: TrainedReadout): TrainedReadout {
  return type === "own" ? readout : (readouts.get(type ?? "ridge", "readout.type").restore?.(readout) ?? readout);
}

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
  const trainer = readouts.get(type, "readout.type").make(options);
  return trainer.description ? trainer : Object.assign(trainer, { description: readout });
}
