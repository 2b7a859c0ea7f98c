// z-scores in a model: of some of its columns, and of what its readout gives.
import { Matrix } from "@spillway/numerics";
import { TrainedReadout } from "../readout/index.js";
import type { Standardisation } from "../series/standardisation.js";

export {
  fitStandardisation,
  noStandardisation,
  restored,
  restoreInto,
  type Standardisation,
  standardised,
} from "../series/standardisation.js";

/** The standardisation of columns `from` to `to` (exclusive). */
export function columnsOf({ mean, deviation }: Standardisation, from: number, to: number): Standardisation {
  return { mean: mean.subarray(from, to), deviation: deviation.subarray(from, to) };
}

/** The readout whose outputs are z-scores by `to` if those of `readout` are z-scores by `from`. */
export function inScoresOf(readout: TrainedReadout, from: Standardisation, to: Standardisation): TrainedReadout {
  const weights = new Matrix(readout.weights.rows, readout.weights.cols, readout.weights.data.slice());
  const intercept = readout.intercept.slice();
  for (let o = 0; o < intercept.length; o++) {
    const factor = from.deviation[o]! / to.deviation[o]!;
    const row = weights.row(o);
    for (let f = 0; f < row.length; f++) row[f] = row[f]! * factor;
    intercept[o] = (intercept[o]! * from.deviation[o]! + from.mean[o]! - to.mean[o]!) / to.deviation[o]!;
  }
  const { features, stateSize, inputSize, training } = readout;
  return new TrainedReadout({ features, stateSize, inputSize, weights, intercept }, training);
}

/** Whether the two do the same. */
export function sameStandardisation(a: Standardisation, b: Standardisation): boolean {
  const equal = (x: Float64Array, y: Float64Array): boolean => x.length === y.length && x.every((value, i) => value === y[i]);
  return equal(a.mean, b.mean) && equal(a.deviation, b.deviation);
}
