// Networks that threads must run with the bits of one, and how they are run: sizes that no vector
// and no line of the cache divides, delays of one step and of many, all neurons and receptors.
import type { WasmNetwork } from "../../../src/engine/cpu/network.js";
import type { NetworkOptions } from "../../../src/spikes/network/config.js";
import type { NetworkModel } from "../../../src/spikes/network/plan.js";
import { conductances, mixedNetworks, ring } from "./mixed-networks.js";

type Description = Omit<NetworkOptions, "kind">;
/** Every neuron fires, and every spike reaches neurons of all threads after so many steps. */
const chatter = (size: number, delays: readonly [number, number]): Description => ({
  populations: { E: { size, current: { distribution: "uniform", from: 16, to: 40 }, background: { rate: 4000, weight: 1 } } },
  projections: [
    {
      from: "E",
      to: "E",
      connect: { rule: "fixedOutDegree", number: 12 },
      weight: { distribution: "normal", mean: 0, deviation: 3 },
      delay: delays[0] === delays[1] ? delays[0] : { distribution: "uniform", from: delays[0], to: delays[1] },
    },
  ],
});

/**
 * Populations of all neurons and receptors, of sizes that no vector and no line of the cache
 * divides.
 */
const uneven = (sizes: readonly number[]): Description => {
  const [leaky = 0, adaptive = 0, izhikevich = 0, exponential = 0, conducting = 0] = sizes;
  return {
    populations: {
      stimulus: { size: 3, neuron: null },
      E: { size: leaky, current: { distribution: "uniform", from: 14, to: 30 }, stateTimeConstant: 20 },
      A: { size: adaptive, neuron: { type: "adaptiveIntegrateAndFire", adaptationStep: 2, reset: "subtract" }, current: 22 },
      Z: { size: izhikevich, neuron: "izhikevich", current: { distribution: "normal", mean: 12, deviation: 3 } },
      X: { size: exponential, neuron: "adaptiveExponential", current: 30, background: { rate: 2000, weight: 2 } },
      C: { size: conducting, receptors: conductances, current: 25, background: { rate: 2000, weight: 0.2, receptor: "excitatory" } },
    },
    projections: [
      { from: "stimulus", to: "E", connect: "allToAll", weight: 8, delay: 0.2 },
      { from: "E", to: "A", weight: { distribution: "normal", mean: 8, deviation: 20 }, ...ring },
      { from: "A", to: "Z", weight: -5, ...ring },
      { from: "Z", to: "X", weight: { distribution: "exponential", mean: 6 }, ...ring },
      { from: "X", to: "C", receptor: "excitatory", weight: 0.6, ...ring },
      { from: "C", to: "E", weight: 4, ...ring },
    ],
  };
};

export const threadedNetworks: Record<string, Description> = {
  ...mixedNetworks,
  ...Object.fromEntries([1, 5, 17, 33, 1000].map((size) => [`${size} neurons, delays of a step and more`, chatter(size, [0.1, 2])])),
  "100 neurons, delays of one step": chatter(100, [0.1, 0.1]),
  "100 neurons, delays of many steps": chatter(100, [1.7, 4]),
  "100 neurons, delays beyond the longest period": chatter(100, [3, 3]),
  "all neurons, uneven populations": uneven([67, 33, 41, 18, 35]),
  "all neurons, populations of one": uneven([1, 17, 1, 5, 1]),
};
/** Runs a network in calls of several lengths, with spikes given to its inputs. */
export function runInCalls(network: WasmNetwork, model: NetworkModel) {
  const records = [];
  for (const steps of [1, 7, 40, 103]) {
    const offsets = Uint32Array.from({ length: steps + 1 }, (_, t) => (model.inputs > 0 ? t : 0));
    const neurons = Uint32Array.from({ length: offsets[steps]! }, (_, t) => t % model.inputs);
    records.push(network.advance(steps, { offsets, neurons }, true)!);
  }
  return { records, state: network.getState() };
}
