// Networks of several neurons, receptors and both signs, which every engine must run alike.
import type { NetworkOptions } from "../../../src/spikes/network/config.js";

export const ring = { connect: { rule: "fixedOutDegree", number: 5 }, delay: { distribution: "uniform", from: 0.1, to: 3 } } as const;

export const current = { distribution: "uniform", from: 10, to: 25 } as const;

export const currents = { fast: { timeConstant: 2 }, slow: { timeConstant: 9 } };

export const conductances = {
  excitatory: { timeConstant: 5, reversalPotential: 0 },
  inhibitory: { timeConstant: 10, reversalPotential: -80 },
  current: { timeConstant: 3 },
};

const rising = { timeConstant: 1.5, shape: "alpha" } as const;
const currentsThatRise = { fast: rising, slow: { timeConstant: 9 } };

export const mixedNetworks: Record<string, Omit<NetworkOptions, "kind">> = {
  "several neurons and receptors, weights of both signs": {
    populations: {
      E: { size: 33, receptors: currents, current, stateTimeConstant: 20 },
      A: { size: 7, neuron: { type: "adaptiveIntegrateAndFire", adaptationStep: 2, reset: "subtract" }, receptors: currents, current: 20 },
      Z: { size: 10, neuron: "izhikevich", current: { distribution: "normal", mean: 12, deviation: 3 } },
    },
    projections: [
      { from: "E", to: "A", receptor: "slow", weight: { distribution: "normal", mean: 8, deviation: 20 }, ...ring },
      { from: "A", to: "E", receptor: "fast", weight: -5, ...ring },
      { from: "Z", to: "E", receptor: "slow", weight: { distribution: "exponential", mean: 6 }, ...ring },
      { from: "E", to: "Z", weight: 3, ...ring },
    ],
  },
  "conductances, adaptive exponential neurons and spikes from outside": {
    populations: {
      E: { size: 33, receptors: conductances, current, background: { rate: 2000, weight: 0.2, receptor: "excitatory" } },
      A: {
        like: "E",
        size: 7,
        neuron: { type: "adaptiveIntegrateAndFire", adaptationStep: 2, reset: "subtract" },
        stateTimeConstant: 20,
      },
      X: { like: "E", size: 11, neuron: { type: "adaptiveExponential", refractoryPeriod: 0.5 } },
      Y: { size: 6, neuron: "adaptiveExponential", current: 30, stateTimeConstant: 10 },
    },
    projections: [
      { from: "E", to: "A", receptor: "excitatory", weight: 0.6, ...ring },
      { from: "A", to: "X", receptor: "inhibitory", weight: { distribution: "uniform", from: 0, to: 3 }, ...ring },
      { from: "X", to: "E", receptor: "current", weight: -2, ...ring },
      { from: "X", to: "Y", weight: 8, ...ring },
    ],
  },
  "currents and conductances that rise": {
    populations: {
      E: { size: 33, receptors: currentsThatRise, current, background: { rate: 3000, weight: 1, receptor: "fast" } },
      A: { size: 7, neuron: "adaptiveIntegrateAndFire", receptors: { fast: rising }, current: 20, stateTimeConstant: 20 },
      Z: { size: 10, neuron: "izhikevich", receptors: currentsThatRise, current: 12 },
      C: { size: 9, receptors: { fast: { ...rising, reversalPotential: 0 }, slow: { timeConstant: 9 } }, current },
      X: { size: 6, neuron: "adaptiveExponential", receptors: { fast: rising }, current: 30 },
    },
    projections: [
      { from: "E", to: "A", weight: 9, ...ring },
      { from: "A", to: "E", receptor: "fast", weight: -5, ...ring },
      { from: "E", to: "Z", receptor: "fast", weight: { distribution: "normal", mean: 3, deviation: 4 }, ...ring },
      { from: "Z", to: "C", receptor: "fast", weight: 0.3, ...ring },
      { from: "C", to: "X", weight: 8, ...ring },
      { from: "X", to: "E", receptor: "slow", weight: 4, ...ring },
    ],
  },
};
