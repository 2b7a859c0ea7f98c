// Which reservoirs a Forecaster tries and trains: its settings written out as candidates, each with
// one description a member.
import { orDispose } from "@spillway/core/disposal.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { isTrainer, type ReadoutDescription, type RidgeOptions, type Trainer } from "../../readout/index.js";
import { type AnyReservoirComputer, type AnyReservoirOptions, type CreateOptions, ReservoirComputer } from "../../reservoir/index.js";
import type { Transform } from "../../series/transform-kinds.js";
import { forecasterReservoir, takesSpikes } from "../defaults.js";
import { chooseDefaults } from "./lambda-choice.js";
import { areNames, type CandidateOptions, type ForecasterOptions, type ForecasterSettings, type OwnReadout, seedsOf } from "./options.js";

/** A candidate with everything written out. */
export interface PlannedCandidate {
  readonly transforms: readonly Transform[];
  readonly lags: number;
  /** Whether the calendar is an input. */
  readonly calendar: boolean;
  /** One description a member. */
  readonly reservoirs: readonly AnyReservoirOptions[];
}

/** Neurons of a reservoir that is not described, if there is a horizon to choose by. */
export const plannedSize = 300;

/** Members of an ensemble, if there is a horizon to choose by. */
export const plannedMembers = 5;

/**
 * Rows at the start that train nothing, if there is a horizon and it is not said: a fifth of a
 * short series.
 */
export function plannedWashout(rows: number): number {
  return Math.min(100, Math.floor(rows / 5));
}

/** The candidates of a forecaster; without a horizon there is one. @throws ArgumentError */
export function planCandidates(
  settings: ForecasterSettings,
  described: AnyReservoirOptions,
  hasMatrices: boolean,
): readonly PlannedCandidate[] {
  const { horizon, choose } = settings;
  const own = horizon === undefined || hasMatrices ? 1 : plannedMembers;
  const members = areNames(settings.members) ? own : (settings.members ?? own);
  const candidates: readonly CandidateOptions[] = choose?.candidates ?? [{}];
  const planned = candidates.flatMap(({ reservoir, lags = settings.lags, transforms = settings.transforms ?? [] }) => {
    const options = { ...described, ...reservoir } as AnyReservoirOptions;
    const whole = hasMatrices ? options : forecasterReservoir(options);
    const reservoirs = seedsOf(members, whole).map((seed) => ({ ...whole, seed }));
    return inputsOf(lagsOf(lags, settings), settings.calendar).map((each) => ({ ...each, transforms, reservoirs }));
  });
  if (hasMatrices && (planned[0]!.reservoirs.length > 1 || candidates.some(({ reservoir }) => reservoir !== undefined)))
    throw ArgumentError.because("matrices are of one reservoir; leave members and the reservoirs of candidates out", { field: "matrices" });
  if (horizon === undefined && (planned.length > 1 || choose !== undefined))
    throw ArgumentError.because("there are settings to choose from and no horizon; say how many steps are forecast", { field: "horizon" });
  return planned;
}

/**
 * What readouts and reservoirs see beside the series: lags, and the calendar. If both are open the
 * calendar is tried beside lags, for without them the state alone has to hold the level of the
 * series.
 */
function inputsOf(lags: readonly number[], calendar: ForecasterSettings["calendar"] = []) {
  if (calendar !== "choose") return lags.map((each) => ({ lags: each, calendar: calendar.length > 0 }));
  const some = lags.filter((each) => each > 0);
  return [
    ...lags.map((each) => ({ lags: each, calendar: false })),
    ...(some.length > 0 ? some : lags).map((each) => ({ lags: each, calendar: true })),
  ];
}

/** The lags of a setting: 0, and each season with a seventh of it. */
function lagsOf(lags: number | "season", { season }: ForecasterSettings): readonly number[] {
  if (lags !== "season") return [lags];
  if (season === undefined)
    throw ArgumentError.because('lags is "season" and season is missing; say how many rows a season has', { field: "season" });
  return [0, ...(typeof season === "number" ? [season] : season).map((rows) => rows + Math.ceil(rows / 7))];
}

/**
 * Whether a forecaster may choose the calendar if nothing is said of it: its reservoir has to take
 * as many inputs as there are, and numbers. A model of the user's has its own view of the time.
 */
export function opensCalendar(
  { horizon, calendar }: Pick<ForecasterOptions, "horizon" | "calendar">,
  reservoir: AnyReservoirOptions,
  isBound: boolean,
): boolean {
  return horizon !== undefined && calendar === undefined && reservoir.inputSize === undefined && !isBound && !takesSpikes(reservoir);
}

/** The readout as settings of a forecaster that chooses lambda have it. @throws ArgumentError */
export function plannedReadout(
  readout: ReadoutDescription | Trainer = {},
  settings: Pick<ForecasterSettings, "choose">,
): ReadoutDescription {
  plannedRidge(readout, settings);
  return readout as ReadoutDescription;
}

/** Ridge options of a forecaster that chooses lambda, and the lambdas. @throws ArgumentError */
export function plannedRidge(
  readout: ReadoutDescription | OwnReadout | Trainer,
  { choose }: Pick<ForecasterSettings, "choose">,
): { readonly options: RidgeOptions; readonly lambdas: readonly number[] } {
  const type = isTrainer(readout) ? "own" : (readout.type ?? "ridge");
  if (type !== "ridge")
    throw ArgumentError.because(`horizon chooses lambda of ridge regression, and readout is of type "${type}"; leave one of the two out`, {
      field: "horizon",
    });
  const { type: _, lambda, lambdas, selection, ...options } = readout as RidgeOptions & { readonly type?: string };
  if (selection !== undefined)
    throw ArgumentError.because(
      `readout.selection "${selection}" chooses lambda by one step and horizon by closed loops; leave one of the two out`,
      { field: "readout.selection" },
    );
  return { options, lambdas: choose?.lambdas ?? lambdas ?? (lambda === undefined ? chooseDefaults.lambdas : [lambda]) };
}

/**
 * Makes a reservoir for data of so many inputs and targets, from which `inputSize` and
 * `feedback.size` follow if they are left out. @throws ArgumentError
 */
export async function openReservoir(
  reservoir: AnyReservoirOptions,
  create: CreateOptions,
  inputs: number,
  outputs: number,
): Promise<AnyReservoirComputer> {
  const { feedback } = reservoir;
  const config = {
    ...reservoir,
    inputSize: reservoir.inputSize ?? inputs,
    ...(feedback ? { feedback: { ...feedback, size: feedback.size ?? outputs } } : {}),
  } as AnyReservoirOptions;
  const computer = await ReservoirComputer.create(config, create);
  await orDispose(computer, async () => checkFits(computer, inputs, outputs));
  return computer;
}

function checkFits({ model }: AnyReservoirComputer, inputs: number, outputs: number): void {
  if (model.inputSize !== inputs) {
    const advice = inputs === 0 ? "give { inputs, targets }, or set inputSize to 0" : "set inputSize to that, or leave it out";
    throw ArgumentError.shape(`the data has ${inputs} inputs and the reservoir takes ${model.inputSize} (inputSize); ${advice}`);
  }
  if (model.outputSize > 0 && model.outputSize !== outputs) {
    throw ArgumentError.shape(
      `the data has ${outputs} targets and the reservoir feeds back ${model.outputSize} (feedback.size); set it to that, or leave it out`,
    );
  }
}
