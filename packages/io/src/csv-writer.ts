// Writes a matrix as comma-separated text. Every number is the shortest decimal that reads back as
// the same binary64.
import { ArgumentError } from "@spillway/core/errors.js";
import { choice, type InputOf, list, option, optional, record, resolve, text as textKind } from "@spillway/core/options.js";
import { asMatrix, type Matrix, type MatrixLike } from "@spillway/numerics";
import { AtomicFile } from "./atomic.js";

export const csvWriteTable = {
  /** One name a column; left out, there is no header. */
  columns: optional(list(textKind(), "a list of names"), "One name a column; left out, there is no header."),
  /**
   * Text columns by name, T cells each; they stand before the numbers. Without `columns` they stand
   * there without a name too.
   */
  text: option(
    record(list(textKind(), "a list of texts"), "an object of lists of texts by name"),
    {},
    "Text columns by name, T cells each; they stand before the numbers.",
  ),
  /** Default ",". */
  delimiter: option(choice(",", ";", "\t"), ",", "Between cells."),
};

/** Names, text columns and the delimiter of what is written. */
export interface CsvWriteOptions extends InputOf<typeof csvWriteTable> {}

/**
 * A T x C matrix as CSV text, one row a line. NaN and infinities are written as such. A name or text
 * that a spreadsheet would run as a formula (=..., @..., +..., -...; not +1 or -1) is written with an
 * apostrophe before it.
 * @throws ArgumentError if names or texts do not fit.
 */
export function formatCsv(matrix: MatrixLike, options: CsvWriteOptions = {}): string {
  return [...pieces(asMatrix(matrix), options)].join("");
}

/** Writes {@link formatCsv} to a file, whole or not at all. @throws FileError. */
export async function writeCsv(path: string, matrix: MatrixLike, options: CsvWriteOptions = {}): Promise<void> {
  const lines = pieces(asMatrix(matrix), options);
  const first = lines.next();
  const file = await AtomicFile.create(path);
  const encoder = new TextEncoder();
  try {
    if (!first.done) await file.write(encoder.encode(first.value));
    for (const piece of lines) await file.write(encoder.encode(piece));
  } catch (error) {
    await file.abort();
    throw error;
  }
  await file.commit();
}

/** @throws ArgumentError if names or texts do not fit a matrix */
export function checkWritten(
  { rows, cols }: Pick<Matrix, "rows" | "cols">,
  columns: readonly string[] | undefined,
  text: Readonly<Record<string, readonly string[]>>,
): void {
  if (columns && columns.length !== cols)
    throw ArgumentError.shape(`columns holds ${columns.length} names; the matrix has ${cols} columns`, { field: "columns" });
  for (const [name, { length }] of Object.entries(text))
    if (length !== rows)
      throw ArgumentError.shape(`text column "${name}" holds ${length} cells; the matrix has ${rows} rows`, { field: "text" });
}

function* pieces(matrix: Matrix, options: CsvWriteOptions): Generator<string> {
  const { columns, text, delimiter } = resolve(csvWriteTable, options);
  const names = Object.keys(text);
  checkWritten(matrix, columns, text);
  let piece = columns ? `${[...names, ...columns].map((name) => csvCell(name, delimiter)).join(delimiter)}\n` : "";
  for (let r = 0; r < matrix.rows; r++) {
    const cells = names.map((name) => csvCell(text[name]![r]!, delimiter));
    for (let c = 0; c < matrix.cols; c++) {
      const value = matrix.data[r * matrix.cols + c]!;
      cells.push(Object.is(value, -0) ? "-0" : String(value));
    }
    piece += `${cells.join(delimiter)}\n`;
    if (piece.length < 65536) continue;
    yield piece;
    piece = "";
  }
  if (piece !== "") yield piece;
}

/** What a spreadsheet runs as a formula; a number with a sign is none. */
const formula = /^[=@\t\r]|^[+-](?![\d.]+(?:[eE][+-]?\d+)?$|inf)/i;

/**
 * A text as a cell of a line, in quotes if needed. What a spreadsheet would run as a
 * formula has an apostrophe before it.
 */
export function csvCell(cell: string, delimiter = ","): string {
  const text = formula.test(cell) ? `'${cell}` : cell;
  return text.includes('"') || text.includes(delimiter) || /[\r\n]/.test(text) || text.trim() !== text
    ? `"${text.replaceAll('"', '""')}"`
    : text;
}
