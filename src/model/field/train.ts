// How a field is trained: lambda by forecasts if there is a horizon, and then the readouts on all
// rows.
import { ArgumentError } from "@spillway/core/errors.js";
import type { Matrix } from "@spillway/numerics";
import { type IllConditionedError, type RidgeOptions, type RidgeTrainer, ridge } from "../../readout/index.js";
import { NonFiniteStateError, type ReservoirComputer, type WorkOptions } from "../../reservoir/index.js";
import { forecasterTrainer } from "../defaults.js";
import type { ForecasterChoice } from "../forecaster/choice.js";
import type { CheckedSeries } from "../forecaster/data.js";
import { askMembers } from "../forecaster/ensemble.js";
import { half } from "../forecaster/fit.js";
import { chooseLambda } from "../forecaster/lambda-choice.js";
import { medianOrError } from "../forecaster/loss.js";
import { plannedRidge } from "../forecaster/plan.js";
import { forecastAll, type ValidationParts } from "../forecaster/validation.js";
import type { FieldGeometry } from "./geometry.js";
import { FieldGroups } from "./groups.js";
import type { FieldSettings } from "./options.js";
import { fitFieldRoad } from "./road.js";

/** A trained field, and how its lambda was chosen. */
export interface TrainedField {
  readonly members: readonly FieldGroups[];
  /** Undefined without a horizon. */
  readonly choice: ForecasterChoice | undefined;
}

/** What a fit starts from. */
export interface FieldSource {
  readonly settings: FieldSettings;
  readonly geometry: FieldGeometry;
  /** The reservoirs of each member, one a group. */
  readonly members: readonly (readonly ReservoirComputer[])[];
  readonly data: readonly CheckedSeries[];
  /** Of each series, 1 where a value was filled; undefined if none can have been. */
  readonly masks: readonly (Matrix | undefined)[];
}

/** @throws ArgumentError, and what ridge throws */
export async function trainField(source: FieldSource, work: WorkOptions): Promise<TrainedField> {
  const { settings } = source;
  if (settings.horizon === undefined) {
    const trainer = fieldTrainer(settings);
    return { members: await trainMembers(source, trainer, trainer, work), choice: undefined };
  }
  const { options } = plannedRidge(settings.readout, settings);
  const choice = await chooseFieldLambda(source, settings.horizon, half(work, 0));
  const { lambda } = choice.kept[0]!;
  // A lambda that was chosen on fewer rows can be too small for the normal equations of all of
  // them.
  const instead = ridge({ ...options, lambda, solver: "qr", blas: "portable" });
  return { members: await trainMembers(source, ridge({ ...options, lambda }), instead, half(work, 1)), choice };
}

/**
 * Each member on all rows; `instead` trains if the normal equations of `trainer` cannot be solved.
 */
async function trainMembers(source: FieldSource, trainer: RidgeTrainer, instead: RidgeTrainer, work: WorkOptions) {
  const { data } = source;
  return askMembers(source, work, async (computers, each): Promise<FieldGroups> => {
    const [groups] = await trainOn(source, computers, data, [trainer], each);
    if (groups instanceof FieldGroups) return groups;
    if (instead === trainer) throw groups!;
    const [again] = await trainOn(source, computers, data, [instead], each);
    return again as FieldGroups;
  });
}

async function chooseFieldLambda(source: FieldSource, horizon: number, work: WorkOptions): Promise<ForecasterChoice> {
  const { settings, data, masks } = source;
  const { options, lambdas } = plannedRidge(settings.readout, settings);
  const { choose, washout } = settings;
  return chooseLambda(
    data,
    { horizon, lambdas, washout, masks, choose },
    (parts) => {
      let members: readonly TriedField[] = [];
      return {
        async forecasts(signal) {
          members = await askMembers(source, { signal }, (computers) =>
            tryMember(source, computers, parts, { horizon, lambdas, options }, signal),
          );
          return lambdas.map((_, l) => medianOrError(members.map(({ forecasts }) => forecasts[l]!)));
        },
        async again(lambda, starts, signal) {
          const made = await askMembers({ members }, { signal }, async ({ tries, state }) => {
            const model = tries[lambdas.indexOf(lambda)]!;
            if (model instanceof Error) return model;
            model.state = state!;
            const how = { horizon, runaway: "infinite" } as const;
            const [said] = await forecastAll(data, { ...parts, starts }, { model, tries: [model] }, how, signal);
            return said!;
          });
          return medianOrError(made);
        },
      };
    },
    work,
  );
}

/** A member that is tried with every lambda. */
interface TriedField {
  /** One for each lambda; those that were trained share their reservoirs. */
  readonly tries: readonly (FieldGroups | Error)[];
  /** Where they stood at the end of their training rows; undefined if none was trained. */
  readonly state: FieldGroups["state"] | undefined;
  readonly forecasts: readonly (Matrix<Float64Array> | Error)[];
}

/** One member's forecasts for each lambda, or why there are none. */
async function tryMember(
  source: FieldSource,
  computers: readonly ReservoirComputer[],
  parts: ValidationParts,
  { horizon, lambdas, options }: { readonly horizon: number; readonly lambdas: readonly number[]; readonly options: RidgeOptions },
  signal: AbortSignal | undefined,
): Promise<TriedField> {
  const trainers = lambdas.map((lambda) => ridge({ ...options, lambda }));
  try {
    const tries = await trainOn(source, computers, parts.training, trainers, { signal });
    const model = tries.find((one) => one instanceof FieldGroups);
    if (!model) return { tries, state: undefined, forecasts: tries as readonly IllConditionedError[] };
    const { state } = model;
    return { tries, state, forecasts: await forecastAll(source.data, parts, { model, tries }, { horizon }, signal) };
  } catch (error) {
    if (!(error instanceof NonFiniteStateError)) throw error;
    const failed = lambdas.map(() => error);
    return { tries: failed, state: undefined, forecasts: failed };
  }
}

function trainOn(
  { settings, geometry }: FieldSource,
  computers: readonly ReservoirComputer[],
  data: readonly CheckedSeries[],
  trainers: readonly RidgeTrainer[],
  work: WorkOptions,
) {
  const { hold, washout } = settings;
  const road = fitFieldRoad(data, settings, geometry.known);
  return FieldGroups.fit(computers, data, { geometry, road, hold, washout, trainers }, work);
}

/** The trainer of a group's readout. @throws ArgumentError for one that keeps every row */
export function fieldTrainer(settings: FieldSettings): RidgeTrainer {
  const { readout, horizon } = settings;
  const described = horizon === undefined ? forecasterTrainer(readout).description : plannedRidge(readout, settings).options;
  const trainer = ridge(described as object);
  if (!trainer.stream({ stateSize: 1, inputSize: 0, outputSize: 1 }))
    throw ArgumentError.because("readout keeps every row; a field takes solver cholesky or qr, and selection gcv", { field: "readout" });
  return trainer;
}
