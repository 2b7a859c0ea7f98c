// One step of NVAR in either arithmetic, and z-scores of its numbers.

import { type DoubleDouble, ddAdd, ddDivide, ddMultiply, ddSubtract } from "@spillway/numerics";
import { type DoubleDoubles, ddAt, ddDotOf, ddSet } from "@spillway/numerics/double-double-rows.js";
import { evaluateReadout } from "../../reservoir/features.js";
import type { Range } from "../forecaster/preprocessing.js";
import type { Standardisation } from "../standardisation.js";
import type { Numbers, NvarFeatures } from "./features.js";
import { numbers } from "./features.js";
import type { NvarSettings } from "./options.js";
import type { NvarWeights } from "./training.js";

const exact = (high: number): DoubleDouble => ({ high, low: 0 });

/**
 * Writes the row that follows row t of a series in z-scores, D values, to `next`. Rows t - (k - 1) s
 * to t of the series are read, and what is known of the row after them.
 */
type NvarStep = (series: Numbers, t: number, ahead: Numbers | undefined, next: Numbers) => void;

export function nvarStep(
  { target, arithmetic }: NvarSettings,
  { features, readout, low }: NvarWeights & { readonly features: NvarFeatures },
): NvarStep {
  const { groups, outputs, columns, count } = features;
  const isExact = arithmetic === "doubleDouble";
  const isIncrement = target === "increment";
  const scratch = features.scratch(isExact);
  const row = numbers(count, isExact);
  const out = new Float64Array(outputs);
  // Weights of each output and its constant, in double-double.
  const exactly =
    low &&
    Array.from({ length: outputs }, (_, o) => ({
      weights: { high: readout.weights.row(o), low: low.weights.row(o) },
      constant: { high: readout.intercept[o]!, low: low.intercept[o]! },
    }));
  return (series, t, ahead, next) => {
    for (let group = 0; group < groups; group++) {
      features.write(series, { t, group, ahead }, scratch, row);
      if (!exactly) evaluateReadout(readout, row.high, out);
      for (let o = 0; o < outputs; o++) {
        const c = group + o;
        const at = t * columns + c;
        if (exactly) {
          const { weights, constant } = exactly[o]!;
          const sum = ddAdd(constant, ddDotOf(weights, row as DoubleDoubles, 0, count));
          ddSet(next as DoubleDoubles, c, isIncrement ? ddAdd(ddAt(series as DoubleDoubles, at), sum) : sum);
        } else next.high[c] = isIncrement ? series.high[at]! + out[o]! : out[o]!;
      }
    }
  };
}

/** z-scores: (x - mean) / deviation, column by column. */
export function scaledNumbers({ mean, deviation }: Standardisation, values: Numbers): Numbers {
  const out = numbers(values.high.length, values.low !== undefined);
  const cols = mean.length;
  for (let i = 0; i < out.high.length; i++) {
    const c = i % cols;
    if (out.low)
      ddSet(out as DoubleDoubles, i, ddDivide(ddSubtract(ddAt(values as DoubleDoubles, i), exact(mean[c]!)), exact(deviation[c]!)));
    else out.high[i] = (values.high[i]! - mean[c]!) / deviation[c]!;
  }
  return out;
}

/** The values that have these z-scores, rounded to binary64. */
export function restoredNumbers({ mean, deviation }: Standardisation, scores: Numbers): Float64Array {
  const cols = mean.length;
  return Float64Array.from(scores.high, (score, i) => {
    const c = i % cols;
    if (!scores.low) return score * deviation[c]! + mean[c]!;
    return ddAdd(ddMultiply(ddAt(scores as DoubleDoubles, i), exact(deviation[c]!)), exact(mean[c]!)).high;
  });
}

/** The last rows of `rows`, as many as the delays reach over. */
export function copyRows({ high, low }: Numbers, { history, columns }: NvarFeatures, rows: number): Numbers {
  const [from, to] = [(rows - history) * columns, rows * columns];
  return { high: high.slice(from, to), ...(low && { low: low.slice(from, to) }) };
}

/**
 * Moves values outside of their range to its nearer end, and what is no number to the upper one.
 */
export function hold({ lower, upper }: Range, { high, low }: Numbers): void {
  for (let c = 0; c < high.length; c++) {
    const value = high[c]!;
    if (value >= lower[c]! && value <= upper[c]!) continue;
    high[c] = value < lower[c]! ? lower[c]! : upper[c]!;
    if (low) low[c] = 0;
  }
}
