// How a time stamp is written, and stamps from text and back. One stamp at a time; columns of them
// stand in time-stamps.ts.
import { dateOf, dayMs, daysInMonth, daysOf, hourMs, minuteMs } from "./civil.js";

/**
 * How the stamps of a column are written: `YYYY`, `YYYY-MM`, `YYYY-MM-DD`, or a date with a time,
 * `YYYY-MM-DD hh:mm`, `...:ss`, `...:ss.fff`, with `T` or a blank between them, and without a zone
 * or with `Z`, `+hh:mm`, `+hhmm` or `+hh`; or `s` or `ms`: the time since 1970 in that unit.
 */
export type TimeForm = string;

/** Units of numbers that count the time since 1970-01-01 UTC. */
export type TimeUnit = "s" | "ms";

/** A stamp as numbers. */
export interface TimeStamp {
  readonly form: TimeForm;
  /**
   * Milliseconds from 1970-01-01 00:00 to what the clock shows in the stamp's own zone; UTC if it
   * names none.
   */
  readonly wall: number;
  /** Minutes by which that clock is ahead of UTC. */
  readonly offset: number;
}

/** The forms in words, for error sentences. */
export const timeForms =
  "YYYY, YYYY-MM, YYYY-MM-DD, or a date with a time such as 2024-01-31 13:00, 2024-01-31T13:00:00 or 2024-01-31T13:00:00+01:00";

const iso = /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:([T ])(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d(?::?\d\d)?)?)?)?)?$/;
const epoch = /^([+-]?\d{1,15})(?:\.(\d{1,9}))?$/;
const formPattern = /^(?:s|ms|YYYY(?:-MM(?:-DD(?:[T ]hh:mm(?::ss(?:\.f{1,9})?)?(?:Z|\+hh(?::?mm)?)?)?)?)?)$/;

/** Whether a text is a form, such as one from a model file. */
export function isTimeForm(text: unknown): text is TimeForm {
  return typeof text === "string" && formPattern.test(text);
}

/** The first and the last moment that a stamp can name: years of four digits. */
export const firstTime = daysOf({ year: 0, month: 1, day: 1 }) * dayMs;
export const lastTime = daysOf({ year: 9999, month: 12, day: 31 }) * dayMs + dayMs - 1;

/** A stamp from its text; a sentence that says why it is none. */
export function parseStamp(text: string, unit?: TimeUnit): TimeStamp | string {
  const cell = text.trim();
  if (unit !== undefined) return parseEpoch(cell, unit);
  const found = iso.exec(cell);
  if (!found) {
    if (!epoch.test(cell)) return `is no time stamp; it takes ${timeForms}`;
    return 'is a number; if it counts the time since 1970, give its unit: "s" or "ms"';
  }
  const [, years, months, days, between, hours, minutes, seconds, fraction, zone] = found;
  const year = Number(years);
  const month = Number(months ?? 1);
  const day = Number(days ?? 1);
  if (month < 1 || month > 12) return `is no date: there is no month ${months}`;
  if (day < 1 || day > daysInMonth(year, month)) return `is no date: ${years}-${months} has ${daysInMonth(year, month)} days`;
  let wall = daysOf({ year, month, day }) * dayMs;
  if (between === undefined) return { form: `YYYY${months ? "-MM" : ""}${days ? "-DD" : ""}`, wall, offset: 0 };
  if (Number(hours) > 23) return "is no time: hours go from 00 to 23";
  if (Number(minutes) > 59) return "is no time: minutes go from 00 to 59";
  if (Number(seconds ?? 0) > 59) return "is no time: seconds go from 00 to 59";
  const ms = millisecondsOf(fraction);
  if (ms === undefined) return finerThanMs;
  wall += Number(hours) * hourMs + Number(minutes) * minuteMs + Number(seconds ?? 0) * 1000 + ms;
  const offset = offsetOf(zone);
  if (offset === undefined) return "is no time: a zone takes hours from 00 to 23 and minutes from 00 to 59";
  const precision = seconds === undefined ? "" : fraction === undefined ? ":ss" : `:ss.${"f".repeat(fraction.length)}`;
  return { form: `YYYY-MM-DD${between}hh:mm${precision}${zoneForm(zone)}`, wall, offset };
}

const finerThanMs = "is finer than a millisecond, which is the shortest time here";

function parseEpoch(cell: string, unit: TimeUnit): TimeStamp | string {
  const found = epoch.exec(cell);
  if (!found) return `is no number of ${unit === "s" ? "seconds" : "milliseconds"} since 1970`;
  const [, count, fraction = ""] = found;
  const ms = unit === "s" ? millisecondsOf(fraction) : Number(fraction) === 0 ? 0 : undefined;
  if (ms === undefined) return finerThanMs;
  const wall = unit === "s" ? Number(count) * 1000 + (cell.startsWith("-") ? -ms : ms) : Number(count);
  if (wall < firstTime || wall > lastTime) return `lies outside the years 0 to 9999; is ${unit} its unit?`;
  return { form: unit, wall: wall + 0, offset: 0 };
}

/** Digits after the point of seconds; undefined if they say more than milliseconds. */
function millisecondsOf(digits = ""): number | undefined {
  return /[1-9]/.test(digits.slice(3)) ? undefined : Number(digits.slice(0, 3).padEnd(3, "0"));
}

function zoneForm(zone: string | undefined): string {
  return zone === undefined || zone === "Z" ? (zone ?? "") : zone.length === 3 ? "+hh" : zone.length === 5 ? "+hhmm" : "+hh:mm";
}

/** Minutes ahead of UTC; undefined if there is no such zone. */
function offsetOf(zone: string | undefined): number | undefined {
  if (zone === undefined || zone === "Z") return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(":", ""));
  if (hours > 23 || minutes > 59) return undefined;
  const ahead = hours * 60 + minutes;
  return zone.startsWith("-") && ahead > 0 ? -ahead : ahead;
}

/** The text of a stamp: `parseStamp` gives the same stamp from it. */
export function formatStamp({ form, wall, offset }: TimeStamp): string {
  if (form === "ms") return String(wall);
  if (form === "s") {
    const ms = Math.abs(wall) % 1000;
    const fraction = ms === 0 ? "" : `.${pad(ms, 3).replace(/0+$/, "")}`;
    return `${wall < 0 ? "-" : ""}${Math.floor(Math.abs(wall) / 1000)}${fraction}`;
  }
  const days = Math.floor(wall / dayMs);
  const { year, month, day } = dateOf(days);
  const [date = "", rest = ""] = form.split(/(?<=D)(?=[T ])/);
  const text = date.replace("YYYY", pad(year, 4)).replace("MM", pad(month, 2)).replace("DD", pad(day, 2));
  if (rest === "") return text;
  const time = wall - days * dayMs;
  const part = (size: number, each: number) => pad(Math.floor(time / each) % size, 2);
  const ahead = Math.abs(offset);
  const zone = `${offset < 0 ? "-" : "+"}${pad(Math.floor(ahead / 60), 2)}`;
  return (
    text +
    rest
      .replace(/\+hh(:?)(mm)?/, (_, colon: string, minutes?: string) => zone + (minutes ? colon + pad(ahead % 60, 2) : ""))
      .replace("hh", part(24, hourMs))
      .replace("mm", part(60, minuteMs))
      .replace("ss", part(60, 1000))
      .replace(/f+/, (digits) =>
        pad(time % 1000, 3)
          .padEnd(digits.length, "0")
          .slice(0, digits.length),
      )
  );
}

function pad(value: number, digits: number): string {
  return String(value).padStart(digits, "0");
}
