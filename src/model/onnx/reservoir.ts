// A reservoir's step and readout as ONNX nodes, in binary32. Loops around them are made by the
// graphs of the models.
import { ArgumentError } from "@spillway/core/errors.js";
import { isSparse, type Matrix, toDense } from "@spillway/numerics";
import type { Activation, AnyModel, LinearReadout, ReservoirModel } from "../../reservoir/index.js";
import type { GraphBuilder } from "./graph.js";

/** The constants of one reservoir, in the outermost graph, where every loop sees them. */
export interface ReservoirConstants {
  readonly model: ReservoirModel;
  readonly weights: string;
  readonly inputWeights: string;
  readonly bias: string;
  readonly leak: string;
  readonly keep: string;
  readonly feedbackWeights: string | undefined;
  readonly initialState: string;
}

/** A protobuf message holds at most 2 GiB. */
const maxBytes = 2 ** 31 - 2 ** 24;

/** @throws ArgumentError for a reservoir that a graph cannot stand for */
export function reservoirConstants(builder: GraphBuilder, model: AnyModel, prefix: string): ReservoirConstants {
  if (model.kind === "spiking") throw ArgumentError.because("the reservoir is a spiking one; an ONNX graph takes a rate reservoir");
  if (model.kind === "composite")
    throw ArgumentError.because("the reservoir is composed of layers or groups; an ONNX graph takes a single rate reservoir");
  if (model.kind === "registered")
    throw ArgumentError.because(`the reservoir is of the kind "${model.config.kind}"; an ONNX graph takes a rate reservoir`);
  if (model.cell) throw ArgumentError.because("the reservoir has a cell of its own; an ONNX graph takes the leaky one", { field: "cell" });
  if (model.config.arithmetic === "integer")
    throw ArgumentError.because("the reservoir computes in integers; an ONNX graph takes floating-point numbers", { field: "arithmetic" });
  const { size, inputSize, outputSize } = model;
  if (model.noiseLevel > 0) {
    throw ArgumentError.because(
      `noiseLevel is ${model.config.noiseLevel}; an ONNX graph has no noise of the same numbers: set noiseLevel to 0 and train again`,
      { field: "noiseLevel" },
    );
  }
  if (4 * size * size > maxBytes) {
    throw ArgumentError.because(`the reservoir has ${size} neurons; its weights would not fit into the 2 GiB that an ONNX file holds`);
  }
  const dense: Matrix = isSparse(model.weights) ? toDense(model.weights) : model.weights;
  const keep = Float32Array.from(model.leakRate, (a) => 1 - a);
  return {
    model,
    weights: builder.floats(dense.data, [size, size], `${prefix}W`),
    inputWeights: builder.floats(model.inputWeights.data, [size, inputSize], `${prefix}W_in`),
    bias: builder.floats(model.bias, [size], `${prefix}b`),
    leak: builder.floats(model.leakRate, [size], `${prefix}a`),
    keep: builder.floats(keep, [size], `${prefix}1_minus_a`),
    feedbackWeights: model.feedbackWeights && builder.floats(model.feedbackWeights.data, [size, outputSize], `${prefix}W_fb`),
    initialState: builder.floats(model.initialState, [size], `${prefix}x0`),
  };
}

/**
 * x' = (1 - a) x + a f(W x + W_in u + b + W_fb y); each argument is a value's name, undefined if
 * the model has none.
 */
export function stepNodes(
  builder: GraphBuilder,
  constants: ReservoirConstants,
  x: string,
  u: string | undefined,
  y: string | undefined,
): string {
  let z = builder.add("Add", [builder.add("MatMul", [constants.weights, x]), constants.bias]);
  if (u) z = builder.add("Add", [z, builder.add("MatMul", [constants.inputWeights, u])]);
  if (y && constants.feedbackWeights) z = builder.add("Add", [z, builder.add("MatMul", [constants.feedbackWeights, y])]);
  const { activation } = constants.model;
  const f = builder.add(operatorOf(activation), [z]);
  return builder.add("Add", [builder.add("Mul", [constants.keep, x]), builder.add("Mul", [constants.leak, f])]);
}

const operators: Readonly<Record<string, string>> = { tanh: "Tanh", relu: "Relu", sigmoid: "Sigmoid", identity: "Identity" };

function operatorOf(activation: Activation): string {
  const operator = Object.hasOwn(operators, activation) ? operators[activation] : undefined;
  if (operator === undefined)
    throw new ArgumentError(
      "activation",
      activation,
      `one of ${Object.keys(operators).join(", ")} in ONNX, which holds no function of JavaScript`,
    );
  return operator;
}

/** The constants of a linear readout, in the outermost graph. */
export interface ReadoutConstants {
  readonly readout: LinearReadout;
  readonly weights: string;
  readonly intercept: string;
  /** 1 if a neuron is squared in place, for `state: "squareHalf"`. */
  readonly odd: string | undefined;
}

export function readoutConstants(builder: GraphBuilder, readout: LinearReadout, prefix: string): ReadoutConstants {
  const { weights, intercept, features, stateSize } = readout;
  const odd = Float32Array.from({ length: stateSize }, (_, i) => i & 1);
  return {
    readout,
    weights: builder.floats(weights.data, [weights.rows, weights.cols], `${prefix}W_out`),
    intercept: builder.floats(intercept, [weights.rows], `${prefix}c`),
    odd: features.state === "squareHalf" ? builder.floats(odd, [stateSize], `${prefix}odd`) : undefined,
  };
}

/** x + odd (x^2 - x): squared where odd is 1, itself where it is 0. */
export function squaredHalf(builder: GraphBuilder, x: string, odd: string): string {
  const change = builder.add("Sub", [builder.add("Mul", [x, x]), x]);
  return builder.add("Add", [x, builder.add("Mul", [odd, change])]);
}

/** y = W_out features(x, u) + c. */
export function readoutNodes(
  builder: GraphBuilder,
  { readout, weights, intercept, odd }: ReadoutConstants,
  x: string,
  u: string | undefined,
): string {
  const { features } = readout;
  const state = odd ? squaredHalf(builder, x, odd) : x;
  const parts = [state];
  if (features.input && u) parts.push(u);
  if (features.squares) parts.push(builder.add("Mul", [x, x]));
  const all = parts.length === 1 ? state : builder.add("Concat", parts, { axis: { int: 0 } });
  return builder.add("Add", [builder.add("MatMul", [weights, all]), intercept]);
}
