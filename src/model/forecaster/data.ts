// The data of a Forecaster, checked, and cut into the inputs and targets of a reservoir. It runs
// nothing.

import { ArgumentError } from "@spillway/core/errors.js";
import { nearest } from "@spillway/core/near-names.js";
import { tally } from "@spillway/core/text.js";
import { type FloatArray, Matrix, type MatrixLike } from "@spillway/numerics";
import { filledSeries } from "@spillway/numerics/known-finite.js";
import { checkFinite } from "../../reservoir/index.js";
import { checkSequences } from "../../reservoir/inputs.js";
import type { TimeAxis, TimeColumn, TimeLike } from "../../series/index.js";
import { readTimeColumn, type TimeOptions } from "../../series/time-stamps.js";
import type { MissingInSeries } from "./missing-option.js";

/**
 * The values of a T x D series. A model in double-double takes `{ high, low }`, which gives more
 * than 53 bits of each value: high + low.
 */
export type SeriesValues = MatrixLike | { readonly high: MatrixLike; readonly low: MatrixLike };

/** A T x D series with what is known of its rows beforehand: row t of each for the same time. */
export interface DescribedSeries<Values = SeriesValues> {
  readonly series: Values;
  /** T x K inputs that are known beforehand. */
  readonly known?: MatrixLike | undefined;
  /**
   * T x D: 1 where a value of the series was filled before and not measured, else 0. What was
   * filled counts for nothing in choices and bands; with `missing: "mask"` it is an input.
   */
  readonly filled?: MatrixLike | undefined;
  /** T time stamps: texts or dates, or what `readTimes` of `spillway/series` gave. */
  readonly times?: TimesLike | undefined;
}

/**
 * A T x D series to go on, alone or with what is known of its rows; or T x I inputs with T x O
 * targets.
 */
export type ForecasterData<Values = SeriesValues> =
  | Values
  | DescribedSeries<Values>
  | { readonly inputs?: MatrixLike | undefined; readonly targets: MatrixLike };

/**
 * Series that follow one another without touching: each starts from the reservoir's initial state
 * and has its own washout. Of a combination each is a series of its own, by its key; of a list the
 * keys are "0", "1" and so on.
 */
export interface ForecasterSequences {
  readonly sequences: readonly ForecasterData[] | ReadonlyMap<string, ForecasterData>;
}

const dataFields = ["series", "known", "filled", "times", "inputs", "targets"];
const tableFields = ["columns", "matrix", "text", "header", "lines", "missing", "missingByColumn"];

/**
 * Refuses misspelt fields of data, which would have no effect. Others may be beside them, such as
 * those of a table. @throws ArgumentError
 */
export function checkFieldNames(data: object, name = ""): void {
  if (!dataFields.some((field) => field in data)) return;
  for (const [field, value] of Object.entries(data)) {
    const isOther = dataFields.includes(field) || tableFields.includes(field) || nearest(field, dataFields) === undefined;
    if (!isOther) throw ArgumentError.unknownField(field, value, dataFields, name.replace(/(: |\.)$/, "") || undefined);
  }
}

/** Several series by their keys; undefined of one. @throws ArgumentError for keys that are no texts */
export function seriesByKey(data: ForecasterData | ForecasterSequences): ReadonlyMap<string, ForecasterData> | undefined {
  if (typeof data !== "object" || data === null || !("sequences" in data)) return undefined;
  const { sequences } = data;
  if (!(sequences instanceof Map)) {
    checkSequences(sequences as readonly ForecasterData[], "sequences");
    return new Map((sequences as readonly ForecasterData[]).map((one, s) => [String(s), one]));
  }
  checkSequences([...sequences.keys()], "sequences");
  for (const key of sequences.keys()) if (typeof key !== "string") throw new ArgumentError("sequences", key, "a Map whose keys are texts");
  return sequences;
}

/**
 * Data given to the reservoir before: a series, with known inputs if the model takes them; or
 * inputs, with the targets if there is feedback to force.
 */
export type ForecasterPrefix<Values = SeriesValues> =
  | Values
  | DescribedSeries<Values>
  | { readonly inputs?: MatrixLike | undefined; readonly targets?: MatrixLike | undefined };

/** Checked data, in the units of the user. */
export type CheckedData = CheckedSeries | { readonly series?: undefined; readonly inputs: Matrix; readonly targets: Matrix };

/** A series to go on, T x D, what is known beforehand, T x K, and T time stamps. */
export interface CheckedSeries {
  readonly series: Matrix;
  readonly known?: Matrix | undefined;
  readonly times?: TimeColumn | undefined;
  /** T x D: the rows as they are filled after training; undefined if they are so already. */
  readonly held?: Matrix | undefined;
  /** What binary64 leaves of the values, of a model in double-double. */
  readonly low?: LowParts | undefined;
}

/** T x D low parts of values in double-double, and of `held`. */
export interface LowParts {
  readonly values: Float64Array;
  readonly held?: Float64Array | undefined;
}

/**
 * What drives a reservoir, and what its readout learns from the states: rows of the same number.
 */
export interface CutRows {
  /** T x I. */
  readonly inputs: Matrix;
  /** T x O. */
  readonly targets: Matrix;
  /** The last row of a series, an input whose target is not there. */
  readonly last?: Matrix | undefined;
}

/**
 * @throws ArgumentError naming what is empty, too short, of another length, or not finite (row and
 * column)
 */
export function checkedData(data: ForecasterData<MatrixLike>, feedback: boolean, name = ""): CheckedData {
  if (isKnown(data)) return checkedKnown(data, feedback, name);
  if (isPair(data)) {
    const targets = checkedSeries(data.targets, `${name}targets`);
    if (data.inputs === undefined) {
      if (!feedback)
        throw ArgumentError.because(`${name}inputs is missing; without feedback, give inputs with the targets, or just a series`);
      return { inputs: noInputs(targets.rows), targets };
    }
    const inputs = checkedSeries(data.inputs, `${name}inputs`);
    if (inputs.rows !== targets.rows) {
      throw ArgumentError.shape(`${name}inputs has ${inputs.rows} rows and ${name}targets has ${targets.rows}; they take the same number`);
    }
    return { inputs, targets };
  }
  const series = checkedSeries(data, `${name}series`);
  checkTwoRows(series, feedback, name);
  return { series };
}

/** A described series; with feedback it may have one row. @throws ArgumentError */
export function checkedKnown(data: DescribedSeries<MatrixLike>, feedback: boolean, name: string): CheckedSeries {
  const series = checkedSeries(data.series, `${name}series`);
  const known = data.known === undefined ? undefined : checkedSeries(data.known, `${name}known`);
  if (known && known.rows !== series.rows)
    throw ArgumentError.shape(`${name}known has ${known.rows} rows and ${name}series has ${series.rows}; they take the same number`, {
      field: "known",
    });
  checkTwoRows(series, feedback, name);
  const times = data.times === undefined ? undefined : timeColumn(data.times, series.rows, `${name}times`);
  return { series, known, times };
}

function checkTwoRows(series: Matrix, feedback: boolean, name: string): void {
  if (!feedback && series.rows < 2)
    throw ArgumentError.shape(`${name}series has ${series.rows} row; a series takes at least two, since one of them is predicted`);
}

/**
 * Columns of each kind that a user gave: with "mask" as many known ones are masks as there are
 * others.
 */
export function givenColumns(data: CheckedData, missing: MissingInSeries) {
  if (!data.series) return { columns: data.targets.cols, known: 0, inputs: data.inputs.cols };
  const masks = missing === "mask" ? data.series.cols : 0;
  return { columns: data.series.cols, known: (data.known?.cols ?? 0) - masks, inputs: 0 };
}

/** All of the same columns. @throws ArgumentError */
export function checkAlike(data: readonly CheckedData[]): void {
  const widths = data.map((one) => (one.series ? [one.known?.cols ?? 0, one.series.cols] : [one.inputs.cols, one.targets.cols]));
  const [first] = widths;
  if (!first) throw ArgumentError.shape("sequences is empty; it takes at least one", { field: "sequences" });
  widths.forEach((own, s) => {
    if (own[0] === first[0] && own[1] === first[1] && (data[s]!.series === undefined) === (data[0]!.series === undefined)) return;
    const words = (one: CheckedData, [inputs, targets]: readonly number[]) =>
      one.series
        ? `${tally(targets!, "column")}${inputs! > 0 ? ` and ${inputs} known inputs` : ""}`
        : `${inputs} inputs and ${targets} targets`;
    throw ArgumentError.shape(
      `sequences[${s}] has ${words(data[s]!, own)}, and sequences[0] has ${words(data[0]!, first)}; they take the same`,
    );
  });
}

/**
 * Without feedback, the input at t is row t of a series and what is known of row t + 1, and the
 * target is row t + 1. With feedback, the input is what is known of row t, and the target, which is
 * forced, row t.
 */
export function cutRows(data: CheckedData, feedback: boolean): CutRows {
  if (!data.series) return data;
  const { series, known } = data;
  if (feedback) return { inputs: known ?? noInputs(series.rows), targets: series };
  const inputs = seriesInputs(series, known);
  const count = series.rows - 1;
  return { inputs: inputs.subarray(0, count), targets: series.subarray(1), ...(known ? {} : { last: inputs.subarray(count) }) };
}

/**
 * The inputs that a series gives: its own rows; with known inputs, each row beside what is known of
 * the next, so one row fewer.
 */
export function seriesInputs(series: Matrix, known: Matrix | undefined): Matrix {
  return known ? beside(series.subarray(0, series.rows - 1), known.subarray(1)) : series;
}

/** The rows from one on. */
export function fromRow<Data extends CheckedData>(data: Data, row: number): Data {
  if (row === 0) return data;
  if (!data.series) return { ...data, inputs: data.inputs.subarray(row), targets: data.targets.subarray(row) };
  return seriesBetween(data, row, data.series.rows) as Data;
}

/** Rows `from` to `to` (exclusive) of a series. */
export function seriesBetween({ series, known, low }: CheckedSeries, from: number, to: number): CheckedSeries {
  const { cols } = series;
  return {
    series: series.subarray(from, to),
    known: known?.subarray(from, to),
    ...(low && { low: { values: low.values.subarray(from * cols, to * cols) } }),
  };
}

/** The columns of two matrices of as many rows. */
export function beside(a: Matrix, b: Matrix): Matrix<Float64Array> {
  const out = Matrix.zeros(a.rows, a.cols + b.cols);
  for (let t = 0; t < a.rows; t++) {
    out.data.set(a.row(t), t * out.cols);
    out.data.set(b.row(t), t * out.cols + a.cols);
  }
  return out;
}

/** The last rows of two matrices under each other, at most `rows`. */
export function lastRows(rows: number, ...parts: readonly Matrix[]): Matrix<Float64Array> {
  const { cols } = parts[0]!;
  const all = parts.reduce((sum, part) => sum + part.rows, 0);
  const kept = Math.min(rows, all);
  const out = Matrix.zeros(kept, cols);
  let end = kept;
  for (const part of parts.toReversed()) {
    const taken = Math.min(end, part.rows);
    end -= taken;
    out.data.set(part.subarray(part.rows - taken, part.rows).data, end * cols);
  }
  return out;
}

/** Checked rows that a model is warmed up on. @throws ArgumentError */
export function checkedPrefix(prefix: ForecasterPrefix<MatrixLike>, feedback: boolean): CheckedData {
  if (isKnown(prefix)) return checkedKnown(prefix, true, "warmup.");
  const { inputs, targets } = isPair(prefix) ? prefix : feedback ? { inputs: undefined, targets: prefix } : { inputs: prefix };
  if (!feedback) {
    if (inputs === undefined)
      throw ArgumentError.because("warmup.inputs is missing; a reservoir without feedback is warmed up on its inputs");
    return { series: checkedSeries(inputs, "warmup.inputs") };
  }
  if (targets === undefined)
    throw ArgumentError.because("warmup.targets is missing; a reservoir with feedback is warmed up on the outputs to force");
  const teacher = checkedSeries(targets, "warmup.targets");
  return { inputs: inputs === undefined ? noInputs(teacher.rows) : checkedSeries(inputs, "warmup.inputs"), targets: teacher };
}

/**
 * Time stamps: texts or dates as `readTimes` of `spillway/series` takes them, or what it gave.
 */
export type TimesLike = readonly TimeLike[] | TimeAxis;

/** A series with its time stamps. @throws ArgumentError for data that is not one series */
export function withTimes(data: ForecasterData | ForecasterSequences, times: TimesLike): DescribedSeries {
  if (typeof data === "object" && data !== null && ("sequences" in data || isPair(data)))
    throw ArgumentError.because(
      "sequences" in data
        ? "times was given beside sequences; give each its own: { series, times }"
        : "times was given beside inputs and targets; times are of a series",
      { field: "times" },
    );
  return isKnown(data as ForecasterData) ? { ...(data as DescribedSeries), times } : { series: data as SeriesValues, times };
}

/** The stamps of rows. @throws ArgumentError for what is no stamp, or not as many as rows */
export function timeColumn(times: TimesLike, rows: number, name: string, reading: TimeOptions = {}): TimeColumn {
  const isAxis = typeof times === "object" && times !== null && "grid" in times;
  const column = isAxis ? times : readTimeColumn(times, reading, (row) => `${name}[${row}]`);
  if (column.wall.length !== rows)
    throw ArgumentError.shape(
      `${name} has ${tally(column.wall.length, "stamp")} and the series ${tally(rows, "row")}; they take the same number`,
      { field: "times" },
    );
  return column;
}

/** @throws ArgumentError if there are no rows or a value is not finite */
export function checkedSeries(source: MatrixLike, name: string): Matrix {
  const matrix = filledSeries(source, name);
  checkFinite(matrix, name);
  return matrix;
}

/** The same series, without the last columns of what is known of them, which are the calendar. */
export function withoutCalendar<Data extends CheckedData>(data: readonly Data[], columns: number): readonly Data[] {
  if (columns === 0) return data;
  return data.map((one) => {
    const { known } = one as Partial<CheckedSeries>;
    return { ...one, known: known && known.cols > columns ? columnsBetween(known, 0, known.cols - columns) : undefined };
  });
}

/** Columns `from` to `to` (exclusive) of a matrix. */
export function columnsBetween<D extends FloatArray>(matrix: Matrix<D>, from: number, to = matrix.cols): Matrix<D | Float64Array> {
  if (from === 0 && to === matrix.cols) return matrix;
  const out = Matrix.zeros(matrix.rows, to - from);
  for (let t = 0; t < matrix.rows; t++) out.data.set(matrix.row(t).subarray(from, to), t * out.cols);
  return out;
}

/** Some columns of a matrix; all of them if nothing is said. */
export function selected<Values extends Matrix | undefined>(matrix: Values, columns: readonly number[] | undefined): Values {
  if (!matrix || !columns) return matrix;
  const out = Matrix.zeros(matrix.rows, columns.length);
  for (let t = 0, at = 0; t < matrix.rows; t++) for (const c of columns) out.data[at++] = matrix.at(t, c);
  return out as Values & Matrix;
}

/** @throws ArgumentError for targets that are no columns of a series, or twice the same */
export function checkTargets(targets: readonly number[] | undefined, data: CheckedData): void {
  if (!targets) return;
  if (!data.series)
    throw ArgumentError.because("targets was given as an option beside inputs and targets; it names columns of a series", {
      field: "targets",
    });
  const { cols } = data.series;
  if (targets.some((c) => c >= cols) || new Set(targets).size < targets.length)
    throw ArgumentError.because(`targets is [${targets.join(", ")}]; it takes different columns of the series, from 0 to ${cols - 1}`, {
      field: "targets",
      value: targets,
    });
}

/** Outputs to force, of as many rows as are predicted. @throws ArgumentError */
export function checkedTeacher(teacher: MatrixLike | undefined, rows: number, outputs: number): Matrix | undefined {
  if (teacher === undefined) return undefined;
  if (outputs === 0) throw ArgumentError.because("teacher was given; this forecaster's reservoir has no feedback to force");
  const forced = checkedSeries(teacher, "teacher");
  checkColumns(forced, "teacher", outputs);
  if (forced.rows !== rows)
    throw ArgumentError.shape(`teacher has ${forced.rows} rows and inputs has ${rows}; they take the same number`, { field: "teacher" });
  return forced;
}

/** T rows of no inputs. */
export function noInputs(rows: number): Matrix<Float64Array> {
  return new Matrix(rows, 0, new Float64Array(0));
}

/** @throws ArgumentError */
export function checkColumns(matrix: Pick<Matrix, "cols">, name: string, cols: number): void {
  if (matrix.cols !== cols) throw ArgumentError.shape(`${name} has ${matrix.cols} columns; this forecaster takes ${cols}`, { field: name });
}

function isKnown<Data>(data: Data): data is Extract<Data, { readonly series: unknown }> {
  return typeof data === "object" && data !== null && "series" in data;
}

function isPair<Data>(data: Data): data is Exclude<Data, SeriesValues | { readonly series: unknown }> {
  return typeof data === "object" && data !== null && ("targets" in data || "inputs" in data);
}
