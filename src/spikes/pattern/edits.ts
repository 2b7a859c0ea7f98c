// Changes to spike patterns as data, as files of experiments say them: when a pattern comes and how
// often, jitter, lost spikes and noise, in this order.

import { ArgumentError } from "@spillway/core/errors.js";
import { seed as anySeed, type InputOf, number, object, option, optional, type Resolved, resolve, whole } from "@spillway/core/options.js";
import type { Seed } from "@spillway/numerics";
import { poissonPattern } from "../detection/generators.js";
import { notNegative } from "../options.js";
import { concatenatePatterns, jitterPattern, jitterTable, mergePatterns, thinPattern, thinTable } from "./edit.js";
import { SpikePattern } from "./pattern.js";

const drawn = { seed: option(anySeed, 1, "What the cases are drawn from, each anew.") };

export const editsTable = {
  /** When the pattern comes, in a longer one that is silent besides. */
  schedule: optional(
    object({
      startMs: option(notNegative("ms"), 0, "When the pattern begins."),
      times: option(whole({ atLeast: 1, atMost: 100_000 }), 1, "How often it comes."),
      gapMs: option(notNegative("ms"), 0, "The silence between two of them."),
      durationMs: optional(number({ above: 0, unit: "ms" }), "How long the whole lasts; left out, to the end of the last one."),
    }),
    "When a pattern comes and how often, in a longer one that is silent besides.",
  ),
  /** Every spike moved by a random time. */
  jitter: optional(object({ ...jitterTable, ...drawn }), "Every spike moved by a random time."),
  /** Every spike left out with a probability. */
  thin: optional(object({ ...thinTable, ...drawn }), "Every spike left out with a probability."),
  /** Spikes of independent Poisson processes beside those of the pattern. */
  noise: optional(
    object({ ...drawn, rateHz: option(number({ above: 0, unit: "Hz" }), 1, "The rate of the noise of each neuron.") }),
    "Spikes of independent Poisson processes beside those of the pattern.",
  ),
};

/** What is done to patterns before they drive a reservoir. */
export interface PatternEdits extends InputOf<typeof editsTable> {}

/**
 * A pattern with these changes. `name` separates the draws of cases. @throws ArgumentError for a
 * schedule that is shorter than its patterns
 */
export function editPattern(pattern: SpikePattern, edits: PatternEdits, name: string): SpikePattern {
  const { schedule, jitter, thin, noise } = resolve(editsTable, edits);
  const seedOf = (seed: Seed): Seed => `${seed}/${name}`;
  let edited = schedule ? scheduled(pattern, schedule) : pattern;
  if (jitter) edited = jitterPattern(edited, { ...jitter, seed: seedOf(jitter.seed) });
  if (thin) edited = thinPattern(edited, { ...thin, seed: seedOf(thin.seed) });
  if (!noise) return edited;
  const { neuronCount, durationMs } = edited;
  return mergePatterns([edited, poissonPattern({ neuronCount, durationMs, rateHz: noise.rateHz, seed: seedOf(noise.seed) })]);
}

function scheduled(
  pattern: SpikePattern,
  { startMs, times, gapMs, durationMs }: NonNullable<Resolved<typeof editsTable>["schedule"]>,
): SpikePattern {
  const shown = concatenatePatterns(Array<SpikePattern>(times).fill(pattern), { gapMs });
  const end = startMs + shown.durationMs;
  if (durationMs !== undefined && durationMs < end)
    throw new ArgumentError("schedule.durationMs", durationMs, `at least ${end} ms, the end of the last pattern`);
  const { neuronCount, metadata } = pattern;
  const silence = (lasts: number) => SpikePattern.from([], { durationMs: lasts, neuronCount, metadata });
  return concatenatePatterns([silence(startMs), shown, silence((durationMs ?? end) - end)]);
}
