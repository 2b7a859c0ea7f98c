// The two solvers of ridge regression that work on what training rows left behind: Cholesky on
// normal equations, and a triangular factor. Each knows how to solve for one lambda and how to
// stand for the rows when lambda is chosen.
import { cholesky, type DenseBlas, Matrix, transposed } from "@spillway/numerics";
import { IllConditionedError, withLambda } from "./errors.js";
import type { GramAccumulator } from "./gram-accumulator.js";
import { type ReducedProblem, withoutConstant } from "./lambda-selection.js";
import type { TriangularAccumulator } from "./triangular-accumulator.js";

/** Rows as a solver keeps them. */
export interface RidgeSystem {
  readonly rows: number;
  /** Weights F x O, the constant feature's row last if there is one. */
  solve(lambda: number): Matrix<Float64Array>;
  /** The problem that lambdas from `smallest` on are scored with. */
  reduce(smallest: number): ReducedProblem;
  /** Means of the features, without the constant one; only if there is a constant feature. */
  means(): Float64Array;
}

/** Solves (X^T X + lambda I) W = X^T Y; no penalty on the constant feature. */
export function gramSystem(accumulator: GramAccumulator, blas: DenseBlas | undefined): RidgeSystem {
  const { lower, cross, targetSquares, rows } = accumulator.lowerSums();
  const { constant } = accumulator;
  const count = cross.rows;
  const penalty = (lambda: number): Float64Array => penalties(count, constant, lambda);
  return {
    rows,
    solve: (lambda) => {
      if (!blas) {
        const factor = withLambda(lambda, () => cholesky(lower, penalty(lambda), count));
        const found = factor.solve(cross);
        factor.dispose();
        return found;
      }
      const solved = blas.solvePositiveDefinite(lower, penalty(lambda), cross);
      if (solved instanceof Matrix) return solved;
      throw new IllConditionedError(lambda, count, solved, Number.NaN, Number.NaN, Number.NaN);
    },
    reduce: (smallest) => {
      const factor = withLambda(smallest, () => cholesky(lower, penalty(smallest), count));
      const targets = factor.solveLower(cross);
      const upper = transposed(factor.lower());
      factor.dispose();
      const residualSquares = targetSquares.slice();
      for (let i = 0; i < targets.data.length; i++) {
        const o = i % targets.cols;
        residualSquares[o] = residualSquares[o]! - targets.data[i]! * targets.data[i]!;
      }
      return reduced(upper, targets, smallest, residualSquares, rows, constant);
    },
    means: () => Float64Array.from({ length: count - 1 }, (_, f) => lower.data[(count - 1) * lower.cols + f]! / rows),
  };
}

/**
 * Solves min |X W - Y|^2 + lambda |W|^2 by Householder reflections of [X; sqrt(lambda) I]; no
 * penalty on the constant feature.
 */
export function triangularSystem(accumulator: TriangularAccumulator): RidgeSystem {
  const { constant, featureCount: count, rows } = accumulator;
  return {
    rows,
    solve: (lambda) => {
      const factor = accumulator.factor();
      if (lambda > 0) factor.addDiagonal(penalties(count, constant, Math.sqrt(lambda)));
      const solved = factor.solve();
      factor.dispose();
      return solved;
    },
    reduce: () => {
      const factor = accumulator.factor();
      return reduced(factor.triangle(), factor.transformedTargets(), 0, factor.residualSquares.slice(), rows, constant);
    },
    means: () => {
      const triangle = accumulator.factor().triangle();
      const sums = new Float64Array(count - 1);
      for (let i = 0; i < count; i++) {
        const last = triangle.data[i * count + count - 1]!;
        for (let f = i; f < count - 1; f++) sums[f] = sums[f]! + last * triangle.data[i * count + f]!;
      }
      return sums.map((sum) => sum / rows);
    },
  };
}

function penalties(count: number, constant: boolean, value: number): Float64Array {
  const out = new Float64Array(count).fill(value);
  if (constant) out[count - 1] = 0;
  return out;
}

function reduced(
  triangle: Matrix<Float64Array>,
  targets: Matrix<Float64Array>,
  shift: number,
  residualSquares: Float64Array,
  rows: number,
  constant: boolean,
): ReducedProblem {
  const problem = constant ? withoutConstant(triangle, targets) : { matrix: triangle, targets };
  return { ...problem, shift, residualSquares, rows, constant };
}
