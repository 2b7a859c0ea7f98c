// Reads comma-separated text into a matrix of numbers, with chosen columns kept aside as text.
import { ArgumentError } from "@spillway/core/errors.js";
import { type Resolved, resolve } from "@spillway/core/options.js";
import { quoted } from "@spillway/core/text.js";
import { Matrix } from "@spillway/numerics";
import { type CsvOptions, csvTable, csvTextTable } from "./csv-options.js";
import { cellProblems } from "./csv-problems.js";
import { cellNumber, eachRecord, isHeader, namesIn, type RecordLocation } from "./csv-records.js";
import { checkText, FormatError, type SourceOptions } from "./errors.js";
import { readText } from "./files.js";
import { type CsvTable, chooseColumns, type TableColumn, tableOf } from "./table-columns.js";

/** Reads a CSV file; see {@link parseCsv}. @throws FileError if it cannot be read. */
export async function readCsv(path: string, options: CsvOptions = {}): Promise<CsvTable> {
  const { encoding } = resolve(csvTable, options);
  return parseCsv(await readText(path, "CSV", encoding), { ...options, source: path });
}

/**
 * Parses CSV text (RFC 4180; blank lines are skipped, in a file of one column those in the middle
 * are missing values; line breaks within a quoted cell become \n).
 * @throws FormatError naming the row, counted from 1 as an editor counts lines, and the column; for
 * cells that are no numbers with every such column, and in `settings` the options that read them
 */
export async function parseCsv(text: string, options: CsvOptions & SourceOptions = {}): Promise<CsvTable> {
  const settings = resolve(csvTextTable, options);
  const { source = "CSV text" } = settings;
  checkText(text, source);
  const reader = new TableReader(source, settings);
  if (settings.thousands === settings.decimal)
    throw new ArgumentError("thousands", settings.thousands, `another sign than the decimal mark, which is "${settings.decimal}"`);
  await eachRecord(text, source, settings, (cells, location) => reader.take(cells, location));
  if (reader.wrong) {
    const { reason, settings: solving } = await cellProblems(text, source, { ...settings, header: reader.named }, reader.numeric);
    throw new FormatError("CSV", source, reason, reader.wrong, undefined, solving);
  }
  return reader.table();
}

/** Takes records one by one, and holds no more than the numbers themselves. */
class TableReader {
  readonly #source: string;
  readonly #options: Resolved<typeof csvTable>;
  readonly #markers: ReadonlySet<string>;
  #names: readonly string[] | undefined;
  named = false;
  #width = 0;
  numeric: readonly TableColumn[] = [];
  /** The row and column of the first cell that is no number. */
  wrong: { readonly row: number; readonly column: string } | undefined;
  #textual: readonly TableColumn[] = [];
  #values = new Float64Array(1024);
  #filled = 0;
  readonly #lines: number[] = [];
  readonly #cells: string[][] = [];

  constructor(source: string, options: Resolved<typeof csvTable>) {
    this.#source = source;
    this.#options = options;
    this.#markers = new Set(options.missingMarkers);
  }

  take(record: readonly string[], { line, blankBefore }: RecordLocation): void {
    if (this.#names === undefined) {
      this.#width = record.length;
      const cells = record.map((cell) => cell.trim());
      this.named = isHeader(cells, line, this.#source, this.#options);
      this.#names = this.named ? namesIn(cells) : cells.map((_, i) => String(i));
      const fail = (reason: string) => this.#fail(reason, { row: line });
      ({ numeric: this.numeric, textual: this.#textual } = chooseColumns(this.#names, this.#options, fail));
      for (const _ of this.#textual) this.#cells.push([]);
      if (this.named) return;
    } else if (this.#width === 1) for (let k = blankBefore; k > 0; k--) this.#row([""], line - k);
    if (record.length !== this.#width) {
      const reason = `row ${line} holds ${record.length} cells and the first row ${this.#width}; every row takes the same number`;
      throw this.#fail(`${reason} (is the delimiter right?)`, { row: line });
    }
    this.#row(record, line);
  }

  table(): CsvTable {
    if (this.#names === undefined) throw this.#fail("there is no row in it; it takes rows of numbers", {});
    if (this.#lines.length === 0) throw this.#fail("there is a header and no row after it; it takes at least one row of numbers", {});
    const matrix = new Matrix<Float64Array>(this.#lines.length, this.numeric.length, this.#values.slice(0, this.#filled));
    const parts = { format: "CSV" as const, source: this.#source, header: this.#names, numeric: this.numeric, textual: this.#textual };
    const line = (row: number) => this.#lines[row]!;
    const words = ({ name, index }: TableColumn) => (this.named ? `column ${quoted(name)}` : `column ${index} (counted from 0)`);
    return tableOf({ ...parts, matrix, cells: this.#cells, line, words }, this.#options.missing);
  }

  #row(cells: readonly string[], line: number): void {
    const cols = this.numeric.length;
    if (this.#filled + cols > this.#values.length) {
      const larger = new Float64Array(this.#values.length * 2 + cols);
      larger.set(this.#values);
      this.#values = larger;
    }
    for (const column of this.numeric) {
      const cell = cells[column.index]!.trim();
      const value = this.#markers.has(cell) ? Number.NaN : cellNumber(cell, this.#options);
      if (value === undefined) this.wrong ??= { row: line, column: column.name };
      this.#values[this.#filled++] = value ?? Number.NaN;
    }
    this.#textual.forEach(({ index }, k) => {
      this.#cells[k]!.push(cells[index]!);
    });
    this.#lines.push(line);
  }

  #fail(reason: string, location: Readonly<Record<string, string | number>>): FormatError {
    return new FormatError("CSV", this.#source, reason, location);
  }
}
