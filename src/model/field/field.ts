// FieldForecaster: a Forecaster whose model is reservoirs side by side along a line or over a grid,
// each with its own sites and those next to them. groups.ts runs them.
import { disposeAllAsync, disposeQuietlyAsync, eachOrNone } from "@spillway/core/disposal.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import type { Seed } from "@spillway/numerics";
import { type RidgeTrainer, ridge } from "../../readout/index.js";
import {
  type EngineSelection,
  ReservoirComputer,
  type ReservoirModel,
  type ReservoirOptions,
  type WorkOptions,
} from "../../reservoir/index.js";
import { partOf } from "../../reservoir/work.js";
import { rowsLost } from "../../series/index.js";
import { forecasterReservoir, forecasterTrainer } from "../defaults.js";
import type { CheckedSeries } from "../forecaster/data.js";
import { askMembers } from "../forecaster/ensemble.js";
import { evaluate, type TriedMember } from "../forecaster/evaluate.js";
import { type Forecaster, type ForecasterConstructors, forecastersOf } from "../forecaster/forecaster.js";
import { checkChoose, chooseDefaults } from "../forecaster/lambda-choice.js";
import type { FitRows, ForecastModel, Trained } from "../forecaster/model.js";
import { seedsOf } from "../forecaster/options.js";
import { plannedRidge } from "../forecaster/plan.js";
import { fitPreprocessing, inScores } from "../forecaster/preprocessing.js";
import type { RowKind } from "../forecaster/rows.js";
import { type LoadOptions, loadTable } from "../model-file.js";
import type { MutableContent } from "../mutable-content.js";
import { decodeField, encodeField } from "./file.js";
import { FieldGeometry, ownColumns } from "./geometry.js";
import { FieldGroups } from "./groups.js";
import { type FieldOptions, type FieldSettings, fieldOptionsTable } from "./options.js";

/** What reservoirs are made of. */
interface FieldReservoirs extends EngineSelection {
  readonly description: ReservoirOptions;
}

/** The reservoirs of each member, one a group. */
type FieldComputers = readonly (readonly ReservoirComputer[])[];

/** A field as it is described. */
export class FieldModel implements ForecastModel<FieldSettings, FieldGroups> {
  readonly kind = "field";
  readonly settings: FieldSettings;
  readonly rows: RowKind = { feedback: false, pairs: false, maskInput: true, exact: false };
  readonly #reservoirs: FieldReservoirs;

  constructor(settings: FieldSettings, reservoirs: FieldReservoirs) {
    this.settings = settings;
    this.#reservoirs = reservoirs;
  }

  /** @throws ArgumentError if groups, halo, shape or washout do not fit, and what ridge throws */
  async fit(rows: FitRows, previous: readonly FieldGroups[], work: WorkOptions): Promise<Trained<FieldGroups>> {
    const { settings } = this;
    const { washout } = settings;
    const { columns, known } = rows.given;
    const data = rows.data as readonly CheckedSeries[];
    const geometry = new FieldGeometry(settings, columns, { given: known, ...ownColumns(settings, columns) });
    data.forEach(({ series: { rows: all } }, s) => {
      const count = Math.max(0, all - rowsLost(settings.transforms ?? []) - 1);
      if (washout < count) return;
      const where = data.length > 1 ? `sequences[${s}]` : "the series";
      throw ArgumentError.shape(`washout is ${washout} and ${where} gives ${count} rows to train on; set a washout below that`, {
        field: "washout",
        value: washout,
      });
    });
    const computers = await this.#openReservoirs(geometry, previous);
    try {
      return await trainField({ settings, geometry, members: computers, data, masks: rows.masks }, work);
    } catch (error) {
      if (computers[0] !== previous[0]?.computers) await disposeQuietlyAsync(computers.flat());
      throw error;
    }
  }

  encode(content: MutableContent, { members }: Trained<FieldGroups>): void {
    const parts = members.map(({ fit, computers, state }) => {
      const own = this.settings.shared ? computers.slice(0, 1) : computers;
      return { fit, models: own.map(({ model }) => model), state };
    });
    encodeField(content, parts);
  }

  /** Those of the earlier members, if they fit; else new ones. */
  async #openReservoirs(geometry: FieldGeometry, previous: readonly FieldGroups[]): Promise<FieldComputers> {
    const [first] = previous;
    const earlier = previous.map(({ computers }) => computers);
    if (first?.computers.length === geometry.groups && first.computers[0]!.model.inputSize === geometry.inputs) return earlier;
    await disposeAllAsync(earlier.flat());
    return openReservoirs(geometry, this.settings, this.#reservoirs);
  }
}

/** A forecaster of local reservoirs. */
export type FieldForecaster = Forecaster<FieldModel>;

/**
 * Makes forecasters by local reservoirs: a field of Q sites on a line or grid, cut into g groups of as many sites. Group
 * i is driven by its sites and l on each side of them and predicts its own; along a line, with q =
 * Q / g,
 *
 *     x_i' = (1 - a) x_i + a f(W x_i + W_in u[i q - l .. i q + q + l) + b),  y_i = W_out x_i + c
 *
 * (Pathak, Hunt, Girvan, Lu and Ott 2018, "Model-free prediction of large spatiotemporally chaotic
 * systems from data", Phys. Rev. Lett. 120, 024102). In a closed loop groups see the forecasts of
 * their neighbours. With shared weights and periodic edges a field that is turned by a group has
 * the turned forecast, bit for bit; one group without a halo is a plain reservoir.
 *
 * @example
 * const field = kuramotoSivashinsky(8000, { N: 256, L: 100, discard: 400 });
 * await using model = await FieldForecaster.fit(field, {
 *   groups: 32,
 *   halo: 6,
 *   reservoir: { size: 1000 },
 * });
 * const next = await model.forecast(300);
 */
export const FieldForecaster: ForecasterConstructors<FieldModel, FieldOptions, LoadOptions> = forecastersOf({
  kind: "field",
  loadTable,
  async create(options: FieldOptions): Promise<FieldModel> {
    const { reservoir, engine, context, plan, threads, ...settings } = resolve(fieldOptionsTable, options);
    const description = forecasterReservoir(reservoir) as ReservoirOptions;
    if (description.feedback)
      throw ArgumentError.because("reservoir.feedback is set; groups of a field see each other's forecasts as inputs: leave it out", {
        field: "reservoir.feedback",
      });
    checkChoose(settings);
    fieldTrainer(settings);
    return new FieldModel(settings, { description, engine, context, plan, threads });
  },
  async open(file, { source, ...selection }: LoadOptions & { readonly source: string }) {
    const { settings, members, choice, time, last } = await decodeField(file, source);
    const models = members.map((member) => member.models);
    const computers = await reopenReservoirs(models, members[0]!.fit.geometry, selection);
    const groups = members.map(({ fit, state }, m) => {
      const member = new FieldGroups(computers[m]!, fit);
      member.state = state;
      return member;
    });
    const model = new FieldModel(settings, { description: models[0]![0]!.config, ...selection });
    return { model, trained: trainedOf(groups, choice), time, last };
  },
});

const trainedOf = (members: readonly FieldGroups[], choice: Trained<FieldGroups>["choice"]): Trained<FieldGroups> => ({
  members,
  groups: members.map(() => 0),
  choice,
});

/** What a fit starts from. */
interface FieldSource {
  readonly settings: FieldSettings;
  readonly geometry: FieldGeometry;
  /** The reservoirs of each member, one a group. */
  readonly members: FieldComputers;
  readonly data: readonly CheckedSeries[];
  /** Of each series, 1 where a value was filled; undefined if none can have been. */
  readonly masks: FitRows["masks"];
}

/** Chooses lambda by forecasts, if there is a horizon, and then trains the readouts on all rows. */
async function trainField(source: FieldSource, work: WorkOptions): Promise<Trained<FieldGroups>> {
  const { settings, data, masks } = source;
  const { horizon, choose, washout } = settings;
  if (horizon === undefined) {
    const trainer = fieldTrainer(settings);
    return trainedOf(await trainMembers(source, trainer, trainer, work), undefined);
  }
  const { options, lambdas } = plannedRidge(settings.readout, settings);
  const members = source.members.map(
    (computers) =>
      async (training: readonly CheckedSeries[], signal: AbortSignal | undefined): Promise<TriedMember> => {
        const trainers = lambdas.map((lambda) => ridge({ ...options, lambda }));
        const tries = await trainOn(source, computers, training, trainers, { signal });
        const state = tries.find((one) => one instanceof FieldGroups)?.state;
        const again = async (index: number) => {
          const member = tries[index] as FieldGroups;
          member.state = state!;
          return member;
        };
        return { tries, again, close: async () => {} };
      },
  );
  const choice = await evaluate(
    [{ lags: 0, calendar: false, transforms: [], members }],
    data,
    { ...chooseDefaults, ...(choose as Partial<typeof chooseDefaults>), horizon, lambdas, washout, masks, keep: 1, calendarColumns: 0 },
    partOf(work, 0, 2),
  );
  const { lambda } = choice.kept[0]!;
  // A lambda that was chosen on fewer rows can be too small for the normal equations of all of
  // them.
  const instead = ridge({ ...options, lambda, solver: "qr", blas: "portable" });
  return trainedOf(await trainMembers(source, ridge({ ...options, lambda }), instead, partOf(work, 1, 2)), choice);
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

function trainOn(
  { settings, geometry }: FieldSource,
  computers: readonly ReservoirComputer[],
  data: readonly CheckedSeries[],
  trainers: readonly RidgeTrainer[],
  work: WorkOptions,
) {
  const { hold, washout, standardise, bounds, shared, channels, transforms = [] } = settings;
  const { given: first, masks: count } = geometry.known;
  const asked = { transforms, standardise, hold: true, bounds, maskColumns: { first, count }, alike: shared ? channels : undefined };
  const fitted = fitPreprocessing(data, asked, false);
  const preprocessing = { ...fitted, held: inScores(fitted.held!, fitted.targetScale) };
  return FieldGroups.fit(computers, data, { geometry, preprocessing, hold, washout, trainers }, work);
}

/** The trainer of a group's readout. @throws ArgumentError for one that keeps every row */
function fieldTrainer(settings: FieldSettings): RidgeTrainer {
  const { readout, horizon } = settings;
  const described = horizon === undefined ? forecasterTrainer(readout).description : plannedRidge(readout, settings).options;
  const trainer = ridge(described as object);
  if (!trainer.stream({ stateSize: 1, inputSize: 0, outputSize: 1 }))
    throw ArgumentError.because("readout keeps every row; a field takes solver cholesky or qr, and selection gcv", { field: "readout" });
  return trainer;
}
/**
 * One list a member. @throws ArgumentError if the description takes other inputs than a group sees
 */
async function openReservoirs(
  { inputs, groups }: FieldGeometry,
  { shared, members = 1 }: FieldSettings,
  { description, ...selection }: FieldReservoirs,
): Promise<FieldComputers> {
  if (description.inputSize !== undefined && description.inputSize !== inputs)
    throw ArgumentError.shape(`a group sees ${inputs} columns and the reservoir takes ${description.inputSize} (inputSize); leave it out`);
  const make = (seed: Seed | undefined) => ReservoirComputer.create({ ...description, seed, inputSize: inputs }, selection);
  return eachOrNone(
    seedsOf(members, description),
    async (own, m) => {
      // Group 0 of the first member is the reservoir that the description says.
      const seed = m === 0 && typeof members === "number" ? description.seed : own;
      let first: ReservoirComputer | undefined;
      const open = async (g: number) => {
        if (first && shared) return ReservoirComputer.fromModel(first.model, selection);
        const computer = await make(g === 0 ? seed : `${seed ?? 0} group ${g}`);
        first ??= computer;
        return computer;
      };
      return eachOrNone(numbered(groups), open, (computer) => [computer]);
    },
    (computers) => computers,
  );
}

/** The reservoirs of a file again: of each member one a group, or one for all. */
async function reopenReservoirs(
  models: readonly (readonly ReservoirModel[])[],
  { groups }: FieldGeometry,
  options: Omit<FieldReservoirs, "description">,
): Promise<FieldComputers> {
  return eachOrNone(
    models,
    (own) =>
      eachOrNone(
        numbered(groups),
        (g) => ReservoirComputer.fromModel(own[own.length > 1 ? g : 0]!, options),
        (computer) => [computer],
      ),
    (computers) => computers,
  );
}

const numbered = (count: number): number[] => Array.from({ length: count }, (_, g) => g);
