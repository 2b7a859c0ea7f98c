// What is counted in a pattern: windows, rates, intervals. Nothing here changes a pattern.
import { checkWhole } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { checkMemory } from "../errors.js";
import { grouped } from "../grouped.js";
import { checkPattern, SpikePattern } from "./pattern.js";

/** How many spikes a pattern has. */
export function spikeCount(pattern: SpikePattern): number {
  return checkPattern(pattern).spikeCount;
}

/**
 * The spikes with startMs <= t <= endMs, both ends included, at the times they have, in a pattern
 * of the same duration. {@link slicePattern} cuts a window out instead.
 * @throws ArgumentError if a time is not a number or the window ends before it starts.
 */
export function spikesInWindow(pattern: SpikePattern, startMs: number, endMs: number): SpikePattern {
  checkPattern(pattern);
  checkWindow(startMs, endMs);
  return part(pattern, firstFrom(pattern.times, startMs), firstAfter(pattern.times, endMs), 0, pattern.durationMs);
}

/**
 * The window [startMs, endMs) as a pattern of its own that begins at 0 and lasts endMs - startMs. A
 * spike at the very end of the pattern belongs to the window that ends there: the slices of a
 * pattern hold each spike once.
 * @throws ArgumentError if the window is not within the pattern.
 */
export function slicePattern(pattern: SpikePattern, startMs: number, endMs: number): SpikePattern {
  checkPattern(pattern);
  checkWindow(startMs, endMs);
  if (startMs < 0 || endMs > pattern.durationMs) {
    const shown = `${startMs} to ${endMs} ms`;
    throw new ArgumentError("the window", [startMs, endMs], `a window within 0 to ${pattern.durationMs} ms`, { shown });
  }
  const end = endMs === pattern.durationMs ? pattern.spikeCount : firstFrom(pattern.times, endMs);
  return part(pattern, firstFrom(pattern.times, startMs), end, startMs, endMs - startMs);
}

/**
 * Spikes a second of the whole population: count / (duration / 1000), in Hz; 0 if the duration
 * is 0.
 */
export function spikeRate(pattern: SpikePattern): number {
  checkPattern(pattern);
  return pattern.durationMs === 0 ? 0 : pattern.spikeCount / (pattern.durationMs / 1000);
}

/** The spike count of each neuron, N values. */
export function neuronCounts(pattern: SpikePattern): Uint32Array {
  checkPattern(pattern);
  checkMemory(`a list of ${pattern.neuronCount} neurons`, pattern.neuronCount * 12);
  const counts = new Uint32Array(pattern.neuronCount);
  for (const neuron of pattern.neurons) counts[neuron] = counts[neuron]! + 1;
  return counts;
}

/** The rate of each neuron in Hz, N values; 0 if the duration is 0. */
export function neuronRates(pattern: SpikePattern): Float64Array {
  checkPattern(pattern);
  const seconds = pattern.durationMs / 1000;
  return Float64Array.from(neuronCounts(pattern), (count) => (seconds === 0 ? 0 : count / seconds));
}

/** The spike times of each neuron in ms, rising: N arrays. */
export function spikeTrains(pattern: SpikePattern): Float64Array[] {
  checkPattern(pattern);
  checkMemory(`a list of ${pattern.neuronCount} neurons`, pattern.neuronCount * 12);
  const { offsets, order } = grouped(pattern.neurons, pattern.neuronCount);
  const times = Float64Array.from(order, (i) => pattern.times[i]!);
  return Array.from({ length: pattern.neuronCount }, (_, n) => times.slice(offsets[n], offsets[n + 1]));
}

/**
 * Intervals between successive spikes in ms: of one neuron, or, if none is named, of every
 * neuron one after the other.
 * @throws ArgumentError if there is no such neuron.
 */
export function interspikeIntervals(pattern: SpikePattern, neuron?: number): Float64Array {
  checkPattern(pattern);
  if (neuron !== undefined) checkWhole("neuron", neuron, 0, pattern.neuronCount - 1);
  const trains = neuron === undefined ? spikeTrains(pattern) : [spikeTrains(pattern)[neuron]!];
  const intervals: number[] = [];
  for (const train of trains) for (let i = 1; i < train.length; i++) intervals.push(train[i]! - train[i - 1]!);
  return Float64Array.from(intervals);
}

function checkWindow(startMs: number, endMs: number): void {
  if (!(typeof startMs === "number" && typeof endMs === "number" && startMs <= endMs)) {
    throw new ArgumentError("the window", [startMs, endMs], "two times in ms, the first not after the second", {
      shown: `${startMs} to ${endMs} ms`,
    });
  }
}

/** Spikes first to last (exclusive), moved earlier by `originMs`. */
function part(pattern: SpikePattern, first: number, last: number, originMs: number, durationMs: number): SpikePattern {
  const { neuronCount, metadata, amplitudes } = pattern;
  return new SpikePattern(
    {
      times: pattern.times.slice(first, last).map((time) => Math.min(time - originMs, durationMs)),
      neurons: pattern.neurons.slice(first, last),
      amplitudes: amplitudes?.slice(first, last),
    },
    { durationMs, neuronCount, metadata },
  );
}

/** The position of the first time that is not before `timeMs`. */
function firstFrom(times: Float64Array, timeMs: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle]! < timeMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The position of the first time after `timeMs`. */
function firstAfter(times: Float64Array, timeMs: number): number {
  let at = firstFrom(times, timeMs);
  while (times[at] === timeMs) at++;
  return at;
}
