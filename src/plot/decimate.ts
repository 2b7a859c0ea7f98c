// Fewer points of a long series for a plot, without losing a peak; not a filter to compute with.
import { ArgumentError } from "@spillway/core/errors.js";
import { Matrix, precisionOf } from "@spillway/numerics";
import { checkList } from "./options.js";

/** Points that were kept: their indices in the series, rising, and the values there. */
export interface Decimated {
  readonly index: Float64Array;
  readonly values: Float64Array;
}

/**
 * Keeps at most `maximal` points of a series: all of them if that is enough, else the least and
 * the greatest of each of maximal / 2 equal stretches, in the order they occur. Values that are not
 * finite are taken along as gaps (NaN) only if a stretch has nothing else.
 * @throws ArgumentError for fewer than two points
 */
export function decimate(values: ArrayLike<number>, maximal = 2000): Decimated {
  checkList(values, "values", "numbers");
  if (!Number.isSafeInteger(maximal) || maximal < 2) throw new ArgumentError("maximal", maximal, "a whole number of at least 2");
  if (values.length <= maximal) {
    return { index: Float64Array.from({ length: values.length }, (_, i) => i), values: Float64Array.from(values) };
  }
  const stretches = Math.floor(maximal / 2);
  const index: number[] = [];
  for (let s = 0; s < stretches; s++) {
    const from = Math.floor((s * values.length) / stretches);
    const to = Math.floor(((s + 1) * values.length) / stretches);
    const [least, greatest] = extremes(values, from, to);
    index.push(Math.min(least, greatest));
    if (least !== greatest) index.push(Math.max(least, greatest));
  }
  return { index: Float64Array.from(index), values: Float64Array.from(index, (i) => values[i]!) };
}

/**
 * Positions of the least and the greatest finite value in [from, to); `from` twice if none is
 * finite.
 */
function extremes(values: ArrayLike<number>, from: number, to: number): [number, number] {
  let least = -1;
  let greatest = -1;
  for (let i = from; i < to; i++) {
    const value = values[i]!;
    if (!Number.isFinite(value)) continue;
    if (least < 0 || value < values[least]!) least = i;
    if (greatest < 0 || value > values[greatest]!) greatest = i;
  }
  return least < 0 ? [from, from] : [least, greatest];
}

/**
 * Rows and columns of a matrix at equal distances, up to a limit of each: what a heat map of it can
 * show.
 */
export interface Thinned {
  readonly matrix: Matrix;
  /** Every how many rows, and columns, one was kept. */
  readonly everyRow: number;
  readonly everyColumn: number;
}

/** Keeps every k-th row and column of a matrix. */
export function thin(matrix: Matrix, maxRows: number, maxColumns: number): Thinned {
  const everyRow = Math.max(1, Math.ceil(matrix.rows / maxRows));
  const everyColumn = Math.max(1, Math.ceil(matrix.cols / maxColumns));
  const rows = Math.ceil(matrix.rows / everyRow);
  const cols = Math.ceil(matrix.cols / everyColumn);
  const out = Matrix.zeros(rows, cols, precisionOf(matrix.data));
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < cols; c++) out.data[r * cols + c] = matrix.data[r * everyRow * matrix.cols + c * everyColumn]!;
  }
  return { matrix: out, everyRow, everyColumn };
}
