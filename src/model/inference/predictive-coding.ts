// A predictive-coding filter: what is behind observations of a linear Gaussian process, found by
// descent on two prediction errors. Its fixed point is the Kalman filter's mean.
import { ArgumentError, SpillwayError } from "@spillway/core/errors.js";
import { checkedLater, given, type InputOf, number, option, optional, resolve, whole } from "@spillway/core/options.js";
import { identityMatrix, Matrix, type MatrixLike, solveSquare, symmetricEigen, transposed } from "@spillway/numerics";
import { anySeries } from "../../reservoir/inputs.js";
import { product, symmetrised } from "../conceptor/products.js";

const matrix = (what: string) => given(checkedLater<MatrixLike>("a matrix"), what);

export const predictiveCodingTable = {
  /** A, n x n. */
  transition: matrix("A, n x n."),
  /** C, m x n. */
  observation: matrix("C, m x n."),
  /** Q, n x n, symmetric and positive definite. */
  processNoise: matrix("Q, n x n, symmetric and positive definite."),
  /** R, m x m, symmetric and positive definite. */
  observationNoise: matrix("R, m x m, symmetric and positive definite."),
  /** The mean before the first observation, 1 x n; default zeros. */
  mean: optional(checkedLater<MatrixLike>("a row of n numbers"), "The mean before the first observation; left out, zeros."),
  /** Its covariance, n x n; default the identity. */
  covariance: optional(checkedLater<MatrixLike>("a matrix"), "Its covariance, n x n; left out, the identity."),
  /** Descent ends if no part of the gradient is larger; default 1e-10. */
  tolerance: option(number({ above: 0 }), 1e-10, "Descent ends if no part of the gradient is larger."),
  /** Most steps of descent for an observation; default 100,000. */
  maxSteps: option(whole({ atLeast: 1, atMost: 10_000_000 }), 100_000, "Most steps of descent for an observation."),
};

/**
 * A linear Gaussian process x(t+1) = A x(t) + noise of covariance Q, seen as y = C x + noise of R.
 */
export interface PredictiveCodingOptions extends InputOf<typeof predictiveCodingTable> {}

/** What one observation led to. */
export interface PredictiveCodingStep {
  /** z, n values: the mean of x given the observations so far. */
  readonly mean: Float64Array;
  /** What the transition alone predicted of it, A z(t-1), n values. */
  readonly predicted: Float64Array;
  /** F at the end of the descent, without its constants. */
  readonly freeEnergy: number;
  /** Steps of descent. */
  readonly steps: number;
  /** Whether the gradient is within the tolerance. */
  readonly converged: boolean;
}

/**
 * Follows a linear Gaussian process by predictive coding: for each observation y it descends
 *
 *     F(z) = .5 (y - C z)' R^-1 (y - C z) + .5 (z - A m)' S^-1 (z - A m),   S = A P A' + Q
 *
 * from z = A m in steps of 1 / (largest curvature of F). The two prediction errors are what a layer
 * and the one above it would exchange. The result is the next m, and the inverse curvature of F the
 * next P: the fixed point is the mean of the Kalman filter. With a known linear model it is a slow
 * Kalman filter; with states of a reservoir, m may be what a readout predicts (`correct`).
 *
 * R. P. N. Rao and D. H. Ballard 1999, "Predictive coding in the visual cortex", Nature
 * Neuroscience 2; K. Friston 2005, "A theory of cortical responses", Philosophical Transactions of
 * the Royal Society B 360.
 *
 * @example
 * const filter = new PredictiveCodingFilter({ transition, observation, processNoise,
 * observationNoise }); for (const y of observations) means.push(filter.step(y).mean);
 */
export class PredictiveCodingFilter {
  readonly #a: Matrix<Float64Array>;
  readonly #c: Matrix<Float64Array>;
  readonly #q: Matrix<Float64Array>;
  readonly #precision: Matrix<Float64Array>;
  readonly #tolerance: number;
  readonly #maxSteps: number;
  #mean: Float64Array;
  #covariance: Matrix<Float64Array>;

  /** @throws ArgumentError for a matrix of another shape, or a covariance that is not one */
  constructor(options: PredictiveCodingOptions) {
    const read = resolve(predictiveCodingTable, options, "PredictiveCodingFilter");
    const n = anySeries(read.transition, "transition", "float64").rows;
    const a = matrixOf(read.transition, "transition", n, n);
    const c = matrixOf(read.observation, "observation", anySeries(read.observation, "observation", "float64").rows, n);
    this.#a = a;
    this.#c = c;
    this.#q = covarianceOf(read.processNoise, "processNoise", n);
    this.#precision = inverse(covarianceOf(read.observationNoise, "observationNoise", c.rows));
    this.#covariance = read.covariance === undefined ? identityMatrix(n) : covarianceOf(read.covariance, "covariance", n);
    this.#mean = read.mean === undefined ? new Float64Array(n) : matrixOf(read.mean, "mean", 1, n).data.slice();
    this.#tolerance = read.tolerance;
    this.#maxSteps = read.maxSteps;
  }

  /** The mean after the last observation, n values. */
  get mean(): Float64Array {
    return this.#mean.slice();
  }

  /** Its covariance, n x n. */
  get covariance(): Matrix<Float64Array> {
    return this.#covariance.slice() as Matrix<Float64Array>;
  }

  /** Takes an observation, m values. @throws ArgumentError for another number of values */
  step(observation: ArrayLike<number>): PredictiveCodingStep {
    return this.correct(observation, timesVector(this.#a, this.#mean));
  }

  /**
   * The same with a prediction from elsewhere, n values, in place of A m: what a readout says of
   * the next x, `processNoise` being the covariance of its errors.
   * @throws ArgumentError for another number of values
   */
  correct(observation: ArrayLike<number>, predicted: ArrayLike<number>): PredictiveCodingStep {
    const y = values(observation, "observation", this.#c.rows);
    const prior = values(predicted, "predicted", this.#a.rows);
    const before = inverse(sum(product(product(this.#a, this.#covariance), transposed(this.#a)), this.#q));
    const curvature = sum(product(product(transposed(this.#c), this.#precision), this.#c), before);
    const rate = 1 / symmetricEigen(curvature).values[0]!;
    const z = prior.slice();
    let steps = 0;
    let converged = false;
    let freeEnergy = 0;
    while (!converged) {
      const residual = difference(y, timesVector(this.#c, z));
      const held = difference(z, prior);
      const weightedResidual = timesVector(this.#precision, residual);
      const heldError = timesVector(before, held);
      freeEnergy = 0.5 * dot(residual, weightedResidual) + 0.5 * dot(held, heldError);
      const gradient = difference(timesVector(transposed(this.#c), weightedResidual), heldError);
      converged = gradient.every((value) => Math.abs(value) < this.#tolerance);
      if (converged || steps === this.#maxSteps) break;
      for (let i = 0; i < z.length; i++) z[i] = z[i]! + rate * gradient[i]!;
      steps++;
    }
    this.#mean = z;
    this.#covariance = inverse(curvature);
    return { mean: z.slice(), predicted: prior, freeEnergy, steps, converged };
  }
}

function matrixOf(given: MatrixLike, name: string, rows: number, cols: number): Matrix<Float64Array> {
  const out = anySeries(given, name, "float64") as Matrix<Float64Array>;
  if (out.rows !== rows || out.cols !== cols)
    throw ArgumentError.shape(`${name} is ${out.rows} x ${out.cols}; it takes ${rows} x ${cols}`, { field: name });
  return out;
}

/** @throws ArgumentError for a matrix that is not symmetric or not positive definite */
function covarianceOf(given: MatrixLike, name: string, n: number): Matrix<Float64Array> {
  const out = matrixOf(given, name, n, n);
  for (let i = 0; i < n; i++)
    for (let j = 0; j < i; j++)
      if (out.at(i, j) !== out.at(j, i))
        throw new ArgumentError(`${name}[${i}, ${j}]`, out.at(i, j), `${out.at(j, i)}, as on the other side`);
  if (!(symmetricEigen(out).values.at(-1)! > 0)) throw new ArgumentError(name, "a matrix", "one that is positive definite");
  return out;
}

/** The inverse of a symmetric matrix. @throws SpillwayError if it has none in binary64 */
function inverse(matrix: Matrix<Float64Array>): Matrix<Float64Array> {
  const found = solveSquare(matrix, identityMatrix(matrix.rows));
  if (!found) throw new SpillwayError("numeric", "a covariance has no inverse in binary64; give larger noise");
  return symmetrised(found);
}

function sum(a: Matrix<Float64Array>, b: Matrix<Float64Array>): Matrix<Float64Array> {
  return a.map((value, i) => value + b.data[i]!);
}

function timesVector(a: Matrix<Float64Array>, x: Float64Array): Float64Array {
  return product(a, new Matrix(x.length, 1, x)).data;
}

const difference = (a: Float64Array, b: Float64Array): Float64Array => a.map((value, i) => value - b[i]!);

const dot = (a: Float64Array, b: Float64Array): number => a.reduce((total, value, i) => total + value * b[i]!, 0);

function values(given: ArrayLike<number>, name: string, length: number): Float64Array {
  return matrixOf([Array.from(given)], name, 1, length).data;
}
