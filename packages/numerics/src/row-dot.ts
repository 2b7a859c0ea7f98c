// A row of a matrix times a vector in the portable order of docs/numerics.md, rules 1 and 2: slow,
// and the reference for every kernel.
import { type FloatArray, isSparse, type Matrix, type SparseMatrix } from "./matrix.js";

/**
 * Row r of W times x: 32 partial sums by column (dense) or 8 by position (sparse), then a
 * butterfly. `round` rounds to the precision; default binary64.
 */
export function rowDot(
  weights: Matrix | SparseMatrix,
  r: number,
  x: FloatArray,
  round: (value: number) => number = (value) => value,
): number {
  const partials = new Float64Array(isSparse(weights) ? 8 : 32);
  const mask = partials.length - 1;
  if (isSparse(weights)) {
    const start = weights.rowOffsets[r]!;
    for (let p = start; p < weights.rowOffsets[r + 1]!; p++) {
      const l = (p - start) & mask;
      partials[l] = round(partials[l]! + round(weights.values[p]! * x[weights.columns[p]!]!));
    }
  } else {
    const row = r * weights.cols;
    for (let k = 0; k < weights.cols; k++) {
      const l = k & mask;
      partials[l] = round(partials[l]! + round(weights.data[row + k]! * x[k]!));
    }
  }
  for (let half = partials.length / 2; half >= 1; half /= 2) {
    for (let l = 0; l < half; l++) partials[l] = round(partials[l]! + partials[l + half]!);
  }
  return partials[0]!;
}
