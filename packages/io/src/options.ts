// Options that several readers of files have, described once.
import { choice, option, optional, type TableOf, text } from "@spillway/core/options.js";
import type { SourceOptions } from "./errors.js";
import type { MissingPolicy } from "./missing.js";

export const sourceTable = { source: optional(text(), "The name that errors call the data by.") } satisfies TableOf<SourceOptions>;

export const missingTable = {
  /** Default "error". */
  missing: option(
    choice<MissingPolicy>("error", "interpolate", "hold", "drop", "nan"),
    "error",
    "What becomes of a missing value: an error, a line between its neighbours, the last value, its row left out, or NaN.",
  ),
};
