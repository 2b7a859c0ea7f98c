// forecasts.csv: every forecast of a run, one line a step and column.

import { csvCell } from "@spillway/io/csv-writer.js";
import { writeFileAtomic } from "@spillway/io";
import type { Matrix } from "@spillway/numerics";
import type { Band } from "../../series/index.js";

/** What a baseline says. */
export interface NamedForecast {
  readonly name: string;
  readonly prediction: Matrix;
}

/** A forecast of H rows. */
export interface WrittenForecast {
  /** The series, if there are several. */
  readonly group?: string | undefined;
  /** The row that it starts at, counted from 0; "last" after the end of the table. */
  readonly start: number | "last";
  /** The number of its first row. */
  readonly row: number;
  /** A time stamp for each row; left out, the rows' numbers. */
  readonly times?: readonly string[] | undefined;
  /** What came, if it is known. */
  readonly target?: Matrix | undefined;
  readonly prediction: Matrix;
  readonly band?: Band | undefined;
  /** Bands of other shares, which stand in columns of their own. */
  readonly more?: readonly (Band & { readonly level: number })[] | undefined;
  /** Its quantiles, a column each. */
  readonly quantiles?: readonly { readonly level: number; readonly values: Matrix }[] | undefined;
  /** What baselines say, the best of them on all starts first. */
  readonly baselines?: readonly NamedForecast[] | undefined;
  /** Rows before it, for a figure; `history.csv` has them. */
  readonly before?: { readonly rows: Matrix; readonly times?: readonly string[] | undefined } | undefined;
}

/** The columns that every file has; `group` may stand before them. */
export const forecastColumns = ["start", "step", "time", "column", "target", "prediction", "lower", "upper", "baseline"] as const;

/** What the column of a baseline begins with, before its name: every one, the best first. */
export const baselinePrefix = "baseline ";

/**
 * Forecasts as CSV. A number is the shortest decimal that reads back as the same binary64, at most
 * 17 digits; what is not known, or not finite, is an empty cell. Lines end with LF.
 */
export function formatForecasts(forecasts: readonly WrittenForecast[], names: readonly string[]): string {
  const withGroup = forecasts.some(({ group }) => group !== undefined);
  const levels = forecasts[0]?.more?.map(({ level }) => level) ?? [];
  const others = levels.flatMap((level) => [`lower ${level}`, `upper ${level}`]);
  const called = forecasts[0]?.baselines?.map(({ name }) => name) ?? [];
  const shares = forecasts[0]?.quantiles?.map(({ level }) => `quantile ${level}`) ?? [];
  const heads = [...forecastColumns, ...others, ...shares, ...called.map((name) => csvCell(`${baselinePrefix}${name}`))];
  const lines = [[...(withGroup ? ["group"] : []), ...heads].join(",")];
  for (const { group = "", start, row, times, target, prediction, band, more = [], quantiles = [], baselines = [] } of forecasts) {
    const said = called.map((name) => baselines.find((each) => each.name === name)?.prediction);
    const ends = more.flatMap(({ lower, upper }) => [lower, upper]);
    const beside = [said[0], ...ends, ...quantiles.map(({ values }) => values), ...said];
    const { rows, cols } = prediction;
    for (let h = 0; h < rows; h++) {
      const time = times?.[h] ?? String(row + h);
      for (let c = 0; c < cols; c++) {
        const figures = [target, prediction, band?.lower, band?.upper, ...beside].map((each) => figure(each?.data[h * cols + c]));
        const labels = [start, h + 1, csvCell(time), csvCell(names[c] ?? `column ${c}`)];
        lines.push([...(withGroup ? [csvCell(group)] : []), ...labels, ...figures].join(","));
      }
    }
  }
  return `${lines.join("\n")}\n`;
}

/** Writes {@link formatForecasts} to a file, whole or not at all. @throws FileError */
export async function writeForecasts(path: string, forecasts: readonly WrittenForecast[], names: readonly string[]): Promise<void> {
  await writeFileAtomic(path, formatForecasts(forecasts, names));
}

/** A value as a cell. */
export function figure(value: number | undefined): string {
  return value === undefined || !Number.isFinite(value) ? "" : String(value);
}
