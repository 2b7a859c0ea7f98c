// The weights of a reservoir with integer arithmetic: whole numbers of steps, which each row of W,
// W_in and W_fb has in common, chosen so that no sum of a step leaves 32 bits.
import { ArgumentError } from "@spillway/core/errors.js";
import { warnOnce } from "@spillway/core/warning.js";
import { type FloatArray, isSparse, Matrix, type SparseMatrix } from "@spillway/numerics";
import type { ReservoirConfig } from "../config.js";
import type { ReservoirModel } from "../model.js";
import { unit } from "./step.js";

/** What a sum of a step may come to: 2^31 less what rounding adds to it. */
const mostSum = 2 ** 31;

/** Weights are finer than 2^-14 at no gain: states are steps of 2^-15. */
const mostExponent = 14;

/** Sums in binary64 are exact up to this many neurons. */
const mostNeurons = 16384;

/** @throws ArgumentError for a description that integer arithmetic does not take */
export function checkInteger(config: Omit<ReservoirConfig, "feedback">): void {
  const refuse = (field: string, value: unknown, takes: string): never => {
    throw new ArgumentError(field, value, `${takes} with arithmetic "integer"`);
  };
  const { size, precision, activation, cell, noiseLevel, weightPrecision } = config;
  if (size > mostNeurons) refuse("size", size, `at most ${mostNeurons}`);
  if (precision !== "float32") refuse("precision", precision, '"float32", which holds every state,');
  if (activation !== "tanh") refuse("activation", activation, '"tanh"');
  if (cell) refuse("cell", cell.type, "nothing, which is the leaky cell,");
  if (noiseLevel > 0) refuse("noiseLevel", noiseLevel, "0");
  if (weightPrecision !== "full" && weightPrecision !== "int8")
    refuse("weightPrecision", weightPrecision, '"full", which is 16 bits, or "int8"');
}

/** @throws ArgumentError for a state that integer arithmetic does not hold */
export function checkSteps(values: FloatArray): void {
  const at = values.findIndex((x) => !Number.isInteger(x * unit) || Math.abs(x) >= 1);
  if (at < 0) return;
  const takes = 'whole steps of 2^-15 above -1 and below 1 with arithmetic "integer"';
  throw ArgumentError.because(`state.values is ${values[at]} at neuron ${at}; it takes ${takes}`, { field: "state.values" });
}

/** The model with weights, biases, leak rates and initial state rounded to whole steps. */
export function inIntegers(model: ReservoirModel): ReservoirModel {
  const { weights, inputWeights, feedbackWeights, bias, leakRate, initialState } = model;
  const exponents = rowExponents(model);
  const inSteps = <M extends Matrix | SparseMatrix>(matrix: M, option: string): M => {
    const steps = rounded(matrix, exponents);
    warnOfZeros(matrix, steps, option);
    return steps;
  };
  return {
    ...model,
    weights: inSteps(weights, "spectralRadius"),
    inputWeights: inSteps(inputWeights, "inputScaling"),
    ...(feedbackWeights && { feedbackWeights: inSteps(feedbackWeights, "feedback.scaling") }),
    bias: inUnits(bias, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY),
    leakRate: inUnits(leakRate, 1, unit),
    initialState: stateSteps(initialState),
  };
}

function inUnits(values: FloatArray, least: number, most: number): FloatArray {
  return values.map((value) => Math.max(least, Math.min(most, nearest(value * unit))) / unit) as FloatArray;
}

/** A state's values at the nearest whole steps of 2^-15, held within 16 bits. */
export const stateSteps = (values: FloatArray): FloatArray => inUnits(values, -32767, 32767);

const nearest = (value: number): number => Math.floor(value + 0.5);

/**
 * e of each row: its weights are whole numbers of 2^-e. The largest, up to 14, with which weights
 * fit their bits and every sum fits 32. A second rounding changes nothing.
 * @throws ArgumentError for a row whose weights are too large
 */
export function rowExponents(model: Omit<ReservoirModel, "leakRate">): Uint8Array {
  const { weights, inputWeights, feedbackWeights, bias, size, config } = model;
  const limit = config.weightPrecision === "int8" ? 127 : 32767;
  const out = new Uint8Array(size);
  for (let r = 0; r < size; r++) {
    const fits = (e: number): boolean => {
      const own = magnitudes(rowOf(weights, r), e);
      const inputs = magnitudes(inputWeights.row(r), e);
      const fed = magnitudes(feedbackWeights ? feedbackWeights.row(r) : [], e);
      const most = unit * (own.sum + 8 * (inputs.sum + fed.sum)) + Math.abs(nearest(bias[r]! * unit)) * 2 ** e + 2 ** e;
      return own.largest <= limit && inputs.largest <= 32767 && fed.largest <= 32767 && most < mostSum;
    };
    let e = mostExponent;
    while (e >= 0 && !fits(e)) e--;
    if (e < 0)
      throw new ArgumentError(
        "arithmetic",
        "integer",
        `weights that sums of 32 bits hold, and those of neuron ${r} are too large; take a smaller spectralRadius, inputScaling or bias`,
      );
    out[r] = e;
  }
  return out;
}

/** Row r of a matrix; of a sparse one its stored values. */
export function rowOf(matrix: Matrix | SparseMatrix, r: number): FloatArray {
  return isSparse(matrix) ? matrix.values.subarray(matrix.rowOffsets[r]!, matrix.rowOffsets[r + 1]!) : matrix.row(r);
}

function magnitudes(row: ArrayLike<number>, exponent: number): { readonly largest: number; readonly sum: number } {
  let largest = 0;
  let sum = 0;
  for (let k = 0; k < row.length; k++) {
    const size = Math.abs(nearest(row[k]! * 2 ** exponent));
    largest = Math.max(largest, size);
    sum += size;
  }
  return { largest, sum };
}

function rounded<M extends Matrix | SparseMatrix>(matrix: M, exponents: Uint8Array): M {
  const copy = isSparse(matrix) ? { ...matrix, values: matrix.values.slice() } : new Matrix(matrix.rows, matrix.cols, matrix.data.slice());
  for (let r = 0; r < matrix.rows; r++) {
    const row = rowOf(copy, r);
    const steps = 2 ** exponents[r]!;
    for (let k = 0; k < row.length; k++) row[k] = nearest(row[k]! * steps) / steps;
  }
  return copy as M;
}

/** The share of a matrix's weights that may be rounded to 0 unsaid. */
const mayVanish = 0.05;

/** Warns if many weights of a matrix are rounded to 0, since they are small beside those of W. */
function warnOfZeros(before: Matrix | SparseMatrix, after: Matrix | SparseMatrix, option: string): void {
  const given = nonzeros(before);
  const share = given === 0 ? 0 : 1 - nonzeros(after) / given;
  if (share <= mayVanish) return;
  warnOnce(
    "SpillwayIntegerWeightsWarning",
    `arithmetic "integer" rounds ${Number((100 * share).toPrecision(2))} % of the weights that ${option} scales to 0: ` +
      `they are too small beside the others of their neuron; take a larger ${option}`,
  );
}

function nonzeros(matrix: Matrix | SparseMatrix): number {
  let count = 0;
  for (const value of isSparse(matrix) ? matrix.values : matrix.data) if (value !== 0) count++;
  return count;
}

/** A model's rows as whole numbers. */
export interface IntegerRows {
  /** e of each row. */
  readonly exponents: Uint8Array;
  /** W's stored values, in steps of 2^-e. */
  readonly weights: Int16Array;
  /** W_in, N x I, and W_fb, N x O, in steps of 2^-e. */
  readonly inputWeights: Int16Array;
  readonly feedbackWeights: Int16Array;
  /** b in steps of 2^-(15 + e), with the half that rounding adds: 2^(e - 1). */
  readonly bias: Int32Array;
  /** Leak rates in steps of 2^-15. */
  readonly leakRate: Int32Array;
}

/** @throws ArgumentError for a model that was changed to hold other than whole numbers of steps */
export function integerRows(model: ReservoirModel): IntegerRows {
  const { weights, inputWeights, feedbackWeights, bias, leakRate } = model;
  const exponents = rowExponents(model);
  const whole = (value: number, what: string): number => {
    if (Number.isInteger(value)) return value;
    throw new ArgumentError("model", what, "weights in steps, as a model with integer arithmetic was made with");
  };
  const steps = (matrix: Matrix | SparseMatrix, name: string): Int16Array => {
    const out = new Int16Array(isSparse(matrix) ? matrix.values.length : matrix.data.length);
    let next = 0;
    for (let r = 0; r < matrix.rows; r++) {
      const row = rowOf(matrix, r);
      const scale = 2 ** exponents[r]!;
      for (let k = 0; k < row.length; k++) out[next++] = whole(row[k]! * scale, name);
    }
    return out;
  };
  return {
    exponents,
    weights: steps(weights, "weights"),
    inputWeights: steps(inputWeights, "inputWeights"),
    feedbackWeights: feedbackWeights ? steps(feedbackWeights, "feedbackWeights") : new Int16Array(0),
    bias: Int32Array.from(bias, (value, r) => whole(value * unit, "bias") * 2 ** exponents[r]! + ((2 ** exponents[r]!) >> 1)),
    leakRate: Int32Array.from(leakRate, (value) => whole(value * unit, "leakRate")),
  };
}
