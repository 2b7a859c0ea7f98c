// The default model of a Forecaster: reservoirs with their readouts. What its options mean, what it
// chooses, and how each member is trained on all rows.
import { disposeAllAsync, eachOrNone, orDispose } from "@spillway/core/disposal.js";
import { ArgumentError } from "@spillway/core/errors.js";
import {
  type GramAccumulator,
  IllConditionedError,
  type RidgeOptions,
  ridge,
  type TrainedReadout,
  type Trainer,
} from "../../readout/index.js";
import { ridgePath } from "../../readout/ridge-path.js";
import type { AnyReservoirComputer, AnyReservoirOptions, CreateOptions, EngineSelection, WorkOptions } from "../../reservoir/index.js";
import { partOf } from "../../reservoir/work.js";
import { describedTrainer, forecasterTrainer } from "../defaults.js";
import type { MutableContent } from "../mutable-content.js";
import type { ScoredPair } from "./choice.js";
import { type CheckedData, type CheckedSeries, cutRows, withoutCalendar } from "./data.js";
import { type Candidate, evaluate, type TriedMember } from "./evaluate.js";
import { encodeReservoirs, memberFile } from "./file.js";
import { drives, feedsReadout, type Hybrid } from "./hybrid.js";
import { chooseDefaults } from "./lambda-choice.js";
import { ForecasterMember, type MemberTraining } from "./member.js";
import { computersOf, type FitRows, type ForecastModel, type Trained } from "./model.js";
import type { ForecasterOptions, ForecasterSettings } from "./options.js";
import { openReservoir, type PlannedCandidate, planCandidates, plannedRidge, plannedWashout } from "./plan.js";
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
    const existing = this.#existing(rows.data[0]!, previous);
    if (!existing) await disposeAllAsync(previous.map(({ computer }) => computer));
    const planned = this.planned(settings);
    const source = this.#fitSource(rows, existing);
    if (settings.horizon === undefined) {
      const { trainer, training } = this.#training(rows);
      const members = await trainAll(source, [{ ...training, trainer, candidate: planned[0]! }], work);
      return { members, groups: members.map(() => 0), choice: undefined };
    }
    const ready = this.ready(rows, planned);
    const { series, candidates, washout } = ready;
    checkSeason(settings, candidates, Math.min(...series.map((one) => one.series.rows)));
    const { horizon, targets, choose } = settings;
    const { calendarColumns, masks } = rows;
    // Choosing is one half of the work, training the other, as progress counts it.
    const chosen = { ...chooseDefaults, ...(choose as Partial<typeof chooseDefaults>) };
    const options = { ...chosen, washout, horizon, targets, lambdas: ready.lambdas, calendarColumns, masks };
    const choice = await evaluate(ready.tried, series, options, partOf(work, 0, 2));
    return { ...(await ready.train(choice.kept, partOf(work, 1, 2))), choice };
  }

  /** The candidates that settings describe. @throws ArgumentError */
  planned(settings: ForecasterSettings): readonly PlannedCandidate[] {
    const { reservoir, matrices } = this.#source;
    return planCandidates(settings, reservoir, matrices !== undefined);
  }

  /** Candidates for rows to choose by, with the calendar if there is one. @throws ArgumentError */
  ready(rows: FitRows, planned: readonly PlannedCandidate[], ownLambdas?: readonly number[]): ReadyCandidates {
    const { settings } = this;
    const { calendarColumns } = rows;
    const series = checkAllSeries(rows.data);
    const candidates = planned.filter(({ calendar }) => !calendar || calendarColumns > 0);
    const source = this.#fitSource(rows, undefined);
    const bare = { ...source, data: withoutCalendar(rows.data, calendarColumns) };
    const { training } = this.#training(rows);
    const { hybrid } = training;
    const { options, lambdas: usual } = plannedRidge(settings.readout, settings);
    const lambdas = ownLambdas ?? usual;
    const tried = candidates.map(({ lags, calendar, transforms, reservoirs }): Candidate => {
      const readout = lags > 0 || feedsReadout(hybrid?.use) ? { ...options, input: true } : options;
      const on = { ...source.create, engine: "cpu", context: undefined, plan: undefined };
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
    return {
      series,
      candidates,
      tried,
      lambdas,
      washout: training.washout,
      async train(pairs, work) {
        const groups = pairs.map(({ candidate: at, lambda }) => {
          const candidate = candidates[at]!;
          const { lags } = candidate;
          return {
            ...training,
            candidate,
            trainer: forecasterTrainer({ ...options, lambda }, lags, hybrid?.use),
            instead: forecasterTrainer({ ...options, lambda, solver: "qr", blas: "portable" }, lags, hybrid?.use),
          };
        });
        const members = await trainAll(groups[0]!.candidate.calendar ? source : bare, groups, work);
        return { members, groups: groups.flatMap(({ candidate }, g) => candidate.reservoirs.map(() => g)) };
      },
    };
  }

  #fitSource({ data }: FitRows, existing: AnyReservoirComputer | undefined): FitSource {
    const { reservoir: _, model: __, ...create } = this.#source;
    return { data, create, feedback: this.#feedback, hybrid: this.#hybrid, existing };
  }

  /** How every member is trained on rows. */
  #training({ data, given }: FitRows) {
    this.#trainer ??= describedTrainer(this.settings.readout);
    const { standardise, hold, bounds, missing, washout } = this.settings;
    const maskColumns = missing === "mask" ? { first: given.known, count: given.columns } : undefined;
    const count = Math.min(...data.map((one) => (one.series ?? one.targets).rows));
    const skipped = washout === "auto" ? plannedWashout(count) : washout;
    return { trainer: this.#trainer, training: { standardise, hold, bounds, washout: skipped, hybrid: this.#hybrid, maskColumns } };
  }

  encode(content: MutableContent, { members, groups }: Trained<ForecasterMember>): void {
    encodeReservoirs(content, { members: members.map(memberFile), groups }, this.settings);
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

/** Candidates for some rows: tried with every lambda, and trained on all rows. */
export interface ReadyCandidates {
  readonly series: readonly CheckedSeries[];
  readonly candidates: readonly PlannedCandidate[];
  readonly tried: readonly Candidate[];
  readonly lambdas: readonly number[];
  /** Rows at the start that train nothing. */
  readonly washout: number;
  /** Trains the members of each pair, which are a group. */
  train(pairs: readonly Pick<ScoredPair, "candidate" | "lambda">[], work: WorkOptions): Promise<Omit<Trained<ForecasterMember>, "choice">>;
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
  const train = async (): Promise<TriedMember> => {
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
  };
  return orDispose(computer, train);
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
  const wanted = groups.flatMap(({ candidate, ...training }) =>
    candidate.reservoirs.map((each) => ({ each, training: { ...training, lags: candidate.lags, transforms: candidate.transforms } })),
  );
  const train = async ({ each, training }: (typeof wanted)[number], m: number) => {
    const computer = (wanted.length === 1 && source.existing) || (await open(source, each, source.create));
    try {
      return await trainOne(computer, source.data, training, partOf(work, m, wanted.length));
    } catch (error) {
      if (computer !== source.existing) await computer.dispose();
      throw error;
    }
  };
  return eachOrNone(wanted, train, computersOf);
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

export function checkAllSeries(data: readonly CheckedData[]): readonly CheckedSeries[] {
  return data.map((one) => {
    if (one.series) return one;
    throw ArgumentError.because(
      "horizon chooses by closed loops over a series, and inputs with targets were given; give { series, known }, or leave horizon out",
      { field: "horizon" },
    );
  });
}
