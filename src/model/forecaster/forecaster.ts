// Forecaster: a reservoir and a readout that predict a series, or outputs from inputs. What its
// options mean stands in settings.ts, how it is trained in fit.ts, how it is kept in file.ts.

import { checkWhole } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import { readBytes } from "@spillway/io/files.js";
import { Matrix, type MatrixLike } from "@spillway/numerics";
import type { TrainedReadout, Trainer } from "../../readout/index.js";
import { type AnyReservoirComputer, ReservoirComputer, type WorkOptions } from "../../reservoir/index.js";
import { describedBy } from "../../reservoir/kinds.js";
import type { LyapunovSpectrum } from "../../reservoir/tangents.js";
import { workTable } from "../../reservoir/work.js";
import type { TimeGrid } from "../../series/index.js";
import { describedTrainer } from "../defaults.js";
import { NotFittedError } from "../errors.js";
import { decodeModelFile } from "../model-file.js";
import { bandsOf, checkIntervals } from "./bands.js";
import type { Bound } from "./bounds.js";
import type { ForecasterChoice } from "./choice.js";
import { Clock, type ClockNote } from "./clock.js";
import {
  type CheckedData,
  type CheckedSeries,
  checkColumns,
  checkedData,
  checkedPrefix,
  checkedSeries,
  checkedTeacher,
  checkTargets,
  cutRows,
  type ForecasterData,
  type ForecasterPrefix,
  type ForecasterSequences,
  fromRow,
  noInputs,
  selected,
  withTimes,
} from "./data.js";
import { askMembers, medianOfMembers } from "./ensemble.js";
import { exponentsOf } from "./exponents.js";
import { decodeForecaster, encodeForecaster } from "./file.js";
import { fitMembers, type TrainedMembers } from "./fit.js";
import type { Forecast } from "./forecast.js";
import { type Hybrid, hybridAgain } from "./hybrid.js";
import { ForecasterMember, type MemberState, oneReadout, type ReadoutVariants } from "./member.js";
import { checkFilled, fillFollowing, fillPredicted, type LastRows, maskAhead } from "./missing.js";
import {
  type ForecasterLoadOptions,
  type ForecasterOptions,
  type ForecasterSettings,
  type ForecastOptions,
  forecasterLoadTable,
  forecastTable,
  type LoopSpectrumOptions,
  loopSpectrumTable,
  type PredictOptions,
  predictTable,
  type ScoreOptions,
  scoreTable,
  type TimesOption,
} from "./options.js";
import { outsideOf } from "./outside.js";
import { scoredRows, scorerOf } from "./score.js";
import { SeriesForecaster, type WarmUp } from "./series-forecaster.js";
import { describedForecaster, type ForecasterSource } from "./settings.js";
import { trainingRows } from "./training-rows.js";

/** Where a forecaster stands in its series. */
export interface ForecasterState {
  readonly members: readonly MemberState[];
  /** The time of the last row that it has seen; undefined if it is not known. */
  readonly time: TimeGrid | undefined;
  /** The last rows, by which missing values of those to come are held; undefined if they are not. */
  readonly last?: LastRows | undefined;
}

/** Rows that a model is warmed up on, without missing values. */
interface ForecasterWarmUp extends WarmUp {
  readonly data: CheckedData;
}

/** A reservoir with its readout: one of those whose median an ensemble forecasts. */
export interface FittedMember {
  readonly computer: AnyReservoirComputer;
  /** If targets are standardised it gives z-scores. */
  readonly readout: TrainedReadout;
  /** Rows of the series that the readout sees beside the state. */
  readonly lags: number;
}

/**
 * A reservoir x(t+1) = (1 - a) x(t) + a f(W x(t) + W_in u(t+1) + b + W_fb y(t)) and a readout y =
 * W_out [features of x] + c: ridge regression, or any other trainer (`readout`) (Jaeger 2001, GMD
 * report 148; Lukoševičius 2012, "A practical guide to applying echo state networks").
 *
 * - Trained on a series (T x D) without feedback, it predicts the next row: u(t) is row t and y(t)
 *   is row t + 1.
 * - Trained on inputs (T x I) and targets (T x O), y(t) is target t.
 * - With feedback (`reservoir.feedback`), targets are fed back as y(t) while it trains (teacher
 *   forcing), and its own outputs when it forecasts.
 *
 * The defaults are made for series as they come: z-scores (`standardise`), and if the
 * description leaves them out bias 0.5, inputScaling and feedback.scaling 0.2, and spectralRadius
 * 1. A description beside `matrices` is taken as it is.
 *
 * With a `horizon`, lambda and settings are chosen by closed-loop forecasts of that many steps from
 * starts inside the training series, each candidate trained on the rows before them alone; then the
 * members are trained on all rows, and their median is the forecast (`choice` says what was
 * chosen). `lambdas` of ridge, by "gcv" or "leaveOneOut", are chosen by one step.
 *
 * It has a state. `fit` leaves it at the end of the training data, and the rows after those can
 * follow; `predict` moves it on;
 * `forecast` and `score` put it back. Calls that are made while another is running wait for it, in
 * their order.
 *
 * @example
 * await using forecaster = await Forecaster.fit(load.subarray(0, 8000), { horizon: 24, season: 168
 * }); const next = await forecaster.forecast(24); // rows 8000 to 8023
 */
export class Forecaster extends SeriesForecaster<ForecasterSettings, ForecasterState, ForecasterPrefix, ForecasterWarmUp> {
  readonly #options: ForecasterSource;
  #trainer: Trainer | undefined;
  #trained: TrainedMembers | undefined;

  private constructor(options: ForecasterSource, settings: ForecasterSettings, trainer?: Trainer, time?: ClockNote) {
    super(settings, time);
    this.#options = options;
    this.#trainer = trainer;
  }

  /**
   * Checks the options; the reservoir is made when it is trained. @throws ArgumentError, and what
   * the trainer of the readout throws
   */
  static async create(options: ForecasterOptions): Promise<Forecaster> {
    const { source, settings, trainer } = await describedForecaster(options);
    return new Forecaster(source, settings, trainer);
  }

  /** Makes a forecaster and trains it. */
  static async fit(
    data: ForecasterData | ForecasterSequences,
    options: ForecasterOptions & TimesOption & WorkOptions,
  ): Promise<Forecaster> {
    const { signal, onProgress, times, ...rest } = options ?? {};
    const forecaster = await Forecaster.create(rest);
    try {
      return await forecaster.fit(times === undefined ? data : withTimes(data, times), { signal, onProgress });
    } catch (error) {
      await forecaster.dispose();
      throw error;
    }
  }

  /**
   * Trains the readout on one series or on several. Memory does not grow with the rows, except if
   * the trainer goes over them again: softmax, and ridge with "leaveOneOut", "dual" or "auto". The
   * state then stands at the end of the last series.
   * @throws ArgumentError for data or a reservoir that do not fit, and what the trainer of the
   * readout throws
   */
  async fit(data: ForecasterData | ForecasterSequences, work: WorkOptions = {}): Promise<this> {
    return this.turns.take(() => this.#fit(data, work));
  }

  async #fit(data: ForecasterData | ForecasterSequences, work: WorkOptions): Promise<this> {
    resolve(workTable, work);
    const { checked, masks, missingCounts, last, given } = trainingRows(data, this.settings, this.#feedback);
    this.counts = missingCounts;
    checkTargets(this.settings.targets, checked[0]!);
    const clock = new Clock(this.settings.calendar);
    const timed = clock.train(checked);
    this.#trainer ??= describedTrainer(this.settings.readout);
    const { reservoir, model: _, ...create } = this.#options;
    const existing = this.#existing(timed[0]!);
    if (!existing) await this.#disposeMembers();
    this.#trained = await fitMembers(
      {
        data: timed,
        masks,
        maskColumns: this.settings.missing === "mask" ? { first: given.known, count: given.columns } : undefined,
        calendarColumns: clock.columns,
        settings: this.settings,
        reservoir,
        create,
        trainer: this.#trainer,
        feedback: this.#feedback,
        hybrid: this.#hybrid,
        existing,
      },
      work,
    );
    if (!this.#trained.calendar) clock.leaveCalendar();
    this.clock = clock;
    this.last = last;
    return this;
  }

  /** The reservoir, the first if there are several. @throws NotFittedError */
  get computer(): AnyReservoirComputer {
    return this.#first.computer;
  }

  /** Its readout; if targets are standardised it gives z-scores. @throws NotFittedError */
  get readout(): TrainedReadout {
    return this.#first.readout;
  }

  /** Every reservoir with its readout. @throws NotFittedError */
  get members(): readonly FittedMember[] {
    return this.#fitted().members;
  }

  override get bounds(): readonly Bound[] {
    return this.#first.road.bounds ?? [];
  }

  override get choice(): ForecasterChoice | undefined {
    return this.#trained?.choice;
  }

  /**
   * Where every member stands in its series, and at what time. Setting it goes back there; only a
   * state of this forecaster, or of the same one opened again, fits. @throws NotFittedError
   */
  override get state(): ForecasterState {
    return { members: this.#fitted().members.map(({ state }) => state), time: this.clock.now, last: this.last };
  }

  /** Goes back to where it stood. */
  override set state(state: ForecasterState) {
    const { members } = this.#fitted();
    const given: unknown = state?.members;
    if (!Array.isArray(given) || given.length !== members.length || !given.every((one) => one?.recent instanceof Matrix))
      throw new ArgumentError("state", state, "one that a forecaster's `state` gave");
    for (const [m, member] of members.entries()) member.state = state.members[m]!;
    this.clock.now = state.time;
    this.last = state.last ?? {};
  }

  /**
   * One-step prediction: outputs (T x O, binary64) for inputs (T x I), each from the state after
   * its input; `{ steps }` if the reservoir has no inputs. With feedback, `teacher` is fed back;
   * without it, the forecaster's own outputs are. With feedback and known inputs, those are all
   * that comes in: `{ steps }` and `known`. The state moves on.
   * @throws ArgumentError, NotFittedError
   */
  async predict(inputs: MatrixLike | { readonly steps: number }, options: PredictOptions = {}): Promise<Matrix<Float64Array>> {
    return (await this.predictEach(inputs, options, oneReadout))[0]!;
  }

  /**
   * `predict` by several readouts, each from the states of one pass; the first alone if the readout
   * feeds itself back. Of a forecaster of one member. @internal
   */
  async predictEach(
    inputs: MatrixLike | { readonly steps: number },
    options: PredictOptions,
    variants: ReadoutVariants,
  ): Promise<readonly Matrix<Float64Array>[]> {
    return this.turns.take(() => this.#predict(inputs, options, variants));
  }

  async #predict(
    asked: MatrixLike | { readonly steps: number },
    options: PredictOptions,
    variants: ReadoutVariants,
  ): Promise<readonly Matrix<Float64Array>[]> {
    const { warmup, signal, onProgress, precision, ...rows } = resolve(predictTable, options);
    const { road, givenInputs } = this.#first;
    const prefix = this.prefix(warmup);
    const {
      inputs,
      known,
      teacher: forced,
      last,
    } = fillPredicted({ ...rows, inputs: asked }, this.settings.missing, prefix?.last ?? this.last);
    const given =
      typeof inputs === "object" && inputs !== null && "steps" in inputs
        ? noInputs(checkWhole("steps", inputs.steps, 1))
        : checkedSeries(inputs, "inputs");
    const knownAlone = this.#feedback && road.known > 0;
    if (knownAlone && given.cols > 0)
      throw ArgumentError.because("inputs was given; with feedback all that comes in is known beforehand: take { steps } and known", {
        field: "inputs",
      });
    checkColumns(given, "inputs", givenInputs - road.known);
    const teacher = checkedTeacher(forced, given.rows, this.#first.computer.model.outputSize);
    await this.start(prefix, signal);
    const checked = this.clock.known(given.rows, known, road.known);
    const work = { known: checked, teacher, precision, signal, onProgress };
    const made = await this.#predictRows(knownAlone ? checked! : given, work, variants);
    const isFree = this.#feedback && !teacher;
    this.last = isFree ? { ...last, targets: made[0]!.row(given.rows - 1) } : last;
    return made.map((each) => selected(each, this.settings.targets));
  }

  /** Predictions of checked rows, with the calendar in what is known. */
  async #predictRows(
    inputs: Matrix,
    {
      known,
      teacher,
      precision,
      ...work
    }: WorkOptions & Pick<Parameters<ForecasterMember["predict"]>[1], "known" | "teacher" | "precision">,
    variants: ReadoutVariants = oneReadout,
  ): Promise<readonly Matrix<Float64Array>[]> {
    const trained = this.#fitted();
    const made = await askMembers(trained, work, (member, each) =>
      member.predict(inputs, { known, teacher, precision, ...each }, variants),
    );
    const out = made[0]!.map((_, k) =>
      medianOfMembers(
        trained,
        made.map((each) => each[k]!),
      ),
    );
    this.clock.advance(inputs.rows);
    return out;
  }

  /**
   * Closed loop: `steps` outputs (steps x O, binary64), each fed back as the next input or through
   * the feedback weights. Row 0 follows the last row that the reservoir has seen. If that row's
   * time stamp is known, the forecast has `times`. The state is put back afterwards.
   * @throws ArgumentError, NotFittedError
   */
  async forecast(steps: number, options: ForecastOptions = {}): Promise<Forecast> {
    return this.turns.take(() => this.#forecast(steps, options));
  }

  async #forecast(steps: number, options: ForecastOptions): Promise<Forecast> {
    const { inputs: others, known, warmup, history, intervals, bandsFrom, signal, onProgress } = resolve(forecastTable, options);
    const trained = this.#fitted();
    checkWhole("steps", steps, 1);
    checkIntervals(trained, steps, { intervals, bandsFrom });
    const prefix = this.prefix(warmup);
    return this.puttingBack(async () => {
      await this.start(prefix, signal);
      if (history !== undefined) {
        const last = checkedSeries(history, "history");
        for (const member of trained.members) member.recall(last);
      }
      const ahead = this.#masks > 0 ? maskAhead(known, steps, this.#masks, this.known) : known;
      const outside = outsideOf(this.#first, this.clock, { inputs: others, known: ahead }, steps);
      const made = await askMembers(trained, { signal, onProgress }, (member, work) => member.forecast(steps, outside, work));
      const values = medianOfMembers(trained, made);
      return this.handedOut(values, bandsOf(trained, { values, made }, { intervals, bandsFrom }));
    });
  }

  /**
   * Lyapunov exponents of the trained closed loop, per unit of time `dt`: of state -> readout ->
   * state, along the forecast from where it stands. A loop that has the dynamics of its series has
   * its exponents: of Lorenz-63 .906, 0 and, roughly, -14.6. The rate reservoir steps on its engine
   * and the differences follow on the host; a series that drives itself alone. The state is put
   * back afterwards.
   * @throws ArgumentError for what else drives or answers the loop: known inputs, lags, feedback, a
   * model of yours, several members; NotFittedError
   */
  async lyapunovSpectrum(options: LoopSpectrumOptions = {}): Promise<LyapunovSpectrum> {
    const { warmup, ...followed } = resolve(loopSpectrumTable, options);
    return this.turns.take(() =>
      this.puttingBack(async () => {
        const { members } = this.#fitted();
        if (members.length > 1)
          throw ArgumentError.because(`the forecaster has ${members.length} members; exponents of a closed loop are of one`);
        const loop = this.#first.autonomousLoop();
        await this.start(this.prefix(warmup), followed.signal);
        return exponentsOf(this.#first.computer, loop, followed);
      }),
    );
  }

  /**
   * The score of one-step predictions on data of the kind it was trained on; if there is
   * feedback, the true outputs are fed back. The state is put back afterwards.
   * @throws ArgumentError, NotFittedError, and what the metric throws
   */
  async score(data: ForecasterData, options: ScoreOptions = {}): Promise<number> {
    return this.turns.take(() => this.#score(data, options));
  }

  async #score(data: ForecasterData, options: ScoreOptions): Promise<number> {
    const { metric, washout, ...start } = resolve(scoreTable, options);
    const { computer, road, givenInputs } = this.#first;
    const feedback = computer.model.outputSize > 0;
    const { warmup, signal, onProgress } = start;
    const prefix = this.prefix(warmup);
    const { data: whole, mask, unfilled } = fillFollowing(data, this.settings.missing, prefix?.last ?? this.last, { feedback });
    const checked = checkedData(whole, feedback);
    checkFilled({ unfilled }, "series");
    const isKnown = !feedback && checked.series !== undefined && road.known > 0;
    const { inputs, target, filled } = scoredRows(checked, mask, isKnown, feedback);
    const { targets } = this.settings;
    const score = scorerOf({ target: selected(target, targets), filled: selected(filled, targets), washout, metric });
    const teacher = feedback ? target : undefined;
    const predicted = await this.puttingBack(async () => {
      await this.start(prefix, signal);
      const { known } = this.clock.rows(checked) as Partial<CheckedSeries>;
      const driving = feedback ? (known ?? inputs) : inputs;
      checkColumns(driving, "inputs", driving.cols === 0 ? 0 : givenInputs - (isKnown ? road.known : 0));
      return (await this.#predictRows(driving, { known, teacher, precision: undefined, signal, onProgress }))[0]!;
    });
    return score(selected(predicted, targets));
  }

  /**
   * Columns of the inputs that are known beforehand and have to be given: the calendar makes its
   * own. 0 if there are none. @throws NotFittedError
   */
  get known(): number {
    return this.#first.road.known - this.ownInputs;
  }

  /** Columns of the inputs that it makes itself: the calendar, and the mask of missing values. */
  get ownInputs(): number {
    return this.clock.columns + this.#masks;
  }

  /** Columns of the mask of missing values. */
  get #masks(): number {
    return this.settings.missing === "mask" ? this.#first.readout.outputSize : 0;
  }

  /** Back to the reservoir's initial state. @throws NotFittedError */
  reset(): void {
    for (const member of this.#fitted().members) member.reset();
    this.clock.now = undefined;
    this.last = {};
  }

  /**
   * The model as the bytes of one safetensors file: weights, readout, settings, and the state it
   * stands at. @throws NotFittedError
   */
  override async toBytes(): Promise<Uint8Array> {
    return this.turns.take(async () => {
      const { members, groups, choice } = this.#fitted();
      const parts = members.map(({ computer, readout, road, lags, state }) => ({ model: computer.model, readout, road, lags, state }));
      return encodeForecaster({ settings: this.settings, members: parts, groups, choice, time: this.clock.note, last: this.last });
    });
  }

  /** Opens what `toBytes` gave. @throws FileError with the reason if it cannot be used */
  static async fromBytes(bytes: Uint8Array, options: ForecasterLoadOptions = {}): Promise<Forecaster> {
    const { source, model: own, ...selection } = resolve(forecasterLoadTable, options);
    const file = await decodeModelFile(bytes, source, "forecaster");
    const { settings, members: parts, groups, choice, time, last } = await decodeForecaster(file, source);
    const hybrid = hybridAgain(own, settings.hybrid);
    const forecaster = new Forecaster({ reservoir: describedBy(parts[0]!.model), ...selection, model: own }, settings, undefined, time);
    const members: ForecasterMember[] = [];
    forecaster.#trained = { members, groups, choice, calendar: forecaster.clock.columns > 0 };
    forecaster.last = last;
    try {
      for (const { model, readout, road, lags, state } of parts) {
        const computer = await ReservoirComputer.fromModel(model, selection);
        const member = new ForecasterMember(computer, { readout, road, lags, hybrid, recent: state.recent });
        members.push(member);
        member.state = state;
      }
    } catch (error) {
      await forecaster.dispose();
      throw error;
    }
    return forecaster;
  }

  /**
   * Opens a file that `save` wrote (Node). @throws FileError with the reason if it cannot be used
   */
  static async load(path: string, options: Omit<ForecasterLoadOptions, "source"> = {}): Promise<Forecaster> {
    resolve(forecasterLoadTable, options);
    return Forecaster.fromBytes(await readBytes(path), { ...options, source: path });
  }

  /** Gives memory and threads back. Idempotent. */
  override async dispose(): Promise<void> {
    await this.#disposeMembers();
  }

  get #feedback(): boolean {
    const { reservoir, matrices } = this.#options;
    const own = matrices && "feedbackWeights" in matrices ? matrices.feedbackWeights : undefined;
    return (reservoir.feedback ?? null) !== null || own !== undefined;
  }

  get #hybrid(): Hybrid | undefined {
    const { model } = this.#options;
    return model && { model, use: this.settings.hybrid! };
  }

  #fitted(): TrainedMembers {
    if (!this.#trained) throw new NotFittedError("forecaster");
    return this.#trained;
  }

  get #first(): ForecasterMember {
    return this.#fitted().members[0]!;
  }

  /** The reservoir that is there, if one is trained again on data of its shape. */
  #existing(data: CheckedData): AnyReservoirComputer | undefined {
    if (this.#trained?.members.length !== 1 || this.settings.horizon !== undefined) return undefined;
    const { computer, givenInputs } = this.#first;
    const { outputSize } = computer.model;
    const { inputs, targets } = cutRows(data, this.#feedback);
    return givenInputs === inputs.cols && (outputSize === 0 || outputSize === targets.cols) ? computer : undefined;
  }

  async #disposeMembers(): Promise<void> {
    const { members = [] } = this.#trained ?? {};
    for (const { computer } of members) await computer.dispose();
  }

  protected override prefixOf(warmup: ForecasterPrefix): ForecasterWarmUp {
    const feedback = this.#first.computer.model.outputSize > 0;
    const { data, last, unfilled } = fillFollowing(warmup, this.settings.missing, {}, { feedback, name: "warmup." });
    return { data: checkedPrefix(data, feedback), last, unfilled };
  }

  protected override async start(prefix: ForecasterWarmUp | undefined, signal: AbortSignal | undefined): Promise<void> {
    if (!prefix) return;
    const rows = fromRow(this.clock.warmUp(prefix.data), prefix.unfilled);
    for (const member of this.#fitted().members) await member.start(rows, signal);
    this.last = prefix.last;
  }
}
