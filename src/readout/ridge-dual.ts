// Ridge regression in its dual form, for fewer rows than features: a T x T system in place of an F
// x F one. All rows are at hand here.
import { cholesky, Matrix, PortableGram } from "../numerics/index.js";
import { type FeatureSpec, writeFeatures } from "../reservoir/features.js";
import { withLambda } from "./errors.js";
import { featuresOf } from "./features-option.js";
import { shapeOf, type TrainingSequence } from "./training-data.js";

/**
 * alpha = (X X^T + lambda I)^-1 Y and w = X^T alpha, of centred X and Y where `centred` (Saunders,
 * Gammerman and Vovk 1998, "Ridge regression learning algorithm in dual variables"). Weights are F
 * x O; `means` are those of features and targets, 0 where not centred. Products over features are
 * summed as rule 9 sums over rows, means and w over rising rows.
 */
export function solveDual(
  sequences: readonly TrainingSequence[],
  features: FeatureSpec,
  lambda: number,
  centred: boolean,
): { weights: Matrix<Float64Array>; featureMeans: Float64Array; targetMeans: Float64Array } {
  const x = joinFeatures(sequences, features);
  const y = joinTargets(sequences);
  const featureMeans = centred ? centre(x) : new Float64Array(x.cols);
  const targetMeans = centred ? centre(y) : new Float64Array(y.cols);
  const kernel = new PortableGram(x.rows);
  kernel.add([{ matrix: transpose(x), square: "none" }], x.cols);
  const factor = withLambda(lambda, () => cholesky(kernel.lowerTriangle(), new Float64Array(x.rows).fill(lambda)));
  const alpha = factor.solve(y);
  const weights = Matrix.zeros(x.cols, y.cols);
  for (let t = 0; t < x.rows; t++) {
    for (let f = 0; f < x.cols; f++) {
      const value = x.data[t * x.cols + f]!;
      for (let o = 0; o < y.cols; o++) {
        weights.data[f * y.cols + o] = weights.data[f * y.cols + o]! + value * alpha.data[t * y.cols + o]!;
      }
    }
  }
  return { weights, featureMeans, targetMeans };
}

function joinFeatures(sequences: readonly TrainingSequence[], features: FeatureSpec): Matrix<Float64Array> {
  const rows = sequences.reduce((sum, sequence) => sum + sequence.states.rows, 0);
  const out = Matrix.zeros(rows, featuresOf(features, shapeOf(sequences[0]!)));
  let next = 0;
  for (const { states, inputs } of sequences) {
    for (let t = 0; t < states.rows; t++) writeFeatures(features, states.row(t), inputs.row(t), out.row(next++));
  }
  return out;
}

function joinTargets(sequences: readonly TrainingSequence[]): Matrix<Float64Array> {
  const rows = sequences.reduce((sum, sequence) => sum + sequence.targets.rows, 0);
  const out = Matrix.zeros(rows, sequences[0]!.targets.cols);
  let next = 0;
  for (const { targets } of sequences) {
    out.data.set(targets.data, next);
    next += targets.data.length;
  }
  return out;
}

/** Subtracts each column's mean and returns the means. */
function centre(matrix: Matrix<Float64Array>): Float64Array {
  const { rows, cols, data } = matrix;
  const means = new Float64Array(cols);
  for (let i = 0; i < data.length; i++) means[i % cols] = means[i % cols]! + data[i]!;
  for (let c = 0; c < cols; c++) means[c] = means[c]! / rows;
  for (let i = 0; i < data.length; i++) data[i] = data[i]! - means[i % cols]!;
  return means;
}

function transpose(matrix: Matrix<Float64Array>): Matrix<Float64Array> {
  const { rows, cols, data } = matrix;
  const out = Matrix.zeros(cols, rows);
  for (let r = 0; r < rows; r++) for (let c = 0; c < cols; c++) out.data[c * rows + r] = data[r * cols + c]!;
  return out;
}
