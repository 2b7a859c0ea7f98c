// The columns of a table by the names in its header, and the table of their values, whatever the
// file: what CSV and Parquet have in common.
import type { ErrorDetails } from "@spillway/core/errors.js";
import { nearNames } from "@spillway/core/near-names.js";
import { quoted } from "@spillway/core/text.js";
import type { Matrix } from "@spillway/numerics";
import { type FileFormat, FormatError } from "./errors.js";
import { fillMissing, type MissingPolicy } from "./missing.js";

/** The numbers of a table as a matrix, and its text beside it. */
export interface CsvTable {
  /** The names of the matrix's columns; without a header their index as text. */
  readonly columns: readonly string[];
  /** T x C, one row per row of the file. */
  readonly matrix: Matrix<Float64Array>;
  /** The text columns by name, T cells each. */
  readonly text: Readonly<Record<string, readonly string[]>>;
  /** The names of all columns of the file; without a header their index as text. */
  readonly header: readonly string[];
  /**
   * The row of the file that each row of the matrix comes from, counted from 1 as an editor does.
   */
  readonly lines: readonly number[];
  /** How many values were missing, and were filled or dropped as `missing` says. */
  readonly missing: number;
  /** The same for each column of the matrix. */
  readonly missingByColumn: readonly number[];
  /** T x C: 1 where a value was filled, else 0; undefined if none was. */
  readonly filled?: Matrix<Float64Array> | undefined;
}

/** A column that is read: which it is in the file, and what it is called. */
export interface TableColumn {
  readonly index: number;
  readonly name: string;
}

/** What is asked of a table. */
export interface ColumnsAsked {
  readonly columns?: readonly (string | number)[] | undefined;
  readonly text: readonly (string | number)[];
}

type Fail = (reason: string) => Error;

/** The columns of numbers and of text that are asked for. @throws what `fail` makes of a reason */
export function chooseColumns(
  names: readonly string[],
  { columns, text }: ColumnsAsked,
  fail: Fail,
): { readonly numeric: readonly TableColumn[]; readonly textual: readonly TableColumn[] } {
  const textual = text.map((wanted) => columnOf(names, wanted, "text", fail));
  const twice = textual.find(({ name }, k) => textual.findIndex((other) => other.name === name) < k);
  if (twice) throw fail(`text lists ${quoted(twice.name)} twice; it takes each name once`);
  const aside = new Set(textual.map(({ index }) => index));
  const rest = names.map((_, index) => index).filter((index) => !aside.has(index));
  const numeric = (columns ?? rest).map((wanted) => columnOf(names, wanted, "columns", fail));
  if (numeric.length + textual.length === 0) throw fail("no column was asked for");
  return { numeric, textual };
}

function columnOf(names: readonly string[], wanted: string | number, option: string, fail: Fail): TableColumn {
  if (typeof wanted === "number") {
    const name = names[wanted];
    if (name !== undefined) return { index: wanted, name };
    throw fail(`\`${option}\` asks for index ${wanted}; it takes 0 to ${names.length - 1}`);
  }
  const index = names.indexOf(wanted);
  if (index < 0) {
    const near = nearNames(wanted, names);
    const question = near.length > 0 ? `; did you mean ${near.join(", ")}?` : "";
    const there = names.slice(0, 20).map(quoted).join(", ");
    throw fail(`\`${option}\` asks for ${quoted(wanted)}; the columns are ${there}${names.length > 20 ? ", ..." : ""}${question}`);
  }
  if (names.indexOf(wanted, index + 1) >= 0)
    throw fail(`\`${option}\` asks for ${quoted(wanted)} and several columns have that name; give its index, from 0`);
  return { index, name: wanted };
}

/** What was read of a table, NaN where a value is missing. */
export interface TableParts {
  readonly format: FileFormat;
  readonly source: string;
  readonly header: readonly string[];
  readonly numeric: readonly TableColumn[];
  readonly textual: readonly TableColumn[];
  /** T x C. */
  readonly matrix: Matrix<Float64Array>;
  /** T cells for each column of text. */
  readonly cells: readonly (readonly string[])[];
  /** The row of the file of a row of the matrix. */
  readonly line: (row: number) => number;
  /** A column in an error sentence. */
  readonly words: (column: TableColumn) => string;
}

/** The table of what was read. @throws FormatError for a value that is missing, as `policy` says */
export function tableOf(parts: TableParts, policy: MissingPolicy): CsvTable {
  const { format, source, header, numeric, textual, cells, line } = parts;
  const fail = (row: number, column: TableColumn, reason: string) => {
    const advice = policy === "error" && reason === "the value is missing" ? `; set \`missing\` to "interpolate", "hold" or "drop"` : "";
    const settings: ErrorDetails["settings"] = reason.endsWith("leave the column out") ? { text: [column.name] } : { missing: "hold" };
    const sentence = `row ${line(row)}, ${parts.words(column)}: ${reason}${advice}`;
    return new FormatError(format, source, sentence, { row: line(row), column: column.name }, undefined, settings);
  };
  const filledIn = fillMissing(parts.matrix, policy, (row, c, reason) => fail(row, numeric[c]!, reason));
  const { matrix, kept, missing, byColumn, filled } = filledIn;
  if (matrix.rows === 0) throw new FormatError(format, source, "every row has a missing value; none is left");
  const text: Record<string, readonly string[]> = Object.create(null);
  textual.forEach(({ name }, k) => {
    text[name] = kept ? kept.map((r) => cells[k]![r]!) : cells[k]!;
  });
  let lines: readonly number[] | undefined;
  return {
    columns: numeric.map(({ name }) => name),
    matrix,
    text,
    header,
    get lines() {
      lines ??= kept ? kept.map(line) : Array.from({ length: matrix.rows }, (_, row) => line(row));
      return lines;
    },
    missing,
    missingByColumn: byColumn,
    ...(filled && { filled }),
  };
}
