// What a network's description comes to before a synapse is drawn: numbers alone, nothing left to
// decide. The host (draw.ts) and a device draw the same table from it. Rule 13 of docs/numerics.md.
import type { FloatArray, Matrix, PhiloxKey, Precision } from "@spillway/numerics";
import type { ConnectConfig, NetworkConfig, NetworkNeuronConfig } from "./config.js";

/**
 * A number by one random word of 32 bits. With U = low + share (word + .5) 2^-32 and Q the normal
 * distribution's inverse (`normalQuantile`), it is
 *
 * - constant: a
 * - uniform: a + b U
 * - normal: a + b Q(U)
 * - lognormal: exp(a + b Q(U))
 * - exponential: -a log(1 - U)
 *
 * and then at least `least` and at most `most`. `low` is 0 and `share` is 1 unless numbers outside
 * the bounds are drawn again.
 */
export interface WordSampler {
  readonly family: "constant" | "uniform" | "normal" | "lognormal" | "exponential";
  readonly a: number;
  readonly b: number;
  readonly low: number;
  readonly share: number;
  readonly least: number;
  readonly most: number;
}

/** A whole number by one random word: `first` + how many of the thresholds are at most the word. */
export interface WordSteps {
  readonly first: number;
  /** Rising. */
  readonly thresholds: Uint32Array;
}

/** A run of numbers: of neurons, or of input channels counted from N on. */
export interface NeuronRange {
  readonly first: number;
  readonly size: number;
}

/** A receptor of a population's neurons: what is left of a current after a step, and its gain. */
export interface PlannedReceptor {
  readonly name: string;
  readonly keep: number;
  /**
   * What a current that begins the step at 1 mV adds to the potential; 1 for Izhikevich. If the
   * neuron `relaxes`: what it adds to where the potential goes, 1 for a current, and for a
   * conductance its reversal potential from rest; times the mean of its decay over the step if the
   * neuron is adaptiveExponential.
   */
  readonly gain: number;
  /** What a current of 1 mV adds to the conductance of a step; 0 unless it is a conductance. */
  readonly conducts: number;
  /** Of alpha-shaped currents: what spikes jump, and what makes the current rise; else null. */
  readonly rise: PlannedRise | null;
}

/** The rise of an alpha-shaped current, which decays as the current does. */
export interface PlannedRise {
  /**
   * What 1 mV of it adds to the potential in a step; if the neuron relaxes, to where the potential
   * goes: 0 unless it is adaptiveExponential. 0 for Izhikevich.
   */
  readonly gain: number;
  /** What 1 mV of it adds to the conductance of a step. */
  readonly conducts: number;
  /** What 1 mV of it adds to the current in a step, before the decay: e dt / tau. */
  readonly feed: number;
}

/** Constants of a population's neurons, rounded to the network's precision; from rest. */
export interface PlannedNeuron {
  readonly type: NetworkNeuronConfig["type"];
  /**
   * Whether the potential goes towards where the currents and conductances of the step's beginning
   * draw it, at the pace of all conductances: populations with conductances, and
   * adaptiveExponential.
   */
  readonly relaxes: boolean;
  /** exp(-dt / tau); dt / tau if the neuron relaxes; Izhikevich: dt a. */
  readonly keep: number;
  /** 1 - keep; 1 if the neuron relaxes, and for Izhikevich. */
  readonly driveGain: number;
  /** Above rest: where it fires, the peak of adaptiveExponential; Izhikevich: 30. */
  readonly threshold: number;
  /** Of adaptiveExponential neurons, whose recovery is w; else null. */
  readonly upswing: PlannedUpswing | null;
  /** The potential after a spike from rest, or what a spike takes off it if `subtracts`. */
  readonly reset: number;
  readonly subtracts: boolean;
  readonly refractorySteps: number;
  /** Of an adaptive neuron's rise of the threshold, or of w in half a step; Izhikevich: b. */
  readonly recoveryKeep: number;
  /** What a spike adds to it; Izhikevich: d. */
  readonly recoveryStep: number;
  /** mV: potentials are measured from here; Izhikevich: 0. */
  readonly rest: number;
  /** mV a unit of current: the membrane's resistance, or 1 if there is no capacitance. */
  readonly resistance: number;
}

/** The exponential current of an adaptiveExponential neuron, and what feeds its adaptation. */
export interface PlannedUpswing {
  /** Where it begins, above rest. */
  readonly onset: number;
  readonly slope: number;
  /** 1 / slope. */
  readonly perSlope: number;
  /** What 1 mV of potential adds to w in half a step. */
  readonly adaptationGain: number;
  /** exp(-(peak - onset) / slope). */
  readonly peakShare: number;
  /** The exponential current at the reset potential. */
  readonly resetCurrent: number;
  /** What w loses in a step of what a spike adds to it. */
  readonly stepLoss: number;
}

/** A population of neurons. */
export interface PlannedPopulation extends NeuronRange {
  readonly name: string;
  /** Its index in the description, inputs included: what projections are numbered by. */
  readonly index: number;
  readonly neuron: PlannedNeuron;
  /** In the order of the description; at most R. */
  readonly receptors: readonly PlannedReceptor[];
  /**
   * Spikes from outside: in step t, neuron j gets `counts` by word j mod 4 of Philox (t, floor(j /
   * 4), 19, 0), each of `units` onto `receptor`.
   */
  readonly background: { readonly receptor: number; readonly units: number; readonly counts: WordSteps } | null;
  /** What is left of a filtered spike after a step; null if none are kept. */
  readonly stateKeep: number | null;
}

/** A population of inputs: sources N + ... of the table, which have no neurons. */
export interface PlannedInput extends NeuronRange {
  readonly name: string;
  readonly index: number;
}

/** Short-term plasticity by steps, in binary64. */
export interface PlannedShortTerm {
  readonly kind: "shortTerm";
  readonly release: number;
  /** dt / tau. */
  readonly recoveryRate: number;
  /** dt / tau, or null if nothing is left of u after a spike. */
  readonly facilitationRate: number | null;
}

/** Spike-timing-dependent plasticity in units of weight, rounded to the network's precision. */
export interface PlannedSpikeTiming {
  readonly kind: "stdp";
  /** What a step leaves of the traces of sources and of targets. */
  readonly sourceKeep: number;
  readonly targetKeep: number;
  /** learningRate S, and that times depressionRatio. */
  readonly potentiation: number;
  readonly depression: number;
  readonly potentiationExponent: number;
  readonly depressionExponent: number;
  readonly isBounded: boolean;
  /** 1 / S. */
  readonly perScale: number;
  /** Bounds of sizes. */
  readonly least: number;
  readonly most: number;
  /** Whether the delay lies behind the synapse, as the targets' own spikes on their way back. */
  readonly isDendritic: boolean;
}

/** How a projection's synapses change. */
export type PlannedPlasticity = PlannedShortTerm | PlannedSpikeTiming;

/** A projection. */
export interface PlannedProjection {
  /** Its index in the description's list. */
  readonly index: number;
  /**
   * p of the counters: populations * (index of the target) + (index of the source), and populations
   * squared more for each earlier projection between the same two.
   */
  readonly number: number;
  readonly source: NeuronRange;
  readonly target: NeuronRange;
  /** Which receptor of the target's population: the cell of target r is receptor * N + r. */
  readonly receptor: number;
  /** Sources and targets are counted within slices. */
  readonly rule: ConnectConfig;
  readonly selfConnections: boolean;
  readonly multiple: boolean;
  /** The size is drawn, so that the sign is that of the mean: -1 makes every size negative. */
  readonly sign: 1 | -1;
  /** mV. A weight is sign * floor(size 2^fractionBits + .5) units. */
  readonly weight: WordSampler;
  /** WordSteps: a spike of step t moves a potential first in step t + 1 + delay. */
  readonly delay: WordSteps;
  /** null for synapses that stay as they are. */
  readonly plasticity: PlannedPlasticity | null;
}

/** A network that can be drawn. */
export interface NetworkPlan {
  readonly config: NetworkConfig;
  readonly precision: Precision;
  /** N, the number of neurons. */
  readonly size: number;
  /** I, the number of input channels: rows N to N + I - 1 of the table. */
  readonly inputs: number;
  /** R, the receptors of the population that has most. */
  readonly receptors: number;
  /** Lists of N currents that are carried: R, or 2 R with the rises of alpha-shaped ones behind. */
  readonly currents: number;
  readonly fractionBits: number;
  /** Rows of the ring: the longest delay and 1. */
  readonly ringRows: number;
  /** Bits of a packed synapse that hold its cell; the delay is above them. */
  readonly cellBits: number;
  /**
   * Of every draw: (seed, 0) for a seed that is a whole number of 32 bits, else words 0 and 1 of
   * rule 7.
   */
  readonly key: PhiloxKey;
  readonly populations: readonly PlannedPopulation[];
  readonly inputPopulations: readonly PlannedInput[];
  /**
   * In order of the source's population, then of the target's, then of the description: the order
   * in which a source's synapses are numbered.
   */
  readonly projections: readonly PlannedProjection[];
  /** Synapses, on average over seeds. */
  readonly expectedSynapses: number;
  /** The largest size of a weight in units that can be drawn. */
  readonly largestUnits: number;
  /** Whether every source has weights of one sign: units then lie without it, in 16 bits. */
  readonly oneSign: boolean;
  /** The longest delay of projections with spike-timing-dependent plasticity, in steps. */
  readonly historySteps: number;
}

/** Numbers of the streams that networks draw from (rule 7's, as those of liquids are). */
export const networkStreams = { counts: 16, synapses: 17, values: 18, background: 19, incoming: 20, positions: 21, grid: 22 } as const;

/**
 * Synapses by where they come from (layout A): source j has entries offsets[j] to offsets[j + 1],
 * in order of delay. Sources are the neurons, and then the input channels.
 */
export interface NetworkTable {
  /** N + I + 1 values. */
  readonly offsets: Uint32Array;
  /** receptor * N + target, in `cellBits` bits, and above them the delay in steps. */
  readonly packed: Uint32Array;
  readonly cellBits: number;
  /** Sizes of weights in units of 2^-fractionBits mV, or weights with their signs. */
  readonly units: Uint16Array | Int32Array;
  /** 1 or -1 for each source, N + I values: what a source's units are times. */
  readonly signs: Int8Array;
}

/**
 * The synapses of a plastic projection: source j of its S has entries offsets[j] to offsets[j + 1].
 */
export interface PlasticTable {
  readonly projection: PlannedProjection;
  /** S + 1 values. */
  readonly offsets: Uint32Array;
  /** As those of `NetworkTable`, in order of source and delay. */
  readonly packed: Uint32Array;
  /** Weights before the first step, in units: sizes for stdp, with their signs for shortTerm. */
  readonly units: Int32Array;
  /**
   * For stdp the same synapses by target: target i of the projection's T has entries
   * incomingOffsets[i] to incomingOffsets[i + 1] of `incoming`, which are numbers of synapses, and
   * of `sources`, counted within the projection: rising, or by delay first if it is dendritic. Else
   * empty.
   */
  readonly incomingOffsets: Uint32Array;
  readonly incoming: Uint32Array;
  readonly sources: Uint32Array;
}

/** What reaches the neurons of a liquid beside each other's spikes: docs/numerics.md, rule 12. */
export interface LiquidDrive {
  /** W_in, N x I, if inputs are currents; undefined if they are spikes, which may have amplitudes. */
  readonly inputWeights: Matrix | undefined;
  /** A constant current, mV, in the precision. */
  readonly current: number;
  /** Of all that is drawn in a step. */
  readonly key: PhiloxKey;
  /** Factor on the sum of four random bytes less 510, for a random current; 0 for none. */
  readonly noiseScale: number;
  /** A spike from outside reaches receptor 0 if a word of 32 bits is below this; 0 for none. */
  readonly backgroundChance: number;
  readonly backgroundUnits: number;
}

/** A network as an engine runs it: nothing left to draw. */
export interface NetworkModel extends NetworkPlan {
  readonly kind: "network";
  /** Of the projections without plasticity. */
  readonly synapses: NetworkTable;
  /** Of those with plasticity, in the plan's order. */
  readonly plastic: readonly PlasticTable[];
  /** N values from rest, in the precision; for Izhikevich neurons in mV. */
  readonly initialPotential: FloatArray;
  /**
   * What the constant current adds to the potential in a step: driveGain times current, each
   * rounded; N values.
   */
  readonly drive: FloatArray;
  /** Of a liquid, whose rows of inputs are steps. */
  readonly liquid?: LiquidDrive | undefined;
}
