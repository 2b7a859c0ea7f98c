// The choice of lambda over a grid from one factorisation: generalised cross-validation and true
// leave-one-out. It scores; the chosen lambda is then solved for like any other.
import { SpillwayError } from "@spillway/core/errors.js";
import {
  Bidiagonal,
  type CholeskyFactor,
  columnMeans,
  identityMatrix,
  Matrix,
  type ShiftedProblem,
  stackRows,
  transposed,
} from "@spillway/numerics";
import { type FeatureSpec, writeFeatures } from "../reservoir/features.js";
import type { TrainingSequence } from "./training-data.js";

/** How lambda is chosen. */
export type SelectionMethod = "gcv" | "leaveOneOut";

/** What a choice rests on. */
export interface LambdaSelection {
  readonly method: SelectionMethod;
  readonly lambdas: readonly number[];
  /** A score for each lambda, smaller is better; infinite if the fit is not determined. */
  readonly scores: readonly number[];
  /** The lambda with the smallest score, the first if tied. */
  readonly lambda: number;
  /**
   * T x O: what each row's targets are beyond the outputs of the fit without that row. Of
   * "leaveOneOut" in dual form.
   */
  readonly residuals?: Matrix<Float64Array> | undefined;
}

/**
 * A least squares problem min |R w - z|^2 + (lambda - shift) |w|^2 that stands for T training rows.
 */
export interface ReducedProblem {
  /** F' x F': R^T R = X^T X + shift I, the constant feature projected out of X. */
  readonly matrix: Matrix<Float64Array>;
  /** F' x O. */
  readonly targets: Matrix<Float64Array>;
  /** The lambda that is in R already. */
  readonly shift: number;
  /** What the squared residual is beyond |R w - z|^2 - shift |w|^2, a value for each target. */
  readonly residualSquares: Float64Array;
  /** T. */
  readonly rows: number;
  /** Whether the problem had an unpenalised constant feature. */
  readonly constant: boolean;
}

/**
 * Generalised cross-validation (Golub, Heath and Wahba 1979, Technometrics 21): (RSS / T) / (1 - d
 * / T)^2, with RSS the squared residuals of all targets and d = trace X (X^T X + lambda I)^-1 X^T
 * the degrees of freedom, one more with an intercept.
 */
export function generalisedCrossValidation(problem: ReducedProblem, lambdas: readonly number[]): LambdaSelection {
  const { rows, shift, matrix, constant } = problem;
  const bidiagonal = new Bidiagonal(matrix, problem.targets);
  const scores = lambdas.map((lambda) => {
    const solved = bidiagonal.shifted(lambda - shift);
    const freedom = matrix.rows - lambda * solved.inverseTrace + (constant ? 1 : 0);
    const remaining = 1 - freedom / rows;
    return remaining > 0 ? residualSum(problem, solved) / rows / (remaining * remaining) : Number.POSITIVE_INFINITY;
  });
  return choose("gcv", lambdas, scores);
}

/**
 * The mean squared error over every row and target when that row is left out of the fit, by the
 * exact identity e_t / (1 - h_t), h_t = x_t^T (X^T X + lambda I)^-1 x_t (+ 1 / T with an intercept,
 * x_t then being centred) (Allen 1974, PRESS).
 * `means` are the features' means if there is an intercept.
 */
export function leaveOneOut(
  problem: ReducedProblem,
  lambdas: readonly number[],
  features: FeatureSpec,
  sequences: readonly TrainingSequence[],
  means: Float64Array | undefined,
): LambdaSelection {
  const { rows, shift, matrix } = problem;
  const bidiagonal = new Bidiagonal(matrix, problem.targets);
  const solved = lambdas.map((lambda) => bidiagonal.shifted(lambda - shift));
  const scores = lambdas.map(() => 0);
  const outputs = problem.targets.cols;
  const targetMeans = means ? columnMeans(stackRows(sequences.map(({ targets }) => targets))) : new Float64Array(outputs);
  const own = means ? 1 / rows : 0;
  for (const { x, targets } of rotatedRows(bidiagonal, features, sequences, means)) {
    for (let t = 0; t < x.rows; t++) {
      const row = x.row(t);
      solved.forEach((fit, l) => {
        const left = 1 - own - fit.leverage(row);
        scores[l] =
          scores[l]! + (left > 0 ? squaredErrors(fit, row, targets.row(t), targetMeans) / (left * left) : Number.POSITIVE_INFINITY);
      });
    }
  }
  const mean = scores.map((sum) => sum / (rows * outputs));
  return choose("leaveOneOut", lambdas, mean);
}

/**
 * Both scores of dual solutions: row t leaves lambda alpha_t of its target, and its leverage is 1 -
 * lambda G_tt, with G = (X X^T + lambda I)^-1 and alpha = G Y.
 * `factor` is the Cholesky factor of X X^T + shift I; `centred` says that X and Y had their means
 * taken off, which is one degree of freedom more.
 */
export function dualSelection(
  method: SelectionMethod,
  lambdas: readonly number[],
  factor: CholeskyFactor,
  shift: number,
  y: Matrix<Float64Array>,
  centred: boolean,
): LambdaSelection {
  const { rows, cols: outputs } = y;
  const bidiagonal = new Bidiagonal(transposed(factor.lower()), factor.solveLower(y));
  const rotated = identityMatrix(rows);
  bidiagonal.rotate(rotated);
  const own = centred ? 1 / rows : 0;
  const residuals = lambdas.map(() => Matrix.zeros(rows, outputs));
  const scores = lambdas.map((lambda, l) => {
    const { weights, leverage, inverseTrace } = bidiagonal.shifted(lambda - shift);
    const all = lambda * inverseTrace - (centred ? 1 : 0);
    const kept = residuals[l]!.data;
    let sum = 0;
    for (let t = 0; t < rows; t++) {
      const row = rotated.row(t);
      const left = method === "gcv" ? all / rows : lambda * leverage(row) - own;
      if (!(left > 0)) return Number.POSITIVE_INFINITY;
      for (let o = 0; o < outputs; o++) {
        let alpha = 0;
        for (let i = 0; i < rows; i++) alpha += row[i]! * weights.data[i * outputs + o]!;
        const residual = (lambda * alpha) / left;
        kept[t * outputs + o] = residual;
        sum += residual ** 2;
      }
    }
    return sum / (method === "gcv" ? rows : rows * outputs);
  });
  const chosen = choose(method, lambdas, scores);
  return method === "gcv" ? chosen : { ...chosen, residuals: residuals[lambdas.indexOf(chosen.lambda)] };
}

/**
 * R and Q^T Y with the last feature, the constant one, projected out: what is left is the problem
 * of the centred features.
 */
export function withoutConstant(
  triangle: Matrix<Float64Array>,
  targets: Matrix<Float64Array>,
): { matrix: Matrix<Float64Array>; targets: Matrix<Float64Array> } {
  const last = triangle.rows - 1;
  const reflection = triangle.column(last);
  let squares = 0;
  for (let i = 0; i < last; i++) squares += reflection[i]! * reflection[i]!;
  const alpha = reflection[last]!;
  const norm = Math.sqrt(squares + alpha * alpha);
  reflection[last] = alpha >= 0 ? alpha + norm : alpha - norm;
  const length = squares + reflection[last]! * reflection[last]!;
  const reflect = (source: Matrix<Float64Array>, columns: number): Matrix<Float64Array> => {
    const out = Matrix.zeros(last, columns);
    const products = new Float64Array(columns);
    for (let i = 0; i <= last; i++) {
      for (let c = 0; c < columns; c++) products[c] = products[c]! + reflection[i]! * source.data[i * source.cols + c]!;
    }
    for (let i = 0; i < last; i++) {
      const factor = length > 0 ? (2 * reflection[i]!) / length : 0;
      for (let c = 0; c < columns; c++) out.data[i * columns + c] = source.data[i * source.cols + c]! - factor * products[c]!;
    }
    return out;
  };
  return { matrix: reflect(triangle, last), targets: reflect(targets, targets.cols) };
}

function residualSum(problem: ReducedProblem, solved: ShiftedProblem): number {
  let sum = 0;
  for (let o = 0; o < problem.residualSquares.length; o++) sum += problem.residualSquares[o]! + solved.residualSquares[o]!;
  for (const weight of solved.weights.data) sum -= problem.shift * weight * weight;
  return Math.max(sum, 0);
}

function choose(method: SelectionMethod, lambdas: readonly number[], scores: readonly number[]): LambdaSelection {
  const finite = scores.map((score) => (Number.isFinite(score) ? score : Number.POSITIVE_INFINITY));
  const best = finite.indexOf(Math.min(...finite));
  if (finite[best] === Number.POSITIVE_INFINITY) {
    throw new SpillwayError("numeric", `no lambda of ${lambdas.join(", ")} gives a finite ${method} score; take larger ones or more rows`);
  }
  return { method, lambdas, scores: finite, lambda: lambdas[best]! };
}

function squaredErrors(fit: ShiftedProblem, row: Float64Array, targets: ArrayLike<number>, means: Float64Array): number {
  const weights = fit.weights;
  let sum = 0;
  for (let o = 0; o < weights.cols; o++) {
    let residual = targets[o]! - means[o]!;
    for (let i = 0; i < weights.rows; i++) residual -= row[i]! * weights.data[i * weights.cols + o]!;
    sum += residual * residual;
  }
  return sum;
}

/**
 * The training rows' features, centred if there are means, times V, a few hundred rows at a time.
 */
function* rotatedRows(
  bidiagonal: Bidiagonal,
  features: FeatureSpec,
  sequences: readonly TrainingSequence[],
  means: Float64Array | undefined,
): Generator<{ x: Matrix<Float64Array>; targets: Matrix }> {
  const chunk = 256;
  for (const { states, inputs, targets } of sequences) {
    for (let first = 0; first < states.rows; first += chunk) {
      const count = Math.min(chunk, states.rows - first);
      const x = Matrix.zeros(count, bidiagonal.size);
      for (let t = 0; t < count; t++) {
        const row = x.row(t);
        writeFeatures(features, states.row(first + t), inputs.row(first + t), row);
        if (means) for (let i = 0; i < row.length; i++) row[i] = row[i]! - means[i]!;
      }
      bidiagonal.rotate(x);
      yield { x, targets: targets.subarray(first, first + count) };
    }
  }
}
