// The options of a model that chooses lambda alone by its closed-loop forecasts: a field, or
// polynomials.
import { ArgumentError } from "@spillway/core/errors.js";
import { choice, type InputOf, type Kind, list, number, object, option, optional, type TableOf, whole } from "@spillway/core/options.js";
import { calendarKind } from "../../series/calendar.js";
import { tableNamesOption } from "../table-names.js";
import { boundsOption } from "./bounds.js";
import { missingKind } from "./missing-option.js";
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

export const lambdaSettingsTable = {
  /**
   * Steps that are forecast: lambda is then chosen by closed-loop forecasts of that many steps from
   * starts inside the training series, as in `Forecaster`, and forecasts have bands (`intervals`).
   */
  horizon: optional(whole({ atLeast: 1 }), "Steps that are forecast: lambda is chosen by closed loops that long."),
  /**
   * How it is chosen: `lambdas` (default those of `Forecaster`, or the one that is given),
   * `starts`, `validation`, `loss`.
   */
  choose: optional(object(chooseLambdaTable) as Kind<ChooseLambdaOptions>, "How lambda is chosen."),
  /**
   * What becomes of missing values (NaN), as in `Forecaster`. Default "error". With "mask" the
   * reservoirs of a field know of the columns that they see; NVAR holds such values, and rows of
   * features that contain or predict one train nothing.
   */
  missing: optional(missingKind, "What becomes of missing values; left out, error."),
  /**
   * What of the calendar is an input that is known beforehand, by the time stamps of the rows:
   * cycles ("hour", "weekday", "yearday") and holidays. Default none.
   */
  calendar: optional(calendarKind, "What of the calendar is an input, by the time stamps of the rows."),
  /** The least and the largest value that a column can have, as in `Forecaster`. */
  bounds: boundsOption,
  /** Names of the table that the rows come from, which the file keeps for `spillway forecast`. */
  table: tableNamesOption,
};

/** The settings that such models share. */
export interface LambdaSettings extends InputOf<typeof lambdaSettingsTable> {}

/** @throws ArgumentError if there is something to choose and nothing to choose it by */
export function checkChoose({ horizon, choose }: Pick<LambdaSettings, "horizon" | "choose">): void {
  if (horizon === undefined && choose !== undefined)
    throw ArgumentError.because("there are settings to choose from and no horizon; say how many steps are forecast", { field: "horizon" });
}
