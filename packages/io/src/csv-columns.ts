// The columns of a CSV text, found in its first rows, for programs that let a user choose.
import { resolve } from "@spillway/core/options.js";
import { type CsvOptions, csvTextTable } from "./csv-options.js";
import { cellNumber, eachRecord, isHeader, namesIn } from "./csv-records.js";
import { checkText, FormatError, type SourceOptions } from "./errors.js";

/** One column of a CSV text. */
export interface CsvColumn {
  /** The name in the header; without a header the index as text. */
  readonly name: string;
  /** Whether the first rows hold numbers in it, missing values aside. */
  readonly numeric: boolean;
}

/** Rows by which columns are judged. */
const judged = 50;

/**
 * The columns of CSV text by their order, judged by its first 50 rows. `columns`, `text` and
 * `missing` change nothing.
 * @throws FormatError if there is no row, or if it is not certain that the first row is a header
 */
export async function csvColumns(text: string, options: CsvOptions & SourceOptions = {}): Promise<CsvColumn[]> {
  const settings = resolve(csvTextTable, options);
  const { source = "CSV text", missingMarkers } = settings;
  checkText(text, source);
  let names: readonly string[] | undefined;
  let textual: boolean[] = [];
  const judge = (cells: readonly string[]): void => {
    cells.forEach((cell, c) => {
      if (!missingMarkers.includes(cell) && cellNumber(cell, settings) === undefined) textual[c] = true;
    });
  };
  await eachRecord(
    text,
    source,
    settings,
    (record, { line }) => {
      const cells = record.map((cell) => cell.trim());
      if (names !== undefined) return judge(cells);
      const named = isHeader(cells, line, source, settings);
      names = named ? namesIn(cells) : cells.map((_, i) => String(i));
      textual = cells.map(() => false);
      if (!named) judge(cells);
    },
    judged,
  );
  if (names === undefined) throw new FormatError("CSV", source, "there is no row in it; it takes rows of numbers");
  return names.map((name, c) => ({ name, numeric: !textual[c] }));
}
