// From features of cases to scores of classes: trains the readout of a Classifier's member and turns its outputs into shares.
import { Matrix } from "../numerics/index.js";
import { type RidgeOptions, ridge, type SoftmaxOptions, SoftmaxReadout, softmaxRegression, TrainedReadout } from "../readout/index.js";
import type { ClassifierReadout, ClassifierSettings } from "./classifier-options.js";
import { fitStandardisation, standardised } from "./standardisation.js";

/** Where neither lambda nor lambdas is given. */
const defaultLambdas = [1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1000];

/** Trains on B x F features and the number of each case's class. */
export function trainClassReadout(
  features: Matrix<Float64Array>,
  classes: Int32Array,
  count: number,
  settings: ClassifierSettings,
): TrainedReadout {
  const { readout, scaleFeatures } = settings;
  const scale = scaleFeatures ? fitStandardisation([features]) : undefined;
  const rows = scale ? standardised(scale, features) : features;
  const targets = Matrix.zeros(rows.rows, count);
  classes.forEach((k, b) => {
    targets.data[b * count + k] = 1;
  });
  const trained = classTrainer(readout).fit(rows, targets);
  if (!scale) return trained;
  const weights = new Matrix(count, rows.cols, trained.weights.data.slice());
  const intercept = trained.intercept.slice();
  for (let k = 0; k < count; k++) {
    const row = weights.row(k);
    for (let f = 0; f < row.length; f++) {
      row[f] = row[f]! / scale.deviation[f]!;
      intercept[k] = intercept[k]! - row[f]! * scale.mean[f]!;
    }
  }
  const Readout = trained instanceof SoftmaxReadout ? SoftmaxReadout : TrainedReadout;
  return new Readout({ features: trained.features, stateSize: trained.stateSize, inputSize: 0, weights, intercept }, trained.training);
}

/** @throws TypeError or RangeError naming the option of the readout */
export function classTrainer(readout: ClassifierReadout): { fit(states: Matrix, targets: Matrix): TrainedReadout } {
  const { type = "ridge", ...options } = readout;
  if (type === "softmax") return softmaxRegression(options as SoftmaxOptions);
  const own = options as RidgeOptions;
  if (own.lambda === undefined && own.lambdas === undefined) {
    return ridge({ ...own, lambdas: defaultLambdas, selection: own.selection ?? "leaveOneOut" });
  }
  return ridge({ ...own, solver: own.solver ?? (own.lambdas ? "cholesky" : "auto") });
}

/**
 * B x K shares that sum to 1 in each row. Of a softmax readout, its probabilities. Of a ridge readout, its outputs with what is below 0
 * taken as 0, divided by their sum (1 for the largest output where none is above 0): they order the classes as the outputs do, and are no
 * calibrated probabilities.
 */
export function classShares(readout: TrainedReadout, features: Matrix<Float64Array>): Matrix<Float64Array> {
  if (readout instanceof SoftmaxReadout) return readout.predictProba(features);
  const shares = readout.predict(features, undefined, { precision: "float64" }) as Matrix<Float64Array>;
  for (let b = 0; b < shares.rows; b++) {
    const row = shares.row(b);
    const best = largest(row);
    let sum = 0;
    for (let k = 0; k < row.length; k++) {
      row[k] = Math.max(row[k]!, 0);
      sum += row[k]!;
    }
    if (sum > 0) for (let k = 0; k < row.length; k++) row[k] = row[k]! / sum;
    else row[best] = 1;
  }
  return shares;
}

/** The place of the largest value, the first of equals. */
export function largest(values: ArrayLike<number>): number {
  let best = 0;
  for (let k = 1; k < values.length; k++) if (values[k]! > values[best]!) best = k;
  return best;
}
