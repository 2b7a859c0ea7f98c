// The Lorenz system of 1963.

import { type InputOf, number, option, resolve } from "@spillway/core/options.js";
import type { Matrix } from "@spillway/numerics";
import { type FlowOptions, integrate } from "./integrate.js";
import { flowTable, vectorOption } from "./options.js";
import { type SeriesTask, seriesTask, sprott } from "./task.js";

const table = {
  /** Prandtl number; default 10. */
  sigma: option(number(), 10, "Prandtl number"),
  /** Rayleigh number over its critical value; default 28. */
  rho: option(number(), 28, "Rayleigh number over its critical value"),
  /** Geometry of the convection cells; default 8/3. */
  beta: option(number(), 8 / 3, "geometry of the convection cells"),
  /** x, y, z at time 0. */
  initialState: vectorOption([1, 1, 1], "x, y, z at time 0"),
  ...flowTable(0.03, 0.0005),
};

/** Parameters, start and integration of the Lorenz system. */
export interface LorenzOptions extends FlowOptions, InputOf<typeof table> {}

/**
 * The Lorenz system (E. N. Lorenz 1963, "Deterministic nonperiodic flow", J. Atmos. Sci. 20,
 * equations 25-27):
 *
 *     dx/dt = sigma (y - x),  dy/dt = x (rho - z) - y,  dz/dt = x y - beta z,
 *
 * by the classical Runge-Kutta method of order 4. Row t is the state at time (discard + t) dt.
 * Defaults: sigma 10, rho 28, beta 8/3, initialState [1, 1, 1], dt 0.03, step 0.0005, discard 0,
 * seed null.
 * @returns length x 3.
 * @throws ArgumentError on options it does not take, and when the series diverges.
 */
export function lorenz(length: number, options: LorenzOptions = {}): Matrix<Float64Array> {
  const { sigma, rho, beta, initialState, ...sampling } = resolve(table, options, "lorenz");
  const derivative = (state: Float64Array, out: Float64Array) => {
    const [x = 0, y = 0, z = 0] = state;
    out[0] = sigma * (y - x);
    out[1] = x * (rho - z) - y;
    out[2] = x * y - beta * z;
  };
  return integrate("lorenz", derivative, initialState, length, sampling);
}

export const lorenzTask: SeriesTask = seriesTask("lorenz", "Lorenz 1963: a chaotic flow in three dimensions", table, lorenz, [
  { value: 0.9056, parameters: { sigma: 10, rho: 28, beta: 8 / 3 }, source: sprott },
]);
