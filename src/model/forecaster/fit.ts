// How a Forecaster is trained: what is chosen, and then each member on all rows.
import { ArgumentError } from "@spillway/core/errors.js";
import type { Matrix } from "@spillway/numerics";
import { IllConditionedError, type Trainer } from "../../readout/index.js";
import type { AnyReservoirComputer, AnyReservoirOptions, CreateOptions, WorkOptions } from "../../reservoir/index.js";
import { forecasterTrainer } from "../defaults.js";
import { chooseByForecasts } from "./candidates.js";
import type { ForecasterChoice } from "./choice.js";
import { type CheckedData, type CheckedSeries, cutRows, withoutCalendar } from "./data.js";
import { drives, type Hybrid, isSeen } from "./hybrid.js";
import { ForecasterMember, type MemberTraining } from "./member.js";
import type { ForecasterSettings } from "./options.js";
import { chooseDefaults, openReservoir, type PlannedCandidate, planCandidates, plannedRidge, plannedWashout } from "./plan.js";
import type { MaskColumns } from "./road.js";

/**
 * The members of a forecaster, and how they agree: the median of each group, then over the groups.
 */
export interface TrainedMembers {
  readonly members: readonly ForecasterMember[];
  /** For each member the kept pair that it belongs to. */
  readonly groups: readonly number[];
  readonly choice: ForecasterChoice | undefined;
  /** Whether the calendar is an input. */
  readonly calendar: boolean;
}

/** What a fit starts from. */
export interface FitSource {
  readonly data: readonly CheckedData[];
  /** Of each series, 1 where a value was filled; undefined if none can have been. */
  readonly masks: readonly (Matrix | undefined)[];
  /** Which columns of what is known of them are a mask; undefined if none are. */
  readonly maskColumns: MaskColumns | undefined;
  /** How many of the last columns of what is known of them are the calendar. */
  readonly calendarColumns: number;
  readonly settings: ForecasterSettings;
  readonly reservoir: AnyReservoirOptions;
  readonly create: CreateOptions;
  readonly trainer: Trainer;
  readonly feedback: boolean;
  readonly hybrid: Hybrid | undefined;
  /** A reservoir that is there already and may be trained again. */
  readonly existing: AnyReservoirComputer | undefined;
}

/** @throws ArgumentError for data or settings that do not fit */
export async function fitMembers(source: FitSource, work: WorkOptions): Promise<TrainedMembers> {
  const { data, settings, reservoir, create, hybrid, calendarColumns, maskColumns } = source;
  const planned = planCandidates(settings, reservoir, create.matrices !== undefined);
  const candidates = planned.filter(({ calendar }) => !calendar || calendarColumns > 0);
  const { horizon, standardise, hold, bounds, targets } = settings;
  const rows = Math.min(...data.map((one) => (one.series ?? one.targets).rows));
  const washout = settings.washout === "auto" ? plannedWashout(rows) : settings.washout;
  const training = { standardise, hold, bounds, washout, hybrid, maskColumns };
  if (horizon === undefined) {
    const { trainer } = source;
    const members = await trainAll(source, [{ ...training, trainer, candidate: candidates[0]! }], work);
    return { members, groups: members.map(() => 0), choice: undefined, calendar: calendarColumns > 0 };
  }
  const series = checkAllSeries(data);
  checkSeason(settings, candidates, rows);
  const bare = { ...source, data: withoutCalendar(data, calendarColumns) };
  const { options, lambdas } = plannedRidge(settings.readout, settings);
  // Choosing is one half of the work, training the other, as progress counts it.
  const choice = await chooseByForecasts(
    series,
    candidates.map(({ lags, calendar, transforms, reservoirs }) => ({
      lags,
      calendar,
      transforms,
      readout: lags > 0 || isSeen(hybrid?.use) ? { ...options, input: true } : options,
      members: reservoirs.map(
        (each) => () => open(calendar ? source : bare, each, { ...create, engine: "cpu", context: undefined, plan: undefined }),
      ),
    })),
    {
      ...chooseDefaults,
      ...(settings.choose as Partial<typeof chooseDefaults>),
      ...training,
      horizon,
      targets,
      lambdas,
      calendarColumns,
      masks: source.masks,
    },
    half(work, 0),
  );
  const { calendar } = candidates[choice.kept[0]!.candidate]!;
  const groups = choice.kept.map(({ candidate, lambda }) => ({
    ...training,
    candidate: candidates[candidate]!,
    trainer: forecasterTrainer({ ...options, lambda }, candidates[candidate]!.lags, hybrid?.use),
    instead: forecasterTrainer({ ...options, lambda, solver: "qr", blas: "portable" }, candidates[candidate]!.lags, hybrid?.use),
  }));
  const members = await trainAll(calendar ? source : bare, groups, half(work, 1));
  return { members, groups: groups.flatMap(({ candidate }, g) => candidate.reservoirs.map(() => g)), choice, calendar };
}

/**
 * Members of one candidate; `instead` trains if the normal equations of `trainer` cannot be solved.
 */
type Group = Omit<MemberTraining, "lags" | "transforms"> & { readonly candidate: PlannedCandidate; readonly instead?: Trainer };

/** Trains the members of each group on all rows. */
async function trainAll(source: FitSource, groups: readonly Group[], work: WorkOptions): Promise<readonly ForecasterMember[]> {
  const members: ForecasterMember[] = [];
  const wanted = groups.flatMap(({ candidate, ...training }) =>
    candidate.reservoirs.map((each) => ({ each, training: { ...training, lags: candidate.lags, transforms: candidate.transforms } })),
  );
  const { signal, onProgress } = work;
  try {
    for (const [m, { each, training }] of wanted.entries()) {
      const computer = (wanted.length === 1 && source.existing) || (await open(source, each, source.create));
      const progress = onProgress && ((done: number, total: number) => onProgress(m * total + done, wanted.length * total));
      try {
        members.push(await trainOne(computer, source.data, training, { signal, onProgress: progress }));
      } catch (error) {
        if (computer !== source.existing) await computer.dispose();
        throw error;
      }
    }
    return members;
  } catch (error) {
    for (const { computer } of members) await computer.dispose();
    throw error;
  }
}

/**
 * A lambda that was chosen on fewer rows can be too small for the normal equations of all of them;
 * Householder reflections then find the same weights.
 */
async function trainOne(
  computer: AnyReservoirComputer,
  data: readonly CheckedData[],
  training: MemberTraining & { readonly instead?: Trainer | undefined },
  work: WorkOptions,
): Promise<ForecasterMember> {
  try {
    return await ForecasterMember.fit(computer, data, training, work);
  } catch (error) {
    if (!(error instanceof IllConditionedError) || !training.instead) throw error;
    computer.reset();
    const trainer = training.instead;
    return ForecasterMember.fit(computer, data, { ...training, trainer }, work);
  }
}

async function open(
  { data, feedback, hybrid }: FitSource,
  reservoir: AnyReservoirOptions,
  create: CreateOptions,
): Promise<AnyReservoirComputer> {
  const { inputs, targets } = cutRows(data[0]!, feedback);
  return openReservoir(reservoir, create, inputs.cols + (drives(hybrid?.use) ? targets.cols : 0), targets.cols);
}

/** @throws ArgumentError for lags that follow from a season and leave no row to train on */
function checkSeason({ lags, season, choose }: ForecasterSettings, candidates: readonly PlannedCandidate[], rows: number): void {
  const longest = Math.max(...candidates.map((each) => each.lags));
  const training = Math.floor((1 - (choose?.validation ?? chooseDefaults.validation)) * rows) - 1;
  if (lags !== "season" || longest <= training) return;
  throw ArgumentError.because(
    `season is ${[season].flat().join(", ")}, of which a readout would see ${longest} rows (a season and a seventh), and ${training} are left to train on; take shorter seasons, lags: 0, or more rows`,
    { field: "season", value: season },
  );
}

function checkAllSeries(data: readonly CheckedData[]): readonly CheckedSeries[] {
  return data.map((one) => {
    if (one.series) return one;
    throw ArgumentError.because(
      "horizon chooses by closed loops over a series, and inputs with targets were given; give { series, known }, or leave horizon out",
      { field: "horizon" },
    );
  });
}

/** Progress of one half of the work as progress of the whole. */
export function half({ signal, onProgress }: WorkOptions, which: 0 | 1): WorkOptions {
  return { signal, onProgress: onProgress && ((done: number, total: number) => onProgress(which * total + done, 2 * total)) };
}
