// Transfer entropy by counting in bins: how much the past of one series says of the next value of
// another, beyond its own past.
import { type InputOf, option, optional, resolve, seed, whole } from "@spillway/core/options.js";
import { type BinnedInformation, binnedInformation } from "./binned-information.js";
import { firstRow, pastTable } from "./columns.js";
import { rankBins, wordIds } from "./partition.js";
import { checkedPair, type Series } from "./series.js";
import { TransferCounts } from "./transfer-counts.js";

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
