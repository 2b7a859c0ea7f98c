// Where forecasts start that choose a setting: inside the training part, never behind it.
import { ArgumentError } from "@spillway/core/errors.js";

/** The share of the training rows that validates, and the most starts there. */
export const validationShare = 0.25;
export const validationCount = 25;

/** The rows that are fitted before validation, and where its forecasts start. */
export interface ValidationStarts {
  /** T1: rows 0 to T1 - 1 are fitted. */
  readonly fitted: number;
  /**
   * a_k = T1 + floor(k (T - H - T1) / (S - 1)), k = 0 .. S - 1: a forecast is of rows a_k to a_k +
   * H - 1.
   */
  readonly starts: readonly number[];
}

/**
 * The last quarter of T training rows validates, from at most S = 25 starts evenly over it, of
 * which the last forecasts the last H rows; fewer if not as many fit.
 * @param least the rows that fitting takes.
 * @throws ArgumentError if too few rows are left to fit, or none to validate.
 */
export function validationStarts(rows: number, horizon: number, least: number): ValidationStarts {
  const fitted = Math.floor((1 - validationShare) * rows);
  const fitting = rows - horizon - fitted + 1;
  if (fitting < 1 || fitted < least)
    throw ArgumentError.shape(
      `a horizon of ${horizon} steps takes more training rows than ${rows}: the last quarter of them validates forecasts of it, and the rest, ${fitted} rows, is fitted, which takes ${least}; give more rows or a shorter horizon`,
      { field: "horizon", value: horizon },
    );
  return { fitted, starts: startsBetween(fitted, rows - horizon, validationCount) };
}

/** At most `most` starts, evenly from row `first` to row `last`, both among them. */
export function startsBetween(first: number, last: number, most: number): number[] {
  const count = Math.min(most, last - first + 1);
  return Array.from({ length: count }, (_, k) => first + (count > 1 ? Math.floor((k * (last - first)) / (count - 1)) : 0));
}
