// Fixed-step integration of ordinary differential equations in IEEE operations of one order. Delays
// and stiff partial differential equations have their own schemes, beside the systems that need
// them.
import type { Matrix, Seed } from "@spillway/numerics";
import { checkLength, stepsPer } from "./options.js";
import { taskStream } from "./streams.js";
import { finishedSeries } from "./task.js";

/** Writes dx/dt at `state` into `out`. */
export type Derivative = (state: Float64Array, out: Float64Array) => void;

/** How a system is sampled. */
export interface Sampling {
  /** Time between two rows. */
  readonly dt: number;
  /** Longest integration step. */
  readonly step: number;
  /** Rows left out at the start. */
  readonly discard: number;
  /** Moves the start; null leaves it where it is. */
  readonly seed: Seed | null;
}

/**
 * Integrates dx/dt = f(x) from `initialState` by the classical Runge-Kuta method of order 4 (Kutta
 * 1901) with n = ceil(dt / step) equal steps between two rows:
 *
 *     k1 = f(x), k2 = f(x + h/2 k1), k3 = f(x + h/2 k2), k4 = f(x + h k3), x' = x + h/6 (((k1 + 2 k2) + 2 k3) + k4), h = dt / n.
 *
 * Row 0 is the state at time discard * dt. With a seed, component i starts at initialState[i] + 0.1
 * (U_i - 0.5), U uniform in [0, 1): in chaos a series of its own, once `discard` rows have taken it
 * to the attractor.
 * @returns length x D.
 */
export function integrate(
  task: string,
  derivative: Derivative,
  initialState: readonly number[],
  length: number,
  sampling: Sampling,
): Matrix<Float64Array> {
  checkLength(task, length);
  const size = initialState.length;
  const steps = stepsPer(sampling.dt, sampling.step);
  const advance = rungeKutta4(derivative, size, sampling.dt / steps);
  const state = Float64Array.from(initialState);
  if (sampling.seed !== null) {
    const draws = taskStream("flow", sampling.seed);
    for (let i = 0; i < size; i++) state[i] = state[i]! + 0.1 * (draws.uniform(0, i) - 0.5);
  }
  const out = new Float64Array(length * size);
  for (let row = -sampling.discard; row < length; row++) {
    if (row >= 0) out.set(state, row * size);
    if (row < length - 1) for (let k = 0; k < steps; k++) advance(state);
  }
  return finishedSeries(task, size, out);
}

/** One step of the classical method in place. */
function rungeKutta4(derivative: Derivative, size: number, h: number): (state: Float64Array) => void {
  const k1 = new Float64Array(size);
  const k2 = new Float64Array(size);
  const k3 = new Float64Array(size);
  const k4 = new Float64Array(size);
  const at = new Float64Array(size);
  const half = h / 2;
  const sixth = h / 6;
  const move = (state: Float64Array, factor: number, slope: Float64Array) => {
    for (let i = 0; i < size; i++) at[i] = state[i]! + factor * slope[i]!;
  };
  return (state) => {
    derivative(state, k1);
    move(state, half, k1);
    derivative(at, k2);
    move(state, half, k2);
    derivative(at, k3);
    move(state, h, k3);
    derivative(at, k4);
    for (let i = 0; i < size; i++) state[i] = state[i]! + sixth * (k1[i]! + 2 * k2[i]! + 2 * k3[i]! + k4[i]!);
  };
}

/** The sampling options of a system. Its docstring gives the defaults of `dt` and `step`. */
export interface SamplingOptions {
  /** Time between two rows. */
  readonly dt?: number | undefined;
  /** Longest integration step: n = ceil(dt / step) equal steps are taken between two rows. */
  readonly step?: number | undefined;
  /** Rows left out at the start; default 0. */
  readonly discard?: number | undefined;
}

/** The sampling options of a system that starts at a point. */
export interface FlowOptions extends SamplingOptions {
  /**
   * Starts at initialState + 0.1 (U - 0.5) in each component; default null, initialState itself.
   */
  readonly seed?: Seed | null | undefined;
}
