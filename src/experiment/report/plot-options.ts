// What is drawn again of a run: apart from the work, which loads much more.
import { optional, type TableOf, text, whole } from "@spillway/core/options.js";

/** What is drawn again of a run. The first four are for runs that keep `forecasts.csv`. */
export interface RunFiguresOptions {
  /**
   * The forecast that is drawn: the row that it starts at, the time stamp of its first row, or
   * "last" for the one beyond the end. Left out, the first one and the one beyond the end.
   */
  readonly start?: string | undefined;
  /** The column of the series that is drawn. Left out, all. */
  readonly target?: string | undefined;
  /** Of several series the one that is drawn. Left out, all. */
  readonly series?: string | undefined;
  /** Only so many of the last starts of each series count. Left out, all. */
  readonly last?: number | undefined;
}

/** The options of `runFigures`. */
export const runFiguresTable = {
  start: optional(text(), 'The forecast that is drawn: a row, a time stamp, or "last"; left out, the first and the last.'),
  target: optional(text(), "The column of the series that is drawn; left out, all."),
  series: optional(text(), "Of several series the one that is drawn; left out, all."),
  last: optional(whole({ atLeast: 1 }), "Only so many of the last starts of each series count; left out, all."),
} satisfies TableOf<RunFiguresOptions>;
