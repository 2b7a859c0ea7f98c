// What forecasts are held against: the baselines that the experiment asks for, and those of every
// series, on the starts of its forecasts.

import { Matrix } from "@spillway/numerics";
import type { ScoredForecast } from "../../metrics/index.js";
import { beside } from "../../model/forecaster/data.js";
import { classicalOf, mostClassicalRows } from "../../series/baselines.js";
import { type CalendarFeature, calendarInputs } from "../../series/calendar.js";
import {
  type AutoregressionBaseline,
  continueSmoothing,
  type FittedBaseline,
  fitBaseline,
  fitClassical,
  type SeriesBaseline,
  type StartErrors,
  seasonsOf,
  standardBaselines,
  type TimeStep,
  type TransformedSeries,
} from "../../series/index.js";
import { columnAfter } from "../../series/time-grid.js";
import { asKnownAt, measuredRows, type RowFacts } from "../data/prepare.js";
import type { Outcome } from "./scores.js";

/** The training part of a series, or of the parts of a series that gaps split. */
export interface TrainingParts {
  /** The rows that train the readout, in the units of the data. */
  readonly reference: Matrix<Float64Array>;
  /** All rows of the training part, in the units of the data and transformed. */
  readonly original: readonly Matrix<Float64Array>[];
  readonly series: readonly Matrix<Float64Array>[];
  /** All rows of the longest training part, in the units of the data; NaN was filled. */
  readonly measured: Matrix<Float64Array>;
  /** What is known of the rows of each part. */
  readonly facts: readonly RowFacts[];
}

/** Where one forecast starts: row `at` of a series. */
export interface StartPoint {
  readonly whole: TransformedSeries;
  readonly facts: RowFacts;
  readonly at: number;
  /** A text for each row of `whole`, such as its date. */
  readonly times?: readonly string[] | undefined;
  readonly training: TrainingParts;
  readonly group?: string | undefined;
}

/** A baseline's forecasts, one a start. */
export interface BaselineForecasts {
  readonly baseline: SeriesBaseline;
  readonly name: string;
  readonly outcomes: readonly Outcome[];
  /** What it says from another start. */
  readonly from: (start: StartPoint) => Matrix;
}

/** Products that an autoregression may cost, about a second of them, and its longest lag. */
const mostProducts = 1e9;
const longestOrder = 1000;

/** Rows, all columns and starts together, that a classical method may be fitted on: seconds. */
const mostFitted = { theta: 1e6, ets: 2e5 } as const;

/**
 * The forecasts of each baseline from each start. Of those that were not asked for, those that the
 * rows are too few for are left out.
 * @throws ArgumentError for one that was asked for and does not fit the series
 */
export function baselineForecasts(
  asked: readonly SeriesBaseline[],
  starts: readonly StartPoint[],
  horizon: number,
  step: TimeStep | undefined,
  calendar: readonly CalendarFeature[],
): BaselineForecasts[] {
  const { original } = starts[0]!.training;
  const longest = original.toSorted((a, b) => b.rows - a.rows)[0]!;
  const named = asked.flatMap((each) =>
    typeof each === "object" && "seasonalNaive" in each && each.seasonalNaive > 1 ? [each.seasonalNaive] : [],
  );
  const seasons = [...new Set([...named, ...seasonsOf(longest, { step })])].sort((a, b) => a - b);
  const isAsked = (baseline: SeriesBaseline) => asked.some((each) => JSON.stringify(each) === JSON.stringify(baseline));
  // What the model knows beforehand, an autoregression knows too.
  const isKnown = starts[0]!.facts.known !== undefined || calendar.length > 0;
  const withKnown = (baseline: SeriesBaseline): SeriesBaseline[] =>
    isKnown && typeof baseline === "object" && "autoregression" in baseline ? [{ ...baseline, known: true }] : [];
  const standard = [...standardBaselines(seasons), ...asked.flatMap(withKnown)].flatMap((each) => [each, ...withKnown(each)]);
  const others = standard
    .filter((each, k) => standard.findIndex((other) => JSON.stringify(other) === JSON.stringify(each)) === k)
    .filter((each) => !isAsked(each) && applies(each, starts, horizon));
  return [...asked, ...others].map((baseline) => forecastsOf(baseline, starts, horizon, calendar));
}

/** What scores of forecasts from these starts take beside their rows. */
export function scoredForecasts(starts: readonly StartPoint[], horizon: number, season: number): ScoredForecast[] {
  return starts.map(({ whole, facts, at, training }) => {
    let said: Matrix | undefined;
    const naive2 = () => (said ??= naive2After(measuredRows(whole, facts, 0, at), horizon, season));
    return { rows: horizon, training: training.measured, season, naive2 };
  });
}

/** Naive2 of each column; NaN for one without a measured value. */
function naive2After(history: Matrix, steps: number, season: number): Matrix {
  const out = Matrix.zeros(steps, history.cols);
  for (let c = 0; c < history.cols; c++) {
    const values = history.column(c);
    const said = values.every(Number.isNaN) ? undefined : continueSmoothing(fitClassical("naive2", values, season), steps);
    for (let k = 0; k < steps; k++) out.data[k * history.cols + c] = said?.[k] ?? Number.NaN;
  }
  return out;
}

/** The season of the rows that train, 1 if they show none: the shortest of several. */
export function seasonOf(starts: readonly StartPoint[], step: TimeStep | undefined): number {
  const longest = starts[0]?.training.original.toSorted((a, b) => b.rows - a.rows)[0];
  return longest ? (seasonsOf(longest, { step })[0] ?? 1) : 1;
}

/**
 * Mean square errors by start, over what was measured. @param scale what errors of each column are
 * divided by; left out, nothing
 */
export function startErrors(name: string, outcomes: readonly Outcome[], scale?: Float64Array): StartErrors {
  const found = outcomes.map((outcome) => meanSquare(outcome, scale));
  const counts = found.map(({ measured }) => measured);
  const isEven = counts.every((count) => count === counts[0]);
  return { name, errors: [found.map(({ mean }) => mean)], ...(isEven ? {} : { counts }) };
}

function meanSquare({ prediction, target }: Outcome, scale: Float64Array | undefined) {
  const { cols } = target;
  let sum = 0;
  let measured = 0;
  for (let i = 0; i < target.data.length; i++) {
    if (Number.isNaN(target.data[i]!)) continue;
    measured++;
    sum += ((prediction.data[i]! - target.data[i]!) / (scale?.[i % cols] ?? 1)) ** 2;
  }
  return { mean: measured === 0 ? 0 : sum / measured, measured };
}

/**
 * What is known beforehand of rows `from` up to (not with) `to` of a series as it was measured:
 * given columns and the calendar. Undefined if nothing is.
 */
function knownBeside({ known, axis }: RowFacts, calendar: readonly CalendarFeature[], from: number, to: number): Matrix | undefined {
  const given = known?.subarray(from, to);
  if (calendar.length === 0 || !axis) return given;
  const walls = new Float64Array(to - from);
  walls.set(axis.wall.subarray(from, to));
  const beyond = Math.max(0, to - axis.wall.length);
  if (beyond > 0) walls.set(columnAfter(axis.grid, beyond).wall, walls.length - beyond);
  const cycles = calendarInputs(calendar, walls);
  return given ? beside(given, cycles) : cycles;
}

function forecastsOf(baseline: SeriesBaseline, starts: readonly StartPoint[], horizon: number, calendar: readonly CalendarFeature[]) {
  const fits = new Map<TrainingParts, FittedBaseline>();
  // An autoregression sees the series as the reservoir does.
  const isTransformed = typeof baseline === "object" && "autoregression" in baseline;
  const isKnown = isTransformed && baseline.known === true;
  const from = (start: StartPoint): Matrix => {
    const { whole, at, training, facts } = asKnownAt(start);
    const { lost } = whole;
    const { reference, original, series } = training;
    const known = () => series.map(({ rows }, k) => knownBeside(training.facts[k]!, calendar, lost, lost + rows));
    const fitted =
      fits.get(training) ??
      fitBaseline(baseline, isTransformed ? series : baseline === "mean" ? [reference] : original, horizon, isKnown ? known() : []);
    fits.set(training, fitted);
    if (!isTransformed) return fitted.forecast(whole.original.subarray(0, at), horizon);
    const ahead = isKnown ? knownBeside(facts, calendar, lost + at, lost + at + horizon) : undefined;
    return whole.undo(fitted.forecast(whole.series.subarray(0, at), horizon, ahead), at, true);
  };
  const outcomes = starts.map(
    (start): Outcome => ({
      prediction: from(start),
      target: measuredRows(start.whole, start.facts, start.at, horizon),
    }),
  );
  return { baseline, name: fits.get(starts[0]!.training)!.name, outcomes, from };
}

/** Whether the rows are enough for a baseline that nobody asked for. */
function applies(baseline: SeriesBaseline, starts: readonly StartPoint[], horizon: number): boolean {
  const history = Math.min(...starts.map(({ at }) => at));
  const { series } = starts[0]!.training;
  const rows = Math.max(...series.map((part) => part.rows));
  if (typeof baseline !== "object") return history >= 2;
  if ("seasonalNaive" in baseline) return history >= 2 * baseline.seasonalNaive && rows > baseline.seasonalNaive;
  const { cols } = series[0]!;
  const classical = classicalOf(baseline);
  if (classical) return starts.length * cols * Math.min(history, mostClassicalRows) <= mostFitted[classical.method];
  const { autoregression: order } = baseline as AutoregressionBaseline;
  const products = order * cols * (2 * series.reduce((sum, part) => sum + part.rows, 0) + (150 + starts.length) * horizon);
  return order <= longestOrder && history >= order && rows >= 3 * order && products <= mostProducts;
}

/** The baselines by their mean square error, the smallest first. */
export function rankedBaselines(baselines: readonly BaselineForecasts[], scale: Float64Array | undefined): BaselineForecasts[] {
  const error = ({ name, outcomes }: BaselineForecasts) => {
    const { errors, counts } = startErrors(name, outcomes, scale);
    const mean = errors[0]!.reduce((sum, value, k) => sum + value * (counts?.[k] ?? 1), 0);
    return Number.isNaN(mean) ? Number.POSITIVE_INFINITY : mean;
  };
  return baselines
    .map((each) => ({ each, rank: error(each) }))
    .sort((a, b) => (a.rank === b.rank ? 0 : a.rank - b.rank))
    .map(({ each }) => each);
}
