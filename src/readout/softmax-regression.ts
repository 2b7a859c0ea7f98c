// Multinomial logistic regression: a readout whose outputs are scores of classes, and their
// probabilities. The minimiser is in newton.ts; loss and derivatives are here.
import { ArgumentError } from "@spillway/core/errors.js";
import { type Resolved, resolve } from "@spillway/core/options.js";
import { Matrix, type MatrixLike, portableExp, portableLog, ResidentRows, stackRows } from "@spillway/numerics";
import { minimiseByNewton, type SmoothObjective } from "@spillway/numerics/newton.js";
import type { FeatureSpec } from "../reservoir/features.js";
import { featureRows, featureSpec } from "./features-option.js";
import { type SoftmaxOptions, softmaxTable } from "./options.js";
import { TrainedReadout } from "./trained-readout.js";
import type { ReadoutDescription, Trainer } from "./trainer.js";
import { type FitOptions, type SeriesLike, shapeOf, type TrainingSequence, trainingSequences } from "./training-data.js";

/**
 * Softmax regression: p_k(x) = exp(w_k . x + b_k) / sum over j of exp(w_j . x + b_j), fitted by
 * minimising
 * - sum over t, k of y_tk log p_k(x_t) + l2 / 2 |W|^2 (Bishop 2006, Pattern Recognition and Machine
 *   Learning, section 4.3.4) with
 * truncated Newton steps. The same bits everywhere: exp and log are the portable ones, and every
 * sum has one order.
 * @throws ArgumentError naming the option
 */
export function softmaxRegression(options: SoftmaxOptions = {}): SoftmaxTrainer {
  return new SoftmaxTrainer(options);
}

/** Scores (`predict`), probabilities and classes. */
export class SoftmaxReadout extends TrainedReadout {
  /** T x K probabilities, binary64; each row sums to 1. */
  predictProba(states: MatrixLike, inputs?: MatrixLike): Matrix<Float64Array> {
    return softmax(this.predict(states, inputs, { precision: "float64" }));
  }

  /** T class numbers: the largest score of each row, the first if tied. */
  predictClasses(states: MatrixLike, inputs?: MatrixLike): Int32Array {
    const scores = this.predict(states, inputs, { precision: "float64" });
    return Int32Array.from({ length: scores.rows }, (_, t) => {
      const row = scores.row(t);
      let best = 0;
      for (let k = 1; k < row.length; k++) if (row[k]! > row[best]!) best = k;
      return best;
    });
  }
}

/**
 * Row by row exp(s_k) / sum of exp(s_j), of scores T x K, in portable arithmetic. @throws
 * ArgumentError if scores is no Matrix
 */
export function softmax(scores: Matrix): Matrix<Float64Array> {
  if (!(scores instanceof Matrix)) throw new ArgumentError("scores", scores, "a Matrix");
  const out = Matrix.zeros(scores.rows, scores.cols);
  for (let t = 0; t < scores.rows; t++) softmaxRow(scores.row(t), out.row(t));
  return out;
}

/** Fits multinomial logistic regression by Newton's method; `softmaxRegression` makes one. */
export class SoftmaxTrainer implements Trainer {
  readonly features: FeatureSpec;
  readonly description: ReadoutDescription;
  readonly #options: Resolved<typeof softmaxTable>;

  /** Use `softmaxRegression`. */
  constructor(options: SoftmaxOptions) {
    this.#options = resolve(softmaxTable, options, "softmaxRegression");
    this.features = featureSpec(this.#options);
    this.description = { type: "softmax", ...options };
  }

  /**
   * Trains on T x N states and targets that are class numbers 0, 1, ... (one column) or
   * probabilities of K classes (T x K, rows that sum to 1). @throws ArgumentError for other
   * targets, NotConvergedError
   */
  fit(states: SeriesLike, targets: SeriesLike, options: FitOptions = {}): SoftmaxReadout {
    const { l2, tolerance, maxIterations, intercept: constant } = this.#options;
    const sequences = trainingSequences(states, targets, options, this.features.input);
    const x = featureRows(sequences, this.features, constant);
    const y = classTargets(sequences);
    const objective = softmaxObjective(x, y, l2, constant);
    const { point, iterations, gradientNorm } = minimiseByNewton(objective, tolerance * x.rows, maxIterations);
    const count = x.cols - (constant ? 1 : 0);
    const weights = Matrix.zeros(y.cols, count);
    const intercept = new Float64Array(y.cols);
    for (let k = 0; k < y.cols; k++) {
      weights.data.set(point.subarray(k * x.cols, k * x.cols + count), k * count);
      if (constant) intercept[k] = point[k * x.cols + count]!;
    }
    const { stateSize, inputSize } = shapeOf(sequences[0]!);
    const details = { l2, tolerance, iterations, gradientNorm };
    const data = { features: this.features, stateSize, inputSize, weights, intercept };
    return new SoftmaxReadout(data, { method: "softmaxRegression", rows: x.rows, details });
  }
}

/**
 * Loss, gradient and curvature over the parameters K x F (row-major), the last feature unpenalised
 * if it is the constant one.
 */
function softmaxObjective(x: Matrix<Float64Array>, y: Matrix<Float64Array>, l2: number, intercept: boolean): SmoothObjective {
  const classes = y.cols;
  const features = x.cols;
  const rows = new ResidentRows(x, classes);
  const penalised = features - (intercept ? 1 : 0);
  const probabilities = new Float64Array(y.data.length);
  const factors = new Float64Array(y.data.length);
  const columnSquares = new Float64Array(features);
  for (let i = 0; i < x.data.length; i++) columnSquares[i % features] = columnSquares[i % features]! + x.data[i]! * x.data[i]!;
  const addPenalty = (point: Float64Array, out: Float64Array): void => {
    for (let i = 0; i < point.length; i++) if (i % features < penalised) out[i] = out[i]! + l2 * point[i]!;
  };
  return {
    size: classes * features,
    evaluate(point, gradient) {
      const scores = rows.multiply(point);
      let loss = 0;
      for (let t = 0; t < x.rows; t++) {
        const from = t * classes;
        const row = scores.subarray(from, from + classes);
        const logSum = softmaxRow(row, probabilities.subarray(from, from + classes));
        for (let k = 0; k < classes; k++) {
          const target = y.data[from + k]!;
          if (target !== 0) loss += target * (logSum - row[k]!);
          factors[from + k] = probabilities[from + k]! - target;
        }
      }
      rows.weightedSum(factors, gradient);
      addPenalty(point, gradient);
      let squares = 0;
      for (let i = 0; i < point.length; i++) if (i % features < penalised) squares += point[i]! * point[i]!;
      return loss + 0.5 * l2 * squares;
    },
    curvature(direction, out) {
      const scores = rows.multiply(direction);
      for (let t = 0; t < x.rows; t++) {
        const from = t * classes;
        let mean = 0;
        for (let k = 0; k < classes; k++) mean += probabilities[from + k]! * scores[from + k]!;
        for (let k = 0; k < classes; k++) factors[from + k] = probabilities[from + k]! * (scores[from + k]! - mean);
      }
      rows.weightedSum(factors, out);
      addPenalty(direction, out);
    },
    preconditioner(out) {
      for (let k = 0; k < classes; k++) {
        let spread = 0;
        for (let i = k; i < probabilities.length; i += classes) spread += probabilities[i]! * (1 - probabilities[i]!);
        spread /= x.rows;
        for (let f = 0; f < features; f++) {
          const diagonal = spread * columnSquares[f]! + (f < penalised ? l2 : 0);
          out[k * features + f] = diagonal > 0 ? 1 / diagonal : 1;
        }
      }
    },
  };
}

/** Writes the probabilities of a row of scores and returns log(sum of exp(scores)). */
function softmaxRow(scores: ArrayLike<number>, out: Float64Array): number {
  let largest = Number.NEGATIVE_INFINITY;
  for (let k = 0; k < scores.length; k++) if (scores[k]! > largest) largest = scores[k]!;
  let sum = 0;
  for (let k = 0; k < scores.length; k++) {
    out[k] = portableExp(scores[k]! - largest);
    sum += out[k]!;
  }
  for (let k = 0; k < scores.length; k++) out[k] = out[k]! / sum;
  return largest + portableLog(sum);
}

/** T x K probabilities from class numbers or from probabilities. */
function classTargets(sequences: readonly TrainingSequence[]): Matrix<Float64Array> {
  const cols = sequences[0]!.targets.cols;
  const given = stackRows(sequences.map(({ targets }) => targets));
  if (cols === 1) return fromClassNumbers(given.data);
  for (let t = 0; t < given.rows; t++) {
    let sum = 0;
    for (const value of given.row(t)) {
      if (value < 0)
        throw ArgumentError.because(`targets: row ${t} holds ${value}; probabilities of classes are at least 0`, { field: "targets" });
      sum += value;
    }
    if (Math.abs(sum - 1) > 1e-6)
      throw ArgumentError.because(`targets: row ${t} sums to ${sum}; probabilities of classes sum to 1`, { field: "targets" });
  }
  return given;
}

function fromClassNumbers(numbers: Float64Array): Matrix<Float64Array> {
  let largest = 1;
  numbers.forEach((value, t) => {
    if (!Number.isSafeInteger(value) || value < 0)
      throw ArgumentError.because(`targets: row ${t} is ${value}; classes are whole numbers 0, 1, 2, ...`, { field: "targets" });
    largest = Math.max(largest, value);
  });
  const out = Matrix.zeros(numbers.length, largest + 1);
  numbers.forEach((value, t) => {
    out.data[t * out.cols + value] = 1;
  });
  return out;
}
