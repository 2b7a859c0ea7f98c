// What a metric is to experiments, which name it.
import type { Part } from "@spillway/core/registry.js";
import type { Matrix } from "@spillway/numerics";
import type { NrmseNorm } from "./errors.js";

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
  /** Whether it scores quantiles of `forecasts`; NaN if they have none. */
  readonly takesQuantiles?: boolean | undefined;
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
