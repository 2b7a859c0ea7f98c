// The logistic map.

import { type InputOf, number, option, resolve } from "@spillway/core/options.js";
import type { Matrix } from "@spillway/numerics";
import { checkLength, discardOption } from "./options.js";
import { finishedSeries, type SeriesTask, seriesTask } from "./task.js";

const table = {
  /** Growth rate, above 0 and at most 4; default 3.9. */
  r: option(number({ above: 0, atMost: 4 }), 3.9, "growth rate"),
  /** The first iterate, between 0 and 1; default 0.5. */
  initialState: option(number({ above: 0, below: 1 }), 0.5, "the first iterate"),
  /** Iterates left out at the start; default 0. */
  discard: discardOption,
};

/** Parameters and start of the logistic map. */
export interface LogisticOptions extends InputOf<typeof table> {}

/**
 * The logistic map (R. M. May 1976, "Simple mathematical models with very complicated dynamics",
 * Nature 261):
 *
 *     x' = r x (1 - x).
 *
 * Defaults: r 3.9, initialState 0.5, discard 0. With r = 4 a start of 0.5 falls on the fixed point
 * 0 after two iterations.
 * @returns length x 1.
 * @throws ArgumentError on options it does not take.
 */
export function logistic(length: number, options: LogisticOptions = {}): Matrix<Float64Array> {
  const { r, initialState, discard } = resolve(table, options, "logistic");
  checkLength("logistic", length);
  const out = new Float64Array(length);
  let x = initialState;
  for (let row = -discard; row < length; row++) {
    if (row >= 0) out[row] = x;
    x = r * x * (1 - x);
  }
  return finishedSeries("logistic", 1, out);
}

export const logisticTask: SeriesTask = seriesTask("logistic", "Logistic map: chaos in one dimension", table, logistic, [
  { value: 0.496, parameters: { r: 3.9 }, source: "measured: mean of ln |r (1 - 2 x)| over 20,000,000 iterations" },
  { value: Math.LN2, parameters: { r: 4 }, source: "ln 2, exact: the map is conjugate to the tent map" },
]);
