// The rows that a Forecaster is given: missing values filled, checked, and in double-double with the
// low parts of their values.
import { ArgumentError } from "@spillway/core/errors.js";
import { fillMissing, holdAfter, holdMissing, withLines } from "@spillway/io/missing.js";
import { Matrix, type MatrixLike } from "@spillway/numerics";
import { filledSeries } from "@spillway/numerics/known-finite.js";
import { checkTableNames, type TableNames } from "../table-names.js";
import {
  type CheckedData,
  type CheckedSeries,
  checkAlike,
  checkedData,
  checkedKnown,
  checkedPrefix,
  checkedSeries,
  checkFieldNames,
  type DescribedSeries,
  type ForecasterData,
  type ForecasterPrefix,
  type ForecasterSequences,
  givenColumns,
  type LowParts,
  type SeriesValues,
  seriesByKey,
} from "./data.js";
import { type FilledData, fillData, type LastRows } from "./missing.js";
import type { MissingInSeries } from "./missing-option.js";

/** What rows a model runs on. */
export interface RowKind {
  /** Whether what is predicted is fed back through weights of its own. */
  readonly feedback: boolean;
  /** Whether it runs on inputs with targets too. */
  readonly pairs: boolean;
  /** Whether the mask of missing values is an input. */
  readonly maskInput: boolean;
  /** Whether it computes in double-double. */
  readonly exact: boolean;
}

/** How rows are read: the settings of a model, and what it runs on. */
export interface RowOptions extends RowKind {
  readonly missing?: MissingInSeries | undefined;
  readonly table?: TableNames | undefined;
}

/** Series, or inputs with targets, without missing values. */
export interface TrainingRows {
  readonly checked: readonly CheckedData[];
  /** Of each, 1 where a value was filled; undefined if none can have been. */
  readonly masks: readonly (Matrix | undefined)[];
  /** How many values of each column were missing. */
  readonly missingCounts: readonly number[];
  /** The last rows of the last series. */
  readonly last: LastRows;
  /** How many columns the data has. */
  readonly given: ReturnType<typeof givenColumns>;
}

/** Rows that follow others: a warm-up, or rows that are scored. */
export interface FollowingRows {
  readonly data: CheckedData;
  /** 1 where a value was filled; undefined if none can have been. */
  readonly mask: Matrix | undefined;
  readonly last: LastRows;
  /** Rows at the start that nothing before them can fill. */
  readonly unfilled: number;
}

/** @throws ArgumentError for data that does not fit */
export function trainingRows(data: ForecasterData | ForecasterSequences, options: RowOptions): TrainingRows {
  const { missing = "error", table, feedback, maskInput } = options;
  const several = seriesByKey(data);
  const all = several ? [...several.values()] : [data as ForecasterData];
  const nameOf = (s: number) => (several ? `sequences[${s}]: ` : "");
  const filled = all.map((one, s) => {
    const { high, both } = highParts(one, options, nameOf(s));
    const found = fillData(high, { ...options, before: undefined }, nameOf(s));
    const rows = checkedData(found.data, feedback, nameOf(s));
    const low = lowParts(both, found, rows, { missing, exact: options.exact, before: undefined }, nameOf(s));
    return { ...found, rows: found.held || low ? { ...(rows as CheckedSeries), held: found.held, low } : rows, low };
  });
  const checked = filled.map(({ rows }) => rows);
  checkAlike(checked);
  if (checked[0]!.series?.cols === 0) throw ArgumentError.shape("series has no columns; it takes at least one", { field: "series" });
  const given = givenColumns(checked[0]!, maskInput ? missing : "error");
  checkTableNames(table, given);
  if (missing === "mask" && feedback)
    throw ArgumentError.because('missing is "mask" and the reservoir has feedback; take "hold" or "interpolate"', { field: "missing" });
  const counts = filled.map((one) => one.counts);
  const end = filled.at(-1)!;
  return {
    checked,
    masks: filled.map(({ mask }) => mask),
    missingCounts: counts[0]!.map((_, c) => counts.reduce((sum, one) => sum + one[c]!, 0)),
    last: withLow(end.last, end.low, given.columns),
    given,
  };
}

/** Rows to warm up on, from the initial state. @throws ArgumentError */
export function warmUpRows(data: ForecasterPrefix, options: RowOptions): FollowingRows {
  return followingRows(data, options, {}, "warmup.", (filled) => checkedPrefix(filled as ForecasterPrefix<MatrixLike>, options.feedback));
}

/** Rows to score, which go on from `before`. @throws ArgumentError */
export function scoredData(data: ForecasterData, options: RowOptions, before: LastRows): FollowingRows {
  return followingRows(data, options, before, "", (filled) => checkedData(filled as ForecasterData<MatrixLike>, options.feedback));
}

/** Rows that go on from `before`, one or more. @throws ArgumentError */
export function addedRows(data: ForecasterData, options: RowOptions, before: LastRows): FollowingRows {
  if (typeof data === "object" && "targets" in data)
    throw ArgumentError.because("inputs and targets were given; update takes a series", { field: "series" });
  // Of rows that follow others one is enough.
  return followingRows(data, options, before, "", (filled) => {
    const rows = filled as MatrixLike | DescribedSeries<MatrixLike>;
    return checkedKnown(typeof rows === "object" && "series" in rows ? rows : { series: rows }, true, "");
  });
}

function followingRows(
  data: ForecasterData | ForecasterPrefix,
  options: RowOptions,
  before: LastRows,
  name: string,
  check: (filled: unknown) => CheckedData,
): FollowingRows {
  const { missing, exact } = options;
  const { high, both } = highParts(data, options, name);
  const found = fillData(high, { ...options, before }, name);
  const rows = check(found.data);
  const low = lowParts(both, found, rows, { missing, exact, before: { row: before.low } }, name);
  const columns = (rows.series ?? rows.targets).cols;
  return {
    data: low ? { ...(rows as CheckedSeries), low } : rows,
    mask: found.mask,
    last: withLow(found.last, low, columns),
    unfilled: found.unfilled,
  };
}

/** The values of rows that are predicted from, checked to be of one part if they have to be. */
export function predictedParts(values: SeriesValues | { readonly steps: number }, options: RowOptions) {
  if (typeof values === "object" && values !== null && "steps" in values) return { high: values, both: undefined };
  const { high, both } = highParts({ series: values }, options, "");
  return { high: (high as { readonly series: MatrixLike }).series, both };
}

/** The last low parts beside the last rows. */
export function withLow(last: LastRows, low: LowParts | undefined, columns: number): LastRows {
  return low ? { ...last, low: low.values.slice(-columns) } : last;
}

type BothParts = Extract<SeriesValues, { readonly high: unknown }>;

/** Data whose series is the high part alone, and both parts if they were given. @throws ArgumentError */
function highParts(data: ForecasterData | ForecasterPrefix, { exact, pairs }: RowOptions, name: string) {
  const none = { high: data as ForecasterData<MatrixLike>, both: undefined };
  if (typeof data !== "object" || data === null) return none;
  checkFieldNames(data, name);
  const other = pairs ? undefined : ["inputs", "targets"].find((field) => (data as Record<string, unknown>)[field] !== undefined);
  if (other !== undefined)
    throw ArgumentError.because(`${name}${other} was given; this forecaster goes on with a series: give it just that`, { field: other });
  const described = "series" in data ? (data as { readonly series: SeriesValues }) : undefined;
  const values = described ? described.series : (data as SeriesValues);
  const both = typeof values === "object" && values !== null && "high" in values ? values : undefined;
  if (!both) return none;
  if (!exact)
    throw ArgumentError.because(`${name}series has high and low parts; they take arithmetic "doubleDouble"`, { field: "arithmetic" });
  return { high: (described ? { ...described, series: both.high } : both.high) as ForecasterData<MatrixLike>, both };
}

/** Low parts of a checked series, filled as the high ones are; undefined in binary64. */
export function lowParts(
  both: BothParts | undefined,
  { mask, held }: Pick<FilledData<unknown>, "mask" | "held">,
  { series }: Pick<CheckedData, "series">,
  {
    missing = "error",
    exact,
    before,
  }: Pick<RowOptions, "missing" | "exact"> & { readonly before: { readonly row: Float64Array | undefined } | undefined },
  name: string,
): LowParts | undefined {
  if (!exact || !series) return undefined;
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
  const measured = low.data.map((value, i) => (Number.isNaN(high.data[i]!) ? 0 : value));
  checkedSeries(measured, `${name}series.low`);
  high.data.forEach((value, i) => {
    if (Number.isNaN(value)) low.data[i] = Number.NaN;
  });
  const fail = (_row: number, _column: number, reason: string) => new Error(reason);
  if (missing === "error") return { values: low.data };
  if (before) holdAfter(low, before.row);
  else if (missing === "mask") holdMissing(low, fail);
  else fillMissing(low, "hold", fail);
  return held ? { values: withLines(low, mask!).data, held: low.data } : { values: low.data };
}
