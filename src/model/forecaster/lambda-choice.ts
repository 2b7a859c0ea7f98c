// The options of a model that chooses lambda alone by its closed-loop forecasts: a field, or
// polynomials.
import { ArgumentError } from "@spillway/core/errors.js";
import { choice, type Kind, list, number, object, option, optional, type TableOf, whole } from "@spillway/core/options.js";
import { type CalendarFeature, calendarKind } from "../../series/calendar.js";
import { type TableNames, tableNamesOption } from "../table-names.js";
import { type Bounds, boundsOption } from "./bounds.js";
import { type MissingInSeries, missingKind } from "./missing-option.js";
import type { ChooseOptions } from "./options.js";
import { chooseDefaults } from "./plan.js";

/** How lambda is chosen. */
export type ChooseLambdaOptions = Pick<ChooseOptions, "lambdas" | "starts" | "validation" | "loss">;

/** The options of a choice of lambda. */
export const chooseLambdaTable = {
  lambdas: optional(list(number({ above: 0 }), "a list of numbers above 0", 1), "Penalties that every candidate is tried with."),
  starts: option(whole({ atLeast: 1 }), chooseDefaults.starts, "Forecasts that each pair is scored by."),
  validation: option(number({ above: 0, below: 1 }), chooseDefaults.validation, "The share of the series that is forecast."),
  loss: option(choice("rmse", "mae", "smape", "validTime"), chooseDefaults.loss, "How forecasts are scored."),
} satisfies TableOf<ChooseLambdaOptions>;

/** The settings that such models share. */
export interface LambdaSettings {
  /**
   * Steps that are forecast: lambda is then chosen by closed-loop forecasts of that many steps from
   * starts inside the training series, as in `Forecaster`, and forecasts have bands (`intervals`).
   */
  readonly horizon?: number | undefined;
  /**
   * How it is chosen: `lambdas` (default those of `Forecaster`, or the one that is given),
   * `starts`, `validation`, `loss`.
   */
  readonly choose?: ChooseLambdaOptions | undefined;
  /**
   * What becomes of missing values (NaN), as in `Forecaster`. Default "error". With "mask" the
   * reservoirs of a field know of the columns that they see; NVAR holds such values, and rows of
   * features that contain or predict one train nothing.
   */
  readonly missing?: MissingInSeries | undefined;
  /**
   * What of the calendar is an input that is known beforehand, by the time stamps of the rows:
   * cycles ("hour", "weekday", "yearday") and holidays. Default none.
   */
  readonly calendar?: readonly CalendarFeature[] | undefined;
  /** The least and the largest value that a column can have, as in `Forecaster`. */
  readonly bounds?: Bounds | undefined;
  /** Names of the table that the rows come from, which the file keeps for `spillway forecast`. */
  readonly table?: TableNames | undefined;
}

/** The options of {@link LambdaSettings}. */
export const lambdaSettingsTable = {
  horizon: optional(whole({ atLeast: 1 }), "Steps that are forecast: lambda is chosen by closed loops that long."),
  choose: optional(object(chooseLambdaTable) as Kind<ChooseLambdaOptions>, "How lambda is chosen."),
  missing: optional(missingKind, "What becomes of missing values; left out, error."),
  calendar: optional(calendarKind, "What of the calendar is an input, by the time stamps of the rows."),
  bounds: boundsOption,
  table: tableNamesOption,
} satisfies TableOf<LambdaSettings>;

/** @throws ArgumentError if there is something to choose and nothing to choose it by */
export function checkChoose({ horizon, choose }: Pick<LambdaSettings, "horizon" | "choose">): void {
  if (horizon === undefined && choose !== undefined)
    throw ArgumentError.because("there are settings to choose from and no horizon; say how many steps are forecast", { field: "horizon" });
}
