// Cuts a series into what trains and what tests. It runs nothing.
import { ArgumentError } from "@spillway/core/errors.js";
import { quoted } from "@spillway/core/text.js";
import type { Matrix } from "@spillway/numerics";
import type { DescribedSeries } from "../../model/index.js";
import {
  type FittedTransforms,
  fitTransforms,
  longestLookAhead,
  rowsLost,
  type TimeAxis,
  type Transform,
  type TransformedSeries,
  transformSeries,
} from "../../series/index.js";
import { axisRows, stampText } from "../../series/time-grid.js";
import type { ForecastTask, OpenExperiment, SplitDescription } from "../description/description.js";
import { ExperimentError } from "../description/errors.js";
import type { DrivenData, DrivenRows, SeriesData } from "./experiment-data.js";
import { rowsNeeded, splitRows } from "./split.js";

/** The series of the data, one or more. */
export function seriesOf(data: SeriesData): Matrix<Float64Array>[] {
  return [data, ...(data.more ?? [])].map(({ series }) => series);
}

/** What is known of the rows of a series beside their values. */
export interface RowFacts {
  /** Inputs that are known beforehand, T x K. */
  readonly known?: Matrix | undefined;
  readonly axis?: TimeAxis | undefined;
  /** T x D: 1 where a value was missing and was filled, else 0. */
  readonly filled?: Matrix<Float64Array> | undefined;
}

/** Rows `from` up to (not with) `to` of a series as a forecaster takes them. */
export function describedRows(series: Matrix, { known, axis, filled }: RowFacts, from: number, to: number): Matrix | DescribedSeries {
  const rows = series.subarray(from, to);
  if (!known && !axis && !filled) return rows;
  return {
    series: rows,
    known: known?.subarray(from, to),
    times: axis && axisRows(axis, from, to),
    filled: filled?.subarray(from, to),
  };
}

/** A row as people name it: its time stamp, or its number from 0. */
export function rowText(axis: TimeAxis | undefined, row: number): string {
  return axis ? stampText(axis, row) : String(row);
}

/**
 * A series as it was known at its own time. A gap that is open before row `from` holds its last
 * measured value, and so does every filled value of rows `from` up to (not with) `to`: what a line
 * puts there is made of later rows. Gaps that were closed before `from` stay as they were filled.
 * @param filled T x D: 1 where a value was filled, else 0
 */
export function asKnown(series: Matrix<Float64Array>, filled: Matrix | undefined, from: number, to = from): Matrix<Float64Array> {
  if (!filled?.subarray(Math.max(0, from - 1), to).data.includes(1)) return series;
  const known = series.slice();
  for (let c = 0; c < known.cols; c++) {
    let first = from;
    while (first > 0 && filled.at(first - 1, c) === 1) first--;
    for (let r = Math.max(1, first); r < to; r++) if (filled.at(r, c) === 1) known.row(r)[c] = known.at(r - 1, c);
  }
  return known;
}

/** A row of a series, and the series as it was known before that row. */
export function asKnownAt<Part extends { readonly whole: TransformedSeries; readonly facts: RowFacts; readonly at: number }>(
  part: Part,
): Part {
  const { measured, lost, fitted } = part.whole;
  const known = asKnown(measured, part.facts.filled, lost + part.at);
  return known === measured ? part : { ...part, whole: transformSeries(known, fitted) };
}

/** @throws ExperimentError naming a column whose training rows hold no measured value */
function checkMeasured(filled: Matrix | undefined, rows: number, names: readonly string[]): void {
  const training = filled?.subarray(0, rows);
  const empty = training ? names.findIndex((_, c) => training.column(c).every((flag) => flag === 1)) : -1;
  if (empty >= 0)
    throw new ExperimentError(`none of the ${rows} training rows of column ${quoted(names[empty]!)} was measured; leave the column out`);
}

/**
 * What came in `steps` rows from row `at` of a series on; NaN where a value was filled and not
 * measured.
 */
export function measuredRows({ original, lost }: TransformedSeries, { filled }: RowFacts, at: number, steps: number): Matrix<Float64Array> {
  return measuredCells(original.subarray(at, at + steps), filled?.subarray(lost + at, lost + at + steps));
}

/** Rows with NaN where a value was filled. */
function measuredCells(rows: Matrix<Float64Array>, filled: Matrix | undefined): Matrix<Float64Array> {
  if (!filled?.data.includes(1)) return rows;
  return rows.map((value, i) => (filled.data[i] === 1 ? Number.NaN : value));
}

/**
 * A series, the rows that train (the first ones), and the rows that test: those after them, or a
 * series of their own.
 */
export interface PreparedSeries {
  readonly whole: TransformedSeries;
  /** The transforms, fitted on the rows that train. */
  readonly fitted: FittedTransforms;
  /** The first rows of `whole`. */
  readonly trainRows: number;
  /** A text for each row of `whole`, such as its date. */
  readonly times?: readonly string[] | undefined;
  /** Of the rows as they were measured: row t of these is row t - lost of `whole`. */
  readonly facts: RowFacts;
  /** What the column that tells several series apart says of it. */
  readonly group?: string | undefined;
  /** Where the test part stands: in `whole`, or in a series of its own. */
  readonly test: {
    readonly whole: TransformedSeries;
    readonly facts: RowFacts;
    readonly from: number;
    readonly rows: number;
    readonly isSeparate: boolean;
  };
}

/** How many rows later than the last row that is known the predicted one is. */
export function rowsAhead({ task }: Pick<OpenExperiment, "task">, kind: "series" | "driven"): number {
  return task.type === "predict" ? (task.ahead ?? (kind === "series" ? 1 : 0)) : 0;
}

/** How many rows of a series train and test, counted without those that transforms take. */
export function splitSeries(experiment: OpenExperiment, data: SeriesData): { readonly train: number; readonly test: number } {
  const { task, split } = experiment;
  const isIndependent = task.type === "forecast" && task.independent;
  const rows = data.series.rows - rowsLost(ownTransforms(experiment)) - rowsAhead(experiment, "series");
  return splitRows(split, Math.max(0, rows), data.test !== undefined || isIndependent);
}

/** @throws ExperimentError if a part has no rows */
export function prepareSeries(experiment: OpenExperiment, data: SeriesData): PreparedSeries {
  const transforms = ownTransforms(experiment);
  const ahead = rowsAhead(experiment, "series");
  if (ahead > longestLookAhead(transforms)) {
    throw new ArgumentError(
      "task.ahead",
      ahead,
      `at most ${longestLookAhead(transforms)} with a difference of as many rows, or a value would be undone by one not known yet`,
    );
  }
  const lost = rowsLost(transforms);
  const split = splitSeries(experiment, data);
  const trained = lost + split.train;
  checkMeasured(data.filled, trained, data.names);
  const series = asKnown(data.series, data.filled, trained);
  const fitted = fitTransforms([series.subarray(0, trained)], transforms);
  const whole = transformSeries(series, fitted);
  const separate = data.test && transformSeries(data.test, fitted);
  const facts = { known: data.known, axis: data.axis, filled: data.filled };
  const common = { whole, fitted, facts, times: data.times?.slice(whole.lost), trainRows: split.train };
  if (!separate) return { ...common, test: { whole, facts, from: split.train, rows: split.test, isSeparate: false } };
  const rows = separate.series.rows - ahead;
  if (rows < 1) throw new ExperimentError(`the test file has ${data.test!.rows} rows, which leaves none to test`);
  const testFacts = { known: data.testKnown, axis: data.testAxis, filled: data.testFilled };
  return { ...common, test: { whole: separate, facts: testFacts, from: 0, rows, isSeparate: true } };
}

/**
 * The parts of several series with the rows of each that train, and up to which one tests.
 * @throws ExperimentError as {@link splitRows} does
 */
export function splitParts(experiment: OpenExperiment, data: SeriesData) {
  const lost = rowsLost(ownTransforms(experiment));
  const parts = [data, ...(data.more ?? [])].filter(({ series }) => series.rows > lost);
  const groups = new Map<string | undefined, typeof parts>();
  for (const part of parts) groups.set(part.group, [...(groups.get(part.group) ?? []), part]);
  return [...groups.values()].flatMap((members) => {
    const rows = members.reduce((sum, { series }) => sum + series.rows - lost, 0);
    const { train, test } = splitRows(experiment.split, rows, false);
    let rowsBefore = 0;
    return members.map((member) => {
      const own = member.series.rows - lost;
      const within = (row: number) => Math.min(Math.max(row - rowsBefore, 0), own);
      const part = { member, trainRows: within(train), end: within(train + test) };
      rowsBefore += own;
      return part;
    });
  });
}

/**
 * Every series of the data. `split` counts the rows of each group: those of its parts, one after
 * the other, if gaps split it. Parts that transforms leave no rows of are left out.
 * @throws ExperimentError as {@link prepareSeries} does
 */
export function prepareAll(experiment: OpenExperiment, data: SeriesData): PreparedSeries[] {
  if (!data.more) return [prepareSeries(experiment, data)];
  const transforms = ownTransforms(experiment);
  const lost = rowsLost(transforms);
  const parts = splitParts(experiment, data).map((part) => {
    const { series, filled } = part.member;
    return { ...part, member: { ...part.member, series: asKnown(series, filled, lost + part.trainRows) } };
  });
  const training = parts.filter(({ trainRows }) => trainRows > 0);
  const rows = training.map(({ member, trainRows }) => member.series.subarray(0, lost + trainRows));
  const fitted = fitTransforms(rows, transforms);
  return parts.map(({ member: { series, times, group, ...part }, trainRows, end }): PreparedSeries => {
    const whole = transformSeries(series, fitted);
    const facts = { known: part.known, axis: part.axis, filled: part.filled };
    const tested = { whole, facts, from: trainRows, rows: end - trainRows, isSeparate: false };
    return { whole, fitted, facts, times: times?.slice(lost), group, trainRows, test: tested };
  });
}

/** Whether the model standardises what it sees. */
export function standardises({ transforms }: Pick<OpenExperiment, "transforms">): boolean {
  return transforms.includes("standardise");
}

/** The transforms of the series; standardising is the model's own. */
export function ownTransforms({ transforms }: Pick<OpenExperiment, "transforms">): readonly Transform[] {
  return transforms.filter((each) => each !== "standardise");
}

/** Inputs and targets of each part. */
export interface PreparedPairs {
  readonly train: { readonly inputs: Matrix; readonly targets: Matrix<Float64Array> };
  /** `came` are the targets with NaN where a value was filled and not measured. */
  readonly test: {
    readonly inputs: Matrix;
    readonly targets: Matrix<Float64Array>;
    readonly came: Matrix<Float64Array>;
    readonly isSeparate: boolean;
  };
}

/** How many rows of inputs and targets train and test. */
export function splitDriven(experiment: OpenExperiment, { inputs, test }: DrivenData): { readonly train: number; readonly test: number } {
  return splitRows(experiment.split, Math.max(0, inputs.rows - rowsAhead(experiment, "driven")), test !== undefined);
}

/** @throws ExperimentError if a part has no rows */
export function prepareDriven(experiment: OpenExperiment, data: DrivenData): PreparedPairs & { readonly known: DrivenData } {
  const foreign = experiment.transforms.find((transform) => transform !== "standardise");
  if (foreign) throw new ArgumentError("transforms", foreign, "only standardise if inputs drive the reservoir");
  const ahead = rowsAhead(experiment, "driven");
  const split = splitDriven(experiment, data);
  checkMeasured(data.filled?.inputs, split.train, data.inputNames);
  checkMeasured(data.filled?.targets, split.train, data.names);
  const known = { ...data, ...drivenAsKnown(data, split.train), test: data.test && { ...data.test, ...drivenAsKnown(data.test, 0) } };
  const part = ({ inputs, targets, filled }: DrivenRows, from: number, to: number) => ({
    inputs: inputs.subarray(from, to),
    targets: targets.subarray(from + ahead, to + ahead),
    came: measuredCells(targets.subarray(from + ahead, to + ahead), filled?.targets.subarray(from + ahead, to + ahead)),
  });
  const train = part(known, 0, split.train);
  if (!known.test) return { train, known, test: { ...part(known, split.train, split.train + split.test), isSeparate: false } };
  const rows = known.test.inputs.rows - ahead;
  if (rows < 1)
    throw new ExperimentError(`the test file has ${known.test.inputs.rows} rows and task.ahead is ${ahead}, which leaves none to test`);
  return { train, known, test: { ...part(known.test, 0, rows), isSeparate: true } };
}

function drivenAsKnown({ inputs, targets, filled }: DrivenRows, from: number): Pick<DrivenRows, "inputs" | "targets"> {
  return {
    inputs: asKnown(inputs, filled?.inputs, from, inputs.rows),
    targets: asKnown(targets, filled?.targets, from, targets.rows),
  };
}

/** The most starts of forecasts that are not counted in the file. */
export const mostStarts = 50;

/**
 * The rows at which forecasts start, in the series of the test part. @throws ExperimentError if
 * the series is too short for them.
 */
export function startRows(task: ForecastTask, { test, trainRows, whole }: PreparedSeries, split: SplitDescription = {}): number[] {
  const { horizon, stride, warmup } = task;
  if (test.rows === 0 && split.train === 1) return [];
  const first = test.isSeparate ? warmup : test.from;
  const end = test.from + test.rows;
  const span = end - horizon - first;
  if (warmup > first)
    throw new ExperimentError(`task.warmup is ${warmup} and there are ${trainRows} rows before the test part; it takes at most as many`);
  if (span < 0) {
    const needed = test.isSeparate ? warmup + horizon : rowsNeeded(split, false, { train: 1, test: horizon });
    const more = needed === undefined ? "more rows" : `more rows (${needed + whole.lost} in all)`;
    throw new ExperimentError(
      `the test part has ${test.rows} rows; a horizon of ${horizon}${test.isSeparate ? ` after a warm-up of ${warmup}` : ""} takes more: take a shorter horizon, ${more}${test.isSeparate ? "" : ", or more of them to test (split.test)"}`,
    );
  }
  const starts = task.starts === "auto" ? Math.min(mostStarts, Math.floor(span / (stride ?? 1)) + 1) : task.starts;
  if (stride !== undefined && (starts - 1) * stride > span) {
    throw new ExperimentError(
      `task.starts is ${starts}, ${stride} rows apart; the test part of ${test.rows} rows takes at most ${Math.floor(span / stride) + 1} with a horizon of ${horizon}`,
    );
  }
  if (stride === undefined && starts - 1 > span) {
    throw new ExperimentError(
      `task.starts is ${starts}; the test part of ${test.rows} rows takes at most ${span + 1} with a horizon of ${horizon}`,
    );
  }
  return Array.from(
    { length: starts },
    (_, k) => first + (stride === undefined ? (starts > 1 ? Math.floor((k * span) / (starts - 1)) : 0) : k * stride),
  );
}

/** A row of one of several series. */
export interface ForecastStart {
  readonly series: PreparedSeries;
  readonly at: number;
}

/**
 * Where forecasts start, in several series: at equal distances over all rows that have `warmup`
 * rows before them in their series and `horizon` from them on in its test part.
 * @throws ExperimentError if there are too few such rows
 */
export function forecastStarts(task: ForecastTask, prepared: readonly PreparedSeries[], split: SplitDescription = {}): ForecastStart[] {
  const [only] = prepared;
  if (prepared.length === 1) return startRows(task, only!, split).map((at) => ({ series: only!, at }));
  if (split.train === 1) return [];
  const { horizon, stride, warmup } = task;
  const fitting = prepared.map(({ test: { from, rows } }) => {
    const first = Math.max(from, warmup);
    return { first, count: Math.max(0, from + rows - horizon - first + 1) };
  });
  const all = fitting.reduce((sum, { count }) => sum + count, 0);
  const starts = task.starts === "auto" ? Math.max(1, Math.min(mostStarts, stride ? Math.ceil(all / stride) : all)) : task.starts;
  const step = stride ?? (starts > 1 ? (all - 1) / (starts - 1) : 0);
  if (all < 1 || (stride === undefined ? starts > all : (starts - 1) * stride >= all)) {
    throw new ExperimentError(
      `task.starts is ${starts}${stride === undefined ? "" : `, ${stride} rows apart`}; the test parts of ${prepared.length} series take ` +
        `at most ${stride === undefined ? all : Math.ceil(all / stride)} with a warm-up of ${warmup} and a horizon of ${horizon}`,
    );
  }
  let s = 0;
  let before = 0;
  return Array.from({ length: starts }, (_, k) => {
    const nth = Math.floor(k * step);
    while (nth - before >= fitting[s]!.count) before += fitting[s++]!.count;
    return { series: prepared[s]!, at: fitting[s]!.first + nth - before };
  });
}
