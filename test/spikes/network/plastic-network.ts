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
    {
      from: "E[10:40]",
      to: "E",
      receptor: "slow",
      connect: { rule: "fixedInDegree", number: 5 },
      weight: { distribution: "uniform", from: 0.5, to: 1 },
      delay: { distribution: "uniform", from: 0.1, to: 1.7 },
      plasticity: { ...timing, delay: "dendritic", potentiationExponent: 0.4, depressionExponent: 1 },
    },
  ],
};

export const brianPairs = {
  kind: "stdp",
  ...{ potentiationTimeConstant: 20, depressionTimeConstant: 30, learningRate: 0.005, depressionRatio: 1.05 },
  ...{ maximumWeight: 1, potentiationExponent: 0.5, depressionExponent: 0.5 },
} as const;
export const brianShortTerm = { kind: "shortTerm", release: 0.3, recoveryTimeConstant: 200, facilitationTimeConstant: 100 } as const;
const neuron = {
  type: "leakyIntegrateAndFire",
  ...{ membraneTimeConstant: 20, restingPotential: 0, threshold: 15, resetPotential: 0, refractoryPeriod: 0 },
} as const;
const current = { distribution: "uniform", from: 15.5, to: 22 } as const;

/**
 * A network that bench/cpu/plasticity-brian.ts runs in Brian2 too. Nothing is drawn while it runs.
 */
export const brianNetwork: NetworkOptions = {
  kind: "network",
  precision: "float64",
  fractionBits: 22,
  seed: 1,
  populations: { E: { size: 80, neuron, receptors: { jump: { timeConstant: 0 } }, current }, I: { like: "E", size: 20 } },
  projections: [
    {
      ...{ from: "E", to: "E", connect: { rule: "bernoulli", probability: 0.2 }, weight: { distribution: "uniform", from: 0.2, to: 0.8 } },
      ...{ delay: { distribution: "uniform", from: 0.5, to: 5 }, selfConnections: false, plasticity: brianPairs },
    },
    { from: "I", to: "E", connect: { rule: "bernoulli", probability: 0.3 }, weight: -2, delay: 1, plasticity: brianShortTerm },
  ],
};
