/**
 * Series without a reservoir: time stamps, their grid and its gaps, seasons, what a
 * series forecasts of itself, and bands around forecasts.
 */
export { fitAutoregression } from "./autoregression.js";
export {
  type AutoregressionBaseline,
  baselineName,
  type FittedBaseline,
  fitBaseline,
  predictBaseline,
  type SeriesBaseline,
  standardBaselines,
} from "./baselines.js";
export type { CalendarFeature } from "./calendar.js";
export { type ClassicalMethod, classicalMethods, fitClassical } from "./classical.js";
export { earlierOrigins, leastWithNeighbours, meanSize, memberWeights } from "./combination.js";
export { AdaptiveConformal, type Band, conformalOffsets, conformalRank, ensembleBand, fewestScores } from "./conformal.js";
export { errorQuantile } from "./error-quantiles.js";
export { continueSmoothing, followSmoothing } from "./exponential-smoothing.js";
export { closeGaps } from "./gaps.js";
export { foundIndices, withoutSeason } from "./seasonal-indices.js";
export { calendarSeasons, findSeason, seasonsOf } from "./seasons.js";
export { describeAxis, type TimeAxis, type TimeColumn, type TimeGrid, type TimeStep, timesAfter } from "./time-grid.js";
export { readTimes, type TimeLike } from "./time-stamps.js";
export { keptTransforms, openTransforms } from "./transform-file.js";
export { registerTransform, type Transform, type TransformPair } from "./transform-kinds.js";
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
export { validationStarts } from "./validation-starts.js";
export { compareStarts, type StartErrors, type Verdict } from "./verdict.js";
