// The Rabinovich-Fabrikant system.

import { type InputOf, number, option, resolve } from "@spillway/core/options.js";
import type { Matrix } from "@spillway/numerics";
import { integrate, type SamplingOptions } from "./integrate.js";
import { samplingTable, vectorOption } from "./options.js";
import { type SeriesTask, seriesTask } from "./task.js";

const table = {
  /** Default 1.1. */
  alpha: option(number(), 1.1, "alpha of the equation"),
  /** Default 0.87. */
  gamma: option(number(), 0.87, "gamma of the equation"),
  /** x, y, z at time 0. */
  initialState: vectorOption([-1, 0, 0.5], "x, y, z at time 0"),
  ...samplingTable(0.05, 0.00125),
};

/** Parameters, start and integration of the Rabinovich-Fabrikant equations. */
export interface RabinovichFabrikantOptions extends SamplingOptions, InputOf<typeof table> {}

/**
 * The Rabinovich-Fabrikant equations (M. I. Rabinovich, A. L. Fabrikant 1979, "Stochastic
 * self-modulation of waves in nonequilibrium media", Sov. Phys. JETP 50):
 *
 *     dx/dt = y (z - 1 + x^2) + gamma x,  dy/dt = x (3 z + 1 - x^2) + gamma y,  dz/dt = -2 z (alpha + x y),
 *
 * by the classical Runge-Kutta method of order 4. Row t is the state at time (discard + t) dt. With
 * gamma 0.89, the default of ReservoirPy, the series from this start leaves for infinity at time
 * 67.6. Defaults: alpha 1.1, gamma 0.87, initialState [-1, 0, 0.5], dt 0.05, step 0.00125, discard
 * 0.
 * @returns length x 3.
 * @throws ArgumentError on options it does not take, and when the series diverges.
 */
export function rabinovichFabrikant(length: number, options: RabinovichFabrikantOptions = {}): Matrix<Float64Array> {
  const { alpha, gamma, initialState, ...sampling } = resolve(table, options, "rabinovichFabrikant");
  const derivative = (state: Float64Array, out: Float64Array) => {
    const [x = 0, y = 0, z = 0] = state;
    const square = x * x;
    out[0] = y * (z - 1 + square) + gamma * x;
    out[1] = x * (3 * z + 1 - square) + gamma * y;
    out[2] = -2 * z * (alpha + x * y);
  };
  return integrate("rabinovichFabrikant", derivative, initialState, length, { ...sampling, seed: null });
}

export const rabinovichFabrikantTask: SeriesTask = seriesTask(
  "rabinovichFabrikant",
  "Rabinovich-Fabrikant 1979: waves in a nonequilibrium medium, three dimensions",
  table,
  rabinovichFabrikant,
  [
    {
      value: 0.199,
      parameters: { alpha: 1.1, gamma: 0.87 },
      source: "measured: growth of a tangent vector over 200,000 units of time (Runge-Kutta 4, step 0.0025)",
    },
  ],
);
