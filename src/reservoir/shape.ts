// The sizes that plans and costs of a rate reservoir depend on: known from a model, or near enough
// from a description before its weights are drawn.
import { isSparse, type Precision, storedValues } from "@spillway/numerics";
import { isOwnActivation } from "./activations.js";
import { hasOrthogonal } from "./cell-options.js";
import type { AnyModel } from "./composite/model.js";
import type { ReservoirConfig } from "./config.js";
import type { ReservoirModel } from "./model.js";
import type { SpikingModel } from "./spiking-model.js";
import { expectedNonzeros } from "./topologies/index.js";
import { isDeviceOnly } from "./weight-draws.js";
import type { WeightPrecision } from "./weight-rounding.js";

/** Sizes of a model. */
export interface ModelShape {
  /** N. */
  readonly size: number;
  /** I. */
  readonly inputSize: number;
  /** O, the outputs that are fed back; 0 without feedback. */
  readonly outputSize: number;
  readonly storage: "dense" | "sparse";
  /** Stored values of W, and of O if the cell has one. */
  readonly nonzeros: number;
  readonly precision: Precision;
  readonly weightPrecision: WeightPrecision;
  /** Whether W is drawn on the device that runs it, and not yet on the host. */
  readonly drawn?: boolean | undefined;
  /** Whether W never is on the host because it does not fit there. */
  readonly deviceOnly?: boolean | undefined;
  readonly noisy: boolean;
  /** Whether the activation function is one of the user's own. */
  readonly ownActivation?: boolean;
  /** Whether the cell is not the leaky one. */
  readonly cell?: boolean;
  /** What the description says: "fast" need not give the bits of the portable rules. */
  readonly arithmetic: "portable" | "fast";
  /** Whether it computes in integers; `arithmetic` is then of no meaning. */
  readonly integers?: boolean;
}

/** The arithmetic of a description whose reservoir computes in floating-point numbers. */
export const floatingArithmetic = ({ arithmetic }: Pick<ReservoirConfig, "arithmetic">): ModelShape["arithmetic"] =>
  arithmetic === "fast" ? "fast" : "portable";

const arithmeticOf = (config: ReservoirConfig): Pick<ModelShape, "arithmetic" | "integers"> => ({
  arithmetic: floatingArithmetic(config),
  ...(config.arithmetic === "integer" && { integers: true }),
});

/** Sizes of a spiking reservoir: those that the time of its step depends on. */
export interface SpikingShape {
  readonly kind: "spiking";
  /** N. */
  readonly size: number;
  /** Synapses between neurons, near enough. */
  readonly synapses: number;
}

/** Sizes of any reservoir. */
export type AnyShape = ModelShape | SpikingShape;

/**
 * The sizes of a model of any kind: of a composed one, those of its parts; none of a registered
 * kind.
 */
export function shapesOf(model: AnyModel): AnyShape | readonly AnyShape[] | undefined {
  if (model.kind === "registered") return undefined;
  return model.kind === "composite" ? model.parts.map(shapeOf) : anyShapeOf(model);
}

/** The sizes of a model of either kind that engines run. */
export function anyShapeOf(model: ReservoirModel | SpikingModel): AnyShape {
  if (model.kind === "spiking") return { kind: "spiking", size: model.size, synapses: model.synapses.targets.length };
  return shapeOf(model);
}

/** The sizes of a model. */
export function shapeOf(model: ReservoirModel): ModelShape {
  return {
    size: model.size,
    inputSize: model.inputSize,
    outputSize: model.outputSize,
    storage: isSparse(model.weights) ? "sparse" : "dense",
    nonzeros:
      (model.draws ? (model.draws.nonzeros ?? model.size ** 2) : storedValues(model.weights)) +
      (model.cell?.orthogonal ? model.size ** 2 : 0),
    precision: model.precision,
    weightPrecision: model.config.weightPrecision,
    drawn: model.draws !== undefined,
    deviceOnly: isDeviceOnly(model),
    noisy: model.noiseLevel !== 0,
    ...(model.cell && { cell: true }),
    ...(isOwnActivation(model.activation) && { ownActivation: true }),
    ...arithmeticOf(model.config),
  };
}

/** Whether W is kept in CSR form (docs/numerics.md, rule 2). */
export function storageFor(size: number, nonzeros: number): "sparse" | "dense" {
  const limit = size < 2000 ? 0.25 : size < 5000 ? 0.3 : 0.6;
  return nonzeros / (size * size) < limit ? "sparse" : "dense";
}

/** The sizes that a checked description will have. */
export function expectedShape(config: ReservoirConfig): ModelShape {
  const { size, inputSize, precision, weightPrecision, noiseLevel } = config;
  const nonzeros = expectedNonzeros(config);
  const storage = config.storage === "auto" ? storageFor(size, nonzeros) : config.storage;
  return {
    ...{ size, inputSize, outputSize: config.feedback?.size ?? 0, precision, weightPrecision, storage, ...arithmeticOf(config) },
    nonzeros: (storage === "dense" ? size * size : nonzeros) + (hasOrthogonal(config) ? size * size : 0),
    noisy: noiseLevel !== 0,
    ...(config.cell && { cell: true }),
    ...(isOwnActivation(config.activation) && { ownActivation: true }),
  };
}
