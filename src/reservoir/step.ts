// One step of a reservoir as a pure function, in the order of the equation. Every engine must equal
// it, bit for bit.
import {
  allocate,
  type FloatArray,
  type Matrix,
  type PhiloxKey,
  type Precision,
  philox4x32,
  rowDot,
  uniformFromWords,
} from "@spillway/numerics";
import { activationOf } from "./activations.js";
import { integerStep } from "./integer/step.js";
import type { ReservoirModel } from "./model.js";

/** Rounds to the model's precision. */
type Round = (value: number) => number;

const keep: Round = (value) => value;

/**
 * x(t+1) = (1 - a) x(t) + a f(drive + W x(t) + W_fb y(t) + noise), drive = b + W_in u(t+1). With a
 * cell k O x(t), or k x(t), stands for (1 - a) x(t).
 * docs/numerics.md, rules 1 to 6, and rule 18 for integers.
 *
 * @param state x(t), N values
 * @param input u(t+1), I values
 * @param output y(t), O values; not read if the model has no feedback
 * @param step steps since reset, from 0: the noise counter
 * @param sequence 0, or the index in a batch
 */
export function reservoirStep(
  model: ReservoirModel,
  state: FloatArray,
  input: FloatArray,
  output: FloatArray,
  step: number,
  sequence: number,
): FloatArray {
  if (model.config.arithmetic === "integer") return integerStep(model, state, input, output);
  const round: Round = model.precision === "float32" ? Math.fround : keep;
  const activate = activationOf(model);
  const next = allocate(model.precision, model.size);
  for (let r = 0; r < model.size; r++) {
    let z = round(drive(model, r, input, round) + rowDot(model.weights, r, state, round));
    if (model.feedbackWeights) z = round(z + rowSum(model.feedbackWeights, r, output, round));
    if (model.noiseLevel !== 0) z = round(z + noise(model.noiseLevel, model.noiseKey, r, step, sequence, model.precision));
    const a = model.leakRate[r]!;
    const { keep: k = round(1 - a), value } = kept(model, r, state, round);
    next[r] = round(round(k * value) + round(a * activate(z)));
  }
  return next;
}

/**
 * What neuron r keeps of the state: row r of O x, or its own x, and its factor if a cell has one.
 */
function kept({ cell }: ReservoirModel, r: number, state: FloatArray, round: Round): { readonly keep?: number; readonly value: number } {
  if (!cell) return { value: state[r]! };
  const value = cell.orthogonal ? rowDot(cell.orthogonal, r, state, round) : state[r]!;
  return { keep: cell.keep[r]!, value };
}

/** b[r] + W_in[r, 0] u[0] + W_in[r, 1] u[1] + ... in rising order. */
function drive(model: ReservoirModel, r: number, input: FloatArray, round: Round): number {
  const { data, cols } = model.inputWeights;
  let sum = model.bias[r]!;
  for (let i = 0; i < cols; i++) sum = round(sum + round(data[r * cols + i]! * input[i]!));
  return sum;
}

/** Sum over k of row r times the vector, in rising order from +0. */
function rowSum(matrix: Matrix, r: number, vector: FloatArray, round: Round): number {
  let sum = 0;
  for (let k = 0; k < matrix.cols; k++) sum = round(sum + round(matrix.data[r * matrix.cols + k]! * vector[k]!));
  return sum;
}

const block = new Uint32Array(4);

/** level (2U - 1) of neuron r, U from the noise stream: docs/numerics.md, rule 6. */
export function noise(level: number, key: PhiloxKey, r: number, step: number, sequence: number, precision: Precision): number {
  if (precision === "float32") {
    philox4x32(key, step, r >>> 2, sequence, 0, block);
    return Math.fround(level * (2 * ((block[r & 3]! >>> 8) * 2 ** -24) - 1));
  }
  philox4x32(key, step, r >>> 1, sequence, 0, block);
  const word = (r & 1) * 2;
  return level * (2 * uniformFromWords(block[word]!, block[word + 1]!) - 1);
}
