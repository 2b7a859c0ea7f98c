// Tables that are in memory already: Apache Arrow and rows that are objects.
import { ArgumentError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import { describe, quoted } from "@spillway/core/text.js";
import { Matrix } from "@spillway/numerics";
import { type ArrowTable, type TableColumns, tableColumns, tableNumbers } from "@spillway/numerics/tables.js";
import { type ParquetOptions, parquetTable } from "./parquet.js";
import { type CsvTable, chooseColumns, type TableColumn, tableOf } from "./table-columns.js";

/**
 * The numbers of a table as a matrix, and its text beside it, as `readCsv` gives them of a file.
 * @param source a `Table` of apache-arrow, or rows that are objects of the same columns; null is a
 * missing value. Columns of text take what a row has: dates and time stamps in the forms of ISO 8601
 * @param options columns by name or index, and what becomes of missing values
 * @throws ArgumentError for rows of different columns, and naming row and column of a value that is
 * no number; FormatError for a column that is not there, and a value that is missing
 */
export function tableFrom(source: ArrowTable | readonly object[], options: ParquetOptions = {}): CsvTable {
  const settings = resolve(parquetTable, options);
  const name = "table";
  const table = tableColumns(source, name);
  if (!table) throw new ArgumentError(name, source, "a Table of apache-arrow, or a list of objects with at least one row");
  const { numeric, textual } = chooseColumns(table.names, settings, (reason) =>
    ArgumentError.because(`${name}: ${reason}`, { field: name }),
  );
  const numbers = tableNumbers(
    table,
    numeric.map((column) => column.name),
    name,
  );
  const matrix = new Matrix(table.rows, numeric.length, numbers);
  const cells = textual.map(({ name: column }) => textsOf(table, column));
  const words = (column: TableColumn) => `column ${quoted(column.name)}`;
  const parts = { format: "text" as const, source: name, header: table.names, numeric, textual, matrix, cells };
  return tableOf({ ...parts, line: (row) => row + 1, words }, settings.missing);
}

function textsOf(table: TableColumns, column: string): string[] {
  const time = table.time(column);
  const length = time === "day" ? 10 : 23;
  return Array.from(table.column(column), (value, row) => {
    if (value === null || value === undefined) return "";
    if (typeof value === "string") return value;
    const date = value instanceof Date ? value : time !== undefined && typeof value !== "object" ? new Date(Number(value)) : undefined;
    if (date && Number.isFinite(date.getTime())) {
      const text = date.toISOString();
      return time === undefined ? text : text.slice(0, length) + (time === "instant" ? "Z" : "");
    }
    if (typeof value === "object")
      throw new ArgumentError(`table: row ${row}, column ${quoted(column)}`, value, "a text, a number or a date", {
        shown: describe(value),
      });
    return String(value);
  });
}
