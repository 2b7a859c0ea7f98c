/**
 * Scores: pure functions of a target and a prediction, in the order of scikit-learn and
 * ReservoirPy, target first.
 */
export { accuracy, type ClassLabel, type ConfusionMatrix, confusionMatrix } from "./classification.js";
export { type ClassificationReport, classificationReport, type PrecisionRecall } from "./classification-report.js";
export { mae, mse, type NrmseNorm, type NrmseOptions, nrmse, type R2Options, r2, rmse } from "./errors.js";
export { mase, owa, rmsse, smape } from "./forecast-errors.js";
export {
  type ClassMetric,
  type Metric,
  type MetricContext,
  metrics,
  registerMetric,
  type ScoredForecast,
  type SeriesMetric,
} from "./metric.js";
export { coverage, crps, msis, pinball, sharpness, winklerScore, wql } from "./quantile-errors.js";
export { type Reliability, reliability } from "./reliability.js";
export { type SeasonalNaiveOptions, seasonalNaive } from "./seasonal-naive.js";
export { type ValidPredictionTime, type ValidPredictionTimeOptions, validPredictionTime } from "./valid-prediction-time.js";
