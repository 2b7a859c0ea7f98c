// The names of the table that a model's rows come from, which its file keeps.

import { ArgumentError } from "@spillway/core/errors.js";
import { choice, given, type InputOf, type Kind, list, object, optional, text, whole } from "@spillway/core/options.js";
import { tally } from "@spillway/core/text.js";

const names = list(text(), "a list of names");

const readingTable = {
  delimiter: optional(text(), "Between the cells."),
  decimal: optional(choice(".", ","), "The decimal mark."),
  thousands: optional(choice(",", ".", " ", "'"), "The mark of thousands."),
  comment: optional(text(), "What a comment begins with."),
  encoding: optional(text(), "The encoding."),
  missingMarkers: optional(names, "Texts that mean a missing value."),
};

/** How a CSV file is written: the options by which it was read. */
export interface TableReading extends InputOf<typeof readingTable> {}

export const tableNamesTable = {
  /** The columns that are predicted, in their order. */
  columns: given(list(text(), "a list of at least one name", 1), "The columns that are predicted."),
  /** The columns that are known beforehand. */
  known: optional(names, "The columns that are known beforehand."),
  /** The columns of the inputs, of a model that was trained on inputs and targets. */
  inputs: optional(names, "The columns of the inputs."),
  /** The column of time stamps. */
  time: optional(text(), "The column of time stamps."),
  /** The unit of time stamps that are numbers. */
  timeUnit: optional(choice("s", "ms"), "The unit of time stamps that are numbers."),
  /** The column that tells several series apart. */
  group: optional(text(), "The column that tells several series apart."),
  /**
   * Rows that a forecast is warmed up on, beside those that transforms take. Left out, all there
   * are.
   */
  warmup: optional(whole(), "Rows that a forecast is warmed up on; left out, all there are."),
  /** How the file of the table is written, if not as a CSV file by default. */
  reading: optional(object(readingTable) as Kind<TableReading>, "How the file of the table is written."),
  /** What became of its missing values, and of rows that were missing in time, if not "error". */
  missing: optional(choice("interpolate", "hold"), "What became of missing values."),
  gaps: optional(choice("interpolate", "hold", "split"), "What became of rows that were missing in time."),
  /** The last row that it was trained on: its time stamp, or its number from 0. */
  trainedTo: optional(text(), "The last row that it was trained on: its time stamp, or its number from 0."),
  /**
   * The first row that a model of the same settings, trained on the rows before it, was scored on.
   */
  scoredFrom: optional(text(), "The first row that a model of these settings, trained on the rows before it, was scored on."),
};

/**
 * The names of the table that a model's rows come from. They change nothing that is computed: a
 * later table is read by them (`spillway forecast`), whatever the order of its columns.
 */
export interface TableNames extends InputOf<typeof tableNamesTable> {}

/** The option of a model that keeps {@link TableNames}. */
export const tableNamesOption = optional(
  object(tableNamesTable) as Kind<TableNames>,
  "Names of the table that the rows come from, for `spillway forecast`.",
);

/** The names when it was trained on so many more rows. @param stamp of the last row, if it has one */
export function trainedFurther(table: TableNames, rows: number, stamp: string | undefined): TableNames {
  const last = stamp ?? (Number.isFinite(rows) ? `${Number(table.trainedTo) + rows}` : undefined);
  return table.trainedTo === undefined || last === undefined ? table : { ...table, trainedTo: last };
}

/**
 * @throws ArgumentError for other numbers of names than of columns, and for a name that stands
 * twice
 */
export function checkTableNames(
  table: TableNames | undefined,
  { columns, known, inputs }: { readonly columns: number; readonly known: number; readonly inputs: number },
): void {
  if (!table) return;
  const check = (field: "columns" | "known" | "inputs", wanted: number, own: readonly string[] = []) => {
    if (own.length !== wanted)
      throw ArgumentError.shape(`table.${field} has ${tally(own.length, "name")} and the data ${tally(wanted, "column")}; give one each`, {
        field: `table.${field}`,
      });
  };
  check("columns", columns, table.columns);
  check("known", known, table.known);
  check("inputs", inputs, table.inputs);
  const all = [...table.columns, ...(table.known ?? []), ...[table.time, table.group].filter((name) => name !== undefined)];
  const twice = all.find((name, k) => all.indexOf(name) < k);
  if (twice !== undefined)
    throw ArgumentError.because(`table names ${JSON.stringify(twice)} twice; each column has a name of its own`, { field: "table" });
}
