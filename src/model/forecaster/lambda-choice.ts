// The options of a model that chooses lambda alone by its closed-loop forecasts: a field, or
// polynomials.
import { ArgumentError } from "@spillway/core/errors.js";
import { choice, list, number, option, optional, type TableOf, whole } from "@spillway/core/options.js";
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

/** @throws ArgumentError if there is something to choose and nothing to choose it by */
export function checkChoose({
  horizon,
  choose,
}: {
  readonly horizon?: number | undefined;
  readonly choose?: ChooseLambdaOptions | undefined;
}): void {
  if (horizon === undefined && choose !== undefined)
    throw ArgumentError.because("there are settings to choose from and no horizon; say how many steps are forecast", { field: "horizon" });
}
