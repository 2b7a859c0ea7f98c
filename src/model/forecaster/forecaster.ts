// Forecaster: predicts a series by a model, which model.ts describes. It owns time, missing values,
// bounds, bands, scores, positions and files.

import { checkWhole } from "@spillway/core/checks.js";
import { DisposedByAwaitUsing, disposeAllAsync, orDispose } from "@spillway/core/disposal.js";
import { ArgumentError, DisposedError, under } from "@spillway/core/errors.js";
import { namingOwner } from "@spillway/core/field-owner.js";
import { suggestion } from "@spillway/core/near-names.js";
import { type Resolved, resolve } from "@spillway/core/options.js";
import { quoted } from "@spillway/core/text.js";
import { writeFileAtomic } from "@spillway/io/atomic.js";
import { readBytes } from "@spillway/io/files.js";
import type { Matrix } from "@spillway/numerics";
import type { TrainedReadout } from "../../readout/index.js";
import type { WorkOptions } from "../../reservoir/index.js";
import type { LyapunovSpectrum } from "../../reservoir/tangents.js";
import { Turns, workTable } from "../../reservoir/work.js";
import type { CalendarFeature } from "../../series/calendar.js";
import type { TimeGrid } from "../../series/index.js";
import { gridText, timeAxis } from "../../series/time-grid.js";
import { fieldOwners } from "../defaults.js";
import { NotFittedError } from "../errors.js";
import { decodeModelFile, encodeModelFile, type LoadOptions } from "../model-file.js";
import { emptyContent, type MutableContent } from "../mutable-content.js";
import { stableJson } from "../stable-json.js";
import { trainedFurther } from "../table-names.js";
import { bandsOf, boundedBands, checkIntervals, quantilesOf, selectedBands } from "./bands.js";
import { type Bound, bounded } from "./bounds.js";
import {
  type ForecastOptions,
  forecastTable,
  type LoopSpectrumOptions,
  loopSpectrumTable,
  type PredictOptions,
  predictTable,
  type ScoreOptions,
  scoreTable,
  type TimesOption,
  type UpdateOptions,
  updateTable,
} from "./call-options.js";
import type { ForecasterChoice } from "./choice.js";
import { Clock } from "./clock.js";
import {
  type CheckedSeries,
  checkAlike,
  checkColumns,
  checkedSeries,
  checkedTeacher,
  checkTargets,
  type ForecasterData,
  type ForecasterPrefix,
  type ForecasterSequences,
  fromRow,
  noInputs,
  type SeriesValues,
  selected,
  seriesByKey,
  withTimes,
} from "./data.js";
import { type DefaultForecastModel, defaultKind } from "./default-model.js";
import { agreed, askMembers } from "./ensemble.js";
import { exponentsOf } from "./exponents.js";
import { putBounds, putChoice, putLast } from "./file.js";
import { Forecast } from "./forecast.js";
import { appended, asTraining, type KeptRows, keptRows, putKept } from "./kept-rows.js";
import type { ForecasterKind, MemberOf, Opened } from "./kind.js";
import { checkFilled, fillPredicted, type LastRows, maskAhead } from "./missing.js";
import {
  type Drive,
  type ForecastMember,
  type ForecastModel,
  oneReadout,
  type PredictedRows,
  type ReadoutVariants,
  type SeriesSettings,
  type SeveralSeries,
  type Trained,
} from "./model.js";
import { type ForecasterLoadOptions, type ForecasterOptions, forecasterOptionsTable } from "./options.js";
import { outsideOf } from "./outside.js";
import {
  addedRows,
  type FollowingRows,
  lowParts,
  predictedParts,
  type RowOptions,
  scoredData,
  trainingRows,
  warmUpRows,
  withLow,
} from "./rows.js";
import { scoredRows, scorerOf } from "./score.js";
import { putSeries } from "./series-file.js";

/** The position of a forecaster in its series. */
export interface ForecasterState<State = unknown> {
  readonly members: readonly State[];
  /** The time of the last row before it; undefined if it is not known. */
  readonly time: TimeGrid | undefined;
  /** The last rows, by which missing values of those to come are held; undefined if they are not. */
  readonly last?: LastRows | undefined;
}

/** A series that a forecaster was trained on, and the position in it. */
interface TrainedSeries<Model extends ForecastModel> {
  readonly trained: Trained<MemberOf<Model>>;
  readonly clock: Clock;
  readonly last: LastRows;
}

/** Arguments of options, which may be left out if every option may. */
type Given<Options> = Record<string, never> extends Options ? [options?: Options] : [options: Options];

/** How forecasters of one kind are made. */
export interface ForecasterConstructors<Model extends ForecastModel, Options, Loading extends LoadOptions> {
  /** Checks the options; nothing is trained yet. @throws ArgumentError */
  create(...options: Given<Options>): Promise<Forecaster<Model>>;
  /** Makes a forecaster and trains it. */
  fit(data: ForecasterData | ForecasterSequences, ...options: Given<Options & TimesOption & WorkOptions>): Promise<Forecaster<Model>>;
  /** Opens what `toBytes` gave. @throws FileError with the reason if it cannot be used */
  fromBytes(bytes: Uint8Array, options?: Loading): Promise<Forecaster<Model>>;
  /** Opens a file that `save` wrote (Node). @throws FileError with the reason if it cannot be used */
  load(path: string, options?: Omit<Loading, "source">): Promise<Forecaster<Model>>;
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
 * With a `horizon` it is a combination of members, weighed by their forecasts of that many steps
 * from earlier rows (`members`), from 2 rows on. With members: ["loop"], a list of series, or
 * options of the loop's, lambda and settings are chosen by closed-loop forecasts from starts inside
 * the training series, each candidate trained on the rows before them alone; then the
 * members are trained on all rows, and their median is the forecast (`choice` says what was
 * chosen). `lambdas` of ridge, by "gcv" or "leaveOneOut", are chosen by one step.
 *
 * `NvarForecaster` and `FieldForecaster` make forecasters of other models.
 *
 * It has a position in its series. `fit` leaves it at the end of the training data, and the rows
 * after those can follow; `predict` moves it on; `forecast` and `score` put it back. Calls that are
 * made while another is running wait for it, in their order.
 *
 * @example
 * await using forecaster = await Forecaster.fit(load.subarray(0, 8000), {
 *   horizon: 24,
 *   season: 168,
 * });
 * const next = await forecaster.forecast(24); // rows 8000 to 8023
 */
export class Forecaster<Model extends ForecastModel = DefaultForecastModel> extends DisposedByAwaitUsing {
  readonly #model: Model;
  #settings: Model["settings"];
  /** Calls wait for those before them. */
  readonly #turns = new Turns();
  #disposed = false;
  #trained: Trained<MemberOf<Model>> | undefined;
  #clock: Clock;
  /** The last rows, by which missing values of those to come are held. */
  #last: LastRows = {};
  #missingCounts: readonly number[] = [];
  /** The rows that it was trained on, of a combination. */
  #kept: KeptRows | undefined;
  /** Of several series each by its key; the fields above are those of the last. */
  #series: ReadonlyMap<string, TrainedSeries<Model>> | undefined;

  /** @internal */
  constructor(model: Model, opened?: Omit<Opened<Model>, "model">) {
    super();
    this.#model = model;
    this.#settings = model.settings;
    this.#trained = opened?.trained;
    this.#clock = new Clock(model.settings.calendar, opened?.time);
    this.#last = opened?.last ?? {};
    this.#kept = opened?.kept;
    this.#series =
      opened?.series &&
      new Map(
        [...opened.series].map(([key, { trained, time, last }]) => [
          key,
          { trained, clock: new Clock(model.settings.calendar, time), last },
        ]),
      );
  }

  /**
   * Checks the options; the reservoir is made when it is trained. @throws ArgumentError, and what
   * the trainer of the readout throws
   */
  static create(options: ForecasterOptions): Promise<Forecaster> {
    return namingOwner(
      () => fieldOwners(forecasterOptionsTable),
      () => ownKind.create(options),
    );
  }

  /** Makes a forecaster and trains it. */
  static fit(data: ForecasterData | ForecasterSequences, options: ForecasterOptions & TimesOption & WorkOptions): Promise<Forecaster> {
    return namingOwner(
      () => fieldOwners(forecasterOptionsTable),
      () => ownKind.fit(data, options),
    );
  }

  /** Opens what `toBytes` gave. @throws FileError with the reason if it cannot be used */
  static fromBytes(bytes: Uint8Array, options: ForecasterLoadOptions = {}): Promise<Forecaster> {
    return ownKind.fromBytes(bytes, options);
  }

  /**
   * Opens a file that `save` wrote (Node). @throws FileError with the reason if it cannot be used
   */
  static load(path: string, options: Omit<ForecasterLoadOptions, "source"> = {}): Promise<Forecaster> {
    return ownKind.load(path, options);
  }

  /**
   * Trains the model on one series or on several. Memory does not grow with the rows, except if
   * the trainer goes over them again: softmax, ridge with "leaveOneOut", "dual" or "auto", and NVAR
   * in double-double. The position is then the end of the last series.
   * @throws ArgumentError for data or a model that do not fit, and what the trainer of the readout
   * throws
   */
  async fit(data: ForecasterData | ForecasterSequences, work: WorkOptions = {}): Promise<this> {
    return this.#take(async () => {
      resolve(workTable, work);
      await this.#train(data, this.#members, work);
      return this;
    });
  }

  async #train(data: ForecasterData | ForecasterSequences, previous: readonly MemberOf<Model>[], work: WorkOptions): Promise<void> {
    const all = seriesByKey(data);
    const several = all && all.size > 1 ? this.#model.several?.("sequences" in data && data.sequences instanceof Map) : undefined;
    if (all && several) return this.#trainSeveral(several, all, previous, work);
    const { rows, times, ...at } = this.#read(data);
    const trained = await this.#model.fit(rows, previous, work);
    this.#moveTo(this.#trainedSeries(trained as Trained<MemberOf<Model>>, at));
    this.#missingCounts = rows.missingCounts;
    this.#kept = trained.choice?.members && keptRows(data, times);
    this.#series = undefined;
  }

  async #trainSeveral(
    several: SeveralSeries<MemberOf<Model>>,
    all: ReadonlyMap<string, ForecasterData>,
    previous: readonly MemberOf<Model>[],
    work: WorkOptions,
  ): Promise<void> {
    const read = [...all].map(([key, data]) => under(`sequences[${JSON.stringify(key)}]`, () => this.#read(data)));
    const rows = read.map((one) => one.rows);
    checkAlike(rows.map(({ data }) => data[0]!));
    const trained = await several.fit(rows, work);
    const each = read.map((one, s) => this.#trainedSeries(trained[s] as Trained<MemberOf<Model>>, one));
    this.#series = new Map([...all.keys()].map((key, s) => [key, each[s]!]));
    this.#moveTo(each.at(-1)!);
    this.#kept = undefined;
    this.#missingCounts = rows[0]!.missingCounts.map((_, c) => rows.reduce((sum, { missingCounts }) => sum + missingCounts[c]!, 0));
    await disposeComputers(previous);
  }

  /** The rows to train on, with their calendar, and where they end. */
  #read(data: ForecasterData | ForecasterSequences) {
    const { checked, last, ...rows } = trainingRows(data, this.#rows);
    checkTargets(this.settings.targets, checked[0]!);
    const clock = new Clock(this.settings.calendar);
    const timed = clock.train(checked);
    const { times } = checked[0] as Partial<CheckedSeries>;
    return { clock, last, times, rows: { ...rows, last, data: timed, calendarColumns: clock.columns } };
  }

  #trainedSeries(trained: Trained<MemberOf<Model>>, { clock, last }: Pick<TrainedSeries<Model>, "clock" | "last">): TrainedSeries<Model> {
    if (this.settings.calendar === "choose" && trained.choice && !isCalendarKept(trained.choice)) clock.leaveCalendar();
    return { trained, clock, last };
  }

  #moveTo({ trained, clock, last }: TrainedSeries<Model>): void {
    this.#trained = trained;
    this.#clock = clock;
    this.#last = last;
  }

  /** The members of all series. */
  get #members(): readonly MemberOf<Model>[] {
    return [...(this.#series?.values() ?? []), { trained: this.#trained }].flatMap(({ trained }) => trained?.members ?? []);
  }

  /** Work at one of several series, or at a new one; of one series alone as it is. */
  async #at<T>(
    { key, warmup, signal }: Pick<ForecastOptions, "key" | "warmup" | "signal">,
    work: (warmup: ForecasterPrefix | undefined) => Promise<T>,
  ): Promise<T> {
    const series = this.#series;
    if (!series) {
      if (key === undefined) return work(warmup);
      throw new ArgumentError("key", key, "nothing: this forecaster has one model, of one series or of a list of them");
    }
    const keys = [...series.keys()];
    const known = `${keys.slice(0, 5).map(quoted).join(", ")}${keys.length > 5 ? ` and ${keys.length - 5} more` : ""}`;
    const found = key === undefined ? undefined : series.get(key);
    if (key !== undefined && !found)
      throw new ArgumentError("key", key, `one of ${known}${suggestion(key, keys)}; the rows of a new series are warmup, without a key`);
    if (!found && warmup === undefined)
      throw ArgumentError.because(`key is missing; say which of ${known}, or give the rows of a new series as warmup`, { field: "key" });
    const at = found ?? (await this.#further(warmup as ForecasterData, signal));
    const before = { trained: this.#fitted(), clock: this.#clock, last: this.#last };
    this.#moveTo(at);
    try {
      return await work(found && warmup);
    } finally {
      this.#moveTo(before);
      if (!found) await disposeComputers(at.trained.members, this.#members);
    }
  }

  /** A series that is new: its members are fitted and weighed by its rows. */
  async #further(data: ForecasterData, signal: AbortSignal | undefined): Promise<TrainedSeries<Model>> {
    const { rows, ...at } = this.#read(data);
    checkColumns({ cols: rows.given.columns }, "warmup", this.columns);
    const trained = await this.#model.several!(true)!.further(rows, this.#fitted(), { signal });
    return this.#trainedSeries(trained as Trained<MemberOf<Model>>, at);
  }

  /** The keys of several series that it was trained on; empty of one. */
  get keys(): readonly string[] {
    return [...(this.#series?.keys() ?? [])];
  }

  /** What was chosen for one of several series. @throws ArgumentError for another key */
  choiceOf(key: string): ForecasterChoice | undefined {
    const found = this.#series?.get(key);
    if (!found) throw new ArgumentError("key", key, "one of `keys`");
    return found.trained.choice;
  }

  /**
   * Takes in rows that follow those it was trained on, and leaves the position at their end. The
   * model is then that of a `fit` of all rows, to the bit: weights, choices, readouts, file and
   * forecasts; it trains again. With `weights: "keep"` it moves on over the rows and keeps its
   * weights; a later update trains on these rows too. Without `times`, stamps count on. If it
   * fails, it is as it was.
   * @throws ArgumentError for rows that do not follow, or for a model that keeps no rows;
   * NotFittedError
   */
  async update(rows: ForecasterData, options: UpdateOptions = {}): Promise<this> {
    return this.#take(async () => {
      const { weights, ...work } = resolve(updateTable, options);
      const { members } = this.#fitted();
      const kept = this.#kept;
      if (this.#series)
        throw ArgumentError.because("this forecaster was trained on several series; fit it on all rows of them again", { field: "rows" });
      if (weights === "keep") {
        const all = kept && this.#joined(kept, rows);
        await this.#follow(rows, work.signal);
        this.#kept = all;
        return this;
      }
      if (!kept)
        throw ArgumentError.because(
          'weights is "fit" and only a combination of members keeps its rows to train on again; fit this forecaster on all rows, or take weights: "keep"',
          { field: "weights" },
        );
      const { choice } = this;
      await this.#train(asTraining(this.#joined(kept, rows)), [], work);
      await disposeComputers(members);
      const { table }: SeriesSettings = this.settings;
      const added = trainedRows(this.choice) - trainedRows(choice);
      if (table) this.#settings = { ...this.settings, table: trainedFurther(table, added, this.grid && gridText(this.grid)) };
      return this;
    });
  }

  /** Rows that it keeps to train on again (`update`); undefined if it keeps none. */
  get rows(): number | undefined {
    return this.#kept?.series.rows;
  }

  /** The rows that it was trained on, and those that follow. */
  #joined(kept: KeptRows, rows: ForecasterData): KeptRows {
    const added = keptRows(rows, undefined);
    const times = typeof rows === "object" && "times" in rows ? rows.times : undefined;
    const last = kept.times && timeAxis(kept.times).grid;
    return appended(kept, { ...added, times: this.#clock.following(last, times, added.series.rows) });
  }

  /** Moves on over rows. */
  async #follow(rows: ForecasterData, signal: AbortSignal | undefined): Promise<void> {
    const { data, last, unfilled } = addedRows(rows, this.#rows, this.#last);
    checkFilled({ unfilled }, "series");
    const { preprocessing, inputs, fedBack } = this.#first;
    const { series, known, times } = data as CheckedSeries;
    checkColumns(series, "series", fedBack > 0 ? fedBack : inputs);
    const columns = preprocessing.known - this.#clock.columns;
    if ((known?.cols ?? 0) !== columns)
      throw ArgumentError.shape(`known has ${known?.cols ?? 0} columns; this forecaster takes ${columns}`, { field: "known" });
    const { now } = this.#clock;
    if (now) this.#clock.following(now, times, series.rows);
    const timed = this.#clock.rows(data) as CheckedSeries;
    await this.#backOnFailure(async () => {
      for (const member of this.#fitted().members) await member.follow(timed, signal);
      this.#clock.advance(timed.series.rows);
      this.#last = last;
    });
  }

  /** What it was made with; `table.trainedTo` moves on with `update`. */
  get settings(): Model["settings"] {
    return this.#settings;
  }

  /** The kind of its model, and of its file. */
  get kind(): Model["kind"] {
    return this.#model.kind;
  }

  /** The trained members, whose median is the forecast. @throws NotFittedError */
  get members(): readonly MemberOf<Model>[] {
    return this.#fitted().members;
  }

  /** The reservoirs of the first member; none of a model without. @throws NotFittedError */
  get computers(): MemberOf<Model>["computers"] {
    return this.#first.computers;
  }

  /** The reservoir, the first if there are several. @throws NotFittedError */
  get computer(): MemberOf<Model>["computers"][0] {
    return this.#first.computers[0] as MemberOf<Model>["computers"][0];
  }

  /** Its readout; if targets are standardised it gives z-scores. @throws NotFittedError */
  get readout(): TrainedReadout {
    return this.#first.readouts[0]!;
  }

  /** The readouts of the first member: one, or several of a field. @throws NotFittedError */
  get readouts(): readonly TrainedReadout[] {
    return this.#first.readouts;
  }

  /** Columns that it predicts. @throws NotFittedError */
  get columns(): number {
    return this.#first.columns;
  }

  /** Rows that a forecast is warmed up on at least. @throws NotFittedError */
  get leastRows(): number {
    return Math.max(...this.members.map(({ leastRows }) => leastRows));
  }

  /**
   * The least and the largest value of each column's forecasts, null for no such end: as `bounds`
   * says, or as they were found from the training rows. @throws NotFittedError
   */
  get bounds(): readonly Bound[] {
    return this.#first.preprocessing.bounds ?? [];
  }

  /** What was chosen by a horizon, and by which forecasts; undefined without one. */
  get choice(): ForecasterChoice | undefined {
    return this.#trained?.choice;
  }

  /**
   * How many values of each column were missing in the training rows, and were filled as `missing`
   * says; empty if it says "error", and in a model that was opened.
   */
  get missingCounts(): readonly number[] {
    return this.#missingCounts;
  }

  /** The grid of the time stamps of its training rows; undefined if they had none. */
  get grid(): TimeGrid | undefined {
    return this.#clock.trained;
  }

  /** What of the calendar is an input; empty if nothing is. */
  get calendar(): readonly CalendarFeature[] {
    return this.#clock.calendar;
  }

  /**
   * The position in its series, and its time. Setting it goes back there; only a state of this
   * forecaster, or of the same one opened again, fits. @throws NotFittedError
   */
  get state(): ForecasterState<MemberOf<Model>["state"]> {
    return { members: this.#fitted().members.map(({ state }) => state), time: this.#clock.now, last: this.#last };
  }

  /** Goes back to that position and time. */
  set state(state: ForecasterState<MemberOf<Model>["state"]>) {
    const members: readonly ForecastMember[] = this.#fitted().members;
    const given: unknown = state?.members;
    if (!Array.isArray(given) || given.length !== members.length || !members.every((member, m) => member.isState(given[m])))
      throw new ArgumentError("state", state, "one that this forecaster's `state` gave");
    for (const [m, member] of members.entries()) member.state = state.members[m];
    this.#clock.now = state.time;
    this.#last = state.last ?? {};
  }

  /**
   * One-step prediction: outputs (T x O, binary64) for inputs (T x I), each from the state after
   * its input; `{ steps }` if the reservoir has no inputs. With feedback, `teacher` is fed back;
   * without it, the forecaster's own outputs are. With feedback and known inputs, those are all
   * that comes in: `{ steps }` and `known`. The position moves on.
   * @throws ArgumentError, NotFittedError
   */
  async predict(inputs: SeriesValues | { readonly steps: number }, options: PredictOptions = {}): Promise<Matrix<Float64Array>> {
    return (await this.predictEach(inputs, options, oneReadout))[0]!;
  }

  /**
   * `predict` by several readouts, each from the states of one pass; the first alone if the readout
   * feeds itself back. Of a forecaster of one member. @internal
   */
  async predictEach(
    inputs: SeriesValues | { readonly steps: number },
    options: PredictOptions,
    variants: ReadoutVariants,
  ): Promise<readonly Matrix<Float64Array>[]> {
    return this.#take(() => this.#predict(inputs, options, variants));
  }

  async #predict(
    asked: SeriesValues | { readonly steps: number },
    options: PredictOptions,
    variants: ReadoutVariants,
  ): Promise<readonly Matrix<Float64Array>[]> {
    const { warmup, signal, onProgress, precision, ...rows } = resolve(predictTable, options);
    const { preprocessing, inputs: columns, fedBack } = this.#first;
    const prefix = this.#prefix(warmup);
    const before = prefix?.last ?? this.#last;
    const { missing, exact, maskInput } = this.#rows;
    const { high, both } = predictedParts(asked, this.#rows);
    const { inputs, known, teacher: forced, last, mask } = fillPredicted({ ...rows, inputs: high }, { missing, before, maskInput });
    const given =
      typeof inputs === "object" && inputs !== null && "steps" in inputs
        ? noInputs(checkWhole("steps", inputs.steps, 1))
        : checkedSeries(inputs, "inputs");
    const knownAlone = fedBack > 0 && preprocessing.known > 0;
    if (knownAlone && given.cols > 0)
      throw ArgumentError.because("inputs was given; with feedback all that comes in is known beforehand: take { steps } and known", {
        field: "inputs",
      });
    checkColumns(given, "inputs", columns);
    const low = lowParts(both, { mask }, { series: given }, { missing, exact, before: { row: before.low } }, "");
    const teacher = checkedTeacher(forced, given.rows, fedBack);
    return this.#backOnFailure(async () => {
      await this.#start(prefix, signal);
      const checked = this.#clock.known(given.rows, known, preprocessing.known);
      const driving = { series: knownAlone ? checked! : given, low, known: checked, teacher, precision };
      const made = await this.#predictRows(driving, { signal, onProgress }, variants);
      const isFree = fedBack > 0 && !teacher;
      this.#last = isFree ? { ...last, targets: made[0]!.row(given.rows - 1) } : withLow(last, low, given.cols);
      return made.map((each) => selected(each, this.settings.targets));
    });
  }

  /** Predictions of checked rows, with the calendar in what is known. */
  async #predictRows(
    rows: PredictedRows,
    work: WorkOptions,
    variants: ReadoutVariants = oneReadout,
  ): Promise<readonly Matrix<Float64Array>[]> {
    const trained = this.#fitted();
    const made = await askMembers(trained, work, (member, each) => member.predict(rows, each, variants));
    const out = made[0]!.map((_, k) =>
      agreed(
        trained,
        made.map((each) => each[k]!),
        this.bounds,
      ),
    );
    this.#clock.advance(rows.series.rows);
    return out;
  }

  /**
   * Closed loop: `steps` outputs (steps x O, binary64), each fed back as the next input or through
   * the feedback weights. Row 0 follows the last row before the position. If that row's time stamp
   * is known, the forecast has `times`. The position is put back afterwards.
   * @throws ArgumentError, NotFittedError
   */
  async forecast(steps: number, options: ForecastOptions = {}): Promise<Forecast> {
    return this.#take(async () => {
      const given = resolve(forecastTable, options);
      checkWhole("steps", steps, 1);
      this.#fitted();
      return this.#at(given, (warmup) => this.#forecast(steps, { ...given, warmup }));
    });
  }

  async #forecast(steps: number, asked: Resolved<typeof forecastTable>): Promise<Forecast> {
    const { inputs, known, warmup, history, intervals, quantiles, bandsFrom, signal, onProgress } = asked;
    const trained = this.#fitted();
    const { bounds } = this;
    const { targets } = this.settings;
    checkIntervals(trained, steps, { intervals, quantiles, bandsFrom });
    const prefix = this.#prefix(warmup);
    return this.#puttingBack(async () => {
      await this.#start(prefix, signal);
      if (history !== undefined) {
        const last = checkedSeries(history, "history");
        for (const member of trained.members) member.recall(last);
      }
      const ahead = this.#masks > 0 ? maskAhead(known, steps, this.#masks, this.known) : known;
      const outside = outsideOf(this.#first, this.#clock, { inputs, known: ahead }, steps);
      const made = await askMembers(trained, { signal, onProgress }, (member, work) => member.forecast(steps, outside, work));
      const values = agreed(trained, made, bounds);
      const bands = bandsOf(trained, { values, made }, { intervals, bandsFrom });
      const ends = bands && selectedBands(boundedBands(bands, bounds), targets);
      const levels = quantilesOf(trained, { values, made }, { quantiles, bandsFrom, bounds });
      const shares = levels?.map((each) => ({ level: each.level, values: selected(each.values, targets) }));
      return new Forecast(selected(bounded(values, bounds), targets), this.#clock.times(steps), ends, shares);
    });
  }

  /**
   * Lyapunov exponents of the trained closed loop, per unit of time `dt`: of state -> readout ->
   * state, along the forecast from its position. A loop that has the dynamics of its series has
   * its exponents: of Lorenz-63 .906, 0 and, roughly, -14.6. The rate reservoir steps on its engine
   * and the differences follow on the host; a series that drives itself alone. The position is put
   * back afterwards.
   * @throws ArgumentError for what else drives or answers the loop: known inputs, lags, feedback, a
   * model of yours, several members; NotFittedError
   */
  async lyapunovSpectrum(options: LoopSpectrumOptions = {}): Promise<LyapunovSpectrum> {
    const { warmup, ...followed } = resolve(loopSpectrumTable, options);
    return this.#take(() =>
      this.#puttingBack(async () => {
        const { members } = this.#fitted();
        if (members.length > 1)
          throw ArgumentError.because(`the forecaster has ${members.length} members; exponents of a closed loop are of one`);
        const first: ForecastMember = this.#first;
        if (!first.autonomousLoop)
          throw ArgumentError.because("exponents are of the closed loop of one reservoir; this forecaster is another model");
        const loop = first.autonomousLoop();
        await this.#start(this.#prefix(warmup), followed.signal);
        return exponentsOf(first.computers[0]!, loop, followed);
      }),
    );
  }

  /**
   * The score of one-step predictions on data of the kind it was trained on; if there is
   * feedback, the true outputs are fed back. Rows of which a value was filled do not count. The
   * position is put back afterwards.
   * @throws ArgumentError, NotFittedError, and what the metric throws
   */
  async score(data: ForecasterData, options: ScoreOptions = {}): Promise<number> {
    return this.#take(async () => {
      const { metric, washout, warmup, ...work } = resolve(scoreTable, options);
      const { preprocessing, inputs: columns, fedBack } = this.#first;
      const feedback = fedBack > 0;
      const prefix = this.#prefix(warmup);
      const { data: checked, mask, unfilled } = scoredData(data, this.#rows, prefix?.last ?? this.#last);
      checkFilled({ unfilled }, "series");
      const isKnown = !feedback && checked.series !== undefined && preprocessing.known > 0;
      const { inputs, target, filled } = scoredRows(checked, mask, isKnown, feedback);
      const { targets } = this.settings;
      const score = scorerOf({ target: selected(target, targets), filled: selected(filled, targets), washout, metric });
      const predicted = await this.#puttingBack(async () => {
        await this.#start(prefix, work.signal);
        const { known, low } = this.#clock.rows(checked) as Partial<CheckedSeries>;
        const driving = feedback ? (known ?? inputs) : inputs;
        checkColumns(driving, "inputs", feedback ? (driving.cols === 0 ? 0 : columns + preprocessing.known) : columns);
        return (await this.#predictRows({ series: driving, low, known, teacher: feedback ? target : undefined }, work))[0]!;
      });
      return score(selected(predicted, targets));
    });
  }

  /**
   * Columns of the inputs that are known beforehand and have to be given: the calendar makes its
   * own. 0 if there are none. @throws NotFittedError
   */
  get known(): number {
    return this.#first.preprocessing.known - this.ownInputs;
  }

  /** Columns of the inputs that it makes itself: the calendar, and the mask of missing values. */
  get ownInputs(): number {
    return this.#clock.columns + this.#masks;
  }

  /** Columns of the mask of missing values. */
  get #masks(): number {
    return this.settings.missing === "mask" && this.#rows.maskInput ? this.#first.columns : 0;
  }

  /** Back to the initial state. @throws NotFittedError */
  reset(): void {
    for (const member of this.#fitted().members) member.reset();
    this.#clock.now = undefined;
    this.#last = {};
  }

  /**
   * To the initial state, and from there over a series: as `warmup` does for one call, for all that
   * follow. @throws ArgumentError, NotFittedError
   */
  async warmUp(warmup: ForecasterPrefix, work: WorkOptions = {}): Promise<void> {
    const { signal } = resolve(workTable, work);
    return this.#take(() => this.#backOnFailure(async () => this.#start(this.#prefix(warmup), signal)));
  }

  /** What drives the first reservoir over rows from the initial state. @internal */
  async drive(rows: ForecasterPrefix): Promise<Drive> {
    const first: ForecastMember = this.#first;
    if (!first.drive) throw ArgumentError.because("this forecaster's model has no single reservoir");
    const { data, unfilled } = warmUpRows(rows, this.#rows);
    return this.#puttingBack(async () => first.drive!(fromRow(this.#clock.warmUp(data), unfilled)));
  }

  /**
   * The model as the bytes of one safetensors file: weights, readout, settings, and the position.
   * @throws NotFittedError
   */
  async toBytes(): Promise<Uint8Array> {
    return this.#turns.take(async () => {
      const { kind } = this.#model;
      const one = { trained: this.#fitted(), clock: this.#clock, last: this.#last };
      const content = this.#series ? emptyContent() : this.#contentOf(one);
      if (this.#series) putSeries(content, new Map([...this.#series].map(([key, one]) => [key, this.#contentOf(one)])));
      else putKept(content, this.#kept);
      content.metadata[kind] = stableJson(this.settings);
      return encodeModelFile(kind, content);
    });
  }

  #contentOf({ trained, clock, last }: TrainedSeries<Model>): MutableContent {
    const content = emptyContent();
    this.#model.encode(content, trained);
    putChoice(content, trained.choice);
    putLast(content, this.settings, last);
    putBounds(content, trained.members[0]!.preprocessing.bounds);
    if (clock.note) content.metadata["time"] = stableJson(clock.note);
    return content;
  }

  /** Writes `toBytes()` to a file, whole or not at all (Node). @throws FileError, NotFittedError */
  async save(path: string): Promise<void> {
    await writeFileAtomic(path, await this.toBytes());
  }

  /** Gives memory and threads back. Idempotent. */
  async dispose(): Promise<void> {
    this.#disposed = true;
    await disposeComputers(this.#members);
  }

  /** How rows are read. */
  get #rows(): RowOptions {
    const { missing, table }: SeriesSettings = this.settings;
    return { ...this.#model.rows, missing, table };
  }

  /** Work in its turn. @throws DisposedError */
  #take<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.take(() => {
      if (this.#disposed) throw new DisposedError("the forecaster");
      return work();
    });
  }

  #fitted(): Trained<MemberOf<Model>> {
    if (!this.#trained) throw new NotFittedError("forecaster");
    return this.#trained;
  }

  get #first(): MemberOf<Model> {
    return this.#fitted().members[0]!;
  }

  /** Rows to warm up on, checked; undefined if there are none. @throws ArgumentError */
  #prefix(warmup: ForecasterPrefix | undefined): FollowingRows | undefined {
    this.#fitted();
    return warmup === undefined ? undefined : warmUpRows(warmup, this.#rows);
  }

  /** Goes over the rows of a warm-up, if there is one, from the initial state. */
  async #start(prefix: FollowingRows | undefined, signal: AbortSignal | undefined): Promise<void> {
    if (!prefix) return;
    const rows = fromRow(this.#clock.warmUp(prefix.data), prefix.unfilled);
    for (const member of this.#fitted().members) await member.start(rows, signal);
    this.#last = prefix.last;
  }

  /** Puts the position back when the work is done, or fails. */
  async #puttingBack<T>(work: () => Promise<T>): Promise<T> {
    const { state } = this;
    try {
      return await work();
    } finally {
      this.state = state;
    }
  }

  /** Puts the position back only if the work fails: no member is ahead of the others. */
  async #backOnFailure<T>(work: () => Promise<T>): Promise<T> {
    const { state } = this;
    try {
      return await work();
    } catch (error) {
      this.state = state;
      throw error;
    }
  }
}

/** Disposes the reservoirs of members, each once, but not those that `kept` have too. */
async function disposeComputers(members: readonly ForecastMember[], kept: readonly ForecastMember[] = []): Promise<void> {
  const others = new Set(kept.flatMap(({ computers }) => computers));
  const own = new Set(members.flatMap(({ computers }) => computers));
  await disposeAllAsync([...own].filter((computer) => !others.has(computer)));
}

/** How many rows a combination was trained on; NaN in files of earlier versions. */
function trainedRows(choice: ForecasterChoice | undefined): number {
  return choice?.validated ? choice.validated.rows + choice.starts[0]!.row : Number.NaN;
}

/** Whether what was chosen takes the calendar. */
function isCalendarKept({ kept, candidates }: ForecasterChoice): boolean {
  return kept.length > 0 && candidates[kept[0]!.candidate]!.calendar;
}

/** How forecasters of one kind are made. */
export function forecastersOf<Model extends ForecastModel, Options, Loading extends LoadOptions>({
  kind,
  create,
  loadTable: table,
  open,
}: ForecasterKind<Model, Options, Loading>): ForecasterConstructors<Model, Options, Loading> {
  const fromBytes = async (bytes: Uint8Array, options: Loading = {} as Loading): Promise<Forecaster<Model>> => {
    const given = resolve(table, options) as Loading & { readonly source: string };
    const { model, ...opened } = await open(await decodeModelFile(bytes, given.source, kind), given);
    return new Forecaster(model, opened);
  };
  return {
    create: async (...[options]) => new Forecaster(await create(options ?? ({} as Options))),
    async fit(data, ...[options]) {
      const { signal, onProgress, times, ...rest }: TimesOption & WorkOptions = options ?? {};
      const forecaster = new Forecaster(await create(rest as Options));
      const train = () => forecaster.fit(times === undefined ? data : withTimes(data, times), { signal, onProgress });
      return orDispose(forecaster, train);
    },
    fromBytes,
    async load(path, options) {
      resolve(table, options ?? {});
      return fromBytes(await readBytes(path), { ...options, source: path } as Loading);
    },
  };
}

const ownKind = forecastersOf<DefaultForecastModel, ForecasterOptions, ForecasterLoadOptions>(defaultKind);
