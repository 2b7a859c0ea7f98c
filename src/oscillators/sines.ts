// For which inputs kernels have the sines of phases: theirs end before numbers of unlimited length
// begin.
import type { FloatArray, Matrix } from "@spillway/numerics";

/** Kernels have sines below 2^30; the sum of the bounds is rounded. */
const largestPhase = 2 ** 29;

/**
 * Whether every phase b + W_in u of inputs, rows x I, is one that kernels have a sine of.
 * @param drive b, N values
 */
export function sinesWithin(inputWeights: Matrix, drive: FloatArray): (inputs: FloatArray) => boolean {
  const largest = (values: ArrayLike<number>) => Array.from(values).reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const [most, start, inputSize] = [largest(inputWeights.data), largest(drive), inputWeights.cols];
  return (inputs) => {
    for (let row = 0; row < inputs.length; row += inputSize) {
      let sum = start;
      for (let k = 0; k < inputSize; k++) sum += most * Math.abs(inputs[row + k]!);
      if (!(sum < largestPhase)) return false;
    }
    return true;
  };
}
