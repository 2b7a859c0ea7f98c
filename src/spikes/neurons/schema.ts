// What the fields of spiking neurons are and take, and what they are if they are left out.
import { choice, number, type OptionTable, optional } from "@spillway/core/options.js";
import type { NeuronType } from "../../reservoir/spiking-config.js";
import { notNegative, positive } from "../options.js";

const finite = number();
const millivolts = number({ unit: "mV" });

const integrateAndFireTable = {
  membraneTimeConstant: optional(positive("ms"), "Decay of the potential."),
  restingPotential: optional(millivolts, "Where the potential decays to."),
  threshold: optional(millivolts, "The potential at which a neuron fires."),
  reset: optional(choice("value", "subtract"), "What a spike does to the potential."),
  resetPotential: optional(millivolts, "The potential after a spike."),
  refractoryPeriod: optional(notNegative("ms"), "How long the potential is held after a spike."),
};
/** The options of each neuron, by its name. */
export const neuronTables = {
  leakyIntegrateAndFire: integrateAndFireTable,
  adaptiveIntegrateAndFire: {
    ...integrateAndFireTable,
    adaptationTimeConstant: optional(positive("ms"), "Decay of the threshold's rise."),
    adaptationStep: optional(notNegative("mV"), "How much a spike raises the threshold."),
  },
  izhikevich: {
    a: optional(positive("1/ms"), "Rate of recovery."),
    b: optional(finite, "Sensitivity of recovery."),
    c: optional(millivolts, "The potential after a spike."),
    d: optional(finite, "Recovery after a spike."),
  },
} satisfies Record<NeuronType, OptionTable>;

const integrateAndFireDefaults = {
  membraneTimeConstant: 30,
  restingPotential: -70,
  threshold: -55,
  reset: "value",
  resetPotential: -56.5,
  refractoryPeriod: 3,
} as const;
/** The values of a neuron whose options are left out. */
export const neuronDefaults = {
  leakyIntegrateAndFire: integrateAndFireDefaults,
  adaptiveIntegrateAndFire: { ...integrateAndFireDefaults, adaptationTimeConstant: 200, adaptationStep: 1 },
  izhikevich: { a: 0.02, b: 0.2, c: -65, d: 8 },
};
