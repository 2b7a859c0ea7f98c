// What becomes of missing values of a series, as an option.
import { choice } from "@spillway/core/options.js";

/**
 * What becomes of missing values (NaN) of a series. `"error"` refuses them; `"hold"` repeats the
 * last value; `"interpolate"` trains on straight lines; `"mask"` holds them (at the start of a
 * training series they are the first measured value), and gives the reservoir one further input a
 * column that is known beforehand: 1 if the value to be predicted is a held one, 0 if it was
 * measured, and 0 in forecasts. No z-scores are made of it. After training every one of them holds
 * the last value: no prediction, warm-up, score or choice sees a value that comes later.
 */
export type MissingInSeries = "error" | "hold" | "interpolate" | "mask";

/** The kinds of {@link MissingInSeries}. */
export const missingKind = choice<MissingInSeries>("error", "hold", "interpolate", "mask");
