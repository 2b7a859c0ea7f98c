// The grid of time stamps: its step, its gaps, and how it goes on.

import { checkHas, checkWhole } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { quoted } from "@spillway/core/text.js";
import { dateOf, dayMs, daysInMonth, daysOf, hourMs, minuteMs } from "./civil.js";
import { firstTime, formatStamp, lastTime, type TimeForm } from "./time-form.js";
import { offsetAt, offsetsShowing } from "./time-zone.js";

/**
 * From one row to the next: `months` keep the day of the month, `days` the time of the day, as a
 * clock and a calendar on the wall show them; `ms` are milliseconds.
 */
export interface TimeStep {
  readonly count: number;
  readonly unit: "months" | "days" | "ms";
}

/** The stamps of T rows. */
export interface TimeColumn {
  readonly form: TimeForm;
  /** Milliseconds from 1970-01-01 00:00 to what the clock of each stamp's own zone shows. */
  readonly wall: Float64Array;
  /** Minutes by which each stamp's zone is ahead of UTC; undefined if none names a zone. */
  readonly offsets?: Int16Array | undefined;
  /** The time zone whose clock shows `wall`, such as "Europe/Berlin"; undefined if none was given. */
  readonly zone?: string | undefined;
}

/** What is missing before a row. */
export interface TimeGap {
  readonly row: number;
  /** How many rows. */
  readonly missing: number;
}

/**
 * The position of a grid, as plain data: what a model file keeps of the time stamps it was trained on.
 */
export interface TimeGrid {
  readonly form: TimeForm;
  readonly step: TimeStep;
  /** The last stamp: milliseconds on the clock of its zone, and minutes ahead of UTC. */
  readonly last: number;
  readonly offset: number;
  /** With a step of months: the day of the month, 31 for the last one of each. */
  readonly day?: number | undefined;
  /** The time zone whose clock the stamps show; undefined if none was given. */
  readonly zone?: string | undefined;
}

/** Stamps on a grid in increasing order. */
export interface TimeAxis extends TimeColumn {
  readonly grid: TimeGrid;
  readonly gaps: readonly TimeGap[];
}

/** Says where a row is, for an error sentence: `row 7, column "date"`. */
export type RowName = (row: number) => string;

const severalSeries = "or are these several series? Then name the column that tells them apart (group)";

/**
 * Finds the step of a column's stamps, and what is missing. The step is a number of months if the
 * days of the month and the times of the day agree, else a number of days if the times of the day
 * agree, else a number of milliseconds: of each the most frequent difference, of equally frequent
 * ones the smallest.
 * @throws ArgumentError with the first row, its stamp and how many rows are like it, for a stamp
 * that is earlier than the one before it, or the same, or is no multiple of the step after it
 */
export function timeAxis(column: TimeColumn, nameOf: RowName = (row) => `times[${row}]`): TimeAxis {
  const { form, wall, offsets, zone } = column;
  const rows = wall.length;
  if (rows < 2) throw timesError(`the time stamps of ${rows} row${rows === 1 ? "" : "s"} have no step; it takes at least two rows`);
  const shown = (row: number) => `${nameOf(row)} (${stampText(column, row)})`;
  checkOrder(column, shown);
  const { unit, positions, day } = unitOf(column);
  const count = mostFrequentDifference(positions);
  const step: TimeStep = { count, unit };
  const gaps: TimeGap[] = [];
  let odd: number | undefined;
  let oddRows = 0;
  for (let row = 1; row < rows; row++) {
    const difference = positions[row]! - positions[row - 1]!;
    if (difference % count !== 0) {
      odd ??= row;
      oddRows++;
    } else if (difference > count) gaps.push({ row, missing: difference / count - 1 });
  }
  if (odd !== undefined) {
    const after = describeStep({ count: positions[odd]! - positions[odd - 1]!, unit });
    throw timesError(
      `${shown(odd)} comes ${after} after the row before it, which is no multiple of the step of ${describeStep(step)} ` +
        `(the most frequent difference); ${countOf(oddRows)}. Bring the rows to one step first`,
    );
  }
  const offset = offsets?.[rows - 1] ?? 0;
  const grid = { form, step, last: wall[rows - 1]!, offset, ...(day === undefined ? {} : { day }), ...(zone && { zone }) };
  return { ...column, grid, gaps };
}

/** @throws ArgumentError for a stamp that is earlier than the one before it, or the same */
export function checkOrder({ wall, offsets }: TimeColumn, shown: RowName): void {
  const rows = wall.length;
  const instant = (row: number) => wall[row]! - (offsets?.[row] ?? 0) * minuteMs;
  let first: number | undefined;
  let back = 0;
  let same = 0;
  for (let row = 1; row < rows; row++) {
    const difference = instant(row) - instant(row - 1);
    if (difference > 0) continue;
    first ??= row;
    if (difference === 0) same++;
    else back++;
  }
  if (first === undefined) return;
  if (back === rows - 1) throw timesError(`${shown(first)} is earlier than the row before it, and so is every row: turn the rows round`);
  if (instant(first) === instant(first - 1))
    throw timesError(`${shown(first)} has the time of the row before it; ${countOf(same)}. Leave repeated rows out; ${severalSeries}`);
  throw timesError(`${shown(first)} is earlier than the row before it; ${countOf(back)}. Sort the rows; ${severalSeries}`);
}

function countOf(rows: number): string {
  return rows === 1 ? "it is the only such row" : `there are ${rows} such rows`;
}

/** The calendar unit that all stamps agree on, and the position of each in it. */
function unitOf(column: TimeColumn): { unit: TimeStep["unit"]; positions: Float64Array; day?: number } {
  const { wall, offsets } = column;
  const days = wall.map((time) => Math.floor(time / dayMs));
  const time = wall[0]! - days[0]! * dayMs;
  const agreeInTime = wall.every((each, row) => each - days[row]! * dayMs === time);
  if (agreeInTime && increases(days)) {
    const months = new Float64Array(days.length);
    let isLast = true;
    let day = 0;
    for (let row = 0; row < days.length; row++) {
      const date = dateOf(days[row]!);
      months[row] = date.year * 12 + date.month - 1;
      isLast &&= date.day === daysInMonth(date.year, date.month);
      day = Math.max(day, date.day);
    }
    if (isLast) day = 31;
    const agree = days.every((each) => {
      const date = dateOf(each);
      return date.day === Math.min(day, daysInMonth(date.year, date.month));
    });
    return agree && increases(months) ? { unit: "months", positions: months, day } : { unit: "days", positions: days };
  }
  return { unit: "ms", positions: offsets ? wall.map((each, row) => each - offsets[row]! * minuteMs) : wall };
}

function increases(positions: Float64Array): boolean {
  for (let row = 1; row < positions.length; row++) if (!(positions[row]! > positions[row - 1]!)) return false;
  return true;
}

/** Of positions in increasing order; of equally frequent ones the smallest. */
export function mostFrequentDifference(positions: Float64Array): number {
  const counts = new Map<number, number>();
  for (let row = 1; row < positions.length; row++) {
    const difference = positions[row]! - positions[row - 1]!;
    counts.set(difference, (counts.get(difference) ?? 0) + 1);
  }
  let best = Number.POSITIVE_INFINITY;
  let most = 0;
  for (const [difference, count] of counts) {
    if (count < most || (count === most && difference > best)) continue;
    best = difference;
    most = count;
  }
  return best;
}

/** The stamp `steps` steps after the last one of a grid, or before it if negative. */
export function stampAt(grid: TimeGrid, steps: number): { readonly wall: number; readonly offset: number } {
  const { step, last, offset, zone } = grid;
  if (step.unit === "ms") {
    const wall = last + steps * step.count;
    if (zone === undefined) return { wall, offset };
    const instant = wall - offset * minuteMs;
    const then = offsetAt(zone, instant);
    return { wall: instant + then * minuteMs, offset: then };
  }
  const wall = step.unit === "days" ? last + steps * step.count * dayMs : monthsAfter(grid, steps);
  // A time of the day that the clock leaves out keeps the offset from before.
  return { wall, offset: zone === undefined ? offset : (offsetsShowing(zone, wall)[0] ?? offsetAt(zone, wall - dayMs)) };
}

function monthsAfter({ step, last, day }: TimeGrid, steps: number): number {
  const days = Math.floor(last / dayMs);
  const date = dateOf(days);
  const months = date.year * 12 + date.month - 1 + steps * step.count;
  const year = Math.floor(months / 12);
  const month = months - year * 12 + 1;
  return daysOf({ year, month, day: Math.min(day ?? date.day, daysInMonth(year, month)) }) * dayMs + (last - days * dayMs);
}

/**
 * The stamps of the `steps` rows that follow the last one of a grid; they keep its zone.
 * @throws ArgumentError if they leave the year 9999
 */
export function columnAfter(grid: TimeGrid, steps: number): TimeColumn {
  checkEnd(grid, steps);
  const wall = new Float64Array(steps);
  const offsets = new Int16Array(steps);
  for (let k = 0; k < steps; k++) ({ wall: wall[k], offset: offsets[k] } = stampAt(grid, k + 1) as { wall: number; offset: number });
  const { form, zone } = grid;
  return { form, wall, offsets: zone !== undefined || form.includes("+") ? offsets : undefined, zone };
}

function checkEnd(grid: TimeGrid, steps: number): void {
  const { wall } = stampAt({ ...grid, zone: undefined }, steps);
  if (!(wall >= firstTime && wall <= lastTime)) throw timesError(`${steps} steps after ${gridText(grid)} lie beyond the year 9999`);
}

/** A grid so many steps later. @throws ArgumentError if it leaves the year 9999 */
export function gridAfter(grid: TimeGrid, steps: number): TimeGrid {
  checkEnd(grid, steps);
  const { wall, offset } = stampAt(grid, steps);
  return { ...grid, last: wall, offset };
}

/**
 * The stamps of the `steps` rows that follow the last one of a grid, in its form and zone; months
 * and days go on as the calendar does.
 * @throws ArgumentError if they leave the year 9999
 */
export function timesAfter(grid: TimeGrid, steps: number): string[] {
  checkHas("grid", grid, "the grid of time stamps, as readTimes(times).grid", "step", "last");
  return columnTexts(columnAfter(grid, checkWhole("steps", steps, 0)));
}

/**
 * How many steps after the last stamp of a grid a stamp lies; undefined if it is not on the grid.
 */
export function stepsAfter(grid: TimeGrid, wall: number, offset: number): number | undefined {
  const { step, last, day } = grid;
  let difference: number;
  if (step.unit === "ms") difference = wall - offset * minuteMs - (last - grid.offset * minuteMs);
  else {
    const days = Math.floor(wall / dayMs);
    const lastDays = Math.floor(last / dayMs);
    if (wall - days * dayMs !== last - lastDays * dayMs) return undefined;
    if (step.unit === "days") difference = days - lastDays;
    else {
      const date = dateOf(days);
      const from = dateOf(lastDays);
      if (date.day !== Math.min(day ?? from.day, daysInMonth(date.year, date.month))) return undefined;
      difference = (date.year - from.year) * 12 + date.month - from.month;
    }
  }
  return difference % step.count === 0 ? difference / step.count + 0 : undefined;
}

/** The grid that ends at row `row` of an axis. */
export function gridAt({ grid, wall, offsets }: TimeAxis, row: number): TimeGrid {
  return { ...grid, last: wall[row]!, offset: offsets?.[row] ?? 0 };
}

/** Rows `from` up to (not with) `to` of an axis. */
export function axisRows(axis: TimeAxis, from: number, to: number): TimeAxis {
  return {
    form: axis.form,
    zone: axis.zone,
    wall: axis.wall.subarray(from, to),
    offsets: axis.offsets?.subarray(from, to),
    grid: to > from ? gridAt(axis, to - 1) : axis.grid,
    gaps: axis.gaps.flatMap(({ row, missing }) => (row > from && row < to ? [{ row: row - from, missing }] : [])),
  };
}

/** The stamp of a row as text. */
export function stampText({ form, wall, offsets }: TimeColumn, row: number): string {
  return formatStamp({ form, wall: wall[row]!, offset: offsets?.[row] ?? 0 });
}

/** The stamps of all rows as text. */
export function columnTexts(column: TimeColumn): string[] {
  return Array.from(column.wall, (_, row) => stampText(column, row));
}

/** The last stamp of a grid as text. */
export function gridText({ form, last, offset }: TimeGrid): string {
  return formatStamp({ form, wall: last, offset });
}

const units = [
  ["day", dayMs],
  ["hour", hourMs],
  ["minute", minuteMs],
  ["second", 1000],
  ["millisecond", 1],
] as const;

/** A step in words: "1 hour", "3 months", "1 year". */
export function describeStep({ count, unit }: TimeStep): string {
  const said = (name: string, k: number) => `${k} ${name}${k === 1 ? "" : "s"}`;
  if (unit === "months") return count % 12 === 0 ? said("year", count / 12) : said("month", count);
  if (unit === "days") return said("day", count);
  const [name, size] = units.find(([, ms]) => count % ms === 0)!;
  return said(name, count / size);
}

/** The axis in words: step, first and last stamp, gaps. */
export function describeAxis(axis: TimeAxis): string {
  const { gaps, grid } = axis;
  const missing = gaps.reduce((sum, gap) => sum + gap.missing, 0);
  const lack =
    gaps.length === 0 ? "no gap" : `${gaps.length} gap${gaps.length === 1 ? "" : "s"} of ${missing} row${missing === 1 ? "" : "s"}`;
  const zone = grid.zone === undefined ? "" : `, clock of ${grid.zone}`;
  return `step ${describeStep(grid.step)}, ${stampText(axis, 0)} to ${gridText(grid)}${zone}, ${lack}`;
}

export function timesError(sentence: string): ArgumentError {
  return ArgumentError.because(sentence, { field: "times" });
}

/** An error of one stamp. */
export function stampError(nameOf: string, text: string, reason: string): ArgumentError {
  return timesError(`${nameOf}: ${quoted(text)} ${reason}`);
}
