// Minimisation of a smooth convex function by truncated Newton steps: conjugate gradients for the
// step, halving for its length. It knows nothing of readouts.

import { SpillwayError } from "@spillway/core/errors.js";
/** A twice differentiable convex function of `size` variables. */
export interface SmoothObjective {
  readonly size: number;
  /**
   * The value at a point, and its gradient written to `gradient`. The next two refer to the point
   * evaluated last.
   */
  evaluate(point: Float64Array, gradient: Float64Array): number;
  /** The Hessian times a direction, written to `out`. */
  curvature(direction: Float64Array, out: Float64Array): void;
  /**
   * An approximation of the inverse of the Hessian's diagonal, written to `out`; every value above
   * 0.
   */
  preconditioner(out: Float64Array): void;
}

export interface Minimum {
  readonly point: Float64Array;
  readonly value: number;
  readonly iterations: number;
  /** The largest element of the gradient. */
  readonly gradientNorm: number;
}

/** The gradient did not become small enough. */
export class NotConvergedError extends SpillwayError {
  override readonly name = "NotConvergedError";
  readonly iterations: number;
  readonly gradientNorm: number;
  constructor(iterations: number, gradientNorm: number, tolerance: number) {
    super(
      "numeric",
      `the fit did not converge: after ${iterations} Newton steps the gradient is ${gradientNorm.toExponential(2)} and must be at most ${tolerance.toExponential(2)}. Take a larger l2, tolerance or maxIterations`,
    );
    this.iterations = iterations;
    this.gradientNorm = gradientNorm;
  }
}

/**
 * A step is taken if it lowers the value by this share of what the slope promises (Nocedal and
 * Wright 2006, section 3.1).
 */
const sufficientDecrease = 1e-4;

/**
 * Truncated Newton (Nocedal and Wright 2006, Numerical Optimization, section 7.1), from `start`
 * (default 0) until the largest element of the gradient is at most `tolerance`. @throws
 * NotConvergedError
 */
export function minimiseByNewton(
  objective: SmoothObjective,
  tolerance: number,
  maxIterations: number,
  start: ArrayLike<number> = new Float64Array(objective.size),
): Minimum {
  const { size } = objective;
  let point = Float64Array.from(start);
  let gradient = new Float64Array(size);
  let nextPoint = new Float64Array(size);
  let nextGradient = new Float64Array(size);
  let value = objective.evaluate(point, gradient);
  for (let iteration = 0; ; iteration++) {
    const norm = largest(gradient);
    if (norm <= tolerance) return { point, value, iterations: iteration, gradientNorm: norm };
    if (iteration === maxIterations) throw new NotConvergedError(iteration, norm, tolerance);
    const direction = newtonDirection(objective, gradient);
    const slope = dot(direction, gradient);
    let length = 1;
    for (;;) {
      for (let i = 0; i < size; i++) nextPoint[i] = point[i]! + length * direction[i]!;
      const nextValue = objective.evaluate(nextPoint, nextGradient);
      const lower = nextValue <= value + sufficientDecrease * length * slope;
      const level = nextValue <= value + 4 * Number.EPSILON * Math.abs(value) && largest(nextGradient) < norm;
      if (lower || level) {
        value = nextValue;
        break;
      }
      length *= 0.5;
      if (length < 1e-12) throw new NotConvergedError(iteration, norm, tolerance);
    }
    [point, nextPoint] = [nextPoint, point];
    [gradient, nextGradient] = [nextGradient, gradient];
  }
}

/**
 * d with H d = -g to within min(1/2, sqrt |g|) |g|, by preconditioned conjugate gradients from 0.
 */
function newtonDirection(objective: SmoothObjective, gradient: Float64Array): Float64Array {
  const { size } = objective;
  const direction = new Float64Array(size);
  const inverse = new Float64Array(size);
  objective.preconditioner(inverse);
  const residual = gradient.map((value) => -value);
  const scaled = residual.map((value, i) => value * inverse[i]!);
  const search = scaled.slice();
  const product = new Float64Array(size);
  const norm = Math.sqrt(dot(gradient, gradient));
  const goal = Math.min(0.5, Math.sqrt(norm)) * norm;
  let energy = dot(residual, scaled);
  for (let iteration = 0; iteration < 10 * size; iteration++) {
    objective.curvature(search, product);
    const curvature = dot(search, product);
    if (!(curvature > 0)) break;
    const length = energy / curvature;
    for (let i = 0; i < size; i++) {
      direction[i] = direction[i]! + length * search[i]!;
      residual[i] = residual[i]! - length * product[i]!;
      scaled[i] = residual[i]! * inverse[i]!;
    }
    if (Math.sqrt(dot(residual, residual)) <= goal) break;
    const nextEnergy = dot(residual, scaled);
    for (let i = 0; i < size; i++) search[i] = scaled[i]! + (nextEnergy / energy) * search[i]!;
    energy = nextEnergy;
  }
  const started = direction.some((value) => value !== 0);
  return started ? direction : scaled.map((_, i) => -gradient[i]! * inverse[i]!);
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

function largest(values: Float64Array): number {
  let most = 0;
  for (let i = 0; i < values.length; i++) most = Math.max(most, Math.abs(values[i]!));
  return most;
}
