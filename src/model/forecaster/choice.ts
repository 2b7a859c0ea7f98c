// Settings and lambda of a Forecaster chosen by closed-loop forecasts of the asked horizon, from
// validation starts inside the training part. No row from the validation part touches the training
// of what is scored on it.
import { ArgumentError } from "../../core/errors.js";
import { Matrix } from "../../numerics/index.js";
import {
  type GramAccumulator,
  IllConditionedError,
  type RidgeOptions,
  ridge,
  type TrainedReadout,
  type Trainer,
} from "../../readout/index.js";
import { ridgePath } from "../../readout/ridge-path.js";
import { type AnyReservoirComputer, NonFiniteStateError, type WorkOptions, WorkPacer } from "../../reservoir/index.js";
import { fitTransforms, transformed } from "../../series/transforms.js";
import { fitStandardisation } from "../standardisation.js";
import { type CheckedSeries, withoutCalendar } from "./data.js";
import { type ForecastLoss, isNoWorse, losses, medianOf, medianOrError } from "./loss.js";
import { ForecasterMember } from "./member.js";
import type { RoadSettings } from "./road.js";
import {
  changingColumns,
  forecastAll,
  rowsOf,
  startsOneAfterAnother,
  type ValidationParts,
  type ValidationStart,
  validationParts,
} from "./validation.js";

/** One setting that is tried. */
export interface Candidate {
  /** Rows of the series that the readout sees beside the state. */
  readonly lags: number;
  /** Whether the calendar, the last `calendarColumns` columns of what is known, is an input. */
  readonly calendar: boolean;
  readonly transforms: RoadSettings["transforms"];
  /** What its readout sees and how it is solved; without lambda. */
  readonly readout: RidgeOptions;
  /** One reservoir a member, which the choice disposes of. */
  readonly members: readonly (() => Promise<AnyReservoirComputer>)[];
}

/** What a candidate differs from the others in, beside fields of its reservoir. */
export interface TriedSetting {
  /** Rows of the series that the readout sees beside the state. */
  readonly lags: number;
  /** Whether the calendar is an input. */
  readonly calendar: boolean;
}

/** What a choice is made by. */
export interface ChoiceOptions extends Omit<RoadSettings, "transforms"> {
  readonly horizon: number;
  readonly lambdas: readonly number[];
  readonly starts: number;
  readonly validation: number;
  readonly keep: number;
  readonly loss: ForecastLoss;
  /** Rows that drive the reservoir before each forecast; undefined for all before it. */
  readonly warmup?: number | undefined;
  readonly washout: number;
  readonly calendarColumns: number;
  /** Of each series, 1 where a value was filled and not measured: it counts for nothing. */
  readonly masks: readonly (Matrix | undefined)[];
}

/** A candidate with a lambda. */
export interface ScoredPair {
  readonly candidate: number;
  readonly lambda: number;
  /** Undefined if it failed; `failure` then says why. */
  readonly score?: number | undefined;
  readonly failure?: string | undefined;
}

/** What was chosen, and by which forecasts. */
export interface ForecasterChoice {
  readonly horizon: number;
  readonly loss: ForecastLoss;
  readonly starts: readonly ValidationStart[];
  /** The candidates, in their order. */
  readonly candidates: readonly TriedSetting[];
  /** Every pair, candidates in their order and lambdas in theirs. */
  readonly scores: readonly ScoredPair[];
  /** The pairs that the model is made of, best first. */
  readonly kept: readonly ScoredPair[];
  /**
   * Seconds that choosing took; undefined in a model that was opened, whose file does not hold
   * them.
   */
  readonly seconds?: number | undefined;
  /**
   * Where the forecasts of `targets` and `errors` start, which bands are made of: as many as fit
   * into the validation part, up to a cost. Left out, `starts`.
   */
  readonly errorStarts?: readonly ValidationStart[] | undefined;
  /**
   * Error starts * horizon x D: what came, in units of the data; row k * horizon + h is step h of
   * start k.
   */
  readonly targets: Matrix<Float64Array>;
  /**
   * The same rows: targets less the forecast of the kept pairs, their median if they are several;
   * NaN where the target was filled and not measured, infinite if a forecast from there ran away.
   */
  readonly errors: Matrix<Float64Array>;
}

/** A relative difference of scores below this is a tie. */
const tie = 1e-3;

/**
 * A candidate that forecasts from every start: a forecast for each lambda, or why there is none.
 */
export interface ForecastingCandidate extends TriedSetting {
  forecasts(signal: AbortSignal | undefined): Promise<readonly (Matrix<Float64Array> | Error)[]>;
  /** The forecast of one lambda from other starts, infinite from those where it runs away. */
  again(lambda: number, starts: readonly ValidationStart[], signal: AbortSignal | undefined): Promise<Matrix<Float64Array> | Error>;
}

/**
 * Scores every candidate with every lambda. A candidate's reservoirs run once over the rows, and
 * its lambdas share one Gram matrix and one decomposition.
 * @throws ArgumentError for data that the horizon does not fit in, or that never changes
 */
export async function chooseByForecasts(
  data: readonly CheckedSeries[],
  candidates: readonly Candidate[],
  options: ChoiceOptions,
  work: WorkOptions,
): Promise<ForecasterChoice> {
  const parts = validationParts(data, options);
  const failure = candidates.length === 1 ? unfitTransform(data, parts, candidates[0]!.transforms) : undefined;
  if (failure) throw failure;
  const bare = withoutCalendar(data, options.calendarColumns);
  const bareParts = { ...parts, training: withoutCalendar(parts.training, options.calendarColumns) };
  const tried = candidates.map((each): ForecastingCandidate => {
    const [rows, own] = each.calendar ? [data, parts] : [bare, bareParts];
    let members: readonly TriedMember[] = [];
    return {
      lags: each.lags,
      calendar: each.calendar,
      async forecasts(signal) {
        const made = await tryCandidate(rows, own, each, options, signal);
        members = made.members;
        return made.forecasts;
      },
      again: (lambda, starts, signal) =>
        tryAgain(rows, { ...own, starts }, { ...each, members }, options.lambdas.indexOf(lambda), options, signal),
    };
  });
  return choosePairs(data, parts, tried, options, work);
}

/** What pairs are chosen by. */
export type PairOptions = Pick<ChoiceOptions, "horizon" | "lambdas" | "loss" | "keep" | "masks" | "warmup">;

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
  const { deviation } = fitStandardisation(parts.training.map(({ series }) => series));
  const changing = changingColumns(parts.training);
  const targets = rowsOf(
    data.map(({ series }) => series),
    parts.starts,
    horizon,
  );
  const pacer = new WorkPacer(work, candidates.length);
  const scores: ScoredPair[] = [];
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
      scores.push(isMade ? { candidate, lambda, score: losses[loss].score(cost) } : { candidate, lambda, failure: made.message });
    }
    await pacer.pause(candidate + 1);
  }
  const kept = best(scores, costs, apart(data, parts, horizon), options.keep, candidates);
  if (kept.length === 0)
    throw ArgumentError.because(
      `no candidate and lambda gave a forecast: ${scores[0]!.failure}. Take larger lambdas, more rows or another reservoir`,
      { field: "choose" },
    );
  const combined = medianOf(kept.map((place) => forecasts[place]!));
  const errors = apartFrom(targets, combined, filled);
  const found = kept.map((place) => scores[place]!);
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
  const targets = rowsOf(
    data.map(({ series }) => series),
    errorStarts,
    horizon,
  );
  const errors = apartFrom(targets, medianOf(forecasts), filledOf(data, masks, errorStarts, horizon));
  return { errorStarts, targets, errors };
}

/** Of each row that a start forecasts 1 where it was filled; undefined if none was. */
function filledOf(
  data: readonly CheckedSeries[],
  masks: ChoiceOptions["masks"],
  starts: readonly ValidationStart[],
  horizon: number,
): Float64Array | undefined {
  if (!masks.some((mask) => mask?.data.includes(1))) return undefined;
  const whole = masks.map((mask, s) => mask ?? Matrix.zeros(data[s]!.series.rows, data[s]!.series.cols));
  return rowsOf(whole, starts, horizon).data;
}

/** Targets less forecasts; NaN where the target was filled. */
function apartFrom(targets: Matrix<Float64Array>, { data }: Matrix, filled: Float64Array | undefined): Matrix<Float64Array> {
  const { rows, cols } = targets;
  return new Matrix(
    rows,
    cols,
    targets.data.map((value, i) => (filled?.[i] ? Number.NaN : value - data[i]!)),
  );
}

/** The median forecasts of a candidate's members for each lambda, or why there are none. */
async function tryCandidate(
  data: readonly CheckedSeries[],
  parts: ValidationParts,
  { lags, transforms, readout, members }: Candidate,
  options: ChoiceOptions,
  signal: AbortSignal | undefined,
): Promise<{ readonly forecasts: readonly (Matrix<Float64Array> | Error)[]; readonly members: readonly TriedMember[] }> {
  const { lambdas, horizon } = options;
  const unfit = unfitTransform(data, parts, transforms);
  if (unfit) return { forecasts: lambdas.map(() => unfit), members: [] };
  const kept: TriedMember[] = [];
  const made: (Matrix<Float64Array> | Error)[][] = lambdas.map(() => []);
  for (const open of members) {
    const computer = await open();
    try {
      const path = new PathTrainer(readout, lambdas);
      const member = await ForecasterMember.fit(computer, parts.training, { ...options, trainer: path, lags, transforms }, { signal });
      const tries = path.readouts.map((found) => (found instanceof Error ? found : member.with(found)));
      const place = { horizon, warmup: options.warmup, lost: member.road.transforms.lost };
      kept.push({ open, road: member.road, readouts: path.readouts, state: member.state });
      const outs = await forecastAll(data, parts, { model: member, tries }, place, signal);
      for (const [l, out] of outs.entries()) made[l]!.push(out);
    } catch (error) {
      if (!(error instanceof IllConditionedError || error instanceof NonFiniteStateError)) throw error;
      for (const list of made) list.push(error);
    } finally {
      await computer.dispose();
    }
  }
  return { forecasts: made.map(medianOrError), members: kept };
}

/** What is kept of a trained member, to forecast with it again. */
interface TriedMember {
  readonly open: () => Promise<AnyReservoirComputer>;
  readonly road: ForecasterMember["road"];
  /** One for each lambda. */
  readonly readouts: readonly (TrainedReadout | Error)[];
  /** Where it stood at the end of its training rows. */
  readonly state: ForecasterMember["state"];
}

/** The median forecasts of a candidate's members with one lambda, without training them again. */
async function tryAgain(
  data: readonly CheckedSeries[],
  parts: ValidationParts,
  { lags, members }: { readonly lags: number; readonly members: readonly TriedMember[] },
  place: number,
  { horizon, warmup, hybrid }: ChoiceOptions,
  signal: AbortSignal | undefined,
): Promise<Matrix<Float64Array> | Error> {
  const made: Matrix<Float64Array>[] = [];
  for (const { open, road, readouts, state } of members) {
    const readout = readouts[place]!;
    if (readout instanceof Error) return readout;
    const computer = await open();
    try {
      const member = new ForecasterMember(computer, { readout, road, lags, hybrid, recent: Matrix.zeros(0, readout.outputSize) });
      member.state = state;
      const how = { horizon, warmup, lost: road.transforms.lost, runaway: "infinite" } as const;
      const [said] = await forecastAll(data, parts, { model: member, tries: [member] }, how, signal);
      made.push(said as Matrix<Float64Array>);
    } catch (error) {
      if (error instanceof NonFiniteStateError) return error;
      throw error;
    } finally {
      await computer.dispose();
    }
  }
  return medianOf(made);
}

/** Why the rows cannot go through transforms, such as a logarithm of what is not above 0. */
function unfitTransform(
  data: readonly CheckedSeries[],
  { training }: ValidationParts,
  transforms: RoadSettings["transforms"],
): Error | undefined {
  if (transforms.length === 0) return undefined;
  try {
    const fitted = fitTransforms(
      training.map(({ series }) => series),
      transforms,
    );
    for (const { series } of data) transformed(series, fitted);
    return undefined;
  } catch (error) {
    if (error instanceof ArgumentError) return error;
    throw error;
  }
}

/**
 * How many forecasts of the validation parts do not overlap, at most as many as there are starts.
 */
function apart(data: readonly CheckedSeries[], { training, starts }: ValidationParts, horizon: number): number {
  const room = data.reduce((sum, { series }, s) => sum + Math.floor((series.rows - training[s]!.series.rows) / horizon), 0);
  return Math.max(1, Math.min(starts.length, room));
}

/**
 * The places of the best pairs, at most two of one candidate. Of pairs that are as good as the
 * best, or no worse than few starts can show, it takes the one with the largest lambda, and of
 * those the earliest candidate. All take the calendar, or none does.
 */
function best(
  scores: readonly ScoredPair[],
  costs: readonly Float64Array[],
  starts: number,
  keep: number,
  candidates: readonly Pick<Candidate, "calendar">[],
): number[] {
  const left = scores.flatMap(({ score }, place) => (score === undefined || Number.isNaN(score) ? [] : [place]));
  const kept: number[] = [];
  while (kept.length < keep && left.length > 0) {
    const first = left.reduce((a, b) => (scores[b]!.score! < scores[a]!.score! ? b : a));
    const least = scores[first]!.score!;
    const isTied = (place: number) =>
      scores[place]!.score! - least <= tie * Math.abs(least) || isNoWorse(costs[place]!, costs[first]!, starts);
    const chosen = left.filter(isTied).reduce((a, b) => (scores[b]!.lambda > scores[a]!.lambda ? b : a));
    kept.push(chosen);
    const { candidate } = scores[chosen]!;
    const isOther = (place: number) => candidates[scores[place]!.candidate]!.calendar !== candidates[candidate]!.calendar;
    const isFull = kept.filter((place) => scores[place]!.candidate === candidate).length >= 2;
    for (let i = left.length - 1; i >= 0; i--) {
      if (left[i] === chosen || isOther(left[i]!) || (isFull && scores[left[i]!]!.candidate === candidate)) left.splice(i, 1);
    }
  }
  return kept;
}

/** Ridge regression of all lambdas at once: what it gives is the first that succeeds. */
class PathTrainer implements Trainer {
  readonly features: Trainer["features"];
  readonly #options: RidgeOptions;
  readonly #lambdas: readonly number[];
  readouts: (TrainedReadout | IllConditionedError)[] = [];

  constructor(options: RidgeOptions, lambdas: readonly number[]) {
    const { transform, input, intercept } = options;
    this.#options = { transform, input, intercept, lambda: lambdas[0] };
    this.#lambdas = lambdas;
    this.features = ridge(this.#options).features;
  }

  stream(shape: Parameters<NonNullable<Trainer["stream"]>>[0]) {
    const sums = ridge(this.#options).accumulator(shape) as GramAccumulator;
    const solve = () => {
      this.readouts = ridgePath(sums, this.#lambdas);
      const first = this.readouts.find((found) => !(found instanceof Error));
      if (first) return first as TrainedReadout;
      throw this.readouts[0]!;
    };
    return { sink: sums, solve, dispose: () => sums.dispose() };
  }

  fit(): never {
    throw ArgumentError.because("a trainer of a path of lambdas takes rows that stream by");
  }
}
