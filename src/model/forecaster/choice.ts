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
import { startsBetween } from "../../series/validation-starts.js";
import { fitStandardisation } from "../standardisation.js";
import { type CheckedData, type CheckedSeries, withoutCalendar } from "./data.js";
import { type ForecastLoss, isNoWorse, losses, medianOf } from "./loss.js";
import { ForecasterMember } from "./member.js";
import type { RoadSettings } from "./road.js";

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

/** A start of a validation forecast: its first row is row `row` of sequence `sequence`. */
export interface ValidationStart {
  readonly sequence: number;
  readonly row: number;
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
   * starts * horizon x D: what came, in units of the data; row k * horizon + h is step h of start
   * k.
   */
  readonly targets: Matrix<Float64Array>;
  /**
   * The same rows: targets less the forecast of the kept pairs, their median if they are several; NaN
   * where the target was filled and not measured.
   */
  readonly errors: Matrix<Float64Array>;
}

/** A relative difference of scores below this is a tie. */
const tie = 1e-3;

/** The parts of the data: what trains, and what the starts are in. */
export interface ValidationParts {
  readonly training: readonly CheckedSeries[];
  readonly starts: readonly ValidationStart[];
}

/**
 * A candidate that forecasts from every start: a forecast for each lambda, or why there is none.
 */
export interface ForecastingCandidate extends TriedSetting {
  forecasts(signal: AbortSignal | undefined): Promise<readonly (Matrix<Float64Array> | Error)[]>;
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
  const tried = candidates.map((each) => ({
    lags: each.lags,
    calendar: each.calendar,
    forecasts: (signal: AbortSignal | undefined) =>
      each.calendar ? tryCandidate(data, parts, each, options, signal) : tryCandidate(bare, bareParts, each, options, signal),
  }));
  return choosePairs(data, parts, tried, options, work);
}

/**
 * Scores the forecasts of candidates, and keeps the best pairs. @throws ArgumentError if there is
 * none
 */
export async function choosePairs(
  data: readonly CheckedSeries[],
  parts: ValidationParts,
  candidates: readonly ForecastingCandidate[],
  options: Pick<ChoiceOptions, "horizon" | "lambdas" | "loss" | "keep" | "masks">,
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
  const filled = options.masks.some((mask) => mask?.data.includes(1))
    ? rowsOf(
        options.masks.map((mask, s) => mask ?? Matrix.zeros(data[s]!.series.rows, data[s]!.series.cols)),
        parts.starts,
        horizon,
      ).data
    : undefined;
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
  const errors = new Matrix(
    targets.rows,
    targets.cols,
    targets.data.map((value, i) => (filled?.[i] ? Number.NaN : value - combined.data[i]!)),
  );
  const seconds = (performance.now() - begun) / 1000;
  return {
    horizon,
    loss,
    starts: parts.starts,
    candidates: candidates.map(({ lags, calendar }) => ({ lags, calendar })),
    scores,
    kept: kept.map((place) => scores[place]!),
    seconds,
    targets,
    errors,
  };
}

/** The median forecasts of a candidate's members for each lambda, or why there are none. */
async function tryCandidate(
  data: readonly CheckedSeries[],
  parts: ValidationParts,
  { lags, transforms, readout, members }: Candidate,
  options: ChoiceOptions,
  signal: AbortSignal | undefined,
): Promise<(Matrix<Float64Array> | Error)[]> {
  const { lambdas, horizon } = options;
  const unfit = unfitTransform(data, parts, transforms);
  if (unfit) return lambdas.map(() => unfit);
  const made: (Matrix<Float64Array> | Error)[][] = lambdas.map(() => []);
  for (const open of members) {
    const computer = await open();
    try {
      const path = new PathTrainer(readout, lambdas);
      const member = await ForecasterMember.fit(computer, parts.training, { ...options, trainer: path, lags, transforms }, { signal });
      const tries = path.readouts.map((found) => (found instanceof Error ? found : member.with(found)));
      const place = { horizon, warmup: options.warmup, lost: member.road.transforms.lost };
      const outs = await forecastAll(data, parts, { model: member, tries }, place, signal);
      for (const [l, out] of outs.entries()) made[l]!.push(out);
    } catch (error) {
      if (!(error instanceof IllConditionedError || error instanceof NonFiniteStateError)) throw error;
      for (const list of made) list.push(error);
    } finally {
      await computer.dispose();
    }
  }
  return made.map((list) => list.find((one) => one instanceof Error) ?? medianOf(list as Matrix<Float64Array>[]));
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

/** A trained model with a state, as validation goes over rows with it. */
export interface FollowsRows<State> {
  state: State;
  /** To the initial state, and from there over a series. */
  start(data: CheckedSeries, signal: AbortSignal | undefined): Promise<void>;
  /** Moves on over rows. */
  follow(data: CheckedSeries, signal: AbortSignal | undefined): Promise<void>;
  /** Closed loop; moves on, to anywhere. */
  forecast(steps: number, outside: Matrix | undefined, work: WorkOptions): Promise<Matrix<Float64Array>>;
}

/**
 * Forecasts with every readout from every start: after `warmup` rows and those that transforms take
 * (`lost`), or else going over the validation rows once. `tries` share the state of `model`, which
 * stands at the end of its training rows.
 */
export async function forecastAll<State>(
  data: readonly CheckedSeries[],
  { training, starts }: ValidationParts,
  { model, tries: given }: { readonly model: FollowsRows<State>; readonly tries: readonly (FollowsRows<State> | Error)[] },
  { horizon, warmup, lost = 0 }: { readonly horizon: number; readonly warmup?: number | undefined; readonly lost?: number },
  signal: AbortSignal | undefined,
): Promise<(Matrix<Float64Array> | Error)[]> {
  const tries = [...given];
  const outs = tries.map((found) => (found instanceof Error ? found : Matrix.zeros(starts.length * horizon, data[0]!.series.cols)));
  const size = horizon * data[0]!.series.cols;
  let at = { sequence: data.length - 1, row: training.at(-1)!.series.rows };
  for (const [k, start] of starts.entries()) {
    const { series, known } = data[start.sequence]!;
    const rows = (from: number, to: number) => ({ series: series.subarray(from, to), known: known?.subarray(from, to) });
    if (warmup !== undefined) {
      await model.start(rows(Math.max(0, start.row - warmup - lost), start.row), signal);
    } else {
      if (start.sequence !== at.sequence) {
        const part = training[start.sequence]!;
        await model.start(part, signal);
        at = { sequence: start.sequence, row: part.series.rows };
      }
      if (start.row > at.row) await model.follow(rows(at.row, start.row), signal);
      at = start;
    }
    const { state } = model;
    for (const [l, one] of tries.entries()) {
      if (one instanceof Error) continue;
      one.state = state;
      try {
        const forecast = await one.forecast(horizon, known?.subarray(start.row, start.row + horizon), { signal });
        (outs[l] as Matrix<Float64Array>).data.set(forecast.data, k * size);
      } catch (error) {
        if (!(error instanceof NonFiniteStateError)) throw error;
        tries[l] = error;
        outs[l] = error;
      }
    }
    model.state = state;
  }
  return outs;
}

/** Where the training part ends, and where forecasts start. @throws ArgumentError */
export function validationParts(
  data: readonly CheckedSeries[],
  { horizon, validation, starts, washout }: Pick<ChoiceOptions, "horizon" | "validation" | "starts" | "washout">,
): ValidationParts {
  const ends = data.map(({ series }) => Math.floor((1 - validation) * series.rows));
  const usable = data.flatMap(({ series }, s) => (fits(series.rows, ends[s]!, horizon, washout) ? [s] : []));
  const longest = data.reduce((a, b) => (a.series.rows >= b.series.rows ? a : b)).series.rows;
  if (usable.length === 0) {
    const end = Math.floor((1 - validation) * longest);
    throw ArgumentError.shape(
      `horizon is ${horizon} and the ${data.length > 1 ? "longest " : ""}series has ${longest} rows, ${end} to train on and ${longest - end} to forecast: ` +
        `it takes at least ${horizon} to forecast, and ${washout + 2 * horizon} to train on (washout ${washout} and twice the horizon). ` +
        "Take a shorter horizon, a shorter washout or more rows",
      { field: "horizon", value: horizon },
    );
  }
  const each = Math.ceil(starts / usable.length);
  const training = data.map(({ series, known }, s) => {
    const end = usable.includes(s) ? ends[s]! : series.rows;
    return { series: series.subarray(0, end), known: known?.subarray(0, end) };
  });
  if (changingColumns(training).every((changes) => !changes))
    throw ArgumentError.because("the series never changes in its training part, so there is nothing to choose by; leave horizon out", {
      field: "horizon",
    });
  // The last sequence first: the member that was just trained stands at its end.
  const places = usable.toReversed().flatMap((sequence) => {
    const rows = startsBetween(ends[sequence]!, data[sequence]!.series.rows - horizon, each);
    return rows.map((row) => ({ sequence, row }));
  });
  return { training, starts: places };
}

function fits(rows: number, end: number, horizon: number, washout: number): boolean {
  return rows - end >= horizon && end >= washout + 2 * horizon;
}

/** The fewest rows of a series that a choice by forecasts of so many steps takes. */
export function fewestRows({ horizon, washout, validation }: Pick<ChoiceOptions, "horizon" | "washout" | "validation">): number {
  let rows = Math.ceil((washout + 2 * horizon) / (1 - validation));
  while (!fits(rows, Math.floor((1 - validation) * rows), horizon, washout)) rows++;
  return rows;
}

function changingColumns(series: readonly CheckedData[]): boolean[] {
  const first = series[0]!.series!;
  return Array.from({ length: first.cols }, (_, c) =>
    series.some((one) => {
      const { rows, cols, data } = one.series!;
      for (let t = 0; t < rows; t++) if (data[t * cols + c] !== first.data[c]) return true;
      return false;
    }),
  );
}

/** The rows that each start forecasts, under each other. */
function rowsOf(series: readonly Matrix[], starts: readonly ValidationStart[], horizon: number): Matrix<Float64Array> {
  const { cols } = series[0]!;
  const out = Matrix.zeros(starts.length * horizon, cols);
  for (const [k, { sequence, row }] of starts.entries())
    out.data.set(series[sequence]!.subarray(row, row + horizon).data, k * horizon * cols);
  return out;
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
