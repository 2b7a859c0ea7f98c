// Intrinsic plasticity: each neuron of a rate reservoir learns its own gain and bias, to bring its
// activity to a wanted distribution.
import { checkHas } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { type InputOf, number, option, optional, type Resolved, resolve } from "@spillway/core/options.js";
import {
  allocate,
  asMatrix,
  type FloatArray,
  firstNonFinite,
  isSparse,
  Matrix,
  type MatrixLike,
  portableTanh,
  type SparseMatrix,
} from "@spillway/numerics";
import type { ReservoirModel } from "../../reservoir/index.js";
import { count, positiveNumber } from "../options.js";

export const intrinsicTable = {
  /**
   * mu, the wanted mean of the activity: in (0, 1) for sigmoid (default 0.2), in (-1, 1) for tanh
   * (default 0).
   */
  mean: optional(number(), "mu, the wanted mean of the activity; left out, 0.2 for sigmoid and 0 for tanh."),
  /** sigma, the wanted standard deviation; for tanh only. Default 0.2. */
  standardDeviation: optional(positiveNumber, "sigma, the wanted deviation, for tanh; left out, 0.2."),
  /** eta; default 5e-4. */
  learningRate: option(positiveNumber, 5e-4, "eta."),
  /** How often the inputs are gone through; default 1. The state goes on from one to the next. */
  epochs: option(count, 1, "How often the inputs are gone through."),
};

/** The activity that is wanted of each neuron, and how it is learnt. */
export interface IntrinsicPlasticityOptions extends InputOf<typeof intrinsicTable> {}

/** The reservoir after learning, and what was learnt. */
export interface IntrinsicPlasticityResult {
  /**
   * The reservoir with gain and bias worked into W, W_in and b: it runs and is saved like any
   * other.
   */
  readonly model: ReservoirModel;
  /** a, N values. */
  readonly gain: Float64Array;
  /** b, N values, what was added to a times the bias of before. */
  readonly bias: Float64Array;
  /** Mean and standard deviation of each neuron's y over the last epoch, N values each. */
  readonly activityMean: Float64Array;
  readonly activityDeviation: Float64Array;
}

/**
 * Neuron i has y = f(a z + b) with z = (W x + W_in u + bias)_i; the state leaks as ever, x' = (1 -
 * leak) x + leak y. After each step of the inputs (T x I) gain and bias learn towards
 * - sigmoid: an exponential distribution of mean mu (Triesch 2005, "A gradient rule for the
 *   plasticity of a neuron's intrinsic
 * excitability"):
 *   da = eta (1/a + z - (2 + 1/mu) z y + z y^2 / mu), db = eta (1 - (2 + 1/mu) y + y^2 / mu);
 * - tanh: a normal distribution of mean mu and deviation sigma (Schrauwen et al. 2008, "Improving
 *   reservoirs using intrinsic plasticity"): db = -eta (-mu/sigma^2 + (y/sigma^2)(2 sigma^2 + 1 -
 *   y^2 + mu y)), da = eta/a + db z.
 * Noise is left out while learning. The learning is in binary64; what comes of it is rounded to the
 * model's precision.
 * @throws ArgumentError on another activation, a reservoir with feedback, inputs of another width,
 * or if a gain leaves the positive numbers.
 */
export function intrinsicPlasticity(
  model: ReservoirModel,
  inputs: MatrixLike,
  options: IntrinsicPlasticityOptions = {},
): IntrinsicPlasticityResult {
  checkHas("model", model, "the model of a reservoir", "size", "config");
  const { epochs, ...wanted } = resolve(intrinsicTable, options);
  const { activation, size, inputSize } = model;
  if (activation !== "sigmoid" && activation !== "tanh") throw new ArgumentError("activation", activation, '"sigmoid" or "tanh"');
  if (model.cell) throw new ArgumentError("cell", model.config.cell?.type, "nothing: gains are learnt of leaky neurons");
  if (model.outputSize > 0)
    throw new ArgumentError("feedback", model.config.feedback, "null: there is no output to feed back while gains are learnt");
  const rule = ruleOf(activation, wanted);
  const series = asMatrix(inputs, "inputs");
  if (series.cols !== inputSize)
    throw new ArgumentError("the number of columns of inputs", series.cols, `${inputSize}, the reservoir's inputSize`, { code: "shape" });
  if (firstNonFinite(series.data) >= 0)
    throw new ArgumentError("a value of inputs", series.data[firstNonFinite(series.data)], "finite numbers");
  const gain = new Float64Array(size).fill(1);
  const bias = new Float64Array(size);
  const sums = new Float64Array(size);
  const squares = new Float64Array(size);
  let state = Float64Array.from(model.initialState);
  for (let epoch = 0; epoch < epochs; epoch++) {
    for (let t = 0; t < series.rows; t++) {
      const next = new Float64Array(size);
      for (let i = 0; i < size; i++) {
        const z = netInput(model, i, state, series.row(t));
        const y = rule.activate(gain[i]! * z + bias[i]!);
        const leak = model.leakRate[i]!;
        next[i] = (1 - leak) * state[i]! + leak * y;
        const change = rule.biasChange(y);
        gain[i] = gain[i]! + rule.learningRate / gain[i]! + change * z;
        bias[i] = bias[i]! + change;
        if (!(gain[i]! > 0 && gain[i]! < Infinity)) {
          throw new ArgumentError(`the gain of neuron ${i} after step ${t}`, gain[i], "positive numbers: take a smaller learningRate");
        }
        if (epoch < epochs - 1) continue;
        sums[i] = sums[i]! + y;
        squares[i] = squares[i]! + y * y;
      }
      state = next;
    }
  }
  const activityMean = sums.map((sum) => sum / series.rows);
  return {
    model: withGain(model, gain, bias),
    gain,
    bias,
    activityMean,
    activityDeviation: squares.map((sum, i) => Math.sqrt(Math.max(0, sum / series.rows - activityMean[i]! * activityMean[i]!))),
  };
}

function ruleOf(
  activation: "sigmoid" | "tanh",
  { mean = activation === "sigmoid" ? 0.2 : 0, standardDeviation, learningRate }: Omit<Resolved<typeof intrinsicTable>, "epochs">,
) {
  if (activation === "sigmoid") {
    if (!(mean > 0 && mean < 1)) throw new ArgumentError("mean", mean, "a number between 0 and 1 for sigmoid neurons");
    if (standardDeviation !== undefined)
      throw new ArgumentError(
        "standardDeviation",
        standardDeviation,
        "no value for sigmoid neurons: an exponential distribution has its mean",
      );
    return {
      learningRate,
      activate: (z: number) => 0.5 + 0.5 * portableTanh(0.5 * z),
      biasChange: (y: number) => learningRate * (1 - (2 + 1 / mean) * y + (y * y) / mean),
    };
  }
  if (!(mean >= -1 && mean <= 1)) throw new ArgumentError("mean", mean, "a number from -1 to 1 for tanh neurons");
  const variance = (standardDeviation ?? 0.2) ** 2;
  return {
    learningRate,
    activate: portableTanh,
    biasChange: (y: number) => -learningRate * (-mean / variance + (y / variance) * (2 * variance + 1 - y * y + mean * y)),
  };
}

/** (W x + W_in u + bias)_i in rising order. */
function netInput({ weights, inputWeights, bias }: ReservoirModel, i: number, state: Float64Array, input: FloatArray): number {
  let sum = bias[i]!;
  for (let k = 0; k < inputWeights.cols; k++) sum += inputWeights.data[i * inputWeights.cols + k]! * input[k]!;
  if (isSparse(weights))
    for (let p = weights.rowOffsets[i]!; p < weights.rowOffsets[i + 1]!; p++) sum += weights.values[p]! * state[weights.columns[p]!]!;
  else for (let j = 0; j < weights.cols; j++) sum += weights.data[i * weights.cols + j]! * state[j]!;
  return sum;
}

function withGain(model: ReservoirModel, gain: Float64Array, bias: Float64Array): ReservoirModel {
  const { weights, inputWeights, precision } = model;
  const scaled = (matrix: Matrix) => {
    const data = allocate(precision, matrix.data.length);
    for (let i = 0; i < data.length; i++) data[i] = matrix.data[i]! * gain[Math.floor(i / matrix.cols)]!;
    return new Matrix(matrix.rows, matrix.cols, data);
  };
  const scaledSparse = (matrix: SparseMatrix) => {
    const values = allocate(precision, matrix.values.length);
    for (let r = 0; r < matrix.rows; r++)
      for (let p = matrix.rowOffsets[r]!; p < matrix.rowOffsets[r + 1]!; p++) values[p] = matrix.values[p]! * gain[r]!;
    return { ...matrix, values };
  };
  const shifted = allocate(precision, model.size);
  for (let i = 0; i < model.size; i++) shifted[i] = gain[i]! * model.bias[i]! + bias[i]!;
  return {
    ...model,
    weights: isSparse(weights) ? scaledSparse(weights) : scaled(weights),
    inputWeights: scaled(inputWeights),
    bias: shifted,
  };
}
