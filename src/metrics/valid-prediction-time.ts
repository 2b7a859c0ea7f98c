// How long a forecast of a chaotic system stays good.
import { ArgumentError } from "@spillway/core/errors.js";
import { anything, choice, type InputOf, type Kind, number, option, optional, resolve } from "@spillway/core/options.js";
import { asMatrix, type Matrix, type MatrixLike } from "@spillway/numerics";
import { checkFilled, checkFinite, columnVariances, sameShape } from "./check.js";

/** A valid prediction time in each unit that can be given. */
export interface ValidPredictionTime {
  /** Rows before the first whose error is above the threshold. */
  readonly steps: number;
  /** steps * dt; null without dt. */
  readonly time: number | null;
  /** steps * dt * lyapunovExponent; null without both. */
  readonly lyapunovTimes: number | null;
  /**
   * Whether the error stayed below to the last row: the forecast might have been valid for longer.
   */
  readonly reachedEnd: boolean;
}

const table = {
  /** epsilon: the first error above it ends the valid time. Default 0.4. */
  threshold: option(number({ above: 0 }), 0.4, "The first error above it ends the valid time."),
  /** Default "total". */
  norm: option(choice("total", "perColumn"), "total", "How the errors of columns are joined."),
  /**
   * T' x D: the series whose variances normalise the error. Default: the target; give a longer
   * series if the target is short.
   */
  reference: optional(anything as Kind<MatrixLike>, "The series whose variances normalise the error; left out, the target."),
  /** Time between two rows. */
  dt: optional(number({ above: 0 }), "Time between two rows."),
  /** Largest Lyapunov exponent, per unit of the time of `dt`. */
  lyapunovExponent: optional(number({ above: 0 }), "Largest Lyapunov exponent, per unit of the time of dt."),
};

/** What counts as valid, and the units of the time that comes back. */
export interface ValidPredictionTimeOptions extends InputOf<typeof table> {}

/**
 * Valid prediction time: the first step t, counted from 0, at which the normalised error e(t) is
 * above the threshold.
 *
 * - `norm: "total"` (default): e(t) = sqrt(sum over c of (y_c - p_c)^2 / sum over c of var_c);
 * - `norm: "perColumn"`: e(t) = sqrt(mean over c of (y_c - p_c)^2 / var_c), as P.-R. Vlachas et al.
 *   2020, "Backpropagation algorithms and reservoir computing in recurrent neural networks for the
 *   forecasting of complex spatiotemporal dynamics", Neural Networks 126, who take 0.5.
 *
 * var_c is the population variance of column c of `reference`. A prediction that is not finite
 * counts as an error above any threshold. A figure means little without threshold, norm and how the
 * series was integrated: print all three.
 *
 * @param target y, T x D.
 * @param prediction p, T x D, from the first free-running step on.
 * @throws ArgumentError on different shapes, no rows, a target or reference that is not finite or
 * constant, a threshold, dt or exponent that is not above 0.
 */
export function validPredictionTime(
  target: MatrixLike,
  prediction: MatrixLike,
  options: ValidPredictionTimeOptions = {},
): ValidPredictionTime {
  const { threshold, norm, reference, dt, lyapunovExponent } = resolve(table, options, "validPredictionTime");
  const pair = sameShape("validPredictionTime", target, prediction);
  checkFinite("validPredictionTime", "target", pair.target);
  const weights = weightsOf(reference === undefined ? pair.target : referenceOf(reference, pair.target.cols), norm);

  const { rows, cols } = pair.target;
  let steps = 0;
  for (; steps < rows; steps++) {
    let error = 0;
    for (let c = 0; c < cols; c++) {
      error += weights[c]! * (pair.target.data[steps * cols + c]! - pair.prediction.data[steps * cols + c]!) ** 2;
    }
    if (!(Math.sqrt(error) <= threshold)) break;
  }
  const time = dt === undefined ? null : steps * dt;
  const lyapunovTimes = time === null || lyapunovExponent === undefined ? null : time * lyapunovExponent;
  return { steps, time, lyapunovTimes, reachedEnd: steps === rows };
}

/** What each column's squared error is multiplied by. */
function weightsOf(reference: Matrix, norm: "total" | "perColumn"): Float64Array {
  const variances = columnVariances(reference);
  if (norm === "total") {
    const total = variances.reduce((sum, variance) => sum + variance, 0);
    if (total === 0) throw refusal("the series that normalises the error is constant; give a reference that varies");
    return variances.map(() => 1 / total);
  }
  const constant = variances.indexOf(0);
  if (constant >= 0) {
    throw refusal(`column ${constant} of the series that normalises the error is constant; give a reference that varies, or norm "total"`);
  }
  return variances.map((variance) => 1 / (variance * variances.length));
}

function referenceOf(source: MatrixLike, cols: number): Matrix {
  const reference = asMatrix(source, "reference");
  if (reference.cols !== cols)
    throw ArgumentError.shape(`reference has ${reference.cols} columns and target ${cols}; the two take the same number`, {
      of: "validPredictionTime",
      field: "reference",
    });
  checkFilled("validPredictionTime", "reference", reference);
  checkFinite("validPredictionTime", "reference", reference);
  return reference;
}

function refusal(sentence: string): ArgumentError {
  return ArgumentError.because(sentence, { of: "validPredictionTime" });
}
