// The readouts that have a name.
import { ArgumentError } from "@spillway/core/errors.js";
import { callback, choice, list } from "@spillway/core/options.js";
import { type Part, Registry } from "@spillway/core/registry.js";
import { checkFeatures } from "./features-option.js";
import { leastMeanSquares } from "./least-mean-squares.js";
import { leastMeanSquaresTable, recursiveLeastSquaresTable, ridgeTable, softmaxTable } from "./options.js";
import { recursiveLeastSquares } from "./recursive-least-squares.js";
import { ridge } from "./ridge.js";
import { SoftmaxReadout, softmaxRegression } from "./softmax-regression.js";
import type { TrainedReadout } from "./trained-readout.js";
import { isTrainer, type ReadoutDescription, type Trainer } from "./trainer.js";

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
  if (!isTrainer(trainer)) throw new ArgumentError(`make of the readout "${type}"`, trainer, "a function that returns a trainer, with fit");
  return trainer.description ? trainer : Object.assign(trainer, { description: readout });
}
