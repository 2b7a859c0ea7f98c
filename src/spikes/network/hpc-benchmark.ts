// NEST's benchmark of spike-timing-dependent plasticity as a description: hpc_benchmark.py of
// nest/nest-simulator (84b06d8d4, GPL-2: numbers only), after Morrison, Aertsen and Diesmann
// (2007), "Spike-timing-dependent plasticity in balanced random networks", Neural Computation
// 19:1437.
import { type InputOf, number, option, resolve, seed } from "@spillway/core/options.js";
import type { NetworkOptions, ProjectionOptions } from "./config.js";

export const hpcBenchmarkTable = {
  /**
   * Of the neurons: 1 (default) is 11,250, each with 11,250 synapses. Above 1 that number stays, as
   * in NEST; below 1 a neuron has as few as there are sources.
   */
  scale: option(number({ above: 0 }), 1, "Of the 11,250 neurons, and below 1 of the synapses onto each."),
  /** Default "spillway". */
  seed: option(seed, "spillway", "Determines every synapse."),
};

/** The size of the benchmark. */
export interface HpcBenchmarkOptions extends InputOf<typeof hpcBenchmarkTable> {}

const [excitatory, inhibitory] = [9000, 2250];
const [capacitance, tauMembrane, threshold, tauSynapse] = [250, 10, 20, 0.32582722403722841];
/** pA, whose potential peaks at 0.14 mV. */
const peakCurrent = 45.609600316540956;
const inhibition = -5;
/** What a spike of 1 pA brings altogether, pA ms. */
const charge = Math.E * tauSynapse;
/**
 * Spikes from outside per ms onto a neuron: 1.685 times those that hold it at its threshold.
 */
const externalRate = (1.685 * threshold * capacitance) / (tauMembrane * peakCurrent * charge);
/**
 * Spikes per ms of a neuron at which a smaller network has the mean input of a whole one. A whole
 * one fires at some 0.009; with that, the smallest would fall silent.
 */
const recurrentRate = 0.0065;
const delay = 1.5;

/**
 * NEST's benchmark of plasticity: excitatory and inhibitory integrate-and-fire neurons in balance,
 * with alpha-shaped currents and Poisson spikes from outside. All excitatory synapses onto
 * excitatory neurons, 81 million at full size, change by the power law, with all of the delay on
 * the neurons' side.
 *
 * Below a scale of 1, weights grow by 1 / sqrt(scale), and a constant current makes up for the mean
 * input that is missing. @throws ArgumentError
 */
export function hpcBenchmark(options: HpcBenchmarkOptions = {}): NetworkOptions {
  const { scale, seed } = resolve(hpcBenchmarkTable, options);
  const share = Math.min(1, scale);
  const weight = peakCurrent / Math.sqrt(share);
  const synapses = (of: number) => ({ rule: "fixedInDegree", number: Math.floor(of * share + 0.5) }) as const;
  const missing = peakCurrent * charge * (externalRate + (excitatory + inhibition * inhibitory) * recurrentRate);
  const projection = (from: string, to: string): ProjectionOptions => ({
    ...{ from, to, delay, selfConnections: false },
    connect: synapses(from === "E" ? excitatory : inhibitory),
    weight: from === "E" ? weight : inhibition * weight,
  });
  return {
    kind: "network",
    timeStep: 0.1,
    seed,
    populations: {
      E: {
        size: Math.max(1, Math.floor(excitatory * scale + 0.5)),
        neuron: {
          type: "leakyIntegrateAndFire",
          membraneTimeConstant: tauMembrane,
          restingPotential: 0,
          threshold,
          resetPotential: 0,
          refractoryPeriod: 0.5,
        },
        capacitance,
        receptors: { current: { timeConstant: tauSynapse, shape: "alpha" } },
        current: (1 - Math.sqrt(share)) * missing,
        background: { rate: 1000 * externalRate * share, weight },
        initialPotential: { distribution: "normal", mean: 5.7, deviation: 7.2 },
      },
      I: { like: "E", size: Math.max(1, Math.floor(inhibitory * scale + 0.5)) },
    },
    projections: [
      {
        ...projection("E", "E"),
        plasticity: {
          kind: "stdp",
          potentiationTimeConstant: 15,
          depressionTimeConstant: 30,
          learningRate: 0.1,
          depressionRatio: 0.0513,
          weightDependence: "powerLaw",
          potentiationExponent: 0.4,
          // NEST measures weights by 1 pA.
          referenceWeight: 1 / Math.sqrt(share),
          maximumWeight: 10 * weight,
          delay: "dendritic",
        },
      },
      projection("E", "I"),
      projection("I", "E"),
      projection("I", "I"),
    ],
  };
}
