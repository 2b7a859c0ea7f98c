// The double-scroll electronic circuit.

import { type InputOf, number, option, resolve } from "@spillway/core/options.js";
import { type Matrix, portableExp } from "@spillway/numerics";
import { type FlowOptions, integrate } from "./integrate.js";
import { flowTable, vectorOption } from "./options.js";
import { type SeriesTask, seriesTask } from "./task.js";

const table = {
  /** Resistance R1; default 1.2. */
  r1: option(number({ above: 0 }), 1.2, "resistance R1"),
  /** Resistance R2; default 3.44. */
  r2: option(number({ above: 0 }), 3.44, "resistance R2"),
  /** Resistance R4; default 0.193. */
  r4: option(number(), 0.193, "resistance R4"),
  /** Twice the diodes' saturation current I_r; default 4.5e-5. */
  ir: option(number(), 4.5e-5, "2 I_r, twice the saturation current of the diodes"),
  /** Steepness of the diodes; default 11.6. */
  beta: option(number(), 11.6, "steepness of the diodes"),
  /** V1, V2, I at time 0. */
  initialState: vectorOption([0.37926545, 0.058339, -0.08167691], "V1, V2, I at time 0"),
  ...flowTable(0.25, 0.005),
};

/** Circuit, start and integration of the double-scroll attractor. */
export interface DoubleScrollOptions extends FlowOptions, InputOf<typeof table> {}

/**
 * The double-scroll circuit in dimensionless form (A. Chang et al. 1998, Chaos 8, 782-790), with
 * the parameters of D. J. Gauthier et al. 2021, "Next generation reservoir computing", Nat. Commun.
 * 12:
 *
 *     dV1/dt = V1/r1 - dV/r2 - ir sinh(beta dV),  dV2/dt = dV/r2 + ir sinh(beta dV) - I,  dI/dt = V2 - r4 I,  dV = V1 - V2,
 *
 * by the classical Runge-Kutta method of order 4. Row t is the state at time (discard + t) dt.
 * Defaults: r1 1.2, r2 3.44, r4 0.193, ir 4.5e-5, beta 11.6, initialState [0.37926545, 0.058339,
 * -0.08167691], dt 0.25, step 0.005, discard 0, seed null.
 * @returns length x 3.
 * @throws ArgumentError on options it does not take, and when the series diverges.
 */
export function doubleScroll(length: number, options: DoubleScrollOptions = {}): Matrix<Float64Array> {
  const { r1, r2, r4, ir, beta, initialState, ...sampling } = resolve(table, options, "doubleScroll");
  const derivative = (state: Float64Array, out: Float64Array) => {
    const [v1 = 0, v2 = 0, i = 0] = state;
    const dv = v1 - v2;
    const grown = portableExp(beta * dv);
    const current = dv / r2 + ir * (0.5 * (grown - 1 / grown));
    out[0] = v1 / r1 - current;
    out[1] = current - i;
    out[2] = v2 - r4 * i;
  };
  return integrate("doubleScroll", derivative, initialState, length, sampling);
}

export const doubleScrollTask: SeriesTask = seriesTask(
  "doubleScroll",
  "Double-scroll circuit: a chaotic electronic oscillator",
  table,
  doubleScroll,
  [
    {
      value: 0.092,
      parameters: { r1: 1.2, r2: 3.44, r4: 0.193, ir: 4.5e-5, beta: 11.6 },
      source: "measured: growth of a tangent vector over 400,000 units of time (Runge-Kutta 4, step 0.005)",
    },
  ],
);
