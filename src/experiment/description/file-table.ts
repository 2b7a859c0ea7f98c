// What an experiment file says of a file with a series or cases. Apart from schema.ts, so that the
// package's declarations, which take their types from here, leave the other tables out.
import { ArgumentError } from "@spillway/core/errors.js";
import {
  text as anyText,
  checked,
  choice,
  count,
  either,
  flag,
  given,
  type Kind,
  list,
  object,
  option,
  optional,
} from "@spillway/core/options.js";
import { calendarKind } from "../../series/calendar.js";
import { gapKind } from "../../series/gaps.js";
import { timeTable } from "../../series/time-stamps.js";

export const text = (takes: string): Kind<string> =>
  checked(takes, (value) => typeof value === "string" && value !== "", { type: "string", minLength: 1 });
const columnTakes = "a column's name, or its index from 0";
export const column = either(columnTakes, text(columnTakes), count(0));
const anyColumns = list(column, "a list of columns, by name or by index from 0, at least one", 1);
const columns: typeof anyColumns = {
  ...anyColumns,
  read(value, field) {
    const read = anyColumns.read(value, field);
    const twice = read.findIndex((name, k) => read.indexOf(name) < k);
    if (twice >= 0) throw new ArgumentError(`${field}[${twice}]`, read[twice], "each column once");
    return read;
  },
};

export const fileTable = {
  file: given(
    text("the path of a file"),
    "A CSV, Parquet, NPY, UEA .ts or WAV file: a path from this file's folder; npm:package/path for a file of an installed package; $NAME and \u0024{NAME:-default} for environment variables.",
  ),
  format: optional(choice("csv", "parquet", "npy", "ts", "wav"), "Left out, the name's ending says it."),
  /** A second file of the same form: the test part. */
  test: optional(text("the path of a file"), "A second file of the same form: the test part."),
  /** The columns of the series, by name or by index from 0; default all. */
  columns: optional(columns, "The columns of the series; left out, all."),
  /** For predict: the columns that drive the reservoir, and those to be predicted. */
  inputs: optional(columns, "For predict: the columns that drive the reservoir."),
  targets: optional(columns, "For predict: the columns to be predicted."),
  /** Rows to use, from and up to (not with) these numbers, from 0. */
  rows: optional(
    object({ from: optional(count(0), ""), to: optional(count(1), "") }, "an object with from, to or both"),
    "Rows to use: from this one, up to (not with) that one, counted from 0 after the header.",
  ),
  header: optional(flag, "CSV: whether the first row names the columns; left out, it is found."),
  delimiter: optional(text("one character"), "CSV: left out, it is found."),
  decimal: optional(choice(".", ","), "CSV: the decimal mark."),
  thousands: optional(choice(",", ".", " ", "'"), "CSV: what separates thousands; left out, nothing."),
  comment: optional(text("the text that begins a comment line"), "CSV: lines that begin with this are skipped."),
  encoding: optional(text('the name of an encoding, such as "utf-8"'), "CSV: left out, UTF-8."),
  /** Columns kept as text; without `time`, the first of them labels the time axis. */
  text: optional(columns, "CSV, Parquet: columns that are not numbers."),
  /** The column of time stamps. Their order and step are checked. */
  time: optional(column, "CSV, Parquet: the column of time stamps; order, step and gaps are checked, and forecasts carry their own."),
  /** The unit of time stamps that are numbers. */
  timeUnit: optional(
    timeTable.unit,
    "CSV, Parquet: the unit of time stamps that are numbers, which count from 1970: seconds or milliseconds.",
  ),
  /** How time stamps are written, such as "DD.MM.YYYY hh:mm"; default a form of ISO 8601. */
  timeFormat: optional(
    timeTable.format,
    "CSV, Parquet: how time stamps are written, such as DD.MM.YYYY hh:mm; left out, a form of ISO 8601.",
  ),
  /** The time zone whose clock the time stamps show, such as "Europe/Berlin". */
  timeZone: optional(
    timeTable.zone,
    "CSV, Parquet: the time zone whose clock the time stamps show, through its daylight saving time; left out, UTC or what a stamp says.",
  ),
  /** What becomes of rows that are missing in time; default "error". */
  gaps: optional(
    gapKind,
    "CSV, Parquet: rows that are missing in time are refused (error, the default), filled by a line (interpolate) or the last row (hold), or end a series (split).",
  ),
  /** Columns that are known beforehand, for the row that is forecast too. */
  known: optional(columns, "CSV, Parquet: columns that are known beforehand, for the rows that are forecast too; for forecasts."),
  /** What of the calendar is known beforehand, by the column of time stamps. */
  calendar: optional(
    calendarKind,
    "CSV, Parquet: what of the calendar is known beforehand, by the time stamps: hour, weekday, yearday, or {holidays: days}; for forecasts.",
  ),
  /** The column that tells several series apart, which are in one table. */
  group: optional(column, "CSV, Parquet: the column that tells several series apart, which are in one table; for forecasts."),
  missing: option(
    choice("error", "interpolate", "hold", "mask", "drop"),
    "error",
    "What becomes of a missing value; mask, of a forecast: it is held, and an input says so.",
  ),
  /** The cells that mean a missing value. */
  missingMarkers: optional(
    list(anyText(), "a list of texts", 1),
    "CSV: the cells that mean a missing value; left out, blank cells, NA, N/A, NaN and the like.",
  ),
};
