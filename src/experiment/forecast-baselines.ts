// What forecasts are held against: the baselines that the experiment asks for, and those of every
// series, on the starts of its forecasts.
import type { Matrix } from "../numerics/index.js";
import {
  type FittedBaseline,
  fitBaseline,
  type SeriesBaseline,
  type StartErrors,
  seasonsOf,
  standardBaselines,
  type TimeStep,
  type TransformedSeries,
} from "../series/index.js";
import { asKnownAt, measuredRows, type RowFacts } from "./prepare.js";
import type { Outcome } from "./scores.js";

/** The training part of a series, or of the parts of a series that gaps split. */
export interface TrainingParts {
  /** The rows that train the readout, in the units of the data. */
  readonly reference: Matrix<Float64Array>;
  /** All rows of the training part, in the units of the data and transformed. */
  readonly original: readonly Matrix<Float64Array>[];
  readonly series: readonly Matrix<Float64Array>[];
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
  /** Whether the experiment names it. */
  readonly isAsked: boolean;
}

/** Products that an autoregression may cost, about a second of them, and its longest lag. */
const mostProducts = 1e9;
const longestOrder = 1000;

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
): BaselineForecasts[] {
  const { original } = starts[0]!.training;
  const longest = original.toSorted((a, b) => b.rows - a.rows)[0]!;
  const named = asked.flatMap((each) =>
    typeof each === "object" && "seasonalNaive" in each && each.seasonalNaive > 1 ? [each.seasonalNaive] : [],
  );
  const seasons = [...new Set([...named, ...seasonsOf(longest, { step })])].sort((a, b) => a - b);
  const isAsked = (baseline: SeriesBaseline) => asked.some((each) => JSON.stringify(each) === JSON.stringify(baseline));
  const others = standardBaselines(seasons).filter((each) => !isAsked(each) && applies(each, starts, horizon));
  return [...asked, ...others].map((baseline, k) => ({ ...forecastsOf(baseline, starts, horizon), isAsked: k < asked.length }));
}

/** Mean square errors by start, over what was measured. */
export function startErrors(name: string, outcomes: readonly Outcome[]): StartErrors {
  return { name, errors: [outcomes.map(meanSquare)] };
}

function meanSquare({ prediction, target }: Outcome): number {
  let sum = 0;
  let measured = 0;
  for (let i = 0; i < target.data.length; i++) {
    if (Number.isNaN(target.data[i]!)) continue;
    measured++;
    sum += (prediction.data[i]! - target.data[i]!) ** 2;
  }
  return sum / measured;
}

function forecastsOf(baseline: SeriesBaseline, starts: readonly StartPoint[], horizon: number) {
  const fits = new Map<TrainingParts, FittedBaseline>();
  // An autoregression sees the series as the reservoir does.
  const isTransformed = typeof baseline === "object" && "autoregression" in baseline;
  const from = (start: StartPoint): Matrix => {
    const { whole, at, training } = asKnownAt(start);
    const { reference, original, series } = training;
    const fitted =
      fits.get(training) ?? fitBaseline(baseline, isTransformed ? series : baseline === "mean" ? [reference] : original, horizon);
    fits.set(training, fitted);
    if (!isTransformed) return fitted.forecast(whole.original.subarray(0, at), horizon);
    return whole.undo(fitted.forecast(whole.series.subarray(0, at), horizon), at, true);
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
  const { autoregression: order } = baseline;
  const { cols } = series[0]!;
  const products = order * cols * (2 * series.reduce((sum, part) => sum + part.rows, 0) + (150 + starts.length) * horizon);
  return order <= longestOrder && history >= order && rows >= 3 * order && products <= mostProducts;
}
