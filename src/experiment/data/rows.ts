// The rows of a table that belong together, and some rows of a matrix.
import { Matrix } from "@spillway/numerics";

/** The rows of each group, in the order of their first rows. */
export function rowsByGroup<Group>(groups: readonly Group[]): ReadonlyMap<Group, readonly number[]> {
  const rows = new Map<Group, number[]>(groups.map((group) => [group, []]));
  for (const [row, group] of groups.entries()) rows.get(group)!.push(row);
  return rows;
}

/** Some rows of a matrix, as a copy. */
export function rowsAt(matrix: Matrix, rows: readonly number[]): Matrix<Float64Array> {
  const out = Matrix.zeros(rows.length, matrix.cols);
  for (const [k, row] of rows.entries()) out.data.set(matrix.row(row), k * matrix.cols);
  return out;
}
