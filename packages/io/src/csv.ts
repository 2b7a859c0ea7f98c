// Reads comma-separated text into a matrix of numbers, with chosen columns kept aside as text.
import { ArgumentError, type ErrorDetails } from "@spillway/core/errors.js";
import { nearNames } from "@spillway/core/near-names.js";
import { type Resolved, resolve } from "@spillway/core/options.js";
import { quoted } from "@spillway/core/text.js";
import { Matrix } from "@spillway/numerics";
import { type CsvOptions, csvTable, csvTextTable } from "./csv-options.js";
import { cellProblems } from "./csv-problems.js";
import { cellNumber, eachRecord, isHeader, namesIn, type RecordPlace } from "./csv-records.js";
import { checkText, FormatError, type SourceOptions } from "./errors.js";
import { readText } from "./files.js";
import { fillMissing } from "./missing.js";

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
  await eachRecord(text, source, settings, (cells, place) => reader.take(cells, place));
  if (reader.wrong) {
    const { reason, settings: solving } = await cellProblems(text, source, { ...settings, header: reader.named }, reader.numeric);
    throw new FormatError("CSV", source, reason, reader.wrong, undefined, solving);
  }
  return reader.table();
}

/** A column that is read: where it stands, and what it is called. */
interface Column {
  readonly index: number;
  readonly name: string;
}

/** Takes records one by one, and holds no more than the numbers themselves. */
class TableReader {
  readonly #source: string;
  readonly #options: Resolved<typeof csvTable>;
  readonly #markers: ReadonlySet<string>;
  #names: readonly string[] | undefined;
  named = false;
  #width = 0;
  numeric: readonly Column[] = [];
  /** The row and column of the first cell that is no number. */
  wrong: { readonly row: number; readonly column: string } | undefined;
  #textual: readonly Column[] = [];
  #values = new Float64Array(1024);
  #filled = 0;
  readonly #lines: number[] = [];
  readonly #cells: string[][] = [];

  constructor(source: string, options: Resolved<typeof csvTable>) {
    this.#source = source;
    this.#options = options;
    this.#markers = new Set(options.missingMarkers);
  }

  take(record: readonly string[], { line, blankBefore }: RecordPlace): void {
    if (this.#names === undefined) {
      this.#width = record.length;
      const cells = record.map((cell) => cell.trim());
      this.named = isHeader(cells, line, this.#source, this.#options);
      this.#names = this.named ? namesIn(cells) : cells.map((_, i) => String(i));
      this.#choose(line);
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
    const cols = this.numeric.length;
    const matrix = new Matrix<Float64Array>(this.#lines.length, cols, this.#values.slice(0, this.#filled));
    const policy = this.#options.missing;
    const {
      matrix: whole,
      kept,
      missing,
      byColumn,
      filled,
    } = fillMissing(matrix, policy, (r, c, reason) => {
      const advice = policy === "error" && reason === "the value is missing" ? `; set \`missing\` to "interpolate", "hold" or "drop"` : "";
      return this.#failCell(this.#lines[r]!, this.numeric[c]!, `${reason}${advice}`, { missing: "hold" });
    });
    if (whole.rows === 0) throw this.#fail("every row has a missing value; none is left", {});
    const text: Record<string, readonly string[]> = Object.create(null);
    this.#textual.forEach(({ name }, k) => {
      text[name] = kept ? kept.map((r) => this.#cells[k]![r]!) : this.#cells[k]!;
    });
    const lines = kept ? kept.map((r) => this.#lines[r]!) : this.#lines;
    return {
      columns: this.numeric.map(({ name }) => name),
      matrix: whole,
      text,
      header: this.#names,
      lines,
      missing,
      missingByColumn: byColumn,
      ...(filled && { filled }),
    };
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

  #choose(line: number): void {
    const { text, columns } = this.#options;
    this.#textual = text.map((wanted) => this.#column(wanted, "text", line));
    const twice = this.#textual.find(({ name }, k) => this.#textual.findIndex((other) => other.name === name) < k);
    if (twice) throw this.#fail(`text lists ${quoted(twice.name)} twice; it takes each name once`, { row: line });
    const aside = new Set(this.#textual.map(({ index }) => index));
    const rest = this.#names!.map((_, index) => index).filter((index) => !aside.has(index));
    this.numeric = (columns ?? rest).map((wanted) => this.#column(wanted, "columns", line));
    if (this.numeric.length + this.#textual.length === 0) throw this.#fail("no column was asked for", { row: line });
    for (const _ of this.#textual) this.#cells.push([]);
  }

  #column(wanted: string | number, option: string, line: number): Column {
    const names = this.#names!;
    if (typeof wanted === "number") {
      const name = names[wanted];
      if (name !== undefined) return { index: wanted, name };
      throw this.#fail(`${option} asks for index ${wanted}; it takes 0 to ${names.length - 1}`, { row: line });
    }
    const index = names.indexOf(wanted);
    if (index < 0) {
      const near = nearNames(wanted, names);
      const question = near.length > 0 ? `; did you mean ${near.join(", ")}?` : "";
      const there = names.slice(0, 20).map(quoted).join(", ");
      throw this.#fail(`${option} asks for ${quoted(wanted)}; the columns are ${there}${names.length > 20 ? ", ..." : ""}${question}`, {
        row: line,
      });
    }
    if (names.indexOf(wanted, index + 1) >= 0) {
      throw this.#fail(`${option} asks for ${quoted(wanted)} and several columns have that name; give its index, from 0`, { row: line });
    }
    return { index, name: wanted };
  }

  #failCell(row: number, { name, index }: Column, reason: string, settings: ErrorDetails["settings"]): FormatError {
    const column = this.named ? `column ${quoted(name)}` : `column ${index} (counted from 0)`;
    return new FormatError("CSV", this.#source, `row ${row}, ${column}: ${reason}`, { row, column: name }, undefined, settings);
  }

  #fail(reason: string, place: Readonly<Record<string, string | number>>): FormatError {
    return new FormatError("CSV", this.#source, reason, place);
  }
}
