// The time stamps of a Forecaster's rows: their grid, the position of its state on it, and the
// calendar of rows to come.

import { ArgumentError } from "@spillway/core/errors.js";
import { tally } from "@spillway/core/text.js";
import { Matrix, type MatrixLike } from "@spillway/numerics";
import { type CalendarFeature, calendarColumns, calendarInputs, checkCalendar, shownCycles } from "../../series/calendar.js";
import { axisOnGrid, onClockOf, readingOf } from "../../series/on-grid.js";
import {
  columnAfter,
  columnTexts,
  describeStep,
  gridAfter,
  gridText,
  stampText,
  stepsAfter,
  type TimeAxis,
  type TimeColumn,
  type TimeGrid,
  timeAxis,
} from "../../series/time-grid.js";
import { beside, type CheckedData, type CheckedSeries, checkedSeries, type TimesLike, timeColumn } from "./data.js";

/** Known inputs of rows to come (K columns), with the time stamp of each row. */
export interface TimedRows {
  readonly values: MatrixLike;
  readonly times: TimesLike;
}

/** What a model file keeps of the time. */
export interface ClockNote {
  /** Where training ended. */
  readonly trained: TimeGrid;
  /** The last row of its state; null if its time is not known. */
  readonly now: TimeGrid | null;
  /** What of the calendar the model takes, if its settings leave that to a choice. */
  readonly calendar?: readonly CalendarFeature[] | undefined;
}

/** What of the calendar is an input, or that it is to be chosen. */
export type CalendarSetting = readonly CalendarFeature[] | "choose";

/** Keeps time for a Forecaster. */
export class Clock {
  #calendar: readonly CalendarFeature[];
  readonly #isOpen: boolean;
  #trained: TimeGrid | undefined;
  /** Ends at the last row given to the forecaster; undefined if its time is not known. */
  now: TimeGrid | undefined;

  constructor(calendar: CalendarSetting = [], note?: ClockNote) {
    this.#isOpen = calendar === "choose";
    this.#calendar = note?.calendar ?? (calendar === "choose" ? [] : calendar);
    this.#trained = note?.trained;
    this.now = note?.now ?? undefined;
  }

  /** What of the calendar is an input. */
  get calendar(): readonly CalendarFeature[] {
    return this.#calendar;
  }

  /** The calendar was a candidate, and was not chosen. */
  leaveCalendar(): void {
    this.#calendar = [];
  }

  /** Where training ended; undefined if it had no time stamps. */
  get trained(): TimeGrid | undefined {
    return this.#trained;
  }

  /** What a model file keeps; undefined if the model was trained without time stamps. */
  get note(): ClockNote | undefined {
    if (!this.#trained) return undefined;
    const chosen = this.#isOpen && this.calendar.length > 0 ? { calendar: this.calendar } : {};
    return { trained: this.#trained, now: this.now ?? null, ...chosen };
  }

  /** Columns that the calendar adds to what is known beforehand. */
  get columns(): number {
    return calendarColumns(this.calendar);
  }

  /**
   * Training data with the calendar of its rows: if it is to be chosen, the cycles that they show.
   * @throws ArgumentError for stamps that are missing, out of order or not on one grid
   */
  train(data: readonly CheckedData[]): readonly CheckedData[] {
    const axes = data.map((one, s) => {
      const { series, times } = one as Partial<CheckedSeries>;
      const name = data.length > 1 ? `sequences[${s}]: times` : "times";
      if (series && times) return trainingAxis(times, name);
      if (this.calendar.length > 0)
        throw ArgumentError.because(`${name} is missing; calendar takes the time stamps of the rows: give { series, times }`, {
          field: "times",
        });
      return undefined;
    });
    const [first] = axes;
    const other = axes.findIndex((axis) => (axis && describeStep(axis.grid.step)) !== (first && describeStep(first.grid.step)));
    if (other > 0)
      throw ArgumentError.because(
        `sequences[${other}] has ${axes[other] ? `a step of ${describeStep(axes[other].grid.step)}` : "no times"} and sequences[0] ` +
          `${first ? `a step of ${describeStep(first.grid.step)}` : "none"}; they take the same`,
        { field: "times" },
      );
    if (first && this.#isOpen) this.#calendar = shownCycles(first.grid.step, Math.max(...data.map((one) => one.series?.rows ?? 0)));
    if (first) checkCalendar(this.calendar, first.grid.step);
    this.#trained = axes.at(-1)?.grid;
    this.now = this.#trained;
    return data.map((one, s) => (one.series ? this.#withCalendar(one, axes[s]?.wall) : one));
  }

  /**
   * Rows that a model is warmed up on, with their calendar. The time is then that of their last
   * row.
   * @throws ArgumentError for stamps that do not continue the grid, or are missing and needed
   */
  warmUp(data: CheckedData): CheckedData {
    const { times } = data as Partial<CheckedSeries>;
    if (times === undefined) {
      if (this.calendar.length > 0)
        throw ArgumentError.because("warmup.times is missing; this forecaster takes the calendar of its rows: give { series, times }", {
          field: "times",
        });
      this.now = undefined;
      return data;
    }
    this.now = this.#onGrid(times, "warmup.times");
    return data.series ? this.#withCalendar(data, times.wall) : data;
  }

  /** Rows after the last one. Their stamps continue from its stamp if they are not given. */
  rows(data: CheckedData): CheckedData {
    if (!data.series || this.calendar.length === 0) return data;
    if (data.times) this.#onGrid(data.times, "times");
    return this.#withCalendar(data, data.times?.wall ?? this.#ahead(data.series.rows));
  }

  /**
   * The stamps of rows that follow a row of the grid: as they are given, or by the step.
   * @throws ArgumentError if they do not follow it
   */
  following(last: TimeGrid | undefined, times: TimesLike | TimeColumn | undefined, rows: number): TimeColumn | undefined {
    if (times === undefined) return last && columnAfter(last, rows);
    if (!last) throw ArgumentError.because("times was given, and the time of the row before is not known", { field: "times" });
    const read = "form" in times && !("grid" in times) ? times : timeColumn(times, rows, "times", readingOf(last));
    const column = onClockOf(last, read, (row) => `times[${row}]`);
    const next = columnAfter(last, rows);
    const other = next.wall.findIndex(
      (wall, row) => wall !== column.wall[row] || (next.offsets?.[row] ?? 0) !== (column.offsets?.[row] ?? 0),
    );
    if (other >= 0)
      throw ArgumentError.because(
        `times[${other}] is ${stampText(column, other)}; rows follow one another by the step of ${describeStep(last.step)}, so it takes ` +
          `${stampText(next, other)}`,
        { field: "times" },
      );
    return next;
  }

  /** What is known of the next rows: the user's columns, and the calendar. */
  known(steps: number, given: MatrixLike | TimedRows | undefined, columns: number): Matrix | undefined {
    const own = given === undefined ? undefined : isTimed(given) ? this.#rowsAt(given, steps) : checkedSeries(given, "known");
    const wanted = columns - this.columns;
    const missing = () =>
      this.now && steps > (own?.rows ?? 0) ? `; the first that is missing is that of ${this.#textAhead((own?.rows ?? 0) + 1)}` : "";
    if (own === undefined && wanted > 0)
      throw ArgumentError.because(
        `known is missing; this forecaster takes ${wanted} known inputs for each of the ${steps} steps${missing()}`,
        {
          field: "known",
        },
      );
    if (own && wanted === 0)
      throw ArgumentError.because(
        `known was given; this forecaster was trained without known inputs${this.columns > 0 ? " beside the calendar" : ""}`,
        { field: "known" },
      );
    if (own && own.cols !== wanted)
      throw ArgumentError.shape(`known has ${tally(own.cols, "column")}; this forecaster takes ${wanted}`, { field: "known" });
    if (own && own.rows !== steps) {
      const advice = own.rows < steps ? "; add them, or forecast fewer steps" : "";
      throw ArgumentError.shape(`known has ${tally(own.rows, "row")}; ${steps} steps take as many${missing()}${advice}`, {
        field: "known",
      });
    }
    if (this.calendar.length === 0) return own;
    const calendar = calendarInputs(this.calendar, this.#ahead(steps));
    return own ? beside(own, calendar) : calendar;
  }

  /** The stamps of the next rows; undefined if the time is not known. */
  times(steps: number): string[] | undefined {
    return this.now && columnTexts(columnAfter(this.now, steps));
  }

  /** So many rows later. */
  advance(rows: number): void {
    if (this.now && rows > 0) this.now = gridAfter(this.now, rows);
  }

  #ahead(steps: number): Float64Array {
    if (!this.now)
      throw ArgumentError.because(
        "the time of the next row is not known after a reset, and this forecaster takes its calendar; give warmup as { series, times }",
        { field: "warmup" },
      );
    return columnAfter(this.now, steps).wall;
  }

  #textAhead(step: number): string {
    return gridText(gridAfter(this.now!, step));
  }

  #withCalendar(data: CheckedSeries, walls: Float64Array | undefined): CheckedSeries {
    if (this.calendar.length === 0 || !walls) return data;
    const calendar = calendarInputs(this.calendar, walls);
    return { ...data, known: data.known ? beside(data.known, calendar) : calendar };
  }

  /** Known rows put in order by their stamps. */
  #rowsAt({ values, times }: TimedRows, steps: number): Matrix {
    const given = checkedSeries(values, "known.values");
    const { now } = this;
    const read = timeColumn(times, given.rows, "known.times", now && readingOf(now));
    if (!now)
      throw ArgumentError.because("known has times, and the time of the next row is not known: train with times, and warm up with them", {
        field: "known",
      });
    const column = onClockOf(now, read, (row) => `known.times[${row}]`);
    const rowOf = new Map<number, number>();
    for (let row = 0; row < given.rows; row++) {
      const at = stepsAfter(now, column.wall[row]!, column.offsets?.[row] ?? 0);
      if (at !== undefined) rowOf.set(at, row);
    }
    const out = Matrix.zeros(steps, given.cols);
    for (let k = 1; k <= steps; k++) {
      const row = rowOf.get(k);
      if (row === undefined)
        throw ArgumentError.because(
          `known has no row of ${this.#textAhead(k)}, step ${k} of ${steps}; it takes one a step: add it, or forecast fewer`,
          {
            field: "known",
          },
        );
      out.data.set(given.row(row), (k - 1) * given.cols);
    }
    return out;
  }

  /**
   * The grid that ends at the last of some stamps. @throws ArgumentError if they are not on the
   * trained one
   */
  #onGrid(column: TimeColumn, name: string): TimeGrid {
    const trained = this.#trained;
    if (!trained) throw ArgumentError.because(`${name} was given; this forecaster was trained without time stamps`, { field: "times" });
    const nameOf = (row: number) => `${name}[${row}]`;
    const { gaps, grid } = axisOnGrid(column, trained, nameOf);
    const [gap] = gaps;
    if (gap)
      throw ArgumentError.because(
        `${nameOf(gap.row)} (${stampText(column, gap.row)}) is ${gap.missing + 1} steps after the row before it; rows follow one another by ` +
          `the step of ${describeStep(trained.step)}`,
        { field: "times" },
      );
    return grid;
  }
}

function trainingAxis(times: TimeColumn, name: string): TimeAxis {
  const axis = "grid" in times ? (times as TimeAxis) : timeAxis(times, (row) => `${name}[${row}]`);
  const [first] = axis.gaps;
  if (first)
    throw ArgumentError.because(
      `${name}[${first.row}] (${stampText(axis, first.row)}): ${tally(first.missing, "row")} before it ${first.missing === 1 ? "is" : "are"} missing, at a step ` +
        `of ${describeStep(axis.grid.step)}; ${tally(axis.gaps.length, "gap")} in all. Close them first (closeGaps), or give the parts as sequences`,
      { field: "times" },
    );
  return axis;
}

function isTimed(known: MatrixLike | TimedRows): known is TimedRows {
  return typeof known === "object" && known !== null && "values" in known && "times" in known;
}
