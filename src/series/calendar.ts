// What the calendar says of a time stamp, as numbers that are known before the series is: where a
// row is in the day, the week and the year, and whether it is a holiday.
import { isObject } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { checked, choice, either, given, type Kind, list, object, optional, whole } from "@spillway/core/options.js";
import { Matrix, portableCos, portableSin } from "@spillway/numerics";
import { dateOf, dayMs, daysOf, hourMs, weekdayOf } from "./civil.js";
import { parseStamp } from "./time-form.js";
import { describeStep, type TimeStep } from "./time-grid.js";

/**
 * A cycle of the calendar. `hour`: the hour of the day, P = 24. `weekday`: the position in the week,
 * in hours since Monday 00:00, P = 168. `yearday`: the days since 1 January, P = the days of that
 * year. All have fractions.
 */
export type CalendarCycle = "hour" | "weekday" | "yearday";

/**
 * What of the calendar is an input: a cycle by its name, with sin and cos of 2 pi j p / P for j = 1
 * to its harmonics J (default 2, for `weekday` 3); or
 * holidays, days as YYYY-MM-DD, which are 1 and all others 0. Stamps count as their own clock shows
 * them.
 */
export type CalendarFeature =
  | CalendarCycle
  | { readonly cycle: CalendarCycle; readonly harmonics?: number | undefined }
  | { readonly holidays: readonly string[] };

interface Cycle {
  /** How long it is. */
  readonly days: number;
  readonly harmonics: number;
  /** The step that it takes at most, in words, and whether a step is short enough. */
  readonly below: string;
  takes(step: TimeStep): boolean;
  /** The position of a wall time in the cycle, 0 up to `period`. */
  position(wall: number): { readonly at: number; readonly period: number };
}

const stepMs = ({ count, unit }: TimeStep): number => (unit === "ms" ? count : unit === "days" ? count * dayMs : Number.POSITIVE_INFINITY);

const cycles: Readonly<Record<CalendarCycle, Cycle>> = {
  hour: {
    days: 1,
    harmonics: 2,
    below: "a day",
    takes: (step) => stepMs(step) < dayMs,
    position: (wall) => ({ at: wall - Math.floor(wall / dayMs) * dayMs, period: dayMs }),
  },
  weekday: {
    days: 7,
    harmonics: 3,
    below: "a week",
    takes: (step) => stepMs(step) < 7 * dayMs,
    position: (wall) => {
      const days = Math.floor(wall / dayMs);
      return { at: weekdayOf(days) * 24 + (wall - days * dayMs) / hourMs, period: 168 };
    },
  },
  yearday: {
    days: 365,
    harmonics: 2,
    below: "a year",
    takes: ({ count, unit }) => unit !== "months" || count % 12 !== 0,
    position: (wall) => {
      const { year } = dateOf(Math.floor(wall / dayMs));
      const first = daysOf({ year, month: 1, day: 1 });
      return { at: wall / dayMs - first, period: daysOf({ year: year + 1, month: 1, day: 1 }) - first };
    },
  },
};

const cycleNames = choice("hour", "weekday", "yearday");
const dayTakes = "a day as YYYY-MM-DD";
const holiday = checked<string>(dayTakes, (value) => typeof value === "string" && isDay(value), { type: "string", format: "date" });
const featureTakes =
  '"hour", "weekday", "yearday", {cycle: one of these, harmonics: how many}, or {holidays: a list of days as YYYY-MM-DD}';
const described = object({
  cycle: given(cycleNames, "The cycle."),
  harmonics: optional(whole({ atLeast: 1, atMost: 100 }), "Pairs of sin and cos; left out, 2, for weekday 3."),
});
const holidays = object({ holidays: given(list(holiday, "a list of days as YYYY-MM-DD"), "Days that are 1.") });

/** A list of {@link CalendarFeature}. */
export const calendarKind: Kind<readonly CalendarFeature[]> = list(
  {
    takes: featureTakes,
    schema: either(featureTakes, cycleNames, described, holidays).schema,
    read(value: unknown, field: string): CalendarFeature {
      if (typeof value === "string") return cycleNames.read(value, field);
      if (!isObject(value)) throw new ArgumentError(field, value, featureTakes);
      return "holidays" in value ? holidays.read(value, field) : described.read(value, field);
    },
  },
  `a list of ${featureTakes}`,
);

function isDay(text: string): boolean {
  const stamp = parseStamp(text);
  return typeof stamp === "object" && stamp.form === "YYYY-MM-DD";
}

/**
 * The cycles that rows of this step can show: those that it is short enough for, and of which two
 * are in the rows.
 */
export function shownCycles(step: TimeStep, rows: number): readonly CalendarCycle[] {
  const days = step.unit === "months" ? (rows * step.count * 365.25) / 12 : (rows * stepMs(step)) / dayMs;
  return (Object.keys(cycles) as CalendarCycle[]).filter((name) => cycles[name].takes(step) && days >= 2 * cycles[name].days);
}

/** Columns that features give. */
export function calendarColumns(features: readonly CalendarFeature[]): number {
  return features.reduce((sum, feature) => sum + columnsOf(feature), 0);
}

function columnsOf(feature: CalendarFeature): number {
  return typeof feature === "object" && "holidays" in feature ? 1 : 2 * cycleOf(feature).harmonics;
}

/** A cycle with its name and how many pairs of sin and cos are taken of it. */
export function cycleOf(feature: CalendarCycle | { readonly cycle: CalendarCycle; readonly harmonics?: number | undefined }) {
  const { cycle: name, harmonics } = typeof feature === "string" ? { cycle: feature, harmonics: undefined } : feature;
  return { ...cycles[name], name, harmonics: harmonics ?? cycles[name].harmonics };
}

/**
 * The features of T wall times, T x K, in their order: of a cycle sin and cos for j = 1, then for j
 * = 2 and so on.
 */
export function calendarInputs(features: readonly CalendarFeature[], walls: Float64Array): Matrix<Float64Array> {
  const cols = calendarColumns(features);
  const out = Matrix.zeros(walls.length, cols);
  let column = 0;
  for (const feature of features) {
    const fill = typeof feature === "object" && "holidays" in feature ? holidayFill(feature.holidays) : cycleFill(feature);
    for (let t = 0; t < walls.length; t++) fill(walls[t]!, out.data, t * cols + column);
    column += columnsOf(feature);
  }
  return out;
}

type Fill = (wall: number, out: Float64Array, at: number) => void;

/** Days counted from 1970-01-01. */
export function dayNumbers(days: readonly string[]): number[] {
  return days.map((day) => (parseStamp(day) as { readonly wall: number }).wall / dayMs);
}

function holidayFill(days: readonly string[]): Fill {
  const set = new Set(dayNumbers(days));
  return (wall, out, at) => {
    out[at] = set.has(Math.floor(wall / dayMs)) ? 1 : 0;
  };
}

function cycleFill(feature: Parameters<typeof cycleOf>[0]): Fill {
  const { harmonics, position } = cycleOf(feature);
  return (wall, out, first) => {
    const { at, period } = position(wall);
    for (let j = 1; j <= harmonics; j++) {
      // The remainder keeps the angle small, and the same for the same position in the cycle.
      const angle = (2 * Math.PI * ((j * at) % period)) / period;
      out[first + 2 * j - 2] = portableSin(angle);
      out[first + 2 * j - 1] = portableCos(angle);
    }
  };
}

/** @throws ArgumentError for a cycle that says the same of every row at this step */
export function checkCalendar(features: readonly CalendarFeature[], step: TimeStep, field = "calendar"): void {
  features.forEach((feature, k) => {
    if (typeof feature === "object" && "holidays" in feature) return;
    const { name, below, takes } = cycleOf(feature);
    if (!takes(step)) throw new ArgumentError(`${field}[${k}]`, name, `a step below ${below}; the rows are ${describeStep(step)} apart`);
  });
}
