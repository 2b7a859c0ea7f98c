// CSV text in records of cells, which csv-parse splits, and what one cell is. The caller gives the
// records their meaning.

import { ArgumentError } from "@spillway/core/errors.js";
import type { Info, Options } from "csv-parse";
import { detectDelimiter } from "./csv-delimiter.js";
import { type CsvOptions, missingMarkers } from "./csv-options.js";
import { FormatError } from "./errors.js";
import { parseNumber } from "./missing.js";

/** Where a record stands in its file. */
export interface RecordLocation {
  /** Of its first line, counted from 1. */
  readonly line: number;
  /** Blank lines since the record before. */
  readonly blankBefore: number;
}

/**
 * Calls `take` with every record, or with the first `most`. @throws FormatError for text that is no
 * CSV; ArgumentError for options
 */
export async function eachRecord(
  text: string,
  source: string,
  { delimiter, decimal, comment }: CsvOptions,
  take: (cells: readonly string[], location: RecordLocation) => void,
  most?: number,
): Promise<void> {
  const clean = normalized(text);
  let blank = 0;
  const settings: Options = {
    delimiter: delimiterOf(clean, { delimiter, decimal, comment }),
    record_delimiter: "\n",
    comment: comment ?? null,
    comment_no_infix: true,
    trim: true,
    relax_column_count: true,
    // Far from free otherwise: csv-parse makes an error of every line of another width, relaxed or
    // not.
    skip_empty_lines: true,
    ...(most === undefined ? {} : { to: most }),
    on_record: (record: unknown, { lines, empty_lines: blankLines }: Info) => {
      const cells = record as string[];
      const breaks = cells.reduce((sum, cell) => (cell.includes("\n") ? sum + cell.split("\n").length - 1 : sum), 0);
      take(cells, { line: lines - breaks, blankBefore: blankLines - blank });
      blank = blankLines;
      return null;
    },
  };
  const { parse } = await (typeof Buffer === "undefined" ? import("csv-parse/browser/esm/sync") : import("csv-parse/sync"));
  try {
    parse(clean, settings);
  } catch (error) {
    if (error instanceof FormatError) throw error;
    if (!(error instanceof Error && "code" in error)) throw error;
    if (String(error.code).includes("OPTION")) throw ArgumentError.because(error.message);
    if (!("lines" in error)) throw error;
    const row = Number(error.lines);
    throw new FormatError("CSV", source, `${error.message} (a quote within a quoted cell is written twice)`, { row }, error);
  }
}

/** The delimiter of a text: the one that is given, else the one that is found. */
export function delimiterOf(text: string, { delimiter, decimal, comment }: CsvOptions): string {
  return delimiter ?? detectDelimiter(text, comment, decimal);
}

/** Blanks that separate thousands: also those that do not break a line, as printed tables have. */
const blanks = "[ \\u00a0\\u202f]";
const separators: Readonly<Record<string, string>> = { ",": ",", ".": "\\.", " ": blanks, "'": "['\u2019]" };
const grouped = new Map<string, RegExp>();

/** The number in a cell, or undefined. */
export function cellNumber(cell: string, { decimal, thousands }: CsvOptions): number | undefined {
  if (thousands === undefined) {
    if (decimal !== ",") return parseNumber(cell);
    return cell.includes(".") ? undefined : parseNumber(cell.replace(",", "."));
  }
  const separator = separators[thousands]!;
  const key = thousands + decimal;
  const pattern = grouped.get(key) ?? new RegExp(`^[+-]?\\d{1,3}(?:${separator}\\d{3})+(?:${separators[decimal ?? "."]}\\d*)?$`);
  grouped.set(key, pattern);
  return cellNumber(pattern.test(cell) ? cell.replace(new RegExp(separator, "g"), "") : cell, { decimal });
}

/**
 * Whether a first row names the columns, its cells without blanks around them. @throws FormatError
 * if it holds both words and numbers
 */
export function isHeader(cells: readonly string[], line: number, source: string, options: CsvOptions): boolean {
  if (options.header !== undefined) return options.header;
  const markers = options.missingMarkers ?? missingMarkers;
  const numbers = cells.filter((cell) => cellNumber(cell, options) !== undefined).length;
  const words = cells.filter((cell) => !markers.includes(cell) && cellNumber(cell, options) === undefined).length;
  if (words === 0 || numbers === 0) return words > 0;
  const reason = `row ${line} holds both words and numbers; say header: true if it names the columns, header: false if it is data`;
  throw new FormatError("CSV", source, reason, { row: line });
}

/** The names in a header: an empty cell is called by its index. */
export function namesIn(cells: readonly string[]): readonly string[] {
  return cells.map((cell, i) => (cell === "" ? String(i) : cell));
}

function normalized(text: string): string {
  const plain = text.startsWith("\uFEFF") ? text.slice(1) : text;
  return plain.includes("\r") ? plain.replace(/\r\n?/g, "\n") : plain;
}
