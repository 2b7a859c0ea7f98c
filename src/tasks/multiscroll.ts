// Chen's double scroll, the simplest of the multiscroll attractors.

import { type InputOf, number, option, resolve } from "@spillway/core/options.js";
import type { Matrix } from "@spillway/numerics";
import { type FlowOptions, integrate } from "./integrate.js";
import { flowTable, vectorOption } from "./options.js";
import { type SeriesTask, seriesTask, sprott } from "./task.js";

const table = {
  /** Default 40. */
  a: option(number(), 40, "a of the equation"),
  /** Default 3. */
  b: option(number(), 3, "b of the equation"),
  /** Default 28. */
  c: option(number(), 28, "c of the equation"),
  /** x, y, z at time 0. */
  initialState: vectorOption([-0.1, 0.5, -0.6], "x, y, z at time 0"),
  ...flowTable(0.01, 0.00025),
};

/** Parameters, start and integration of the multiscroll attractor. */
export interface MultiscrollOptions extends FlowOptions, InputOf<typeof table> {}

/**
 * Chen's system (G. Chen, T. Ueta 1999, "Yet another chaotic attractor", Int. J. Bifurcation Chaos
 * 9(7)):
 *
 *     dx/dt = a (y - x),  dy/dt = (c - a) x - x z + c y,  dz/dt = x y - b z,
 *
 * by the classical Runge-Kutta method of order 4. Row t is the state at time (discard + t) dt.
 * Defaults: a 40, b 3, c 28, initialState [-0.1, 0.5, -0.6], dt 0.01, step 0.00025, discard 0, seed
 * null. Chen and Ueta's own a is 35.
 * @returns length x 3.
 * @throws ArgumentError on options it does not take, and when the series diverges.
 */
export function multiscroll(length: number, options: MultiscrollOptions = {}): Matrix<Float64Array> {
  const { a, b, c, initialState, ...sampling } = resolve(table, options, "multiscroll");
  const derivative = (state: Float64Array, out: Float64Array) => {
    const [x = 0, y = 0, z = 0] = state;
    out[0] = a * (y - x);
    out[1] = (c - a) * x - x * z + c * y;
    out[2] = x * y - b * z;
  };
  return integrate("multiscroll", derivative, initialState, length, sampling);
}

export const multiscrollTask: SeriesTask = seriesTask("multiscroll", "Chen 1999: a chaotic flow with two scrolls", table, multiscroll, [
  {
    value: 2.32,
    parameters: { a: 40, b: 3, c: 28 },
    source: "measured: growth of a tangent vector over 40,000 units of time (Runge-Kutta 4, step 0.0005)",
  },
  { value: 2.027, parameters: { a: 35, b: 3, c: 28 }, source: sprott },
]);
