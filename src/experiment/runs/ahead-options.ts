// How a saved model forecasts from a table: apart from the work, which loads much more.
import { callback, choice, count, list, number, option, optional, type TableOf, text } from "@spillway/core/options.js";
import { engineTable, threadsTable } from "../../reservoir/options.js";
import { workTable } from "../../reservoir/work.js";
import type { EngineChoiceOptions } from "../tasks/trial.js";

/** How a saved model forecasts from a table. */
export interface AheadOptions extends Omit<EngineChoiceOptions, "profile"> {
  /** A CSV file with the rows up to now. Left out, the model goes on from where it was saved. */
  readonly data?: string | undefined;
  /**
   * Rows to forecast. Left out: as many as known rows are given beyond the last measured one, else
   * the horizon that the model was fitted with.
   */
  readonly steps?: number | undefined;
  /**
   * A CSV file with what is known of the rows to come. Left out, they stand in `data` itself, below
   * the last measured row, with empty cells for what is not known.
   */
  readonly inputs?: string | undefined;
  /**
   * Shares of the values to come that bands hold. Left out: 0.9, if the model knows errors of that
   * many steps, else none.
   */
  readonly intervals?: readonly number[] | undefined;
  /** What bands are made of: what forecasts were off by (default), or what members differ by. */
  readonly bandsFrom?: "errors" | "members" | undefined;
  /** What becomes of missing values. Left out, what the model was fitted with, else "error". */
  readonly missing?: "error" | "interpolate" | "hold" | undefined;
  /** What becomes of rows that are missing in time. Default "error". */
  readonly gaps?: "error" | "interpolate" | "hold" | undefined;
  /** The column of time stamps, of a model whose file does not name it. */
  readonly time?: string | undefined;
  /** The decimal mark of the files. Left out, that of the training file. */
  readonly decimal?: "." | "," | undefined;
  /** A CSV file that receives the forecasts, as `forecasts.csv` of a run is written. */
  readonly out?: string | undefined;
  /** Stops the work. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the series that are done, and how many there are. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/** The options of a forecast from a table. */
export const aheadTable = {
  ...engineTable,
  ...threadsTable,
  data: optional(text("the path of a CSV file"), "The rows up to now; left out, the model goes on from where it was saved."),
  steps: optional(count(1, 1_000_000), "Rows to forecast; left out, as many as known rows are given, or the model's horizon."),
  inputs: optional(
    text("the path of a CSV file"),
    "What is known of the rows to come; left out, it stands in the data, below the last measured row.",
  ),
  intervals: optional(
    list(number({ above: 0, below: 1 }), "a list of shares"),
    "Shares of the values to come that bands hold; left out, 0.9, if the model knows its errors.",
  ),
  bandsFrom: option(choice("errors", "members"), "errors", "Bands from what forecasts were off by, or from what members differ by."),
  missing: optional(choice("error", "interpolate", "hold"), "What becomes of missing values; left out, what the model was fitted with."),
  gaps: option(choice("error", "interpolate", "hold"), "error", "What becomes of rows that are missing in time."),
  time: optional(text("the name of a column"), "The column of time stamps, if the model's file does not name it."),
  decimal: optional(choice(".", ","), "The decimal mark of the files; left out, that of the training file."),
  out: optional(text("the path of a file"), "A CSV file that receives the forecasts."),
  signal: workTable.signal,
  onProgress: optional(
    callback<NonNullable<AheadOptions["onProgress"]>>(),
    "Called with the series that are done, and how many there are.",
  ),
} satisfies TableOf<AheadOptions>;
