// From features of cases to scores of classes: trains the readout of a Classifier's member and
// turns its outputs into shares.
import { ArgumentError } from "@spillway/core/errors.js";
import { Matrix } from "@spillway/numerics";
import {
  asTrained,
  type ReadoutDescription,
  type RidgeOptions,
  readouts,
  ridge,
  SoftmaxReadout,
  TrainedReadout,
  type Trainer,
} from "../../readout/index.js";
import { restoreReadout } from "../../readout/registered.js";
import { type FeatureSpec, featureCount, writeFeatures } from "../../reservoir/features.js";
import { classifierLambda, classifierLambdas, describedTrainer } from "../defaults.js";
import { fitStandardisation, standardised } from "../standardisation.js";
import { calibrated, calibrationFactor } from "./calibration.js";
import type { ClassifierSettings } from "./options.js";

/** A readout of classes, and what makes probabilities of its outputs, if that could be fitted. */
export interface ClassReadout {
  readonly readout: TrainedReadout;
  readonly factor?: number | undefined;
}

/**
 * Trains on B x F features and the number of each case's class.
 * @param own the trainer, if it was given as one
 */
export function trainClassReadout(
  features: Matrix<Float64Array>,
  classes: Int32Array,
  count: number,
  { readout, scaleFeatures, representation }: ClassifierSettings,
  own: Trainer | undefined,
): ClassReadout {
  const targets = Matrix.zeros(features.rows, count);
  classes.forEach((k, b) => {
    targets.data[b * count + k] = 1;
  });
  // With one case a class, whatever is left out is of a class that was never seen.
  const chooses = representation === "statistics" && features.rows > count;
  const trainerFor = (said: ClassifierSettings["readout"], length?: number) => own ?? classTrainer(said, chooses, length);
  const spec = trainerFor(readout).features;
  const columns = columnsBy(spec, features);
  const scale = scaleFeatures ? fitStandardisation([columns]) : undefined;
  const rows = scale ? standardised(scale, columns) : features;
  const trainer = trainerFor(
    scale && takesTransform(readout) ? ({ ...readout, transform: "plain" } as ReadoutDescription) : readout,
    meanSquaredLength(scale ? rows : columns),
  );
  const trained = asTrained(trainer.fit(rows, targets), features.rows);
  if (trained.outputSize !== count)
    throw ArgumentError.shape(`the readout has ${trained.outputSize} outputs for ${count} classes; it takes one a class`);
  const factor = trained.leftOut && calibrationFactor(trained.leftOut, classes);
  if (!scale) return { readout: trained, factor };
  const weights = new Matrix(count, rows.cols, trained.weights.data.slice());
  const intercept = trained.intercept.slice();
  for (let k = 0; k < count; k++) {
    const row = weights.row(k);
    for (let f = 0; f < row.length; f++) {
      row[f] = row[f]! / scale.deviation[f]!;
      intercept[k] = intercept[k]! - row[f]! * scale.mean[f]!;
    }
  }
  const folded = new TrainedReadout({ features: spec, stateSize: features.cols, inputSize: 0, weights, intercept }, trained.training);
  return { readout: restoreReadout(readout.type, folded), factor };
}

function takesTransform({ type = "ridge" }: ClassifierSettings["readout"]): boolean {
  return type !== "own" && "transform" in readouts.table(type);
}

/** What a readout is linear in: the features of the representation, transformed as it asks for. */
function columnsBy(spec: FeatureSpec, features: Matrix<Float64Array>): Matrix<Float64Array> {
  const out = Matrix.zeros(features.rows, featureCount(spec, features.cols, 0));
  for (let b = 0; b < out.rows; b++) writeFeatures(spec, features.row(b), [], out.row(b));
  return out;
}

/**
 * @param chooses whether lambda is chosen by leave-one-out, unless something else is said
 * @param length the mean squared length of a case's features, which the default lambda is relative
 * to
 * @throws ArgumentError naming the option of the readout
 */
export function classTrainer(readout: ClassifierSettings["readout"], chooses: boolean, length = 1): Trainer {
  if (readout.type !== undefined && readout.type !== "ridge") return describedTrainer(readout);
  const { type: _, ...own } = readout as RidgeOptions & { readonly type?: string };
  const isPortable = (own.blas ?? "portable") === "portable";
  if (chooses && isPortable && own.lambda === undefined) {
    const { lambdas = classifierLambdas.map((lambda) => lambda * length), selection = "leaveOneOut" } = own;
    return ridge({ ...own, lambdas, selection, solver: own.solver ?? "auto" });
  }
  const lambda = own.lambdas === undefined ? (own.lambda ?? classifierLambda * length) : own.lambda;
  const takesGram = own.lambdas !== undefined || !isPortable;
  return ridge({ ...own, lambda, solver: own.solver ?? (takesGram ? "cholesky" : "auto") });
}

/** @throws ArgumentError for a trainer whose features cannot be scaled before it sees them */
export function checkClassTrainer({ features }: Trainer, { scaleFeatures }: ClassifierSettings): void {
  if (features.input)
    throw ArgumentError.because(
      "the trainer's readout sees inputs; a classifier's sees what its representation gives: take input: true of the classifier",
      { field: "readout" },
    );
  if (scaleFeatures && (features.squares || features.state !== "plain"))
    throw ArgumentError.because("the trainer transforms the features and scaleFeatures is true; set scaleFeatures to false", {
      field: "scaleFeatures",
    });
}

/**
 * 1/B sum over the cases of |features - their means|^2; 1 if no feature ever changes, since lambda
 * must not be 0.
 */
function meanSquaredLength(features: Matrix<Float64Array>): number {
  const { rows, cols } = features;
  let sum = 0;
  for (let f = 0; f < cols; f++) {
    const column = features.column(f);
    const mean = column.reduce((total, value) => total + value, 0) / rows;
    sum += column.reduce((total, value) => total + (value - mean) ** 2, 0) / rows;
  }
  return sum > 0 ? sum : 1;
}

/**
 * B x K shares that sum to 1 in each row. Of a softmax readout, its probabilities. Of one with a
 * factor, softmax of its outputs times that: calibrated probabilities. Of another ridge readout,
 * its outputs with what is below 0 taken as 0, divided by their sum (1 for the largest
 * output if none is above 0): they order the classes as the outputs do, and are no calibrated
 * probabilities.
 */
export function classShares(readout: TrainedReadout, features: Matrix<Float64Array>, factor?: number): Matrix<Float64Array> {
  if (readout instanceof SoftmaxReadout) return readout.predictProba(features);
  const shares = readout.predict(features, undefined, { precision: "float64" }) as Matrix<Float64Array>;
  if (factor !== undefined) return calibrated(shares, factor);
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

/** The index of the largest value, the first if tied. */
export function largest(values: ArrayLike<number>): number {
  let best = 0;
  for (let k = 1; k < values.length; k++) if (values[k]! > values[best]!) best = k;
  return best;
}
