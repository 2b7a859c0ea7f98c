// Durations in steps, against whole-number arithmetic: a duration of n hundredths of a ms is
// floor((2 n + m) / (2 m)) steps of m hundredths, halves up.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { networkOf } from "../../src/spikes/liquid/as-network.js";
import { build } from "../../src/spikes/liquid/kind.js";
import { drawNetwork } from "../../src/spikes/network/draw.js";
import type { NetworkModel } from "../../src/spikes/network/plan.js";
import { planNetwork } from "../../src/spikes/network/planning.js";
import { stepsIn } from "../../src/spikes/steps.js";

const delaysOf = ({ synapses: { packed, cellBits } }: NetworkModel) => [...packed].map((packedSynapse) => packedSynapse >>> cellBits);
const neuron = (type: "leakyIntegrateAndFire" | "adaptiveExponential", refractoryPeriod: number) => ({ type, refractoryPeriod });
const network = (
  projection: object,
  refractoryPeriod = 0,
  type: "leakyIntegrateAndFire" | "adaptiveExponential" = "leakyIntegrateAndFire",
) =>
  drawNetwork(
    planNetwork({
      kind: "network",
      timeStep: 0.1,
      populations: { E: { size: 2, neuron: neuron(type, refractoryPeriod) } },
      projections: [{ from: "E", to: "E", connect: "allToAll", weight: 1, ...projection }],
    }),
  );
const liquid = (options: object) =>
  build({ kind: "spiking", size: 4, inputSize: 1, timeStep: 0.1, connectivity: { type: "random", probability: 1 }, ...options });

describe("a duration in steps", () => {
  it("is rounded with halves up, as in whole numbers", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10_000_000 }), fc.integer({ min: 1, max: 1000 }), (n, m) => {
        expect(stepsIn(n / 100, m / 100)).toBe(Number((2n * BigInt(n) + BigInt(m)) / (2n * BigInt(m))));
      }),
      {
        numRuns: 2000,
        examples: [
          [15, 10],
          [35, 10],
          [5, 10],
        ],
      },
    );
  });

  // 1.5, 3.5, 2.5 and 4.5 steps; 1.4 and 3.6.
  it.each([
    [0.15, 2],
    [0.35, 4],
    [0.25, 3],
    [0.45, 5],
    [0.14, 1],
    [0.36, 4],
  ])("of %f ms at a step of 0.1 ms is %i wherever one is given", (ms, steps) => {
    expect(delaysOf(network({ delay: ms }))).toEqual([steps, steps, steps, steps]);
    expect(delaysOf(network({ connect: { rule: "list", synapses: [[0, 1, 1, ms]] } }))).toEqual([steps]);
    const clipped = { distribution: "uniform", from: 50, to: 60, least: 0.1, most: ms, outside: "clip" };
    expect(delaysOf(network({ delay: clipped }))).toEqual([steps, steps, steps, steps]);
    expect(network({}, ms).populations[0]!.neuron.refractorySteps).toBe(steps);
    expect(network({}, ms, "adaptiveExponential").populations[0]!.neuron.refractorySteps).toBe(steps);
    expect(new Set(liquid({ synapses: { delay: ms } }).synapses.delays)).toEqual(new Set([steps]));
    expect(new Set(liquid({ synapses: { delay: [ms, ms] } }).synapses.delays)).toEqual(new Set([steps]));
    expect(new Set(liquid({ input: { delay: ms } }).inputSynapses!.delays)).toEqual(new Set([steps]));
    const { populations } = networkOf(liquid({ neuron: { type: "leakyIntegrateAndFire", refractoryPeriod: ms } }));
    expect(populations[0]!.neuron.refractorySteps).toBe(steps);
  });
});
