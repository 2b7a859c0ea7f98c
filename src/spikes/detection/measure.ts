// What a type of pattern is to the detector: a score from 0 to 1, the threshold that it fires at,
// and a generator of its own kind.
import { given, type InputOf, option, seed } from "@spillway/core/options.js";
import { count, positive } from "../options.js";
import type { SpikePattern } from "../pattern/pattern.js";

/** The types in the order of their codes, 1 to 8. */
export const patternTypes = ["synchronous", "travelling", "standing", "chaotic", "emergent", "rhythmic", "sparse", "burst"] as const;

/** A type of pattern. */
export type PatternType = (typeof patternTypes)[number];

/** How much a pattern is of one type. */
export interface PatternScore {
  /** From 0 (as independent Poisson neurons of the same rates would be, or less) to 1. */
  readonly score: number;
  /** The frequency at which the type shows most, for those that have one. */
  readonly frequencyHz?: number | undefined;
  /** Cycles of a wave across the population; positive towards higher neurons. */
  readonly waveNumber?: number | undefined;
}

export const generatorTable = {
  /** Determines every spike. */
  seed: given(seed, "Determines every spike."),
  /** Default 50. */
  neuronCount: option(count, 50, "Neurons."),
  /** Default 1000 ms. */
  durationMs: option(positive("ms"), 1000, "How long the pattern lasts."),
  /**
   * Mean rate of a neuron, in Hz; default 20. Every generator keeps it: the rate by itself tells no
   * type.
   */
  rateHz: option(positive("Hz"), 20, "Mean rate of a neuron."),
};

/** What a generator makes. */
export interface GeneratorOptions extends InputOf<typeof generatorTable> {}

/** One type: a file of `types/` each. */
export interface PatternMeasure {
  readonly type: PatternType;
  /** The default threshold: at most 2 % of Poisson patterns of any rate and size score above it. */
  readonly threshold: number;
  /** How strongly a pattern is of this type, from 0 to 1. */
  readonly score: (pattern: SpikePattern) => PatternScore;
  /** An example of the type. */
  readonly generate: (options: GeneratorOptions) => SpikePattern;
}

/** A squared strength of 0 to 1 less what chance reaches, in [0, 1] again. */
export function aboveChance(square: number, chance: number): number {
  return chance >= 1 ? 0 : Math.min(1, Math.max(0, (square - chance) / (1 - chance)));
}
