// The closed loop as a member of a combination: which candidates forecast best from earlier rows.
import { Matrix } from "@spillway/numerics";
import type { ReservoirOptions } from "../../reservoir/index.js";
import { fitStandardisation } from "../standardisation.js";
import type { ForecasterChoice, ScoredPair } from "./choice.js";
import { withoutCalendar } from "./data.js";
import { tryCandidate } from "./evaluate.js";
import { medianOf } from "./loss.js";
import type { FitRows } from "./model.js";
import type { CandidateOptions } from "./options.js";
import { plannedMembers } from "./plan.js";
import type { ReadyCandidates, ReservoirForecastModel } from "./reservoir-model.js";
import { bestOf, holdsNothing, type Tried, typicalError, type Validation } from "./tried.js";

/** The least first origin with which the loop takes part, and the fewest rows that train it. */
export const fewestLoopRows = 32;
const fewestTrainingRows = 15;
/** Below so many rows the loop has fewer neurons and no small lambda, and keeps all candidates. */
const fewRows = { plain: 200, seasonal: 1000 };
const lambdasOfFewRows = [1e-4, 1e-2, 0.1, 1, 10, 100];
const sizesOfFewRows = [60, 100] as const;
const leakOfFewRows = { from: 0.1, to: 1 };
/** Reservoirs of a candidate that is tried, and of all that are kept. */
const triedReservoirs = 2;
const mostReservoirs = 10;
/** Of a longer series a candidate with a typical error this many times the least is left out. */
const mostOverBest = 1.5;

/** What the loop chose. */
export type LoopChoice = Pick<ForecasterChoice, "candidates" | "scores" | "kept">;

/** Every candidate with its own best lambda; the median of the candidates is the member. */
export async function tryLoop(
  loop: ReservoirForecastModel,
  described: Partial<ReservoirOptions>,
  rows: FitRows,
  validation: Validation,
  signal: AbortSignal | undefined,
): Promise<{ readonly tried: Tried; readonly choice: LoopChoice } | undefined> {
  const { origins, season, parts, horizon, targets } = validation;
  if (origins[0]! < fewestLoopRows) return undefined;
  const { settings } = loop;
  const { rows: count } = validation.data.series;
  const areFew = count < (season > 1 ? fewRows.seasonal : fewRows.plain);
  const size = sizesOfFewRows[count < fewRows.plain ? 0 : 1];
  const reservoir = areFew ? { size, leakRate: leakOfFewRows, ...described } : {};
  const planned = loopCandidates(season).map((each) => ({ ...each, reservoir }));
  const of = (members: number): ReadyCandidates =>
    loop.ready(rows, loop.planned({ ...settings, members, choose: { candidates: planned } }), areFew ? lambdasOfFewRows : undefined);
  const ready = of(triedReservoirs);
  const isEnough = ({ lags, transforms }: (typeof ready.candidates)[number]) => {
    const lost = transforms.reduce((sum, one) => sum + (typeof one === "object" && "difference" in one ? one.difference : 0), 0);
    return origins[0]! - lost - Math.max(ready.washout, lags - 1) >= fewestTrainingRows;
  };
  const scale = fitStandardisation([parts.training[0]!.series]).deviation;
  const scores: ScoredPair[] = [];
  const best: { readonly pair: ScoredPair; readonly forecasts: Matrix<Float64Array> }[] = [];
  for (const [candidate, each] of ready.tried.entries()) {
    if (!isEnough(ready.candidates[candidate]!)) continue;
    const own = withCalendarIf(each.calendar, rows.calendarColumns, validation);
    const options = { lambdas: ready.lambdas, horizon };
    const { forecasts } = await tryCandidate([own.data], own.parts, each, options, signal);
    const { index, score, errors } = bestOf(forecasts, ready.lambdas, validation);
    for (const [l, lambda] of ready.lambdas.entries()) {
      const made = forecasts[l]!;
      const pair = made instanceof Matrix ? { candidate, lambda, error: errors[l] } : { candidate, lambda, failure: made.message };
      scores.push(l === index ? { ...pair, score } : pair);
      if (l === index) best.push({ pair: scores.at(-1)!, forecasts: made as Matrix<Float64Array> });
    }
  }
  if (best.length === 0) return undefined;
  const alike = ofOneCalendar(best, ready);
  const kept = areFew ? alike : nearBest(alike, ({ forecasts: made }) => typicalError(targets, made, scale, horizon));
  const pairs = kept.map(({ pair }) => pair);
  const trained = of(Math.min(plannedMembers, Math.floor(mostReservoirs / kept.length)));
  const candidates = ready.candidates.map(({ lags, calendar }) => ({ lags, calendar }));
  return {
    tried: {
      name: "loop",
      forecasts: medianOf(kept.map((each) => each.forecasts)),
      train: (work) => trained.train(pairs, work),
      dispose: holdsNothing,
    },
    choice: { candidates, scores, kept: pairs.toSorted((a, b) => a.score! - b.score!) },
  };
}

/** Levels, differences, with a season also lags of it and seasonal differences. */
function loopCandidates(season: number): CandidateOptions[] {
  const differences = (rows: number): CandidateOptions => ({ lags: 0, transforms: [{ difference: rows }] });
  const plain = [{ lags: 0 }, differences(1)];
  return season > 1 ? [...plain, { lags: season + Math.ceil(season / 7) }, differences(season)] : plain;
}

/** The rows as a candidate has them: without the calendar, if it takes none. */
export function withCalendarIf(isTaken: boolean, columns: number, { data, parts }: Validation): Pick<Validation, "data" | "parts"> {
  if (isTaken || columns === 0) return { data, parts };
  return { data: withoutCalendar([data], columns)[0]!, parts: { ...parts, training: withoutCalendar(parts.training, columns) } };
}

/**
 * Without candidates that are far worse than the best, such as differences of a series without
 * noise: the median of a few would be far worse than the best, too.
 */
function nearBest<Each>(all: readonly Each[], errorOf: (each: Each) => number): Each[] {
  const errors = all.map(errorOf);
  const most = mostOverBest * Math.min(...errors);
  return all.filter((_, i) => errors[i]! <= most);
}

/** All take the calendar or none does: those among which the best is. */
function ofOneCalendar<Each extends { readonly pair: ScoredPair }>(best: readonly Each[], { candidates }: ReadyCandidates): Each[] {
  const first = best.reduce((a, b) => (b.pair.score! < a.pair.score! ? b : a));
  const takes = ({ pair }: Each) => candidates[pair.candidate]!.calendar;
  return best.filter((each) => takes(each) === takes(first));
}
