// Chaotic flows by their equations, integrated by the classical Runge-Kutta method.
import { count, type InputOf, number, option, resolve } from "@spillway/core/options.js";
import { type Matrix, portableExp } from "@spillway/numerics";
import { type FlowOptions, integrate, type SamplingOptions } from "./integrate.js";
import { flowTable, optionalVectorOption, samplingTable, startOf, vectorOption } from "./options.js";
import { type SeriesTask, seriesTask, sprott } from "./task.js";

/** Where an exponent of the project's own comes from. */
const measured = (time: string, step: number): string =>
  `measured: growth of a tangent vector over ${time} units of time (Runge-Kutta 4, step ${step})`;

const lorenzTable = {
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
export interface LorenzOptions extends FlowOptions, InputOf<typeof lorenzTable> {}

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
  const { sigma, rho, beta, initialState, ...sampling } = resolve(lorenzTable, options, "lorenz");
  const derivative = (state: Float64Array, out: Float64Array) => {
    const [x = 0, y = 0, z = 0] = state;
    out[0] = sigma * (y - x);
    out[1] = x * (rho - z) - y;
    out[2] = x * y - beta * z;
  };
  return integrate("lorenz", derivative, initialState, length, sampling);
}

export const lorenzTask: SeriesTask = seriesTask("lorenz", "Lorenz 1963: a chaotic flow in three dimensions", lorenzTable, lorenz, [
  { value: 0.9056, parameters: { sigma: 10, rho: 28, beta: 8 / 3 }, source: sprott },
]);

const rosslerTable = {
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
export interface RosslerOptions extends FlowOptions, InputOf<typeof rosslerTable> {}

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
  const { a, b, c, initialState, ...sampling } = resolve(rosslerTable, options, "rossler");
  const derivative = (state: Float64Array, out: Float64Array) => {
    const [x = 0, y = 0, z = 0] = state;
    out[0] = -y - z;
    out[1] = x + a * y;
    out[2] = b + z * (x - c);
  };
  return integrate("rossler", derivative, initialState, length, sampling);
}

export const rosslerTask: SeriesTask = seriesTask("rossler", "Rössler 1976: a chaotic flow with one folded band", rosslerTable, rossler, [
  { value: 0.0714, parameters: { a: 0.2, b: 0.2, c: 5.7 }, source: sprott },
]);

const multiscrollTable = {
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
export interface MultiscrollOptions extends FlowOptions, InputOf<typeof multiscrollTable> {}

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
  const { a, b, c, initialState, ...sampling } = resolve(multiscrollTable, options, "multiscroll");
  const derivative = (state: Float64Array, out: Float64Array) => {
    const [x = 0, y = 0, z = 0] = state;
    out[0] = a * (y - x);
    out[1] = (c - a) * x - x * z + c * y;
    out[2] = x * y - b * z;
  };
  return integrate("multiscroll", derivative, initialState, length, sampling);
}

export const multiscrollTask: SeriesTask = seriesTask(
  "multiscroll",
  "Chen 1999: a chaotic flow with two scrolls",
  multiscrollTable,
  multiscroll,
  [
    { value: 2.32, parameters: { a: 40, b: 3, c: 28 }, source: measured("40,000", 0.0005) },
    { value: 2.027, parameters: { a: 35, b: 3, c: 28 }, source: sprott },
  ],
);

const rabinovichFabrikantTable = {
  /** Default 1.1. */
  alpha: option(number(), 1.1, "alpha of the equation"),
  /** Default 0.87. */
  gamma: option(number(), 0.87, "gamma of the equation"),
  /** x, y, z at time 0. */
  initialState: vectorOption([-1, 0, 0.5], "x, y, z at time 0"),
  ...samplingTable(0.05, 0.00125),
};

/** Parameters, start and integration of the Rabinovich-Fabrikant equations. */
export interface RabinovichFabrikantOptions extends SamplingOptions, InputOf<typeof rabinovichFabrikantTable> {}

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
  const { alpha, gamma, initialState, ...sampling } = resolve(rabinovichFabrikantTable, options, "rabinovichFabrikant");
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
  rabinovichFabrikantTable,
  rabinovichFabrikant,
  [{ value: 0.199, parameters: { alpha: 1.1, gamma: 0.87 }, source: measured("200,000", 0.0025) }],
);

const doubleScrollTable = {
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
export interface DoubleScrollOptions extends FlowOptions, InputOf<typeof doubleScrollTable> {}

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
  const { r1, r2, r4, ir, beta, initialState, ...sampling } = resolve(doubleScrollTable, options, "doubleScroll");
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
  doubleScrollTable,
  doubleScroll,
  [{ value: 0.092, parameters: { r1: 1.2, r2: 3.44, r4: 0.193, ir: 4.5e-5, beta: 11.6 }, source: measured("400,000", 0.005) }],
);

const lorenz96Table = {
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
export interface Lorenz96Options extends FlowOptions, InputOf<typeof lorenz96Table> {}

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
  const { N, F, dF, initialState, ...sampling } = resolve(lorenz96Table, options, "lorenz96");
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

export const lorenz96Task: SeriesTask = seriesTask("lorenz96", "Lorenz 1996: spatio-temporal chaos on a ring", lorenz96Table, lorenz96, [
  { value: 1.67, parameters: { N: 36, F: 8 }, source: measured("100,000", 0.01) },
  { value: 1.69, parameters: { N: 40, F: 8 }, source: measured("10,000", 0.01) },
]);
