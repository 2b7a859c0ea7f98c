// Readouts trained row by row: the state, the target, one step of the weights. The rule that gives
// the gain (recursive least squares, least mean squares) is passed in.
import { ArgumentError, SpillwayError } from "@spillway/core/errors.js";
import { asMatrix, isList, Matrix } from "@spillway/numerics";
import { evaluateReadout, type FeatureSpec, writeFeatures } from "../reservoir/features.js";
import { featuresOf } from "./features-option.js";
import { checkRows } from "./row-accumulator.js";
import { TrainedReadout } from "./trained-readout.js";
import type { ReadoutDescription, Trainer, TrainingStream } from "./trainer.js";
import {
  checkShape,
  type FitOptions,
  type ReadoutShape,
  type SeriesLike,
  shapeOf,
  type TrainingSequence,
  trainingSequences,
} from "./training-data.js";

/** What a row did. The arrays hold until the next step. */
export interface OnlineStep {
  /** The readout's output before it learned from the row; O values. */
  readonly prediction: Float64Array;
  /** Target minus prediction; O values. */
  readonly error: Float64Array;
}

/** Turns a row of features (the constant one last) into the gain k of w += error * k. */
export type GainRule = (row: Float64Array) => Float64Array;

export interface OnlineRule {
  readonly method: string;
  readonly features: FeatureSpec;
  readonly description: ReadoutDescription;
  readonly intercept: boolean;
  readonly details: Readonly<Record<string, string | number | boolean>>;
  /** A fresh rule for rows of `size` features. */
  readonly gain: (size: number) => GainRule;
}

interface Learning {
  readonly shape: ReadoutShape;
  readonly gain: GainRule;
  readonly weights: Matrix<Float64Array>;
  readonly intercept: Float64Array;
  readonly row: Float64Array;
  readonly step: OnlineStep;
  rows: number;
}

/** Trains a readout online. Weights start at 0. */
export class OnlineTrainer implements Trainer {
  readonly features: FeatureSpec;
  readonly description: ReadoutDescription;
  readonly #rule: OnlineRule;
  #learning: Learning | undefined;

  /** @internal Use `recursiveLeastSquares` or `leastMeanSquares`. */
  constructor(rule: OnlineRule) {
    this.features = rule.features;
    this.description = rule.description;
    this.#rule = rule;
  }

  /**
   * Forgets everything and learns from T x N states and T x O targets, row by row in order; several
   * sequences follow one another.
   */
  fit(states: SeriesLike, targets: SeriesLike, options: FitOptions = {}): TrainedReadout {
    this.#learning = undefined;
    return this.partialFit(states, targets, options).solve();
  }

  /** Learns from more rows. */
  partialFit(states: SeriesLike, targets: SeriesLike, options: FitOptions = {}): this {
    const sequences = trainingSequences(states, targets, options, this.features.input);
    this.#learning ??= this.#begin(shapeOf(sequences[0]!));
    for (const sequence of sequences) {
      checkShape(this.#learning.shape, sequence, "partialFit");
      this.#learnAll(this.#learning, sequence);
    }
    return this;
  }

  /**
   * Learns from one row: N states, O targets, and I inputs if the readout sees them. @throws
   * ArgumentError for other lengths or values that are not finite
   */
  step(state: ArrayLike<number>, target: ArrayLike<number>, input: ArrayLike<number> = []): OnlineStep {
    const asRow = (values: ArrayLike<number>, name: string): Matrix => {
      if (!isList(values)) throw new ArgumentError(name, values, "a list of numbers");
      const row = asMatrix([values as readonly number[]], name);
      for (let i = 0; i < row.cols; i++) {
        if (!Number.isFinite(row.data[i])) throw new ArgumentError(`${name}: value ${i}`, row.data[i], "finite numbers");
      }
      return row;
    };
    const sequence = { states: asRow(state, "state"), inputs: asRow(input, "input"), targets: asRow(target, "target") };
    if (this.features.input && sequence.inputs.cols === 0)
      throw ArgumentError.because("input is missing; a readout with input: true takes it beside the state", { field: "input" });
    this.#learning ??= this.#begin(shapeOf(sequence));
    checkShape(this.#learning.shape, sequence, "step");
    return this.#learn(this.#learning, sequence.states.data, sequence.inputs.data, sequence.targets.data);
  }

  /** A training of its own, beside the rows that this trainer learned from. */
  stream(shape: ReadoutShape): TrainingStream {
    const learning = this.#begin(shape);
    const add = (states: Matrix, inputs: Matrix, targets: Matrix): void => {
      checkRows(shape, states, inputs, targets);
      this.#learnAll(learning, { states, inputs, targets });
    };
    return { sink: { features: this.features, add }, solve: () => this.#readout(learning) };
  }

  /** The readout as it is now; later rows do not change it. */
  solve(): TrainedReadout {
    if (!this.#learning) throw new SpillwayError("lifecycle", "there are no training rows; call step, partialFit or fit first");
    return this.#readout(this.#learning);
  }

  #readout(learning: Learning): TrainedReadout {
    const { stateSize, inputSize } = learning.shape;
    const { method, details } = this.#rule;
    const data = {
      features: this.features,
      stateSize,
      inputSize,
      weights: learning.weights.slice(),
      intercept: learning.intercept.slice(),
    };
    return new TrainedReadout(data, { method, rows: learning.rows, details });
  }

  #begin(shape: ReadoutShape): Learning {
    const count = featuresOf(this.features, shape);
    return {
      shape,
      gain: this.#rule.gain(count + (this.#rule.intercept ? 1 : 0)),
      weights: Matrix.zeros(shape.outputSize, count),
      intercept: new Float64Array(shape.outputSize),
      row: new Float64Array(count + (this.#rule.intercept ? 1 : 0)).fill(1),
      step: { prediction: new Float64Array(shape.outputSize), error: new Float64Array(shape.outputSize) },
      rows: 0,
    };
  }

  #learnAll(learning: Learning, { states, inputs, targets }: TrainingSequence): void {
    for (let t = 0; t < states.rows; t++) this.#learn(learning, states.row(t), inputs.row(t), targets.row(t));
  }

  #learn(learning: Learning, state: ArrayLike<number>, input: ArrayLike<number>, target: ArrayLike<number>): OnlineStep {
    const { weights, intercept, row, shape, step } = learning;
    const features = row.subarray(0, weights.cols);
    writeFeatures(this.features, state, input, features);
    const { stateSize, inputSize } = shape;
    evaluateReadout({ features: this.features, stateSize, inputSize, weights, intercept }, features, step.prediction);
    const gain = learning.gain(row);
    for (let o = 0; o < weights.rows; o++) {
      const error = target[o]! - step.prediction[o]!;
      if (!Number.isFinite(error)) {
        throw new SpillwayError(
          "numeric",
          `${this.#rule.method} diverged: the error at row ${learning.rows} is ${error}. Take a smaller learning rate or more regularisation`,
        );
      }
      step.error[o] = error;
      const offset = o * weights.cols;
      for (let f = 0; f < weights.cols; f++) weights.data[offset + f] = weights.data[offset + f]! + error * gain[f]!;
      if (this.#rule.intercept) intercept[o] = intercept[o]! + error * gain[weights.cols]!;
    }
    learning.rows++;
    return step;
  }
}
