// What an experiment leaves open of its forecaster, which the forecaster then chooses by
// closed-loop forecasts of the task's horizon, and how the choice is said in words.

import { ArgumentError } from "@spillway/core/errors.js";
import type { Matrix } from "@spillway/numerics";
import type { WeightedMember } from "../../model/forecaster/choice.js";
import { chooseDefaults } from "../../model/forecaster/lambda-choice.js";
import { memberNames } from "../../model/forecaster/options.js";
import { opensCalendar, plannedMembers } from "../../model/forecaster/plan.js";
import { fewestRows } from "../../model/forecaster/validation.js";
import type { Forecaster, ForecasterOptions, TriedSetting } from "../../model/index.js";
import { formatNumber } from "../../plot/format.js";
import type { RidgeOptions } from "../../readout/index.js";
import { type CalendarFeature, shownCycles } from "../../series/calendar.js";
import { seasonsOf, type TimeStep } from "../../series/index.js";
import type { PreparedSeries } from "../data/prepare.js";
import type { Experiment, ForecastTask } from "../description/description.js";
import { ExperimentError } from "../description/errors.js";

/** A forecast's settings: what it chooses by and among, or the fixed ones. */
export interface ForecastPlan {
  readonly options: Pick<ForecasterOptions, "horizon" | "season" | "lags" | "members" | "choose">;
  readonly isChosen: boolean;
  /** The most rows of the series that a readout may see. */
  readonly longestLags: number;
  /**
   * Rows that drive the reservoir before each forecast, those that choose among them: as many as
   * lags at least.
   */
  readonly warmup: number;
}

/** What one seed chose, and among what. */
export interface ChosenSettings {
  /** Rows of the series that the readout sees beside the state. */
  readonly lags: number;
  /** What of the calendar is an input; empty if nothing is. */
  readonly calendar: readonly CalendarFeature[];
  /** The penalty of ridge regression. */
  readonly lambda: number;
  /** Its loss over validation forecasts, in deviations of the training part. */
  readonly score: number;
  /** Reservoirs whose median is the forecast. */
  readonly members: number;
  /** What was tried: lags and calendar, penalties, and by how many forecasts of how many steps. */
  readonly among: {
    readonly settings: readonly TriedSetting[];
    readonly lambdas: readonly number[];
    readonly starts: number;
    readonly horizon: number;
  };
}

/** The longest lags that are tried without being asked for: a Gram matrix has as many columns. */
const mostLags = 1000;

const lagsOfSeason = (season: number) => season + Math.ceil(season / 7);

/**
 * What a forecast's own settings are, and whether some are chosen: lambda, if the file leaves it
 * out and the readout is ridge, lags, if the series has a season, and the calendar, if it has time
 * stamps. What the file sets is held. A training part that is too short to choose by chooses
 * nothing.
 */
export function planForecast(
  { task, readout, reservoir, data, baselines, washout }: Experiment & { readonly task: ForecastTask },
  trained: readonly PreparedSeries[],
  step: TimeStep | undefined,
): ForecastPlan {
  const { horizon, lags } = task;
  const members = typeof task.members === "number" ? task.members : undefined;
  const { type = "ridge", lambda, selection } = readout as RidgeOptions & { readonly type?: string };
  const takesLags = !("feedback" in reservoir && reservoir.feedback != null);
  const validation = chooseDefaults.validation;
  const longest = longestOf(trained);
  const early = longest.whole.original.subarray(0, Math.floor((1 - validation) * longest.trainRows));
  const canChoose = type === "ridge" && selection === undefined && isLongEnough(longest, { horizon, washout });
  const fixed = typeof lags === "number" ? lags : 0;
  const drivenBy = (longestLags: number) => ({ longestLags, warmup: Math.max(task.warmup, longestLags) });
  if (!canChoose) return { options: { lags: fixed, members }, isChosen: false, ...drivenBy(fixed) };
  const named = namedSeasons(baselines);
  const given = task.season === undefined ? undefined : [task.season].flat();
  const isShown = "file" in data && lambda === undefined;
  const found = given ?? [...named, ...(step || isShown ? seasonsOf(early, { step }) : [])];
  const fit = (season: number) => 2 * season <= early.rows && (given !== undefined || lagsOfSeason(season) <= mostLags);
  const seasons = takesLags && typeof lags !== "number" ? [...new Set(found)].filter(fit).sort((a, b) => a - b) : [];
  const isTimed = step !== undefined && "file" in data && data.calendar === undefined && shownCycles(step, early.rows).length > 0;
  const isChosen = lambda === undefined || seasons.length > 0 || (isTimed && opensCalendar({ horizon }, reservoir, false));
  if (!isChosen) return { options: { lags: fixed, members }, isChosen, ...drivenBy(fixed) };
  const driven = drivenBy(Math.max(fixed, ...seasons.map(lagsOfSeason)));
  return {
    options: {
      horizon,
      ...(seasons.length > 0 ? { season: seasons, lags: "season" } : { lags: fixed }),
      members: members ?? plannedMembers,
      choose: { warmup: driven.warmup },
    },
    isChosen,
    ...driven,
  };
}

/** The shortest season of a combination: that of the task, of a baseline, or that the rows show. */
export function combinedSeason(
  { task, data, baselines }: Pick<Experiment, "data" | "baselines"> & { readonly task: ForecastTask },
  trained: readonly PreparedSeries[],
  step: TimeStep | undefined,
): number | undefined {
  const { whole, trainRows } = longestOf(trained);
  const found = () => (step || "file" in data ? seasonsOf(whole.original.subarray(0, trainRows), { step }) : []);
  const named = namedSeasons(baselines);
  const seasons = task.season === undefined ? (named.length > 0 ? named : found()) : [task.season].flat();
  return seasons.toSorted((a, b) => a - b).find((each) => each > 1 && 2 * each <= trainRows);
}

function namedSeasons(baselines: Experiment["baselines"]): number[] {
  return baselines.flatMap((each) =>
    typeof each === "object" && "seasonalNaive" in each && each.seasonalNaive > 1 ? [each.seasonalNaive] : [],
  );
}

/** Whether a choice by forecasts of the horizon has rows enough, which change. */
export function isLongEnough(
  { whole, trainRows }: Pick<PreparedSeries, "whole" | "trainRows">,
  { horizon, washout }: { readonly horizon: number; readonly washout: number },
): boolean {
  const { validation } = chooseDefaults;
  return (
    trainRows >= fewestRows({ horizon, washout, validation }) &&
    isChanging(whole.original.subarray(0, Math.floor((1 - validation) * trainRows)))
  );
}

/** The series with the most rows to train on. */
export function longestOf(trained: readonly PreparedSeries[]): PreparedSeries {
  return trained.reduce((a, b) => (a.trainRows >= b.trainRows ? a : b));
}

/**
 * @throws ExperimentError for series that never change, ArgumentError for lags or a season that are
 * longer than what trains
 */
export function checkTraining(task: ForecastTask, trained: readonly PreparedSeries[]): void {
  const longest = longestOf(trained);
  checkRows(task, longest);
  if (trained.every(({ whole, trainRows }) => !isChanging(whole.original.subarray(0, trainRows))))
    throw new ExperimentError(
      `the series never changes in the ${longest.trainRows} rows of its training part, so there is nothing to learn; forecast other columns (data.columns) or rows (data.rows)`,
    );
}

function isChanging({ data, cols }: Matrix): boolean {
  return data.some((value, i) => value !== data[i % cols]);
}

/** @throws ArgumentError for lags or a season that are longer than what trains */
function checkRows({ lags, season }: ForecastTask, { trainRows }: PreparedSeries): void {
  if (typeof lags === "number" && lags >= trainRows)
    throw new ArgumentError("task.lags", lags, `fewer than the ${trainRows} rows of the training part`);
  const long = [season ?? []].flat().find((each) => 2 * each > trainRows);
  if (long !== undefined)
    throw new ArgumentError("task.season", season, `seasons two of which fit into the ${trainRows} rows of the training part`);
}

/** What a forecaster chose; undefined if it chose nothing. */
export function choiceOf({
  choice,
  members = [],
  calendar = [],
}: Pick<Forecaster, "choice"> & Partial<Pick<Forecaster, "calendar">> & { readonly members?: readonly unknown[] }):
  | ChosenSettings
  | undefined {
  if (!choice || choice.members) return undefined;
  const { candidates, kept, scores, starts, horizon } = choice;
  const [best] = kept;
  return {
    lags: candidates[best!.candidate]!.lags,
    calendar,
    lambda: best!.lambda,
    score: best!.score!,
    members: Math.max(1, members.length),
    among: {
      settings: candidates,
      lambdas: scores.filter(({ candidate }) => candidate === 0).map(({ lambda }) => lambda),
      starts: starts.length,
      horizon,
    },
  };
}

/** The members of a combination that one seed weighed, and by which forecasts. */
export interface WeighedMembers {
  /** Each with its weights and its errors at the origins, one a column. */
  readonly members: readonly Pick<WeightedMember, "name" | "weights" | "errors">[];
  /** Forecasts from earlier rows, and how many horizons the rows after the first of them hold. */
  readonly origins: number;
  readonly horizons: number;
  /** How many series the weights are the mean of, if they are several. */
  readonly series?: number | undefined;
}

/** How the members of a combination are weighed; undefined if there is none. */
export function weighedOf(forecaster: Pick<Forecaster, "choice" | "keys" | "choiceOf">): WeighedMembers | undefined {
  const { choice, keys } = forecaster;
  if (!choice?.members) return undefined;
  const { members, starts, validated, horizon } = choice;
  const known = { origins: starts.length, horizons: validated!.rows / horizon };
  if (keys.length === 0) return { members: members.map(({ name, weights, errors }) => ({ name, weights, errors })), ...known };
  const each = keys.map((key) => forecaster.choiceOf(key)!.members!);
  const names = memberNames.filter((name) => each.some((own) => own.some((member) => member.name === name)));
  return {
    members: names.map((name) => {
      const own = each.map((one) => one.find((member) => member.name === name)?.weights);
      return { name, weights: members[0]!.weights.map((_, c) => own.reduce((sum, weights) => sum + (weights?.[c] ?? 0), 0) / keys.length) };
    }),
    ...known,
    series: keys.length,
  };
}

/**
 * "theta 0.41, damped 0.33, ets 0.26: weights by forecasts from 8 earlier rows; mean of 3 seeds".
 * Of several columns the mean over them.
 */
export function describeWeights(all: readonly WeighedMembers[]): string | undefined {
  const [first] = all;
  if (!first) return undefined;
  const totals = new Map<string, number>();
  for (const { members } of all)
    for (const { name, weights } of members)
      totals.set(name, (totals.get(name) ?? 0) + weights.reduce((sum, weight) => sum + weight, 0) / weights.length / all.length);
  const said = [...totals].sort(([, a], [, b]) => b - a).map(([name, weight]) => `${name} ${weight.toFixed(2)}`);
  const several = first.series === undefined ? "" : `; mean of ${first.series} series`;
  const seeds = `${several}${all.length > 1 ? `; mean of ${all.length} seeds` : ""}`;
  return `${said.join(", ")}: weights by forecasts from ${first.origins} earlier row${first.origins === 1 ? "" : "s"}${seeds}`;
}

function describeSetting({ lags, calendar }: TriedSetting): string {
  const said = lags === 0 ? "no lags" : `${lags} lags`;
  return calendar ? `${said} with the calendar` : said;
}

/**
 * "192 lags with the calendar, lambda 0.01 (of no lags, 192 lags, 192 lags with the calendar, and 8
 * lambdas from 1e-8 to 100, by 25 forecasts of 24 steps inside the training part); the median of 5
 * reservoirs forecasts"
 */
export function describeChoices(choices: readonly ChosenSettings[]): string | undefined {
  const [first] = choices;
  if (!first) return undefined;
  const { among, members } = first;
  const counts = new Map<string, number>();
  const isOpen = among.settings.length > 1;
  for (const { lags, calendar, lambda } of choices) {
    const setting = describeSetting({ lags, calendar: calendar.length > 0 });
    const said = [...(isOpen ? [setting] : []), `lambda ${formatNumber(lambda)}`].join(", ");
    counts.set(said, (counts.get(said) ?? 0) + 1);
  }
  const said = [...counts].sort(([, a], [, b]) => b - a).map(([text, count]) => (counts.size > 1 ? `${text} (${count} seeds)` : text));
  const { lambdas } = among;
  const tried = [
    ...(isOpen ? among.settings.map(describeSetting) : []),
    lambdas.length > 1
      ? `${lambdas.length} lambdas from ${formatNumber(Math.min(...lambdas))} to ${formatNumber(Math.max(...lambdas))}`
      : "this lambda",
  ]
    .join(", ")
    .replace(/, (?=[^,]*$)/, isOpen ? ", and " : "");
  const how = `of ${tried}, by ${among.starts} forecasts of ${among.horizon} steps inside the training part`;
  return `${said.join("; ")} (${how})${members > 1 ? `; the median of ${members} reservoirs forecasts` : ""}`;
}
