// What the fields of spiking neurons are and take, and what they are if they are left out.
import { choice, number, type OptionTable, option } from "@spillway/core/options.js";
import type { NeuronType } from "../../reservoir/spiking-config.js";
import { notNegative, positive } from "../options.js";

const finite = number();
const millivolts = number({ unit: "mV" });

const integrateAndFireTable = {
  membraneTimeConstant: option(positive("ms"), 30, "Decay of the potential."),
  restingPotential: option(millivolts, -70, "Where the potential decays to."),
  threshold: option(millivolts, -55, "The potential at which a neuron fires."),
  reset: option(choice("value", "subtract"), "value", "What a spike does to the potential."),
  resetPotential: option(millivolts, -56.5, "The potential after a spike."),
  refractoryPeriod: option(notNegative("ms"), 3, "How long the potential is held after a spike."),
};
/** The options of each neuron, by its name. */
export const neuronTables = {
  leakyIntegrateAndFire: integrateAndFireTable,
  adaptiveIntegrateAndFire: {
    ...integrateAndFireTable,
    adaptationTimeConstant: option(positive("ms"), 200, "Decay of the threshold's rise."),
    adaptationStep: option(notNegative("mV"), 1, "How much a spike raises the threshold."),
  },
  izhikevich: {
    a: option(positive("1/ms"), 0.02, "Rate of recovery."),
    b: option(finite, 0.2, "Sensitivity of recovery."),
    c: option(millivolts, -65, "The potential after a spike."),
    d: option(finite, 8, "Recovery after a spike."),
  },
} satisfies Record<NeuronType, OptionTable>;
