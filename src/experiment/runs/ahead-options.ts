// How a saved model forecasts from a table: apart from the work, which loads much more.
import { type InputOf, callback, choice, count, list, number, option, optional, text } from "@spillway/core/options.js";
import { selectionTable } from "../../reservoir/options.js";
import { workTable } from "../../reservoir/work.js";
import type { EngineChoiceOptions } from "../tasks/trial.js";

export const aheadTable = {
  ...selectionTable,
  /**
   * A CSV or Parquet file with the rows up to now. Left out, the model continues from where it was
   * saved.
   */
  data: optional(text("the path of a CSV or Parquet file"), "The rows up to now; left out, the model continues from where it was saved."),
  /**
   * Rows to forecast. Left out: as many as known rows are given beyond the last measured one, else
   * the horizon that the model was fitted with.
   */
  steps: optional(count(1, 1_000_000), "Rows to forecast; left out, as many as known rows are given, or the model's horizon."),
  /**
   * A CSV or Parquet file with what is known of the rows to come. Left out, they are in `data`
   * itself, below the last measured row, with empty cells for what is not known.
   */
  inputs: optional(
    text("the path of a CSV or Parquet file"),
    "What is known of the rows to come; left out, it stands in the data, below the last measured row.",
  ),
  /**
   * Shares of the values to come that bands hold. Left out: 0.9, if the model knows errors of that
   * many steps, else none.
   */
  intervals: optional(
    list(number({ above: 0, below: 1 }), "a list of shares"),
    "Shares of the values to come that bands hold; left out, 0.9, if the model knows its errors.",
  ),
  /** Levels of quantiles, such as 0.1, 0.5 and 0.9. Default none. */
  quantiles: optional(list(number({ above: 0, below: 1 }), "a list of levels"), "Levels of quantiles, such as 0.1,0.5,0.9; left out, none."),
  /** What bands are made of: what forecasts were off by (default), or what members differ by. */
  bandsFrom: option(choice("errors", "members"), "errors", "Bands from what forecasts were off by, or from what members differ by."),
  /**
   * What becomes of missing values in the rows used. Left out, as in the training table, else
   * "error".
   */
  missing: optional(choice("error", "interpolate", "hold"), "What becomes of missing values; left out, what the model was fitted with."),
  /**
   * What becomes of rows missing in time, of those used. Left out, as in the training table, else
   * "error".
   */
  gaps: optional(
    choice("error", "interpolate", "hold"),
    "What becomes of rows that are missing in time; left out, as in the training table.",
  ),
  /** The column of time stamps, of a model whose file does not name it. */
  time: optional(text("the name of a column"), "The column of time stamps, if the model's file does not name it."),
  /** The decimal mark of the files. Left out, that of the training file. */
  decimal: optional(choice(".", ","), "The decimal mark of the files; left out, that of the training file."),
  /** A CSV file that receives the forecasts, as `forecasts.csv` of a run is written. */
  out: optional(text("the path of a file"), "A CSV file that receives the forecasts."),
  /** Stops the work. */
  signal: workTable.signal,
  /** Called with the series that are done, the share of one among them, and how many there are. */
  onProgress: optional(
    callback<(done: number, total: number) => void>(),
    "Called with the series that are done, the share of one among them, and how many there are.",
  ),
};

/** How a saved model forecasts from a table. */
export interface AheadOptions extends Omit<EngineChoiceOptions, "profile">, InputOf<typeof aheadTable> {}
