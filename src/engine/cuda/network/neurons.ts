// The neurons of a planned network as the kernels take them, and what of a plan they do not take.
import { allocate, type FloatArray } from "../../../numerics/index.js";
import type { SourceClass } from "../../../spikes/gpu/network/table.js";
import { type NetworkPlan, networkStreams } from "../../../spikes/network/plan.js";
import type { NetworkNeurons } from "./stepper.js";

/** Why the kernels do not run a network; undefined if they do. */
export function whyNoKernel({ populations, inputs, receptors, oneSign, projections }: NetworkPlan): string | undefined {
  const other = populations.find(({ neuron }) => neuron.type !== "leakyIntegrateAndFire" || neuron.subtracts);
  if (other) return `${other.name} has neurons that are not leaky integrate-and-fire with a reset to a value`;
  const conducting = populations.find(({ neuron }) => neuron.relaxes);
  if (conducting) return `${conducting.name} has conductances`;
  if (receptors > 1) return "a population has several receptors";
  if (inputs > 0) return "it has populations of inputs";
  if (!oneSign) return "the weights of a source have both signs, or more than 16 bits";
  if (projections.some(({ delay }) => delay.first === 0)) return "a projection has a delay of 0";
  if (populations.some(({ stateKeep }) => stateKeep !== null)) return "filtered spikes are kept for a readout";
  return undefined;
}

/** @param drive what constant currents add in a step, N values */
export function neuronsOf(plan: NetworkPlan, drive: FloatArray): NetworkNeurons {
  const { size, precision, populations, fractionBits, key } = plan;
  const constants = allocate(precision, 6 * size);
  const refractory = new Int32Array(size);
  const neurons = new Int32Array(2 * size).fill(-1, 0, size);
  const backgrounds = populations.flatMap(({ background }) => (background ? [background.counts.thresholds] : []));
  const count = backgrounds.reduce((most, { length }) => Math.max(most, length), 0);
  const thresholds = new Uint32Array(count * backgrounds.length).fill(0xffffffff);
  let distribution = 0;
  constants.set(drive, 2 * size);
  for (const { first, size: many, neuron, receptors, background } of populations) {
    const receptor = receptors[0] ?? { keep: 0, gain: 0 };
    const fill = (list: number, value: number) => constants.fill(value, list * size + first, list * size + first + many);
    fill(0, neuron.keep);
    fill(1, receptor.gain);
    fill(3, neuron.threshold);
    fill(4, neuron.reset);
    fill(5, receptor.keep);
    refractory.fill(neuron.refractorySteps, first, first + many);
    if (!background) continue;
    thresholds.set(background.counts.thresholds, distribution * count);
    neurons.fill(distribution++, first, first + many);
    neurons.fill(background.units, size + first, size + first + many);
  }
  const background = backgrounds.length > 0 ? { neurons, thresholds, count } : null;
  return { size, precision, fractionBits, constants, refractory, background, key, stream: networkStreams.background };
}

/**
 * Sources in a row with one sign: the populations, which a device gives slots of one length each.
 */
export function sourceClasses({ populations, projections }: NetworkPlan): SourceClass[] {
  return populations.map(({ first, size }) => {
    const own = projections.find(({ source }) => source.first >= first && source.first < first + size);
    return { first, size, negative: own?.sign === -1 };
  });
}

/** 1 or -1 for each source. */
export function signsOf(plan: NetworkPlan): Int8Array {
  const signs = new Int8Array(plan.size).fill(1);
  for (const { first, size, negative } of sourceClasses(plan)) if (negative) signs.fill(-1, first, first + size);
  return signs;
}
