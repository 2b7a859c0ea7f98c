// Information by counting in bins, without the bias of counting: what two series tell of each other
// at the same moment, and what the past of one says of the next value of another beyond its own.

import { type InputOf, option, optional, resolve, seed, whole } from "@spillway/core/options.js";
import { RandomStream, type Seed, seedKeys } from "@spillway/numerics";
import { streams } from "../source.js";
import { firstRow, pastTable } from "./columns.js";
import { rankBins, wordIds } from "./partition.js";
import { checkedPair, type Series } from "./series.js";
import { type Significance, significance } from "./significance.js";
import { cutAndTurned } from "./surrogates.js";
import { TransferCounts } from "./transfer-counts.js";

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

export const mutualInformationTable = {
  /** Bins of each series. Default: the most that leave 15 rows a cell, 2 to 20. */
  bins: optional(whole({ atLeast: 2 }), "Bins of each series; left out, the most that leave 15 rows a cell, 2 to 20."),
  /** Surrogates for the test of significance; default 100. 0 leaves it out. */
  surrogates: option(whole({ atLeast: 0, atMost: 1_000_000 }), 100, "Surrogates for the test of significance, 0 for none."),
  /** Draws the surrogates. Default "spillway". */
  seed: option(seed, "spillway", "Draws the surrogates."),
};

/** How the values are binned, and the surrogates. */
export interface MutualInformationOptions extends InputOf<typeof mutualInformationTable> {}

/**
 * I(X; Y) = sum over bins of p(x, y) log2(p(x, y) / (p(x) p(y))) in bits, from relative counts in
 * bins by rank. `effectiveBits` has the bias of counting taken away: the mean over all orders of x
 * (Vinh, Epps and Bailey 2010, "Information theoretic measures for clusterings comparison").
 * Surrogates keep the memory of x, as those of {@link transferEntropy} do. Bins blur: what is found
 * is a lower bound. Without bins: {@link nearestNeighbourInformation}. Source: Shannon 1948.
 * @throws ArgumentError on series of different lengths or too short, and for options
 */
export function mutualInformation(x: Series, y: Series, options: MutualInformationOptions = {}): BinnedInformation {
  const { bins: chosen, surrogates, seed: drawnFrom } = resolve(mutualInformationTable, options);
  const [a, b] = checkedPair(["x", "y"], x, y, 10);
  const bins = chosen ?? Math.min(20, Math.max(2, Math.floor(Math.sqrt(a.length / 15))));
  return binnedInformation(new TransferCounts(new Uint32Array(b.length), rankBins(b, bins)), rankBins(a, bins), surrogates, drawnFrom);
}

export const transferEntropyTable = {
  ...pastTable,
  /**
   * Bins of the target's present, of each of its past values, and of each of the source's. Default:
   * the most that leave 15 rows a cell, 2 to 20, and twice as many for the past: little of what the
   * target tells of itself is then left over for the source.
   */
  bins: optional(whole({ atLeast: 2 }), "Bins of each value; left out, the most that leave 15 rows a cell, 2 to 20."),
  /** Surrogates for the test of significance; default 100. 0 leaves it out. */
  surrogates: optional(whole({ atLeast: 0, atMost: 1_000_000 }), "Surrogates for the test of significance, 0 for none; left out, 100."),
  /** Draws the surrogates. Default "spillway". */
  seed: option(seed, "spillway", "Draws the surrogates."),
};

/** Which past values take part, how they are binned, and the surrogates. */
export interface TransferEntropyOptions extends InputOf<typeof transferEntropyTable> {}

/** How much the source's past tells of the target beyond the target's own. */
export type TransferEntropy = BinnedInformation;

/**
 * TE(X -> Y) = I(y(t); x | y), y = (y(t-1), ..., y(t - targetHistory)), x = (x(t - lag), ..., x(t -
 * lag - sourceHistory + 1)), from relative counts in bins by rank; y(t) is ranked within its cell
 * of the past. Bins blur: what is found is a lower bound of the transfer entropy of the values, but
 * for what the bins of the past leave of the target's own memory.
 *
 * Surrogates close the source to a ring, cut it into four and put the pieces elsewhere. That keeps
 * the target's tie to its past and, but for four points, the source's memory: two slow series that
 * have nothing to do with each other stay insignificant. Sources: Schreiber 2000, "Measuring
 * information transfer", equation 4; effective: Marschinski and Kantz 2002; the mean by chance:
 * Vinh, Epps and Bailey 2010, "Information theoretic measures for clusterings comparison", in each
 * cell.
 * @throws ArgumentError on series of different lengths or too short, and for options
 */
export function transferEntropy(source: Series, target: Series, options: TransferEntropyOptions = {}): TransferEntropy {
  const asked = resolve(transferEntropyTable, options);
  const { lag, targetHistory, sourceHistory, bins: chosen, surrogates = 100, seed: drawnFrom } = asked;
  const first = firstRow(asked);
  const [x, y] = checkedPair(["source", "target"], source, target, first + 10);
  const rows = x.length - first;
  const bins = chosen ?? defaultBins(rows, targetHistory, sourceHistory);
  const past = wordIds(rankBins(y, chosen ?? 2 * bins), targetHistory).subarray(first - targetHistory, first - targetHistory + rows);
  const counts = new TransferCounts(past, rankBins(y.subarray(first), bins, past));
  const from = first - lag - sourceHistory + 1;
  const words = wordIds(rankBins(x, bins), sourceHistory).subarray(from, from + rows);
  return binnedInformation(counts, words, surrogates, drawnFrom);
}

/**
 * The most bins b, 2 to 20, with (2b)^targetHistory b^(1 + sourceHistory) cells of at least 15
 * rows.
 */
function defaultBins(rows: number, targetHistory: number, sourceHistory: number): number {
  let bins = 2;
  while (bins < 20 && 15 * (2 * (bins + 1)) ** targetHistory * (bins + 1) ** (1 + sourceHistory) <= rows) bins++;
  return bins;
}
