// What plans and costs of a model depend on: sizes, not values. Known from a model, or near enough from a description before weights are drawn.
import { isSparse, type Precision } from "../../numerics/index.js";
import type { ReservoirModel } from "../../reservoir/model.js";

/** Sizes of a model. */
export interface ModelShape {
  /** N. */
  readonly size: number;
  /** I. */
  readonly inputSize: number;
  /** O, the outputs that are fed back; 0 without feedback. */
  readonly outputSize: number;
  readonly storage: "dense" | "sparse";
  /** Stored values of W. */
  readonly nonzeros: number;
  readonly precision: Precision;
  readonly weightPrecision: "full" | "bfloat16";
  readonly noisy: boolean;
}

/** Bytes of a state value. */
export function elementBytes(precision: Precision): 4 | 8 {
  return precision === "float32" ? 4 : 8;
}

export function shapeOf(model: ReservoirModel): ModelShape {
  const { weights, config } = model;
  return {
    size: model.size,
    inputSize: model.inputSize,
    outputSize: model.outputSize,
    storage: isSparse(weights) ? "sparse" : "dense",
    nonzeros: isSparse(weights) ? weights.values.length : weights.data.length,
    precision: model.precision,
    weightPrecision: config.weightPrecision,
    noisy: model.noiseLevel !== 0,
  };
}
