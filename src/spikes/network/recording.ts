// What is given to a network while it runs and what is recorded of it: options, their checks, and
// spikes as patterns.
import { ArgumentError } from "@spillway/core/errors.js";
import {
  checked,
  either,
  flag,
  given,
  type InputOf,
  list,
  number,
  object,
  option,
  optional,
  record,
  text,
  whole,
} from "@spillway/core/options.js";
import type { Matrix, MatrixLike } from "@spillway/numerics";
import type { WorkOptions } from "../../reservoir/work.js";
import { workTable } from "../../reservoir/work.js";
import { positive } from "../options.js";
import { SpikePattern } from "../pattern/pattern.js";
import type { NetworkPlan, NeuronRange, PlannedPopulation } from "./plan.js";
import { mostSpikes } from "./run-state.js";
import { sliceOf } from "./schema.js";
import type { StepSpikes } from "./session.js";

const sampled = optional(whole({ atLeast: 1, takes: "a whole number of at least 1" }), "Synapses of each; left out, all.");
const everyMs = optional(positive("ms"), "How often; left out, every step.");
const names = list(text(), "a list of names of populations");

const currentTable = {
  /** A population, or a slice of it. */
  to: given(text("the name of a population, or a slice"), "Whose current."),
  /** mV, or pA if the population has a capacitance. */
  current: optional(number(), "mV, or pA."),
  /** In place of one current: rows of one for all neurons, or of one for each of them. */
  rows: optional(
    checked<MatrixLike>("a matrix or rows of numbers", (value) => typeof value === "object" && value !== null),
    "Currents by row.",
  ),
  /** How long a row lasts, ms; default one step. */
  everyMs: optional(positive("ms"), "How long a row lasts; left out, one step."),
  /** ms from the beginning of the run; default 0. */
  fromMs: option(number({ atLeast: 0, unit: "ms" }), 0, "When it begins."),
  /** Default: the end of the rows, or of the run. */
  toMs: optional(number({ atLeast: 0, unit: "ms" }), "When it ends; left out, with its rows or the run."),
};

/** A current beside that of the description, for a time: constant, or a series. */
export interface NetworkCurrent extends InputOf<typeof currentTable> {}

/** The options of a run. */
export const networkRunTable = {
  ...workTable,
  /** Record spikes: of all neurons, or of some populations. Default false. */
  spikes: option(either("true, false, or a list of names of populations", flag, names), false, "Whose spikes are recorded."),
  /** Record potentials of chosen neurons, counted within their populations, every so many ms. */
  potentials: optional(
    object({
      neurons: given(record(list(whole(), "a list of neurons"), "an object of lists of neurons by population"), "Whose potentials."),
      everyMs,
    }),
    "Potentials of chosen neurons.",
  ),
  /**
   * Record the filtered spikes of populations that have a `stateTimeConstant`, every so many ms:
   * the states of a readout.
   */
  states: optional(object({ of: given(names, "Whose filtered spikes."), everyMs }), "Filtered spikes, for readouts."),
  /**
   * Record weights of projections with spike-timing-dependent plasticity, by their number in the
   * description, every so many ms: of all synapses, or of `sample` of each, evenly spread.
   */
  weights: optional(
    object({
      of: given(list(whole(), "a list of numbers of projections", 1), "Projections with spike-timing-dependent plasticity."),
      sample: sampled,
      everyMs,
    }),
    "Weights that change.",
  ),
  /** Spikes for populations of inputs; times from the beginning of the run, whole amplitudes. */
  inputs: optional(
    record(
      checked<SpikePattern>("a SpikePattern", (value) => value instanceof SpikePattern),
      "an object of SpikePatterns by population of inputs",
    ),
    "Spikes for inputs.",
  ),
  /** Currents that begin and end, constant or by row of a series. */
  currents: optional(list(object(currentTable), "a list of currents"), "Currents that begin and end, constant or by row of a series."),
};

/** Stimuli and recorders of a run. Nothing is recorded unless it is asked for. */
export interface NetworkRunOptions extends WorkOptions, InputOf<typeof networkRunTable> {}

/** What was recorded. */
export interface NetworkRecord {
  readonly durationMs: number;
  /** By population; a spike's time is the end of its step, from the beginning of the run. */
  readonly spikes: Readonly<Record<string, SpikePattern>>;
  /** Spikes a second and neuron of each population whose spikes were recorded. */
  readonly rates: Readonly<Record<string, number>>;
  /** By population, T x neurons, mV. */
  readonly potentials: Readonly<Record<string, Matrix>>;
  /** T x the neurons of the populations, in their order. */
  readonly states: Matrix | undefined;
  /**
   * By number of the projection, T x synapses in the order of `SpikingNetwork.weights`, in the unit
   * of its weights.
   */
  readonly weights: Readonly<Record<string, Matrix>>;
}

/** The synapses of a plastic projection as they are now, in order of source and delay. */
export interface NetworkWeights {
  /** Neurons, counted within their populations. */
  readonly sources: Uint32Array;
  readonly targets: Uint32Array;
  /** ms. */
  readonly delays: Float64Array;
  /** In the unit of the projection's weights, with their sign. */
  readonly weights: Float64Array;
}

export const networkWeightsTable = {
  /** So many synapses, evenly spread; default all. */
  sample: sampled,
};

/** Options of `SpikingNetwork.weights`. */
export interface NetworkWeightsOptions extends InputOf<typeof networkWeightsTable> {}

/** @throws ArgumentError unless there is a population of neurons of this name */
export function populationOf({ populations }: NetworkPlan, name: string, field: string): PlannedPopulation {
  const found = populations.find((each) => each.name === name);
  if (!found) throw new ArgumentError(field, name, `a population of neurons: ${populations.map((each) => each.name).join(", ")}`);
  return found;
}

/** The neurons of a population or of a slice of it. @throws ArgumentError */
export function neuronsOf(plan: NetworkPlan, value: string, field: string): NeuronRange & { readonly population: PlannedPopulation } {
  const { name, from, to } = sliceOf(value, field, plan.config.populations);
  const population = populationOf(plan, name, field);
  return { first: population.first + from, size: to - from, population };
}

/** ms as whole steps. @throws ArgumentError if there are none, or a part of one is left */
export function wholeSteps(ms: number, timeStep: number, field: string): number {
  const steps = Math.round(ms / timeStep);
  // The counter of what is drawn has 32 bits.
  if (typeof ms !== "number" || !(steps >= 1 && steps < 2 ** 32) || Math.abs(steps * timeStep - ms) > 1e-6 * timeStep * steps)
    throw new ArgumentError(field, ms, `a whole number of steps of ${timeStep} ms, at least one and fewer than 2^32`);
  return steps;
}

/** Input spikes of a run: 1 GiB of channels. */
const mostInRun = 2 ** 28;

/** Input spikes of all steps of a run. @throws ArgumentError */
export function inputSpikes(plan: NetworkPlan, inputs: Readonly<Record<string, SpikePattern>>, steps: number): StepSpikes | undefined {
  const given = Object.entries(inputs);
  if (given.length === 0) return undefined;
  const { timeStep } = plan.config;
  const counts = new Uint32Array(steps + 1);
  const spikes: { step: number; channel: number; times: number }[] = [];
  for (const [name, { times, neurons, amplitudes, neuronCount }] of given) {
    const input = plan.inputPopulations.find((each) => each.name === name);
    const known = plan.inputPopulations.map((each) => each.name);
    if (!input)
      throw new ArgumentError(
        `inputs.${name}`,
        name,
        known.length > 0 ? `a population of inputs: ${known.join(", ")}` : "none: this network has no inputs",
      );
    if (neuronCount !== input.size) throw new ArgumentError(`inputs.${name}`, neuronCount, `a pattern of ${input.size} neurons`);
    times.forEach((time, s) => {
      const step = Math.floor(time / timeStep + 1e-9);
      const amplitude = amplitudes?.[s] ?? 1;
      if (!Number.isInteger(amplitude) || amplitude < 1)
        throw new ArgumentError(`inputs.${name}, spike ${s}`, amplitude, "a whole amplitude of at least 1");
      if (step < steps) spikes.push({ step, channel: input.first - plan.size + neurons[s]!, times: amplitude });
    });
  }
  spikes.sort((a, b) => a.step - b.step || a.channel - b.channel);
  let [all, together] = [0, 0];
  spikes.forEach(({ step, channel, times }, s) => {
    const before = spikes[s - 1];
    together = before?.step === step && before.channel === channel ? together + times : times;
    if (together > mostSpikes)
      throw new ArgumentError("inputs", together, `at most ${mostSpikes} spikes of a channel in a step, here in step ${step}`);
    all += times;
  });
  if (all > mostInRun) throw new ArgumentError("inputs", all, `at most ${mostInRun} spikes in a run`);
  for (const { step, times } of spikes) counts[step + 1] = counts[step + 1]! + times;
  for (let t = 0; t < steps; t++) counts[t + 1] = counts[t + 1]! + counts[t]!;
  const neurons = new Uint32Array(counts[steps]!);
  let next = 0;
  for (const { channel, times } of spikes) {
    neurons.fill(channel, next, next + times);
    next += times;
  }
  return { offsets: counts, neurons };
}

/** Parts of a run one behind the other, population by population. */
export class SpikeRecorder {
  readonly #parts: readonly { readonly population: PlannedPopulation; readonly times: number[]; readonly neurons: number[] }[];

  /** @param populations in the order of their neurons */
  constructor(populations: readonly PlannedPopulation[]) {
    this.#parts = populations.map((population) => ({ population, times: [], neurons: [] }));
  }

  /** Spikes of steps that follow step `first`. */
  add({ offsets, neurons }: StepSpikes, first: number, timeStep: number): void {
    for (let t = 0; t + 1 < offsets.length; t++) {
      let p = 0;
      for (let s = offsets[t]!; s < offsets[t + 1]!; s++) {
        const neuron = neurons[s]!;
        while (p < this.#parts.length && neuron >= endOf(this.#parts[p]!.population)) p++;
        const part = this.#parts[p];
        if (!part) break;
        if (neuron < part.population.first) continue;
        part.times.push((first + t + 1) * timeStep);
        part.neurons.push(neuron - part.population.first);
      }
    }
  }

  patterns(durationMs: number): Record<string, SpikePattern> {
    return Object.fromEntries(
      this.#parts.map(({ population: { name, size }, ...columns }) => [
        name,
        new SpikePattern(columns, { durationMs, neuronCount: size, metadata: { source: `population ${name}` } }),
      ]),
    );
  }
}

const endOf = ({ first, size }: NeuronRange): number => first + size;
