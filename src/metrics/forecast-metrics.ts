// The metrics of forecasts that experiments can name: from the scores of forecast-errors.ts and
// quantile-errors.ts, those of each forecast and the mean over them.
import { ArgumentError } from "@spillway/core/errors.js";
import { number, option } from "@spillway/core/options.js";
import { type Matrix, stackRows } from "@spillway/numerics";
import { mean } from "./check.js";
import { mase, owa, rmsse, type ScaleOptions, type SeriesErrors, smape } from "./forecast-errors.js";
import type { MetricContext, ScoredForecast, SeriesMetric } from "./metric-kinds.js";
import { type BandEnds, coverage, crps, type ForecastQuantile, msis, pinball, sharpness, wql } from "./quantile-errors.js";

/** A forecast with what came of its rows and what was predicted. */
interface ForecastPart {
  readonly target: Matrix;
  readonly prediction: Matrix;
  readonly forecast: ScoredForecast;
}

type Options = { readonly level?: number };

/** The forecasts with a measured value. @throws ArgumentError for rows of no forecasts */
function partsOf(target: Matrix, prediction: Matrix, { forecasts }: MetricContext): ForecastPart[] {
  if (!forecasts) throw ArgumentError.because("this metric scores forecasts, and these rows are of none");
  let from = 0;
  return forecasts.flatMap((forecast) => {
    const start = from;
    from += forecast.rows;
    const own = target.subarray(start, from);
    return own.data.every(Number.isNaN) ? [] : [{ forecast, target: own, prediction: prediction.subarray(start, from) }];
  });
}

/** The mean over forecasts that have such a score; one after a constant training part has none. */
function meanOfKnown(scores: readonly number[]): number {
  return mean(scores.filter((score) => !Number.isNaN(score)));
}

function ofEach(score: (part: ForecastPart) => number): SeriesMetric["score"] {
  return (target, prediction, _, context) => meanOfKnown(partsOf(target, prediction, context).map(score));
}

/** The mean over forecasts of a score of their bands; NaN without quantiles. */
function ofBands(score: (target: Matrix, band: BandEnds, level: number, forecast: ScoredForecast) => number): SeriesMetric["score"] {
  return (target, prediction, { level = Number.NaN }: Options, context) =>
    meanOfKnown(
      partsOf(target, prediction, context).map(({ target: own, forecast }) => {
        const { quantile } = forecast;
        return quantile ? score(own, { lower: quantile((1 - level) / 2), upper: quantile((1 + level) / 2) }, level, forecast) : Number.NaN;
      }),
    );
}

const deciles = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/** A score of quantiles of the rows of all forecasts; NaN without quantiles. */
function ofQuantiles(score: (target: Matrix, quantiles: readonly ForecastQuantile[]) => number): SeriesMetric["score"] {
  return (target, prediction, { level }: Options, context) => {
    const parts = partsOf(target, prediction, context);
    if (parts.some(({ forecast }) => !forecast.quantile)) return Number.NaN;
    const quantiles = (level === undefined ? deciles : [level]).map((q) => ({
      level: q,
      values: stackRows(parts.map(({ forecast }) => forecast.quantile!(q))),
    }));
    return score(stackRows(parts.map((part) => part.target)), quantiles);
  };
}

function scaleOf({ training, season }: ScoredForecast): ScaleOptions {
  return { training, season };
}

function errorsOf(target: Matrix, prediction: Matrix, forecast: ScoredForecast): SeriesErrors {
  return { smape: smape(target, prediction), mase: mase(target, prediction, scaleOf(forecast)) };
}

const shared = { options: {}, better: "lower", of: "forecasts", takesMissing: true } as const;
const ofShares = { ...shared, takesQuantiles: true } as const;
const ofLevel = (level: number, what: string) => ({ options: { level: option(number({ above: 0, below: 1 }), level, what) } });
const covered = ofLevel(0.9, "The share that the band is to cover.");

export const forecastMetrics: readonly SeriesMetric[] = [
  {
    ...{ ...shared, name: "smape", description: "Symmetric mean absolute percentage error." },
    score: ofEach(({ target, prediction }) => smape(target, prediction)),
  },
  {
    ...{ ...shared, name: "mase", description: "Mean absolute error over the mean step of a season of the training rows." },
    score: ofEach(({ target, prediction, forecast }) => mase(target, prediction, scaleOf(forecast))),
  },
  {
    ...{ ...shared, name: "rmsse", description: "Root mean squared error over that of steps of a season of the training rows." },
    score: ofEach(({ target, prediction, forecast }) => rmsse(target, prediction, scaleOf(forecast))),
  },
  {
    ...{ ...shared, name: "owa", description: "sMAPE and MASE over those of Naive2." },
    score: (target, prediction, _, context) => {
      const pairs = partsOf(target, prediction, context).map((part) => ({
        own: errorsOf(part.target, part.prediction, part.forecast),
        naive2: errorsOf(part.target, part.forecast.naive2(), part.forecast),
      }));
      const known = pairs.filter(({ own }) => !Number.isNaN(own.mase));
      if (known.length === 0) return Number.NaN;
      return owa(
        known.map(({ own }) => own),
        known.map(({ naive2 }) => naive2),
      );
    },
  },
  {
    ...{ ...ofShares, name: "pinball", description: "Pinball loss of a quantile.", ...ofLevel(0.5, "The quantile.") },
    score: ofQuantiles((target, [quantile]) => pinball(target, quantile!)),
  },
  {
    ...{ ...ofShares, name: "wql", description: "Weighted quantile loss over the quantiles 0.1 to 0.9." },
    score: ofQuantiles(wql),
  },
  {
    ...{ ...ofShares, name: "crps", description: "Continuous ranked probability score from the quantiles 0.1 to 0.9." },
    score: ofQuantiles(crps),
  },
  {
    ...{ ...ofShares, name: "msis", description: "Mean scaled interval score of bands.", ...covered },
    score: ofBands((target, band, level, forecast) => msis(target, band, level, scaleOf(forecast))),
  },
  {
    ...{ ...ofShares, name: "coverage", description: "The share of values inside their bands.", ...covered, better: "higher" },
    score: ofBands((target, band) => coverage(target, band)),
  },
  {
    ...{ ...ofShares, name: "sharpness", description: "The mean width of bands.", ...covered },
    score: ofBands((target, band) => sharpness(target, band)),
  },
];
