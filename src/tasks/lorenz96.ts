// The Lorenz system of 1996: a ring of variables of any number.
import { count, type InputOf, number, option, resolve } from "@spillway/core/options.js";
import type { Matrix } from "@spillway/numerics";
import { type FlowOptions, integrate } from "./integrate.js";
import { flowTable, optionalVectorOption, startOf } from "./options.js";
import { type SeriesTask, seriesTask } from "./task.js";

const table = {
  /** Number of variables, at least 4; default 36. */
  N: option(count(4, 100_000), 36, "number of variables"),
  /** Forcing; default 8. */
  F: option(number(), 8, "forcing"),
  /** What the first variable starts above F; default 0.01. */
  dF: option(number(), 0.01, "what the first variable starts above F"),
  /** The N variables at time 0; null for F everywhere and F + dF in the first. */
  initialState: optionalVectorOption("the N variables at time 0; left out: F, and F + dF in the first", "N numbers"),
  ...flowTable(0.01, 0.00125),
};

/** Size, forcing, start and integration of the Lorenz-96 system. */
export interface Lorenz96Options extends FlowOptions, InputOf<typeof table> {}

/**
 * The Lorenz-96 system (E. N. Lorenz 1996, "Predictability: a problem partly solved"), on a ring of
 * N variables:
 *
 *     dx_i/dt = (x_{i+1} - x_{i-2}) x_{i-1} - x_i + F,
 *
 * by the classical Runge-Kutta method of order 4. Row t is the state at time (discard + t) dt. From
 * the default start the attractor is reached after some 20 units of time. Defaults: N 36, F 8, dF
 * 0.01, dt 0.01, step 0.00125, discard 0, seed null.
 * @returns length x N.
 * @throws ArgumentError on options it does not take, and when the series diverges.
 */
export function lorenz96(length: number, options: Lorenz96Options = {}): Matrix<Float64Array> {
  const { N, F, dF, initialState, ...sampling } = resolve(table, options, "lorenz96");
  const start = startOf("lorenz96", initialState ?? Array.from({ length: N }, (_, i) => (i === 0 ? F + dF : F)), N);
  const derivative = (state: Float64Array, out: Float64Array) => {
    for (let i = 0; i < N; i++) {
      const next = state[i + 1 < N ? i + 1 : 0]!;
      const before = state[i >= 1 ? i - 1 : N - 1]!;
      const twoBefore = state[i >= 2 ? i - 2 : N - 2 + i]!;
      out[i] = (next - twoBefore) * before - state[i]! + F;
    }
  };
  return integrate("lorenz96", derivative, start, length, sampling);
}

export const lorenz96Task: SeriesTask = seriesTask("lorenz96", "Lorenz 1996: spatio-temporal chaos on a ring", table, lorenz96, [
  {
    value: 1.67,
    parameters: { N: 36, F: 8 },
    source: "measured: growth of a tangent vector over 100,000 units of time (Runge-Kutta 4, step 0.01)",
  },
  {
    value: 1.69,
    parameters: { N: 40, F: 8 },
    source: "measured: growth of a tangent vector over 10,000 units of time (Runge-Kutta 4, step 0.01)",
  },
]);
