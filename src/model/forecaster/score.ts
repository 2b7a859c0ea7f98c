// How one-step predictions are scored: rows of the washout, and rows of which a value was filled
// and not measured, count for nothing.
import { ArgumentError } from "@spillway/core/errors.js";
import type { Matrix } from "@spillway/numerics";
import { nrmse } from "../../metrics/index.js";
import { measuredAlone } from "../../metrics/measured.js";
import { type CheckedData, cutRows } from "./data.js";

/** What is scored, and by what. */
export interface Scored {
  readonly target: Matrix;
  /** As many rows as the target: 1 where a value was filled; undefined if none can have been. */
  readonly filled: Matrix | undefined;
  readonly washout: number;
  readonly metric: ((target: Matrix, prediction: Matrix) => number) | undefined;
}

/** A series as one-step predictions are scored: what they are made from, and what they are of. */
export interface ScoredRows extends Pick<Scored, "target" | "filled"> {
  readonly inputs: Matrix;
}

/**
 * Rows 1 to T - 1 of a series, or all of them if something of each is known beforehand. @param mask
 * T x D: 1 where a value was filled
 */
export function scoredRows(data: CheckedData, mask: Matrix | undefined, isKnown: boolean, feedback = false): ScoredRows {
  const whole = isKnown && !feedback ? data.series : undefined;
  const { inputs, targets } = whole ? { inputs: whole, targets: whole } : cutRows(data, feedback);
  return { inputs, target: targets, filled: mask?.subarray(mask.rows - targets.rows) };
}

/**
 * Takes predictions of as many rows and gives their score. @throws ArgumentError if there is no row
 * to score, before anything is predicted; and what the metric throws
 */
export function scorerOf({ target, filled, washout, metric = nrmse }: Scored): (predicted: Matrix) => number {
  if (washout >= target.rows)
    throw ArgumentError.shape(`washout is ${washout} and there are ${target.rows} rows to score; it takes fewer`, {
      field: "washout",
      value: washout,
    });
  const came = filled?.data.includes(1) ? target.map((value, i) => (filled.data[i] === 1 ? Number.NaN : value)) : target;
  return (predicted) => {
    const measured = measuredAlone({ target: came.subarray(washout), prediction: predicted.subarray(washout) });
    if (measured.target.rows === 0)
      throw ArgumentError.because("of every row to score a value was missing; take predict, and a metric of the columns that you mean", {
        field: "series",
      });
    return metric(measured.target, measured.prediction);
  };
}
