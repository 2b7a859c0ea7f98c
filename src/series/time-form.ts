// How a time stamp is written, and stamps from text and back. One stamp at a time; columns of them
// are in time-stamps.ts.
import { quoted } from "@spillway/core/text.js";
import { dateOf, dayMs, daysInMonth, daysOf, hourMs, minuteMs } from "./civil.js";

/**
 * How the stamps of a column are written, in parts: `YYYY` or `YY` (69 to 99: the years 1969 to
 * 1999); `MM`, `M` (no zero before it) or `MMM` (Jan); `DD` or `D`; `hh` or `h`; `A` (AM or PM);
 * `mm`; `ss`; `f` for each digit of a fraction; the zone `+hh:mm`, `+hhmm`, `+hh` or `Z`. Between
 * them any signs, and `T`. Or `s` or `ms`: the time since 1970 in that unit.
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
const isoForm = /^YYYY(?:-MM(?:-DD(?:[T ]hh:mm(?::ss(?:\.f{1,9})?)?(?:Z|\+hh(?::?mm)?)?)?)?)?$/;

/** The parts of a form, the longer ones first. */
const parts = /\+hh:mm|\+hhmm|\+hh|YYYY|YY|MMM|MM|M|DD|D|hh|h|mm|ss|f{1,9}|A/g;

/** What a part is, and its text as a regular expression. */
const partKinds: readonly (readonly [RegExp, string, string])[] = [
  [/^\+/, "zone", "[+-]\\d\\d(?::?\\d\\d)?"],
  [/^YYYY$/, "year", "\\d{4}"],
  [/^YY$/, "year", "\\d\\d"],
  [/^MMM$/, "month", "[A-Za-z]{3}"],
  [/^MM$/, "month", "\\d\\d"],
  [/^M$/, "month", "\\d\\d?"],
  [/^DD$/, "day", "\\d\\d"],
  [/^D$/, "day", "\\d\\d?"],
  [/^hh$/, "hour", "\\d\\d"],
  [/^h$/, "hour", "\\d\\d?"],
  [/^mm$/, "minute", "\\d\\d"],
  [/^ss$/, "second", "\\d\\d"],
  [/^f/, "fraction", ""],
  [/^A$/, "half", "[AaPp]\\.?[Mm]\\.?"],
];

const monthNames = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** What each part needs beside it. */
const needs: Readonly<Record<string, string>> = {
  month: "year",
  day: "month",
  hour: "day",
  minute: "hour",
  second: "minute",
  fraction: "second",
  half: "hour",
  zone: "hour",
};

const compiled = new Map<string, RegExp | string>();

/** A form as a regular expression with a group for each part; a sentence that says why it is none. */
function compileForm(form: string): RegExp | string {
  const known = compiled.get(form);
  if (known !== undefined) return known;
  const found = new Set<string>();
  let twice: string | undefined;
  let at = 0;
  let pattern = "";
  const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/ +/g, "\\s+");
  for (const match of form.matchAll(parts)) {
    const [part] = match;
    const [, kind, expression] = partKinds.find(([own]) => own.test(part))!;
    if (found.has(kind)) twice ??= part;
    pattern += `${literal(form.slice(at, match.index))}(?<${found.has(kind) ? "twice" : kind}>${expression || `\\d{${part.length}}`})`;
    found.add(kind);
    at = match.index + part.length;
    if (twice) break;
  }
  pattern += literal(form.slice(at));
  const rest = form.replace(parts, " ").replace(/T/g, "").replace(/Z$/, "");
  const letters = /\p{L}+/u.exec(rest)?.[0];
  const lacking = [...found].find((kind) => needs[kind] !== undefined && !found.has(needs[kind]!));
  const reason = twice
    ? `has ${twice} after another part of the same kind`
    : letters
      ? `has ${quoted(letters)}, which is no part`
      : !found.has("year")
        ? "has no year"
        : lacking && `has the ${lacking} and no ${needs[lacking]}`;
  const out = reason ?? new RegExp(`^${pattern}$`);
  if (compiled.size > 1000) compiled.clear();
  compiled.set(form, out);
  return out;
}

/** What `timeFormat` takes, in words. */
export const formTakes =
  'the parts YYYY, YY, MM, M, MMM, DD, D, hh, h, mm, ss, f, A (AM or PM), +hh:mm and signs between them, such as "DD.MM.YYYY hh:mm"';

/** Whether a text is a form, such as one from a model file. */
export function isTimeForm(text: unknown): text is TimeForm {
  return typeof text === "string" && text.length <= 100 && (text === "s" || text === "ms" || typeof compileForm(text) !== "string");
}

/** Whether the form of such stamps is found without an option. */
export function isIsoForm(form: TimeForm): boolean {
  return isoForm.test(form);
}

/** Whether stamps of this form say an instant, whatever the clock. */
export function saysInstant(form: TimeForm): boolean {
  return form === "s" || form === "ms" || form.endsWith("Z") || form.includes("+");
}

/** The first and the last moment that a stamp can name: years of four digits. */
export const firstTime = daysOf({ year: 0, month: 1, day: 1 }) * dayMs;
export const lastTime = daysOf({ year: 9999, month: 12, day: 31 }) * dayMs + dayMs - 1;

/**
 * A stamp from its text; a sentence that says why it is none.
 * @param unit of numbers. @param form how it is written; left out, a form of ISO 8601.
 */
export function parseStamp(text: string, unit?: TimeUnit, form?: TimeForm): TimeStamp | string {
  const cell = text.trim();
  if (unit !== undefined) return parseEpoch(cell, unit);
  if (form !== undefined) {
    const pattern = compileForm(form);
    const groups = typeof pattern === "string" ? undefined : pattern.exec(cell)?.groups;
    return groups ? stampOf(groups, form) : `is no time stamp of the form ${form}`;
  }
  const found = iso.exec(cell);
  if (!found) {
    if (!epoch.test(cell)) return `is no time stamp; it takes ${timeForms}`;
    return 'is a number; if it counts the time since 1970, give its unit: "s" or "ms"';
  }
  const [, year, month, day, between, hour, minute, second, fraction, zone] = found;
  const time = between === undefined ? "" : `${between}hh:mm${second ? ":ss" : ""}${fraction ? `.${"f".repeat(fraction.length)}` : ""}`;
  const written = `YYYY${month ? "-MM" : ""}${day ? "-DD" : ""}${time}${zoneForm(zone)}`;
  return stampOf({ year, month, day, hour, minute, second, fraction, zone }, written);
}

function stampOf(said: Readonly<Record<string, string | undefined>>, form: TimeForm): TimeStamp | string {
  const { minute, second, fraction, half, zone } = said;
  const short = Number(said["year"]);
  const year = said["year"]!.length > 2 ? short : short + (short < 69 ? 2000 : 1900);
  const name = said["month"] ?? "1";
  const month = /^\d/.test(name) ? Number(name) : monthNames.indexOf(name.toLowerCase()) + 1;
  const day = Number(said["day"] ?? 1);
  let hour = Number(said["hour"] ?? 0);
  if (month < 1 || month > 12) return `is no date: there is no month ${name}`;
  const days = daysInMonth(year, month);
  if (day < 1 || day > days) return `is no date: ${pad(year, 4)}-${pad(month, 2)} has ${days} days`;
  if (half !== undefined) {
    if (hour < 1 || hour > 12) return "is no time: hours with AM or PM go from 1 to 12";
    hour = (hour % 12) + (/^p/i.test(half) ? 12 : 0);
  }
  if (hour > 23) return "is no time: hours go from 00 to 23";
  if (Number(minute ?? 0) > 59) return "is no time: minutes go from 00 to 59";
  if (Number(second ?? 0) > 59) return "is no time: seconds go from 00 to 59";
  const ms = millisecondsOf(fraction);
  if (ms === undefined) return finerThanMs;
  const offset = offsetOf(zone);
  if (offset === undefined) return "is no time: a zone takes hours from 00 to 23 and minutes from 00 to 59";
  const time = hour * hourMs + Number(minute ?? 0) * minuteMs + Number(second ?? 0) * 1000 + ms;
  return { form, wall: daysOf({ year, month, day }) * dayMs + time, offset };
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
export function formatStamp({ form, wall: shown, offset }: TimeStamp): string {
  // These forms say an instant and no zone: they are written in UTC.
  const wall = saysInstant(form) && !form.includes("+") ? shown - offset * minuteMs : shown;
  if (form === "ms") return String(wall);
  if (form === "s") {
    const ms = Math.abs(wall) % 1000;
    const fraction = ms === 0 ? "" : `.${pad(ms, 3).replace(/0+$/, "")}`;
    return `${wall < 0 ? "-" : ""}${Math.floor(Math.abs(wall) / 1000)}${fraction}`;
  }
  const days = Math.floor(wall / dayMs);
  const { year, month, day } = dateOf(days);
  const time = wall - days * dayMs;
  const hours = Math.floor(time / hourMs);
  const hour = form.includes("A") ? ((hours + 11) % 12) + 1 : hours;
  const ahead = Math.abs(offset);
  const text: Readonly<Record<string, () => string>> = {
    YYYY: () => pad(year, 4),
    YY: () => pad(year % 100, 2),
    MMM: () => monthNames[month - 1]!.replace(/^./, (letter) => letter.toUpperCase()),
    MM: () => pad(month, 2),
    M: () => String(month),
    DD: () => pad(day, 2),
    D: () => String(day),
    hh: () => pad(hour, 2),
    h: () => String(hour),
    mm: () => pad(Math.floor(time / minuteMs) % 60, 2),
    ss: () => pad(Math.floor(time / 1000) % 60, 2),
    A: () => (hours < 12 ? "AM" : "PM"),
  };
  return form.replace(parts, (part) => {
    if (part.startsWith("f"))
      return pad(time % 1000, 3)
        .padEnd(part.length, "0")
        .slice(0, part.length);
    if (!part.startsWith("+")) return text[part]!();
    const minutes = part.slice(3).replace("mm", pad(ahead % 60, 2));
    return `${offset < 0 ? "-" : "+"}${pad(Math.floor(ahead / 60), 2)}${minutes}`;
  });
}

function pad(value: number, digits: number): string {
  return String(value).padStart(digits, "0");
}
