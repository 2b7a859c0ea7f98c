// What a sampler is: a pure function of a space, the known trials, a seed and the numbers of the
// trials that are asked for. Draws are addressed by trial, never consumed.
import { RandomStream, type Seed, seedKeys } from "@spillway/numerics";
import { type SearchSpace, valueOfUniform } from "./space.js";

/** State of a trial. Complete, pruned and failed ones are finished. */
export type TrialState = "running" | "complete" | "pruned" | "failed" | "waiting";

/** What a sampler sees of a trial. */
export interface SeenTrial {
  readonly number: number;
  readonly state: TrialState;
  /** Internal values in the order of the space; NaN if a parameter is not there. */
  readonly values: Float64Array;
  /** What is to be small: the value, or its negative; NaN if the trial has none. */
  readonly loss: number;
  /** The last step that an intermediate value was reported at, and that value as a loss. */
  readonly last?: { readonly step: number; readonly loss: number } | undefined;
  /** The generation it belongs to, of samplers that have generations. */
  readonly generation?: number | undefined;
}

/** What a sampler knows when it is asked. */
export interface SamplerView {
  readonly space: SearchSpace;
  /** All trials so far by number, each number once. The list may grow between two calls. */
  readonly trials: readonly SeenTrial[];
  /**
   * How many of them had their parameters given, by `enqueue` or by another that failed; default 0.
   */
  readonly given?: number | undefined;
}

/** Values for a trial, NaN for a parameter whose condition does not hold. */
export interface Suggestion {
  readonly values: Float64Array;
  readonly generation?: number | undefined;
  /** Its number in the whole search, if this is a part of one. */
  readonly wholeNumber?: number | undefined;
}

/** Proposes the parameters of trials. */
export interface Sampler {
  readonly name: string;
  readonly seed: Seed;
  /** A suggestion for each of these numbers. The same arguments give the same suggestions. */
  suggest(view: SamplerView, numbers: readonly number[]): Suggestion[];
}

/** Streams 128 to 131 of a seed: uniform draws, shifts, normal draws, and thinning. */
export class Draws {
  readonly #streams: readonly RandomStream[];

  constructor(seed: Seed) {
    const { weights } = seedKeys(seed);
    this.#streams = [128, 129, 130, 131].map((stream) => new RandomStream(weights, stream));
  }

  /** Draw i of trial k in [0, 1). */
  uniform(k: number, i: number): number {
    return this.#streams[0]!.uniform(k, i);
  }

  /** The digital shift of a dimension, below 2^32. */
  shift(dimension: number): number {
    return Math.floor(2 ** 32 * this.#streams[1]!.uniform(0, dimension));
  }

  /** Standard normal draw i of trial k. */
  normal(k: number, i: number): number {
    return this.#streams[2]!.normal(k, i);
  }

  /** What thins the observations that trial k sees, in [0, 1). */
  thinning(k: number): number {
    return this.#streams[3]!.uniform(k, 0);
  }
}

/** The value that random search gives a parameter of a trial. */
export function randomValue(space: SearchSpace, draws: Draws, number: number, index: number): number {
  return valueOfUniform(space.parameters[index]!, draws.uniform(number, index));
}

/** Whether a trial has reported how good it is, fully or as far as it went. */
export function isFinished({ state }: SeenTrial): boolean {
  return state === "complete" || state === "pruned";
}
