// Random rows from positions and values that numerics draws.
import { drawRows, type RandomStream, type SparseMatrix } from "@spillway/numerics";

/** Where random weights come from: U(-1, 1), N(0, 1), or -1 and 1 with equal chance. */
export type WeightDistribution = "uniform" | "normal" | "bernoulli";

/** CSR from a rule for the columns of each row (rising); entry m of row r has the draw (r, m). */
export function drawnSparse(
  size: number,
  columnsOf: (row: number) => ArrayLike<number>,
  values: RandomStream,
  distribution: WeightDistribution,
): SparseMatrix<Float64Array> {
  const pattern = sparseFromRows(size, size, columnsOf, () => 0);
  return { ...pattern, values: drawRows(values, distribution, pattern.rowOffsets) };
}

/**
 * CSR from a rule for the columns of each row (rising) and one for the value of the m-th entry of a
 * row.
 */
export function sparseFromRows(
  rows: number,
  cols: number,
  columnsOf: (row: number) => ArrayLike<number>,
  value: (row: number, m: number, column: number) => number,
): SparseMatrix<Float64Array> {
  const rowOffsets = new Uint32Array(rows + 1);
  let columns = new Uint32Array(Math.max(16, rows * 8));
  let values = new Float64Array(columns.length);
  let count = 0;
  for (let r = 0; r < rows; r++) {
    const row = columnsOf(r);
    if (count + row.length > columns.length) {
      const length = Math.ceil((count + row.length) * Math.min(2, 1.1 * (rows / (r + 1))));
      columns = grow(columns, new Uint32Array(length));
      values = grow(values, new Float64Array(length));
    }
    for (let m = 0; m < row.length; m++, count++) {
      columns[count] = row[m]!;
      values[count] = value(r, m, row[m]!);
    }
    rowOffsets[r + 1] = count;
  }
  return { rows, cols, rowOffsets, columns: columns.slice(0, count), values: values.slice(0, count) };
}

function grow<Data extends Uint32Array | Float64Array>(from: Data, to: Data): Data {
  to.set(from);
  return to;
}
