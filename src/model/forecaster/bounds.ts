// Between what forecasts and the ends of their bands lie: given, or found from the training rows.
import { ArgumentError } from "@spillway/core/errors.js";
import { either, type Kind, list, nothing, number, optional, tuple } from "@spillway/core/options.js";
import type { Matrix } from "@spillway/numerics";

/** The least and the largest value that a column can have; null if it has no such end. */
export type Bound = readonly [low: number | null, high: number | null];

/** One for every column, or a list of one a column. */
export type Bounds = Bound | readonly Bound[];

const end = either("a number or null", nothing, number());
const takes = "[low, high], each a number or null, or a list of one such pair a column";
const boundKind = tuple<Bound>(takes, [end, end]);

/** The bounds of each column. */
export const boundList: Kind<readonly Bound[]> = list(boundKind, "a list of [low, high], one a column");

/** The option of a forecaster. */
export const boundsOption = optional(
  either(takes, boundKind, boundList) as Kind<Bounds>,
  "Between what forecasts and bands lie; left out, [0, null] for a column without a value below 0.",
);

/** The least and the largest value of each column that a closed loop may give. */
interface Ends {
  readonly lower: Float64Array;
  readonly upper: Float64Array;
}

/**
 * The bounds of each column: those that are given, or 0 as the least if no training value is below
 * it. @throws ArgumentError for bounds that are empty, of other columns, or left by a training value
 */
export function boundsOf(given: Bounds | undefined, series: readonly Matrix[]): readonly Bound[] {
  const { cols } = series[0]!;
  if (given === undefined)
    return Array.from({ length: cols }, (_, c): Bound => [series.every((one) => isAbove(one, c, 0)) ? 0 : null, null]);
  const isList = given.some(Array.isArray);
  const all = isList ? (given as readonly Bound[]) : Array.from({ length: cols }, () => given as Bound);
  if (all.length !== cols) throw new ArgumentError("bounds", given, `one pair, or ${cols}, one for each column of the series`);
  for (const [c, [low, high]] of all.entries()) {
    const name = `${isList ? `bounds[${c}]` : "bounds"} is [${low}, ${high}]`;
    const refuse = (sentence: string) => ArgumentError.because(`${name}; it takes ${sentence}`, { field: "bounds", value: given });
    if (low !== null && high !== null && !(low < high)) throw refuse("a low end below the high one");
    for (const one of series)
      for (let t = 0; t < one.rows; t++) {
        const value = one.at(t, c);
        if ((low === null || value >= low) && (high === null || value <= high)) continue;
        throw refuse(`ends that hold the training rows: column ${c} has ${value} at row ${t}`);
      }
  }
  return all;
}

function isAbove({ rows, cols, data }: Matrix, c: number, least: number): boolean {
  for (let t = 0; t < rows; t++) if (!(data[t * cols + c]! >= least)) return false;
  return true;
}

/** The part of a range that lies within bounds. */
export function endsWithin({ lower, upper }: Ends, bounds: readonly Bound[]): Ends {
  return {
    lower: lower.map((value, c) => Math.max(value, bounds[c]![0] ?? value)),
    upper: upper.map((value, c) => Math.min(value, bounds[c]![1] ?? value)),
  };
}

/** Values moved to the nearer end of their bounds. */
export function bounded(values: Matrix<Float64Array>, bounds: readonly Bound[] | undefined): Matrix<Float64Array> {
  if (!bounds?.some(([low, high]) => low !== null || high !== null)) return values;
  return values.map((value, i) => {
    const [low, high] = bounds[i % values.cols]!;
    return low !== null && value < low ? low : high !== null && value > high ? high : value;
  });
}
