// Reservoirs composed by a short list: layers on top of one another, or groups side by side. What
// the fields mean stands here; what they take is checked in schema.ts.
import type { Precision, Seed } from "@spillway/numerics";
import type { ReservoirConfig, ReservoirOptions } from "../config.js";

/** What a composed reservoir's states are. */
export type ReadLayers = "all" | "last";

/** A part of a composed reservoir: what it leaves out is as it stands beside the list. */
export type PartOptions = Partial<Omit<ReservoirOptions, "feedback">> & {
  /** A composed reservoir feeds no outputs back. */
  readonly feedback?: null | undefined;
};

/** A group, with the inputs that it sees. */
export type GroupOptions = PartOptions & {
  /** Input channels by number, from 0. Default all. */
  readonly inputs?: readonly number[] | undefined;
};

/**
 * A deep reservoir: layer 1 sees the input, and layer l the new state of layer l - 1 of the same
 * step. Options outside the list are a default of every layer. Gallicchio, Micheli and Pedrelli
 * 2017.
 * @example
 * const deep = { layers: [{ leakRate: 0.9 }, { leakRate: 0.3 }], size: 150, spectralRadius: 0.9,
 * seed: 1 };
 */
export type LayeredOptions = PartOptions & {
  /**
   * Layers, the lowest first. Without a `seed` layer 1 has that of the whole, and layer l the seed
   * "SEED/layer l". `inputScaling` of a layer above another is 1 / sqrt(N of that) if the layer
   * itself does not say it.
   */
  readonly layers: readonly PartOptions[];
  /** A description has layers or groups. */
  readonly groups?: undefined;
  /** Whether states are those of all layers (default), side by side, or of the last alone. */
  readonly read?: ReadLayers | undefined;
};

/**
 * Reservoirs side by side, each of which sees the input or some of its channels. States are side by
 * side, in the order of the list. Options outside the list are a default of every group.
 * @example
 * const grouped = { groups: [{ leakRate: 1, inputs: [0] }, { leakRate: 0.1 }], size: 100, seed: 1
 * };
 */
export type GroupedOptions = PartOptions & {
  /** Without a `seed` group 1 has that of the whole, and group g the seed "SEED/group g". */
  readonly groups: readonly GroupOptions[];
  /** A description has layers or groups. */
  readonly layers?: undefined;
  /** Groups are all read. */
  readonly read?: undefined;
};

/** A composed reservoir. Its parts are rate reservoirs without output feedback. */
export type CompositeOptions = LayeredOptions | GroupedOptions;

/** A layer with every default filled in. */
export interface PartConfig extends ReservoirConfig {
  readonly feedback: null;
}

/** A group with every default filled in. */
export interface GroupConfig extends PartConfig {
  /** Left out, it sees all inputs. */
  readonly inputs?: readonly number[] | undefined;
}

interface WholeConfig {
  /** I, the number of input channels. */
  readonly inputSize: number;
  /** Precision of states and weights of every part. */
  readonly precision: Precision;
  /** The seed of the first part, from which those of the others follow. */
  readonly seed: Seed;
}

/** A deep reservoir with every default filled in. */
export interface LayeredConfig extends WholeConfig {
  /** The lowest first. */
  readonly layers: readonly PartConfig[];
  /** A description has layers or groups. */
  readonly groups?: undefined;
  /** Whose states there are. */
  readonly read: ReadLayers;
}

/** A grouped reservoir with every default filled in. */
export interface GroupedConfig extends WholeConfig {
  /** In the order of their states. */
  readonly groups: readonly GroupConfig[];
  /** A description has layers or groups. */
  readonly layers?: undefined;
  /** Groups are all read. */
  readonly read?: undefined;
}

/** A composed reservoir's description with every default filled in. */
export type CompositeConfig = LayeredConfig | GroupedConfig;

/** Whether a description is one of a composed reservoir. */
export function isComposite(options: object): options is CompositeOptions {
  return typeof options === "object" && options !== null && ("layers" in options || "groups" in options);
}

/** The descriptions of the parts as they were written. */
export function partsOf({ layers, groups }: Pick<CompositeOptions, "layers" | "groups">): readonly GroupOptions[] {
  return layers ?? groups ?? [];
}
