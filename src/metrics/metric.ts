// What a metric is to experiments, which name it, and the metrics that have a name.
import { callback, choice } from "@spillway/core/options.js";
import { type Part, Registry } from "@spillway/core/registry.js";
import type { Matrix } from "@spillway/numerics";
import { accuracy } from "./classification.js";
import { maeOf, mseOf } from "./errors.js";
import { forecastMetrics } from "./forecast-metrics.js";
import { type NrmseNorm, normOf, nrmseOf } from "./nrmse.js";
import { r2Of } from "./r2.js";
import { validPredictionTime } from "./valid-prediction-time.js";

/** One of the forecasts whose rows are scored, one after the other. */
export interface ScoredForecast {
  readonly rows: number;
  /** The rows before the first forecast that train; NaN was not measured. */
  readonly training: Matrix;
  /** Rows in a season; 1 without. */
  readonly season: number;
  /** What Naive2 says of the same rows. */
  naive2(): Matrix;
  /** A quantile of the forecast; undefined if it has none. */
  readonly quantile?: ((level: number) => Matrix) | undefined;
}

/** What an experiment knows beside target and prediction. */
export interface MetricContext {
  /** What nrmse divides by. */
  readonly norm: NrmseNorm;
  /** The error that ends the valid prediction time. */
  readonly threshold: number;
  /** Of a forecast, the training part: a horizon is too short to measure a spread on. */
  readonly reference?: Matrix | undefined;
  /** Of "forecasts" metrics: those that the rows are of. */
  readonly forecasts?: readonly ScoredForecast[] | undefined;
  /** Time between two rows, if it is known. */
  readonly dt?: number | undefined;
  /** Largest Lyapunov exponent per unit of the time of dt, if it is known. */
  readonly lyapunovExponent?: number | undefined;
}

interface MetricPart extends Part {
  /** Whether a lower or a higher score is better. */
  readonly better: "lower" | "higher";
  /** The unit of the score; left out, that of the data, or none. */
  unit?(context: Pick<MetricContext, "dt" | "lyapunovExponent">): string;
}

/** A score of predicted rows, T x D. */
export interface SeriesMetric extends MetricPart {
  /**
   * "series": all predicted rows; of a forecast, those of all starts, one after the other.
   * "horizon": the last row of every start of a forecast. "start": every start of a forecast by
   * itself; the score is the median over them, and a prediction may be not finite. "forecasts": as
   * "series", of a forecast task alone, with `forecasts` in its context.
   */
  readonly of: "series" | "horizon" | "start" | "forecasts";
  /**
   * Whether it leaves out values of the target that were not measured, which are NaN. Else it is
   * given the rows that were measured in every column.
   */
  readonly takesMissing?: boolean | undefined;
  /** `options` are checked by the table and filled in. */
  score(target: Matrix, prediction: Matrix, options: object, context: MetricContext): number;
}

/** A score of predicted classes. */
export interface ClassMetric extends MetricPart {
  readonly of: "classes";
  /** A case that was given no label has "(none)". */
  score(target: readonly string[], prediction: readonly string[], options: object): number;
}

/** A score that experiments can name. */
export type Metric = SeriesMetric | ClassMetric;

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
