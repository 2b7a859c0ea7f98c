// Scores of predictions in the units of the data. The metrics themselves are in metrics; here they
// meet starts, divergence and baselines.
import { ArgumentError } from "../core/errors.js";
import { mae, mse, nrmse, r2, rmse, validPredictionTime } from "../metrics/index.js";
import type { Matrix } from "../numerics/index.js";
import type { MetricName, ScoringDescription } from "./description.js";
import { columnMeans, repeated, stackRows } from "./rows.js";

/** A prediction of one start (or of the whole test part), and what came. Both T x D. */
export interface Outcome {
  readonly prediction: Matrix;
  readonly target: Matrix;
}

/** What scores need besides the outcomes. */
export interface ScoreContext {
  readonly scoring: ScoringDescription;
  /** The series whose variance normalises errors: of the training part for a forecast. */
  readonly reference: Matrix;
  readonly dt?: number | undefined;
  readonly lyapunovExponent?: number | undefined;
}

/** Whether a lower or a higher score is better. */
export function betterOf(metric: MetricName): "lower" | "higher" {
  return metric === "r2" || metric === "accuracy" || metric === "validPredictionTime" ? "higher" : "lower";
}

/** The unit of a metric, if it is not the data's own. */
export function unitOf(metric: MetricName, context: Pick<ScoreContext, "dt" | "lyapunovExponent">): string | undefined {
  if (metric !== "validPredictionTime") return undefined;
  return context.dt !== undefined && context.lyapunovExponent !== undefined ? "Lyapunov times" : "steps";
}

/**
 * The scores of one-step predictions: each metric over all rows. nrmse is normalised by the target
 * itself.
 */
export function scorePrediction(
  { prediction, target }: Outcome,
  metrics: readonly MetricName[],
  { scoring }: ScoreContext,
): Record<string, number> {
  if (!prediction.data.every(Number.isFinite)) return Object.fromEntries(metrics.map((metric) => [metric, diverged(metric)]));
  const scores: Record<string, number> = {};
  for (const metric of metrics) {
    if (metric === "nrmse") scores[metric] = nrmse(target, prediction, { norm: scoring.norm });
    else if (metric === "r2") scores[metric] = r2(target, prediction);
    else scores[metric] = plainScore(metric, { prediction, target });
  }
  return scores;
}

/**
 * The scores of closed-loop forecasts from several starts.
 * - nrmse, rmse, mse, mae: over the steps of all starts together; nrmse is normalised by the
 *   training part, a horizon being too short to measure a spread on;
 * - nrmseAtHorizon, rmseAtHorizon: of only the last step of every start: with a horizon of 84, the
 *   NRMSE84 of the literature;
 * - validPredictionTime: the median over the starts, in Lyapunov times if dt and exponent are
 *   known, else in steps.
 */
export function scoreForecasts(
  outcomes: readonly Outcome[],
  metrics: readonly MetricName[],
  context: ScoreContext,
): Record<string, number> {
  const all = joined(outcomes, (matrix) => matrix);
  const last = joined(outcomes, (matrix) => matrix.subarray(-1));
  const scale = () => scaleOf(context);
  const scores: Record<string, number> = {};
  for (const metric of metrics) {
    if (metric === "validPredictionTime") scores[metric] = median(outcomes.map((outcome) => validTime(outcome, context)));
    else {
      const outcome = metric.endsWith("AtHorizon") ? last : all;
      if (!outcome.prediction.data.every(Number.isFinite)) scores[metric] = diverged(metric);
      else if (metric.startsWith("nrmse")) scores[metric] = nrmse(outcome.target, outcome.prediction, { scale: scale() });
      else scores[metric] = plainScore(metric === "rmseAtHorizon" ? "rmse" : metric, outcome);
    }
  }
  return scores;
}

/**
 * The value that a share of the values lies below, on the line between its two neighbours in rising
 * order (Hyndman and Fan 1996, type 7).
 */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const place = share * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(place)]!, sorted[Math.ceil(place)]!];
  return low === high ? low : low + (place % 1) * (high - low);
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

function plainScore(metric: MetricName, { prediction, target }: Outcome): number {
  if (metric === "rmse") return rmse(target, prediction);
  if (metric === "mse") return mse(target, prediction);
  if (metric === "mae") return mae(target, prediction);
  throw ArgumentError.because(`there is no way to score ${metric} here`);
}

/** What stands for the score of a prediction that left for infinity. */
function diverged(metric: MetricName): number {
  return betterOf(metric) === "lower" ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
}

function validTime({ prediction, target }: Outcome, { scoring, reference, dt, lyapunovExponent }: ScoreContext): number {
  const time = validPredictionTime(target, prediction, { threshold: scoring.threshold, reference, dt, lyapunovExponent });
  return time.lyapunovTimes ?? time.steps;
}

/**
 * The divisor of nrmse: what predicting the mean of the reference (or 0, for the other norms)
 * tells.
 */
function scaleOf({ reference, scoring }: ScoreContext): number {
  const mean = repeated(columnMeans(reference), reference.rows);
  return rmse(reference, mean) / nrmse(reference, mean, { norm: scoring.norm });
}

function joined(outcomes: readonly Outcome[], part: (matrix: Matrix) => Matrix): Outcome {
  return {
    prediction: stackRows(outcomes.map(({ prediction }) => part(prediction))),
    target: stackRows(outcomes.map(({ target }) => part(target))),
  };
}
