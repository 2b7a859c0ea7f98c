// A composed reservoir as it is run: models of ordinary reservoirs, and what each of them sees.
import { allocate, type FloatArray, type Precision } from "@spillway/numerics";
import type { ReservoirModel } from "../model.js";
import type { EngineModel } from "../spiking-model.js";
import type { CompositeConfig, GroupConfig, PartConfig } from "./config.js";

/**
 * Layers: x1(t+1) = step1(x1(t), u(t+1)), xl(t+1) = stepl(xl(t), x(l-1)(t+1)). Groups: xg(t+1) =
 * stepg(xg(t), the inputs of u(t+1) that it sees).
 */
export interface CompositeModel {
  readonly kind: "composite";
  readonly config: CompositeConfig;
  readonly precision: Precision;
  /** N: the neurons that states are of, side by side in the order of the parts. */
  readonly size: number;
  /** I. */
  readonly inputSize: number;
  /** A composed reservoir feeds no outputs back. */
  readonly outputSize: 0;
  /** Layers, the lowest first, or groups. */
  readonly parts: readonly ReservoirModel[];
  /** x before the first step, N values. */
  readonly initialState: FloatArray;
  /** Not 0 if a part has noise. */
  readonly noiseLevel: number;
  /** Neurons of the layers that states leave out; they come first. */
  readonly below: number;
}

/** A model of any kind: what a `ReservoirComputer` runs. */
export type AnyModel = EngineModel | CompositeModel;

/** Whether it is a model, and no description. */
export function isModel(source: object): source is AnyModel {
  return "outputSize" in source;
}

/** A composed model of its parts, one for each that the configuration describes. */
export function compose(described: CompositeConfig, parts: readonly ReservoirModel[]): CompositeModel {
  const { precision, inputSize } = described;
  const total = neuronsOf(parts);
  const below = described.read === "last" ? total - parts.at(-1)!.size : 0;
  const size = total - below;
  const initialState = sideBySide(precision, parts).subarray(below);
  // What a description leaves to its model, such as the storage of W, stands in that model's own.
  const config: CompositeConfig = described.layers
    ? { ...described, layers: parts.map((part) => part.config as PartConfig) }
    : { ...described, groups: parts.map((part, p) => ({ ...(part.config as PartConfig), ...inputsOf(described.groups[p]!) })) };
  const noiseLevel = Math.max(...parts.map((part) => part.noiseLevel));
  return { kind: "composite", config, precision, size, inputSize, outputSize: 0, parts, initialState, noiseLevel, below };
}

/** The parts' descriptions as descriptions of reservoirs. */
export function partConfigs(config: CompositeConfig): readonly PartConfig[] {
  if (config.layers) return config.layers;
  return config.groups.map(({ inputs: _, ...group }) => group);
}

/** The neurons of parts together. */
export function neuronsOf(parts: readonly { readonly size: number }[]): number {
  return parts.reduce((sum, { size }) => sum + size, 0);
}

function inputsOf({ inputs }: GroupConfig): Pick<GroupConfig, "inputs"> {
  return inputs ? { inputs } : {};
}

function sideBySide(precision: Precision, parts: readonly ReservoirModel[]): FloatArray {
  const values = allocate(precision, neuronsOf(parts));
  let first = 0;
  for (const part of parts) {
    values.set(part.initialState, first);
    first += part.size;
  }
  return values;
}
