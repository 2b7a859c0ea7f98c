// A spike pattern as typed columns: which neuron fired when, and how strongly. What is computed
// from patterns is in the files beside this one.
import { checkWhole } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { isList } from "@spillway/numerics";
import { checkNotNegative } from "../errors.js";

/** One spike. */
export interface Spike {
  /** The neuron, from 0. */
  readonly neuron: number;
  /** When it fired, in ms from the beginning of the pattern. */
  readonly timeMs: number;
  /** How strongly, if that is known; rounded to binary32. Default 1. */
  readonly amplitude?: number | undefined;
}

/**
 * What is known about a pattern besides its spikes. JSON values only, which every format can carry.
 */
export interface SpikeMetadata {
  /** The class the pattern belongs to. */
  readonly label?: string | undefined;
  /** Where it comes from: a file, a recording, an encoder. */
  readonly source?: string | undefined;
  readonly [field: string]: SpikeMetadataValue | undefined;
}

/** What notes on a pattern may hold: anything that JSON holds. */
export type SpikeMetadataValue =
  | string
  | number
  | boolean
  | null
  | readonly SpikeMetadataValue[]
  | { readonly [field: string]: SpikeMetadataValue };

/** Duration, neurons and notes of a pattern. */
export interface SpikePatternOptions {
  /** How long the pattern lasts, in ms, at least 0. */
  readonly durationMs: number;
  /** How many neurons there are, those that stay silent included; at least 1. */
  readonly neuronCount: number;
  /** Notes that travel with the pattern. */
  readonly metadata?: SpikeMetadata | undefined;
}

/** The columns of a pattern. Position i of each is spike i. */
export interface SpikeColumns {
  /** In ms. */
  readonly times: ArrayLike<number>;
  /** From 0. */
  readonly neurons: ArrayLike<number>;
  /** Left out, every amplitude is 1. */
  readonly amplitudes?: ArrayLike<number> | undefined;
}

/**
 * Spikes of `neuronCount` neurons over `durationMs` milliseconds, in order of time and, at one
 * time, of neuron. Times lie in [0, durationMs], the end included, as recorders write them. A
 * pattern without spikes is a pattern. The columns are the pattern's own and not to be written to;
 * what changes a pattern makes a new one.
 */
export class SpikePattern {
  /** Spike times in ms, rising. */
  readonly times: Float64Array;
  /** The neuron of each spike. */
  readonly neurons: Uint32Array;
  /** The amplitude of each spike, or undefined if each is 1. */
  readonly amplitudes: Float32Array | undefined;
  readonly durationMs: number;
  readonly neuronCount: number;
  readonly metadata: SpikeMetadata;

  /**
   * A pattern of columns that are in order already; typed arrays of the pattern's own types are
   * taken over without a copy.
   * @throws ArgumentError on columns of different lengths, on a spike outside the pattern, with a
   * time that is not a number, or out of order.
   */
  constructor(columns: SpikeColumns, options: SpikePatternOptions) {
    checkGiven(columns, options);
    const { durationMs, neuronCount, metadata = {} } = options;
    checkNotNegative("durationMs", durationMs, "ms");
    checkWhole("neuronCount", neuronCount, 1, 0xffffffff);
    checkColumns(columns, durationMs, neuronCount);
    const { times, neurons, amplitudes } = columns;
    const late = firstOutOfOrder(columns);
    if (late > 0) {
      const shown = `at ${times[late]} ms of neuron ${neurons[late]}, after one at ${times[late - 1]} ms of neuron ${neurons[late - 1]}`;
      throw new ArgumentError(`spike ${late}`, times[late], "spikes in order of time, then of neuron; SpikePattern.from sorts them", {
        shown,
      });
    }
    this.times = times instanceof Float64Array ? times : Float64Array.from(times);
    this.neurons = neurons instanceof Uint32Array ? neurons : Uint32Array.from(neurons);
    this.amplitudes = amplitudes === undefined || amplitudes instanceof Float32Array ? amplitudes : Float32Array.from(amplitudes);
    this.durationMs = durationMs;
    this.neuronCount = neuronCount;
    this.metadata = metadata;
  }

  /**
   * A pattern of spikes in any order: they are sorted by time, then by neuron; spikes equal in both
   * stay as they came.
   * @throws ArgumentError on a spike outside the pattern or with a time that is not a number.
   */
  static from(spikes: readonly Spike[] | SpikeColumns, options: SpikePatternOptions): SpikePattern {
    checkGiven(spikes, options);
    const columns = Array.isArray(spikes) ? columnsOf(spikes as readonly Spike[]) : (spikes as SpikeColumns);
    checkNotNegative("durationMs", options.durationMs, "ms");
    checkWhole("neuronCount", options.neuronCount, 1, 0xffffffff);
    checkColumns(columns, options.durationMs, options.neuronCount);
    return new SpikePattern(sorted(columns), options);
  }

  /** How many spikes there are. */
  get spikeCount(): number {
    return this.times.length;
  }

  /** Spike `i` in the pattern's order. @throws ArgumentError if there is none. */
  spike(i: number): Spike {
    if (!(Number.isInteger(i) && i >= 0 && i < this.spikeCount)) {
      throw new ArgumentError("the index of a spike", i, `a whole number from 0 to ${this.spikeCount - 1}`);
    }
    const spike = { neuron: this.neurons[i]!, timeMs: this.times[i]! };
    return this.amplitudes ? { ...spike, amplitude: this.amplitudes[i]! } : spike;
  }

  /** All spikes in the pattern's order. */
  *[Symbol.iterator](): IterableIterator<Spike> {
    for (let i = 0; i < this.spikeCount; i++) yield this.spike(i);
  }
}

/** Whether something is a pattern, perhaps of another copy of this package. */
export function isPattern(value: unknown): value is SpikePattern {
  const { times, neurons } = (value ?? {}) as Partial<SpikePattern>;
  return times instanceof Float64Array && neurons instanceof Uint32Array;
}

/** @throws ArgumentError if `value`, which errors call `name`, is no pattern */
export function checkPattern(value: SpikePattern, name = "pattern"): SpikePattern {
  if (!isPattern(value)) throw new ArgumentError(name, value, "a SpikePattern");
  return value;
}

/** @throws ArgumentError if `patterns` is no list, or holds something other than patterns */
export function checkPatterns(patterns: readonly SpikePattern[]): void {
  if (!Array.isArray(patterns)) throw new ArgumentError("patterns", patterns, "a list of SpikePatterns");
  for (let i = 0; i < patterns.length; i++) checkPattern(patterns[i], `patterns[${i}]`);
}

/** @throws ArgumentError if spikes or the pattern's sizes are missing altogether */
function checkGiven(spikes: unknown, options: unknown): void {
  if (typeof spikes !== "object" || spikes === null || !(Array.isArray(spikes) || "times" in spikes))
    throw new ArgumentError("the list of spikes", spikes, "spikes { neuron, timeMs }, or columns { times, neurons }");
  if (!Array.isArray(spikes) && !("neurons" in spikes)) throw new ArgumentError("neurons", undefined, "the neuron of each spike");
  if (typeof options !== "object" || options === null)
    throw new ArgumentError("the pattern's second argument", options, "{ durationMs, neuronCount }, in ms and neurons");
}

function columnsOf(spikes: readonly Spike[]): SpikeColumns {
  for (const [i, spike] of spikes.entries())
    if (typeof spike?.timeMs !== "number" || typeof spike.neuron !== "number")
      throw new ArgumentError(`spike ${i}`, spike, "{ neuron, timeMs }, both numbers");
  const columns = {
    times: Float64Array.from(spikes, ({ timeMs }) => timeMs),
    neurons: spikes.map(({ neuron }) => neuron),
  };
  if (!spikes.some(({ amplitude }) => amplitude !== undefined)) return columns;
  return { ...columns, amplitudes: Float32Array.from(spikes, ({ amplitude = 1 }) => amplitude) };
}

function checkColumns({ times, neurons, amplitudes }: SpikeColumns, durationMs: number, neuronCount: number): void {
  for (const [name, column] of [
    ["times", times],
    ["neurons", neurons],
    ["amplitudes", amplitudes],
  ] as const) {
    if (column === undefined && name === "amplitudes") continue;
    if (!isList(column)) throw new ArgumentError(name, column, "a list of numbers");
    if (column.length !== times.length) {
      throw new ArgumentError(`the number of ${name}`, column.length, `${times.length}, as many as there are times`, { code: "shape" });
    }
  }
  for (let i = 0; i < times.length; i++) {
    if (!(typeof times[i] === "number" && times[i]! >= 0 && times[i]! <= durationMs)) {
      throw new ArgumentError(`the time of spike ${i}`, times[i], `0 to ${durationMs} ms, the duration of the pattern`);
    }
    if (!(Number.isInteger(neurons[i]) && neurons[i]! >= 0 && neurons[i]! < neuronCount)) {
      throw new ArgumentError(`the neuron of spike ${i}`, neurons[i], `a whole number from 0 to ${neuronCount - 1}`);
    }
    if (amplitudes && !Number.isFinite(amplitudes[i]))
      throw new ArgumentError(`the amplitude of spike ${i}`, amplitudes[i], "a finite number");
  }
}

/** The position of the first spike that is earlier than the one before it, or -1. */
function firstOutOfOrder({ times, neurons }: SpikeColumns): number {
  for (let i = 1; i < times.length; i++) {
    if (times[i - 1]! > times[i]! || (times[i - 1] === times[i] && neurons[i - 1]! > neurons[i]!)) return i;
  }
  return -1;
}

/** Copies of the columns in order of time, then of neuron, then as they came. */
function sorted(columns: SpikeColumns): SpikeColumns {
  const { times, neurons, amplitudes } = columns;
  const order = Uint32Array.from(times as ArrayLike<number>, (_, i) => i);
  if (firstOutOfOrder(columns) > 0) order.sort((a, b) => times[a]! - times[b]! || neurons[a]! - neurons[b]! || a - b);
  const sortedAmplitudes = amplitudes && Float32Array.from(order, (i) => amplitudes[i]!);
  return {
    times: Float64Array.from(order, (i) => times[i]!),
    neurons: Uint32Array.from(order, (i) => neurons[i]!),
    amplitudes: sortedAmplitudes,
  };
}
