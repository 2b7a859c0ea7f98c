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

/** The row that follows row t of a series, in z-scores. */
export class NvarStep {
  readonly #features: NvarFeatures;
  readonly #readout: NvarWeights["readout"];
  readonly #increment: boolean;
  readonly #scratch: Numbers;
  readonly #row: Numbers;
  readonly #out: Float64Array;
  /** Weights of each output and its constant, in double-double. */
  readonly #exact: readonly { readonly weights: DoubleDoubles; readonly constant: DoubleDouble }[] | undefined;

  constructor({ target, arithmetic }: NvarSettings, { features, readout, low }: NvarWeights & { readonly features: NvarFeatures }) {
    const doubleDouble = arithmetic === "doubleDouble";
    this.#features = features;
    this.#readout = readout;
    this.#increment = target === "increment";
    this.#scratch = features.scratch(doubleDouble);
    this.#row = numbers(features.count, doubleDouble);
    this.#out = new Float64Array(features.outputs);
    this.#exact =
      low &&
      Array.from({ length: features.outputs }, (_, o) => ({
        weights: { high: readout.weights.row(o), low: low.weights.row(o) },
        constant: { high: readout.intercept[o]!, low: low.intercept[o]! },
      }));
  }

  /**
   * Writes D values to `next`. Rows t - (k - 1) s to t of the series are read, and what is known of
   * the row after them.
   */
  next(series: Numbers, t: number, ahead: Numbers | undefined, next: Numbers): void {
    const { groups, outputs, columns } = this.#features;
    for (let g = 0; g < groups; g++) {
      this.#features.write(series, { t, group: g, ahead }, this.#scratch, this.#row);
      if (!this.#exact) evaluateReadout(this.#readout, this.#row.high, this.#out);
      for (let o = 0; o < outputs; o++) {
        const c = g + o;
        const at = t * columns + c;
        if (this.#exact) {
          const { weights, constant } = this.#exact[o]!;
          const sum = ddAdd(constant, ddDotOf(weights, this.#row as DoubleDoubles, 0, this.#features.count));
          ddSet(next as DoubleDoubles, c, this.#increment ? ddAdd(ddAt(series as DoubleDoubles, at), sum) : sum);
        } else next.high[c] = this.#increment ? series.high[at]! + this.#out[o]! : this.#out[o]!;
      }
    }
  }
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
