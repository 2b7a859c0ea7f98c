// The metrics that have a name.
import { callback, choice } from "@spillway/core/options.js";
import { Registry } from "@spillway/core/registry.js";
import { accuracy } from "./classification.js";
import { maeOf, mseOf } from "./errors.js";
import { forecastMetrics } from "./forecast-metrics.js";
import type { Metric, SeriesMetric } from "./metric-kinds.js";
import { normOf, nrmseOf } from "./nrmse.js";
import { r2Of } from "./r2.js";
import { validPredictionTime } from "./valid-prediction-time.js";

export type * from "./metric-kinds.js";

/** What stands for a case that was given no label. */
export const noLabel = "(none)";

const scaledError: SeriesMetric["score"] = (target, prediction, _, { norm, reference }) =>
  nrmseOf({ target, prediction }, normOf(reference ?? target, norm));
const rmse: SeriesMetric["score"] = (target, prediction) => Math.sqrt(mseOf({ target, prediction }));
const simple = { options: {}, better: "lower" } as const;
const ofCells = { ...simple, takesMissing: true } as const;

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
    {
      ...ofCells,
      name: "mse",
      description: "Mean squared error.",
      of: "series",
      score: (target, prediction) => mseOf({ target, prediction }),
    },
    {
      ...ofCells,
      name: "mae",
      description: "Mean absolute error.",
      of: "series",
      score: (target, prediction) => maeOf({ target, prediction }),
    },
    {
      ...ofCells,
      name: "r2",
      description: "Coefficient of determination.",
      better: "higher",
      of: "series",
      score: (target, prediction) => r2Of({ target, prediction }),
    },
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
    {
      name: "accuracy",
      description: "The share of cases with the right class.",
      options: {},
      better: "higher",
      of: "classes",
      score: (y, p) => accuracy(y, p),
    },
    {
      ...simple,
      name: "errors",
      description: "Cases with a wrong class.",
      of: "classes",
      score: (y, p) => count(y, (label, b) => label !== p[b]),
    },
    {
      ...simple,
      name: "missed",
      description: "Cases that were given no label.",
      of: "classes",
      score: (_, p) => count(p, (label) => label === noLabel),
    },
  ],
);

/**
 * Adds a metric: experiments find it by its name.
 * @throws ArgumentError for a name that another metric has, or a field that is missing or malformed
 */
export function registerMetric(metric: Metric): void {
  metrics.register(metric);
}

function count(labels: readonly string[], counts: (label: string, b: number) => boolean): number {
  return labels.filter(counts).length;
}
