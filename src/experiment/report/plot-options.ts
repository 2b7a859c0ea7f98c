// What is drawn again of a run: apart from the work, which loads much more.
import { type InputOf, optional, text, whole } from "@spillway/core/options.js";

export const runFiguresTable = {
  /**
   * The forecast that is drawn: the row that it starts at, the time stamp of its first row, or
   * "last" for the one beyond the end. Left out, the first one and the one beyond the end.
   */
  start: optional(text(), 'The forecast that is drawn: a row, a time stamp, or "last"; left out, the first and the last.'),
  /** The column of the series that is drawn. Left out, all. */
  target: optional(text(), "The column of the series that is drawn; left out, all."),
  /** Of several series the one that is drawn. Left out, all. */
  series: optional(text(), "Of several series the one that is drawn; left out, all."),
  /** Only so many of the last starts of each series count. Left out, all. */
  last: optional(whole({ atLeast: 1 }), "Only so many of the last starts of each series count; left out, all."),
};

/** What is drawn again of a run. The first four are for runs that keep `forecasts.csv`. */
export interface RunFiguresOptions extends InputOf<typeof runFiguresTable> {}
