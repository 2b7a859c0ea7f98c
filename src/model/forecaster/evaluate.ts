// Evaluates many settings of a forecaster: each candidate is trained on the first part of the rows
// with every lambda, and forecasts from validation starts. No row from the validation part touches
// the training of what is scored on it.
import { ArgumentError, orError } from "@spillway/core/errors.js";
import type { Matrix } from "@spillway/numerics";
import { IllConditionedError } from "../../readout/index.js";
import { NonFiniteStateError, type WorkOptions } from "../../reservoir/index.js";
import { fitTransforms, transformed } from "../../series/transforms.js";
import { choosePairs, type ForecasterChoice, type ForecastingCandidate, type PairOptions, type TriedSetting } from "./choice.js";
import { type CheckedSeries, withoutCalendar } from "./data.js";
import { medianOrError } from "./loss.js";
import type { ForecastMember } from "./model.js";
import type { PreprocessingSettings } from "./preprocessing.js";
import { forecastAll, type ValidationOptions, type ValidationParts, validationParts } from "./validation.js";

/** A member that was trained with every lambda. */
export interface TriedMember {
  /** One for each lambda, all with the same state; or why there is none. */
  readonly tries: readonly (ForecastMember | Error)[];
  /** One of them later on, in the state that training left it in. */
  again(index: number): Promise<ForecastMember>;
  /** Gives the reservoirs of `tries`, or of the last `again`, back. */
  close(): Promise<void>;
}

/** One setting that is tried. */
export interface Candidate extends TriedSetting {
  /** Transforms that the rows may be unfit for. */
  readonly transforms: PreprocessingSettings["transforms"];
  /** Trains each member on rows. */
  readonly members: readonly ((training: readonly CheckedSeries[], signal: AbortSignal | undefined) => Promise<TriedMember>)[];
}

/** What candidates are evaluated by. */
export interface EvaluateOptions extends PairOptions, ValidationOptions {
  /** The calendar: the last columns of what is known, which some candidates do not take. */
  readonly calendarColumns: number;
}

/**
 * Scores every candidate with every lambda, and chooses. @throws ArgumentError for data that the
 * horizon does not fit in, or that never changes
 */
export async function evaluate(
  candidates: readonly Candidate[],
  data: readonly CheckedSeries[],
  options: EvaluateOptions,
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
      again: (lambda, starts, signal) => tryAgain(rows, { ...own, starts }, members, options.lambdas.indexOf(lambda), options, signal),
    };
  });
  return choosePairs(data, parts, tried, options, work);
}

/** The median forecasts of a candidate's members for each lambda, or why there are none. */
export async function tryCandidate(
  data: readonly CheckedSeries[],
  parts: ValidationParts,
  { transforms, members }: Candidate,
  { lambdas, horizon, warmup }: Pick<EvaluateOptions, "lambdas" | "horizon" | "warmup">,
  signal: AbortSignal | undefined,
): Promise<{ readonly forecasts: readonly (Matrix<Float64Array> | Error)[]; readonly members: readonly TriedMember[] }> {
  const unfit = unfitTransform(data, parts, transforms);
  if (unfit) return { forecasts: lambdas.map(() => unfit), members: [] };
  const kept: TriedMember[] = [];
  const made: (Matrix<Float64Array> | Error)[][] = lambdas.map(() => []);
  for (const train of members) {
    try {
      const member = await train(parts.training, signal);
      kept.push(member);
      try {
        const outs = await forecastAll(data, parts, member.tries, { horizon, warmup }, signal);
        for (const [l, out] of outs.entries()) made[l]!.push(out);
      } finally {
        await member.close();
      }
    } catch (error) {
      if (!(error instanceof IllConditionedError || error instanceof NonFiniteStateError)) throw error;
      for (const list of made) list.push(error);
    }
  }
  return { forecasts: made.map(medianOrError), members: kept };
}

/** The median forecasts of a candidate's members with one lambda, without training them again. */
async function tryAgain(
  data: readonly CheckedSeries[],
  parts: ValidationParts,
  members: readonly TriedMember[],
  index: number,
  { horizon, warmup }: EvaluateOptions,
  signal: AbortSignal | undefined,
): Promise<Matrix<Float64Array> | Error> {
  const made: (Matrix<Float64Array> | Error)[] = [];
  for (const tried of members) {
    const found = tried.tries[index]!;
    if (found instanceof Error) return found;
    try {
      const member = await tried.again(index);
      made.push(...(await forecastAll(data, parts, [member], { horizon, warmup, runaway: "infinite" }, signal)));
    } catch (error) {
      if (error instanceof NonFiniteStateError) return error;
      throw error;
    } finally {
      await tried.close();
    }
  }
  return medianOrError(made);
}

/** Why the rows do not fit the transforms, such as a logarithm of what is not above 0. */
function unfitTransform(
  data: readonly CheckedSeries[],
  { training }: ValidationParts,
  transforms: PreprocessingSettings["transforms"],
): Error | undefined {
  if (transforms.length === 0) return undefined;
  const rows = training.map(({ series }) => series);
  const check = () => {
    const fitted = fitTransforms(rows, transforms);
    for (const { series } of data) transformed(series, fitted);
    return undefined;
  };
  return orError(check, ArgumentError);
}
