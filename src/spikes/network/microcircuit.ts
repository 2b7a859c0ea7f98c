// The cortical microcircuit of Potjans and Diesmann (2014), "The cell-type specific cortical
// microcircuit", Cerebral Cortex 24:785, as a description. Numbers as in the benchmark's
// repository (INM-6/microcircuit-PD14-model).
import { choice, type InputOf, number, option, resolve, seed } from "@spillway/core/options.js";
import { portableLog, portablePow } from "@spillway/numerics";
import type { NetworkOptions, PopulationOptions, ProjectionOptions } from "./config.js";

export const microcircuitTable = {
  /** Of neurons and of the synapses onto each: 1 (default) is full size, 77,169 neurons. */
  scale: option(number({ above: 0, atMost: 1 }), 1, "Share of the neurons, and of the synapses onto each."),
  /**
   * The input from the rest of the brain: "dc" (default), a constant current, or "poisson". Below
   * a scale of .4 populations fall silent with "dc".
   */
  drive: option(choice("dc", "poisson"), "dc", "The input from the rest of the brain: a constant current, or Poisson spikes."),
  /** Default "spillway". */
  seed: option(seed, "spillway", "Determines every synapse."),
};

/** The size and the drive of the microcircuit. */
export interface MicrocircuitOptions extends InputOf<typeof microcircuitTable> {}

interface Layer {
  readonly name: string;
  readonly size: number;
  /** Synapses onto a neuron from outside. */
  readonly external: number;
  /** mV. */
  readonly initialMean: number;
  readonly initialDeviation: number;
  /** Hz, of a run of NEST at full size: what a scaled network's missing input is made up from. */
  readonly rate: number;
  /** From each population in their order. */
  readonly probabilities: readonly number[];
}

const layer = (
  [name, size, external, initialMean, initialDeviation, rate]: readonly [string, number, number, number, number, number],
  probabilities: readonly number[],
): Layer => ({ name, size, external, initialMean, initialDeviation, rate, probabilities });

const layers: readonly Layer[] = [
  layer(["L23E", 20683, 1600, -68.28, 5.36, 0.903], [0.1009, 0.1689, 0.0437, 0.0818, 0.0323, 0, 0.0076, 0]),
  layer(["L23I", 5834, 1500, -63.16, 4.57, 2.965], [0.1346, 0.1371, 0.0316, 0.0515, 0.0755, 0, 0.0042, 0]),
  layer(["L4E", 21915, 2100, -63.33, 4.74, 4.414], [0.0077, 0.0059, 0.0497, 0.135, 0.0067, 0.0003, 0.0453, 0]),
  layer(["L4I", 5479, 1900, -63.45, 4.94, 5.876], [0.0691, 0.0029, 0.0794, 0.1597, 0.0033, 0, 0.1057, 0]),
  layer(["L5E", 4850, 2000, -63.11, 4.94, 7.569], [0.1004, 0.0622, 0.0505, 0.0057, 0.0831, 0.3726, 0.0204, 0]),
  layer(["L5I", 1065, 1900, -61.66, 4.55, 8.633], [0.0548, 0.0269, 0.0257, 0.0022, 0.06, 0.3158, 0.0086, 0]),
  layer(["L6E", 14395, 2900, -66.72, 5.46, 1.105], [0.0156, 0.0066, 0.0211, 0.0166, 0.0572, 0.0197, 0.0396, 0.2252]),
  layer(["L6I", 2948, 2100, -61.43, 4.48, 7.829], [0.0364, 0.001, 0.0034, 0.0005, 0.0277, 0.008, 0.0658, 0.1443]),
];
const [capacitance, tauMembrane, tauSynapse] = [250, 10, 0.5];
/** Hz of each synapse from outside. */
const externalRate = 8;

/** The current in pA whose potential peaks at 0.15 mV. */
function synapticCurrent(): number {
  const quotient = tauMembrane / tauSynapse;
  const power = 1 / (tauMembrane - tauSynapse);
  const peak =
    (tauSynapse / (tauSynapse - tauMembrane)) * (portablePow(quotient, -tauMembrane * power) - portablePow(quotient, -tauSynapse * power));
  return 0.15 / peak / (tauMembrane / capacitance);
}

/**
 * The microcircuit's description: eight populations, 77,169 neurons and 298,880,968 synapses at
 * full size, steps of 0.1 ms. Below it, neurons and in-degrees shrink by `scale`, weights grow by
 * 1 / sqrt(scale), and a constant current makes up for the mean input that is missing.
 *
 * @throws ArgumentError
 */
export function microcircuit(options: MicrocircuitOptions = {}): NetworkOptions {
  const { scale, drive, seed } = resolve(microcircuitTable, options);
  const unscaled = synapticCurrent();
  const weight = unscaled / Math.sqrt(scale);
  const ofPair = (t: number, s: number) => (s % 2 === 0 ? 1 : -4) * (t === 0 && s === 2 ? 2 : 1);
  const synapses = (t: number, s: number) => {
    const pairs = layers[t]!.size * layers[s]!.size;
    return portableLog(1 - layers[t]!.probabilities[s]!) / portableLog((pairs - 1) / pairs);
  };
  const populations: Record<string, PopulationOptions> = {};
  const projections: ProjectionOptions[] = [];
  layers.forEach(({ name, size, external, initialMean, initialDeviation }, t) => {
    const outside = externalRate * external * unscaled;
    let mean = drive === "poisson" ? outside : 0;
    layers.forEach((source, s) => {
      mean += unscaled * ofPair(t, s) * (synapses(t, s) / size) * source.rate;
      const number = Math.floor(synapses(t, s) * scale * scale + 0.5);
      if (number === 0) return;
      const sizeOfWeight = weight * ofPair(t, s);
      const delay = s % 2 === 0 ? 1.5 : 0.75;
      projections.push({
        from: source.name,
        to: name,
        connect: { rule: "fixedTotalNumber", number },
        weight: {
          distribution: "normal",
          mean: sizeOfWeight,
          deviation: 0.1 * Math.abs(sizeOfWeight),
          ...(sizeOfWeight < 0 ? { most: 0 } : { least: 0 }),
        },
        delay: { distribution: "normal", mean: delay, deviation: 0.5 * delay, least: 0.05, most: 6.35 },
      });
    });
    const missing = scale === 1 ? 0 : 0.001 * tauSynapse * (1 - Math.sqrt(scale)) * mean;
    populations[name] = {
      ...(t === 0 ? neuron : { like: layers[0]!.name }),
      size: Math.floor(size * scale + 0.5),
      current: missing + (drive === "dc" ? outside * tauSynapse * 0.001 : 0),
      initialPotential: { distribution: "normal", mean: initialMean, deviation: initialDeviation },
      ...(drive === "poisson" && { background: { rate: Math.floor(external * scale + 0.5) * externalRate, weight } }),
    };
  });
  return { kind: "network", timeStep: 0.1, seed, populations, projections };
}

const neuron: PopulationOptions = {
  neuron: {
    type: "leakyIntegrateAndFire",
    membraneTimeConstant: tauMembrane,
    restingPotential: -65,
    threshold: -50,
    resetPotential: -65,
    refractoryPeriod: 2,
  },
  capacitance,
  receptors: { current: { timeConstant: tauSynapse } },
};

/** Rates of a run of NEST with Poisson drive at full size, Hz, by population. */
export const microcircuitRates: Readonly<Record<string, number>> = Object.fromEntries(layers.map(({ name, rate }) => [name, rate]));
