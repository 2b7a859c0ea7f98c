// FieldForecaster: reservoirs side by side along a line or over a grid, each with its own sites and
// those next to them. How they work together stands in groups.ts, how it is kept in file.ts.
import { ArgumentError } from "../../core/errors.js";
import { resolve } from "../../core/options.js";
import { writeFileAtomic } from "../../io/atomic.js";
import { readBytes } from "../../io/files.js";
import type { Matrix, MatrixLike } from "../../numerics/index.js";
import type { TrainedReadout } from "../../readout/index.js";
import { ReservoirComputer, type ReservoirModel, type ReservoirOptions, type WorkOptions } from "../../reservoir/index.js";
import { checkWhole } from "../../reservoir/inputs.js";
import { Turns, workTable } from "../../reservoir/work.js";
import type { CalendarFeature } from "../../series/calendar.js";
import { rowsLost, type TimeGrid } from "../../series/index.js";
import { forecasterReservoir } from "../defaults.js";
import { NotFittedError } from "../errors.js";
import { bandsAround, checkIntervals } from "../forecaster/bands.js";
import type { ForecasterChoice } from "../forecaster/choice.js";
import { Clock } from "../forecaster/clock.js";
import { type CheckedSeries, checkColumns, checkedSeries, cutRows, givenColumns, withTimes } from "../forecaster/data.js";
import { Forecast } from "../forecaster/forecast.js";
import { checkChoose } from "../forecaster/lambda-choice.js";
import { fillPredicted, maskAhead } from "../forecaster/missing.js";
import type { TimesOption } from "../forecaster/options.js";
import { scorerOf } from "../forecaster/score.js";
import { decodeModelFile, type LoadOptions, loadTable } from "../model-file.js";
import { checkTableNames } from "../table-names.js";
import { fieldPrefix, fieldScored, fieldSequences } from "./data.js";
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

interface Open {
  readonly description: ReservoirOptions;
  readonly engine: string | undefined;
  readonly threads: number | undefined;
}

/** Where a FieldForecaster stands in its series. */
export interface FieldState extends FieldGroupsState {
  /** The time of the last row that it has seen; undefined if it is not known. */
  readonly time: TimeGrid | undefined;
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
 * await using model = await FieldForecaster.fit(field, { groups: 32, halo: 6, reservoir: { size: 1000 } });
 * const next = await model.forecast(300);
 */
export class FieldForecaster implements AsyncDisposable {
  readonly settings: FieldSettings;
  readonly #open: Open;
  #computers: readonly ReservoirComputer[] = [];
  #groups: FieldGroups | undefined;
  #choice: ForecasterChoice | undefined;
  #clock = new Clock();
  #missingCounts: readonly number[] = [];
  readonly #turns = new Turns();

  private constructor(settings: FieldSettings, open: Open) {
    this.settings = settings;
    this.#open = open;
  }

  /** Checks the options. @throws ArgumentError */
  static async create(options: FieldOptions): Promise<FieldForecaster> {
    const { reservoir, engine, threads, ...settings } = resolve(fieldOptionsTable, options);
    const description = forecasterReservoir(reservoir) as ReservoirOptions;
    if (description.feedback)
      throw ArgumentError.because("reservoir.feedback is set; groups of a field see each other's forecasts as inputs: leave it out", {
        field: "reservoir.feedback",
      });
    checkChoose(settings);
    fieldTrainer(settings);
    return new FieldForecaster(settings, { description, engine, threads });
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
    return this.#turns.take(async () => {
      resolve(workTable, work);
      const { settings } = this;
      const { checked, masks, missingCounts } = fieldSequences(data, settings);
      const { washout, table, missing = "error" } = settings;
      const { cols } = checked[0]!.series;
      const names = givenColumns(checked[0]!, missing);
      checkTableNames(table, names);
      const geometry = new FieldGeometry(settings, cols, { given: names.known, ...ownColumns(settings, cols) });
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
      const computers = await this.#makeComputers(geometry);
      const { groups, choice } = await trainField({ settings, geometry, computers, data: timed, masks }, work);
      this.#groups = groups;
      this.#choice = choice;
      this.#clock = clock;
      this.#missingCounts = missingCounts;
      return this;
    });
  }

  /** One reservoir a group, the same ones if weights are shared. @throws NotFittedError */
  get computers(): readonly ReservoirComputer[] {
    return this.#fitted().computers;
  }

  /** Q, the columns of its series. @throws NotFittedError */
  get columns(): number {
    return this.#fitted().fit.geometry.columns;
  }

  /** How many sites its field has. @throws NotFittedError */
  get sites(): number {
    return this.columns / this.settings.channels;
  }

  /**
   * One readout, one for each way that groups lie to open ends, or one a group. @throws
   * NotFittedError
   */
  get readouts(): readonly TrainedReadout[] {
    return this.#fitted().fit.readouts;
  }

  /**
   * Columns of the inputs that are known beforehand and have to be given: it makes the calendar and
   * the mask of missing values itself. 0 if there are none. @throws NotFittedError
   */
  get known(): number {
    return this.#fitted().fit.geometry.known.given;
  }

  /** What of the calendar is an input; empty if nothing is. */
  get calendar(): readonly CalendarFeature[] {
    return this.#clock.calendar;
  }

  /** How lambda was chosen by a horizon, and by which forecasts; undefined without one. */
  get choice(): ForecasterChoice | undefined {
    return this.#choice;
  }

  /** How many values of each column were missing in the training rows, as in `Forecaster`. */
  get missingCounts(): readonly number[] {
    return this.#missingCounts;
  }

  /** The grid of the time stamps of its training rows; undefined if they had none. */
  get grid(): TimeGrid | undefined {
    return this.#clock.trained;
  }

  /** Where it stands in its series. Setting it goes back there. @throws NotFittedError */
  get state(): FieldState {
    return { ...this.#fitted().state, time: this.#clock.now };
  }

  /** Goes back to where it stood. */
  set state(state: FieldState) {
    const groups = this.#fitted();
    if (!Array.isArray(state?.groups) || state.groups.length !== groups.computers.length || state.recent?.cols !== this.columns)
      throw new ArgumentError("state", state, "one that this forecaster's `state` gave");
    groups.state = state;
    this.#clock.now = state.time;
  }

  /**
   * One-step prediction: row i (T x Q, binary64) is the row that follows row i of the series (T x
   * Q); with known inputs, the calendar or a mask it is row i itself, made from the rows before it,
   * as in `Forecaster`. The state moves on. @throws ArgumentError, NotFittedError
   */
  async predict(series: MatrixLike, options: FieldPredictOptions = {}): Promise<Matrix<Float64Array>> {
    return this.#turns.take(async () => {
      const { warmup, known: beforehand, ...work } = resolve(fieldPredictTable, options);
      const [filled, { known }] = fillPredicted(series, { known: beforehand }, this.settings.missing);
      const rows = checkedSeries(filled as MatrixLike, "inputs");
      checkColumns(rows, "inputs", this.columns);
      return this.#orBack(async (groups) => {
        await this.#start(warmup, work.signal);
        const checked = this.#clock.known(rows.rows, known, groups.fit.road.known);
        const made = await groups.predict({ series: rows, known: checked }, work);
        this.#clock.advance(rows.rows);
        return made;
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
    return this.#turns.take(async () => {
      const { warmup, known, history, intervals, ...work } = resolve(fieldForecastTable, options);
      const { transforms, known: takes } = this.#fitted().fit.road;
      checkWhole("steps", steps, 1);
      const choice = this.#choice;
      checkIntervals({ choice, members: [this] }, steps, { intervals, bandsFrom: "errors" });
      return this.#puttingBack(async (groups) => {
        await this.#start(warmup, work.signal);
        if (history !== undefined) groups.recall(checkedSeries(history, "history"));
        const { masks } = groups.fit.geometry.known;
        const ahead = masks > 0 ? maskAhead(known, steps, masks, this.known) : known;
        const values = await groups.forecast(steps, this.#clock.known(steps, ahead, takes), work);
        const bands = choice && intervals.length > 0 ? bandsAround(values, choice, [transforms], intervals) : undefined;
        return new Forecast(values, this.#clock.times(steps), bands);
      });
    });
  }

  /**
   * The score of one-step predictions of rows 1 to T - 1 of a series, or of all its rows if
   * something of them is known beforehand. Rows of which a value was filled do not count. The state
   * is put back afterwards. @throws ArgumentError, NotFittedError, and what the metric throws
   */
  async score(data: FieldData, options: FieldScoreOptions = {}): Promise<number> {
    return this.#turns.take(async () => {
      const { metric, washout, warmup, ...work } = resolve(fieldScoreTable, options);
      const { checked, mask } = fieldScored(data, this.settings);
      checkColumns(checked.series, "series", this.columns);
      const isKnown = this.#fitted().fit.road.known > 0;
      const { inputs, targets } = isKnown ? { inputs: checked.series, targets: checked.series } : cutRows(checked, false);
      const score = scorerOf({ target: targets, filled: mask?.subarray(mask.rows - targets.rows), washout, metric });
      const predicted = await this.#puttingBack(async (groups) => {
        await this.#start(warmup, work.signal);
        const { known } = this.#clock.rows(checked) as CheckedSeries;
        return groups.predict({ series: inputs, known }, work);
      });
      return score(predicted);
    });
  }

  /**
   * To the initial state, and from there over a series: as `warmup` does for one call, for all that
   * follow. @throws ArgumentError, NotFittedError
   */
  async warmUp(warmup: FieldData, work: WorkOptions = {}): Promise<void> {
    const { signal } = resolve(workTable, work);
    return this.#turns.take(() => this.#orBack(() => this.#start(warmup, signal)));
  }

  /** Back to the initial state of every reservoir. @throws NotFittedError */
  reset(): void {
    this.#fitted().reset();
    this.#clock.now = undefined;
  }

  /**
   * The model as the bytes of one safetensors file: reservoirs, readouts, settings and states.
   * @throws NotFittedError
   */
  async toBytes(): Promise<Uint8Array> {
    return this.#turns.take(async () => {
      const { fit, computers, state } = this.#fitted();
      const models = this.settings.shared ? computers.slice(0, 1) : computers;
      const choice = this.#choice;
      return encodeField({ settings: this.settings, fit, models: models.map(({ model }) => model), state, choice, time: this.#clock.note });
    });
  }

  /** Writes `toBytes()` to a file, whole or not at all (Node). @throws FileError, NotFittedError */
  async save(path: string): Promise<void> {
    await writeFileAtomic(path, await this.toBytes());
  }

  /** Opens what `toBytes` gave. @throws FileError with the reason if it cannot be used */
  static async fromBytes(bytes: Uint8Array, options: LoadOptions = {}): Promise<FieldForecaster> {
    const { source, engine, threads } = resolve(loadTable, options);
    const { settings, fit, models, state, choice, time } = await decodeField(await decodeModelFile(bytes, source, "field"), source);
    const forecaster = new FieldForecaster(settings, { description: models[0]!.config, engine, threads });
    const computers: ReservoirComputer[] = [];
    forecaster.#computers = computers;
    try {
      for (let g = 0; g < fit.geometry.groups; g++)
        computers.push(await ReservoirComputer.fromModel(models[settings.shared ? 0 : g]!, { engine, threads }));
    } catch (error) {
      await forecaster.dispose();
      throw error;
    }
    forecaster.#groups = new FieldGroups(computers, fit);
    forecaster.#groups.state = state;
    forecaster.#choice = choice;
    forecaster.#clock = new Clock(settings.calendar, time);
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
  async dispose(): Promise<void> {
    await Promise.all(this.#computers.map((computer) => computer.dispose()));
  }

  /** Lets `await using` dispose of it. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  #fitted(): FieldGroups {
    if (!this.#groups) throw new NotFittedError("forecaster");
    return this.#groups;
  }

  /** Goes to the initial state and through the warm-up, if there is one. */
  async #start(warmup: FieldData | undefined, signal: AbortSignal | undefined): Promise<void> {
    if (warmup === undefined) return;
    const prefix = fieldPrefix(warmup, this.settings);
    checkColumns(prefix.series, "warmup", this.columns);
    await this.#fitted().start(this.#clock.warmUp(prefix) as CheckedSeries, signal);
  }

  async #puttingBack<T>(work: (groups: FieldGroups) => Promise<T>): Promise<T> {
    const { state } = this;
    try {
      return await work(this.#fitted());
    } finally {
      this.state = state;
    }
  }

  /** Puts the state back only if the work fails: no group is ahead of the others. */
  async #orBack<T>(work: (groups: FieldGroups) => Promise<T>): Promise<T> {
    const { state } = this;
    try {
      return await work(this.#fitted());
    } catch (error) {
      this.state = state;
      throw error;
    }
  }

  async #makeComputers({ seen, groups }: FieldGeometry): Promise<readonly ReservoirComputer[]> {
    const { description, engine, threads } = this.#open;
    if (this.#computers.length === groups && this.#computers[0]!.model.inputSize === seen) return this.#computers;
    await this.dispose();
    this.#groups = undefined;
    if (description.inputSize !== undefined && description.inputSize !== seen)
      throw ArgumentError.shape(`a group sees ${seen} columns and the reservoir takes ${description.inputSize} (inputSize); leave it out`);
    const made: ReservoirComputer[] = [];
    this.#computers = made;
    const add = (model: ReservoirModel) => ReservoirComputer.fromModel(model, { engine, threads });
    for (let g = 0; g < groups; g++) {
      // Group 0 is the reservoir that the description says.
      const seed = g === 0 ? description.seed : `${description.seed ?? 0} group ${g}`;
      const isNew = g === 0 || !this.settings.shared;
      made.push(
        isNew ? await ReservoirComputer.create({ ...description, seed, inputSize: seen }, { engine, threads }) : await add(made[0]!.model),
      );
    }
    return made;
  }
}
