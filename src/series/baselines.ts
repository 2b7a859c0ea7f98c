// What a series predicts about itself without a model: the score to beat.
import { checkHas } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { columnMeans, Matrix } from "@spillway/numerics";
import { seasonalNaive } from "../metrics/index.js";
import { fitAutoregression } from "./autoregression.js";
import { fitClassical } from "./classical.js";
import { continueSmoothing } from "./exponential-smoothing.js";
import { validationShare } from "./validation-starts.js";

/**
 * What needs no reservoir. "persistence": the last known value. "mean": that of the training part.
 * "drift": the straight line through the first and the last known value. `seasonalNaive`: the last
 * known value of the same season. `autoregression`: ridge autoregression of so many rows
 * (`fitAutoregression`), fitted to the longest part, its penalty chosen there. `theta` and `ets`
 * (`fitClassical`) with so many rows in a season (1: none), fitted on the history of each forecast.
 */
export type SeriesBaseline = "persistence" | "mean" | "drift" | SeasonalBaseline | AutoregressionBaseline | ClassicalBaseline;

/** Theta or exponential smoothing with so many rows in a season; 1 for none. */
export type ClassicalBaseline = { readonly theta: number } | { readonly ets: number };

/** The rows of its history, the last, that a classical method is fitted on. */
export const mostClassicalRows = 3000;

/** The last known value of the same season. */
export interface SeasonalBaseline {
  /** Rows in a season. */
  readonly seasonalNaive: number;
  /**
   * Added once for every season ahead: the mean change over the last season (true), or over the
   * whole training part ("mean").
   */
  readonly drift?: boolean | "mean" | undefined;
}

/** Ridge autoregression. */
export interface AutoregressionBaseline {
  /** How many rows back it looks. */
  readonly autoregression: number;
  /** Whether it also takes what is known beforehand of each row. */
  readonly known?: boolean | undefined;
}

/** A baseline fitted on the training part. */
export interface FittedBaseline {
  readonly baseline: SeriesBaseline;
  /** As tables call it. */
  readonly name: string;
  /** The fewest rows of history that a forecast takes. */
  readonly rows: number;
  /**
   * The `steps` rows after the history, T x D; `ahead` is what is known beforehand of them. @throws
   * ArgumentError for too short a history
   */
  forecast(history: Matrix, steps: number, ahead?: Matrix): Matrix;
}

/** The name of a baseline in tables. */
export function baselineName(baseline: SeriesBaseline): string {
  if (typeof baseline === "string") return baseline;
  checkHas("baseline", baseline, "the name of a baseline, or an object of one");
  const classical = classicalOf(baseline);
  if (classical) return `${classical.method === "ets" ? "ETS" : "Theta"}${classical.season > 1 ? ` (${classical.season})` : ""}`;
  if ("autoregression" in baseline) return `ridge AR${baseline.known ? "X" : ""}(${baseline.autoregression})`;
  const { seasonalNaive: period, drift: said } = baseline as SeasonalBaseline;
  const drift = said ? ` with ${said === "mean" ? "mean " : ""}drift` : "";
  return `seasonal naive${drift} (${period})`;
}

/** The method of a classical baseline; undefined for another one. */
export function classicalOf(baseline: SeriesBaseline): { readonly method: "theta" | "ets"; readonly season: number } | undefined {
  if (typeof baseline !== "object") return undefined;
  if ("theta" in baseline) return { method: "theta", season: baseline.theta };
  return "ets" in baseline ? { method: "ets", season: baseline.ets } : undefined;
}

/**
 * The baselines of a series with these seasons: persistence, mean, drift, and for each season the
 * seasonal naive forecast without and with drift, and ridge autoregression of a season and a
 * seventh of it; without a season, of 24 rows. Theta and ETS take the shortest season.
 */
export function standardBaselines(seasons: readonly number[]): SeriesBaseline[] {
  const naive = seasons.flatMap((season): SeriesBaseline[] => [
    { seasonalNaive: season },
    { seasonalNaive: season, drift: true },
    { seasonalNaive: season, drift: "mean" },
  ]);
  const orders = seasons.length > 0 ? seasons.map((season) => season + Math.ceil(season / 7)) : [24];
  const season = seasons.length > 0 ? Math.min(...seasons) : 1;
  return [
    "persistence",
    "mean",
    "drift",
    ...naive,
    ...orders.map((autoregression) => ({ autoregression })),
    { theta: season },
    { ets: season },
  ];
}

/**
 * Fits a baseline to the training part: one series, or several that do not touch.
 * @param horizon the steps of the forecasts by which an autoregression chooses its penalty.
 * @param known what is known beforehand of the rows of each part, for an autoregression that takes
 * it
 * @throws ArgumentError for a training part that is too short
 */
export function fitBaseline(
  baseline: SeriesBaseline,
  training: readonly Matrix[],
  horizon = 1,
  known: readonly (Matrix | undefined)[] = [],
): FittedBaseline {
  const fitted = (rows: number, forecast: FittedBaseline["forecast"]) => ({ baseline, name: baselineName(baseline), rows, forecast });
  if (baseline === "mean") {
    const means = meanOf(training);
    return fitted(0, (_, steps) => repeated(means, steps));
  }
  if (baseline === "persistence") return fitted(1, (history, steps) => seasonalNaive(history, { period: 1, steps }));
  if (baseline === "drift") return fitted(2, straightOn);
  if ("autoregression" in baseline) {
    const order = baseline.autoregression;
    const longest = training.toSorted((a, b) => b.rows - a.rows)[0]!;
    // Too few rows to choose a penalty by forecasts.
    const isShort = Math.ceil(validationShare * longest.rows) < horizon || Math.floor((1 - validationShare) * longest.rows) < order + 2;
    const beside = baseline.known ? known[training.indexOf(longest)] : undefined;
    const model = fitAutoregression(longest, { order, known: beside, ...(isShort ? { lambda: 1 } : { horizon }) });
    return fitted(model.order, (history, steps, ahead) => model.forecast(history, steps, beside && ahead));
  }
  const classical = classicalOf(baseline);
  if (classical) return fitted(1, (history, steps) => classicalAfter(history, steps, classical));
  const { seasonalNaive: period, drift = false } = baseline as SeasonalBaseline;
  if (!drift) return fitted(period, (history, steps) => seasonalNaive(history, { period, steps }));
  const whole = drift === "mean" ? meanDrift(training, period) : undefined;
  return fitted(whole ? period : 2 * period, (history, steps) => {
    const said = seasonalNaive(history, { period, steps });
    const change = whole ?? lastDrift(history, history.rows, period);
    for (let i = 0; i < said.data.length; i++) {
      const seasons = Math.floor(Math.floor(i / said.cols) / period) + 1;
      said.data[i] = said.data[i]! + seasons * change[i % said.cols]!;
    }
    return said;
  });
}

/**
 * What a baseline says, one prediction a row, of rows `start` to `start` + `rows`, each knowing the
 * rows up to `ahead` before it.
 * @throws ArgumentError for a season shorter than the look ahead.
 */
export function predictBaseline(
  baseline: SeriesBaseline,
  series: Matrix<Float64Array>,
  start: number,
  rows: number,
  ahead: number,
  training: Matrix<Float64Array>,
): Matrix {
  const lag = baseline === "persistence" ? ahead : typeof baseline === "object" && "seasonalNaive" in baseline ? baseline.seasonalNaive : 0;
  if (lag > 0 && lag < ahead)
    throw new ArgumentError("baselines", baseline, `a season of at least ${ahead} rows, which is how far ahead the prediction is`);
  if (lag > start) throw new ArgumentError("baselines", baseline, `a season of at most ${start} rows, which is where the test part begins`);
  const fitted = fitBaseline(baseline, [training], ahead);
  const first = start - ahead + 1;
  if (fitted.rows > first)
    throw new ArgumentError(
      "baselines",
      baseline,
      `${fitted.rows} rows that are known before the test part; there are ${Math.max(0, first)}`,
    );
  const out = Matrix.zeros(rows, series.cols);
  for (let t = 0; t < rows; t++) out.row(t).set(fitted.forecast(series.subarray(0, first + t), ahead).row(ahead - 1));
  return out;
}

/** Each column by itself; the last value in place of a forecast that is not finite. */
function classicalAfter(history: Matrix, steps: number, { method, season }: NonNullable<ReturnType<typeof classicalOf>>): Matrix {
  const out = Matrix.zeros(steps, history.cols);
  const known = history.subarray(Math.max(0, history.rows - mostClassicalRows));
  for (let c = 0; c < out.cols; c++) {
    const values = known.column(c);
    const said = continueSmoothing(fitClassical(method, values, season), steps);
    const areFinite = said.every(Number.isFinite);
    for (let k = 0; k < steps; k++) out.data[k * out.cols + c] = areFinite ? said[k]! : values.at(-1)!;
  }
  return out;
}

/** The mean change of each column over the season that ends before row `end`. */
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

/** The mean of y(t) - y(t - period) over all rows, by column. */
function meanDrift(parts: readonly Matrix[], period: number): Float64Array {
  const { cols } = parts[0]!;
  const sums = new Float64Array(cols);
  let count = 0;
  for (const { rows, data } of parts) {
    count += Math.max(0, rows - period);
    for (let i = period * cols; i < rows * cols; i++) sums[i % cols] = sums[i % cols]! + (data[i]! - data[i - period * cols]!);
  }
  if (count === 0)
    throw new ArgumentError("baselines", { seasonalNaive: period, drift: "mean" }, "a training part of more than a season of rows");
  return sums.map((sum) => sum / count);
}

/** y(T + h) = y(T) + h (y(T) - y(1)) / (T - 1). */
function straightOn(history: Matrix, steps: number): Matrix {
  const { rows, cols, data } = history;
  if (rows < 2) throw new ArgumentError("baselines", "drift", "two rows before the test part");
  const out = Matrix.zeros(steps, cols);
  for (let h = 0; h < steps; h++) {
    for (let c = 0; c < cols; c++) {
      const last = data[(rows - 1) * cols + c]!;
      out.data[h * cols + c] = last + ((h + 1) * (last - data[c]!)) / (rows - 1);
    }
  }
  return out;
}

function meanOf(parts: readonly Matrix[]): Float64Array {
  if (parts.length === 1) return columnMeans(parts[0]!);
  const rows = parts.reduce((sum, part) => sum + part.rows, 0);
  const means = new Float64Array(parts[0]!.cols);
  for (const part of parts) {
    const own = columnMeans(part);
    for (let c = 0; c < means.length; c++) means[c] = means[c]! + (own[c]! * part.rows) / rows;
  }
  return means;
}

function repeated(row: Float64Array, rows: number): Matrix<Float64Array> {
  const out = Matrix.zeros(rows, row.length);
  for (let t = 0; t < rows; t++) out.row(t).set(row);
  return out;
}
