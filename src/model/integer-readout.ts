// A readout over states in integers: its weights are rounded to 24 bits, so that its sums are
// exact, in binary64 as in 64-bit integers.
import { Matrix } from "@spillway/numerics";
import { TrainedReadout } from "../readout/index.js";
import type { AnyModel } from "../reservoir/index.js";

/** The largest weight of an output, in steps: 24 bits with the sign. */
const mostSteps = 2 ** 23;

/** Weights are finer than 2^-24 at no gain; intercepts are finer by the 15 bits of a state. */
const mostExponent = 24;
const leastExponent = -24;

/** e of an output: its weights are whole numbers of 2^-e, its intercept of 2^-(e + 15). */
export function readoutExponent(weights: ArrayLike<number>, intercept: number): number {
  let largest = Math.abs(intercept) / 2;
  for (let k = 0; k < weights.length; k++) largest = Math.max(largest, Math.abs(weights[k]!));
  let e = mostExponent;
  while (e > leastExponent && Math.floor(largest * 2 ** e + 0.5) >= mostSteps) e--;
  return e;
}

/**
 * The readout of a member whose reservoir computes in integers, rounded; any other as it is. What
 * is rounded so is not changed by a second time.
 */
export function readoutFor(model: AnyModel, readout: TrainedReadout): TrainedReadout {
  if (model.kind !== undefined || model.config.arithmetic !== "integer") return readout;
  const { features, stateSize, inputSize, training, leftOut } = readout;
  const weights = new Matrix(readout.weights.rows, readout.weights.cols, readout.weights.data.slice());
  const intercept = readout.intercept.slice();
  for (let o = 0; o < weights.rows; o++) {
    const row = weights.row(o);
    const steps = 2 ** readoutExponent(row, intercept[o]!);
    for (let k = 0; k < row.length; k++) row[k] = Math.floor(row[k]! * steps + 0.5) / steps;
    const finer = steps * 2 ** 15;
    intercept[o] = Math.floor(intercept[o]! * finer + 0.5) / finer;
  }
  return new TrainedReadout({ features, stateSize, inputSize, weights, intercept }, training, leftOut);
}
