// The Mackey-Glass delay differential equation.
import { ArgumentError } from "@spillway/core/errors.js";
import { choice, flag, type InputOf, number, option, type Resolved, resolve } from "@spillway/core/options.js";
import { type Matrix, portablePow, portableTanh } from "@spillway/numerics";
import { type DelayProblem, delayedEuler, delayedReservoirPy, delayedRungeKutta4, type History } from "./mackey-glass-schemes.js";
import { checkLength, discardOption, optionalSeedOption, optionalVectorOption, stepsPer, wholeSteps } from "./options.js";
import { taskStream } from "./streams.js";
import { finishedSeries, type SeriesTask, seriesTask } from "./task.js";

const table = {
  /** The delay, in units of time; default 17. */
  tau: option(number({ above: 0 }), 17, "delay"),
  /** Production rate; default 0.2. */
  a: option(number(), 0.2, "production rate"),
  /** Decay rate; default 0.1. */
  b: option(number(), 0.1, "decay rate"),
  /** Exponent; default 10. */
  n: option(number({ above: 0 }), 10, "exponent"),
  /** x at time 0; default 1.2. */
  initialState: option(number(), 1.2, "x at time 0"),
  /**
   * x before time 0, oldest first, at equal distances that end one distance before 0; the most
   * recent ones are used.
   */
  history: optionalVectorOption("x before time 0, oldest first, the last one sample before 0; left out: by seed, else constant"),
  /**
   * Where `history` is not given: a random history initialState + 0.2 (U - 0.5); null for a
   * constant one.
   */
  seed: optionalSeedOption("draws the history: initialState + 0.2 (U - 0.5); null for a constant one"),
  /** Time between two rows; default 1. */
  dt: option(number({ above: 0 }), 1, "time between two samples"),
  /** Longest integration step ("rk4"); the integration step ("euler"); default 0.1. */
  step: option(number({ above: 0 }), 0.1, "integration step: the longest (rk4) or the step itself (euler)"),
  /** Default "rk4". "euler" with step 0.1 is the series of Jaeger 2001. */
  method: option(choice("rk4", "euler"), "rk4", "rk4 is accurate; euler with step 0.1 is the series of Jaeger 2001"),
  /** Whether the series is passed through y -> tanh(y - 1); default false. */
  squash: option(flag, false, "y -> tanh(y - 1), as Jaeger 2001 does"),
  /** Rows left out at the start; default 0. */
  discard: discardOption,
  /**
   * "reservoirpy" for that package's recurrence, which is not a solution of the equation; default
   * "none".
   */
  compat: option(choice("none", "reservoirpy"), "none", "the recurrence of ReservoirPy, for comparisons with it"),
};

/** Parameters, start and integration of the Mackey-Glass equation. */
export interface MackeyGlassOptions extends InputOf<typeof table> {}

/**
 * The Mackey-Glass equation (M. C. Mackey, L. Glass 1977, "Oscillation and chaos in physiological
 * control systems", Science 197):
 *
 *     dx/dt = a x(t - tau) / (1 + x(t - tau)^n) - b x(t).
 *
 * Row t is x at time (discard + t) dt. Ways to get there:
 *
 * - `method: "rk4"`, the default: the classical Runge-Kutta method of order 4 with equal steps,
 *   none longer than `step`, that divide dt, and tau too if they can. A delayed value is a grid
 *   value or, between two of them, the cubic Hermite interpolant of their values and slopes, which
 *   keeps order 4. History values are `dt` apart and joined by straight lines.
 * - `method: "euler"`: x(t + step) = x(t) + step f(x(t), x(t - tau)) and every (dt / step)-th
 *   value, tau and dt whole multiples of step. With step 0.1, dt 1, `squash: true` and a seed this
 *   is the series of H. Jaeger 2001, "The echo state approach", GMD report 148, section 6. History
 *   values are `step` apart.
 * - `compat: "reservoirpy"`: with h = dt, floor(tau / h) history values h apart, and
 *   g = a x(t - tau) / (1 + x(t - tau)^n),
 *
 *       k1 = g - b h x,  k2 = 2 k1 - b h k1,  k3 = 2 k1 - b h k2,  k4 = k1 - b h k3,  x(t + h) = x + (k1 + k2 + k3 + k4) / 6;
 *
 *   `method` and `step` are not used. From a history of 1.2: 1.2, 1.120171961, 1.047700076, where the equation has 1.2, 1.117562, 1.042969.
 *
 * Defaults: tau 17, a 0.2, b 0.1, n 10, initialState 1.2 with a constant history, dt 1, step 0.1.
 * @returns length x 1.
 * @throws ArgumentError on options it does not take, a history that is too short, and when the
 * series diverges.
 */
export function mackeyGlass(length: number, options: MackeyGlassOptions = {}): Matrix<Float64Array> {
  const settings = resolve(table, options, "mackeyGlass");
  checkLength("mackeyGlass", length);
  const { a, b, n, dt, discard, initialState } = settings;
  const power = powerOf(n);
  const problem: DelayProblem = {
    production: (delayed) => (a * delayed) / (1 + power(delayed)),
    decay: b,
    initialState,
    rows: discard + length,
  };
  const series = solve(problem, settings).subarray(discard);
  if (settings.squash) for (let t = 0; t < length; t++) series[t] = portableTanh(series[t]! - 1);
  return finishedSeries("mackeyGlass", 1, series.slice());

  function solve(problem: DelayProblem, { tau, step, method, compat }: Resolved<typeof table>): Float64Array {
    if (compat === "reservoirpy") {
      const delay = Math.floor(tau / dt);
      return delayedReservoirPy(problem, historyOf(settings, delay, dt), delay, dt);
    }
    if (method === "euler") {
      const every = wholeSteps(dt, step);
      const delay = wholeSteps(tau, step);
      if (every === undefined || delay === undefined) {
        const [name, value] = every === undefined ? ["dt", dt] : ["tau", tau];
        throw ArgumentError.because(`${name} is ${value}; with method "euler" it takes a multiple of step, ${step}`, {
          of: "mackeyGlass",
          field: name,
          value,
        });
      }
      return delayedEuler(problem, historyOf(settings, delay, step), delay, step, every);
    }
    return delayedRungeKutta4(problem, historyOf(settings, stepsPer(tau, dt), dt), tau, dt, substepsFor(dt, Math.min(step, tau), tau));
  }
}

/**
 * The fewest equal steps between two rows, none longer than `step`, of which the delay is a whole
 * number. The slope jumps at time 0 and the curvature at time tau: order 4 needs both on the grid.
 * If 50 times the steps are not enough, the fewest steps that `step` allows.
 */
function substepsFor(dt: number, step: number, tau: number): number {
  const fewest = stepsPer(dt, step);
  for (let steps = fewest; steps <= 50 * fewest; steps++) if (wholeSteps(tau, dt / steps) !== undefined) return steps;
  return fewest;
}

/** The `count` values before time 0, `spacing` apart. */
function historyOf({ history, seed, initialState, tau }: Resolved<typeof table>, count: number, spacing: number): History {
  if (history !== null) {
    if (history.length < count) {
      throw ArgumentError.shape(`history holds ${history.length} values; a delay of ${tau} takes at least ${count}, ${spacing} apart`, {
        of: "mackeyGlass",
        field: "history",
        value: history,
      });
    }
    return { values: Float64Array.from(history.slice(history.length - count)), spacing };
  }
  if (seed === null) return { values: new Float64Array(count).fill(initialState), spacing };
  const stream = taskStream("mackeyGlass", seed);
  return { values: Float64Array.from({ length: count }, (_, i) => initialState + 0.2 * (stream.uniform(0, i) - 0.5)), spacing };
}

/** x -> x^n: by repeated squaring for whole n, which also takes a negative x. */
function powerOf(n: number): (x: number) => number {
  if (!Number.isSafeInteger(n)) return (x) => portablePow(x, n);
  return (x) => {
    let result = 1;
    for (let base = x, rest = n; rest > 0; rest = Math.floor(rest / 2), base *= base) if (rest % 2 === 1) result *= base;
    return result;
  };
}

export const mackeyGlassTask: SeriesTask = seriesTask(
  "mackeyGlass",
  "Mackey-Glass 1977: a delay differential equation, mildly chaotic at tau 17",
  table,
  mackeyGlass,
  [
    {
      value: 0.00513,
      parameters: { tau: 17, a: 0.2, b: 0.1, n: 10 },
      source: "measured: growth of a tangent function over 3,000,000 units of time (Runge-Kutta 4, step 0.1)",
    },
    {
      value: 0.0071,
      parameters: { tau: 30, a: 0.2, b: 0.1, n: 10 },
      source: "measured: growth of a tangent function over 1,000,000 units of time (Runge-Kutta 4, step 0.1)",
    },
  ],
);
