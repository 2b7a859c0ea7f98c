// What every forecaster of a series keeps beside its model: turns, time, the last rows, what was
// chosen; and the parts of a forecast that do not depend on the model. It runs no model.
import { resolve } from "@spillway/core/options.js";
import { writeFileAtomic } from "@spillway/io/atomic.js";
import type { Matrix } from "@spillway/numerics";
import { Turns, type WorkOptions, workTable } from "../../reservoir/work.js";
import type { CalendarFeature } from "../../series/calendar.js";
import type { TimeGrid } from "../../series/index.js";
import { boundedBands, selectedBands } from "./bands.js";
import { type Bound, bounded } from "./bounds.js";
import type { ForecasterChoice } from "./choice.js";
import { type CalendarSetting, Clock, type ClockNote } from "./clock.js";
import { selected } from "./data.js";
import { Forecast, type ForecastBand } from "./forecast.js";
import type { LastRows } from "./missing.js";

/** The settings that a SeriesForecaster reads. */
interface SeriesSettings {
  readonly calendar?: CalendarSetting | undefined;
  readonly targets?: readonly number[] | undefined;
}

/** Rows that a model is warmed up on: checked, with their last row. */
export interface WarmUp<Last extends LastRows = LastRows> {
  readonly last: Last;
  /** Rows at the start that are left out: nothing before them can hold a value of theirs. */
  readonly unfilled: number;
}

/**
 * The common part of `Forecaster`, `NvarForecaster` and `FieldForecaster`. `Given` are rows to warm
 * up on as a user gives them, `Prefix` the same checked.
 */
export abstract class SeriesForecaster<
  Settings extends SeriesSettings,
  State,
  Given,
  Prefix extends WarmUp<Last>,
  Last extends LastRows = LastRows,
> implements AsyncDisposable
{
  readonly settings: Settings;
  /** Calls wait for those before them. */
  protected readonly turns = new Turns();
  protected clock: Clock;
  /** The last rows, by which missing values of those to come are held. */
  protected last: Last = {} as Last;
  protected counts: readonly number[] = [];

  protected constructor(settings: Settings, time?: ClockNote) {
    this.settings = settings;
    this.clock = new Clock(settings.calendar, time);
  }

  /** What was chosen by a horizon, and by which forecasts; undefined without one. */
  abstract get choice(): ForecasterChoice | undefined;

  /**
   * The least and the largest value of each column's forecasts, null for no such end: as `bounds`
   * says, or as they were found from the training rows. @throws NotFittedError
   */
  abstract get bounds(): readonly Bound[];

  /**
   * How many values of each column were missing in the training rows, and were filled as `missing`
   * says; empty if it says "error", and in a model that was opened.
   */
  get missingCounts(): readonly number[] {
    return this.counts;
  }

  /** The grid of the time stamps of its training rows; undefined if they had none. */
  get grid(): TimeGrid | undefined {
    return this.clock.trained;
  }

  /** What of the calendar is an input; empty if nothing is. */
  get calendar(): readonly CalendarFeature[] {
    return this.clock.calendar;
  }

  /** Where it is in its series; setting it goes back there. @throws NotFittedError */
  abstract get state(): State;
  abstract set state(state: State);

  /** Rows to warm up on, checked. @throws ArgumentError */
  protected abstract prefixOf(warmup: Given): Prefix;

  /** The same of a warm-up that may be left out. */
  protected prefix(warmup: Given | undefined): Prefix | undefined {
    return warmup === undefined ? undefined : this.prefixOf(warmup);
  }

  /** Goes over the rows of a warm-up, if there is one, from the initial state. */
  protected abstract start(prefix: Prefix | undefined, signal: AbortSignal | undefined): void | Promise<void>;

  /**
   * To the initial state, and from there over a series: as `warmup` does for one call, for all that
   * follow. @throws ArgumentError, NotFittedError
   */
  async warmUp(warmup: Given, work: WorkOptions = {}): Promise<void> {
    const { signal } = resolve(workTable, work);
    return this.turns.take(() => this.backOnFailure(async () => this.start(this.prefixOf(warmup), signal)));
  }

  /** Puts the state back when the work is done, or fails. */
  protected async puttingBack<T>(work: () => T | Promise<T>): Promise<T> {
    const { state } = this;
    try {
      return await work();
    } finally {
      this.state = state;
    }
  }

  /** Puts the state back only if the work fails: no member is ahead of the others. */
  protected async backOnFailure<T>(work: () => T | Promise<T>): Promise<T> {
    const { state } = this;
    try {
      return await work();
    } catch (error) {
      this.state = state;
      throw error;
    }
  }

  /** The model as the bytes of one safetensors file. @throws NotFittedError */
  abstract toBytes(): Promise<Uint8Array>;

  /** Writes `toBytes()` to a file, whole or not at all (Node). @throws FileError, NotFittedError */
  async save(path: string): Promise<void> {
    await writeFileAtomic(path, await this.toBytes());
  }

  /** Gives memory and threads back. Idempotent. */
  abstract dispose(): Promise<void>;

  /** Lets `await using` dispose of it. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  /** A forecast of all columns as it is handed out: within its bounds, and of its targets alone. */
  protected handedOut(values: Matrix<Float64Array>, bands: readonly ForecastBand[] | undefined): Forecast {
    const { bounds } = this;
    const { targets } = this.settings;
    const ends = bands && selectedBands(boundedBands(bands, bounds), targets);
    return new Forecast(selected(bounded(values, bounds), targets), this.clock.times(values.rows), ends);
  }
}
