// The options of a model that chooses lambda alone by its closed-loop forecasts: a field, or
// polynomials.
import { ArgumentError } from "@spillway/core/errors.js";
import { choice, type InputOf, type Kind, list, number, object, option, optional, whole } from "@spillway/core/options.js";
import { calendarKind } from "../../series/calendar.js";
import { tableNamesOption } from "../table-names.js";
import { boundsOption } from "./bounds.js";
import type { ForecastLoss } from "./loss.js";
import { missingKind } from "./missing-option.js";

/** What a choice by forecasts leaves out. */
export const chooseDefaults: {
  readonly lambdas: readonly number[];
  readonly starts: number;
  readonly validation: number;
  readonly keep: number;
  readonly loss: ForecastLoss;
} = { lambdas: [1e-8, 1e-6, 1e-4, 1e-2, 0.1, 1, 10, 100], starts: 25, validation: 0.25, keep: 1, loss: "rmse" };

/** The options of a choice of lambda. */
export const chooseLambdaTable = {
  /**
   * Penalties that every candidate is tried with. Default 1e-8, 1e-6, 1e-4, 0.01, 0.1, 1, 10, 100.
   */
  lambdas: optional(list(number({ above: 0 }), "a list of numbers above 0", 1), "Penalties that every candidate is tried with."),
  /**
   * Forecasts that each pair of candidate and lambda is scored by. Default 25, fewer if they do not
   * fit.
   */
  starts: option(whole({ atLeast: 1 }), chooseDefaults.starts, "Forecasts that each pair is scored by."),
  /** The share of the series, at its end, that forecasts are scored on. Default 0.25. */
  validation: option(number({ above: 0, below: 1 }), chooseDefaults.validation, "The share of the series that is forecast."),
  /**
   * "rmse" (default): root mean square of errors over each column's standard deviation. "mae":
   * their mean absolute value. "smape". "validTime": minus the median of the steps before errors
   * are above 0.4 deviations.
   */
  loss: option(choice("rmse", "mae", "smape", "validTime"), chooseDefaults.loss, "How forecasts are scored."),
};

/** How lambda is chosen. */
export interface ChooseLambdaOptions extends InputOf<typeof chooseLambdaTable> {}

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
