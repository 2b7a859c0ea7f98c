// Errors of a forecast in relation to its series: symmetric, scaled, and against Naive2, as the M4
// competition measures them (Makridakis, Spiliotis and Assimakopoulos 2020, International Journal
// of Forecasting 36). Each is the mean over columns of a column's own score.
import { checkHas } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { anything, given, type InputOf, type Kind, option, resolve, whole } from "@spillway/core/options.js";
import { asMatrix, type Matrix, type MatrixLike } from "@spillway/numerics";
import { type ColumnScore, checkFinite, mean, meanOverColumns, type Term } from "./check.js";

export const scaleTable = {
  /** x: the rows before the forecast, T' x D; NaN was not measured. */
  training: given(anything as Kind<MatrixLike>, "The rows before the forecast."),
  /** m: rows in a season. Default 1. */
  season: option(whole({ atLeast: 1 }), 1, "Rows in a season."),
};

/** What errors are divided by: the mean step of the training rows from season to season. */
export interface ScaleOptions extends InputOf<typeof scaleTable> {}

/**
 * Symmetric mean absolute percentage error, 0 to 200: the mean of 200 |y - p| / (|y| + |p|), 0 if
 * both are 0.
 * @param target y, T x D; NaN was not measured and does not count.
 * @param prediction p, T x D.
 * @throws ArgumentError on different shapes, no values, or a prediction that is not finite
 */
export function smape(target: MatrixLike, prediction: MatrixLike): number {
  return columnMean("smape", target, prediction, (y, p) => (y === p ? 0 : (200 * Math.abs(y - p)) / (Math.abs(y) + Math.abs(p))), mean);
}

/**
 * Mean absolute scaled error (Hyndman and Koehler 2006): the mean of |y - p| over S, the mean of
 * |x_t - x_{t-m}| over the training rows. NaN if S is 0 or there are no more than m rows.
 * @param target y, T x D; NaN was not measured and does not count.
 * @param prediction p, T x D.
 * @throws ArgumentError on different shapes, no values, or a prediction that is not finite
 */
export function mase(target: MatrixLike, prediction: MatrixLike, options: ScaleOptions): number {
  const scales = trainingScales("mase", target, options, Math.abs);
  return columnMean(
    "mase",
    target,
    prediction,
    (y, p) => Math.abs(y - p),
    (errors, _, c) => mean(errors) / scales[c]!,
  );
}

/**
 * Root mean squared scaled error (M5): the root of the mean of (y - p)^2 over the mean of (x_t -
 * x_{t-m})^2. NaN, and arguments, as `mase`.
 */
export function rmsse(target: MatrixLike, prediction: MatrixLike, options: ScaleOptions): number {
  const scales = trainingScales("rmsse", target, options, (step) => step * step);
  return columnMean(
    "rmsse",
    target,
    prediction,
    (y, p) => (y - p) ** 2,
    (squares, _, c) => Math.sqrt(mean(squares) / scales[c]!),
  );
}

/** The mean over columns of a score, for a prediction that is finite. */
function columnMean(metric: string, target: MatrixLike, prediction: MatrixLike, term: Term, score: ColumnScore): number {
  checkFinite(metric, "prediction", asMatrix(prediction, "prediction"));
  return meanOverColumns(metric, target, prediction, term, score);
}

/** Errors of a forecast of one series. */
export interface SeriesErrors {
  readonly smape: number;
  readonly mase: number;
}

/**
 * Overall weighted average (M4): half of sMAPE / sMAPE of Naive2 + MASE / MASE of Naive2, where
 * each is the mean over series first. Below 1 is better than Naive2.
 * @param errors of each series. @param naive2 those of Naive2 on the same series
 * @throws ArgumentError for none, or another number of series
 */
export function owa(errors: readonly SeriesErrors[], naive2: readonly SeriesErrors[]): number {
  for (const [name, list] of Object.entries({ errors, naive2 })) checkHas(name, list, "a list of the errors of each series", "map");
  if (errors.length === 0 || errors.length !== naive2.length)
    throw ArgumentError.shape(`errors is of ${errors.length} series and naive2 of ${naive2.length}; they take as many, and at least one`, {
      of: "owa",
      field: "errors",
    });
  const ratio = (name: keyof SeriesErrors) => mean(errors.map((each) => each[name])) / mean(naive2.map((each) => each[name]));
  return (ratio("smape") + ratio("mase")) / 2;
}

/**
 * The mean size of the steps over a season of each column of the training rows; NaN if it is 0 or
 * no step was measured. @throws ArgumentError for training rows of other columns
 */
export function trainingScales(metric: string, target: MatrixLike, options: ScaleOptions, size: (step: number) => number): Float64Array {
  const { training, season } = resolve(scaleTable, options, metric);
  const rows: Matrix = asMatrix(training, "training");
  const { cols } = asMatrix(target, "target");
  if (rows.cols !== cols)
    throw ArgumentError.shape(`training has ${rows.cols} columns and target ${cols}; they take as many`, { of: metric, field: "training" });
  return Float64Array.from({ length: cols }, (_, c) => {
    const column = rows.column(c);
    const steps = Float64Array.from({ length: Math.max(0, column.length - season) }, (_, t) => size(column[t + season]! - column[t]!));
    return mean(steps.filter((step) => !Number.isNaN(step))) || Number.NaN;
  });
}
