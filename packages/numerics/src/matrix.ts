// Matrices as plain data: row-major dense and CSR sparse. No arithmetic on them lives here.
import { checkHas } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { describe } from "@spillway/core/text.js";
import { type ArrowTable, type TableRow, tableColumns, tableNumbers } from "./tables.js";

/** The number formats that states, inputs and weights are held in. */
export type Precision = "float32" | "float64";

/** The typed array of either precision. */
export type FloatArray = Float32Array | Float64Array;

/**
 * What a user may hand over as a series or a matrix: a matrix, a flat series (one column), an array
 * of rows, or a table whose columns are all numbers: one of Apache Arrow, or rows that are objects.
 * Its columns become those of the matrix in their order; null is NaN.
 */
export type MatrixLike =
  | Matrix
  | FloatArray
  | readonly number[]
  | readonly (readonly number[] | FloatArray)[]
  | ArrowTable
  | readonly TableRow[];

/**
 * A dense matrix, row-major: element (r, c) is `data[r * cols + c]`. In a series, time runs along
 * the rows (T x features).
 */
export class Matrix<Data extends FloatArray = FloatArray> {
  readonly rows: number;
  readonly cols: number;
  readonly data: Data;

  /**
   * @throws ArgumentError when `data` does not hold rows x cols values, or if it is
   * of another type.
   */
  constructor(rows: number, cols: number, data: Data) {
    checkSize(rows, cols);
    if (!isFloatArray(data)) throw new ArgumentError("data", data, "a Float32Array or a Float64Array");
    if (data.length !== rows * cols) {
      throw ArgumentError.shape(`data holds ${data.length} values; a ${rows} x ${cols} matrix takes ${rows * cols}`, { field: "data" });
    }
    this.rows = rows;
    this.cols = cols;
    this.data = data;
  }

  /** A matrix of zeros. */
  static zeros(rows: number, cols: number, precision: "float32"): Matrix<Float32Array>;
  static zeros(rows: number, cols: number, precision?: "float64"): Matrix<Float64Array>;
  static zeros(rows: number, cols: number, precision?: Precision): Matrix;
  static zeros(rows: number, cols: number, precision: Precision = "float64"): Matrix {
    checkSize(rows, cols);
    return new Matrix(rows, cols, allocate(precision, rows * cols));
  }

  /**
   * Copies anything matrix-like into a matrix of the given precision. A flat series becomes one
   * column.
   */
  static from(source: MatrixLike, precision: "float32", name?: string): Matrix<Float32Array>;
  static from(source: MatrixLike, precision?: "float64", name?: string): Matrix<Float64Array>;
  static from(source: MatrixLike, precision?: Precision, name?: string): Matrix;
  static from(source: MatrixLike, precision: Precision = "float64", name = "matrix"): Matrix {
    return copyOf(asMatrix(source, name), precision);
  }

  /** The value at row `r`, column `c`. @throws ArgumentError outside the matrix. */
  at(r: number, c: number): number {
    const value = r >= 0 && c >= 0 && r < this.rows && c < this.cols ? this.data[r * this.cols + c] : undefined;
    if (value === undefined) throw ArgumentError.because(`(${r}, ${c}) is outside a ${this.rows} x ${this.cols} matrix`);
    return value;
  }

  /**
   * Row `r` as a view: writing to it writes to the matrix. @throws ArgumentError outside the matrix
   */
  row(r: number): Data {
    if (!(Number.isInteger(r) && r >= 0 && r < this.rows))
      throw ArgumentError.because(`row ${r} is outside a ${this.rows} x ${this.cols} matrix`);
    return this.data.subarray(r * this.cols, (r + 1) * this.cols) as Data;
  }

  /** Column `c` as a copy. @throws ArgumentError outside the matrix */
  column(c: number): Data {
    if (!(c >= 0 && c < this.cols)) throw ArgumentError.because(`column ${c} is outside a ${this.rows} x ${this.cols} matrix`);
    const out = allocate(precisionOf(this.data), this.rows);
    for (let r = 0; r < this.rows; r++) out[r] = this.data[r * this.cols + c]!;
    return out as Data;
  }

  /**
   * Rows `start` to `end` (exclusive) as a copy; negative numbers count from the end, as in
   * `Array.slice`.
   */
  slice(start = 0, end = this.rows): Matrix<Data> {
    const view = this.subarray(start, end);
    return new Matrix(view.rows, view.cols, view.data.slice() as Data);
  }

  /** Rows `start` to `end` (exclusive) as a view of the same memory. */
  subarray(start = 0, end = this.rows): Matrix<Data> {
    const from = fromEnd(start, this.rows);
    const to = Math.max(from, fromEnd(end, this.rows));
    return new Matrix(to - from, this.cols, this.data.subarray(from * this.cols, to * this.cols) as Data);
  }

  /** The matrix with every element changed, in binary64; `i` is its index in `data`. */
  map(change: (value: number, i: number) => number): Matrix<Float64Array> {
    const out = Matrix.zeros(this.rows, this.cols);
    for (let i = 0; i < out.data.length; i++) out.data[i] = change(this.data[i]!, i);
    return out;
  }

  /** The matrix as an array of rows. */
  toArrays(): number[][] {
    return Array.from({ length: this.rows }, (_, r) => Array.from(this.row(r)));
  }
}

/**
 * A sparse matrix in compressed sparse row form. The nonzeros of row r are at positions
 * `rowOffsets[r]` to
 * `rowOffsets[r + 1]`; columns rise strictly within a row. Explicit zeros are kept.
 */
export interface SparseMatrix<Data extends FloatArray = FloatArray> {
  readonly rows: number;
  readonly cols: number;
  readonly rowOffsets: Uint32Array;
  readonly columns: Uint32Array;
  readonly values: Data;
}

/** Whether a matrix is in CSR form. */
export function isSparse(matrix: Matrix | SparseMatrix): matrix is SparseMatrix {
  checkHas("matrix", matrix, "a Matrix or a SparseMatrix");
  return "rowOffsets" in matrix;
}

/** The number of stored values. */
export function storedValues(matrix: Matrix | SparseMatrix): number {
  return isSparse(matrix) ? matrix.values.length : matrix.rows * matrix.cols;
}

/**
 * Wraps anything matrix-like; matrices and typed arrays are not copied. @throws ArgumentError on
 * ragged rows, of rows with other columns than row 0, and of values that are no numbers.
 */
export function asMatrix(source: MatrixLike, name = "matrix"): Matrix {
  if (source instanceof Matrix) return source;
  if (isFloatArray(source)) return new Matrix(source.length, 1, source);
  const table = tableColumns(source, name);
  if (table) return new Matrix(table.rows, table.names.length, tableNumbers(table, table.names, name));
  if (!Array.isArray(source)) {
    throw new ArgumentError(name, source, "a Matrix, a Float32Array, a Float64Array, or an array of numbers or rows");
  }
  const rows = source as readonly unknown[];
  if (rows.length === 0) return new Matrix(0, 1, new Float64Array(0));
  const flat = typeof rows[0] === "number";
  const cols = flat ? 1 : isList(rows[0]) ? rows[0].length : 0;
  const data = new Float64Array(rows.length * cols);
  for (let r = 0; r < rows.length; r++) {
    const row = rows[r];
    if (flat && typeof row === "number") data[r] = row;
    else if (!flat && ArrayBuffer.isView(row) && isList(row) && row.length === cols) data.set(row as FloatArray, r * cols);
    else if (!flat && isList(row) && row.length === cols) setRow(data, r * cols, row, `${name}: row ${r}`);
    else throw wrongRow(name, r, row, flat ? undefined : cols);
  }
  return new Matrix(rows.length, cols, data);
}

function isFloatArray(value: unknown): value is FloatArray {
  return value instanceof Float32Array || value instanceof Float64Array;
}

/** An array or any typed array. */
export function isList(value: unknown): value is ArrayLike<unknown> {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
}

/** A typed array would turn a null into 0 and a text into the number it spells. */
function setRow(data: Float64Array, offset: number, row: ArrayLike<unknown>, name: string): void {
  for (let c = 0; c < row.length; c++) {
    const value = row[c];
    if (typeof value !== "number") throw new ArgumentError(`${name}, column ${c}`, value, "a number, NaN if it is missing");
    data[offset + c] = value;
  }
}

/** @param cols of row 0; undefined if it is a number */
function wrongRow(name: string, r: number, row: unknown, cols: number | undefined): Error {
  const isNumber = typeof row === "number";
  if (isNumber || isList(row)) {
    const [here, first] = [isNumber ? 1 : row.length, cols ?? 1];
    return ArgumentError.shape(
      here === first
        ? `${name}: row ${r} is ${describe(row)} and row 0 is ${cols === undefined ? "a number" : "a list"}; rows are all numbers or all lists`
        : `${name}: row ${r} holds ${here} values and row 0 holds ${first}; every row takes the same number`,
    );
  }
  return ArgumentError.because(
    `${name}: row ${r} is ${describe(row)}; a row is ${cols === undefined ? "a number" : "a number or a list of numbers"}`,
    { field: name },
  );
}

/** The matrix in the given precision: itself if it already is, else a rounded copy. */
export function inPrecision(matrix: Matrix, precision: Precision): Matrix {
  return precisionOf(matrix.data) === precision ? matrix : copyOf(matrix, precision);
}

function copyOf(matrix: Matrix, precision: Precision): Matrix {
  checkPrecision(precision);
  return new Matrix(matrix.rows, matrix.cols, precision === "float32" ? Float32Array.from(matrix.data) : Float64Array.from(matrix.data));
}

/** Zeros of the given precision. @throws ArgumentError for an unknown precision */
export function allocate(precision: Precision, length: number): FloatArray {
  checkPrecision(precision);
  return precision === "float32" ? new Float32Array(length) : new Float64Array(length);
}

function checkPrecision(precision: Precision): void {
  if (precision !== "float32" && precision !== "float64") throw new ArgumentError("precision", precision, '"float32" or "float64"');
}

/** The precision of a typed array. */
export function precisionOf(data: FloatArray): Precision {
  return data instanceof Float32Array ? "float32" : "float64";
}

/**
 * Dense form of a CSR matrix, same precision. @throws ArgumentError for one whose structure is
 * wrong
 */
export function toDense(matrix: SparseMatrix): Matrix {
  checkSparse(matrix, "the matrix");
  const out = Matrix.zeros(matrix.rows, matrix.cols, precisionOf(matrix.values));
  for (let r = 0; r < matrix.rows; r++) {
    for (let p = matrix.rowOffsets[r]!; p < matrix.rowOffsets[r + 1]!; p++) {
      out.data[r * matrix.cols + matrix.columns[p]!] = matrix.values[p]!;
    }
  }
  return out;
}

/** CSR form of a dense matrix, same precision; zeros are dropped. */
export function toSparse(matrix: Matrix): SparseMatrix {
  checkHas("matrix", matrix, "a Matrix", "rows", "cols", "data");
  const rowOffsets = new Uint32Array(matrix.rows + 1);
  let count = 0;
  for (let r = 0; r < matrix.rows; r++) {
    for (let c = 0; c < matrix.cols; c++) if (matrix.data[r * matrix.cols + c] !== 0) count++;
    rowOffsets[r + 1] = count;
  }
  const columns = new Uint32Array(count);
  const values = allocate(precisionOf(matrix.data), count);
  let p = 0;
  for (let r = 0; r < matrix.rows; r++) {
    for (let c = 0; c < matrix.cols; c++) {
      const value = matrix.data[r * matrix.cols + c]!;
      if (value === 0) continue;
      columns[p] = c;
      values[p++] = value;
    }
  }
  return { rows: matrix.rows, cols: matrix.cols, rowOffsets, columns, values };
}

/**
 * Checks CSR structure: monotone offsets, columns in range and strictly rising. @throws
 * ArgumentError naming row and position.
 */
export function checkSparse(matrix: SparseMatrix, name: string): void {
  checkHas(name, matrix, "a SparseMatrix", "rowOffsets", "columns", "values");
  const { rows, cols, rowOffsets, columns, values } = matrix;
  if (rowOffsets.length !== rows + 1)
    throw ArgumentError.shape(`${name}: rowOffsets holds ${rowOffsets.length} values; ${rows} rows take ${rows + 1}`, { field: name });
  if (rowOffsets[0] !== 0) throw ArgumentError.because(`${name}: rowOffsets starts at ${rowOffsets[0]}; it takes 0`, { field: name });
  if (columns.length !== values.length || rowOffsets[rows] !== values.length) {
    throw ArgumentError.because(
      `${name}: ${values.length} values, ${columns.length} columns and a last row offset of ${rowOffsets[rows]}; the three take the same number`,
      { field: name },
    );
  }
  const fall = firstFall(rowOffsets);
  if (fall >= 0)
    throw ArgumentError.because(
      `${name}: rowOffsets falls from ${rowOffsets[fall]} to ${rowOffsets[fall + 1]} after row ${fall}; it takes rising offsets`,
      { field: name },
    );
  for (let r = 0; r < rows; r++) {
    let before = -1;
    for (let p = rowOffsets[r]!, end = rowOffsets[r + 1]!; p < end; p++) {
      const column = columns[p]!;
      if (column >= cols)
        throw ArgumentError.shape(`${name}: row ${r} has column ${column}; it takes columns below ${cols}`, { field: name });
      if (column <= before) {
        throw ArgumentError.shape(
          `${name}: row ${r} has column ${column} after column ${before}; columns must rise and none may occur twice`,
          { field: name },
        );
      }
      before = column;
    }
  }
}

/**
 * Index of the first offset that is larger than the next, or -1. Offsets are asked before any of
 * them bounds a loop: of a list that rises, none is beyond the last.
 */
export function firstFall(offsets: Uint32Array): number {
  for (let i = 0; i + 1 < offsets.length; i++) if (offsets[i + 1]! < offsets[i]!) return i;
  return -1;
}

/** The matrix with rows and columns exchanged, in its precision. */
export function transposed<Data extends FloatArray>({ rows, cols, data }: Matrix<Data>): Matrix<Data> {
  const out = allocate(precisionOf(data), data.length);
  for (let r = 0; r < rows; r++) for (let c = 0; c < cols; c++) out[c * rows + r] = data[r * cols + c]!;
  return new Matrix(cols, rows, out as Data);
}

/** Ones on the diagonal, n x n. */
export function identityMatrix(n: number): Matrix<Float64Array> {
  const out = Matrix.zeros(n, n);
  for (let i = 0; i < n; i++) out.data[i * n + i] = 1;
  return out;
}

/** Rows whose number is a multiple of `every`, counted from 1 with `before` rows ahead, as a copy. */
export function everyRow(matrix: Matrix, every: number, before = 0): Matrix {
  if (every === 1) return matrix.slice();
  const rows = Array.from({ length: matrix.rows }, (_, t) => t).filter((t) => (before + t + 1) % every === 0);
  const out = Matrix.zeros(rows.length, matrix.cols, precisionOf(matrix.data));
  for (const [r, t] of rows.entries()) out.data.set(matrix.row(t), r * matrix.cols);
  return out;
}

/** The mean of each column: summed in binary64 over rising rows, then divided. */
export function columnMeans({ rows, cols, data }: Matrix): Float64Array {
  const means = new Float64Array(cols);
  for (let t = 0; t < rows; t++) for (let c = 0; c < cols; c++) means[c] = means[c]! + data[t * cols + c]!;
  return means.map((sum) => sum / rows);
}

/** Index of the first value that is not finite, or -1. */
export function firstNonFinite(data: ArrayLike<number>): number {
  const run = 4096;
  for (let start = 0; start < data.length; start += run) {
    const end = Math.min(data.length, start + run);
    if (hasOnlyFinite(data, start, end)) continue;
    for (let i = start; i < end; i++) if (!Number.isFinite(data[i])) return i;
  }
  return -1;
}

/** Matrices of as many columns on top of each other, in binary64. */
export function stackRows(matrices: readonly Matrix[]): Matrix<Float64Array> {
  const cols = matrices[0]!.cols;
  const rows = matrices.reduce((sum, matrix) => sum + matrix.rows, 0);
  const out = Matrix.zeros(rows, cols);
  let at = 0;
  for (const matrix of matrices) {
    out.data.set(matrix.data, at);
    at += matrix.data.length;
  }
  return out;
}

/**
 * Over a run of numbers the sum of x - x is 0 or NaN, which is several times faster than asking
 * each. Four at once, since a sum waits for the one before it, and a loop for each type of array:
 * one that meets both takes three times as long.
 */
function hasOnlyFinite(d: ArrayLike<number>, start: number, end: number): boolean {
  let [sum, i] = [0, start];
  if (d instanceof Float32Array)
    for (; i + 3 < end; i += 4) sum += d[i]! - d[i]! + (d[i + 1]! - d[i + 1]!) + (d[i + 2]! - d[i + 2]! + (d[i + 3]! - d[i + 3]!));
  else if (d instanceof Float64Array)
    for (; i + 3 < end; i += 4) sum += d[i]! - d[i]! + (d[i + 1]! - d[i + 1]!) + (d[i + 2]! - d[i + 2]! + (d[i + 3]! - d[i + 3]!));
  else return false;
  for (; i < end; i++) sum += d[i]! - d[i]!;
  return sum === 0;
}

function checkSize(rows: number, cols: number): void {
  if (!Number.isSafeInteger(rows) || rows < 0) throw new ArgumentError("rows", rows, "a whole number of at least 0");
  if (!Number.isSafeInteger(cols) || cols < 0) throw new ArgumentError("cols", cols, "a whole number of at least 0");
}

function fromEnd(index: number, length: number): number {
  return index < 0 ? Math.max(0, length + index) : Math.min(index, length);
}
