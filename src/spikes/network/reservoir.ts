// The kind "network" of reservoirs: a network of populations whose filtered spikes are the states
// of a readout. Rows of inputs are currents, or spikes of its populations of inputs, each for a
// time of the model. How rows are run is reservoir-runner.ts.

import { ArgumentError } from "@spillway/core/errors.js";
import { either, type InputOf, list, nothing, number, object, option, optional, text, whole } from "@spillway/core/options.js";
import { Matrix, RandomStream, type Seed, seedKeys } from "@spillway/numerics";
import type { KindDraw, KindSizes, RegisteredModel, ReservoirKind } from "../../reservoir/index.js";
import { positive, share } from "../options.js";
import { type NetworkConfig, type NetworkOptions, networkTable } from "./config.js";
import { initialValues } from "./draw.js";
import type { NetworkPlan, PlannedPopulation } from "./plan.js";
import { planNetwork } from "./planning.js";
import { neuronsOf, wholeSteps } from "./recording.js";
import { initialState } from "./session.js";
import { flatState, hiddenValues } from "./state-values.js";

const inputTable = {
  /** Populations or slices that the currents reach; left out, all neurons. */
  to: optional(list(text(), "a list of populations or slices", 1), "Populations or slices that the currents reach; left out, all neurons."),
  /** Largest weight, mV for an input of 1, or pA if a population has a capacitance; default 10. */
  scaling: option(positive("mV or pA"), 10, "Largest weight, for an input of 1."),
  /** Share of the neurons that an input reaches; default 1. */
  connectivity: option(share, 1, "Share of the neurons that an input reaches."),
};

const rowsTable = {
  /** States; it follows from the populations. */
  size: optional(whole({ atLeast: 1 }), "How many states: left out, it follows from the populations."),
  /** Inputs; with `input` null it follows from the populations. */
  inputSize: optional(whole(), "I, the number of inputs; left out, it follows from the data, or from the populations of inputs."),
  /** Model time of a row of inputs, ms, a whole number of steps; default 1. */
  rowMs: option(number({ above: 0, unit: "ms" }), 1, "Model time of a row of inputs, ms."),
  /**
   * How rows of inputs act: as currents I = W_in u while the row lasts, with W_in uniform in
   * [-scaling, scaling]; or null, as spikes: value i is how often channel i of the populations of
   * inputs spikes in the row's first step. Left out, null if there are populations of inputs.
   */
  input: optional(
    either("null, or an object with to, scaling and connectivity", nothing, object(inputTable)),
    "Rows of inputs as currents; null: as spikes of the populations of inputs.",
  ),
};

const { kind: _, seed: __, precision: ___, ...networkOptions } = networkTable;
/** The options of the kind. */
export const networkReservoirTable = { ...networkOptions, ...rowsTable };

/**
 * A network of populations as a reservoir. Its states are the filtered spikes of all populations
 * with a `stateTimeConstant`, in their order; at least one has it.
 */
export interface NetworkReservoirOptions extends Omit<NetworkOptions, "kind" | "seed" | "precision">, InputOf<typeof rowsTable> {}

declare module "../../reservoir/registered/options.js" {
  interface ReservoirKindOptions {
    /** Populations of spiking neurons and projections between them. */
    network: NetworkReservoirOptions;
  }
}

/** A description with every default filled in. */
export interface NetworkReservoirConfig extends Omit<NetworkConfig, "kind"> {
  /** The kind of reservoir. */
  readonly kind: "network";
  /** N, the neurons of the populations whose filtered spikes are states. */
  readonly size: number;
  /** I, the number of inputs. */
  readonly inputSize: number;
  /** What synapses and W_in are drawn from. */
  readonly seed: Seed;
  /** Model time of a row of inputs, ms. */
  readonly rowMs: number;
  /** How rows act as currents; null: they are spikes of the populations of inputs. */
  readonly input: { readonly to: readonly string[]; readonly scaling: number; readonly connectivity: number } | null;
}

/** What a description comes to, kept with it. */
export interface PlannedReservoir {
  readonly plan: NetworkPlan;
  /** Steps of the network in a row of inputs. */
  readonly steps: number;
  /** The populations whose filtered spikes are states. */
  readonly read: readonly PlannedPopulation[];
  /** Neurons that currents reach, in the order of W_in's rows. */
  readonly driven: readonly number[];
}

const planned = new WeakMap<NetworkReservoirConfig, PlannedReservoir>();

/** @throws ArgumentError for a description that is not one of a reservoir */
export function plannedReservoir(config: NetworkReservoirConfig): PlannedReservoir {
  const known = planned.get(config);
  if (known) return known;
  const { size: _, inputSize: __, rowMs, input, ...network } = config;
  const plan = planNetwork(network);
  const read = plan.populations.filter(({ stateKeep }) => stateKeep !== null);
  const learning = plan.config.projections.findIndex(({ plasticity }) => plasticity?.kind === "stdp");
  if (learning >= 0)
    throw new ArgumentError(
      `projections[${learning}].plasticity.kind`,
      "stdp",
      "shortTerm, or no plasticity: weights of a reservoir stay; SpikingNetwork learns them, and its frozen() is a reservoir",
    );
  if (read.length === 0)
    throw new ArgumentError(
      "populations",
      plan.populations.map(({ name }) => name),
      "at least one with a stateTimeConstant: its filtered spikes are the states",
    );
  const ranges = input ? input.to.map((name, k) => neuronsOf(plan, name, `input.to[${k}]`)) : [];
  const driven = ranges.flatMap(({ first, size }) => Array.from({ length: size }, (_, k) => first + k));
  if (new Set(driven).size < driven.length) throw new ArgumentError("input.to", input!.to, "populations and slices that do not overlap");
  const made = { plan, steps: wholeSteps(rowMs, plan.config.timeStep, "rowMs"), read, driven };
  planned.set(config, made);
  return made;
}

type Given = Omit<NetworkReservoirConfig, "input" | "size" | "inputSize"> & Pick<NetworkReservoirOptions, "input" | "size" | "inputSize">;

function complete(given: NetworkReservoirConfig): NetworkReservoirConfig {
  const { input: asked, size, inputSize, rowMs, ...network } = given as Given;
  const { config, inputs, populations } = planNetwork(network);
  const input = asked === undefined ? (inputs > 0 ? null : { scaling: 10, connectivity: 1 }) : asked;
  if (input && inputs > 0)
    throw new ArgumentError("input", asked, "null: this network has populations of inputs, whose spikes the rows are");
  if (!input && inputs === 0)
    throw new ArgumentError("input", asked, "an object: this network has no population of inputs (neuron null) that could spike");
  if (!input && inputSize !== undefined && inputSize !== inputs)
    throw new ArgumentError("inputSize", inputSize, `${inputs}, the channels of the populations of inputs`, { code: "shape" });
  const to = input ? (input.to ?? populations.map(({ name }) => name)) : [];
  const full: NetworkReservoirConfig = {
    ...config,
    size: size ?? 0,
    inputSize: input ? (inputSize ?? 1) : inputs,
    rowMs,
    input: input && { to, scaling: input.scaling!, connectivity: input.connectivity! },
  };
  const { read } = plannedReservoir(full);
  const states = read.reduce((sum, each) => sum + each.size, 0);
  if (size !== undefined && size !== states)
    throw new ArgumentError("size", size, `${states}, the neurons of the populations with a stateTimeConstant`, { code: "shape" });
  return { ...full, size: states };
}

function sizes(config: NetworkReservoirConfig): KindSizes {
  const { plan, driven } = plannedReservoir(config);
  return {
    states: config.size,
    hidden: hiddenValues(plan),
    noisy: plan.populations.some(({ background }) => background !== null),
    // A packed synapse of four bytes and units of two or four.
    bytes: plan.expectedSynapses * (plan.oneSign ? 6 : 8),
    matrices: config.input ? { inputWeights: [driven.length, config.inputSize] } : {},
  };
}

/** W_in to the neurons that inputs drive, if the network takes inputs as currents. */
export interface NetworkReservoirMatrices {
  readonly inputWeights?: Matrix;
}

/** A model of the kind. */
export type NetworkReservoirModel = RegisteredModel<NetworkReservoirConfig, NetworkReservoirMatrices>;

function draw(config: NetworkReservoirConfig): KindDraw<NetworkReservoirMatrices> {
  const { plan, driven, read } = plannedReservoir(config);
  const initial = flatState(initialState({ ...plan, ...initialValues(plan) }), plan, read);
  if (!config.input) return { initial, matrices: {} };
  const { scaling, connectivity } = config.input;
  const { weights: key } = seedKeys(config.seed);
  const values = new RandomStream(key, 1);
  const channels = new RandomStream(key, 1, 1);
  const inputWeights = Matrix.zeros(driven.length, config.inputSize);
  for (let r = 0; r < driven.length; r++)
    for (let i = 0; i < config.inputSize; i++)
      if (connectivity === 1 || channels.uniform(r, i) < connectivity)
        inputWeights.data[r * config.inputSize + i] = scaling * (2 * values.uniform(r, i) - 1);
  return { initial, matrices: { inputWeights } };
}

/** A network of populations as a reservoir. */
export const networkKind: ReservoirKind<NetworkReservoirConfig, NetworkReservoirMatrices> = {
  name: "network",
  description: "Populations of spiking neurons and projections between them; states are filtered spikes.",
  options: networkReservoirTable,
  complete,
  sizes,
  draw,
  runner: async (...given) => (await import("./reservoir-runner.js")).openRunner(...given),
};
