// A spiking reservoir with what is drawn of it. Its arithmetic is docs/numerics.md, rule 12; engines
// run it as a network (spikes/liquid/as-network.ts).
import type { FloatArray, Matrix, Precision } from "@spillway/numerics";
import type { SpikingReservoirConfig } from "../spikes/liquid/schema.js";
import type { ReservoirModel } from "./model.js";
import type { RegisteredModel } from "./registered/model.js";

/**
 * Synapses by where they come from: source j has entries offsets[j] to offsets[j+1], in order of
 * delay, then of target. Source, delay and target occur together at most once.
 */
export interface SynapseTable {
  /** Sources + 1 values. */
  readonly offsets: Uint32Array;
  /** Target neuron of each synapse. */
  readonly targets: Uint32Array;
  /** Weight of each in units of 2^-fractionBits mV; those below 0 act on the inhibitory current. */
  readonly weights: Int32Array;
  /**
   * Delay of each in steps, at least 0. A spike of step t with delay d begins to act in step t + 1
   * + d, an input spike in step t + d.
   */
  readonly delays: Uint16Array;
}

/** N spiking neurons and I input channels. */
export interface SpikingModel {
  readonly kind: "spiking";
  readonly config: SpikingReservoirConfig;
  readonly precision: Precision;
  /** N. */
  readonly size: number;
  /** I. */
  readonly inputSize: number;
  /** A spiking reservoir feeds no outputs back. */
  readonly outputSize: 0;
  readonly fractionBits: number;
  readonly synapses: SynapseTable;
  /** From input channels, for input of spikes. */
  readonly inputSynapses?: SynapseTable;
  /** W_in, N x I, for input of currents. */
  readonly inputWeights?: Matrix;
  /**
   * Potentials before the first step, N values, from rest; for Izhikevich neurons in mV, with
   * recoveries b v.
   */
  readonly initialPotential: FloatArray;
  /** The filtered spikes before the first step: N zeros. */
  readonly initialState: FloatArray;
  /** What is left of a filtered spike after a step. */
  readonly stateKeep: number;
  /** Not 0 if anything is drawn during a run. */
  readonly noiseLevel: number;
  /** Rows of the ring of pending synaptic input: the longest delay and 1. */
  readonly ringRows: number;
}

/** What engines run. */
export type EngineModel = ReservoirModel | SpikingModel | RegisteredModel;

/**
 * What a spiking network carries from step to step besides its filtered spikes. Row d of the
 * pending input reaches the neurons d + 1 steps on.
 */
export interface NetworkState {
  /** N values, from rest. */
  readonly potential: FloatArray;
  /** Rise of the threshold, or Izhikevich's recovery; N values, or none for plain neurons. */
  readonly recovery: FloatArray;
  /** Synaptic currents, N values each. */
  readonly excitatory: FloatArray;
  readonly inhibitory: FloatArray;
  /** Steps for which a neuron's potential is still held, N values. */
  readonly held: Int32Array;
  /** ringRows x 2N: excitatory and then inhibitory input in units of 2^-fractionBits mV. */
  readonly pending: Int32Array;
}
