// What counts in bins tell, without the bias of counting, and what surrogates say of it.
import { RandomStream, type Seed, seedKeys } from "@spillway/numerics";
import { streams } from "../source.js";
import { type Significance, significance } from "./significance.js";
import { cutAndTurned } from "./surrogates.js";
import type { TransferCounts } from "./transfer-counts.js";

/** Information by counting in bins. */
export interface BinnedInformation {
  /** As counted, in bits, at least 0. Chance gives some: about cells / (2 ln 2 rows). */
  readonly bits: number;
  /**
   * `bits` less what they are on average if the source's words are put in another order within each
   * cell of the target's past, which keeps the tie of the source to that past. Free of the bias of
   * counting; may come out slightly below 0.
   */
  readonly effectiveBits: number;
  /** Surrogates that were asked for. */
  readonly surrogates: number;
  /** Of the surrogates' effective bits. */
  readonly standardError: Significance["standardError"];
  /** The probability of such effective bits without any influence. */
  readonly pValue: Significance["pValue"];
}

/** I(present; word | past) in the cells of the counts, beside surrogates of the words. */
export function binnedInformation(counts: TransferCounts, words: Uint32Array, surrogates: number, seed: Seed): BinnedInformation {
  const kinds = words.reduce((a, b) => Math.max(a, b), 0) + 1;
  const effective = (of: Uint32Array) => {
    const { bits, byChance } = counts.count(of, kinds);
    return { bits, effectiveBits: bits - byChance };
  };
  const found = effective(words);
  const draws = new RandomStream(seedKeys(seed).weights, streams.surrogates);
  const { standardError, pValue } = significance(
    found.effectiveBits,
    surrogates,
    (draw) => effective(cutAndTurned(words, draws, draw)).effectiveBits,
  );
  return { ...found, surrogates, standardError, pValue };
}
