// Spiking neurons, described as JSON: what their fields are, what they take, and what they are if
// they are left out.
import { choice, type InputOf, type OptionTable, option, type Resolved } from "@spillway/core/options.js";
import { finite, millivolts, notNegative, positive } from "../options.js";

const integrateAndFireTable = {
  /** ms; default 30. */
  membraneTimeConstant: option(positive("ms"), 30, "Decay of the potential."),
  /** mV; default -70. */
  restingPotential: option(millivolts, -70, "Where the potential decays to."),
  /** mV; default -55. */
  threshold: option(millivolts, -55, "The potential at which a neuron fires."),
  /**
   * "value": a spike puts the potential to `resetPotential`. "subtract": it takes threshold -
   * restingPotential off the potential. Default "value".
   */
  reset: option(choice("value", "subtract"), "value", "What a spike does to the potential."),
  /** mV; default -56.5. Not used if `reset` is "subtract". */
  resetPotential: option(millivolts, -56.5, "The potential after a spike."),
  /** ms in which the potential is held after a spike; default 3, of inhibitory neurons 2. */
  refractoryPeriod: option(notNegative("ms"), 3, "How long the potential is held after a spike."),
};
const adaptiveTable = {
  ...integrateAndFireTable,
  /** ms; default 200. */
  adaptationTimeConstant: option(positive("ms"), 200, "Decay of the threshold's rise."),
  /** mV; default 1. */
  adaptationStep: option(notNegative("mV"), 1, "How much a spike raises the threshold."),
};
const izhikevichTable = {
  /** Rate of recovery, per ms; default 0.02, inhibitory neurons 0.1. */
  a: option(positive("1/ms"), 0.02, "Rate of recovery."),
  /** Sensitivity of recovery; default 0.2. */
  b: option(finite, 0.2, "Sensitivity of recovery."),
  /** Potential after a spike, mV; default -65. */
  c: option(millivolts, -65, "The potential after a spike."),
  /** Recovery after a spike; default 8, inhibitory neurons 2. */
  d: option(finite, 8, "Recovery after a spike."),
};

/**
 * Current-based leaky integrate-and-fire. Potentials in mV, times in ms. See
 * spikes/neurons/leaky-integrate-and-fire.ts.
 */
export interface LeakyIntegrateAndFireConfig extends Resolved<typeof integrateAndFireTable> {
  /** Tells the neuron models apart. */
  readonly type: "leakyIntegrateAndFire";
}

/**
 * The same with a threshold that rises by `adaptationStep` with every spike and falls back
 * exponentially.
 */
export interface AdaptiveIntegrateAndFireConfig extends Resolved<typeof adaptiveTable> {
  /** Tells the neuron models apart. */
  readonly type: "adaptiveIntegrateAndFire";
}

/**
 * Izhikevich's neuron by the scheme of the paper's program (2003, "Simple model of spiking
 * neurons", IEEE Transactions on Neural Networks 14): v by two Euler steps of dt/2, then u by one of
 * dt with the new v.
 */
export interface IzhikevichConfig extends Resolved<typeof izhikevichTable> {
  /** Tells the neuron models apart. */
  readonly type: "izhikevich";
}

/** A neuron with every field filled in; `type` tells the models apart. */
export type NeuronConfig = LeakyIntegrateAndFireConfig | AdaptiveIntegrateAndFireConfig | IzhikevichConfig;

/** The name of a neuron model. */
export type NeuronType = NeuronConfig["type"];

/** The options of each neuron, by its name. */
export const neuronTables = {
  leakyIntegrateAndFire: integrateAndFireTable,
  adaptiveIntegrateAndFire: adaptiveTable,
  izhikevich: izhikevichTable,
} satisfies Record<NeuronType, OptionTable>;

type NeuronInputs = { readonly [Type in NeuronType]: InputOf<(typeof neuronTables)[Type]> };
/** What of the fields of a neuron differs from the defaults. */
export type NeuronFields = NeuronInputs[NeuronType];
/** A neuron by name, or by name and what differs from the defaults. */
export type NeuronOptions = NeuronType | { [Type in NeuronType]: { readonly type: Type } & NeuronInputs[Type] }[NeuronType];
