// What a model's settings and lambda are chosen by: closed-loop forecasts of the asked horizon,
// from validation starts inside the training part. evaluate.ts makes the forecasts.
import { ArgumentError } from "@spillway/core/errors.js";
import { Matrix, portableExp, portableLog } from "@spillway/numerics";
import { type WorkOptions, WorkPacer } from "../../reservoir/index.js";
import { fitStandardisation } from "../standardisation.js";
import type { ForecasterChoice, ScoredPair, TriedSetting, ValidationStart } from "./chosen.js";
import type { CheckedSeries } from "./data.js";
import { type ForecastLoss, isNoWorse, losses, medianOf } from "./loss.js";
import { changingColumns, rowsOf, startsOneAfterAnother, type ValidationParts } from "./validation.js";

export type * from "./chosen.js";

/** What pairs are chosen by. */
export interface PairOptions {
  readonly horizon: number;
  readonly lambdas: readonly number[];
  readonly keep: number;
  readonly loss: ForecastLoss;
  /** Rows that drive the model before each forecast; undefined for all before it. */
  readonly warmup?: number | undefined;
  /** Of each series, 1 where a value was filled and not measured: it counts for nothing. */
  readonly masks: readonly (Matrix | undefined)[];
  /** Columns that count; undefined for all. */
  readonly targets?: readonly number[] | undefined;
}

/** A relative difference of scores below this is a tie. */
const tie = 1e-3;

/** An earlier candidate may score worse than the winner by this share, if starts cannot tell. */
const near = 0.02;

/** From so many forecasts that do not overlap, the smaller score is evidence enough for a lambda. */
const enough = 5;

/**
 * A candidate that forecasts from every start: a forecast for each lambda, or why there is none.
 */
export interface ForecastingCandidate extends TriedSetting {
  forecasts(signal: AbortSignal | undefined): Promise<readonly (Matrix<Float64Array> | Error)[]>;
  /** The forecast of one lambda from other starts, infinite from those where it runs away. */
  again(lambda: number, starts: readonly ValidationStart[], signal: AbortSignal | undefined): Promise<Matrix<Float64Array> | Error>;
}

/**
 * Scores the forecasts of candidates, keeps the best pairs, and measures their errors.
 * @throws ArgumentError if there is none
 */
export async function choosePairs(
  data: readonly CheckedSeries[],
  parts: ValidationParts,
  candidates: readonly ForecastingCandidate[],
  options: PairOptions,
  work: WorkOptions,
): Promise<ForecasterChoice> {
  const begun = performance.now();
  const { horizon, lambdas, loss } = options;
  const { deviation, changing: all } = measuredScale(parts.training, options.masks);
  const changing = all.map((changes, c) => changes && (options.targets?.includes(c) ?? true));
  if (options.targets && !changing.includes(true))
    throw ArgumentError.because("the targets never change in the training part, so there is nothing to choose by; leave horizon out", {
      field: "targets",
    });
  const whole = data.map(({ series }) => series);
  const targets = rowsOf(whole, parts.starts, horizon);
  const pacer = new WorkPacer(work, candidates.length);
  const own: ScoredPair[] = [];
  const forecasts: (Matrix<Float64Array> | undefined)[] = [];
  const costs: Float64Array[] = [];
  const filled = filledOf(data, options.masks, parts.starts, horizon);
  const context = { deviation, changing, horizon, filled };
  for (const [candidate, each] of candidates.entries()) {
    const tried = await each.forecasts(work.signal);
    for (const [l, lambda] of lambdas.entries()) {
      const made = tried[l]!;
      const isMade = made instanceof Matrix;
      const cost = isMade ? losses[loss].costs(made, targets, context) : new Float64Array(0);
      costs.push(cost);
      forecasts.push(isMade ? made : undefined);
      own.push(isMade ? { candidate, lambda, error: losses[loss].score(cost) } : { candidate, lambda, failure: made.message });
    }
    await pacer.pause(candidate + 1);
  }
  const scores = candidates.flatMap((_, c) => withNeighbours(own.slice(c * lambdas.length, (c + 1) * lambdas.length)));
  const kept = best(scores, costs, apart(data, parts, horizon), options.keep, candidates);
  if (kept.length === 0)
    throw ArgumentError.because(
      `no candidate and lambda gave a forecast: ${scores[0]!.failure}. Take larger lambdas, more rows or another reservoir`,
      { field: "choose" },
    );
  const combined = medianOf(kept.map((pair) => forecasts[pair]!));
  const errors = apartFrom(targets, combined, filled);
  const found = kept.map((pair) => scores[pair]!);
  const more = await errorsFromMore(data, parts, { kept: found, candidates }, options, work.signal);
  const seconds = (performance.now() - begun) / 1000;
  return {
    horizon,
    loss,
    starts: parts.starts,
    candidates: candidates.map(({ lags, calendar }) => ({ lags, calendar })),
    scores,
    kept: found,
    seconds,
    targets,
    errors,
    ...more,
  };
}

/**
 * The scores of one candidate's lambdas, by their own errors and those of their neighbours. A
 * neighbour that failed is left out.
 */
function withNeighbours(pairs: readonly ScoredPair[]): readonly ScoredPair[] {
  const made = pairs.filter(({ error }) => Number.isFinite(error)).toSorted((a, b) => a.lambda - b.lambda);
  return pairs.map((pair) => {
    const at = made.indexOf(pair);
    const errors = made.slice(Math.max(0, at - 1), at + 2).map(({ error }) => error!);
    if (at < 0 || errors.length === 1) return { ...pair, score: pair.error };
    const mean = (each: (error: number) => number) => errors.reduce((sum, error) => sum + each(error), 0) / errors.length;
    const isRatio = errors.every((error) => error >= 0);
    const around = isRatio ? portableExp(mean((error) => portableLog(Math.max(error, least)))) : mean((error) => error);
    return { ...pair, score: Math.max(pair.error!, around) };
  });
}

/** An error below this counts as this much. */
const least = 1e-300;

/**
 * What the kept pairs alone are off by from all starts that fit: the starts of the choice are few,
 * and bands of few errors say little. Nothing if they are all there is, or a pair cannot do it.
 */
async function errorsFromMore(
  data: readonly CheckedSeries[],
  parts: ValidationParts,
  { kept, candidates }: { readonly kept: readonly ScoredPair[]; readonly candidates: readonly ForecastingCandidate[] },
  { horizon, warmup = 0, masks }: PairOptions,
  signal: AbortSignal | undefined,
): Promise<Partial<ForecasterChoice>> {
  const errorStarts = startsOneAfterAnother(data, parts, { horizon, warmup });
  if (errorStarts.length <= parts.starts.length) return {};
  const forecasts: Matrix<Float64Array>[] = [];
  for (const { candidate, lambda } of kept) {
    const made = await candidates[candidate]!.again(lambda, errorStarts, signal);
    if (made instanceof Error) return {};
    forecasts.push(made);
  }
  const whole = data.map(({ series }) => series);
  const targets = rowsOf(whole, errorStarts, horizon);
  const errors = apartFrom(targets, medianOf(forecasts), filledOf(data, masks, errorStarts, horizon));
  return { errorStarts, targets, errors };
}

/** The deviation of each column's measured values, and whether they change. */
function measuredScale(training: readonly CheckedSeries[], masks: PairOptions["masks"]) {
  if (!masks.some((mask) => mask?.data.includes(1)))
    return { deviation: fitStandardisation(training.map(({ series }) => series)).deviation, changing: changingColumns(training) };
  const columns = Array.from({ length: training[0]!.series.cols }, (_, c) => {
    const measured = training.flatMap(({ series }, s) => [...series.column(c)].filter((_, t) => masks[s]?.at(t, c) !== 1));
    return { series: new Matrix(measured.length, 1, Float64Array.from(measured)) };
  });
  return {
    deviation: Float64Array.from(columns, ({ series }) => (series.rows > 0 ? fitStandardisation([series]).deviation[0]! : 1)),
    changing: columns.map((one) => changingColumns([one])[0]!),
  };
}

/** Of each row that a start forecasts 1 where it was filled; undefined if none was. */
function filledOf(
  data: readonly CheckedSeries[],
  masks: PairOptions["masks"],
  starts: readonly ValidationStart[],
  horizon: number,
): Float64Array | undefined {
  if (!masks.some((mask) => mask?.data.includes(1))) return undefined;
  const whole = masks.map((mask, s) => mask ?? Matrix.zeros(data[s]!.series.rows, data[s]!.series.cols));
  return rowsOf(whole, starts, horizon).data;
}

/** Targets less forecasts; NaN where the target was filled. */
function apartFrom(targets: Matrix<Float64Array>, { data }: Matrix, filled: Float64Array | undefined): Matrix<Float64Array> {
  return targets.map((value, i) => (filled?.[i] ? Number.NaN : value - data[i]!));
}

/**
 * How many forecasts of the validation parts do not overlap, at most as many as there are starts.
 */
function apart(data: readonly CheckedSeries[], { training, starts }: ValidationParts, horizon: number): number {
  const fitting = data.reduce((sum, { series }, s) => sum + Math.floor((series.rows - training[s]!.series.rows) / horizon), 0);
  return Math.max(1, Math.min(starts.length, fitting));
}

/**
 * The indices of the best pairs, at most two of one candidate. Of pairs that are as good as the
 * best, or no worse than few starts can show, it takes the one with the largest lambda, and of
 * those the earliest candidate. With more starts the earliest candidate replaces it whose best pair
 * is at most 2 % worse and not clearly worse: the first is the simplest. All take the calendar, or
 * none does.
 */
function best(
  scores: readonly ScoredPair[],
  costs: readonly Float64Array[],
  starts: number,
  keep: number,
  candidates: readonly Pick<TriedSetting, "calendar">[],
): number[] {
  const left = scores.flatMap(({ score }, pair) => (score === undefined || Number.isNaN(score) ? [] : [pair]));
  const kept: number[] = [];
  const isFew = starts < enough;
  while (kept.length < keep && left.length > 0) {
    const first = left.reduce((a, b) => (scores[b]!.score! < scores[a]!.score! ? b : a));
    const least = scores[first]!.score!;
    const isTied = (pair: number) =>
      scores[pair]!.score! - least <= tie * Math.abs(least) || (isFew && isNoWorse(costs[pair]!, costs[first]!, starts));
    const largest = left.filter(isTied).reduce((a, b) => (scores[b]!.lambda > scores[a]!.lambda ? b : a));
    const earlier = candidates.slice(0, scores[largest]!.candidate).flatMap((_, c) => {
      const own = left.filter((pair) => scores[pair]!.candidate === c);
      return own.length > 0 ? [own.reduce((a, b) => (scores[b]!.score! < scores[a]!.score! ? b : a))] : [];
    });
    const isNear = (pair: number) =>
      scores[pair]!.score! - scores[largest]!.score! <= near * Math.abs(scores[largest]!.score!) &&
      isNoWorse(costs[pair]!, costs[largest]!, starts);
    const chosen = (isFew ? undefined : earlier.find(isNear)) ?? largest;
    kept.push(chosen);
    const { candidate } = scores[chosen]!;
    const isOther = (pair: number) => candidates[scores[pair]!.candidate]!.calendar !== candidates[candidate]!.calendar;
    const isFull = kept.filter((pair) => scores[pair]!.candidate === candidate).length >= 2;
    for (let i = left.length - 1; i >= 0; i--) {
      if (left[i] === chosen || isOther(left[i]!) || (isFull && scores[left[i]!]!.candidate === candidate)) left.splice(i, 1);
    }
  }
  return kept;
}
