// The metrics that have a name.
import { callback, choice } from "@spillway/core/options.js";
import { Registry } from "@spillway/core/registry.js";
import type { Pair } from "./check.js";
import { accuracy } from "./classification.js";
import { maeOf, mseOf, normOf, nrmseOf, r2Of } from "./errors.js";
import { forecastMetrics } from "./forecast-metrics.js";
import type { ClassMetric, Metric, SeriesMetric } from "./metric-kinds.js";
import { validPredictionTime } from "./valid-prediction-time.js";

export type * from "./metric-kinds.js";

/** What stands for a case that was given no label. */
export const noLabel = "(none)";

const scaledError: SeriesMetric["score"] = (target, prediction, _, { norm, reference }) =>
  nrmseOf({ target, prediction }, normOf(reference ?? target, norm));
const ofPair = (score: (pair: Pair) => number): SeriesMetric["score"] => {
  return (target, prediction) => score({ target, prediction });
};
const rmse = ofPair((pair) => Math.sqrt(mseOf(pair)));
const ofCells = { options: {}, better: "lower", takesMissing: true } as const;
const ofClasses = { options: {}, better: "lower", of: "classes" } as const;

const wrong: ClassMetric["score"] = (target, prediction) => target.filter((label, b) => label !== prediction[b]).length;
const missed: ClassMetric["score"] = (_, prediction) => prediction.filter((label) => label === noLabel).length;

/** Every metric, by name. */
export const metrics: Registry<Metric> = new Registry<Metric>(
  {
    kind: "metric",
    register: "registerMetric",
    needs: {
      of: choice("series", "horizon", "start", "forecasts", "classes"),
      better: choice("lower", "higher"),
      score: callback("a function of target and prediction"),
    },
  },
  [
    { ...ofCells, name: "nrmse", description: "Normalised root mean squared error.", of: "series", score: scaledError },
    { ...ofCells, name: "rmse", description: "Root mean squared error.", of: "series", score: rmse },
    { ...ofCells, name: "mse", description: "Mean squared error.", of: "series", score: ofPair(mseOf) },
    { ...ofCells, name: "mae", description: "Mean absolute error.", of: "series", score: ofPair(maeOf) },
    { ...ofCells, name: "r2", description: "Coefficient of determination.", better: "higher", of: "series", score: ofPair(r2Of) },
    ...forecastMetrics,
    { ...ofCells, name: "nrmseAtHorizon", description: "nrmse of the last step of every start.", of: "horizon", score: scaledError },
    { ...ofCells, name: "rmseAtHorizon", description: "rmse of the last step of every start.", of: "horizon", score: rmse },
    {
      name: "validPredictionTime",
      description: "How long a forecast stays good.",
      options: {},
      better: "higher",
      of: "start",
      unit: ({ dt, lyapunovExponent }) => (dt !== undefined && lyapunovExponent !== undefined ? "Lyapunov times" : "steps"),
      score(target, prediction, _, { threshold, reference, dt, lyapunovExponent }) {
        const time = validPredictionTime(target, prediction, { threshold, reference, dt, lyapunovExponent });
        return time.lyapunovTimes ?? time.steps;
      },
    },
    { ...ofClasses, name: "accuracy", description: "The share of cases with the right class.", better: "higher", score: accuracy },
    { ...ofClasses, name: "errors", description: "Cases with a wrong class.", score: wrong },
    { ...ofClasses, name: "missed", description: "Cases that were given no label.", score: missed },
  ],
);

/**
 * Adds a metric: experiments find it by its name.
 * @throws ArgumentError for a name that another metric has, or a field that is missing or malformed
 */
export function registerMetric(metric: Metric): void {
  metrics.register(metric);
}
