// Spike-timing-dependent plasticity in a running network (Song, Miller and Abbott 2000, Nature
// Neuroscience 3:919): a neuron with 1000 random inputs, whose weights part into weak and strong
// ones, so that it fires by chance and no longer by the mean of its input.
import "spillway";
import { rateEncode, SpikingNetwork } from "spillway/spikes";

await using network = await SpikingNetwork.create({
  kind: "network",
  timeStep: 0.5,
  seed: 1,
  populations: {
    inputs: { size: 1000, neuron: null },
    cell: {
      size: 1,
      neuron: {
        type: "leakyIntegrateAndFire",
        membraneTimeConstant: 20,
        restingPotential: -74,
        threshold: -54,
        resetPotential: -60,
        refractoryPeriod: 1,
      },
      receptors: { excitatory: { timeConstant: 5, reversalPotential: 0 } },
    },
  },
  projections: [
    {
      from: "inputs",
      to: "cell",
      connect: "allToAll",
      weight: { distribution: "uniform", from: 0, to: 0.015 },
      plasticity: {
        kind: "stdp",
        potentiationTimeConstant: 20,
        depressionTimeConstant: 20,
        learningRate: 0.01,
        depressionRatio: 1.05,
        maximumWeight: 0.015,
      },
    },
  ],
});

const second = Array.from({ length: 10 }, () => new Float64Array(1000).fill(1));
for (let s = 0; s <= 100; s++) {
  const pattern = rateEncode(second, { frameMs: 100, maxRateHz: 15, seed: s });
  const { rates } = await network.run(1000, { spikes: true, inputs: { inputs: pattern } });
  if (s % 50 !== 0) continue;
  const { weights } = await network.weights(0);
  const shares = [0, 1, 2, 3, 4].map((fifth) => {
    const count = weights.filter((each) => Math.min(4, Math.floor((5 * each) / 0.015)) === fifth).length;
    return `${((100 * count) / weights.length).toFixed(0).padStart(2)} %`;
  });
  console.log(`after ${String(s).padStart(3)} s: ${rates["cell"]!.toFixed(0)} Hz, weights by fifth of the largest: ${shares.join(", ")}`);
}
