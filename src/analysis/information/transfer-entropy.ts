// Transfer entropy by counting in bins: how much the past of one series says of the next value of another, beyond its own past.
import { asMatrix, type MatrixLike, RandomStream, type Seed, seedKeys } from "../../numerics/index.js";
import { ConfigError } from "../../reservoir/index.js";
import { checkFields } from "../../reservoir/validate.js";
import { streams, whole } from "../source.js";
import { checkedPair, type Series } from "./series.js";

/** Which past values take part, how they are binned, and the surrogates. */
export interface TransferEntropyOptions {
  /** Steps from the source's newest value to the target's present one; default 1. */
  readonly lag?: number | undefined;
  /** Past values of the target that are known already; default 1. */
  readonly targetHistory?: number | undefined;
  /** Past values of the source, from `lag` steps ago on; default 1. */
  readonly sourceHistory?: number | undefined;
  /** Bins of equal width from the smallest to the largest value; default by Freedman and Diaconis for each series, 2 to 20. */
  readonly bins?: number | undefined;
  /** Surrogates for the test of significance; default 100. 0 leaves it out. */
  readonly surrogates?: number | undefined;
  /** Draws the surrogates. Default "spillway". */
  readonly seed?: Seed | undefined;
}

const fields: readonly (keyof TransferEntropyOptions)[] = ["lag", "targetHistory", "sourceHistory", "bins", "surrogates", "seed"];

/** How much the source's past tells of the target beyond the target's own. */
export interface TransferEntropy {
  /** In bits, at least 0. */
  readonly bits: number;
  /** `bits` less the mean of the surrogates: what is left without the bias of counting. Undefined without surrogates. */
  readonly effectiveBits: number | undefined;
  /** Standard deviation of the surrogates, in bits. */
  readonly standardError: number | undefined;
  /** (1 + surrogates with at least as many bits) / (1 + surrogates): the probability of such a value without any influence. */
  readonly pValue: number | undefined;
}

/**
 * TE(X -> Y) = sum p(y', y, x) log2(p(y', y, x) p(y) / (p(y', y) p(y, x))) with y' = y(t), y = (y(t-1), ..., y(t - targetHistory)), x =
 * (x(t - lag), ..., x(t - lag - sourceHistory + 1)), from relative counts in bins. Surrogates turn the source around by a random number of
 * steps, which keeps its own structure and takes away its influence. Sources: Schreiber 2000, "Measuring information transfer", equation 4;
 * effective: Marschinski and Kantz 2002.
 * @throws ConfigError on series of different lengths, too short, or with more bins than can be counted
 */
export function transferEntropy(source: Series, target: Series, options: TransferEntropyOptions = {}): TransferEntropy {
  checkFields(options, fields);
  const lag = whole("lag", options.lag ?? 1, 1);
  const targetHistory = whole("targetHistory", options.targetHistory ?? 1, 1);
  const sourceHistory = whole("sourceHistory", options.sourceHistory ?? 1, 1);
  const surrogates = whole("surrogates", options.surrogates ?? 100, 0);
  const first = Math.max(targetHistory, lag + sourceHistory - 1);
  const [x, y] = checkedPair(["source", "target"], source, target, first + 10);
  const xBins = options.bins === undefined ? freedmanDiaconis(x) : whole("bins", options.bins, 2);
  const yBins = options.bins === undefined ? freedmanDiaconis(y) : xBins;
  if (yBins ** (1 + targetHistory) * xBins ** sourceHistory > Number.MAX_SAFE_INTEGER) {
    throw new ConfigError("bins", options.bins, "fewer bins or shorter histories: there are more cells than whole numbers");
  }
  const cells = { x: binned(x, xBins), y: binned(y, yBins), xBins, yBins, first, lag, targetHistory, sourceHistory };
  const bits = countedBits(cells, 0);
  if (surrogates === 0) return { bits, effectiveBits: undefined, standardError: undefined, pValue: undefined };
  const draws = new RandomStream(seedKeys(options.seed ?? "spillway").weights, streams.surrogates);
  // A turn by less than the histories would leave part of the influence in place.
  const least = Math.min(first + 1, Math.floor(x.length / 4));
  const values = Float64Array.from({ length: surrogates }, (_, s) => countedBits(cells, least + draws.integer(0, s, x.length - 2 * least)));
  const mean = values.reduce((sum, value) => sum + value, 0) / surrogates;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / surrogates;
  const above = values.filter((value) => value >= bits).length;
  return { bits, effectiveBits: bits - mean, standardError: Math.sqrt(variance), pValue: (1 + above) / (1 + surrogates) };
}

/**
 * Transfer entropies between all columns of a T x C series: element [i][j] is TE(i -> j), undefined for i = j. @throws ConfigError as
 * {@link transferEntropy} does
 */
export function transferEntropyMatrix(series: MatrixLike, options: TransferEntropyOptions = {}): (TransferEntropy | undefined)[][] {
  const matrix = asMatrix(series, "series");
  const columns = Array.from({ length: matrix.cols }, (_, c) => matrix.column(c));
  return columns.map((source, i) => columns.map((target, j) => (i === j ? undefined : transferEntropy(source, target, options))));
}

/** One direction in which information flows. */
export interface InformationFlow {
  readonly from: number;
  readonly to: number;
  /** TE(from -> to) - TE(to -> from), in bits. */
  readonly netBits: number;
}

/** The pairs of columns with a net flow above `leastBits` (default 0.01), the strongest first. */
export function informationFlow(matrix: readonly (readonly (TransferEntropy | undefined)[])[], leastBits = 0.01): InformationFlow[] {
  const flows: InformationFlow[] = [];
  for (let i = 0; i < matrix.length; i++) {
    for (let j = i + 1; j < matrix.length; j++) {
      const net = matrix[i]![j]!.bits - matrix[j]![i]!.bits;
      if (Math.abs(net) > leastBits) flows.push(net > 0 ? { from: i, to: j, netBits: net } : { from: j, to: i, netBits: -net });
    }
  }
  return flows.sort((a, b) => b.netBits - a.netBits);
}

interface Cells {
  readonly x: Uint32Array;
  readonly y: Uint32Array;
  readonly xBins: number;
  readonly yBins: number;
  readonly first: number;
  readonly lag: number;
  readonly targetHistory: number;
  readonly sourceHistory: number;
}

/** H(y', y) - H(y) - H(y', y, x) + H(y, x), the source turned around by `turn` steps. */
function countedBits({ x, y, xBins, yBins, first, lag, targetHistory, sourceHistory }: Cells, turn: number): number {
  const [past, joint, caused, all] = [
    new Map<number, number>(),
    new Map<number, number>(),
    new Map<number, number>(),
    new Map<number, number>(),
  ];
  const count = (cells: Map<number, number>, key: number) => cells.set(key, (cells.get(key) ?? 0) + 1);
  const n = y.length;
  for (let t = first; t < n; t++) {
    let own = 0;
    for (let h = 1; h <= targetHistory; h++) own = own * yBins + y[t - h]!;
    let withSource = own;
    for (let h = 0; h < sourceHistory; h++) withSource = withSource * xBins + x[(t - lag - h + turn) % n]!;
    count(past, own);
    count(joint, own * yBins + y[t]!);
    count(caused, withSource);
    count(all, withSource * yBins + y[t]!);
  }
  return Math.max(0, entropy(joint, n - first) - entropy(past, n - first) - entropy(all, n - first) + entropy(caused, n - first));
}

function entropy(cells: ReadonlyMap<number, number>, total: number): number {
  let bits = 0;
  for (const count of cells.values()) bits -= (count / total) * Math.log2(count / total);
  return bits;
}

function binned(values: Float64Array, bins: number): Uint32Array {
  const low = values.reduce((a, b) => Math.min(a, b), Infinity);
  const high = values.reduce((a, b) => Math.max(a, b), -Infinity);
  const width = (high - low) / bins;
  return Uint32Array.from(values, (value) => (width === 0 ? 0 : Math.min(bins - 1, Math.floor((value - low) / width))));
}

/** range / (2 IQR N^(-1/3)) bins, 2 to 20. */
function freedmanDiaconis(values: Float64Array): number {
  const sorted = values.slice().sort();
  const quartiles = sorted[Math.floor(0.75 * (sorted.length - 1))]! - sorted[Math.floor(0.25 * (sorted.length - 1))]!;
  const range = sorted.at(-1)! - sorted[0]!;
  if (!(quartiles > 0)) return 2;
  return Math.min(20, Math.max(2, Math.ceil((range * Math.cbrt(values.length)) / (2 * quartiles))));
}
