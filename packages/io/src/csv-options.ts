// The options of CSV files.
import { checked, choice, either, flag, type InputOf, list, option, optional, type TableOf, text, whole } from "@spillway/core/options.js";
import type { SourceOptions } from "./errors.js";
import { missingTable, sourceTable } from "./options.js";

/** The values that are missing, unless said otherwise. */
export const missingMarkers: readonly string[] = [
  "",
  ...["NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "null", "NULL", "None", "?"],
];

const columnTakes = "the name of a column, or its index from 0";
const columnList = list(either(columnTakes, text(), whole()), "a list of names or indices of columns");

export const csvTable = {
  /**
   * Whether the first row names the columns. Left out, it is a header if no cell of it is a
   * number, and data where every cell is; a mixed first row is an error that asks.
   */
  header: optional(flag, "Whether the first row names the columns; left out, it is found where that is certain."),
  /** One character. Left out, it is found: comma, semicolon or tab. */
  delimiter: optional(
    checked<string>("one character", (value) => typeof value === "string" && [...value].length === 1),
    "Between cells; left out, it is found: comma, semicolon or tab.",
  ),
  /** The decimal mark; default ".". */
  decimal: option(choice(".", ","), ".", "The decimal mark."),
  /** What separates thousands, in groups of three digits; default nothing. */
  thousands: optional(choice(",", ".", " ", "'"), "What separates thousands; left out, nothing."),
  /**
   * The columns that become the matrix, in this order, by name or by index from 0. Default: all
   * that `text` does not list.
   */
  columns: optional(columnList, "The columns that become the matrix, in this order; left out, all that text does not list."),
  /** Columns kept as text, such as dates; by name or by index from 0. */
  text: option(columnList, [], "Columns kept as text, such as dates."),
  ...missingTable,
  /**
   * The cells that mean a missing value, compared after blanks are taken off; default {@link
   * missingMarkers}.
   */
  missingMarkers: option(list(text(), "a list of texts"), missingMarkers, "The cells that mean a missing value."),
  /** Lines that begin with this text are skipped. Default: none is. */
  comment: optional(text(), "Lines that begin with it are skipped; left out, none is."),
  /** Encoding of the file; default UTF-8. */
  encoding: optional(text(), "Encoding of the file; left out, UTF-8."),
};

/** How a CSV file is read; what is left out is found if that is certain. */
export interface CsvOptions extends InputOf<typeof missingTable>, InputOf<typeof csvTable> {}

/** The options of `parseCsv` and `csvColumns`. */
export const csvTextTable = { ...csvTable, ...sourceTable } satisfies TableOf<CsvOptions & SourceOptions>;
