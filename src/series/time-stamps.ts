// A column of time stamps from text: one form a column. Their grid is found in
// time-grid.ts.
import { ArgumentError } from "@spillway/core/errors.js";
import { checked, choice, type InputOf, optional, resolve } from "@spillway/core/options.js";
import { describe } from "@spillway/core/text.js";
import { inZone } from "./local-times.js";
import { formTakes, isTimeForm, parseStamp, type TimeForm } from "./time-form.js";
import { type RowName, stampError, type TimeAxis, type TimeColumn, timeAxis, timesError } from "./time-grid.js";
import { zoneKind } from "./time-zone.js";

/**
 * A value of Temporal: an `Instant`, a `ZonedDateTime`, a `PlainDateTime`, a `PlainDate` or a
 * `PlainYearMonth`, of the runtime or of a polyfill; known by its tag.
 */
export interface TemporalLike {
  readonly [Symbol.toStringTag]: `Temporal.${string}`;
  toString(options?: object): string;
}

/**
 * A time stamp: text, a date (which counts as UTC), a value of Temporal, or a number with a unit.
 */
export type TimeLike = string | number | Date | TemporalLike;

export const timeTable = {
  /** The unit of numbers that count the time since 1970; they are not taken without it. */
  unit: optional(choice("s", "ms"), "The unit of numbers that count the time since 1970: seconds or milliseconds."),
  /** How texts are written, such as "DD.MM.YYYY hh:mm"; left out, a form of ISO 8601. */
  format: optional(checked<string>(formTakes, isTimeForm), "How texts are written; left out, a form of ISO 8601."),
  /**
   * The time zone whose clock the stamps show, such as "Europe/Berlin". Of an hour that is repeated
   * at the end of daylight saving time, a stamp is the one that is a step after the row before it,
   * else the first that is later.
   */
  zone: optional(
    zoneKind,
    "The time zone whose clock the stamps show, through its daylight saving time; left out, UTC or what a stamp says.",
  ),
};

/** How stamps are read. */
export interface TimeOptions extends InputOf<typeof timeTable> {}

/**
 * The time stamps of T rows, and their grid: its step, and what is missing. All take
 * the form of the first one: `YYYY`, `YYYY-MM`, `YYYY-MM-DD`, a date with a time, with or without a
 * zone (ISO 8601, a blank in place of T is taken), numbers of a `unit`, or what `format` says. A
 * stamp without a zone counts as UTC if no `zone` is given.
 * @throws ArgumentError naming the first row that is no stamp or of another form, and for a stamp
 * that is earlier than the one before it, or the same, or is no multiple of the step after it
 */
export function readTimes(stamps: readonly TimeLike[], options: TimeOptions = {}): TimeAxis {
  return timeAxis(readTimeColumn(stamps, options));
}

/**
 * The stamps alone.
 * @param nameOf says where a row is, for errors
 * @throws ArgumentError naming the first row that is no stamp or of another form
 */
export function readTimeColumn(
  stamps: readonly TimeLike[],
  options: TimeOptions = {},
  nameOf: RowName = (row) => `times[${row}]`,
): TimeColumn {
  const { unit, format, zone } = resolve(timeTable, options);
  if (unit !== undefined && format !== undefined)
    throw new ArgumentError("format", format, "nothing beside unit: stamps are texts or numbers");
  if (!Array.isArray(stamps)) throw timesError(`times is ${describe(stamps)}; it takes a list of time stamps, one a row`);
  const wall = new Float64Array(stamps.length);
  const offsets = new Int16Array(stamps.length);
  let form: TimeForm | undefined;
  for (let row = 0; row < stamps.length; row++) {
    const text = textOf(stamps[row]!);
    if (text === undefined)
      throw timesError(
        `${nameOf(row)} is ${describe(stamps[row])}; it takes text, a date, a value of Temporal, or a number if unit is given`,
      );
    const stamp = parseStamp(text, unit, typeof stamps[row] === "object" ? undefined : format);
    if (typeof stamp === "string") throw stampError(nameOf(row), text, stamp);
    form ??= stamp.form;
    if (stamp.form !== form)
      throw stampError(nameOf(row), text, `has the form ${stamp.form} and the rows before it ${form}; a column takes one form`);
    wall[row] = stamp.wall;
    offsets[row] = stamp.offset;
  }
  if (form === undefined) throw timesError("there are no time stamps; it takes at least two rows");
  const column = { form, wall, offsets: form.includes("+") ? offsets : undefined };
  return zone === undefined ? column : inZone(column, zone, nameOf);
}

/** What becomes text by itself: dates, and values of Temporal. */
export function textOf(stamp: TimeLike): string | undefined {
  if (typeof stamp === "string") return stamp;
  if (typeof stamp === "number") return Number.isFinite(stamp) ? String(stamp) : undefined;
  if (stamp instanceof Date && Number.isFinite(stamp.getTime())) return stamp.toISOString();
  return typeof stamp === "object" && stamp !== null && !(stamp instanceof Date) ? temporalText(stamp) : undefined;
}

/** Of one form for all values of a type: milliseconds, and more digits only if there are any. */
function temporalText(value: TemporalLike): string | undefined {
  const tag = value[Symbol.toStringTag];
  const options = { calendarName: "never", timeZoneName: "never" };
  if (tag === "Temporal.PlainDate" || tag === "Temporal.PlainYearMonth") return value.toString(options);
  if (tag !== "Temporal.Instant" && tag !== "Temporal.ZonedDateTime" && tag !== "Temporal.PlainDateTime") return undefined;
  const text = value.toString({ ...options, fractionalSecondDigits: 9 });
  return text.replace(/(\.\d{3})0{6}/, "$1");
}
