// Known inputs of the rows of a series, beside the rows before them. The last row given waits for
// the known inputs of the next.
import { ArgumentError } from "@spillway/core/errors.js";
import type { Matrix } from "@spillway/numerics";
import { beside, checkColumns, lastRows } from "./data.js";

/**
 * @throws ArgumentError if known inputs are missing, were not asked for, or are of other columns
 */
export function checkKnown(known: Matrix | undefined, count: number, name: string): void {
  if (count > 0 && !known)
    throw ArgumentError.because(`${name} is missing; this forecaster takes ${count} known inputs a row`, { field: "known" });
  if (count === 0 && known)
    throw ArgumentError.because(`${name} was given; this forecaster was trained without known inputs`, { field: "known" });
  if (known) checkColumns(known, name, count);
}

/**
 * The inputs of one-step predictions of rows that go on from the last one of `recent`: each row
 * before them, beside what is known of themselves. @throws ArgumentError
 */
export function inputsBefore(rows: Matrix, known: Matrix, recent: Matrix): Matrix {
  if (known.rows !== rows.rows)
    throw ArgumentError.shape(`known has ${known.rows} rows and inputs has ${rows.rows}; they take the same number`, { field: "known" });
  return beside(lastRows(rows.rows, pendingRow(recent), rows.subarray(0, rows.rows - 1)), known);
}

/** The last row of a series, which waits for what is known of the next. @throws ArgumentError */
export function pendingRow(recent: Matrix): Matrix<Float64Array> {
  if (recent.rows === 0) throw noRow();
  return lastRows(1, recent);
}

/**
 * Refuses a warm-up that is too short to show the season that a member follows.
 * @param least rows that show it
 * @throws ArgumentError
 */
export function checkShowsSeason(rows: number, least: number, member: string, season: number): void {
  if (rows < least)
    throw ArgumentError.shape(`${rows} rows were seen; ${member} with a season of ${season} rows takes at least ${least}, in warmup`, {
      field: "warmup",
    });
}

/** Why nothing is forecast after a reset. */
export function noRow(): ArgumentError {
  return ArgumentError.because("there is no row to go on from after a reset; give warmup", { field: "warmup" });
}
