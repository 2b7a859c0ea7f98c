// Stamps on a grid that is known: that of the rows a model was trained on.

import { ArgumentError } from "@spillway/core/errors.js";
import { tally } from "@spillway/core/text.js";
import { inZone } from "./local-times.js";
import { isIsoForm } from "./time-form.js";
import {
  checkOrder,
  columnAfter,
  describeStep,
  gridAfter,
  gridText,
  type RowName,
  stampText,
  stepsAfter,
  type TimeAxis,
  type TimeColumn,
  type TimeGap,
  type TimeGrid,
  timesError,
} from "./time-grid.js";
import { readTimeColumn, type TimeLike, type TimeOptions } from "./time-stamps.js";

/**
 * Stamps on a grid: what is missing between them at its step. One stamp is enough.
 * @throws ArgumentError as `timeAxis` does, and for a stamp that is not on the grid
 */
export function axisOnGrid(given: TimeColumn, trained: TimeGrid, nameOf: RowName = (row) => `times[${row}]`): TimeAxis {
  const column = onClockOf(trained, given, nameOf);
  const { form, wall, offsets } = column;
  const shown = (row: number) => `${nameOf(row)} (${stampText(column, row)})`;
  const positions = Array.from(wall, (each, row) => stepsAfter(trained, each, offsets?.[row] ?? 0));
  const off = positions.indexOf(undefined);
  if (off >= 0)
    throw timesError(
      `${shown(off)} is not on the grid of the training rows, which go on from ${gridText(trained)} by the step of ${describeStep(trained.step)}`,
    );
  checkOrder(column, shown);
  const gaps: TimeGap[] = [];
  for (let row = 1; row < wall.length; row++) {
    const missing = positions[row]! - positions[row - 1]! - 1;
    if (missing < 0) throw timesError(`${shown(row)} has the time of the row before it`);
    if (missing > 0) gaps.push({ row, missing });
  }
  const last = wall.length - 1;
  return { ...column, grid: { ...trained, form, last: wall[last]!, offset: offsets?.[last] ?? 0 }, gaps };
}

/** A column on the clock of a grid's zone, if the grid has one and the column none. */
export function onClockOf({ zone }: TimeGrid, column: TimeColumn, nameOf: RowName): TimeColumn {
  return zone === undefined || column.zone === zone ? column : inZone(column, zone, nameOf);
}

/** How stamps are read that go on from a grid. */
export function readingOf({ form, zone }: TimeGrid): TimeOptions {
  if (form === "s" || form === "ms") return { unit: form, zone };
  return isIsoForm(form) ? { zone } : { format: form, zone };
}

/**
 * Stamps as they are written, one a row, or that of the first row alone: the others follow by the
 * step.
 */
export interface WrittenStamps {
  readonly times?: readonly TimeLike[] | undefined;
  readonly start?: TimeLike | undefined;
}

/**
 * The stamps of rows on a grid; undefined if none are given.
 * @throws ArgumentError for both, for another number than of rows, and for stamps that are not on
 * the grid or out of order
 */
export function stampsOnGrid({ times, start }: WrittenStamps, grid: TimeGrid, rows: number, name: string): TimeAxis | undefined {
  if (times !== undefined && start !== undefined)
    throw ArgumentError.because(`${name}.start was given beside ${name}.times; give one of the two`, { field: `${name}.start` });
  const read = (stamps: readonly TimeLike[], nameOf: RowName) => axisOnGrid(readTimeColumn(stamps, readingOf(grid), nameOf), grid, nameOf);
  if (times !== undefined) {
    if (times.length !== rows)
      throw ArgumentError.shape(
        `${name}.times has ${tally(times.length, "stamp")} and there are ${tally(rows, "row")}; they take the same number`,
        {
          field: `${name}.times`,
        },
      );
    return read(times, (row) => `${name}.times[${row}]`);
  }
  if (start === undefined) return undefined;
  const first = read([start], () => `${name}.start`).grid;
  const rest = columnAfter(first, rows - 1);
  const wall = Float64Array.of(first.last, ...rest.wall);
  return {
    ...rest,
    wall,
    offsets: rest.offsets && Int16Array.of(first.offset, ...rest.offsets),
    grid: gridAfter(first, rows - 1),
    gaps: [],
  };
}
