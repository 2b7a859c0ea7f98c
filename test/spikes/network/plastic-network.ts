// A network whose synapses change in both ways, with delays that differ: every engine must run it
// alike.
import type { NetworkOptions } from "../../../src/spikes/network/config.js";

const timing = {
  kind: "stdp",
  potentiationTimeConstant: 17,
  depressionTimeConstant: 34,
  learningRate: 0.01,
  maximumWeight: 3,
} as const;

export const plasticNetwork: NetworkOptions = {
  kind: "network",
  seed: 3,
  populations: {
    stimulus: { size: 5, neuron: null },
    E: {
      size: 40,
      receptors: { fast: { timeConstant: 2 }, slow: { timeConstant: 8 } },
      current: { distribution: "uniform", from: 14, to: 24 },
    },
    I: { like: "E", size: 10, current: 18 },
  },
  projections: [
    {
      from: "E",
      to: "E",
      receptor: "fast",
      connect: { rule: "fixedInDegree", number: 8 },
      weight: { distribution: "uniform", from: 0.5, to: 2 },
      delay: { distribution: "uniform", from: 0.1, to: 2 },
      plasticity: { ...timing, weightDependence: "powerLaw", referenceWeight: 0.5, depressionRatio: 1.1 },
    },
    { from: "E", to: "I", receptor: "fast", connect: { rule: "bernoulli", probability: 0.3 }, weight: 1, delay: 0.5 },
    {
      from: "I",
      to: "E[5:30]",
      receptor: "slow",
      connect: { rule: "bernoulli", probability: 0.5 },
      weight: -2,
      delay: 1,
      plasticity: { ...timing, minimumWeight: 0.5, potentiationExponent: 1, depressionExponent: 1 },
    },
    {
      from: "stimulus",
      to: "E",
      receptor: "fast",
      connect: "allToAll",
      weight: 2,
      delay: 0,
      plasticity: { ...timing, potentiationExponent: 0.5 },
    },
    {
      from: "E[0:20]",
      to: "I",
      receptor: "slow",
      connect: { rule: "fixedOutDegree", number: 4 },
      weight: { distribution: "normal", mean: 3, deviation: 2 },
      delay: { distribution: "uniform", from: 0.1, to: 1.5 },
      plasticity: { kind: "shortTerm", release: 0.4, recoveryTimeConstant: 90, facilitationTimeConstant: 300 },
    },
    {
      from: "stimulus",
      to: "I",
      receptor: "fast",
      connect: "allToAll",
      weight: 4,
      plasticity: { kind: "shortTerm", release: 0.6, recoveryTimeConstant: 200 },
    },
  ],
};
