// Mutual information by counting in bins: what two series tell of each other at the same moment.
import { type InputOf, option, optional, resolve, seed, whole } from "@spillway/core/options.js";
import { type BinnedInformation, binnedInformation } from "./binned-information.js";
import { rankBins } from "./partition.js";
import { checkedPair, type Series } from "./series.js";
import { TransferCounts } from "./transfer-counts.js";

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
