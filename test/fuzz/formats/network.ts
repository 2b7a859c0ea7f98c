// Descriptions of networks, as JSON: planned, and, if they are small, drawn and run on two engines.
import { ArgumentError } from "../../../packages/core/src/errors.js";
import "../../../src/index.js";
import { EngineCapacityError } from "../../../src/reservoir/engine.js";
import { hpcBenchmark, microcircuit, type NetworkOptions, SpikingNetwork } from "../../../src/spikes/index.js";
import { planNetwork } from "../../../src/spikes/network/planning.js";
import type { FuzzFormat } from "../format.js";
import { mutateJson } from "../mutate.js";
import { isSmall, runOnEngines } from "../networks.js";
import { bytesOf } from "../text.js";

const pairs = { kind: "stdp", potentiationTimeConstant: 20, depressionTimeConstant: 15, learningRate: 0.1, maximumWeight: 4 } as const;

const networks: readonly NetworkOptions[] = [
  {
    kind: "network",
    seed: 3,
    populations: {
      in: { size: 4, neuron: null },
      E: {
        size: 30,
        neuron: "leakyIntegrateAndFire",
        receptors: { fast: { timeConstant: 0.5 }, slow: { timeConstant: 2, shape: "alpha" } },
        background: { rate: 800, weight: 3, receptor: "fast" },
        current: { distribution: "normal", mean: 14, deviation: 1, least: 0 },
        stateTimeConstant: 20,
      },
      I: { like: "E", size: 10, initialPotential: { distribution: "uniform", from: -65, to: -55 } },
    },
    projections: [
      { from: "in", to: "E", receptor: "fast", connect: "allToAll", weight: 5 },
      {
        ...{ from: "E", to: "E", receptor: "fast", connect: { rule: "fixedInDegree", number: 5 }, weight: 2, delay: 1.5 },
        plasticity: { ...pairs, delay: "dendritic" },
      },
      {
        ...{ from: "E[0:20]", to: "I", receptor: "slow", connect: { rule: "bernoulli", probability: 0.2 } },
        weight: { distribution: "lognormal", mean: 0, deviation: 0.3, most: 5 },
        delay: { distribution: "normal", mean: 1, deviation: 0.5, least: 0.1, outside: "clip" },
        plasticity: { kind: "shortTerm", release: 0.4, recoveryTimeConstant: 100, facilitationTimeConstant: 50 },
      },
      { from: "I", to: "E", receptor: "fast", connect: { rule: "fixedTotalNumber", number: 60 }, weight: -4 },
      {
        from: "I",
        to: "I",
        receptor: "fast",
        connect: {
          rule: "list",
          synapses: [
            [0, 1],
            [1, 2],
          ],
        },
        weight: -1,
        selfConnections: false,
      },
    ],
  },
  {
    kind: "network",
    precision: "float64",
    timeStep: 0.5,
    populations: {
      a: { size: 12, neuron: { type: "adaptiveExponential" }, current: 25, receptors: { g: { timeConstant: 2, reversalPotential: 0 } } },
      b: { size: 8, neuron: "izhikevich", current: 10 },
    },
    projections: [
      { from: "a", to: "a", connect: { rule: "distance", probability: 0.5, lambda: 1.5, grid: [3, 2, 2] }, weight: 0.2 },
      {
        ...{ from: "a", to: "b", connect: { rule: "fixedOutDegree", number: 2 }, weight: { distribution: "uniform", from: 1, to: 3 } },
        plasticity: { ...pairs, weightDependence: "powerLaw", referenceWeight: 1, maximumWeight: 9 },
      },
    ],
  },
  microcircuit({ scale: 0.001, drive: "poisson" }),
  hpcBenchmark({ scale: 0.005 }),
];

export default {
  corpus: () => networks.map((network) => bytesOf(JSON.stringify(network))),
  async read(input) {
    let options: NetworkOptions;
    try {
      options = JSON.parse(new TextDecoder().decode(input));
    } catch {
      return;
    }
    if (isSmall(planNetwork(options))) await runOnEngines((engine) => SpikingNetwork.create(options, { engine }), 40);
  },
  errors: [ArgumentError, EngineCapacityError],
  mutate: (input, random) => bytesOf(JSON.stringify(mutateJson(JSON.parse(new TextDecoder().decode(input)), random)) ?? ""),
  tokens: ["network", "populations", "projections", "null", "[", "]", "{", "}", ",", ":", '"', "stdp", "shortTerm", "alpha", "dendritic"],
  testCases: 150,
} satisfies FuzzFormat;
