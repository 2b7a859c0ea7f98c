/**
 * Series without a reservoir: time stamps, their grid and its gaps, seasons, what a
 * series forecasts of itself, and bands around forecasts.
 */
export { type Autoregression, type AutoregressionOptions, fitAutoregression } from "./autoregression.js";
export {
  type AutoregressionBaseline,
  baselineName,
  type ClassicalBaseline,
  type FittedBaseline,
  fitBaseline,
  predictBaseline,
  type SeasonalBaseline,
  type SeriesBaseline,
  standardBaselines,
} from "./baselines.js";
export type { CalendarCycle, CalendarFeature } from "./calendar.js";
export { type ClassicalMethod, classicalMethods, fitClassical } from "./classical.js";
export { type EarlierOrigins, earlierOrigins, leastWithNeighbours, meanSize, memberWeights } from "./combination.js";
export {
  AdaptiveConformal,
  type AdaptiveOptions,
  type Band,
  type BandOffsets,
  type ConformalOptions,
  conformalOffsets,
  conformalRank,
  ensembleBand,
  fewestScores,
} from "./conformal.js";
export { errorQuantile, type OriginErrors } from "./error-quantiles.js";
export { continueSmoothing, followSmoothing, type Smoothing } from "./exponential-smoothing.js";
export { closeGaps, type GapPolicy, type TimedSeries } from "./gaps.js";
export { foundIndices, type SeasonalIndices, withoutSeason } from "./seasonal-indices.js";
export { calendarSeasons, findSeason, seasonsOf } from "./seasons.js";
export type { TimeForm, TimeUnit } from "./time-form.js";
export {
  describeAxis,
  type RowName,
  type TimeAxis,
  type TimeColumn,
  type TimeGap,
  type TimeGrid,
  type TimeStep,
  timesAfter,
} from "./time-grid.js";
export { readTimes, type TimeLike, type TimeOptions } from "./time-stamps.js";
export { keptTransforms, openTransforms } from "./transform-file.js";
export { type FittedTransform, registerTransform, type Transform, type TransformPair, type TransformPart } from "./transform-kinds.js";
export {
  type FittedTransforms,
  fitTransforms,
  longestLookAhead,
  restoredForecast,
  restoredPredictions,
  rowsLost,
  type TransformedSeries,
  transformed,
  transformSeries,
} from "./transforms.js";
export { type ValidationStarts, validationStarts } from "./validation-starts.js";
export { compareStarts, type StartErrors, type Verdict } from "./verdict.js";
