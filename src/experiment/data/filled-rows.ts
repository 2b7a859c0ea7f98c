// Which values of a table were filled, once its gaps in time are closed.
import { Matrix } from "@spillway/numerics";
import type { TimeAxis } from "../../series/index.js";

/**
 * Of rows without gaps: 1 where a value was missing in the file, or its row was, else 0; and how
 * many rows of the file they hold.
 * @param filled of the rows of the file, with their times. @param from the first of them.
 */
export function filledCells(
  filled: Matrix,
  { wall }: TimeAxis,
  closed: TimeAxis,
  from: number,
): { readonly cells: Matrix<Float64Array>; readonly read: number } {
  const cells = Matrix.zeros(closed.wall.length, filled.cols);
  let read = 0;
  for (const [row, time] of closed.wall.entries()) {
    if (time !== wall[from + read]) cells.row(row).fill(1);
    else cells.row(row).set(filled.row(from + read++));
  }
  return { cells, read };
}
