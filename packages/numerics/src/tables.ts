// Tables of other libraries as columns of values: an Apache Arrow table, known by its members, and
// rows that are objects. They are taken wherever a matrix is.
import { ArgumentError } from "@spillway/core/errors.js";
import { describe, quoted } from "@spillway/core/text.js";

/** A column of an {@link ArrowTable}. */
export interface ArrowVector {
  readonly length: number;
  readonly nullCount?: number;
  get(row: number): unknown;
  toArray(): unknown;
}

/** What is used of a `Table` of the package apache-arrow, which need not be installed. */
export interface ArrowTable {
  readonly numRows: number;
  readonly schema: { readonly fields: readonly { readonly name: string; readonly type?: unknown }[] };
  getChild(name: string): ArrowVector | null;
}

/** Values of a row by the names of columns; null is a missing value. */
export interface TableRow {
  readonly [column: string]: number | bigint | boolean | null;
}

/** A table as columns. */
export interface TableColumns {
  readonly names: readonly string[];
  readonly rows: number;
  /** The values of a column. @throws ArgumentError for a row that has other columns than row 0 */
  column(name: string): ArrayLike<unknown>;
  /** Whether numbers in a column are time stamps, in ms from 1970; and whether they are instants. */
  time(name: string): "instant" | "wall" | "day" | undefined;
}

/** A table as columns; undefined if it is none. @param name what errors call it by */
export function tableColumns(source: unknown, name: string): TableColumns | undefined {
  if (Array.isArray(source)) return isRow(source[0]) ? rowsAsColumns(source, name) : undefined;
  return isArrow(source) ? arrowColumns(source, name) : undefined;
}

/** T x C numbers of columns, row after row; NaN for null. @throws ArgumentError naming row and column */
export function tableNumbers(table: TableColumns, names: readonly string[], name: string): Float64Array {
  const data = new Float64Array(table.rows * names.length);
  for (const [c, column] of names.entries()) {
    if (table.time(column) !== undefined)
      throw ArgumentError.because(`${name}: column ${quoted(column)} holds time stamps; ${cure}`, { field: name });
    const values = table.column(column);
    for (let r = 0; r < table.rows; r++) data[r * names.length + c] = numberOf(values[r], name, r, column);
  }
  return data;
}

const cure = "choose the columns of numbers with tableFrom(table, { columns, text })";

function numberOf(value: unknown, name: string, row: number, column: string): number {
  if (typeof value === "number") return value;
  if (value === null || value === undefined) return Number.NaN;
  if (typeof value === "bigint" || typeof value === "boolean") return Number(value);
  throw new ArgumentError(`${name}: row ${row}, column ${quoted(column)}`, value, `a number, or null if it is missing; ${cure}`);
}

function isRow(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  // Of another realm as well; an instance of a class is none.
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function rowsAsColumns(source: readonly unknown[], name: string): TableColumns {
  const rows = source.map((row, r) => {
    if (isRow(row)) return row;
    throw ArgumentError.because(`${name}: row ${r} is ${describe(row)} and row 0 is an object; rows are all of one kind`, { field: name });
  });
  const names = Object.keys(rows[0]!);
  if (names.length === 0) throw ArgumentError.because(`${name}: row 0 has no column; a row takes at least one`, { field: name });
  const known = new Set(names);
  for (const [r, row] of rows.entries()) {
    const missing = names.find((column) => !Object.hasOwn(row, column));
    const other = Object.keys(row).find((column) => !known.has(column));
    if (missing === undefined && other === undefined) continue;
    const what = missing === undefined ? `has ${quoted(other!)}, which row 0 has not` : `has no ${quoted(missing)}, which row 0 has`;
    throw ArgumentError.because(`${name}: row ${r} ${what}; every row takes the same columns, null if a value is missing`, { field: name });
  }
  return { names, rows: rows.length, column: (column) => rows.map((row) => row[column]), time: () => undefined };
}

function isArrow(value: unknown): value is ArrowTable {
  if (typeof value !== "object" || value === null || !("getChild" in value) || !("schema" in value) || !("numRows" in value)) return false;
  const { schema } = value;
  return typeof schema === "object" && schema !== null && "fields" in schema && Array.isArray(schema.fields);
}

function arrowColumns(table: ArrowTable, name: string): TableColumns {
  const { fields } = table.schema;
  return {
    names: fields.map((field) => field.name),
    rows: table.numRows,
    column: (column) => {
      const vector = table.getChild(column);
      if (!vector) throw ArgumentError.because(`${name}: column ${quoted(column)} has no values`, { field: name });
      // The array of a column with nulls has some number instead of them.
      const whole = vector.nullCount === 0 ? vector.toArray() : undefined;
      if (whole instanceof Float64Array || whole instanceof Float32Array || whole instanceof Int32Array) return whole;
      return Array.from({ length: vector.length }, (_, row) => vector.get(row));
    },
    time: (column) => {
      const type = fields.find((field) => field.name === column)?.type;
      if (/^Date/.test(String(type))) return "day";
      if (!/^Timestamp/.test(String(type))) return undefined;
      return typeof type === "object" && type !== null && "timezone" in type && typeof type.timezone === "string" ? "instant" : "wall";
    },
  };
}
