// Whether probabilities of classes come true as often as they say.
import { ArgumentError } from "@spillway/core/errors.js";
import { asMatrix, isList, type MatrixLike } from "@spillway/numerics";
import type { ClassLabel } from "./classification.js";

/** Cases whose largest probability lies in one bin. */
export interface ReliabilityBin {
  /** The mean of their largest probabilities. */
  readonly confidence: number;
  /** The share of them whose most probable class is the true one. */
  readonly accuracy: number;
  readonly count: number;
}

/** How calibrated probabilities are. */
export interface Reliability {
  /** Bins of equal width that hold a case, by rising confidence. */
  readonly bins: readonly ReliabilityBin[];
  /** The expected calibration error: the mean of |accuracy - confidence|, by count. 0 is best. */
  readonly expectedCalibrationError: number;
}

/**
 * Compares the confidence of a classifier with how often it is right, in bins of equal width over
 * [0, 1]. Naeini, Cooper and Hauskrecht 2015, "Obtaining well calibrated probabilities using
 * Bayesian binning".
 * @param target the true classes, B of them.
 * @param probabilities B x K, as `predictProba` gives them.
 * @param classes the K classes, in the order of the columns.
 * @param bins how many; default 10.
 * @throws ArgumentError if the sizes do not fit, or for a class that is not among `classes`
 */
export function reliability(
  target: ArrayLike<ClassLabel>,
  probabilities: MatrixLike,
  classes: readonly ClassLabel[],
  bins = 10,
): Reliability {
  if (!isList(target)) throw new ArgumentError("target", target, "a list of classes", { of: "reliability" });
  if (!isList(classes)) throw new ArgumentError("classes", classes, "a list of classes", { of: "reliability" });
  if (!Number.isSafeInteger(bins) || bins < 1) throw new ArgumentError("bins", bins, "a whole number of at least 1", { of: "reliability" });
  const shares = asMatrix(probabilities, "probabilities");
  if (shares.rows !== target.length || shares.cols !== classes.length || shares.rows === 0)
    throw ArgumentError.shape(
      `probabilities is ${shares.rows} x ${shares.cols}; ${target.length} cases of ${classes.length} classes take ${target.length} x ${classes.length}`,
      { of: "reliability", field: "probabilities" },
    );
  const sums = Array.from({ length: bins }, () => ({ confidence: 0, right: 0, count: 0 }));
  for (let b = 0; b < shares.rows; b++) {
    if (!classes.includes(target[b]!))
      throw new ArgumentError(`target[${b}]`, target[b], `one of ${classes.join(", ")}`, { of: "reliability" });
    let best = 0;
    for (let k = 1; k < shares.cols; k++) if (shares.at(b, k) > shares.at(b, best)) best = k;
    const confidence = shares.at(b, best);
    if (!(confidence >= 0 && confidence <= 1 + 1e-9))
      throw new ArgumentError(`probabilities[${b}][${best}]`, confidence, "a share from 0 to 1", { of: "reliability" });
    const bin = sums[Math.min(bins - 1, Math.floor(confidence * bins))]!;
    bin.confidence += confidence;
    bin.count++;
    if (classes[best] === target[b]) bin.right++;
  }
  const kept = sums
    .filter(({ count }) => count > 0)
    .map(({ confidence, right, count }) => ({ confidence: Math.min(1, confidence / count), accuracy: right / count, count }));
  const gap = (sum: number, { confidence, accuracy, count }: ReliabilityBin) =>
    sum + (count / shares.rows) * Math.abs(accuracy - confidence);
  return { bins: kept, expectedCalibrationError: kept.reduce(gap, 0) };
}
