// The neurons of a planned network as the kernels take them, and which kernels take it.
import { allocate, type FloatArray, type Precision } from "@spillway/numerics";
import type { SourceClass } from "../../../spikes/gpu/network/table.js";
import { reachesAtOnce } from "../../../spikes/network/engines.js";
import { type NetworkPlan, networkStreams } from "../../../spikes/network/plan.js";
import { upswingNumbers } from "../../../spikes/network/planned-neurons.js";

/** The neurons of a network: lists of N values. */
export interface NetworkNeurons {
  readonly size: number;
  readonly receptors: number;
  /** Lists of currents. */
  readonly currents: number;
  readonly precision: Precision;
  readonly fractionBits: number;
  /**
   * keep, gain, what the drive adds, threshold, reset, decay of the current: one after the other.
   * For the general kernel, the numbers of the populations.
   */
  readonly constants: FloatArray;
  readonly refractory: Int32Array;
  readonly background: NetworkBackground | null;
  readonly key: readonly [number, number];
  /** The stream of background spikes. */
  readonly stream: number;
  /** What the general kernel takes in place of background and refractory steps. */
  readonly general?: GeneralNeurons | undefined;
}

/** Neurons of any kind, as kernels/network_general.cuh reads them. */
export interface GeneralNeurons {
  /** Of each population. */
  readonly whole: Int32Array;
  /** Of all background spikes. */
  readonly thresholds: Uint32Array;
  /** Of each neuron. */
  readonly population: Uint32Array;
  /** What constant currents add in a step, N values. */
  readonly drive: FloatArray;
  /** Whether a delay may be below a step. */
  readonly atOnce: boolean;
}

/** Spikes from outside. */
export interface NetworkBackground {
  /**
   * The distribution of each neuron's, -1 for none, and then the units of one spike: 2 N values.
   */
  readonly neurons: Int32Array;
  /** Of all distributions, `count` each. */
  readonly thresholds: Uint32Array;
  readonly count: number;
}

/** Whether a network has plastic projections. */
export const isPlastic = ({ projections }: NetworkPlan): boolean => projections.some(({ plasticity }) => plasticity !== null);

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
  return {
    size,
    receptors: 1,
    currents: 1,
    precision,
    fractionBits,
    constants,
    refractory,
    background,
    key,
    stream: networkStreams.background,
  };
}

const neuronTypes = { leakyIntegrateAndFire: 0, adaptiveIntegrateAndFire: 1, izhikevich: 2, adaptiveExponential: 3 } as const;

/** The same for kernels/network_general.cuh, which defines the layout. */
export function generalNeuronsOf(plan: NetworkPlan, drive: FloatArray): NetworkNeurons {
  const { size, receptors, currents, precision, populations, fractionBits, key, config } = plan;
  const whole: number[] = [];
  const number: number[] = [];
  const thresholds: number[] = [];
  const population = new Uint32Array(size);
  const refractory = new Int32Array(size);
  populations.forEach(({ first, size: many, neuron, receptors: own, background, stateKeep }, p) => {
    const counts = background?.counts.thresholds ?? new Uint32Array(0);
    whole.push(
      ...[neuronTypes[neuron.type], neuron.relaxes ? 1 : 0, neuron.subtracts ? 1 : 0, neuron.refractorySteps, stateKeep === null ? 0 : 1],
      ...[own.length, background?.receptor ?? -1, background?.units ?? 0, thresholds.length, counts.length],
    );
    number.push(
      ...[neuron.keep, neuron.threshold, neuron.reset, neuron.recoveryKeep, neuron.recoveryStep, stateKeep ?? 0, config.timeStep / 2],
      ...upswingNumbers(neuron),
    );
    for (let k = 0; k < receptors; k++) {
      const { keep, gain, conducts, rise } = own[k] ?? { keep: 0, gain: 0, conducts: 0, rise: null };
      number.push(keep, gain, conducts, rise?.gain ?? 0, rise?.feed ?? 0, rise?.conducts ?? 0);
    }
    for (const threshold of counts) thresholds.push(threshold);
    population.fill(p, first, first + many);
    refractory.fill(neuron.refractorySteps, first, first + many);
  });
  const constants = allocate(precision, number.length);
  constants.set(number);
  const general: GeneralNeurons = {
    whole: Int32Array.from(whole),
    thresholds: Uint32Array.from([...thresholds, 0]),
    population,
    drive,
    atOnce: plan.projections.some(reachesAtOnce),
  };
  return {
    size,
    receptors,
    currents,
    precision,
    fractionBits,
    constants,
    refractory,
    background: null,
    key,
    stream: networkStreams.background,
    general,
  };
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

/** 1 or -1 for each neuron and channel of inputs: of its synapses that stay as they are. */
export function signsOf({ size, inputs, projections }: NetworkPlan): Int8Array {
  const signs = new Int8Array(size + inputs).fill(1);
  for (const { source, sign, plasticity } of projections)
    if (sign < 0 && plasticity === null) signs.fill(-1, source.first, source.first + source.size);
  return signs;
}
