// A table of an experiment, from a CSV, Parquet, NPY or WAV file: its columns, the time stamps of its rows,
// and the series that it holds.
import { ArgumentError } from "@spillway/core/errors.js";
import { quoted, tally } from "@spillway/core/text.js";
import type { CsvTable, MissingPolicy } from "@spillway/io";
import { fillMissing, holdMissing, missingCells } from "@spillway/io/missing.js";
import { firstNonFinite, Matrix } from "@spillway/numerics";
import { selected } from "../../model/forecaster/data.js";
import type { TableNames } from "../../model/index.js";
import type { TableReading } from "../../model/table-names.js";
import { closeGaps, describeAxis, type TimeAxis } from "../../series/index.js";
import { zonesExplaining } from "../../series/local-times.js";
import { parseStamp } from "../../series/time-form.js";
import { fittingForms } from "../../series/time-formats.js";
import { columnTexts, describeStep, mostFrequentDifference, timeAxis } from "../../series/time-grid.js";
import { readTimeColumn, type TimeOptions } from "../../series/time-stamps.js";
import type { FileData } from "../description/description.js";
import { ExperimentError } from "../description/errors.js";
import { filledCells } from "./filled-rows.js";
import { rowsAt, rowsByGroup } from "./rows.js";
import { proposed, tableProblems } from "./table-problems.js";

/** The formats of tables. */
export type TableFormat = Exclude<NonNullable<FileData["format"]>, "ts">;

/** Whether the columns of a format have names, and some of them may be text. */
function hasNames(format: TableFormat): boolean {
  return format === "csv" || format === "parquet";
}

/** One series of a table. */
export interface SeriesPart {
  /** T x D. */
  readonly series: Matrix<Float64Array>;
  /** T x K inputs that are known beforehand. */
  readonly known?: Matrix<Float64Array> | undefined;
  /** T x D: 1 where a value was missing and was filled, else 0; undefined if none was. */
  readonly filled?: Matrix<Float64Array> | undefined;
  /** A text a row, such as a date. */
  readonly times?: readonly string[] | undefined;
  /** The time stamps of the rows. */
  readonly axis?: TimeAxis | undefined;
  /** What the column `group` says of it. */
  readonly group?: string | undefined;
}

/** The series of a table, one or more. */
export interface Table {
  readonly parts: readonly SeriesPart[];
  readonly names: readonly string[];
  /** What a model file keeps of a table's columns. */
  readonly kept?: TableNames | undefined;
  /** Rows of the file that are used. */
  readonly rows: number;
  /** Values that were missing, by column; columns without are left out. */
  readonly missing: Readonly<Record<string, number>>;
  /** The form of the time stamps, their step, and step, span and gaps in words. */
  readonly form?: string | undefined;
  readonly step?: string | undefined;
  readonly timesSaid?: string | undefined;
}

/** Rows as they stand in the file. */
interface Rows {
  readonly matrix: Matrix<Float64Array>;
  readonly names: readonly string[];
  readonly missing: readonly number[];
  /** 1 where a value was missing and was filled, else 0; undefined if none was. */
  readonly filled?: Matrix<Float64Array> | undefined;
  /** The names of columns that are known beforehand. */
  readonly known: readonly string[];
  /** The names of the columns of time stamps and of groups. */
  readonly time?: string | undefined;
  readonly group?: string | undefined;
  readonly labels?: readonly string[] | undefined;
  readonly stamps?: readonly string[] | undefined;
  readonly groups?: readonly string[] | undefined;
  /** The row of the file of each row. */
  readonly lines?: readonly number[] | undefined;
  /** Columns that may tell several series apart. */
  readonly aside: readonly string[];
}

/**
 * Reads the columns that `data` asks for.
 * @param isForecast whether the table is the series of a forecast
 * @throws FileError, FormatError, ExperimentError naming the row for values that are not finite and
 * for time stamps out of order, repeated, of another form, or off the step; of a table with all
 * that keeps it from being read, and the options that solve it
 */
export async function loadTable(data: FileData, path: string, format: TableFormat, isForecast = false): Promise<Table> {
  try {
    return await readTable(data, path, format);
  } catch (error) {
    if (!hasNames(format)) throw error;
    throw await tableProblems(error, { data, path, isForecast }, (other) => readTable(other, path, format));
  }
}

/** How the file is written, for a later one; undefined if it is by default. */
function readingOf(data: FileData): TableReading | undefined {
  const { delimiter, decimal, thousands, comment, encoding, missingMarkers } = data;
  const all = { delimiter, decimal, thousands, comment, encoding, missingMarkers };
  const given = Object.entries(all).filter(([, value]) => value !== undefined);
  return given.length > 0 ? Object.fromEntries(given) : undefined;
}

async function readTable(data: FileData, path: string, format: TableFormat): Promise<Table> {
  const { table, known, time, group } = await loadColumns(data, path, format);
  const { missing, gaps } = data;
  const policies = {
    ...((missing === "interpolate" || missing === "hold") && { missing }),
    ...(gaps !== undefined && gaps !== "error" && { gaps }),
  };
  const kept = (columns: readonly string[]) =>
    hasNames(format)
      ? { columns, ...(known.length > 0 && { known }), time, timeUnit: data.timeUnit, group, reading: readingOf(data), ...policies }
      : undefined;
  if (known.length === 0) return { ...table, kept: kept(table.names) };
  const own = table.names.filter((name) => !known.includes(name));
  if (own.length === 0) throw new ExperimentError(`${path}: data.known takes all columns; one at least is left to be forecast`);
  const columns = (matrix: Matrix<Float64Array>, names: readonly string[]) =>
    selected(
      matrix,
      names.map((name) => table.names.indexOf(name)),
    );
  return {
    ...table,
    names: own,
    kept: kept(own),
    parts: table.parts.map((part) => ({
      ...part,
      series: columns(part.series, own),
      known: columns(part.series, known),
      filled: part.filled && columns(part.filled, own),
    })),
  };
}

/**
 * Fills the missing values of each group from its own rows. @throws ExperimentError if there is
 * none to start from
 */
function fillGroups(
  { matrix, columns, lines }: CsvTable,
  groups: readonly string[] | undefined,
  policy: MissingPolicy | "mask",
  path: string,
): void {
  for (const [group, rows] of rowsByGroup(groups ?? Array.from<undefined>({ length: matrix.rows }))) {
    const own = rowsAt(matrix, rows);
    const fail = (row: number, column: number, reason: string) => {
      const location = `row ${lines[rows[row]!]}, column ${quoted(columns[column]!)}`;
      return new ExperimentError(`${path}: ${location}${group === undefined ? "" : ` (${quoted(group)})`}: ${reason}`);
    };
    if (policy === "mask") holdMissing(own, fail);
    else fillMissing(own, policy, fail);
    for (const [k, r] of rows.entries()) matrix.row(r).set(own.row(k));
  }
}

function missingByName({ names, missing }: Rows): Readonly<Record<string, number>> {
  return Object.fromEntries(names.flatMap((name, c) => (missing[c] ? [[name, missing[c]]] : [])));
}

/** The columns of a table together, and the names of those that are known beforehand. */
async function loadColumns(
  data: FileData,
  path: string,
  format: TableFormat,
): Promise<Pick<Rows, "known" | "time" | "group"> & { readonly table: Table }> {
  const rows = cutRows(await readRows(data, path, format), data, path);
  const { data: values, cols } = rows.matrix;
  const bad = firstNonFinite(values);
  if (bad >= 0) {
    const counted = format === "csv" ? " (counted from 0, without the header)" : "";
    throw new ExperimentError(
      `${path}: the value is ${values[bad]} at row ${Math.floor(bad / cols)}${counted}, ${rows.names[bad % cols]}; a series takes finite numbers`,
    );
  }
  const common = { names: rows.names, rows: rows.matrix.rows, missing: missingByName(rows) };
  const { known, time, group } = rows;
  if (rows.stamps === undefined) {
    const unread = (["timeUnit", "timeFormat", "timeZone", "gaps", "calendar"] as const).find((field) => data[field] !== undefined);
    if (unread) throw new ArgumentError(`data.${unread}`, data[unread], "nothing without data.time, which names the column of time stamps");
    const parts = groupRows(rows).map(({ matrix: series, filled, labels: times, groups }) => ({
      series,
      filled,
      times,
      group: groups?.[0],
    }));
    return { table: { ...common, parts }, known, time, group };
  }
  const series = groupRows(rows).map((each) => timed(each, data, path));
  const [first] = series;
  const step = describeStep(first!.whole.grid.step);
  const other = series.find(({ whole }) => describeStep(whole.grid.step) !== step);
  if (other)
    throw new ExperimentError(
      `${path}: ${nameOf(data, first!.group)} has a step of ${step}, and ${nameOf(data, other.group)} of ` +
        `${describeStep(other.whole.grid.step)}; all series of a table take the same`,
    );
  const parts = series.flatMap((each) => each.parts);
  return { table: { ...common, parts, form: first!.whole.form, step, timesSaid: describeTimes(series, data) }, known, time, group };
}

async function readRows(data: FileData, path: string, format: TableFormat): Promise<Rows> {
  const own = data.columns ?? (data.inputs && data.targets ? [...data.inputs, ...data.targets] : undefined);
  const wanted = own && [...own, ...(data.known ?? [])];
  if (hasNames(format)) {
    const { readCsv, readParquet } = await import("@spillway/io");
    const { header, delimiter, decimal, thousands, comment, encoding, missing, missingMarkers, time, group } = data;
    const text = [...new Set([time, group, ...(data.text ?? [])].filter((each) => each !== undefined))];
    // A fill must not reach from one series into another.
    const isFilled = missing === "mask" || (group !== undefined && (missing === "hold" || missing === "interpolate"));
    const options = { text, columns: wanted, missing: isFilled ? ("nan" as const) : (missing as MissingPolicy) };
    const written = { header, delimiter, decimal, thousands, missingMarkers, comment, encoding };
    const read = await (format === "csv" ? readCsv(path, { ...options, ...written }) : readParquet(path, options));
    const filled = isFilled && read.missing > 0 ? missingCells(read.matrix) : read.filled;
    const nameOf = (column: string | number | undefined) => (typeof column === "number" ? read.header[column]! : column);
    const cells = (column: string | number | undefined) => (column === undefined ? undefined : read.text[nameOf(column)!]);
    if (isFilled) fillGroups(read, cells(group), missing, path);
    return {
      matrix: read.matrix,
      names: read.columns,
      missing: read.missingByColumn,
      filled,
      known: (data.known ?? []).map((column) => nameOf(column)!),
      time: nameOf(time),
      group: nameOf(group),
      labels: cells(data.text?.[0]),
      stamps: cells(time),
      groups: cells(group),
      lines: read.lines,
      aside: read.header.filter((name) => !read.columns.includes(name) && name !== nameOf(time)),
    };
  }
  const { npyToMatrix, readNpy, readWav } = await import("@spillway/io");
  const whole = format === "npy" ? npyToMatrix(await readNpy(path), { source: path }) : (await readWav(path)).matrix;
  const indices = wanted?.map((column) => indexOf(column, whole.cols, path)) ?? Array.from({ length: whole.cols }, (_, c) => c);
  return {
    matrix: selected(whole, indices) as Matrix<Float64Array>,
    names: indices.length === 1 ? ["value"] : indices.map((c) => `column ${c}`),
    missing: [],
    known: [],
    aside: [],
  };
}

function indexOf(column: string | number, cols: number, path: string): number {
  const index = Number(column);
  if (Number.isSafeInteger(index) && index >= 0 && index < cols) return index;
  throw new ExperimentError(`${path}: there is no column ${JSON.stringify(column)}; it takes an index from 0 to ${cols - 1}`);
}

function cutRows(rows: Rows, { rows: { from = 0, to = rows.matrix.rows } = {} }: FileData, path: string): Rows {
  if (to > rows.matrix.rows || from >= to) {
    throw new ExperimentError(
      `${path}: data.rows asks for rows ${from} to ${to}; the file has ${rows.matrix.rows}, and it takes from below to`,
    );
  }
  if (from === 0 && to === rows.matrix.rows) return rows;
  return eachRowOf(
    rows,
    (matrix) => matrix.subarray(from, to),
    (values) => values.slice(from, to),
  );
}

/** The rows of each series, in the order of their first rows. */
function groupRows(rows: Rows): Rows[] {
  if (rows.groups === undefined) return [rows];
  return [...rowsByGroup(rows.groups).values()].map((list) =>
    eachRowOf(
      rows,
      (matrix) => rowsAt(matrix, list),
      (values) => list.map((row) => values[row]!),
    ),
  );
}

/** Some of the rows: in all that there is of each. */
function eachRowOf(
  rows: Rows,
  ofMatrix: (matrix: Matrix<Float64Array>) => Matrix<Float64Array>,
  ofList: <Value>(values: readonly Value[]) => readonly Value[],
): Rows {
  const { matrix, filled, labels, stamps, groups, lines } = rows;
  return {
    ...{ ...rows, matrix: ofMatrix(matrix), filled: filled && ofMatrix(filled), labels: labels && ofList(labels) },
    ...{ stamps: stamps && ofList(stamps), groups: groups && ofList(groups), lines: lines && ofList(lines) },
  };
}

interface TimedRows {
  readonly group: string | undefined;
  /** Before gaps were closed. */
  readonly whole: TimeAxis;
  readonly parts: readonly SeriesPart[];
}

function timed(rows: Rows, data: FileData, path: string): TimedRows {
  const group = rows.groups?.[0];
  const rowName = (row: number) => `row ${rows.lines![row]}`;
  try {
    const reading = { unit: data.timeUnit, format: data.timeFormat, zone: data.timeZone };
    const whole = timeAxis(readTimeColumn(rows.stamps!, reading, rowName), rowName);
    const closed = closeGaps({ series: rows.matrix, times: whole }, data.gaps ?? "error", rowName);
    let read = 0;
    const parts = closed.map(({ series, times: axis }) => {
      const filled = filledCells(rows.filled ?? Matrix.zeros(rows.matrix.rows, rows.matrix.cols), whole, axis, read);
      read += filled.read;
      return { series, filled: filled.cells.data.includes(1) ? filled.cells : undefined, axis, times: columnTexts(axis), group };
    });
    return { group, whole, parts };
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    const advice =
      error.message.includes("several series") && group === undefined && rows.aside.length > 0
        ? `; columns beside it: ${rows.aside.slice(0, 5).map(quoted).join(", ")}`
        : "";
    const field = error.field === "gaps" ? "data.gaps" : "data.time";
    const cure = timeSettings(rows.stamps!, data, error);
    const sentence = `${path}, ${nameOf(data, group)}: ${error.message}${cure?.advice ? `; ${cure.advice}` : advice}`;
    throw new ExperimentError(sentence, { field, settings: cure?.settings, cause: error });
  }
}

/** Options that solve what is wrong with the stamps of a column. */
function timeSettings(stamps: readonly string[], data: FileData, { field }: ArgumentError) {
  const { timeUnit, timeFormat, timeZone } = data;
  if (timeUnit === undefined && timeFormat === undefined && !stamps.every((text) => typeof parseStamp(text) === "object")) {
    const forms = fittingForms(stamps);
    if (forms.length > 0) return { advice: proposed("timeFormat", forms), settings: { timeFormat: forms[0] } };
    const numbers = stamps.map(Number);
    if (!numbers.every(Number.isFinite)) return undefined;
    // From 1973 on milliseconds have twelve digits and more, seconds so many from the year 5138 on.
    const unit = Math.abs(numbers[0]!) >= 1e11 ? "ms" : "s";
    return { advice: proposed("timeUnit", [unit]), settings: { timeUnit: unit } };
  }
  const zones = timeZone === undefined ? localZones(stamps, { unit: timeUnit, format: timeFormat }) : [];
  if (zones.length > 0)
    return {
      advice: `such a row stands where a local clock changes from or to daylight saving time: ${proposed("timeZone", zones)}`,
      settings: { timeZone: zones[0] },
    };
  return field === "gaps" ? { advice: undefined, settings: { gaps: "hold" } } : undefined;
}

/** The zones whose clock explains the order of stamps; none for stamps that cannot be read. */
function localZones(stamps: readonly string[], reading: TimeOptions): string[] {
  try {
    const column = readTimeColumn(stamps, reading);
    return zonesExplaining(column, mostFrequentDifference(column.wall));
  } catch {
    return [];
  }
}

/** The time column, and the series, in words. */
function nameOf({ time, group }: FileData, value: string | undefined): string {
  const column = `column ${typeof time === "number" ? time : quoted(time ?? "")}`;
  return value === undefined ? column : `${column}, ${typeof group === "number" ? `column ${group}` : group} ${quoted(value)}`;
}

const mended = { error: "", interpolate: ", interpolated", hold: ", filled with the last row", split: ", split there" };

function describeTimes(series: readonly TimedRows[], { gaps = "error" }: FileData): string {
  const [first] = series;
  const parts = series.reduce((sum, each) => sum + each.parts.length, 0);
  const split = gaps === "split" && parts > series.length ? ` into ${parts} parts` : "";
  if (series.length === 1) return describeAxis(first!.whole) + (first!.whole.gaps.length > 0 ? mended[gaps] + split : "");
  const holes = series.reduce((sum, { whole }) => sum + whole.gaps.length, 0);
  const lack = holes === 0 ? "no gap" : `${tally(holes, "gap")}${mended[gaps]}${split}`;
  return `${series.length} series, step ${describeStep(first!.whole.grid.step)}, ${lack}`;
}
