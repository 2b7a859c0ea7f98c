// The default model of a Forecaster: reservoirs with their readouts. What its options mean, what it
// chooses, and how each member is trained on all rows.
import { disposeAllAsync, disposeQuietlyAsync } from "@spillway/core/disposal.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import {
  type GramAccumulator,
  IllConditionedError,
  type RidgeOptions,
  ridge,
  type TrainedReadout,
  type Trainer,
} from "../../readout/index.js";
import { ridgePath } from "../../readout/ridge-path.js";
import {
  type AnyReservoirComputer,
  type AnyReservoirOptions,
  type CreateOptions,
  type EngineSelection,
  ReservoirComputer,
  type WorkOptions,
} from "../../reservoir/index.js";
import { describedBy } from "../../reservoir/kinds.js";
import { describedTrainer, descriptionOf, forecasterReservoir, forecasterTrainer, withClassTargets, withStandardise } from "../defaults.js";
import type { MutableContent } from "../mutable-content.js";
import { type CheckedData, type CheckedSeries, cutRows, withoutCalendar } from "./data.js";
import { type Candidate, evaluate, type TriedMember } from "./evaluate.js";
import { decodeForecaster, encodeReservoirs } from "./file.js";
import { drives, type Hybrid, hybridAgain, hybridUse, isSeen } from "./hybrid.js";
import type { ForecasterKind } from "./kind.js";
import { ForecasterMember, type MemberTraining } from "./member.js";
import type { FitRows, ForecastModel, Trained } from "./model.js";
import { type ForecasterLoadOptions, type ForecasterOptions, type ForecasterSettings, forecasterLoadTable } from "./options.js";
import {
  chooseDefaults,
  openReservoir,
  opensCalendar,
  type PlannedCandidate,
  planCandidates,
  plannedReadout,
  plannedRidge,
  plannedSize,
  plannedWashout,
} from "./plan.js";
import type { RowKind } from "./rows.js";

/** What an ensemble is made from, beside its settings. */
interface ReservoirSource extends EngineSelection, Pick<ForecasterOptions, "matrices" | "profile" | "model"> {
  readonly reservoir: AnyReservoirOptions;
}

/** Reservoirs of one setting or of several, whose median is the forecast. */
export class ReservoirForecastModel implements ForecastModel<ForecasterSettings, ForecasterMember> {
  readonly kind = "forecaster";
  readonly settings: ForecasterSettings;
  readonly #source: ReservoirSource;
  #trainer: Trainer | undefined;

  constructor(source: ReservoirSource, settings: ForecasterSettings, trainer?: Trainer) {
    this.settings = settings;
    this.#source = source;
    this.#trainer = trainer;
  }

  get rows(): RowKind {
    return { feedback: this.#feedback, pairs: true, maskInput: true, exact: false };
  }

  /** @throws ArgumentError for data or settings that do not fit */
  async fit(rows: FitRows, previous: readonly ForecasterMember[], work: WorkOptions): Promise<Trained<ForecasterMember>> {
    const { settings } = this;
    const { calendarColumns, masks } = rows;
    const { reservoir, model: _, ...create } = this.#source;
    this.#trainer ??= describedTrainer(settings.readout);
    const existing = this.#existing(rows.data[0]!, previous);
    if (!existing) await disposeAllAsync(previous.map(({ computer }) => computer));
    const source: FitSource = { ...rows, create, feedback: this.#feedback, hybrid: this.#hybrid, existing };
    const { hybrid } = source;
    const planned = planCandidates(settings, reservoir, create.matrices !== undefined);
    const candidates = planned.filter(({ calendar }) => !calendar || calendarColumns > 0);
    const { horizon, standardise, hold, bounds, targets, missing } = settings;
    const maskColumns = missing === "mask" ? { first: rows.given.known, count: rows.given.columns } : undefined;
    const count = Math.min(...rows.data.map((one) => (one.series ?? one.targets).rows));
    const washout = settings.washout === "auto" ? plannedWashout(count) : settings.washout;
    const training = { standardise, hold, bounds, washout, hybrid, maskColumns };
    if (horizon === undefined) {
      const members = await trainAll(source, [{ ...training, trainer: this.#trainer, candidate: candidates[0]! }], work);
      return { members, groups: members.map(() => 0), choice: undefined };
    }
    const series = checkAllSeries(rows.data);
    checkSeason(settings, candidates, count);
    const bare = { ...source, data: withoutCalendar(rows.data, calendarColumns) };
    const { options, lambdas } = plannedRidge(settings.readout, settings);
    const tried = candidates.map(({ lags, calendar, transforms, reservoirs }): Candidate => {
      const readout = lags > 0 || isSeen(hybrid?.use) ? { ...options, input: true } : options;
      const on = { ...create, engine: "cpu", context: undefined, plan: undefined };
      return {
        lags,
        calendar,
        transforms,
        members: reservoirs.map(
          (each) => (data, signal) =>
            tryMember(
              () => open(calendar ? source : bare, each, on),
              data,
              { ...training, lags, transforms },
              { readout, lambdas },
              signal,
            ),
        ),
      };
    });
    // Choosing is one half of the work, training the other, as progress counts it.
    const chosen = { ...chooseDefaults, ...(settings.choose as Partial<typeof chooseDefaults>) };
    const choice = await evaluate(tried, series, { ...chosen, washout, horizon, targets, lambdas, calendarColumns, masks }, half(work, 0));
    const { calendar } = candidates[choice.kept[0]!.candidate]!;
    const groups = choice.kept.map(({ candidate, lambda }) => {
      const { lags } = candidates[candidate]!;
      return {
        ...training,
        candidate: candidates[candidate]!,
        trainer: forecasterTrainer({ ...options, lambda }, lags, hybrid?.use),
        instead: forecasterTrainer({ ...options, lambda, solver: "qr", blas: "portable" }, lags, hybrid?.use),
      };
    });
    const members = await trainAll(calendar ? source : bare, groups, half(work, 1));
    return { members, groups: groups.flatMap(({ candidate }, g) => candidate.reservoirs.map(() => g)), choice };
  }

  encode(content: MutableContent, { members, groups }: Trained<ForecasterMember>): void {
    const parts = members.map(({ computer, readout, preprocessing, lags, state }) => ({
      model: computer.model,
      readout,
      preprocessing,
      lags,
      state,
    }));
    encodeReservoirs(content, { members: parts, groups }, this.settings);
  }

  get #feedback(): boolean {
    const { reservoir, matrices } = this.#source;
    const own = matrices && "feedbackWeights" in matrices ? matrices.feedbackWeights : undefined;
    return (reservoir.feedback ?? null) !== null || own !== undefined;
  }

  get #hybrid(): Hybrid | undefined {
    const { model } = this.#source;
    return model && { model, use: this.settings.hybrid! };
  }

  /** The reservoir that is there, if one is trained again on data of its shape. */
  #existing(data: CheckedData, previous: readonly ForecasterMember[]): AnyReservoirComputer | undefined {
    if (previous.length !== 1 || this.settings.horizon !== undefined) return undefined;
    const { computer, givenInputs } = previous[0]!;
    const { outputSize } = computer.model;
    const { inputs, targets } = cutRows(data, this.#feedback);
    return givenInputs === inputs.cols && (outputSize === 0 || outputSize === targets.cols) ? computer : undefined;
  }
}

/** How ensembles of reservoirs are made. */
export const reservoirKind: ForecasterKind<ReservoirForecastModel, ForecasterOptions, ForecasterLoadOptions> = {
  kind: "forecaster",
  loadTable: forecasterLoadTable,
  create: describedModel,
  async open(file, { source, model: own, ...selection }) {
    const { settings, members: parts, groups, choice, time, last } = await decodeForecaster(file, source);
    const hybrid = hybridAgain(own, settings.hybrid);
    const members: ForecasterMember[] = [];
    try {
      for (const { model, readout, preprocessing, lags, state } of parts) {
        const computer = await ReservoirComputer.fromModel(model, selection);
        const member = new ForecasterMember(computer, { readout, preprocessing, lags, hybrid, recent: state.recent });
        members.push(member);
        member.state = state;
      }
    } catch (error) {
      await disposeQuietlyAsync(members.map(({ computer }) => computer));
      throw error;
    }
    const model = new ReservoirForecastModel({ reservoir: describedBy(parts[0]!.model), ...selection, model: own }, settings);
    return { model, trained: { members, groups, choice }, time, last };
  },
};

/** Checks the options. @throws ArgumentError, and what the trainer of the readout throws */
async function describedModel(options: ForecasterOptions): Promise<ReservoirForecastModel> {
  const { forecasterOptionsTable, plannedOptionsTable, parseForecasterSettings } = await import("../schemas.js");
  const {
    reservoir: described,
    matrices,
    engine,
    context,
    plan,
    threads,
    profile,
    model,
    readout,
    ...rest
  } = resolve(options?.horizon === undefined ? forecasterOptionsTable : plannedOptionsTable, options);
  const isPlanned = rest.horizon !== undefined;
  const isRate = described === undefined || !("kind" in described);
  const sized = isPlanned && isRate ? ({ size: plannedSize, ...described } as AnyReservoirOptions) : (described as AnyReservoirOptions);
  const reservoir = matrices ? sized : forecasterReservoir(sized);
  const hybrid = hybridUse(model, rest.hybrid);
  const trainer = forecasterTrainer(readout, typeof rest.lags === "number" ? rest.lags : 0, hybrid);
  const said = withClassTargets(withStandardise(rest, reservoir), trainer);
  const isOpen = opensCalendar(rest, reservoir, matrices !== undefined || model !== undefined);
  const settings = parseForecasterSettings({
    ...said,
    ...(isOpen && { calendar: "choose" }),
    hybrid,
    ...(isPlanned && { washout: rest.washout ?? "auto", lags: rest.lags ?? (rest.season === undefined ? 0 : "season") }),
    readout: isPlanned ? plannedReadout(readout, rest) : descriptionOf(trainer),
  });
  planCandidates(settings, reservoir, matrices !== undefined);
  return new ReservoirForecastModel({ reservoir, matrices, engine, context, plan, threads, profile, model }, settings, trainer);
}

/** What a fit starts from. */
interface FitSource extends Pick<FitRows, "data"> {
  readonly create: CreateOptions;
  readonly feedback: boolean;
  readonly hybrid: Hybrid | undefined;
  /** A reservoir that is there already and may be trained again. */
  readonly existing: AnyReservoirComputer | undefined;
}

/** Trains a reservoir with every lambda: it runs once, and they share one Gram matrix. */
async function tryMember(
  opened: () => Promise<AnyReservoirComputer>,
  data: readonly CheckedSeries[],
  training: Omit<MemberTraining, "trainer">,
  { readout, lambdas }: { readonly readout: RidgeOptions; readonly lambdas: readonly number[] },
  signal: AbortSignal | undefined,
): Promise<TriedMember> {
  let computer = await opened();
  try {
    const path = new PathTrainer(readout, lambdas);
    const member = await ForecasterMember.fit(computer, data, { ...training, trainer: path }, { signal });
    const { state } = member;
    return {
      tries: path.readouts.map((found) => (found instanceof Error ? found : member.with(found))),
      async again(index) {
        computer = await opened();
        const again = member.with(path.readouts[index] as TrainedReadout, computer);
        again.state = state;
        return again;
      },
      close: () => computer.dispose(),
    };
  } catch (error) {
    await computer.dispose();
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
    await disposeQuietlyAsync(members.map(({ computer }) => computer));
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
    `season is ${[season].flat().join(", ")}; a readout would get ${longest} rows of it (a season and a seventh), and ${training} are left to train on; take shorter seasons, lags: 0, or more rows`,
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
