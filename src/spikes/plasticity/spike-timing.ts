// Spike-timing-dependent plasticity: the pair rule, with homeostasis and heterosynaptic
// normalisation. Rules of rates are in rate-rules.ts.
import { ArgumentError } from "@spillway/core/errors.js";
import { choice, type InputOf, option, type Resolved, resolve } from "@spillway/core/options.js";
import { portableExp, portablePow } from "@spillway/numerics";
import { notNegativeNumber, positive, share } from "../options.js";
import type { SpikePattern } from "../pattern/pattern.js";
import { profileOption } from "./profiles.js";
import { PlasticityRule } from "./rule.js";
import { bounded, type LearnableWeights } from "./synapses.js";

export const spikeTimingTable = {
  /** Default "balanced". */
  profile: profileOption,
  /**
   * Which spikes make pairs: every two ("allToAll", default), or each spike with the last one of
   * the other neuron ("nearest").
   */
  pairing: option(choice("allToAll", "nearest"), "allToAll", "Which spikes make pairs: every two, or each with the last one."),
  /**
   * mu, from 0 (additive, default) to 1 (multiplicative): how much a change depends on where the
   * weight is between its bounds.
   */
  weightDependence: option(share, 0, "mu: 0 is additive, 1 multiplicative."),
  /** How much stronger weakening is than strengthening; default 1. */
  depressionRatio: option(notNegativeNumber, 1, "How much stronger weakening is than strengthening."),
  /** How often decay, homeostasis and normalisation take place, in ms; default 1000. */
  updateMs: option(positive("ms"), 1000, "How often decay, homeostasis and normalisation take place."),
  /** The rate that activity 1 stands for, in Hz; default 100. */
  maxRateHz: option(positive("Hz"), 100, "The rate that activity 1 stands for."),
  /**
   * How far an update moves a neuron's total excitation, at most, as a share of it; default 0.05.
   */
  homeostaticRate: option(share, 0.05, "How far an update moves a neuron's total excitation, at most, as a share of it."),
};

/** Profile, pairing and bounds of spike-timing-dependent plasticity. */
export interface SpikeTimingOptions extends InputOf<typeof spikeTimingTable> {}

/**
 * Pair rule on weights W (targets x sources): with dt = t_target - t_source, every pair changes |w|
 * by
 *   +eta (1 - m)^mu e^(-dt / tau+)          for dt > 0,
 *   -eta ratio m^mu e^(dt / tau-)           for dt < 0,     nothing for dt = 0,
 * m = (|w| - minimum) / (maximum - minimum), then |w| is put into [minimum, maximum]: a synapse
 * keeps its sign. Traces that decay exactly stand for the sums over earlier spikes. Every updateMs,
 * in this order: |w| loses its share `decay`; if the profile is homeostatic, the total
 * excitation of a neuron that fired at rate r is multiplied by 1 + homeostaticRate (target - r) /
 * target, the last factor within +-1 (Turrigiano 2008); if it is heterosynaptic, the sums of
 * each neuron's excitatory and inhibitory weights are brought back to their totals by scaling (von
 * der Malsburg 1973), those at first being the sums that W came with. Sources: Song, Miller, Abbott
 * 2000, "Competitive Hebbian learning through spike-timing-dependent synaptic plasticity"; mu:
 * Guetig et al. 2003.
 */
export class SpikeTimingPlasticity extends PlasticityRule {
  readonly #options: Resolved<Omit<typeof spikeTimingTable, "profile">>;
  readonly #sourceTraces: Traces;
  readonly #targetTraces: Traces;
  readonly #counts: Uint32Array;
  readonly #excitation: Float64Array;
  readonly #inhibition: Float64Array;
  #timeMs = 0;
  #windowStartMs = 0;

  /**
   * The weights are copied. @throws ArgumentError on a weight that is not finite or an option that
   * it does not take.
   */
  constructor(weights: LearnableWeights, options: SpikeTimingOptions = {}) {
    const { profile, ...rest } = resolve(spikeTimingTable, options);
    super(weights, profile);
    this.#options = rest;
    const { synapses } = this;
    const nearest = this.#options.pairing === "nearest";
    this.#sourceTraces = new Traces(synapses.sources, this.profile.potentiationTimeConstantMs, nearest);
    this.#targetTraces = new Traces(synapses.targets, this.profile.depressionTimeConstantMs, nearest);
    this.#counts = new Uint32Array(synapses.targets);
    this.#excitation = synapses.totals(1);
    this.#inhibition = synapses.totals(-1);
  }

  /**
   * Learns from a pattern whose time 0 is now; afterwards now is its end. One pattern of a
   * recurrent network is source and target at once.
   * @throws ArgumentError if the number of neurons is not that of the weights' columns and rows, or
   * the two patterns differ in duration.
   */
  apply(sources: SpikePattern, targets: SpikePattern = sources): void {
    const { sources: cols, targets: rows } = this.synapses;
    if (sources.neuronCount !== cols)
      throw new ArgumentError("the number of source neurons", sources.neuronCount, `${cols}, the weights' columns`, { code: "shape" });
    if (targets.neuronCount !== rows)
      throw new ArgumentError("the number of target neurons", targets.neuronCount, `${rows}, the weights' rows`, { code: "shape" });
    if (sources.durationMs !== targets.durationMs) {
      throw new ArgumentError("the duration of the target pattern", targets.durationMs, `${sources.durationMs} ms, as the source pattern`, {
        code: "shape",
      });
    }
    const origin = this.#timeMs;
    let s = 0;
    let t = 0;
    while (s < sources.spikeCount || t < targets.spikeCount) {
      const timeMs = Math.min(sources.times[s] ?? Infinity, targets.times[t] ?? Infinity);
      const firstSource = s;
      const firstTarget = t;
      while (sources.times[s] === timeMs) s++;
      while (targets.times[t] === timeMs) t++;
      this.step(origin + timeMs, sources.neurons.subarray(firstSource, s), targets.neurons.subarray(firstTarget, t));
    }
    this.step(origin + sources.durationMs, [], []);
  }

  /**
   * Learns from what fires at one time: the sources and targets that do, each named once.
   * @throws ArgumentError on a time before the last one, or a neuron that is not there.
   */
  step(timeMs: number, sources: ArrayLike<number>, targets: ArrayLike<number> = sources): void {
    if (!(timeMs >= this.#timeMs && timeMs < Infinity))
      throw new ArgumentError("timeMs", timeMs, `a time of at least ${this.#timeMs} ms, the last one`);
    checkNeurons("source", sources, this.synapses.sources);
    checkNeurons("target", targets, this.synapses.targets);
    while (timeMs >= this.#windowStartMs + this.#options.updateMs) this.#update();
    this.#timeMs = timeMs;
    for (let i = 0; i < sources.length; i++) this.#depress(sources[i]!, timeMs);
    for (let i = 0; i < targets.length; i++) this.#potentiate(targets[i]!, timeMs);
    for (let i = 0; i < sources.length; i++) this.#sourceTraces.add(sources[i]!, timeMs);
    for (let i = 0; i < targets.length; i++) {
      this.#targetTraces.add(targets[i]!, timeMs);
      this.#counts[targets[i]!] = this.#counts[targets[i]!]! + 1;
    }
  }

  /** A source fires: its synapses weaken by the traces of their targets' earlier spikes. */
  #depress(source: number, timeMs: number): void {
    const { sizes, rows, outgoing, columnOffsets } = this.synapses;
    const { learningRate, minWeight: low, maxWeight: high } = this.profile;
    const { depressionRatio, weightDependence: mu } = this.#options;
    for (let k = columnOffsets[source]!; k < columnOffsets[source + 1]!; k++) {
      const p = outgoing[k]!;
      const trace = this.#targetTraces.at(rows[p]!, timeMs);
      if (trace === 0) continue;
      const dependence = mu === 0 ? 1 : portablePow(bounded((sizes[p]! - low) / (high - low), 0, 1), mu);
      sizes[p] = bounded(sizes[p]! - learningRate * depressionRatio * dependence * trace, low, high);
      this.updates++;
    }
  }

  /** A target fires: its synapses strengthen by the traces of their sources' earlier spikes. */
  #potentiate(target: number, timeMs: number): void {
    const { sizes, columns, rowOffsets } = this.synapses;
    const { learningRate, minWeight: low, maxWeight: high } = this.profile;
    const mu = this.#options.weightDependence;
    for (let p = rowOffsets[target]!; p < rowOffsets[target + 1]!; p++) {
      const trace = this.#sourceTraces.at(columns[p]!, timeMs);
      if (trace === 0) continue;
      const dependence = mu === 0 ? 1 : portablePow(1 - bounded((sizes[p]! - low) / (high - low), 0, 1), mu);
      sizes[p] = bounded(sizes[p]! + learningRate * dependence * trace, low, high);
      this.updates++;
    }
  }

  /**
   * Decay, homeostasis and normalisation at the end of a window, and the activity in it into the
   * record.
   */
  #update(): void {
    const { decay, homeostatic, heterosynaptic, targetActivity, minWeight, maxWeight } = this.profile;
    const { updateMs, maxRateHz, homeostaticRate } = this.#options;
    const { sizes } = this.synapses;
    if (decay > 0) for (let p = 0; p < sizes.length; p++) sizes[p] = bounded(sizes[p]! * (1 - decay), minWeight, maxWeight);
    let sum = 0;
    for (let r = 0; r < this.#counts.length; r++) {
      const activity = (this.#counts[r]! * 1000) / updateMs / maxRateHz;
      sum += activity;
      const factor = homeostatic ? 1 + homeostaticRate * bounded((targetActivity - activity) / targetActivity, -1, 1) : 1;
      const total = (heterosynaptic ? this.#excitation[r]! : this.synapses.total(r, 1)) * factor;
      if (homeostatic || heterosynaptic) this.synapses.normalise(r, 1, total, minWeight, maxWeight);
      if (!heterosynaptic) continue;
      // The total is what the bounds allowed, or a silent neuron's would grow without end.
      this.#excitation[r] = homeostatic ? this.synapses.total(r, 1) : total;
      this.synapses.normalise(r, -1, this.#inhibition[r]!, minWeight, maxWeight);
    }
    this.#counts.fill(0);
    this.recordActivity(sum / this.#counts.length);
    this.#windowStartMs += updateMs;
  }
}

/**
 * What is left of a neuron's earlier spikes: the sum of e^(-(t - spike) / tau), or only that of the
 * last spike.
 */
class Traces {
  readonly #values: Float64Array;
  readonly #lastMs: Float64Array;
  readonly #timeConstantMs: number;
  readonly #nearest: boolean;

  constructor(neurons: number, timeConstantMs: number, nearest: boolean) {
    this.#values = new Float64Array(neurons);
    this.#lastMs = new Float64Array(neurons);
    this.#timeConstantMs = timeConstantMs;
    this.#nearest = nearest;
  }

  at(neuron: number, timeMs: number): number {
    const value = this.#values[neuron]!;
    return value === 0 ? 0 : value * portableExp((this.#lastMs[neuron]! - timeMs) / this.#timeConstantMs);
  }

  add(neuron: number, timeMs: number): void {
    this.#values[neuron] = (this.#nearest ? 0 : this.at(neuron, timeMs)) + 1;
    this.#lastMs[neuron] = timeMs;
  }
}

function checkNeurons(kind: string, neurons: ArrayLike<number>, count: number): void {
  for (let i = 0; i < neurons.length; i++) {
    if (!(Number.isInteger(neurons[i]) && neurons[i]! >= 0 && neurons[i]! < count)) {
      throw new ArgumentError(`the ${kind} neuron`, neurons[i], `a whole number from 0 to ${count - 1}`);
    }
  }
}
