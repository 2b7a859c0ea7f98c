// Transfer entropy by counting in bins: how much the past of one series says of the next value of
// another, beyond its own past.
import { option, optional, resolve, seed, type TableOf, whole } from "../../core/options.js";
import { asMatrix, type MatrixLike, RandomStream, type Seed, seedKeys } from "../../numerics/index.js";
import { count, streams } from "../source.js";
import { rankBins, wordIds } from "./partition.js";
import { checkedPair, type Series } from "./series.js";
import { cutAndTurned } from "./surrogates.js";
import { TransferCounts } from "./transfer-counts.js";

/** Which past values take part, how they are binned, and the surrogates. */
export interface TransferEntropyOptions {
  /** Steps from the source's newest value to the target's present one; default 1. */
  readonly lag?: number | undefined;
  /**
   * Past values of the target that are known already; default 1. A target that remembers more is
   * better asked with more.
   */
  readonly targetHistory?: number | undefined;
  /** Past values of the source, from `lag` steps ago on; default 1. */
  readonly sourceHistory?: number | undefined;
  /**
   * Bins of the target's present, of each of its past values, and of each of the source's. Default:
   * the most that leave 15 rows a cell, 2 to 20, and twice as many for the past: little of what the
   * target tells of itself is then left over for the source.
   */
  readonly bins?: number | undefined;
  /** Surrogates for the test of significance; default 100. 0 leaves it out. */
  readonly surrogates?: number | undefined;
  /** Draws the surrogates. Default "spillway". */
  readonly seed?: Seed | undefined;
}

/**
 * The options of `transferEntropy` and `transferEntropyMatrix`, where more surrogates are drawn.
 */
export const transferEntropyTable = {
  lag: option(count, 1, "Steps from the source's newest value to the target's present one."),
  targetHistory: option(count, 1, "Past values of the target that are known already."),
  sourceHistory: option(count, 1, "Past values of the source, from lag steps ago on."),
  bins: optional(whole({ atLeast: 2 }), "Bins of each value; left out, the most that leave 15 rows a cell, 2 to 20."),
  surrogates: optional(whole(), "Surrogates for the test of significance, 0 for none; left out, 100."),
  seed: option(seed, "spillway", "Draws the surrogates."),
} satisfies TableOf<TransferEntropyOptions>;

/** How much the source's past tells of the target beyond the target's own. */
export interface TransferEntropy {
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
  /** Standard deviation of the surrogates' effective bits. Undefined without surrogates. */
  readonly standardError: number | undefined;
  /**
   * The probability of such effective bits without any influence: (1 + k) / (1 + surrogates) if k
   * of them reach the value, or 20 / s if the first s have 20 that do, and no more are drawn (Besag
   * and Clifford 1991). Undefined without surrogates.
   */
  readonly pValue: number | undefined;
}

/** Surrogates that reach the value before no more are drawn: it is not significant. */
const enough = 20;

/**
 * TE(X -> Y) = I(y(t); x | y), y = (y(t-1), ..., y(t - targetHistory)), x = (x(t - lag), ..., x(t -
 * lag - sourceHistory + 1)), from relative counts in bins by rank; y(t) is ranked within its cell
 * of the past. Bins blur: what is found is a lower bound of the transfer entropy of the values, but
 * for what the bins of the past leave of the target's own memory.
 *
 * Surrogates close the source to a ring, cut it into four and put the pieces elsewhere. That keeps
 * the target's tie to its past and, but for four places, the source's memory: two slow series that
 * have nothing to do with each other stay insignificant. Sources: Schreiber 2000, "Measuring
 * information transfer", equation 4; effective: Marschinski and Kantz 2002; the mean by chance:
 * Vinh, Epps and Bailey 2010, "Information theoretic measures for clusterings comparison", in each
 * cell.
 * @throws ArgumentError on series of different lengths or too short, and for options
 */
export function transferEntropy(source: Series, target: Series, options: TransferEntropyOptions = {}): TransferEntropy {
  const { lag, targetHistory, sourceHistory, bins: chosen, surrogates = 100, seed: drawnFrom } = resolve(transferEntropyTable, options);
  const first = Math.max(targetHistory, lag + sourceHistory - 1);
  const [x, y] = checkedPair(["source", "target"], source, target, first + 10);
  const rows = x.length - first;
  const bins = chosen ?? defaultBins(rows, targetHistory, sourceHistory);
  const past = wordIds(rankBins(y, chosen ?? 2 * bins), targetHistory).subarray(first - targetHistory, first - targetHistory + rows);
  const counts = new TransferCounts(past, rankBins(y.subarray(first), bins, past));
  const from = first - lag - sourceHistory + 1;
  const words = wordIds(rankBins(x, bins), sourceHistory).subarray(from, from + rows);
  const kinds = words.reduce((a, b) => Math.max(a, b), 0) + 1;
  const effective = (of: Uint32Array) => {
    const { bits, byChance } = counts.count(of, kinds);
    return { bits, effectiveBits: bits - byChance };
  };
  const found = effective(words);
  if (surrogates === 0) return { ...found, surrogates, standardError: undefined, pValue: undefined };
  const draws = new RandomStream(seedKeys(drawnFrom).weights, streams.surrogates);
  const values: number[] = [];
  let reached = 0;
  while (values.length < surrogates && reached < enough) {
    const { effectiveBits } = effective(cutAndTurned(words, draws, values.length));
    values.push(effectiveBits);
    if (effectiveBits >= found.effectiveBits) reached++;
  }
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  const pValue = reached === enough ? enough / values.length : (1 + reached) / (1 + surrogates);
  return { ...found, surrogates, standardError: Math.sqrt(variance), pValue };
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

/**
 * Transfer entropies between all columns of a T x C series: element [i][j] is TE(i -> j), undefined
 * for i = j. By default as many surrogates are drawn as {@link informationFlow} needs for that many
 * directions: 40 C (C - 1), at least 100.
 * @throws ArgumentError as {@link transferEntropy} does
 */
export function transferEntropyMatrix(series: MatrixLike, options: TransferEntropyOptions = {}): (TransferEntropy | undefined)[][] {
  resolve(transferEntropyTable, options);
  const matrix = asMatrix(series, "series");
  const columns = Array.from({ length: matrix.cols }, (_, c) => matrix.column(c));
  const surrogates = options.surrogates ?? Math.max(100, 40 * columns.length * (columns.length - 1));
  return columns.map((source, i) =>
    columns.map((target, j) => (i === j ? undefined : transferEntropy(source, target, { ...options, surrogates }))),
  );
}
