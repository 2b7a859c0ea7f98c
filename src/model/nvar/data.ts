// The data of an NvarForecaster, checked. It computes nothing.
import { ArgumentError } from "@spillway/core/errors.js";
import { fillMissing, holdAfter, holdMissing, withLines } from "@spillway/io/missing.js";
import { Matrix } from "@spillway/numerics";
import { filledSeries } from "@spillway/numerics/known-finite.js";
import { checkSequences } from "../../reservoir/inputs.js";
import { type CheckedSeries, checkAlike, checkedKnown, checkedSeries, type DescribedSeries } from "../forecaster/data.js";
import { type FilledData, fillFollowing, fillTraining, type LastRows } from "../forecaster/missing.js";
import type { Numbers } from "./features.js";
import type { NvarData, NvarDescribed, NvarSequences, NvarSettings, NvarValues } from "./options.js";

/** A checked series: T x D numbers, and T x K of what is known. */
export interface NvarSeries {
  readonly rows: number;
  readonly cols: number;
  readonly values: Numbers;
  /** The values as they are filled after training; undefined if they are so already. */
  readonly held?: Numbers | undefined;
  readonly known?: Numbers | undefined;
  /** T x D: 1 where a value was filled and rows that touch it train nothing. */
  readonly left?: Matrix | undefined;
}

/** A series without missing values, as its user gave it. */
export interface GivenSeries {
  readonly checked: CheckedSeries;
  /** The low parts of its values, in double-double. */
  readonly low: LowParts | undefined;
  /** T x D: 1 where a value was filled; undefined if none can have been. */
  readonly mask: Matrix | undefined;
  readonly counts: readonly number[];
  /** T x D: the rows as they are filled after training; undefined if they are so already. */
  readonly held: Matrix | undefined;
  readonly last: NvarLast;
  /** Rows at the start with a value that nothing before them can hold. */
  readonly unfilled: number;
}

/** The last row, by which missing values of those to come are held. */
export interface NvarLast extends LastRows {
  readonly low?: Float64Array | undefined;
}

interface LowParts {
  readonly values: Float64Array;
  readonly held: Float64Array | undefined;
}

type Settings = Pick<NvarSettings, "missing" | "arithmetic">;

/**
 * Checks a series. @param name before the names of its fields @param before the last row before it,
 * nothing if it starts anew; undefined for training rows @throws ArgumentError
 */
export function givenSeries(data: NvarData, name: string, { missing = "error", arithmetic }: Settings, before?: NvarLast): GivenSeries {
  const { series: values, ...facts } = described(data, name);
  const both = typeof values === "object" && values !== null && "high" in values ? values : undefined;
  if (both && arithmetic !== "doubleDouble")
    throw ArgumentError.because(`${name}series has high and low parts; they take arithmetic "doubleDouble"`, { field: "arithmetic" });
  const high = both ? both.high : (values as Exclude<NvarValues, { readonly high: unknown }>);
  const rows: DescribedSeries = { ...facts, series: high };
  const found: FilledData<DescribedSeries> = before
    ? fillFollowing(rows, missing, before, { name })
    : fillTraining(rows, missing, false, name);
  const { data: filled, mask, counts, held, last, unfilled } = found;
  // What tells a reservoir of missing values is of no use here.
  const checked = checkedKnown({ ...filled, known: facts.known }, true, name);
  const low =
    arithmetic === "doubleDouble"
      ? lowParts(both, found, checked.series, { missing, before: before && { row: before.low } }, name)
      : undefined;
  return { checked, low, mask, counts, held, last: { ...last, low: low?.values.slice(-checked.series.cols) }, unfilled };
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
export function nvarSeries({ low, mask, held }: GivenSeries, { series, known }: CheckedSeries, { missing }: Settings): NvarSeries {
  const high = Float64Array.from(series.data);
  return {
    rows: series.rows,
    cols: series.cols,
    values: low ? { high, low: low.values } : { high },
    held: held && { high: Float64Array.from(held.data), ...(low?.held && { low: low.held }) },
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
  { mask, held }: FilledData<unknown>,
  series: Matrix,
  { missing, before }: Pick<Settings, "missing"> & { readonly before: { readonly row: Float64Array | undefined } | undefined },
  name: string,
): LowParts {
  if (!both) {
    const none = new Float64Array(series.data.length);
    return { values: none, held: held && none };
  }
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
  if (missing === "error") return { values: low.data, held: undefined };
  if (before) holdAfter(low, before.row);
  else if (missing === "mask") holdMissing(low, fail);
  else fillMissing(low, "hold", fail);
  return held ? { values: withLines(low, mask!).data, held: low.data } : { values: low.data, held: undefined };
}
