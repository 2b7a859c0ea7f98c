// Scores of forecast quantiles and bands. Those of several columns are the mean over columns of a
// column's own score; values that were not measured (NaN) do not count.
import { checkHas } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { number } from "@spillway/core/options.js";
import { asMatrix, type MatrixLike } from "@spillway/numerics";
import { mean, meanOverColumns, sameShape, type Term } from "./check.js";
import { type ScaleOptions, trainingScales } from "./forecast-errors.js";

const level = number({ above: 0, below: 1 });

/** A quantile of a forecast: values that what comes is below of with probability `level`. */
export interface ForecastQuantile {
  readonly level: number;
  /** T x D. */
  readonly values: MatrixLike;
}

/** A band around a forecast, T x D each. */
export interface BandEnds {
  readonly lower: MatrixLike;
  readonly upper: MatrixLike;
}

/**
 * The pinball loss of a quantile f: the mean of 2 max(q (y - f), (q - 1)(y - f)), in the units of
 * the data. Of the median it is the mean absolute error.
 * @param target y, T x D. @throws ArgumentError on different shapes, no values, or a level that is
 * not between 0 and 1
 */
export function pinball(target: MatrixLike, quantile: ForecastQuantile): number {
  const { level: q, values } = checkHas("quantile", quantile, "a quantile", "level", "values");
  return meanOverColumns("pinball", target, values, pinballOf(q), mean);
}

/**
 * The continuous ranked probability score from quantiles: the mean of their pinball losses, a
 * Riemann sum. It depends on the levels; with those that are given state them.
 * @throws ArgumentError as `pinball`, or for no quantile
 */
export function crps(target: MatrixLike, quantiles: readonly ForecastQuantile[]): number {
  checkSome("crps", quantiles);
  return mean(quantiles.map((each) => pinball(target, each)));
}

/**
 * Weighted quantile loss: the sum of pinball losses, averaged over quantiles, over the sum of |y|.
 * Of several series, give their rows one after the other.
 * @throws ArgumentError as `crps`
 */
export function wql(target: MatrixLike, quantiles: readonly ForecastQuantile[]): number {
  checkSome("wql", quantiles);
  return mean(
    quantiles.map(({ level: q, values }) =>
      meanOverColumns("wql", target, values, pinballOf(q), (losses, y) => mean(losses) / mean(y.map(Math.abs))),
    ),
  );
}

/**
 * Mean scaled interval score (M4): the mean of `winklerScore` over S of `mase`.
 * @throws ArgumentError as `winklerScore` and `mase`
 */
export function msis(target: MatrixLike, band: BandEnds, share: number, options: ScaleOptions): number {
  const scales = trainingScales("msis", target, options, Math.abs);
  return meanOverColumns("msis", target, band.lower, winklerOf(target, band, share), (scores, _, c) => mean(scores) / scales[c]!);
}

/**
 * The mean Winkler score of bands (Winkler 1972): (u - l) + 2 / a max(0, l - y) + 2 / a max(0, y -
 * u), a = 1 - level, over values that were measured (not NaN). Smaller is better: narrow, and what
 * lies outside not far.
 */
export function winklerScore(target: MatrixLike, band: BandEnds, share: number): number {
  checkHas("band", band, "a band", "lower", "upper");
  return meanOverValues(target, band.lower, winklerOf(target, band, share));
}

/**
 * The share of values inside their band, ends counted as inside; of those that were measured (not
 * NaN).
 */
export function coverage(target: MatrixLike, band: BandEnds): number {
  const upper = endOf(target, band);
  return meanOverValues(target, band.lower, (y, l, i) => (y >= l && y <= upper[i]! ? 1 : 0));
}

/** The mean width of a band, over measured values; in the units of the data. */
export function sharpness(target: MatrixLike, band: BandEnds): number {
  const upper = endOf(target, band);
  return meanOverColumns("sharpness", target, band.lower, (_, l, i) => upper[i]! - l, mean);
}

function pinballOf(q: number): Term {
  level.read(q, "level");
  return (y, f) => 2 * Math.max(q * (y - f), (q - 1) * (y - f));
}

function winklerOf(target: MatrixLike, band: BandEnds, share: number): Term {
  const upper = endOf(target, band);
  const miss = 2 / (1 - level.read(share, "level"));
  return (y, l, i) => upper[i]! - l + miss * Math.max(0, l - y) + miss * Math.max(0, y - upper[i]!);
}

function endOf(target: MatrixLike, band: BandEnds): ArrayLike<number> {
  const { lower, upper } = checkHas("band", band, "a band", "lower", "upper");
  const values = asMatrix(target, "target");
  for (const [name, given] of Object.entries({ lower, upper })) {
    const end = asMatrix(given, name);
    if (end.rows !== values.rows || end.cols !== values.cols)
      throw ArgumentError.shape(
        `${name} is ${end.rows} x ${end.cols} and target ${values.rows} x ${values.cols}; they take the same shape`,
        {
          field: name,
        },
      );
  }
  return asMatrix(upper, "upper").data;
}

function checkSome(metric: string, quantiles: readonly ForecastQuantile[]): void {
  checkHas("quantiles", quantiles, "a list of quantiles", "map");
  if (quantiles.length === 0) throw ArgumentError.shape("quantiles is empty; it takes at least one", { of: metric, field: "quantiles" });
}

/** The mean of a term over all measured values. */
function meanOverValues(target: MatrixLike, said: MatrixLike, term: Term): number {
  const { target: y, prediction } = sameShape("coverage", target, said);
  let sum = 0;
  let measured = 0;
  for (let i = 0; i < y.data.length; i++) {
    if (Number.isNaN(y.data[i]!)) continue;
    measured++;
    sum += term(y.data[i]!, prediction.data[i]!, i);
  }
  return sum / measured;
}
