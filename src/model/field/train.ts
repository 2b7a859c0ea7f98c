// How a field is trained: lambda by forecasts if there is a horizon, and then the readouts on all
// rows.
import { ArgumentError } from "../../core/errors.js";
import type { Matrix } from "../../numerics/index.js";
import { IllConditionedError, type RidgeTrainer, ridge } from "../../readout/index.js";
import { NonFiniteStateError, type ReservoirComputer, type WorkOptions } from "../../reservoir/index.js";
import { forecasterTrainer } from "../defaults.js";
import type { ForecasterChoice } from "../forecaster/choice.js";
import type { CheckedSeries } from "../forecaster/data.js";
import { half } from "../forecaster/fit.js";
import { chooseLambda } from "../forecaster/lambda-choice.js";
import { plannedRidge } from "../forecaster/plan.js";
import { forecastAll } from "../forecaster/validation.js";
import type { FieldGeometry } from "./geometry.js";
import { FieldGroups } from "./groups.js";
import type { FieldSettings } from "./options.js";
import { fitFieldRoad } from "./road.js";

/** A trained field, and how its lambda was chosen. */
export interface TrainedField {
  readonly groups: FieldGroups;
  /** Undefined without a horizon. */
  readonly choice: ForecasterChoice | undefined;
}

/** What a fit starts from. */
export interface FieldSource {
  readonly settings: FieldSettings;
  readonly geometry: FieldGeometry;
  readonly computers: readonly ReservoirComputer[];
  readonly data: readonly CheckedSeries[];
  /** Of each series, 1 where a value was filled; undefined if none can have been. */
  readonly masks: readonly (Matrix | undefined)[];
}

/** @throws ArgumentError, and what ridge throws */
export async function trainField(source: FieldSource, work: WorkOptions): Promise<TrainedField> {
  const { settings, data } = source;
  if (settings.horizon === undefined) {
    const [groups] = await trainOn(source, data, [fieldTrainer(settings)], work);
    if (groups instanceof IllConditionedError) throw groups;
    return { groups: groups!, choice: undefined };
  }
  const { options } = plannedRidge(settings.readout, settings);
  const choice = await chooseFieldLambda(source, settings.horizon, half(work, 0));
  const { lambda } = choice.kept[0]!;
  const [groups] = await trainOn(source, data, [ridge({ ...options, lambda })], half(work, 1));
  if (groups instanceof FieldGroups) return { groups, choice };
  // A lambda that was chosen on fewer rows can be too small for the normal equations of all of
  // them.
  const [again] = await trainOn(source, data, [ridge({ ...options, lambda, solver: "qr", blas: "portable" })], half(work, 1));
  return { groups: again as FieldGroups, choice };
}

async function chooseFieldLambda(source: FieldSource, horizon: number, work: WorkOptions): Promise<ForecasterChoice> {
  const { settings, data, masks } = source;
  const { options, lambdas } = plannedRidge(settings.readout, settings);
  const { choose, washout } = settings;
  return chooseLambda(
    data,
    { horizon, lambdas, washout, masks, choose },
    async (parts, signal) => {
      const trainers = lambdas.map((lambda) => ridge({ ...options, lambda }));
      try {
        const tries = await trainOn(source, parts.training, trainers, { signal });
        const model = tries.find((one) => one instanceof FieldGroups);
        return model ? await forecastAll(data, parts, { model, tries }, { horizon }, signal) : (tries as readonly IllConditionedError[]);
      } catch (error) {
        if (!(error instanceof NonFiniteStateError)) throw error;
        return lambdas.map(() => error);
      }
    },
    work,
  );
}

function trainOn(
  { settings, geometry, computers }: FieldSource,
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
