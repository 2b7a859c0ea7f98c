// The networks by which the cost of plastic synapses is measured: alike but for the plasticity.
import type { NetworkOptions, ProjectionPlasticityOptions } from "../../src/spikes/index.js";

const pairs = {
  kind: "stdp",
  ...{ potentiationTimeConstant: 15, depressionTimeConstant: 30, learningRate: 1e-4, maximumWeight: 1 },
} as const;
const kinds: Record<string, ProjectionPlasticityOptions | null> = {
  "weights that stay": null,
  shortTerm: { kind: "shortTerm", release: 0.5, recoveryTimeConstant: 100, facilitationTimeConstant: 50 },
  "stdp, additive": pairs,
  "stdp, powerLaw": { ...pairs, weightDependence: "powerLaw", referenceWeight: 0.1 },
};

/**
 * So many neurons, of which four fifths excite; 100 synapses onto each of these change and 25 do
 * not. Excitation does next to nothing to the potentials, so that every variant fires alike.
 */
export function smallNetworks(neurons: number): Record<string, NetworkOptions> {
  const excitatory = Math.round(0.8 * neurons);
  const describe = (plasticity: ProjectionPlasticityOptions | null): NetworkOptions => ({
    kind: "network",
    seed: 1,
    populations: {
      E: { size: excitatory, current: { distribution: "uniform", from: 10, to: 19 }, background: { rate: 500, weight: 8 } },
      I: { like: "E", size: neurons - excitatory },
    },
    projections: [
      { from: "E", to: "E", connect: { rule: "fixedInDegree", number: 100 }, weight: 0.1, delay: 1.5, plasticity },
      { from: "I", to: "E", connect: { rule: "fixedInDegree", number: 25 }, weight: -0.5, delay: 1.5 },
    ],
  });
  return Object.fromEntries(Object.entries(kinds).map(([name, plasticity]) => [name, describe(plasticity)]));
}
