// FieldForecaster: reservoirs side by side along a line or over a grid, each with its own sites and
// those next to them. How they work together stands in groups.ts, how it is kept in file.ts.

import { checkWhole } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import { readBytes } from "@spillway/io/files.js";
import type { Matrix, MatrixLike } from "@spillway/numerics";
import type { TrainedReadout } from "../../readout/index.js";
import type { ReservoirComputer, ReservoirOptions, WorkOptions } from "../../reservoir/index.js";
import { workTable } from "../../reservoir/work.js";
import { rowsLost, type TimeGrid } from "../../series/index.js";
import { forecasterReservoir } from "../defaults.js";
import { NotFittedError } from "../errors.js";
import { bandsOf, checkIntervals } from "../forecaster/bands.js";
import type { Bound } from "../forecaster/bounds.js";
import type { ForecasterChoice } from "../forecaster/choice.js";
import { Clock, type ClockNote } from "../forecaster/clock.js";
import { type CheckedSeries, checkColumns, checkedSeries, fromRow, withTimes } from "../forecaster/data.js";
import { askMembers } from "../forecaster/ensemble.js";
import type { Forecast } from "../forecaster/forecast.js";
import { checkChoose } from "../forecaster/lambda-choice.js";
import { medianOf } from "../forecaster/loss.js";
import { fillPredicted, type LastRows, maskAhead } from "../forecaster/missing.js";
import type { TimesOption } from "../forecaster/options.js";
import { scoredRows, scorerOf } from "../forecaster/score.js";
import { SeriesForecaster } from "../forecaster/series-forecaster.js";
import { decodeModelFile, type LoadOptions, loadTable } from "../model-file.js";
import { disposeAll, type FieldReservoirs, openReservoirs, reopenReservoirs } from "./computers.js";
import { type FieldPrefix, fieldPrefix, fieldRows, fieldScored } from "./data.js";
import { decodeField, encodeField } from "./file.js";
import { FieldGeometry, ownColumns } from "./geometry.js";
import { FieldGroups, type FieldGroupsState } from "./groups.js";
import {
  type FieldData,
  type FieldForecastOptions,
  type FieldOptions,
  type FieldPredictOptions,
  type FieldScoreOptions,
  type FieldSequences,
  type FieldSettings,
  fieldForecastTable,
  fieldOptionsTable,
  fieldPredictTable,
  fieldScoreTable,
} from "./options.js";
import { fieldTrainer, trainField } from "./train.js";

/** Reservoirs side by side with their readouts: one of those whose median an ensemble forecasts. */
export interface FittedField {
  /** One a group, the same ones if weights are shared. */
  readonly computers: readonly ReservoirComputer[];
  /** One readout, one for each way that groups lie to open ends, or one a group. */
  readonly readouts: readonly TrainedReadout[];
}

/** Where a FieldForecaster stands in its series. */
export interface FieldState {
  readonly members: readonly FieldGroupsState[];
  /** The time of the last row that it has seen; undefined if it is not known. */
  readonly time: TimeGrid | undefined;
  /** The last row, by which missing values of those to come are held. */
  readonly last?: LastRows | undefined;
}

/**
 * Local reservoirs: a field of Q sites on a line or grid, cut into g groups of as many sites. Group
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
 * It has a state, as a `Forecaster` has. `fit` leaves it at the end of the training data; `predict`
 * moves it on; `forecast` and `score` put it back. Calls that are made while another is running
 * wait for it.
 *
 * @example
 * const field = kuramotoSivashinsky(8000, { N: 256, L: 100, discard: 400 });
 * await using model = await FieldForecaster.fit(field, { groups: 32, halo: 6, reservoir: { size:
 * 1000 } }); const next = await model.forecast(300);
 */
export class FieldForecaster extends SeriesForecaster<FieldSettings, FieldState, FieldData, FieldPrefix> {
  readonly #reservoirs: FieldReservoirs;
  #computers: readonly (readonly ReservoirComputer[])[] = [];
  #members: readonly FieldGroups[] | undefined;
  #choice: ForecasterChoice | undefined;

  private constructor(settings: FieldSettings, reservoirs: FieldReservoirs, time?: ClockNote) {
    super(settings, time);
    this.#reservoirs = reservoirs;
  }

  /** Checks the options. @throws ArgumentError */
  static async create(options: FieldOptions): Promise<FieldForecaster> {
    const { reservoir, engine, context, plan, threads, ...settings } = resolve(fieldOptionsTable, options);
    const description = forecasterReservoir(reservoir) as ReservoirOptions;
    if (description.feedback)
      throw ArgumentError.because("reservoir.feedback is set; groups of a field see each other's forecasts as inputs: leave it out", {
        field: "reservoir.feedback",
      });
    checkChoose(settings);
    fieldTrainer(settings);
    return new FieldForecaster(settings, { description, engine, context, plan, threads });
  }

  /** Makes a forecaster and trains it. */
  static async fit(data: FieldData | FieldSequences, options: FieldOptions & TimesOption & WorkOptions): Promise<FieldForecaster> {
    const { signal, onProgress, times, ...rest } = options ?? {};
    const forecaster = await FieldForecaster.create(rest);
    try {
      return await forecaster.fit(times === undefined ? data : withTimes(data, times), { signal, onProgress });
    } catch (error) {
      await forecaster.dispose();
      throw error;
    }
  }

  /**
   * Trains on a field, T x Q, or on several. @throws ArgumentError if groups, halo, shape or
   * washout do not fit, and what ridge throws
   */
  async fit(data: FieldData | FieldSequences, work: WorkOptions = {}): Promise<this> {
    return this.turns.take(async () => {
      resolve(workTable, work);
      const { settings } = this;
      const { checked, masks, missingCounts, last, given } = fieldRows(data, settings);
      const { washout } = settings;
      const { columns: cols } = given;
      const geometry = new FieldGeometry(settings, cols, { given: given.known, ...ownColumns(settings, cols) });
      const clock = new Clock(settings.calendar);
      const timed = clock.train(checked) as readonly CheckedSeries[];
      timed.forEach(({ series: { rows: all } }, s) => {
        const rows = Math.max(0, all - rowsLost(settings.transforms ?? []) - 1);
        if (washout < rows) return;
        const where = timed.length > 1 ? `sequences[${s}]` : "the series";
        throw ArgumentError.shape(`washout is ${washout} and ${where} gives ${rows} rows to train on; set a washout below that`, {
          field: "washout",
          value: washout,
        });
      });
      const computers = await this.#openReservoirs(geometry);
      const { members, choice } = await trainField({ settings, geometry, members: computers, data: timed, masks }, work);
      this.#members = members;
      this.#choice = choice;
      this.clock = clock;
      this.counts = missingCounts;
      this.last = last;
      return this;
    });
  }

  /**
   * One reservoir a group, the same ones if weights are shared; those of the first member, if there
   * are several. @throws NotFittedError
   */
  get computers(): readonly ReservoirComputer[] {
    return this.#first.computers;
  }

  /** Every member's reservoirs and readouts. @throws NotFittedError */
  get members(): readonly FittedField[] {
    return this.#fitted();
  }

  /** Q, the columns of its series. @throws NotFittedError */
  get columns(): number {
    return this.#first.fit.geometry.columns;
  }

  /** How many sites its field has. @throws NotFittedError */
  get sites(): number {
    return this.columns / this.settings.channels;
  }

  /**
   * One readout, one for each way that groups lie to open ends, or one a group; those of the first
   * member, if there are several. @throws NotFittedError
   */
  get readouts(): readonly TrainedReadout[] {
    return this.#first.readouts;
  }

  /**
   * Columns of the inputs that are known beforehand and have to be given: it makes the calendar and
   * the mask of missing values itself. 0 if there are none. @throws NotFittedError
   */
  get known(): number {
    return this.#first.fit.geometry.known.given;
  }

  override get bounds(): readonly Bound[] {
    return this.#first.road.bounds ?? [];
  }

  override get choice(): ForecasterChoice | undefined {
    return this.#choice;
  }

  /** Where it stands in its series. Setting it goes back there. @throws NotFittedError */
  override get state(): FieldState {
    return { members: this.#fitted().map(({ state }) => state), time: this.clock.now, last: this.last };
  }

  /** Goes back to where it stood. */
  override set state(state: FieldState) {
    const members = this.#fitted();
    const given: unknown = state?.members;
    const fits = (one: FieldGroupsState, m: number) =>
      one?.groups?.length === members[m]?.computers.length && one.recent?.cols === this.columns;
    if (!Array.isArray(given) || given.length !== members.length || !given.every(fits))
      throw new ArgumentError("state", state, "one that this forecaster's `state` gave");
    for (const [m, member] of members.entries()) member.state = state.members[m]!;
    this.clock.now = state.time;
    this.last = state.last ?? {};
  }

  /**
   * One-step prediction: row i (T x Q, binary64) is the row that follows row i of the series (T x
   * Q); with known inputs, the calendar or a mask it is row i itself, made from the rows before it,
   * as in `Forecaster`. The state moves on. @throws ArgumentError, NotFittedError
   */
  async predict(series: MatrixLike, options: FieldPredictOptions = {}): Promise<Matrix<Float64Array>> {
    return this.turns.take(async () => {
      const { warmup, known: beforehand, ...work } = resolve(fieldPredictTable, options);
      const prefix = this.prefix(warmup);
      const { inputs, known, last } = fillPredicted(
        { inputs: series, known: beforehand },
        this.settings.missing,
        prefix?.last ?? this.last,
      );
      const rows = checkedSeries(inputs as MatrixLike, "inputs");
      checkColumns(rows, "inputs", this.columns);
      return this.backOnFailure(async () => {
        await this.start(prefix, work.signal);
        const checked = this.clock.known(rows.rows, known, this.#first.road.known);
        const made = await this.#ask(work, (member, each) => member.predict({ series: rows, known: checked }, each));
        this.clock.advance(rows.rows);
        this.last = last;
        return medianOf(made);
      });
    });
  }

  /**
   * Closed loop: `steps` rows of the whole field (steps x Q, binary64). Row 0 follows the last row
   * that was seen. If that row's time stamp is known, the forecast has `times`. The state is put
   * back afterwards.
   * @throws ArgumentError, NotFittedError, NonFiniteStateError
   */
  async forecast(steps: number, options: FieldForecastOptions = {}): Promise<Forecast> {
    return this.turns.take(async () => {
      const { warmup, known, history, intervals, bandsFrom, ...work } = resolve(fieldForecastTable, options);
      const { fit, road } = this.#first;
      checkWhole("steps", steps, 1);
      const [choice, members] = [this.#choice, this.#fitted()];
      checkIntervals({ choice, members }, steps, { intervals, bandsFrom });
      return this.puttingBack(async () => {
        await this.start(this.prefix(warmup), work.signal);
        if (history !== undefined) {
          const last = checkedSeries(history, "history");
          for (const member of members) member.recall(last);
        }
        const { masks } = fit.geometry.known;
        const given = masks > 0 ? maskAhead(known, steps, masks, this.known) : known;
        const ahead = this.clock.known(steps, given, road.known);
        const made = await this.#ask(work, (member, each) => member.forecast(steps, ahead, each));
        const values = medianOf(made);
        return this.handedOut(values, bandsOf({ choice, members }, { values, made }, { intervals, bandsFrom }));
      });
    });
  }

  /**
   * The score of one-step predictions of rows 1 to T - 1 of a series, or of all its rows if
   * something of them is known beforehand. Rows of which a value was filled do not count. The state
   * is put back afterwards. @throws ArgumentError, NotFittedError, and what the metric throws
   */
  async score(data: FieldData, options: FieldScoreOptions = {}): Promise<number> {
    return this.turns.take(async () => {
      const { metric, washout, warmup, ...work } = resolve(fieldScoreTable, options);
      const prefix = this.prefix(warmup);
      const { checked, mask } = fieldScored(data, this.settings, prefix?.last ?? this.last);
      checkColumns(checked.series, "series", this.columns);
      const { inputs, ...scored } = scoredRows(checked, mask, this.#first.road.known > 0);
      const score = scorerOf({ ...scored, washout, metric });
      const predicted = await this.puttingBack(async () => {
        await this.start(prefix, work.signal);
        const { known } = this.clock.rows(checked) as CheckedSeries;
        return this.#ask(work, (member, each) => member.predict({ series: inputs, known }, each));
      });
      return score(medianOf(predicted));
    });
  }

  /** Back to the initial state of every reservoir. @throws NotFittedError */
  reset(): void {
    for (const member of this.#fitted()) member.reset();
    this.clock.now = undefined;
    this.last = {};
  }

  /**
   * The model as the bytes of one safetensors file: reservoirs, readouts, settings and states.
   * @throws NotFittedError
   */
  override async toBytes(): Promise<Uint8Array> {
    return this.turns.take(async () => {
      const members = this.#fitted().map(({ fit, computers, state }) => {
        const own = this.settings.shared ? computers.slice(0, 1) : computers;
        return { fit, models: own.map(({ model }) => model), state };
      });
      return encodeField({ settings: this.settings, members, choice: this.#choice, time: this.clock.note, last: this.last });
    });
  }

  /** Opens what `toBytes` gave. @throws FileError with the reason if it cannot be used */
  static async fromBytes(bytes: Uint8Array, options: LoadOptions = {}): Promise<FieldForecaster> {
    const { source, ...selection } = resolve(loadTable, options);
    const { settings, members, choice, time, last } = await decodeField(await decodeModelFile(bytes, source, "field"), source);
    const models = members.map((member) => member.models);
    const forecaster = new FieldForecaster(settings, { description: models[0]![0]!.config, ...selection }, time);
    forecaster.#computers = await reopenReservoirs(models, members[0]!.fit.geometry, selection);
    forecaster.#members = members.map(({ fit, state }, m) => {
      const member = new FieldGroups(forecaster.#computers[m]!, fit);
      member.state = state;
      return member;
    });
    forecaster.#choice = choice;
    forecaster.last = last;
    return forecaster;
  }

  /**
   * Opens a file that `save` wrote (Node). @throws FileError with the reason if it cannot be used
   */
  static async load(path: string, options: Omit<LoadOptions, "source"> = {}): Promise<FieldForecaster> {
    resolve(loadTable, options);
    return FieldForecaster.fromBytes(await readBytes(path), { ...options, source: path });
  }

  /** Gives memory and threads back. Idempotent. */
  override async dispose(): Promise<void> {
    await disposeAll(this.#computers);
  }

  #fitted(): readonly FieldGroups[] {
    if (!this.#members) throw new NotFittedError("forecaster");
    return this.#members;
  }

  get #first(): FieldGroups {
    return this.#fitted()[0]!;
  }

  #ask<Made>(work: WorkOptions, ask: (member: FieldGroups, work: WorkOptions) => Promise<Made>): Promise<readonly Made[]> {
    return askMembers({ members: this.#fitted() }, work, ask);
  }

  protected override prefixOf(warmup: FieldData): FieldPrefix {
    return fieldPrefix(warmup, this.settings);
  }

  protected override async start(prefix: FieldPrefix | undefined, signal: AbortSignal | undefined): Promise<void> {
    if (!prefix) return;
    checkColumns(prefix.rows.series, "warmup", this.columns);
    const timed = fromRow(this.clock.warmUp(prefix.rows) as CheckedSeries, prefix.unfilled);
    for (const member of this.#fitted()) await member.start(timed, signal);
    this.last = prefix.last;
  }

  async #openReservoirs(geometry: FieldGeometry): Promise<readonly (readonly ReservoirComputer[])[]> {
    const [first] = this.#computers;
    if (first?.length === geometry.groups && first[0]!.model.inputSize === geometry.seen) return this.#computers;
    await this.dispose();
    this.#computers = [];
    this.#members = undefined;
    this.#computers = await openReservoirs(geometry, this.settings, this.#reservoirs);
    return this.#computers;
  }
}
