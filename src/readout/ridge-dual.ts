// Ridge regression in its dual form, for fewer rows than features: a T x T system in place of an F
// x F one. All rows are at hand here.
import { cholesky, columnMeans, Matrix, PortableGram, stackRows, transposed } from "@spillway/numerics";
import type { FeatureSpec } from "../reservoir/features.js";
import { withLambda } from "./errors.js";
import { featureRows } from "./features-option.js";
import { dualSelection, type LambdaSelection, type SelectionMethod } from "./lambda-selection.js";
import type { TrainingSequence } from "./training-data.js";

/** A dual solution, and what chose its lambda. */
export interface DualSolution {
  /** F x O. */
  readonly weights: Matrix<Float64Array>;
  /** Of features and targets; 0 if they are not centred. */
  readonly featureMeans: Float64Array;
  readonly targetMeans: Float64Array;
  readonly lambda: number;
  readonly selection: LambdaSelection | undefined;
  /** T x O outputs of the fits that left each row out, if lambda was chosen by leave-one-out. */
  readonly leftOut: Matrix<Float64Array> | undefined;
}

/**
 * alpha = (X X^T + lambda I)^-1 Y and w = X^T alpha, of X and Y minus their means if `centred`
 * (Saunders, Gammerman and Vovk 1998, "Ridge regression learning algorithm in dual variables").
 * With a method lambda is chosen from all that are given, else it is the first. Products over
 * features are summed as rule 9 sums over rows, means and w over rising rows.
 */
export function solveDual(
  sequences: readonly TrainingSequence[],
  features: FeatureSpec,
  lambdas: readonly number[],
  method: SelectionMethod | undefined,
  centred: boolean,
): DualSolution {
  const x = featureRows(sequences, features, false);
  const y = stackRows(sequences.map(({ targets }) => targets));
  const featureMeans = centred ? centre(x) : new Float64Array(x.cols);
  const targetMeans = centred ? centre(y) : new Float64Array(y.cols);
  const gram = new PortableGram(x.rows);
  gram.add([{ matrix: transposed(x), square: "none" }], x.cols);
  const kernel = gram.lowerTriangle();
  const factorAt = (lambda: number) => withLambda(lambda, () => cholesky(kernel, new Float64Array(x.rows).fill(lambda)));
  const smallest = Math.min(...lambdas);
  const selection = method && dualSelection(method, lambdas, factorAt(smallest), smallest, y, centred);
  const lambda = selection?.lambda ?? lambdas[0]!;
  const alpha = factorAt(lambda).solve(y);
  const weights = Matrix.zeros(x.cols, y.cols);
  for (let t = 0; t < x.rows; t++) {
    for (let f = 0; f < x.cols; f++) {
      const value = x.data[t * x.cols + f]!;
      for (let o = 0; o < y.cols; o++) {
        weights.data[f * y.cols + o] = weights.data[f * y.cols + o]! + value * alpha.data[t * y.cols + o]!;
      }
    }
  }
  const residuals = selection?.residuals;
  const leftOut = residuals && y.map((value, i) => value + targetMeans[i % y.cols]! - residuals.data[i]!);
  return { weights, featureMeans, targetMeans, lambda, selection, leftOut };
}

/** Subtracts each column's mean and returns the means. */
function centre(matrix: Matrix<Float64Array>): Float64Array {
  const { cols, data } = matrix;
  const means = columnMeans(matrix);
  for (let i = 0; i < data.length; i++) data[i] = data[i]! - means[i % cols]!;
  return means;
}
