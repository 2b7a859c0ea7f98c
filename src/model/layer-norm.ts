// Layer norm of feature rows on the host, in portable arithmetic; classify.ts of ptx has
// it on a device. It learns nothing.
import { Matrix } from "@spillway/numerics";

/** Added to the variance. */
export const layerNormEpsilon = 1e-5;

/**
 * y = (x - mean(x)) / sqrt(var(x) + 1e-5) of each row, the variance that of the row divided by its
 * length (Ba, Kiros and Hinton 2016, without gain and bias), in binary64; sums in the order of
 * docs/numerics.md, rule 1.
 */
export function layerNormalised(rows: Matrix<Float64Array>): Matrix<Float64Array> {
  const out = Matrix.zeros(rows.rows, rows.cols);
  for (let b = 0; b < rows.rows; b++) {
    const [x, y] = [rows.row(b), out.row(b)];
    const mean = portableSum(x) / x.length;
    for (let f = 0; f < x.length; f++) y[f] = x[f]! - mean;
    const deviation = Math.sqrt(portableSum(y.map((value) => value * value)) / x.length + layerNormEpsilon);
    for (let f = 0; f < x.length; f++) y[f] = y[f]! / deviation;
  }
  return out;
}

function portableSum(values: Float64Array): number {
  const partial = new Float64Array(32);
  for (let k = 0; k < values.length; k++) partial[k & 31] = partial[k & 31]! + values[k]!;
  for (let half = 16; half > 0; half >>= 1) for (let l = 0; l < half; l++) partial[l] = partial[l]! + partial[l + half]!;
  return partial[0]!;
}
