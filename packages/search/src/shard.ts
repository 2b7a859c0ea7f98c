// A part of a search that shares nothing with the others: of n parts, part i has the trials i, i +
// n, i + 2n and so on of the whole search.
import { ArgumentError } from "@spillway/core/errors.js";
import type { Sampler } from "./sampler.js";

/** Part `index`, from 0, of so many. */
export interface Shard {
  readonly index: number;
  readonly of: number;
}

/** The part that "2/8" names. @throws ArgumentError */
export function shardOf(text: string): Shard {
  const [, index, of] = /^(\d{1,6})\/(\d{1,6})$/.exec(text) ?? [];
  const shard = { index: Number(index), of: Number(of) };
  if (index === undefined || shard.index >= shard.of)
    throw new ArgumentError("shard", text, 'a part and how many there are, counted from 0, such as "0/8" to "7/8"');
  return shard;
}

/** How many of the first trials of the whole search are a part's. */
export function shareOf({ index, of }: Shard, trials: number): number {
  return Number.isFinite(trials) ? Math.max(0, Math.ceil((trials - index) / of)) : trials;
}

/**
 * A sampler that gives a part's trials what the whole search gives the same trials.
 * @throws ArgumentError for a sampler that looks at other trials
 */
export function sharded(sampler: Sampler, { index, of }: Shard): Sampler {
  if (!["random", "sobol", "grid"].includes(sampler.name))
    throw ArgumentError.because(
      `shard takes a sampler that looks at no other trial: random, sobol or grid; ${sampler.name} takes a storage that all share`,
      { field: "sampler.type" },
    );
  return {
    name: sampler.name,
    seed: sampler.seed,
    suggest: ({ given = 0, ...view }, numbers) => {
      const wholeNumbers = numbers.map((k) => Math.max(0, k - given) * of + index);
      return sampler
        .suggest({ ...view, given: 0 }, wholeNumbers)
        .map((suggestion, i) => ({ ...suggestion, wholeNumber: wholeNumbers[i]! }));
    },
  };
}
