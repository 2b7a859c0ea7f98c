// The data of an NvarForecaster, checked. It computes nothing.
import { ArgumentError } from "../../core/errors.js";
import { fillMissing, holdMissing } from "../../io/missing.js";
import { Matrix } from "../../numerics/index.js";
import { checkSequences, filledSeries } from "../../reservoir/inputs.js";
import { type CheckedSeries, checkAlike, checkedKnown, checkedSeries } from "../forecaster/data.js";
import { fillData, type MissingInSeries } from "../forecaster/missing.js";
import type { Numbers } from "./features.js";
import type { NvarData, NvarDescribed, NvarSequences, NvarSettings, NvarValues } from "./options.js";

/** A checked series: T x D numbers, and T x K of what is known. */
export interface NvarSeries {
  readonly rows: number;
  readonly cols: number;
  readonly values: Numbers;
  readonly known?: Numbers | undefined;
  /** T x D: 1 where a value was filled and rows that touch it train nothing. */
  readonly left?: Matrix | undefined;
}

/** A series without missing values, as its user gave it. */
export interface GivenSeries {
  readonly checked: CheckedSeries;
  /** The low parts of its values, in double-double. */
  readonly low: Float64Array | undefined;
  /** T x D: 1 where a value was filled; undefined if none can have been. */
  readonly mask: Matrix | undefined;
  readonly counts: readonly number[];
}

type Settings = Pick<NvarSettings, "missing" | "arithmetic">;

/** Checks a series. @param name before the names of its fields @throws ArgumentError */
export function givenSeries(data: NvarData, name: string, { missing = "error", arithmetic }: Settings): GivenSeries {
  const { series: values, ...facts } = described(data, name);
  const both = typeof values === "object" && values !== null && "high" in values ? values : undefined;
  if (both && arithmetic !== "doubleDouble")
    throw ArgumentError.because(`${name}series has high and low parts; they take arithmetic "doubleDouble"`, { field: "arithmetic" });
  const high = both ? both.high : (values as Exclude<NvarValues, { readonly high: unknown }>);
  const { data: filled, mask, counts } = fillData({ ...facts, series: high }, missing, name);
  // What tells a reservoir of missing values is of no use here.
  const checked = checkedKnown({ ...filled, known: facts.known }, true, name);
  const low = arithmetic === "doubleDouble" ? lowParts(both, checked.series, missing, name) : undefined;
  return { checked, low, mask, counts };
}

/** Every series of training data. @throws ArgumentError */
export function givenSequences(data: NvarData | NvarSequences, settings: Settings): readonly GivenSeries[] {
  const several = typeof data === "object" && data !== null && "sequences" in data;
  if (several) checkSequences(data.sequences, "sequences");
  const all = several ? data.sequences.map((one, s) => givenSeries(one, `sequences[${s}]: `, settings)) : [givenSeries(data, "", settings)];
  checkAlike(all.map(({ checked }) => checked));
  return all;
}

/** A series as features are made of it; `known` with the calendar of its rows. */
export function nvarSeries({ low, mask }: GivenSeries, { series, known }: CheckedSeries, { missing }: Settings): NvarSeries {
  const high = Float64Array.from(series.data);
  return {
    rows: series.rows,
    cols: series.cols,
    values: low ? { high, low } : { high },
    known: known && nvarKnown(known, low !== undefined),
    left: missing === "mask" ? mask : undefined,
  };
}

/** What is known of rows, in either arithmetic. */
export function nvarKnown({ data }: Matrix, doubleDouble: boolean): Numbers {
  const high = Float64Array.from(data);
  return doubleDouble ? { high, low: new Float64Array(high.length) } : { high };
}

function described(data: NvarData, name: string): NvarDescribed {
  if (typeof data !== "object" || data === null) return { series: data };
  if ("targets" in data || "inputs" in data)
    throw ArgumentError.because(`${name}inputs or targets were given; NVAR goes on with a series, T x D: give it just that`);
  return "series" in data ? data : { series: data };
}

/** Low parts, filled as the high ones are. */
function lowParts(
  both: Extract<NvarValues, { readonly high: unknown }> | undefined,
  series: Matrix,
  missing: MissingInSeries,
  name: string,
): Float64Array {
  if (!both) return new Float64Array(series.data.length);
  const high = filledSeries(both.high, `${name}series.high`);
  const low = Matrix.from(filledSeries(both.low, `${name}series.low`), "float64");
  if (low.rows !== high.rows || low.cols !== high.cols)
    throw ArgumentError.shape(
      `${name}series.low is ${low.rows} x ${low.cols} and ${name}series.high is ${high.rows} x ${high.cols}; they take the same`,
    );
  checkedSeries(
    low.data.map((value, i) => (Number.isNaN(high.data[i]!) ? 0 : value)),
    `${name}series.low`,
  );
  high.data.forEach((value, i) => {
    if (Number.isNaN(value)) low.data[i] = Number.NaN;
  });
  const fail = (_row: number, _column: number, reason: string) => new Error(reason);
  if (missing === "mask") holdMissing(low, fail);
  else if (missing !== "error") fillMissing(low, missing, fail);
  return low.data;
}
