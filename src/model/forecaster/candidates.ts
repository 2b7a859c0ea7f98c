// Candidates of a Forecaster's choice: each is trained on the first part of the rows with every
// lambda, and forecasts from validation starts. No row from the validation part touches the
// training of what is scored on it.
import { ArgumentError } from "@spillway/core/errors.js";
import { Matrix } from "@spillway/numerics";
import {
  type GramAccumulator,
  IllConditionedError,
  type RidgeOptions,
  ridge,
  type TrainedReadout,
  type Trainer,
} from "../../readout/index.js";
import { ridgePath } from "../../readout/ridge-path.js";
import { type AnyReservoirComputer, NonFiniteStateError, type WorkOptions } from "../../reservoir/index.js";
import { fitTransforms, transformed } from "../../series/transforms.js";
import { type ChoiceOptions, choosePairs, type ForecasterChoice, type ForecastingCandidate } from "./choice.js";
import { type CheckedSeries, withoutCalendar } from "./data.js";
import { medianOf, medianOrError } from "./loss.js";
import { ForecasterMember } from "./member.js";
import type { RoadSettings } from "./road.js";
import { forecastAll, type ValidationParts, validationParts } from "./validation.js";

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
