// The Rössler system.

import { type InputOf, number, option, resolve } from "@spillway/core/options.js";
import type { Matrix } from "@spillway/numerics";
import { type FlowOptions, integrate } from "./integrate.js";
import { flowTable, vectorOption } from "./options.js";
import { type SeriesTask, seriesTask, sprott } from "./task.js";

const table = {
  /** Default 0.2. */
  a: option(number(), 0.2, "a of the equation"),
  /** Default 0.2. */
  b: option(number(), 0.2, "b of the equation"),
  /** Default 5.7. */
  c: option(number(), 5.7, "c of the equation"),
  /** x, y, z at time 0. */
  initialState: vectorOption([-0.1, 0, 0.02], "x, y, z at time 0"),
  ...flowTable(0.1, 0.0025),
};

/** Parameters, start and integration of the Rössler system. */
export interface RosslerOptions extends FlowOptions, InputOf<typeof table> {}

/**
 * The Rössler system (O. E. Rössler 1976, "An equation for continuous chaos", Phys. Lett. A 57):
 *
 *     dx/dt = -y - z,  dy/dt = x + a y,  dz/dt = b + z (x - c),
 *
 * by the classical Runge-Kutta method of order 4. Row t is the state at time (discard + t) dt. From
 * the default start the series needs about 60 units of time to reach the attractor. Defaults: a
 * 0.2, b 0.2, c 5.7, initialState [-0.1, 0, 0.02], dt 0.1, step 0.0025, discard 0, seed null.
 * @returns length x 3.
 * @throws ArgumentError on options it does not take, and when the series diverges.
 */
export function rossler(length: number, options: RosslerOptions = {}): Matrix<Float64Array> {
  const { a, b, c, initialState, ...sampling } = resolve(table, options, "rossler");
  const derivative = (state: Float64Array, out: Float64Array) => {
    const [x = 0, y = 0, z = 0] = state;
    out[0] = -y - z;
    out[1] = x + a * y;
    out[2] = b + z * (x - c);
  };
  return integrate("rossler", derivative, initialState, length, sampling);
}

export const rosslerTask: SeriesTask = seriesTask("rossler", "Rössler 1976: a chaotic flow with one folded band", table, rossler, [
  { value: 0.0714, parameters: { a: 0.2, b: 0.2, c: 5.7 }, source: sprott },
]);
