// A step in integers, as its definition says it: docs/numerics.md, rule 18. Sums are exact in
// binary64, so that they have no order.
import { type FloatArray, isSparse, type Matrix } from "@spillway/numerics";
import type { ReservoirModel } from "../model.js";
import { integerTanh } from "./tanh.js";

/** Steps of a state, a leak rate and a pre-activation in 1. */
export const unit = 2 ** 15;

/** Steps of an input and an output that is fed back in 1. */
export const inputUnit = 2 ** 12;

/** An input or a fed-back output in steps of 2^-12, held within 16 bits. */
export function inputSteps(value: number): number {
  return Math.max(-32767, Math.min(32767, Math.floor(value * inputUnit + 0.5)));
}

/** x(t+1) of a model whose arithmetic is "integer". */
export function integerStep(model: ReservoirModel, state: FloatArray, input: FloatArray, output: FloatArray): FloatArray {
  const u = Float64Array.from(input, (value) => inputSteps(value) / inputUnit);
  const y = Float64Array.from(model.feedbackWeights ? output : [], (value) => inputSteps(value) / inputUnit);
  const next = new Float32Array(model.size);
  for (let r = 0; r < model.size; r++) {
    let sum = model.bias[r]! + recurrent(model, r, state) + rowSum(model.inputWeights, r, u);
    if (model.feedbackWeights) sum += rowSum(model.feedbackWeights, r, y);
    const f = integerTanh(Math.floor(sum * unit + 0.5));
    const x = state[r]! * unit;
    next[r] = (x + Math.floor((model.leakRate[r]! * unit * (f - x)) / unit + 0.5)) / unit;
  }
  return next;
}

function recurrent({ weights, size }: ReservoirModel, r: number, state: FloatArray): number {
  let sum = 0;
  if (isSparse(weights)) {
    for (let p = weights.rowOffsets[r]!; p < weights.rowOffsets[r + 1]!; p++) sum += weights.values[p]! * state[weights.columns[p]!]!;
    return sum;
  }
  for (let k = 0; k < size; k++) sum += weights.data[r * size + k]! * state[k]!;
  return sum;
}

function rowSum({ data, cols }: Matrix, r: number, vector: Float64Array): number {
  let sum = 0;
  for (let k = 0; k < cols; k++) sum += data[r * cols + k]! * vector[k]!;
  return sum;
}
