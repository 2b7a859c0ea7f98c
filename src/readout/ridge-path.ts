// The ridge readouts of many lambdas by one decomposition of the training rows' sums: the small
// problem that generalised cross-validation scores, solved for weights.
import { Bidiagonal, identityMatrix, Matrix } from "@spillway/numerics";
import { IllConditionedError } from "./errors.js";
import type { GramAccumulator } from "./gram-accumulator.js";
import type { ReducedProblem } from "./lambda-selection.js";
import { gramSystem } from "./ridge-solve.js";
import { TrainedReadout } from "./trained-readout.js";

/**
 * W = argmin sum over t of |y_t - W x_t - b|^2 + lambda |W|^2 for each lambda, the intercept b
 * unpenalised: A = U B V^T bidiagonal (Eldén 1977), and each lambda by a few operations an unknown.
 * A lambda that is too small for the factorisation of the sums has its error in place of a readout.
 */
export function ridgePath(sums: GramAccumulator, lambdas: readonly number[]): (TrainedReadout | IllConditionedError)[] {
  const { shape, features, constant } = sums;
  const system = gramSystem(sums, undefined);
  const { cross, rows } = sums.lowerSums();
  // Of use with a constant feature alone.
  const featureMeans = system.means();
  const targetMeans = cross.row(cross.rows - 1).map((sum) => sum / rows);
  const found = smallestThatFactors(system.reduce, lambdas);
  if (found instanceof IllConditionedError) return lambdas.map(() => found);
  const { problem, failed } = found;
  const bidiagonal = new Bidiagonal(problem.matrix, problem.targets);
  const rotation = identityMatrix(bidiagonal.size);
  bidiagonal.rotate(rotation);
  return lambdas.map((lambda) => {
    const error = failed.get(lambda);
    if (error) return error;
    const weights = turnedBack(rotation, bidiagonal.shifted(lambda - problem.shift).weights);
    const intercept = targetMeans.map((mean, o) => (constant ? mean - dot(weights.row(o), featureMeans) : 0));
    const { stateSize, inputSize } = shape;
    const details = { lambda, solver: "cholesky", intercept: constant };
    return new TrainedReadout({ features, stateSize, inputSize, weights, intercept }, { method: "ridge", rows, details });
  });
}

/** The problem at the smallest lambda whose factorisation succeeds, and what failed before it. */
function smallestThatFactors(
  reduce: (smallest: number) => ReducedProblem,
  lambdas: readonly number[],
): { readonly problem: ReducedProblem; readonly failed: ReadonlyMap<number, IllConditionedError> } | IllConditionedError {
  const failed = new Map<number, IllConditionedError>();
  let last: IllConditionedError | undefined;
  for (const lambda of lambdas.toSorted((a, b) => a - b)) {
    try {
      return { problem: reduce(lambda), failed };
    } catch (error) {
      if (!(error instanceof IllConditionedError)) throw error;
      failed.set(lambda, error);
      last = error;
    }
  }
  return last!;
}

/** O x F weights from V^T w, F x O, by the rows V^T e_f. */
function turnedBack(rotation: Matrix<Float64Array>, rotated: Matrix<Float64Array>): Matrix<Float64Array> {
  const { rows: size, cols: outputs } = rotated;
  const out = Matrix.zeros(outputs, size);
  for (let f = 0; f < size; f++) {
    const row = rotation.row(f);
    for (let o = 0; o < outputs; o++) {
      let sum = 0;
      for (let i = 0; i < size; i++) sum += row[i]! * rotated.data[i * outputs + o]!;
      out.data[o * size + f] = sum;
    }
  }
  return out;
}

function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}
