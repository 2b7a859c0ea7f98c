// A network of populations, described as JSON: what its fields are, what they take, and what they
// are if they are left out. Projections are in projection-config.ts; schema.ts checks all together.
import {
  byType,
  choice,
  either,
  type Filled,
  given,
  type InputOf,
  type Kind,
  list,
  nothing,
  object,
  option,
  optional,
  type Resolved,
  record,
  resolve,
  seed,
  text,
  whole,
} from "@spillway/core/options.js";
import type { NeuronConfig, NeuronOptions } from "../neurons/schema.js";
import { neuronTables } from "../neurons/schema.js";
import { finite, millivolts, notNegative, positive } from "../options.js";
import { type ProjectionConfig, projectionTable, values } from "./projection-config.js";

export type * from "./projection-config.js";

const adaptiveExponentialTable = {
  /** tau, ms; default 281 / 30. */
  membraneTimeConstant: option(positive("ms"), 281 / 30, "Decay of the potential."),
  /** E, mV; default -70.6. */
  restingPotential: option(millivolts, -70.6, "Where the potential decays to."),
  /** Where the upswing of a spike begins, mV; default -50.4. */
  threshold: option(millivolts, -50.4, "Where the upswing of a spike begins."),
  /** How sharply it begins, mV; default 2. */
  slopeFactor: option(positive("mV"), 2, "How sharply it begins."),
  /** The potential at which a neuron fires, mV; default 20. */
  peakPotential: option(millivolts, 20, "The potential at which a neuron fires."),
  /** mV; default -70.6. */
  resetPotential: option(millivolts, -70.6, "The potential after a spike."),
  /** ms in which the potential is held after a spike; default 0. */
  refractoryPeriod: option(notNegative("ms"), 0, "How long the potential is held after a spike."),
  /** tau_w, ms; default 144. */
  adaptationTimeConstant: option(positive("ms"), 144, "Decay of the adaptation."),
  /** a / g_L; default 4 / 30. */
  subthresholdAdaptation: option(finite, 4 / 30, "What the potential adds to it: a conductance, as a share of the leak's."),
  /** b / g_L, mV; default 80.5 / 30. */
  adaptationStep: option(finite, 80.5 / 30, "What a spike adds to it, mV."),
};

/**
 * The adaptive exponential integrate-and-fire neuron (Brette and Gerstner 2005, "Adaptive
 * exponential integrate-and-fire model as an effective description of neuronal activity", Journal
 * of Neurophysiology 94:3637), with conductances as shares of the leak's and currents in mV:
 *
 *     tau dV/dt = -(V - E) + slopeFactor exp((V - threshold) / slopeFactor) - w + I
 *     tau_w dw/dt = subthresholdAdaptation (V - E) - w
 *
 * At `peakPotential` it fires: V becomes `resetPotential`, and w rises by `adaptationStep`.
 * Defaults are those of the paper: C 281 pF, g_L 30 nS, a 4 nS, b 80.5 pA.
 */
export interface AdaptiveExponentialConfig extends Resolved<typeof adaptiveExponentialTable> {
  /** Tells the neuron models apart. */
  readonly type: "adaptiveExponential";
}

/** A neuron of a network with every field filled in; `type` tells the models apart. */
export type NetworkNeuronConfig = NeuronConfig | AdaptiveExponentialConfig;

/** A neuron of a network by name, or by name and what differs from the defaults. */
export type NetworkNeuronOptions =
  | NeuronOptions
  | "adaptiveExponential"
  | ({ readonly type: "adaptiveExponential" } & InputOf<typeof adaptiveExponentialTable>);

const networkNeuronTables = { ...neuronTables, adaptiveExponential: adaptiveExponentialTable };

const receptorTable = {
  /** ms; 0, of exponential ones: the whole charge at once, so that the potential jumps. */
  timeConstant: given(notNegative("ms"), "Decay of the current; 0 for a jump of the potential."),
  /** The course of the current after a spike; default "exponential". */
  shape: option(
    choice("exponential", "alpha"),
    "exponential",
    "The course of the current after a spike; alpha: it rises to its peak first.",
  ),
  /**
   * mV; default null, a current. With it a conductance g draws the potential towards it: the
   * current is g (reversalPotential - V). Weights are then shares of the leak's conductance, or nS
   * if the population has a capacitance. Other receptors of such a population stay currents, of a
   * time constant above 0.
   */
  reversalPotential: option(
    either("a number of mV, or null", nothing, millivolts),
    null,
    "Makes it a conductance, which draws the potential there; null: a current.",
  ),
};

/**
 * What spikes do to a neuron: a current, or, with a `reversalPotential`, a conductance. A spike of
 * weight w at time 0 adds
 *
 *     exponential:  I(t) = w exp(-t / timeConstant)
 *     alpha:        I(t) = w (t / timeConstant) exp(1 - t / timeConstant)
 *
 * the second with its peak, w, at t = timeConstant, as NEST's iaf_psc_alpha. Both are exact in
 * leaky neurons (Rotter and Diesmann 1999, Biological Cybernetics 81:381).
 */
export interface ReceptorConfig extends Resolved<typeof receptorTable> {}

const backgroundTable = {
  /** Spikes per second and neuron. */
  rate: given(notNegative("spikes per second"), "Spikes per second and neuron."),
  /** Weight of each, as of a synapse. */
  weight: given(finite, "Weight of each."),
  /** Which receptor they reach; left out, the only one. */
  receptor: optional(text(), "Which receptor they reach; left out, the only one."),
};

/** Spikes that reach every neuron of a population from outside the network. */
export interface NetworkBackground extends Filled<typeof backgroundTable> {}

/** The fields of a population, beside `like`. */
export const populationTable = {
  /** How many neurons, or channels of inputs. */
  size: given(whole({ atLeast: 1, below: 2 ** 30, takes: "a whole number of at least 1" }), "How many neurons."),
  /**
   * A neuron, or null for inputs: a population without neurons of its own, whose spikes are given.
   */
  neuron: option(
    either(
      `one of ${Object.keys(networkNeuronTables).join(", ")}, by name or as an object with that type, or null for inputs`,
      nothing,
      byType<NetworkNeuronConfig>(networkNeuronTables),
    ) as Kind<NetworkNeuronConfig | null, NetworkNeuronOptions | null>,
    { type: "leakyIntegrateAndFire", ...resolve(neuronTables.leakyIntegrateAndFire, {}) },
    "The neurons, by name or with settings; null for inputs, whose spikes are given.",
  ),
  /**
   * pF: currents and weights are then in pA, times the membrane's resistance in mV; conductances in
   * nS.
   */
  capacitance: option(
    either("a number of pF above 0, or null", nothing, positive("pF")),
    null,
    "With it, currents and weights are in pA and conductances in nS; without, in mV and shares of the leak's.",
  ),
  /** Currents or conductances that synapses act on, by name; default one, "current", of 0.5 ms. */
  receptors: option(
    record(object(receptorTable), "an object of receptors by name"),
    { current: { timeConstant: 0.5, shape: "exponential", reversalPotential: null } },
    "Currents or conductances that synapses act on, by name.",
  ),
  /** A constant current, mV or pA. */
  current: option(values, 0, "A constant current."),
  /** Poisson spikes from outside; default null, none. */
  background: option(
    either("null, or an object with rate and weight", nothing, object(backgroundTable) as Kind<NetworkBackground>),
    null,
    "Poisson spikes from outside.",
  ),
  /** mV; "rest" is c for Izhikevich neurons. */
  initialPotential: option(either('"rest", or potentials in mV', choice("rest"), values), "rest", "Potentials at the start, mV."),
  /** Decay of the filtered spikes that a readout sees, ms; null keeps none. */
  stateTimeConstant: option(
    either("null, or a number of ms", nothing, notNegative("ms")),
    null,
    "Decay of the filtered spikes that readouts see; null keeps none.",
  ),
};

/** A group of neurons of one kind, or of sources that spikes are given to. */
export interface PopulationConfig extends Resolved<typeof populationTable> {}

/** What a user writes of a population: its size, and what differs from the defaults. */
export interface PopulationOptions extends Partial<Omit<InputOf<typeof populationTable>, "size">> {
  /** Another population, whose fields this one has unless it gives its own. */
  readonly like?: string | undefined;
  /** How many neurons, or channels of inputs. */
  readonly size?: number | undefined;
}

const anyPopulation: Kind<Readonly<Record<string, unknown>>, PopulationOptions> = record(
  { takes: "", schema: {}, read: (value) => value },
  "an object with the fields of a population",
);
/** Every field of a network's description. */
export const networkTable = {
  /** Tells it from a reservoir. */
  kind: given(choice("network"), "network: populations of spiking neurons and projections between them."),
  /** Length of a step in ms; default 0.1. */
  timeStep: option(positive("ms"), 0.1, "Length of a step in ms."),
  /** Any number or text; default "spillway". */
  seed: option(seed, "spillway", "Determines every synapse."),
  /** Of potentials and currents; default "float32". */
  precision: option(choice("float32", "float64"), "float32", "Precision of potentials and currents."),
  /**
   * Synaptic input is summed in units of 2^-fractionBits mV. null: the most, up to 24, with which
   * every weight has 16 bits; more, as far as sums fit, if over one in a thousand weights of
   * a projection were rounded by more than a thousandth of themselves.
   */
  fractionBits: option(
    either("a whole number from 0 to 40, or null", nothing, whole({ atLeast: 0, atMost: 40 })),
    null,
    "Synaptic input is summed in units of 2^-fractionBits mV; null: as many as weights have 16 bits with, more if small ones need them.",
  ),
  /** By name, in the order in which their neurons are numbered. */
  populations: given(record(anyPopulation, "an object of populations by name"), "The populations, by name."),
  /** The synapses. */
  projections: option(
    list(object(projectionTable, "an object with from, to, connect and weight"), "a list of projections"),
    [],
    "The synapses.",
  ),
};

/** A network's description with every default filled in. It is JSON and determines every bit. */
export interface NetworkConfig extends Omit<Resolved<typeof networkTable>, "populations" | "projections"> {
  /** By name, in the order in which their neurons are numbered. */
  readonly populations: Readonly<Record<string, PopulationConfig>>;
  /** The synapses. */
  readonly projections: readonly ProjectionConfig[];
}

/** What a user writes: populations, projections, and every field that differs from the defaults. */
export interface NetworkOptions extends InputOf<typeof networkTable> {}
