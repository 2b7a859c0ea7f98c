// How a model with one setting chooses lambda by its closed-loop forecasts: a field, or
// polynomials.
import { ArgumentError } from "@spillway/core/errors.js";
import { choice, list, number, option, optional, type TableOf, whole } from "@spillway/core/options.js";
import type { WorkOptions } from "../../reservoir/index.js";
import { type ChoiceOptions, choosePairs, type ForecasterChoice, type ForecastingCandidate } from "./choice.js";
import type { CheckedSeries } from "./data.js";
import type { ChooseOptions } from "./options.js";
import { chooseDefaults } from "./plan.js";
import { type ValidationParts, validationParts } from "./validation.js";

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

/** What a choice of lambda is made by. */
export interface LambdaChoice extends Pick<ChoiceOptions, "horizon" | "lambdas" | "washout" | "masks" | "targets"> {
  readonly choose: ChooseLambdaOptions | undefined;
}

/** Models of every lambda, trained on the rows before the starts; or why there is none of one. */
export type TriedLambdas = Pick<ForecastingCandidate, "forecasts" | "again">;

/**
 * Chooses lambda by forecasts from validation starts. @param models trains on the first part of
 * the rows, with lambdas in their order, when it is asked for forecasts. @throws ArgumentError
 */
export async function chooseLambda(
  data: readonly CheckedSeries[],
  { choose, ...options }: LambdaChoice,
  models: (parts: ValidationParts) => TriedLambdas,
  work: WorkOptions,
): Promise<ForecasterChoice> {
  const all = { ...chooseDefaults, ...(choose as Partial<typeof chooseDefaults>), ...options, keep: 1 };
  const parts = validationParts(data, all);
  return choosePairs(data, parts, [{ lags: 0, calendar: false, ...models(parts) }], all, work);
}
