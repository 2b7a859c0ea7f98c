// What a linear readout sees, and a trained linear readout as data. The order of its sums is part
// of the definition (docs/numerics.md, rules 9 and 10), so every engine can evaluate one inside its
// own loop.
import { allocate, type FloatArray, type Matrix, type Precision } from "@spillway/numerics";

/**
 * The features of one step, in this order: the state, then the input, then the squares.
 * - `state: "plain"` is x; `"squareHalf"` squares every second neuron (1, 3, 5, ...) in place, as
 *   Lu et al. 2017 and Pathak et al. 2017 do.
 * - `input` appends the step's input.
 * - `squares` appends x_i^2 of every neuron.
 */
export interface FeatureSpec {
  readonly state: "plain" | "squareHalf";
  readonly input: boolean;
  readonly squares: boolean;
}

/** The state and nothing else. */
export const plainFeatures: FeatureSpec = { state: "plain", input: false, squares: false };

/** A trained linear readout: y = weights . features + intercept, in binary64. */
export interface LinearReadout {
  readonly features: FeatureSpec;
  /** N of the reservoir it was trained on. */
  readonly stateSize: number;
  /** I of the inputs it was trained on; it matters if `features.input` is set. */
  readonly inputSize: number;
  /** O x F. */
  readonly weights: Matrix<Float64Array>;
  /** O values. */
  readonly intercept: Float64Array;
}

/** F, the number of features. */
export function featureCount(spec: FeatureSpec, stateSize: number, inputSize: number): number {
  return stateSize + (spec.input ? inputSize : 0) + (spec.squares ? stateSize : 0);
}

/**
 * Writes the features of one step into `out` (F values, binary64). Squares are exact products
 * rounded once to binary64.
 */
export function writeFeatures(spec: FeatureSpec, state: ArrayLike<number>, input: ArrayLike<number>, out: Float64Array): void {
  const size = state.length;
  out.set(state);
  if (spec.state === "squareHalf") for (let i = 1; i < size; i += 2) out[i] = state[i]! * state[i]!;
  let next = size;
  if (spec.input) {
    out.set(input, next);
    next += input.length;
  }
  if (spec.squares) for (let i = 0; i < size; i++) out[next++] = state[i]! * state[i]!;
}

/**
 * Evaluates a readout on one step: for each output the portable dot product (rule 1: 32 partial
 * sums, butterfly) in binary64, plus the intercept. `out` takes O values and rounds them to its own
 * precision.
 */
export function evaluateReadout(readout: LinearReadout, features: Float64Array, out: FloatArray): void {
  const { weights, intercept } = readout;
  const partial = new Float64Array(32);
  for (let o = 0; o < weights.rows; o++) {
    partial.fill(0);
    const row = o * weights.cols;
    for (let k = 0; k < weights.cols; k++) partial[k & 31] = partial[k & 31]! + weights.data[row + k]! * features[k]!;
    for (let half = 16; half > 0; half >>= 1) for (let l = 0; l < half; l++) partial[l] = partial[l]! + partial[l + half]!;
    out[o] = partial[0]! + intercept[o]!;
  }
}

/**
 * Applies a readout to every row: T x N states and T x I inputs give T x O outputs of the given
 * precision.
 */
export function applyReadout(
  readout: LinearReadout,
  states: Matrix,
  inputs: Matrix | undefined,
  precision: Precision = "float64",
): FloatArray {
  const outputs = readout.weights.rows;
  const out = allocate(precision, states.rows * outputs);
  const features = new Float64Array(readout.weights.cols);
  const none = new Float64Array(0);
  for (let t = 0; t < states.rows; t++) {
    writeFeatures(readout.features, states.row(t), inputs ? inputs.row(t) : none, features);
    evaluateReadout(readout, features, out.subarray(t * outputs, (t + 1) * outputs));
  }
  return out;
}
