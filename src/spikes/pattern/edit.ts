// Patterns made from patterns: merged, joined, shifted, jittered, thinned. The pattern that is
// given never changes.
import { ArgumentError } from "@spillway/core/errors.js";
import { choice, given, type InputOf, type Option, option, resolve, seed } from "@spillway/core/options.js";
import type { Seed } from "@spillway/numerics";
import { notNegative, share } from "../options.js";
import { spikeStream } from "../streams.js";
import { checkPattern, checkPatterns, type SpikeColumns, SpikePattern } from "./pattern.js";

export const mergeTable = {
  /**
   * "shared" (default): neuron n of every pattern is one neuron. "stacked": each pattern's neurons
   * follow those of the pattern before it.
   */
  neurons: option(choice("shared", "stacked"), "shared", "Whether neuron n of every pattern is one neuron, or they follow each other."),
};

/** Whether patterns share their neurons. */
export interface MergeOptions extends InputOf<typeof mergeTable> {}

/**
 * All spikes of several patterns at the times they have. The result lasts as long as the longest,
 * and carries the metadata of the first.
 * @throws ArgumentError if there is no pattern.
 */
export function mergePatterns(patterns: readonly SpikePattern[], options: MergeOptions = {}): SpikePattern {
  const { neurons } = resolve(mergeTable, options);
  const first = firstOf(patterns);
  const origins = [0];
  for (const [i, pattern] of patterns.entries()) origins.push(origins[i]! + (neurons === "stacked" ? pattern.neuronCount : 0));
  return SpikePattern.from(
    joined(patterns, (i, timeMs, neuron) => [timeMs, neuron + origins[i]!]),
    {
      durationMs: Math.max(...patterns.map(({ durationMs }) => durationMs)),
      neuronCount: neurons === "stacked" ? origins.at(-1)! : Math.max(...patterns.map(({ neuronCount }) => neuronCount)),
      metadata: first.metadata,
    },
  );
}

/** The options of `concatenatePatterns`. */
export const concatenateTable = { gapMs: option(notNegative("ms"), 0, "The silence between two patterns.") };

/**
 * Patterns one after the other in time, with a silence of `gapMs` (default 0) between two. Neuron n
 * of every pattern is one neuron; the result carries the metadata of the first.
 * @throws ArgumentError if there is no pattern, or the gap is below 0.
 */
export function concatenatePatterns(
  patterns: readonly SpikePattern[],
  options: { readonly gapMs?: number | undefined } = {},
): SpikePattern {
  const { gapMs } = resolve(concatenateTable, options);
  const first = firstOf(patterns);
  const origins = [0];
  for (const [i, { durationMs }] of patterns.entries()) origins.push(origins[i]! + durationMs + (i + 1 < patterns.length ? gapMs : 0));
  return SpikePattern.from(
    joined(patterns, (i, timeMs, neuron) => [Math.min(origins[i]! + timeMs, origins.at(-1)!), neuron]),
    {
      durationMs: origins.at(-1)!,
      neuronCount: Math.max(...patterns.map(({ neuronCount }) => neuronCount)),
      metadata: first.metadata,
    },
  );
}

/** What becomes of a spike that is moved out of the pattern: put at the nearer end, or left out. */
export type PatternEdge = "clamp" | "drop";

const edgeOption = (fallback: PatternEdge): Option<PatternEdge> =>
  option(choice("clamp", "drop"), fallback, "What becomes of a spike that leaves the pattern: it is put at the nearer end, or left out.");

/** The options of `shiftPattern`. */
export const shiftTable = { edge: edgeOption("drop") };

/**
 * Every spike `byMs` later (earlier if that is negative), in a pattern of the same duration. A
 * spike that leaves it is dropped, unless
 * `edge` is "clamp".
 * @throws ArgumentError if `byMs` is not a finite number.
 */
export function shiftPattern(pattern: SpikePattern, byMs: number, options: { readonly edge?: PatternEdge | undefined } = {}): SpikePattern {
  const { edge } = resolve(shiftTable, options);
  if (!Number.isFinite(byMs)) throw new ArgumentError("byMs", byMs, "a finite number of ms");
  return moved(pattern, edge, (i) => pattern.times[i]! + byMs);
}

export const jitterTable = {
  /** Determines every shift. */
  seed: given(seed, "Determines every shift."),
  /** The standard deviation of the shift, in ms. */
  standardDeviationMs: given(notNegative("ms"), "The standard deviation of the shift."),
  /**
   * The distribution of the shift: "normal" (default) or "uniform", over +-sqrt(3) standard
   * deviations.
   */
  distribution: option(choice("normal", "uniform"), "normal", "The distribution of the shift."),
  /** Default "clamp". */
  edge: edgeOption("clamp"),
};

/** How far spikes are moved, and what becomes of those that leave the pattern. */
export interface JitterOptions extends InputOf<typeof jitterTable> {}

/**
 * Every spike moved by a random time of its own, drawn for its position in the pattern. The same
 * seed gives the same pattern.
 * @throws ArgumentError if the standard deviation is below 0.
 */
export function jitterPattern(pattern: SpikePattern, options: JitterOptions): SpikePattern {
  const { seed, standardDeviationMs, distribution, edge } = resolve(jitterTable, options);
  const draws = spikeStream("jitter", seed);
  const width = Math.sqrt(12) * standardDeviationMs;
  const shift =
    distribution === "normal"
      ? (i: number) => standardDeviationMs * draws.normal(0, i)
      : (i: number) => width * (draws.uniform(0, i) - 0.5);
  return moved(pattern, edge, (i) => pattern.times[i]! + shift(i));
}

/** The options of `thinPattern`. */
export const thinTable = {
  dropProbability: given(share, "The chance that a spike is left out."),
  seed: given(seed, "Determines which spikes are."),
};

/**
 * The pattern with each spike left out with probability `dropProbability`, drawn for its position.
 * @throws ArgumentError if that is not a number from 0 to 1.
 */
export function thinPattern(pattern: SpikePattern, options: { readonly dropProbability: number; readonly seed: Seed }): SpikePattern {
  checkPattern(pattern);
  const { dropProbability, seed } = resolve(thinTable, options);
  const draws = spikeStream("thinning", seed);
  return kept(pattern, pattern.times, (i) => draws.uniform(0, i) >= dropProbability);
}

function firstOf(patterns: readonly SpikePattern[]): SpikePattern {
  checkPatterns(patterns);
  const [first] = patterns;
  if (!first) throw new ArgumentError("patterns", patterns, "at least one pattern");
  return first;
}

/** The columns of all patterns one after the other, each spike as `moved` puts it. */
function joined(
  patterns: readonly SpikePattern[],
  moved: (i: number, timeMs: number, neuron: number) => readonly [number, number],
): SpikeColumns {
  const count = patterns.reduce((sum, pattern) => sum + pattern.spikeCount, 0);
  const times = new Float64Array(count);
  const neurons = new Float64Array(count);
  const amplitudes = patterns.some((pattern) => pattern.amplitudes) ? new Float32Array(count).fill(1) : undefined;
  let at = 0;
  patterns.forEach((pattern, i) => {
    if (pattern.amplitudes) amplitudes!.set(pattern.amplitudes, at);
    for (let k = 0; k < pattern.spikeCount; k++, at++) {
      [times[at], neurons[at]] = moved(i, pattern.times[k]!, pattern.neurons[k]!) as [number, number];
    }
  });
  return { times, neurons, amplitudes };
}

function moved(pattern: SpikePattern, edge: PatternEdge, time: (i: number) => number): SpikePattern {
  checkPattern(pattern);
  const times = Float64Array.from(pattern.times, (_, i) => time(i));
  if (edge === "drop") return kept(pattern, times, (i) => times[i]! >= 0 && times[i]! <= pattern.durationMs);
  const clamped = times.map((timeMs) => Math.min(Math.max(timeMs, 0), pattern.durationMs));
  return kept(pattern, clamped, () => true);
}

function kept(pattern: SpikePattern, times: Float64Array, keep: (i: number) => boolean): SpikePattern {
  const { durationMs, neuronCount, metadata, neurons, amplitudes } = pattern;
  const stay = (_: unknown, i: number) => keep(i);
  return SpikePattern.from(
    { times: times.filter(stay), neurons: neurons.filter(stay), amplitudes: amplitudes?.filter(stay) },
    { durationMs, neuronCount, metadata },
  );
}
