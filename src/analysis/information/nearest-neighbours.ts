// Mutual information, transfer entropy and active storage of continuous series by distances to
// nearest neighbours, without bins. Those with bins are in binned.ts.
import { ArgumentError } from "@spillway/core/errors.js";
import { checked, flag, type InputOf, option, optional, type Resolved, resolve, seed, text, whole } from "@spillway/core/options.js";
import { type MatrixLike, RandomStream, seedKeys } from "@spillway/numerics";
import { chooseEngine } from "../../reservoir/index.js";
import { seriesOf } from "../../reservoir/options.js";
import { type WorkOptions, WorkPacer, workTable } from "../../reservoir/work.js";
import { count, streams } from "../source.js";
import { type Columns, checkedColumns, delayedColumns, firstRow } from "./columns.js";
import { type GaussianTransferOptions, gaussianTransferTable } from "./gaussian.js";
import { type NeighbourEstimate, NeighbourEstimator } from "./neighbour-estimates.js";
import { type Significance, type SurrogateTest, surrogateTest } from "./significance.js";
import { cutAndTurned } from "./surrogates.js";

/** Where nearest neighbours are found; what is asked with it comes as a promise. */
export interface NearestNeighbourEngineOptions extends WorkOptions {
  /**
   * "cuda", "cuda:1" (a device by number) or "sim" look at all pairs of rows, with the bits of
   * "cpu", which has a k-d tree, as has "auto". A device takes surrogates together.
   */
  readonly engine: string;
}

const engineTable = {
  engine: optional(text("the name of an engine"), '"cpu", "cuda", "cuda:1" (a device by number) or "sim": the result is then a promise.'),
  ...workTable,
};

/** k, if it is not said. */
export const usualNeighbours = 3;

const estimatorTable = {
  /** k, the neighbour whose distance sets the scale; default 3. */
  neighbours: option(count, usualNeighbours, "k, the neighbour whose distance sets the scale."),
  /**
   * Rows within so many steps of each other in time are no neighbours; default 0. Series that
   * change slowly need some (Theiler 1986).
   */
  exclusionWindow: option(whole(), 0, "Rows within so many steps of each other are no neighbours."),
  /**
   * Whether each column is first taken less its mean and over its standard deviation; default true.
   * The estimate depends on the scales of the columns.
   */
  standardise: option(flag, true, "Takes each column less its mean and over its standard deviation."),
  /** Surrogates for the test of significance; default 0, no test. */
  surrogates: option(whole({ atLeast: 0, atMost: 1_000_000 }), 0, "Surrogates for the test of significance; 0 is no test."),
  /** Draws the surrogates. Default "spillway". */
  seed: option(seed, "spillway", "Draws the surrogates."),
};
type Asked = Resolved<typeof estimatorTable & typeof engineTable>;

/** The estimator by Kraskov, Stögbauer and Grassberger (2004), and its surrogates. */
export interface NearestNeighbourOptions extends InputOf<typeof estimatorTable> {}

const informationTable = {
  ...estimatorTable,
  /** Z of I(X; Y | Z), T x C: what is known already. */
  given: optional(seriesOf("T x C"), "Z of I(X; Y | Z): what is known already."),
  /**
   * 1 (default): one scale for x and y. 2: a scale of its own for each, less biased if x and y
   * depend strongly on each other. Without `given`.
   */
  algorithm: option(
    checked<1 | 2>("1 or 2", (value) => value === 1 || value === 2, { enum: [1, 2] }),
    1,
    "1: one scale for x and y; 2: one for each.",
  ),
};
export const neighbourInformationTable = { ...informationTable, ...engineTable };

/** What is known beside, and which algorithm. */
export interface NearestNeighbourInformationOptions extends InputOf<typeof informationTable> {}

/** An estimate by nearest neighbours. */
export interface NearestNeighbourInformation {
  /** In nats. It may come out slightly below 0 if there is nothing to find. */
  readonly nats: number;
  /** `nats` less the mean of the surrogates: free of their bias. Undefined without surrogates. */
  readonly effectiveNats: number | undefined;
  /** Surrogates that were asked for. */
  readonly surrogates: number;
  readonly standardError: Significance["standardError"];
  readonly pValue: Significance["pValue"];
  /** The terms whose mean is `nats`, one for each row that took part. */
  readonly local: Float64Array;
}

/**
 * Mutual information of x and y, T x C and T x D, in nats, with z = `given` that which goes beyond
 * z:
 *
 *     I(X; Y)     = psi(k) + psi(n) - <psi(n_x + 1) + psi(n_y + 1)>                 algorithm 1
 *     I(X; Y)     = psi(k) - 1/k + psi(n) - <psi(n_x) + psi(n_y)>                   algorithm 2
 *     I(X; Y | Z) = psi(k) + <psi(n_z + 1) - psi(n_xz + 1) - psi(n_yz + 1)>
 *
 * in the maximum norm, psi the digamma function. Counts of 1 and of the last are of rows strictly
 * nearer than the k-th neighbour in (x, y, z); those of 2 go up to and with the largest distance of
 * the first k neighbours in x alone, in y alone. Neighbours at the same distance come in the order
 * of their rows. A row that equals k others, as in series of few values, has m, the number of rows
 * that are equal to it in all columns, itself with them, in place of k, and m_x, m_y, ... in place
 * of n_x + 1, n_y + 1, ...: of discrete series the estimate is that of counting. In a column that
 * holds a value twice, such as a rounded one, values are told apart by noise of at most 2^-20
 * standard deviations from a fixed seed, as Kraskov et al. advise. The order of the sums is that of
 * docs/numerics.md, rule 14.
 *
 * Rows are taken for independent draws: for two slow series that have nothing to do with each other
 * the estimate is too high (0.27 nats for AR(1) series with coefficient 0.98 and 500 values, 0.04
 * with 0.9). Surrogates, which keep the memory of x, tell; `exclusionWindow` helps. Cost grows with
 * n log n, for each surrogate again. Sources: Kraskov, Stögbauer and Grassberger 2004, "Estimating
 * mutual information", equations 8 and 9; Frenzel and Pompe 2007, "Partial mutual information for
 * coupling analysis of multivariate time series".
 * @throws ArgumentError on series of different lengths or too short for k
 */
export function nearestNeighbourInformation(
  x: MatrixLike,
  y: MatrixLike,
  options: NearestNeighbourInformationOptions & NearestNeighbourEngineOptions,
): Promise<NearestNeighbourInformation>;
export function nearestNeighbourInformation(
  x: MatrixLike,
  y: MatrixLike,
  options?: NearestNeighbourInformationOptions,
): NearestNeighbourInformation;
export function nearestNeighbourInformation(
  x: MatrixLike,
  y: MatrixLike,
  options: NearestNeighbourInformationOptions = {},
): NearestNeighbourInformation | Promise<NearestNeighbourInformation> {
  const asked = resolve(neighbourInformationTable, options);
  const [a, b, z] = checkedColumns({ x, y, given: asked.given }, { ...asked, least: asked.neighbours + 1 });
  if (asked.algorithm === 2 && asked.given !== undefined)
    throw ArgumentError.because("algorithm 2 takes no `given`: conditional information is by algorithm 1", { field: "algorithm" });
  return tested(a, { y: b, z, each: asked.algorithm === 2 }, asked);
}

/** Options of pairs without an engine, and with one. */
export const transferTable = { ...estimatorTable, ...gaussianTransferTable };
export const neighbourTransferTable = { ...transferTable, ...engineTable };

/** Which past values take part, and what else is known. */
export interface NearestNeighbourTransferOptions extends NearestNeighbourOptions, GaussianTransferOptions {}

/**
 * Transfer entropy from source x to target y, I(y(t); x(t - lag), ..., x(t - lag - sourceHistory +
 * 1) | y(t - 1), ..., y(t - targetHistory), given(t - 1)) in nats, by the conditional estimator of
 * {@link nearestNeighbourInformation}. Source and target may have several columns. Without `given`
 * an influence through a third series, and a common cause, show as transfer too.
 *
 * Surrogates close the rows of the source's past to a ring, cut it into four and put the pieces
 * elsewhere: that keeps the source's memory, but not its tie to the target's past. Sources:
 * Schreiber 2000, "Measuring information transfer"; Frenzel and Pompe 2007.
 * @throws ArgumentError on series of different lengths or too short
 */
export function nearestNeighbourTransferEntropy(
  source: MatrixLike,
  target: MatrixLike,
  options: NearestNeighbourTransferOptions & NearestNeighbourEngineOptions,
): Promise<NearestNeighbourInformation>;
export function nearestNeighbourTransferEntropy(
  source: MatrixLike,
  target: MatrixLike,
  options?: NearestNeighbourTransferOptions,
): NearestNeighbourInformation;
export function nearestNeighbourTransferEntropy(
  source: MatrixLike,
  target: MatrixLike,
  options: NearestNeighbourTransferOptions = {},
): NearestNeighbourInformation | Promise<NearestNeighbourInformation> {
  const asked = resolve(neighbourTransferTable, options);
  const { lag, sourceHistory, targetHistory, neighbours, given } = asked;
  const first = firstRow(asked);
  const [x, y, z] = checkedColumns({ source, target, given }, { ...asked, least: first + neighbours + 1 });
  const past = [...delayedColumns(y, first, 1, targetHistory), ...delayedColumns(z, first, 1, 1)];
  return tested(delayedColumns(x, first, lag, sourceHistory), { y: delayedColumns(y, first, 0, 1), z: past }, asked);
}

const storageTable = {
  ...estimatorTable,
  /** Past values; default 1. */
  history: option(count, 1, "Past values that take part."),
};
export const activeStorageTable = { ...storageTable, ...engineTable };

/** How much of the past takes part. */
export interface ActiveStorageOptions extends InputOf<typeof storageTable> {}

/**
 * Active information storage, I(y(t); y(t - 1), ..., y(t - history)) in nats: how much of its next
 * value a series, T x C, holds itself. By algorithm 1 of {@link nearestNeighbourInformation}.
 * Source: Lizier, Prokopenko and Zomaya 2012, "Local measures of information storage in complex
 * distributed computation", Information Sciences 208.
 * @throws ArgumentError on a series that is too short
 */
export function activeInformationStorage(
  series: MatrixLike,
  options: ActiveStorageOptions & NearestNeighbourEngineOptions,
): Promise<NearestNeighbourInformation>;
export function activeInformationStorage(series: MatrixLike, options?: ActiveStorageOptions): NearestNeighbourInformation;
export function activeInformationStorage(
  series: MatrixLike,
  options: ActiveStorageOptions = {},
): NearestNeighbourInformation | Promise<NearestNeighbourInformation> {
  const asked = resolve(activeStorageTable, options);
  const { history } = asked;
  const [y] = checkedColumns({ series }, { ...asked, least: history + asked.neighbours + 1 });
  return tested(delayedColumns(y!, history, 1, history), { y: delayedColumns(y!, history, 0, 1) }, asked);
}

/** The estimate, and what surrogates of x say of it: at once, or on an engine. */
function tested(
  x: Columns,
  { y, z = [], each = false }: { readonly y: Columns; readonly z?: Columns; readonly each?: boolean },
  asked: Asked,
): NearestNeighbourInformation | Promise<NearestNeighbourInformation> {
  const estimator = new NeighbourEstimator({ y, z, each, k: asked.neighbours, window: asked.exclusionWindow });
  const xs = formsOf(x, asked);
  if (asked.engine !== undefined) return testedOn(asked.engine, estimator, xs, asked);
  if (asked.signal || asked.onProgress)
    throw ArgumentError.because("signal and onProgress take `engine`: without it the result is there at once", { field: "signal" });
  const estimate = estimator.here();
  const { nats, local } = estimate(x);
  const test = surrogateTest(nats, asked.surrogates);
  for (xs.next(); !test.isDone(); ) test.add(estimate(xs.next().value!).nats);
  return informationOf(nats, local(), test, asked);
}

async function testedOn(
  name: string,
  estimator: NeighbourEstimator,
  xs: Generator<Columns>,
  asked: Asked,
): Promise<NearestNeighbourInformation> {
  const { surrogates, signal } = asked;
  const { engine } = await chooseEngine(name);
  const pacer = new WorkPacer(asked, 1 + surrogates);
  let first: NeighbourEstimate | undefined;
  let test: SurrogateTest | undefined;
  let done = 0;
  for await (const found of estimator.on(engine, xs, { signal })) {
    if (test) test.add(found.nats);
    else {
      first = found;
      test = surrogateTest(found.nats, surrogates);
    }
    done++;
    if (test.isDone()) break;
    if (pacer.due()) await pacer.pause(done);
    pacer.check(done);
  }
  pacer.finish();
  return informationOf(first!.nats, first!.local(), test!, asked);
}

/** x, and then its surrogates. */
function* formsOf(x: Columns, { surrogates, seed: drawnFrom }: Asked): Generator<Columns> {
  yield x;
  const rows = Uint32Array.from({ length: x[0]!.length }, (_, i) => i);
  const draws = new RandomStream(seedKeys(drawnFrom).weights, streams.surrogates);
  for (let draw = 0; draw < surrogates; draw++) {
    const order = cutAndTurned(rows, draws, draw);
    yield x.map((column) => {
      const moved = new Float64Array(order.length);
      for (let i = 0; i < order.length; i++) moved[i] = column[order[i]!]!;
      return moved;
    });
  }
}

function informationOf(nats: number, local: Float64Array, test: SurrogateTest, { surrogates }: Asked): NearestNeighbourInformation {
  const { mean, standardError, pValue } = test.result();
  return { nats, effectiveNats: mean === undefined ? undefined : nats - mean, surrogates, standardError, pValue, local };
}
