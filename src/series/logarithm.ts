// The logarithm of data: it names the row that has none.
import { ArgumentError } from "@spillway/core/errors.js";
import { portableLog } from "@spillway/numerics";

/** ln of a value above 0; a missing one (NaN) stays missing. */
export function logarithm(value: number, row: number, col: number, what: string): number {
  if (value <= 0)
    throw ArgumentError.because(
      `${what} takes values above 0; row ${row}, column ${col} gives ${value}; add a constant by { log: c }, or leave the transform out`,
      { field: "transforms" },
    );
  return portableLog(value);
}
