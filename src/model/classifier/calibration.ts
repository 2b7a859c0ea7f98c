// From outputs of a ridge readout to probabilities of classes: one factor, fitted on outputs of
// cases that the fit had left out.
import type { Matrix } from "@spillway/numerics";
import { softmax } from "../../readout/softmax-regression.js";

/** Factors that are looked at. */
const bounds = [1e-3, 1e4] as const;

/**
 * The factor f with which softmax(f s) of the outputs s (B x K) has the smallest cross entropy with
 * the classes (temperature scaling: Guo et al. 2017, "On calibration of modern neural networks",
 * ICML). By the rule of succession the true class counts 1 - 1 / (B + 2) and the others share the rest,
 * as B cases without an error are no certainty. The cross entropy is convex in f; its
 * slope is halved in.
 */
export function calibrationFactor(outputs: Matrix<Float64Array>, classes: Int32Array): number {
  const { rows, cols } = outputs;
  const doubt = 1 / (rows + 2);
  const slope = (factor: number): number => {
    const shares = softmax(scaled(outputs, factor));
    let sum = 0;
    for (let b = 0; b < rows; b++) {
      const own = classes[b]!;
      for (let k = 0; k < cols; k++) {
        const target = k === own ? 1 - doubt : doubt / (cols - 1);
        sum += (shares.data[b * cols + k]! - target) * outputs.data[b * cols + k]!;
      }
    }
    return sum;
  };
  let [low, high]: [number, number] = [...bounds];
  while (high / low > 1.001) {
    const middle = Math.sqrt(low * high);
    if (slope(middle) < 0) low = middle;
    else high = middle;
  }
  return Math.sqrt(low * high);
}

/** B x K probabilities: softmax of the outputs times a factor. */
export function calibrated(outputs: Matrix<Float64Array>, factor: number): Matrix<Float64Array> {
  return softmax(scaled(outputs, factor));
}

function scaled(outputs: Matrix<Float64Array>, factor: number): Matrix<Float64Array> {
  return outputs.map((value) => value * factor);
}
