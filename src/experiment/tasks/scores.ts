// Scores of predictions in the units of the data. The metrics themselves are in metrics; here they
// meet starts, divergence and baselines.
import { ArgumentError, orError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import { firstNonFinite, Matrix, stackRows } from "@spillway/numerics";
import { noteFinite } from "@spillway/numerics/known-finite.js";
import { type Metric, type MetricContext, metrics, type ScoredForecast } from "../../metrics/index.js";
import { hasNaN, measuredAlone } from "../../metrics/measured.js";
import type { ScoringDescription, TaskDescription } from "../description/description.js";

/**
 * A prediction of one start (or of the whole test part), and what came; NaN if it was not measured.
 * Both T x D.
 */
export interface Outcome {
  readonly prediction: Matrix;
  readonly target: Matrix;
}

/** Scores by metric. */
export type Scores = Readonly<Record<string, number>>;

/** How scores are made, and what is known of the data. */
export interface ScoreContext extends Omit<MetricContext, "norm" | "threshold"> {
  readonly scoring: ScoringDescription;
}

/** What a task predicts, as metrics ask for it. */
const scoredBy: Readonly<Record<TaskDescription["type"], readonly Metric["of"][]>> = {
  predict: ["series"],
  forecast: ["series", "horizon", "start", "forecasts"],
  classify: ["classes"],
  detect: ["classes"],
  anomalies: ["classes"],
};

/** The names of the metrics that a task can be scored by. */
export function metricsOf(task: TaskDescription["type"]): readonly string[] {
  return metrics
    .all()
    .filter(({ of }) => scoredBy[task].includes(of))
    .map(({ name }) => name);
}

/** Whether a metric scores the quantiles of forecasts. */
export function takesQuantiles(name: string): boolean {
  const metric = metrics.get(name);
  return metric.of === "forecasts" && metric.takesQuantiles === true;
}

/** What scores of baselines take, which have no quantiles. */
export function withoutQuantiles({ forecasts, ...rest }: ScoreContext): ScoreContext {
  return { ...rest, forecasts: forecasts?.map((each) => ({ ...each, quantile: undefined })) };
}

/** The scores of predictions: of one test part, or of closed-loop forecasts from several starts. */
export function scoreSeries(outcomes: readonly Outcome[], names: readonly string[], context: ScoreContext): Record<string, number> {
  const targets = outcomes.map(({ target }) => target);
  return seriesScorer(targets, names, context)(outcomes.map(({ prediction }) => prediction));
}

/**
 * The scores of one prediction of the same targets after the other, one matrix for each target.
 * What is known of targets and metrics alone is made once.
 */
export function seriesScorer(
  targets: readonly Matrix[],
  names: readonly string[],
  context: ScoreContext,
): (predictions: readonly Matrix[]) => Record<string, number> {
  const { scoring, ...known } = context;
  const about = { ...scoring, ...known };
  const isMeasured = targets.every(({ data }) => !hasNaN(data));
  const rowsOf = {
    series: (matrix: Matrix) => matrix,
    forecasts: (matrix: Matrix) => matrix,
    horizon: (matrix: Matrix) => matrix.subarray(-1),
  };
  const scores = namedMetrics(names, scoring).map(({ metric, options }) => {
    if (metric.of === "classes") throw ArgumentError.because(`there is no way to score ${metric.name} here`);
    const score = ({ target, prediction }: Outcome) => metric.score(target, prediction, options, about);
    if (metric.of === "start") {
      // A value that was not measured says nothing against a forecast.
      return (predictions: readonly Matrix[]) =>
        median(
          targets.map((target, k) => {
            const prediction = predictions[k]!;
            return score({ prediction, target: hasNaN(target.data) ? withPredicted(target, prediction) : target });
          }),
        );
    }
    const rows = rowsOf[metric.of];
    const joinedTarget = stacked(targets.map(rows));
    const target = isMeasured ? kept(joinedTarget) : joinedTarget;
    return (predictions: readonly Matrix[]) => {
      const whole = { target, prediction: stacked(predictions.map(rows)) };
      const outcome = isMeasured || metric.takesMissing ? whole : measuredAlone(whole);
      if (outcome.target.rows === 0 || outcome.target.data.every(Number.isNaN)) return Number.NaN;
      // The score of a prediction that left for infinity.
      if (firstNonFinite(outcome.prediction.data) >= 0)
        return metric.better === "lower" ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
      return score(outcome);
    };
  });
  return (predictions) => Object.fromEntries(names.map((name, k) => [name, scores[k]!(predictions)]));
}

/** A copy that nobody writes, so that what is said of its values stays true. */
function kept(target: Matrix): Matrix {
  const copy = target.slice();
  return firstNonFinite(copy.data) < 0 ? noteFinite(copy) : copy;
}

/** The scores of a column by itself, and those of baselines on it. */
export interface ColumnScores {
  readonly column: string;
  readonly scores: Readonly<Record<string, number>>;
  readonly baselines: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** The most columns that are scored one by one. */
export const mostColumns = 64;

/**
 * Each of 2 to 64 columns by itself. A score that a column does not have, such as the nrmse of one
 * that never changes, is NaN. Undefined for other numbers of columns.
 */
export function columnResults(
  columns: readonly string[],
  outcomes: readonly Outcome[],
  baselines: readonly { readonly name: string; readonly outcomes: readonly Outcome[] }[],
  names: readonly string[],
  context: ScoreContext,
): ColumnScores[] | undefined {
  if (columns.length < 2 || columns.length > mostColumns) return undefined;
  return columns.map((column, c) => {
    const own: ScoreContext = {
      ...context,
      reference: context.reference && columnAlone(context.reference, c),
      forecasts: context.forecasts?.map((each) => forecastColumn(each, c)),
    };
    const score = (all: readonly Outcome[], by: ScoreContext) => {
      const alone = all.map((each) => ({ prediction: columnAlone(each.prediction, c), target: columnAlone(each.target, c) }));
      return Object.fromEntries(names.map((name) => [name, scoreOrNaN(alone, name, by)]));
    };
    const plain = withoutQuantiles(own);
    const held = baselines.map((each) => [each.name, score(each.outcomes, plain)]);
    return { column, scores: score(outcomes, own), baselines: Object.fromEntries(held) };
  });
}

function forecastColumn({ training, naive2, quantile, ...rest }: ScoredForecast, c: number): ScoredForecast {
  return {
    ...rest,
    training: columnAlone(training, c),
    naive2: () => columnAlone(naive2(), c),
    quantile: quantile && ((level) => columnAlone(quantile(level), c)),
  };
}

/** A column as a matrix. */
export function columnAlone(matrix: Matrix, c: number): Matrix {
  const column = matrix.column(c);
  return new Matrix(column.length, 1, column);
}

function scoreOrNaN(outcomes: readonly Outcome[], name: string, context: ScoreContext): number {
  const score = orError(() => scoreSeries(outcomes, [name], context)[name]!, ArgumentError);
  return score instanceof ArgumentError ? Number.NaN : score;
}

/** "3 of 90 test values were not measured and do not count" */
export function unmeasuredSaid(count: number, of: number): string {
  return `${count} of ${of} test values were not measured and do not count`;
}

/** The scores of predicted classes. */
export function scoreClasses(
  labels: readonly string[],
  predicted: readonly string[],
  names: readonly string[],
  scoring: ScoringDescription,
): Record<string, number> {
  const scores = namedMetrics(names, scoring).map(({ metric, options }) => {
    if (metric.of !== "classes") throw ArgumentError.because(`there is no way to score ${metric.name} here`);
    return [metric.name, metric.score(labels, predicted, options)] as const;
  });
  return Object.fromEntries(scores);
}

/** Metrics with their options. */
function namedMetrics(names: readonly string[], { options }: ScoringDescription): { readonly metric: Metric; readonly options: object }[] {
  return names.map((name) => {
    const metric = metrics.get(name, "metrics");
    return { metric, options: resolve(metric.options, options?.[name] ?? {}, name) };
  });
}

/**
 * The value that a share of the values lies below, on the line between its two neighbours in rising
 * order (Hyndman and Fan 1996, type 7).
 */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const position = share * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(position)]!, sorted[Math.ceil(position)]!];
  return low === high ? low : low + (position % 1) * (high - low);
}

/** The middle value; the mean of the two in the middle of an even number. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Mean and standard deviation over seeds (n - 1 in the denominator; 0 for a single one). */
export function meanAndDeviation(values: readonly number[]): { mean: number; sd: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, sd: values.length > 1 ? Math.sqrt(squares / (values.length - 1)) : 0 };
}

function withPredicted(target: Matrix, { data }: Matrix): Matrix {
  return target.map((value, i) => (Number.isNaN(value) ? data[i]! : value));
}

function stacked(parts: readonly Matrix[]): Matrix {
  return parts.length === 1 ? parts[0]! : stackRows(parts);
}
