// Fixed-step schemes for a scalar delay equation dx/dt = production(x(t - delay)) - decay x. Which
// parameters, history and sampling a user may ask for is decided in mackey-glass.ts.

/** The right-hand side, the start, and how many rows are wanted from time 0 on. */
export interface DelayProblem {
  readonly production: (delayed: number) => number;
  readonly decay: number;
  readonly initialState: number;
  readonly rows: number;
}

/**
 * Values before time 0, oldest first: the last one is `spacing` before 0, and the initial
 * state at 0.
 */
export interface History {
  readonly values: Float64Array;
  readonly spacing: number;
}

/**
 * Euler's method; the delay is `delay` steps, and every `every`-th value is kept. The history holds
 * `delay` values one step apart.
 */
export function delayedEuler(problem: DelayProblem, history: History, delay: number, step: number, every: number): Float64Array {
  const { production, decay, rows } = problem;
  return recurrence(problem, history, delay, every, rows, (x, delayed) => x + step * (production(delayed) - decay * x));
}

/**
 * ReservoirPy's recurrence: the stages of a Runge-Kutta step, multiplied by h only in the decay
 * term.
 */
export function delayedReservoirPy(problem: DelayProblem, history: History, delay: number, h: number): Float64Array {
  const { production, rows } = problem;
  const decay = -problem.decay * h;
  return recurrence(problem, history, delay, 1, rows, (x, delayed) => {
    const k1 = decay * x + production(delayed);
    const k2 = 2 * k1 + decay * k1;
    const k3 = 2 * k1 + decay * k2;
    const k4 = k1 + decay * k3;
    return x + (k1 + k2 + k3 + k4) / 6;
  });
}

function recurrence(
  { initialState }: DelayProblem,
  history: History,
  delay: number,
  every: number,
  rows: number,
  next: (x: number, delayed: number) => number,
): Float64Array {
  const out = new Float64Array(rows);
  const ring = history.values.slice();
  let x = initialState;
  for (let row = 0, k = 0; row < rows; row++) {
    out[row] = x;
    for (let i = 0; i < every; i++, k++) {
      const slot = delay === 0 ? 0 : k % delay;
      const delayed = delay === 0 ? x : ring[slot]!;
      if (delay > 0) ring[slot] = x;
      x = next(x, delayed);
    }
  }
  return out;
}

/**
 * The classical Runge-Kutta method of order 4 with `substeps` equal steps in `dt`, none longer than
 * the delay. A delayed value between two grid points is the cubic Hermite interpolant of their
 * values and slopes, one before time 0 is interpolated linearly in the history.
 */
export function delayedRungeKutta4(problem: DelayProblem, history: History, delay: number, dt: number, substeps: number): Float64Array {
  const { production, decay, initialState, rows } = problem;
  const h = dt / substeps;
  const exact = delay / h;
  const steps = Math.abs(exact - Math.round(exact)) < 1e-9 * exact ? Math.round(exact) : exact;
  const size = Math.ceil(steps) + 2;
  const values = new Float64Array(size);
  const slopes = new Float64Array(size);

  /** x at `position` steps after time 0, no later than the newest grid point. */
  const lookUp = (position: number): number => {
    if (position < 0) return beforeStart(history, initialState, position * h);
    const j = Math.floor(position);
    const theta = position - j;
    const left = j % size;
    if (theta === 0) return values[left]!;
    const right = (j + 1) % size;
    return hermite(theta, values[left]!, h * slopes[left]!, values[right]!, h * slopes[right]!);
  };

  const out = new Float64Array(rows);
  let x = initialState;
  for (let row = 0, k = 0; row < rows; row++) {
    out[row] = x;
    for (let i = 0; i < substeps; i++, k++) {
      values[k % size] = x;
      const k1 = production(lookUp(k - steps)) - decay * x;
      slopes[k % size] = k1;
      const middle = production(lookUp(k + 0.5 - steps));
      const k2 = middle - decay * (x + (h / 2) * k1);
      const k3 = middle - decay * (x + (h / 2) * k2);
      const k4 = production(lookUp(k + 1 - steps)) - decay * (x + h * k3);
      x = x + (h / 6) * (k1 + 2 * k2 + 2 * k3 + k4);
    }
  }
  return out;
}

/** The history at a time before 0, by straight lines between its values and the initial state. */
function beforeStart({ values, spacing }: History, initialState: number, time: number): number {
  const position = Math.max(0, values.length + time / spacing);
  const j = Math.floor(position);
  const right = j + 1 < values.length ? values[j + 1]! : initialState;
  const left = values[j] ?? initialState;
  return left + (position - j) * (right - left);
}

/** Cubic Hermite interpolation at `theta` in [0, 1]; slopes are per interval. */
function hermite(theta: number, left: number, leftSlope: number, right: number, rightSlope: number): number {
  const rest = 1 - theta;
  return rest * rest * ((1 + 2 * theta) * left + theta * leftSlope) + theta * theta * ((3 - 2 * theta) * right - rest * rightSlope);
}
