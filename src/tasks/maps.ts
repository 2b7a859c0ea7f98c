// Chaotic maps.
import { type InputOf, number, option, resolve } from "@spillway/core/options.js";
import type { Matrix } from "@spillway/numerics";
import { checkLength, discardOption, vectorOption } from "./options.js";
import { finishedSeries, type SeriesTask, seriesTask, sprott } from "./task.js";

const henonTable = {
  /** Default 1.4. */
  a: option(number(), 1.4, "a of the map"),
  /** Default 0.3. */
  b: option(number(), 0.3, "b of the map"),
  /** x and y of the first iterate. */
  initialState: vectorOption([0, 0], "x and y of the first iterate"),
  /** Iterates left out at the start. */
  discard: discardOption,
};

/** Parameters and start of the Hénon map. */
export interface HenonOptions extends InputOf<typeof henonTable> {}

/**
 * The Hénon map (M. Hénon 1976, "A two-dimensional mapping with a strange attractor", Comm. Math.
 * Phys. 50):
 *
 *     x' = 1 - a x^2 + y,  y' = b x.
 *
 * Defaults: a 1.4, b 0.3, initialState [0, 0], discard 0.
 * @returns length x 2.
 * @throws ArgumentError on options it does not take, and when the map diverges.
 */
export function henon(length: number, options: HenonOptions = {}): Matrix<Float64Array> {
  const { a, b, initialState, discard } = resolve(henonTable, options, "henon");
  checkLength("henon", length);
  const out = new Float64Array(2 * length);
  let [x, y] = initialState as readonly [number, number];
  for (let row = -discard; row < length; row++) {
    if (row >= 0) out.set([x, y], 2 * row);
    const next = 1 - a * (x * x) + y;
    y = b * x;
    x = next;
  }
  return finishedSeries("henon", 2, out);
}

export const henonTask: SeriesTask = seriesTask("henon", "Hénon 1976: a chaotic map of the plane", henonTable, henon, [
  { value: 0.4192, parameters: { a: 1.4, b: 0.3 }, source: sprott },
]);

const logisticTable = {
  /** Growth rate, above 0 and at most 4; default 3.9. */
  r: option(number({ above: 0, atMost: 4 }), 3.9, "growth rate"),
  /** The first iterate, between 0 and 1; default 0.5. */
  initialState: option(number({ above: 0, below: 1 }), 0.5, "the first iterate"),
  /** Iterates left out at the start; default 0. */
  discard: discardOption,
};

/** Parameters and start of the logistic map. */
export interface LogisticOptions extends InputOf<typeof logisticTable> {}

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
  const { r, initialState, discard } = resolve(logisticTable, options, "logistic");
  checkLength("logistic", length);
  const out = new Float64Array(length);
  let x = initialState;
  for (let row = -discard; row < length; row++) {
    if (row >= 0) out[row] = x;
    x = r * x * (1 - x);
  }
  return finishedSeries("logistic", 1, out);
}

export const logisticTask: SeriesTask = seriesTask("logistic", "Logistic map: chaos in one dimension", logisticTable, logistic, [
  { value: 0.496, parameters: { r: 3.9 }, source: "measured: mean of ln |r (1 - 2 x)| over 20,000,000 iterations" },
  { value: Math.LN2, parameters: { r: 4 }, source: "ln 2, exact: the map is conjugate to the tent map" },
]);
