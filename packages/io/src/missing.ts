// Numbers written as text, and what to do about those that are missing. It reads no file.
import { Matrix } from "@spillway/numerics";

/**
 * What becomes of a missing value: `"error"` refuses the file; `"interpolate"` draws a straight
 * line between the neighbours in time;
 * `"hold"` repeats the last value; `"drop"` leaves the whole row (time step) out; `"nan"` keeps
 * it as NaN.
 */
export type MissingPolicy = "error" | "interpolate" | "hold" | "drop" | "nan";

const decimalNumber = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const infinity = /^([+-]?)inf(?:inity)?$/i;

/**
 * The number that a text is (decimal, with or without an exponent, or infinity), or undefined.
 * Blanks around it were taken off before.
 */
export function parseNumber(text: string): number | undefined {
  if (decimalNumber.test(text)) return Number(text);
  const sign = infinity.exec(text)?.[1];
  return sign === undefined ? undefined : sign === "-" ? -Infinity : Infinity;
}

/** A T x C matrix without its missing values (NaN), and the rows of the original that are left. */
export interface Filled {
  readonly matrix: Matrix<Float64Array>;
  /** Row indices kept; undefined if none was dropped. */
  readonly kept: readonly number[] | undefined;
  /** How many values were missing. */
  readonly missing: number;
  /** The same for each of the C columns. */
  readonly byColumn: readonly number[];
  /** T x C: 1 where a value was filled, else 0; undefined if none was. */
  readonly filled?: Matrix<Float64Array> | undefined;
}

/**
 * Applies a policy to every NaN of a T x C matrix, in place if no row goes.
 * @throws what `fail` makes of the row, the column and the reason: under "error", if a fill has no
 * value to start from, and for a column that has no value at all.
 */
export function fillMissing(
  matrix: Matrix<Float64Array>,
  policy: MissingPolicy,
  fail: (row: number, column: number, reason: string) => Error,
): Filled {
  const { rows, cols, data } = matrix;
  const byColumn = new Array<number>(cols).fill(0);
  let first = -1;
  for (let i = 0; i < data.length; i++) {
    if (!Number.isNaN(data[i]!)) continue;
    if (first < 0) first = i;
    byColumn[i % cols]!++;
  }
  const missing = byColumn.reduce((sum, count) => sum + count, 0);
  if (missing === 0 || policy === "nan") return { matrix, kept: undefined, missing, byColumn };
  const empty = rows > 1 ? byColumn.indexOf(rows) : -1;
  if (empty >= 0) throw fail(0, empty, `all ${rows} values of this column are missing; leave the column out`);
  if (policy === "drop") return { ...dropRows(matrix), missing, byColumn };
  if (policy === "error") throw fail(Math.floor(first / cols), first % cols, "the value is missing");
  const filled = missingCells(matrix);
  for (let c = 0; c < cols; c++) {
    for (let r = 0; r < rows; r++) {
      if (!Number.isNaN(data[r * cols + c]!)) continue;
      if (r === 0) throw fail(r, c, `the value is missing and none before it can be held; cut the start off`);
      let next = r + 1;
      while (next < rows && Number.isNaN(data[next * cols + c]!)) next++;
      const before = data[(r - 1) * cols + c]!;
      if (policy === "hold") {
        for (let k = r; k < next; k++) data[k * cols + c] = before;
      } else {
        if (next === rows) throw fail(r, c, `the value is missing and "interpolate" has none after it; take "hold", or cut the end off`);
        drawLine(matrix, c, r - 1, next);
      }
      r = next;
    }
  }
  return { matrix, kept: undefined, missing, byColumn, filled };
}

/**
 * Holds values as "hold" does; what is missing at the start of a column becomes the first value
 * that was measured. In place.
 * @returns T x C, 1 where a value was missing, else 0; and how many there were in each column
 * @throws what `fail` makes of a column that has no value at all
 */
export function holdMissing(
  matrix: Matrix<Float64Array>,
  fail: (row: number, column: number, reason: string) => Error,
): { readonly filled: Matrix<Float64Array>; readonly byColumn: readonly number[] } {
  const filled = missingCells(matrix);
  const { rows, cols, data } = matrix;
  for (let c = 0; c < cols; c++) {
    let first = 0;
    while (first < rows && Number.isNaN(data[first * cols + c]!)) first++;
    for (let r = 0; first < rows && r < first; r++) data[r * cols + c] = data[first * cols + c]!;
  }
  fillMissing(matrix, "hold", fail);
  return { filled, byColumn: columnSums(filled) };
}

/**
 * Holds values by those before them alone: first by `before`, the last row of what came earlier,
 * then by each column's own. In place. Values before the first that can be held become the first
 * measured one, so that the matrix is finite; the rows that have them must not be used.
 * @returns how many rows at the start have such a value
 */
export function holdAfter({ rows, cols, data }: Matrix<Float64Array>, before: ArrayLike<number> | undefined): number {
  let unfilled = 0;
  for (let c = 0; c < cols; c++) {
    let held = before?.[c] ?? Number.NaN;
    for (let r = 0, at = c; r < rows; r++, at += cols) {
      if (!Number.isNaN(data[at]!)) held = data[at]!;
      else if (!Number.isNaN(held)) data[at] = held;
      else unfilled = Math.max(unfilled, r + 1);
    }
  }
  for (let i = unfilled * cols - 1; i >= 0; i--) if (Number.isNaN(data[i]!)) data[i] = data[i + cols] ?? Number.NaN;
  return unfilled;
}

/**
 * The held rows of a matrix with lines in place of held values, if a value was measured after them.
 * @param missing T x C, 1 where a value of `held` was missing
 */
export function withLines(held: Matrix<Float64Array>, missing: Matrix): Matrix<Float64Array> {
  const lines = new Matrix(held.rows, held.cols, held.data.slice());
  const { rows, cols } = lines;
  for (let c = 0; c < cols; c++) {
    let last = -1;
    for (let r = 0; r < rows; r++) {
      if (missing.data[r * cols + c] === 1) continue;
      if (last >= 0) drawLine(lines, c, last, r);
      last = r;
    }
  }
  return lines;
}

/** Puts a straight line into column `c` between two rows that have values. */
function drawLine({ cols, data }: Matrix<Float64Array>, c: number, last: number, next: number): void {
  const before = data[last * cols + c]!;
  const step = (data[next * cols + c]! - before) / (next - last);
  for (let k = last + 1; k < next; k++) data[k * cols + c] = before + step * (k - last);
}

/** How many cells of each column of a mask are 1. */
export function columnSums({ data, cols }: Matrix<Float64Array>): number[] {
  return Array.from({ length: cols }, (_, c) => data.reduce((sum, flag, i) => (i % cols === c ? sum + flag : sum), 0));
}

/** T x C: 1 where a value is missing (NaN), else 0. */
export function missingCells(matrix: Matrix): Matrix<Float64Array> {
  return matrix.map((value) => (Number.isNaN(value) ? 1 : 0));
}

function dropRows(matrix: Matrix<Float64Array>): Omit<Filled, "missing" | "byColumn"> {
  const kept: number[] = [];
  for (let r = 0; r < matrix.rows; r++) if (!matrix.row(r).some(Number.isNaN)) kept.push(r);
  const data = new Float64Array(kept.length * matrix.cols);
  kept.forEach((r, k) => {
    data.set(matrix.row(r), k * matrix.cols);
  });
  return { matrix: new Matrix(kept.length, matrix.cols, data), kept };
}
