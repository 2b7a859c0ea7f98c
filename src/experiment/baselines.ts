// What a series predicts about itself without a model: the score to beat.
import { ArgumentError } from "../core/errors.js";
import { seasonalNaive } from "../metrics/index.js";
import type { Matrix } from "../numerics/index.js";
import type { BaselineDescription } from "./description.js";
import { columnMeans, repeated } from "./rows.js";

/** The name of a baseline in tables. */
export function baselineName(baseline: BaselineDescription): string {
  return typeof baseline === "object" ? `seasonal naive${baseline.drift ? " with drift" : ""} (${baseline.seasonalNaive})` : baseline;
}

/**
 * What a baseline forecasts for rows `start` to `start` + `steps` of a series, knowing the rows
 * before `start`.
 * @param training the rows the mean is taken of.
 */
export function forecastBaseline(
  baseline: BaselineDescription,
  series: Matrix<Float64Array>,
  start: number,
  steps: number,
  training: Matrix<Float64Array>,
): Matrix {
  if (baseline === "mean") return repeated(columnMeans(training), steps);
  const period = periodOf(baseline);
  const said = seasonalNaive(series.subarray(0, start), { period, steps });
  if (typeof baseline !== "object" || !baseline.drift) return said;
  const drift = lastDrift(series, start, period);
  for (let i = 0; i < said.data.length; i++) {
    const seasons = Math.floor(Math.floor(i / said.cols) / period) + 1;
    said.data[i] = said.data[i]! + seasons * drift[i % said.cols]!;
  }
  return said;
}

/**
 * What a baseline says, one prediction a row, of rows `start` to `start` + `rows`, each knowing the
 * rows up to `ahead` before it.
 * @throws ArgumentError for a season shorter than the look ahead.
 */
export function predictBaseline(
  baseline: BaselineDescription,
  series: Matrix<Float64Array>,
  start: number,
  rows: number,
  ahead: number,
  training: Matrix<Float64Array>,
): Matrix {
  if (baseline === "mean") return repeated(columnMeans(training), rows);
  const lag = baseline === "persistence" ? ahead : periodOf(baseline);
  if (lag < ahead)
    throw new ArgumentError("baselines", baseline, `a season of at least ${ahead} rows, which is how far ahead the prediction is`);
  if (lag > start) throw new ArgumentError("baselines", baseline, `a season of at most ${start} rows, which is where the test part begins`);
  const said = series.slice(start - lag, start - lag + rows);
  if (typeof baseline !== "object" || !baseline.drift) return said;
  for (let t = 0; t < rows; t++) {
    const drift = lastDrift(series, start + t - ahead + 1, lag);
    for (let c = 0; c < said.cols; c++) said.data[t * said.cols + c] = said.data[t * said.cols + c]! + drift[c]!;
  }
  return said;
}

/**
 * The mean change of each column from the season before the last known one to the last known one,
 * which ends before row `end`.
 */
function lastDrift(series: Matrix, end: number, period: number): Float64Array {
  const { cols } = series;
  if (end < 2 * period)
    throw new ArgumentError(
      "baselines",
      { seasonalNaive: period, drift: true },
      `a season of at most ${Math.floor(end / 2)} rows: drift takes two seasons before the test part`,
    );
  const drift = new Float64Array(cols);
  for (let t = end - period; t < end; t++) {
    for (let c = 0; c < cols; c++) drift[c] = drift[c]! + (series.data[t * cols + c]! - series.data[(t - period) * cols + c]!) / period;
  }
  return drift;
}

function periodOf(baseline: BaselineDescription): number {
  return typeof baseline === "object" ? baseline.seasonalNaive : 1;
}
