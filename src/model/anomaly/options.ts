// What an anomaly detector is made of, and what it answers.
import { ArgumentError } from "@spillway/core/errors.js";
import { choice, count, flag, type InputOf, type Kind, number, option, type Resolved, resolve, seed } from "@spillway/core/options.js";
import { warnOnce } from "@spillway/core/warning.js";
import type { TimeLike } from "../../series/time-stamps.js";

const columnsTake = "how many columns there are, from 1 to 100, or their names, each different";

const columns: Kind<readonly string[], number | readonly string[]> = {
  takes: columnsTake,
  schema: {
    anyOf: [
      { type: "integer", minimum: 1, maximum: 100 },
      { type: "array", items: { type: "string" }, minItems: 1, maxItems: 100, uniqueItems: true },
    ],
  },
  read(value, field) {
    const names = typeof value === "number" ? count(1, 100).read(value, field) : value;
    if (typeof names === "number") return names === 1 ? ["value"] : Array.from({ length: names }, (_, c) => `column ${c}`);
    if (!Array.isArray(names) || names.length < 1 || names.length > 100) throw new ArgumentError(field, value, columnsTake);
    const wrong = names.findIndex((name, c) => typeof name !== "string" || name === "" || names.indexOf(name) < c);
    if (wrong >= 0) throw new ArgumentError(`${field}[${wrong}]`, names[wrong], "a name, different from the other columns'");
    return [...(names as readonly string[])];
  },
};

export const anomalyTable = {
  /** The columns of a row, by their names or their number; default 1. */
  columns: option<readonly string[], number | readonly string[]>(
    columns,
    ["value"],
    "The columns of a row, by their names or their number.",
  ),
  /** The share of rows that may raise an alarm; default 0.001. */
  alarmRate: option(number({ above: 0, atMost: 0.1 }), 0.001, "The share of rows that may raise an alarm."),
  /**
   * "atMost": no more alarms by novelty than that, and fewer of a stream without surprises.
   * "exact": as many as that. Default "atMost".
   */
  rate: option(choice("atMost", "exact"), "atMost", "atMost: no more alarms than that; exact: as many as that."),
  /**
   * What raises an alarm: "novelty", a state that the stream was not in before; "surprise", a
   * single value far from its forecast; "both", surprises with half of the alarm rate and novelty
   * with the other half, or with all of it if `rate` is "atMost", as it then uses a part. Default
   * "novelty".
   */
  detect: option(
    choice("novelty", "surprise", "both"),
    "novelty",
    "What raises an alarm: novelty, a state that the stream was not in before; surprise, a value far from its forecast; both.",
  ),
  /** Whether a value that stays the same for unusually long raises an alarm; default true. */
  stuck: option(flag, true, "Whether a value that stays the same for unusually long raises an alarm."),
  /** Rows after an alarm that belong to the same incident; default 100. */
  mergeRows: option(count(1, 100_000), 100, "Rows after an alarm that belong to the same incident."),
  /** Rows over which location, scale and forecast forget; default 6000. */
  memory: option(count(100, 10_000_000), 6000, "Rows over which location, scale and forecast forget."),
  /** Rows with a value before the first alarm; default 200. */
  warmUp: option(count(30, 10_000_000), 200, "Rows with a value before the first alarm."),
  /** Distance of two states that count as the same; default 0.36. */
  radius: option(number({ above: 0, atMost: 10 }), 0.36, "Distance of two states that count as the same."),
  /** States that are remembered, for each of three radii; default 200. */
  patterns: option(count(1, 10_000), 200, "States that are remembered, for each of three radii."),
  /** Whether each row is forecast, for expected values, bands and p-values; default true. */
  forecast: option(flag, true, "Whether each row is forecast, for expected values, bands and p-values."),
  /** Neurons of the forecast's reservoir, 0 for none; default 50. */
  size: option(count(0, 1000), 50, "Neurons of the forecast's reservoir, 0 for none."),
  /** Determines the reservoir; default "spillway". Alarms by novelty do not depend on it. */
  seed: option<string | number, string | number>(seed, "spillway", "Determines the reservoir; alarms by novelty do not depend on it."),
  /**
   * Missing values, and stamps that go back or repeat. "hold": the forecast replaces a value,
   * and such a row counts as the next one. "error": both are refused. "alarm": as "hold", and a
   * column that is missing for more than `mergeRows` rows raises an alarm. Default "hold".
   */
  missing: option(
    choice("hold", "error", "alarm"),
    "hold",
    "Missing values, and stamps that go back: hold; error, they are refused; alarm, as hold, and a column that stays missing raises an alarm.",
  ),
};

/** How an anomaly detector is made. */
export interface AnomalyOptions extends InputOf<typeof anomalyTable> {}

/** The same with every default filled in. */
export type AnomalySettings = Resolved<typeof anomalyTable>;

/** @throws ArgumentError naming the option, the value and what is accepted */
export function anomalySettings(options: object): AnomalySettings {
  for (const field of ["engine", "plan", "context"])
    if (field in Object(options))
      throw ArgumentError.because(`a detector takes row after row in the calling thread, on no engine: leave ${field} out`, { field });
  const settings = resolve(anomalyTable, options, "AnomalyDetector");
  if (!settings.forecast && settings.detect !== "novelty")
    throw new ArgumentError("detect", settings.detect, 'only "novelty" if forecast is false');
  if (settings.alarmRate < 1e-5)
    warnOnce(
      "SpillwayAlarmRateWarning",
      `alarmRate is ${settings.alarmRate}: below 0.00001 the limit of an alarm takes more rows to learn than the memory holds`,
    );
  return settings;
}

/** Why an alarm was raised. */
export type AlarmCause = "novelty" | "stuck" | "surprise" | "missing";

/** What a detector says of a row. */
export interface AnomalyRow {
  /** Its number, from 0; rows that were given to `feedback` are known by it. */
  readonly row: number;
  /** Its time stamp as it was given. */
  readonly time?: TimeLike | undefined;
  /** Novelty: from 1 on the state is odd. The largest of all columns; 0 for a missing row. */
  readonly score: number;
  /**
   * Share of earlier rows with a forecast error at least as large, of all columns the smallest,
   * times their number; 1 at first. NaN for a missing row, and without a forecast.
   */
  readonly pValue: number;
  /** In the first row of an incident. */
  readonly alarm?: { readonly startedAt: TimeLike; readonly by: AlarmCause } | undefined;
  /** True for the `mergeRows` rows after an alarm. */
  readonly ongoing: boolean;
  /** False until alarms can be raised. */
  readonly ready: boolean;
  /** By column, the forecast that was made before the row; undefined if there is none. */
  readonly expected: readonly (number | undefined)[];
  /** By column, the band outside which p is below the alarm rate; undefined at first. */
  readonly lower: readonly (number | undefined)[];
  readonly upper: readonly (number | undefined)[];
  /**
   * The column of the alarm, else that with the largest score, and over how many rows, 1 to 128, it
   * is the oddest; if a value is stuck or missing, for how many rows.
   */
  readonly cause?: { readonly column: string; readonly rows: number } | undefined;
}

/** Rows that belong together, from an alarm on. */
export interface Incident {
  /** Numbers of the first row, the last odd one, and the oddest one. */
  readonly start: number;
  readonly end: number;
  readonly oddest: number;
  readonly startedAt: TimeLike;
  readonly endedAt: TimeLike;
  readonly by: AlarmCause;
  /** Of the oddest row. */
  readonly score: number;
  readonly pValue: number;
  /** The columns that were odd, the cause of the alarm first. */
  readonly columns: readonly string[];
}
