// One step of NVAR in either arithmetic, and the scores and the range of its outputs.

import { type DoubleDouble, ddAdd, ddDivide, ddMultiply, ddSubtract, Matrix } from "@spillway/numerics";
import { type DoubleDoubles, ddAt, ddDotOf, ddSet } from "@spillway/numerics/double-double-rows.js";
import { evaluateReadout } from "../../reservoir/features.js";
import { type Bound, boundsOf } from "../forecaster/bounds.js";
import { type Range, rangeOf } from "../forecaster/preprocessing.js";
import { fitStandardisation, noStandardisation, type Standardisation } from "../standardisation.js";
import type { Numbers, NvarFeatures } from "./features.js";
import { numbers } from "./features.js";
import type { NvarSettings } from "./options.js";
import type { NvarSeries, NvarWeights } from "./training.js";

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

/** Series as matrices; a ring as one column, since all its columns are treated alike. */
function alike(series: readonly NvarSeries[], { neighbours }: NvarSettings): readonly Matrix[] {
  return series.map(({ rows, cols, values }) =>
    neighbours === null ? new Matrix(rows, cols, values.high) : new Matrix(rows * cols, 1, values.high),
  );
}

/** D values from those of each column, or from the one of a ring. */
const spread = (values: Float64Array, cols: number): Float64Array =>
  Float64Array.from({ length: cols }, (_, c) => values[c % values.length]!);

/** Mean and deviation of each column over all series. */
export function nvarScale(series: readonly NvarSeries[], settings: NvarSettings): Standardisation {
  const { cols } = series[0]!;
  if (!settings.standardise) return noStandardisation(cols);
  const { mean, deviation } = fitStandardisation(alike(series, settings));
  return { mean: spread(mean, cols), deviation: spread(deviation, cols) };
}

/** Mean and deviation of each known column over all series; undefined if there are none. */
export function knownScale(series: readonly NvarSeries[], { standardise }: NvarSettings): Standardisation | undefined {
  const known = series.flatMap(({ known: own, rows }) => (own ? [new Matrix(rows, own.high.length / rows, own.high)] : []));
  if (known.length === 0) return undefined;
  return standardise ? fitStandardisation(known) : noStandardisation(known[0]!.cols);
}

/** The bounds of each column, of a ring the same for all. */
export function nvarBounds(series: readonly NvarSeries[], settings: NvarSettings): readonly Bound[] {
  const { cols } = series[0]!;
  const found = boundsOf(
    settings.bounds,
    settings.bounds ? series.map(({ rows, values }) => new Matrix(rows, cols, values.high)) : alike(series, settings),
  );
  return Array.from({ length: cols }, (_, c) => found[c % found.length]!);
}

/** The range of each column over all series, as a Forecaster's. */
export function heldRange(series: readonly NvarSeries[], settings: NvarSettings): Range {
  const { lower, upper } = rangeOf(alike(series, settings));
  const { cols } = series[0]!;
  return { lower: spread(lower, cols), upper: spread(upper, cols) };
}
