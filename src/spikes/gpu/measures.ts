// The measures of the eight types and the bank of oscillators on a device: patterns to scores. What
// a detector makes of scores is in detector.ts.
import { checkWhole } from "@spillway/core/checks.js";
import type { Held } from "@spillway/core/disposal.js";
import { ArgumentError } from "@spillway/core/errors.js";
import type { Context, DeviceBuffer, DeviceSlice, Parameter, Stream } from "@spillway/gpu";
import { shippedKernel } from "@spillway/gpu/shipped-kernels.js";
import { type PatternType, patternTypes } from "../detection/measure.js";
import type { KuramotoOscillators } from "../detection/oscillators.js";
import { binsOf } from "../pattern/binning.js";
import type { DeviceSpikePatterns } from "./device-pattern.js";

/** Scratch memory that the blocks of a launch have together, unless one needs more. */
const scratchBytes = 2 ** 28;
/** Blocks of a launch at most, if each has scratch of its own and if not. */
const mostBlocks = { withScratch: 1024, without: 2 ** 16 };
/** Sums of whole numbers stay exact below this, and so do positions in binary32. */
const mostSpikes = 2 ** 24;
/**
 * Phases that a device reduces, in rad; docs/numerics.md, rule 8, has a longer way for larger ones.
 */
const largestPhase = 2 ** 30;

const given: readonly Parameter[] = ["const f64*", "const u32*", "const u64*", "const f64*", "u32", "u32"];
const patterns: readonly Parameter[] = [
  ...["const f64*", "const u32*", "const f64*", "const u32*", "const u32*"],
  ...["const u64*", "const f64*", "u32", "u32"],
] as Parameter[];
const scratch: readonly Parameter[] = ["f64*", "u64"];

/** Spikes of patterns in order, on a device. */
interface Sorted {
  readonly arguments: readonly (DeviceSlice | number)[];
  readonly spikes: DeviceSpikePatterns;
}

/** A kernel that goes over patterns. */
interface Measure {
  readonly file: "pattern_measures" | "pattern_phases";
  readonly entry: string;
  readonly threads: number;
  /** Doubles that a block works in for a pattern; left out, none. */
  readonly scratch?: (durationMs: number, neurons: number) => number;
}

const waves: Measure = {
  file: "pattern_phases",
  entry: "waves",
  threads: 256,
  scratch: (durationMs) => 8 * Math.ceil(durationMs / 2),
};

const measures: Readonly<Record<PatternType, Measure>> = {
  synchronous: { file: "pattern_measures", entry: "synchronous", threads: 32 },
  travelling: waves,
  standing: waves,
  chaotic: { file: "pattern_measures", entry: "chaotic", threads: 256 },
  emergent: {
    file: "pattern_measures",
    entry: "emergent",
    threads: 256,
    scratch: (durationMs, neurons) => (neurons + 1) * (binsOf({ durationMs }, { binMs: 20 }).bins + 3),
  },
  rhythmic: { file: "pattern_phases", entry: "rhythmic", threads: 128, scratch: (durationMs) => 9 * Math.floor((200 * durationMs) / 1000) },
  sparse: { file: "pattern_measures", entry: "sparse", threads: 32 },
  burst: { file: "pattern_measures", entry: "burst", threads: 32 },
};

/** What a device measured: 3 numbers a type and pattern, and a coherence a pattern. */
export interface MeasuredThere {
  /** B x 8 x 3: the score of a type, the number of a frequency, a wave number. */
  readonly scores: DeviceBuffer<"f64">;
  /** B values; undefined without a bank. */
  readonly coherence: DeviceBuffer<"f64"> | undefined;
  /** The first spike outside its pattern. */
  readonly outside: DeviceBuffer<"u64">;
}

/** @throws ArgumentError for patterns that a device does not measure with the host's bits */
export function checkMeasurable({ offsets, durationsMs }: DeviceSpikePatterns, bank: KuramotoOscillators | undefined): void {
  for (const [b, durationMs] of durationsMs.entries()) {
    checkWhole(`the number of spikes of patterns[${b}]`, offsets[b + 1]! - offsets[b]!, 0, mostSpikes);
    if (bank) checkPhases(bank, durationMs, b);
  }
}

function checkPhases(bank: KuramotoOscillators, durationMs: number, b: number): void {
  const { phases, frequenciesHz, coupling, drive, stepMs } = bank;
  const greatest = (values: Float64Array) => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const reached = greatest(phases) + ((6.3 * greatest(frequenciesHz) + coupling + drive) * (durationMs + 2 * stepMs)) / 1000;
  if (!(reached < largestPhase))
    throw new ArgumentError(
      `the phase that an oscillator may reach in patterns[${b}]`,
      reached,
      "below 2^30 rad on a device: take a shorter pattern or lower frequencies, or detect on the host",
    );
}

/** Enqueues the measures of some types, and the bank's, and waits for nothing. Memory is `held`. */
export function enqueueMeasures(
  stream: Stream,
  context: Context,
  spikes: DeviceSpikePatterns,
  { types, bank, held }: { readonly types: readonly PatternType[]; readonly bank: DeviceBank | undefined; readonly held: Held },
): MeasuredThere {
  const outside = held.own(context.alloc("u64", 1, { label: "first spike outside its pattern" }));
  const scores = held.own(context.alloc("f64", spikes.count * patternTypes.length * 3, { label: "scores of types" }));
  const coherence = bank && held.own(context.alloc("f64", spikes.count, { label: "coherence" }));
  stream.waitFor([spikes.columns.times, spikes.columns.neurons]);
  stream.fill(outside.as("u32"), 0xffffffff);
  stream.fill(scores);
  const sorted = enqueueSorting(stream, context, spikes, outside, held);
  if (bank) enqueueCoherence(stream, context, sorted, bank, coherence!, held);
  for (const measure of new Set(types.map((type) => measures[type]))) enqueueMeasure(stream, context, sorted, measure, scores, held);
  return { scores, coherence, outside };
}

function enqueueSorting(stream: Stream, context: Context, spikes: DeviceSpikePatterns, outside: DeviceSlice<"u64">, held: Held): Sorted {
  const { columns, offsets, durationsMs, count, neuronCount, spikeCount } = spikes;
  const alloc = (type: "f64" | "u32", length: number, label: string) => held.own(context.alloc(type as "u32", length, { label }));
  const first = held.own(context.upload(BigUint64Array.from(offsets, BigInt), { label: "first spikes" }));
  const durations = held.own(context.upload(Float64Array.from(durationsMs), { label: "durations" }));
  const [times, neurons] = [alloc("f64", spikeCount, "times in order"), alloc("u32", spikeCount, "neurons in order")];
  const [trainTimes, trainNeurons] = [alloc("f64", spikeCount, "times by train"), alloc("u32", spikeCount, "neurons by train")];
  const [starts, trains] = [alloc("u32", spikeCount + count, "first spikes of trains"), alloc("u32", count, "numbers of trains")];
  const all = [first, durations, count, neuronCount] as const;
  const parameters: Parameter[] = [...given, "f64*", "u32*", "f64*", "u32*", "u32*", "u32*", "u64*"];
  stream.launch(
    shippedKernel(context, "pattern_measures", "pattern_measures_sort", parameters),
    { grid: Math.min(count, mostBlocks.without), block: 256 },
    ...[columns.times, columns.neurons, ...all],
    ...[times, neurons, trainTimes, trainNeurons, starts, trains, outside],
  );
  return { arguments: [times, neurons, trainTimes, starts, trains, ...all], spikes };
}

function enqueueMeasure(stream: Stream, context: Context, sorted: Sorted, measure: Measure, scores: DeviceSlice<"f64">, held: Held): void {
  const { file, entry, threads } = measure;
  const name = `${file}_${entry}`;
  const { count } = sorted.spikes;
  if (!measure.scratch) {
    const kernel = shippedKernel(context, file, name, [...patterns, "f64*"]);
    stream.launch(kernel, { grid: Math.min(count, mostBlocks.without), block: threads }, ...sorted.arguments, scores);
    return;
  }
  const { offsets, durationsMs, neuronCount } = sorted.spikes;
  const needs = durationsMs.map((durationMs, b) => measure.scratch!(durationMs, Math.min(neuronCount, offsets[b + 1]! - offsets[b]!)));
  const { blocks, memory, each } = scratchFor(context, count, needs, held);
  const kernel = shippedKernel(context, file, name, [...patterns, ...scratch, "f64*"]);
  stream.launch(kernel, { grid: blocks, block: threads }, ...sorted.arguments, memory, each, scores);
}

/**
 * Memory for as many blocks as may be: an even number of doubles each, the most that a pattern
 * needs.
 */
function scratchFor(context: Context, count: number, needs: readonly number[], held: Held) {
  const most = needs.reduce((sum, need) => Math.max(sum, need), 1);
  const each = 2 * Math.ceil(most / 2);
  const blocks = Math.max(1, Math.min(count, mostBlocks.withScratch, Math.floor(scratchBytes / (8 * each))));
  return { blocks, each, memory: held.own(context.alloc("f64", blocks * each, { label: "scratch of measures" })) };
}

/** A bank in device memory. */
export class DeviceBank {
  readonly bank: KuramotoOscillators;
  readonly turns: DeviceSlice<"f64">;
  readonly phases: DeviceSlice<"f64">;

  /** Copies frequencies and phases to a device. Memory is `held`. @throws OutOfMemoryError */
  constructor(context: Context, bank: KuramotoOscillators, held: Held) {
    const turns = bank.frequenciesHz.map((frequency) => 6.283185307179586 * frequency);
    this.bank = bank;
    this.turns = held.own(context.upload(turns as Float64Array<ArrayBuffer>, { label: "turns of oscillators" }));
    this.phases = held.own(context.upload(bank.phases as Float64Array<ArrayBuffer>, { label: "first phases" }));
  }
}

/** Shared memory that every device has for a block. */
const sharedBytes = 48 * 1024;

function enqueueCoherence(
  stream: Stream,
  context: Context,
  sorted: Sorted,
  { bank, turns, phases }: DeviceBank,
  out: DeviceSlice<"f64">,
  held: Held,
): void {
  const { count, coupling, drive, stepMs } = bank;
  const channels = Math.min(count, sorted.spikes.neuronCount);
  const channelOf = Uint32Array.from({ length: count }, (_, i) => Math.floor((i * channels) / count));
  const doubles = 4 * count + Math.ceil(channels / 2);
  const shared = 8 * doubles <= sharedBytes;
  const memory = shared ? undefined : scratchFor(context, sorted.spikes.count, [doubles], held);
  const kernel = shippedKernel(context, "pattern_phases", "pattern_phases_coherence", [
    ...patterns,
    ...(["const f64*", "const f64*", "const u32*", "u32", "u32", "f64", "f64", "f64", "u32", "u32"] as const),
    ...scratch,
    "f64*",
  ]);
  stream.launch(
    kernel,
    { grid: memory?.blocks ?? Math.min(sorted.spikes.count, mostBlocks.without), block: 32, shared: shared ? 8 * doubles : 0 },
    ...sorted.arguments,
    ...[turns, phases, held.own(context.upload(channelOf, { label: "channels of oscillators" })), count, channels, coupling, drive],
    ...[stepMs, bank.parts(false), bank.parts(true), memory?.memory ?? null, memory?.each ?? 0, out],
  );
}
