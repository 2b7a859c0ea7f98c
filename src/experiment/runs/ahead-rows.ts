// The rows that a saved model goes on from, and what is known of those to come, from a table: by
// the names of its columns, whatever their order.

import { ArgumentError } from "@spillway/core/errors.js";
import { nearNames } from "@spillway/core/near-names.js";
import { quoted, tally } from "@spillway/core/text.js";
import { type CsvTable, csvColumns, isParquet, parquetColumns, parseCsv, readParquet, readText } from "@spillway/io";
import { fillMissing, holdMissing, missingCells } from "@spillway/io/missing.js";
import { columnsBetween } from "../../model/forecaster/data.js";
import type { TableNames } from "../../model/table-names.js";
import type { Matrix } from "@spillway/numerics";
import { closeGaps, type TimeAxis, type TimeGrid } from "../../series/index.js";
import { axisOnGrid, readingOf } from "../../series/on-grid.js";
import { axisRows, timeAxis } from "../../series/time-grid.js";
import { readTimeColumn } from "../../series/time-stamps.js";
import type { AheadOptions } from "./ahead-options.js";
import { ExperimentError } from "../description/errors.js";
import { filledCells } from "../data/filled-rows.js";
import { rowsAt, rowsByGroup } from "../data/rows.js";

/** What a model takes of a table. */
export interface Wanted {
  /** What its file says of the table; undefined if it says nothing. */
  readonly names: TableNames | undefined;
  /** Columns that are predicted, and that are known beforehand. */
  readonly columns: number;
  readonly known: number;
  /** The grid of its training rows' time stamps. */
  readonly grid: TimeGrid | undefined;
  /** The last rows that a forecast takes; undefined if it takes all. */
  readonly rows: number | undefined;
  /** Whether it fills missing values itself, and whether a mask then tells its reservoir. */
  readonly fills: boolean;
  readonly masks: boolean;
}

/** What is known of rows to come. */
export interface RowsToCome {
  readonly known: Matrix<Float64Array>;
  readonly times?: TimeAxis | undefined;
}

/** The rows of a series up to now, and what is known of those to come. */
export interface RowsUpToNow {
  readonly group?: string | undefined;
  /** T x D. */
  readonly series: Matrix<Float64Array>;
  /** T x K. */
  readonly known?: Matrix<Float64Array> | undefined;
  readonly axis?: TimeAxis | undefined;
  /** T x D: 1 where a value was missing, of a model that takes it. */
  readonly filled?: Matrix<Float64Array> | undefined;
  /** Rows below the last measured one. */
  readonly ahead: RowsToCome & { readonly rows: number };
}

/** The series of a table, and the columns that are not used. */
export interface AheadTable {
  readonly series: readonly RowsUpToNow[];
  readonly columns: readonly string[];
  readonly unused: readonly string[];
}

type Reading = Pick<AheadOptions, "missing" | "gaps" | "time" | "decimal">;

/** Columns by name. */
interface Columns {
  readonly columns: readonly string[];
  readonly known: readonly string[];
  readonly time: string | undefined;
  readonly group: string | undefined;
  readonly unused: readonly string[];
}

/**
 * Reads the rows up to now: those as far as the last one with a measured value. Rows below are
 * those to come.
 * @throws FileError, FormatError, ExperimentError naming the column that is missing, or the row of
 * a value that is missing, of a time stamp out of order or repeated, and of a gap
 */
export async function readRowsUpToNow(path: string, wanted: Wanted, reading: Reading): Promise<AheadTable> {
  const { table, columns } = await readTable(path, wanted, reading, wanted.columns);
  const series = groupsOf(table, columns).map((group) => upToNow(group, columns, { path, wanted, reading }));
  return { series, columns: columns.columns, unused: columns.unused };
}

/** Reads what is known of the rows to come, by the group of each series. */
export async function readRowsToCome(path: string, wanted: Wanted, reading: Reading): Promise<ReadonlyMap<string | undefined, RowsToCome>> {
  const { table, columns } = await readTable(path, wanted, reading, 0);
  return new Map(
    groupsOf(table, columns).map((rows) => {
      checkKnown(rows.matrix, columns.known, rows, path);
      return [rows.group, { known: rows.matrix, times: stampsOf(rows, { path, wanted, reading }, columns) }];
    }),
  );
}

async function readTable(path: string, wanted: Wanted, { time, decimal: asked }: Reading, predicted: number) {
  if (isParquet(path)) {
    const columns = columnsOf(await parquetColumns(path), path, wanted, time, predicted);
    return { table: await readParquet(path, { ...asRead(columns), missing: "nan" }), columns };
  }
  const { encoding, ...written } = wanted.names?.reading ?? {};
  const csv = { ...written, ...(asked !== undefined && { decimal: asked }) };
  const text = await readText(path, "CSV", encoding);
  // Columns that the model names stand in a first row of names.
  const hasHeader = wanted.names !== undefined || undefined;
  const header = (await csvColumns(text, { ...csv, source: path, header: hasHeader })).map(({ name }) => name);
  const columns = columnsOf(header, path, wanted, time, predicted);
  const table = await parseCsv(text, {
    ...asRead(columns),
    ...csv,
    header: hasHeader,
    missing: "nan",
    source: path,
  });
  return { table, columns };
}

function asRead({ columns, known, time, group }: Columns) {
  return { columns: [...columns, ...known], text: [time, group].filter((name) => name !== undefined) };
}

function columnsOf(header: readonly string[], path: string, wanted: Wanted, asked: string | undefined, predicted: number): Columns {
  const { names, grid } = wanted;
  const time = asked ?? names?.time;
  if (grid && time === undefined)
    throw ArgumentError.because(
      `the model was trained with time stamps (${grid.form}), and its file does not name their column; name it (\`time\`): one of ${listed(header)}`,
      { field: "time" },
    );
  const find = (name: string, what: string) => {
    if (header.includes(name)) return name;
    const [near] = nearNames(name, header);
    throw new ExperimentError(
      `${path}: there is no column ${quoted(name)}, ${what}; the columns are ${listed(header)}${near === undefined ? "" : `; did you mean ${near}?`}`,
    );
  };
  const aside = [
    ...(time === undefined ? [] : [find(time, "in which the model takes time stamps")]),
    ...(names?.group === undefined ? [] : [find(names.group, "which tells the model's series apart")]),
  ];
  const rest = header.filter((name) => !aside.includes(name));
  const own = names ?? byPosition(rest, path, wanted, predicted);
  const columns = predicted > 0 ? own.columns.map((name) => find(name, "which the model predicts")) : [];
  const known = (own.known ?? []).map((name) => find(name, "which the model takes as known beforehand"));
  const used = new Set([...columns, ...known]);
  return { columns, known, time, group: names?.group, unused: rest.filter((name) => !used.has(name)) };
}

/** The columns of a model that names none: as many as it takes, in its order. */
function byPosition(rest: readonly string[], path: string, { known }: Wanted, predicted: number): Pick<TableNames, "columns" | "known"> {
  if (rest.length !== predicted + known)
    throw new ExperimentError(
      `${path} has ${tally(rest.length, "column")} (${listed(rest)}); the model's file names none, and it takes ${tally(predicted + known, "column")}` +
        `${known > 0 ? `, of which the last ${known} are known beforehand` : ""}. Leave the others out, or name the one of time stamps (\`time\`)`,
    );
  return { columns: rest.slice(0, predicted), known: rest.slice(predicted) };
}

function listed(names: readonly string[]): string {
  return names.slice(0, 20).map(quoted).join(", ") + (names.length > 20 ? ", ..." : "");
}

/** Rows of one series as they stand in the file. */
interface Rows {
  readonly matrix: Matrix<Float64Array>;
  readonly lines: readonly number[];
  readonly stamps: readonly string[] | undefined;
  readonly group: string | undefined;
}

function groupsOf(table: CsvTable, { time, group }: Columns): readonly Rows[] {
  const { matrix, lines, text } = table;
  const stamps = time === undefined ? undefined : text[time]!;
  if (group === undefined) return [{ matrix, lines, stamps, group: undefined }];
  return [...rowsByGroup(text[group]!)].map(([name, rows]) => ({
    matrix: rowsAt(matrix, rows),
    lines: rows.map((row) => lines[row]!),
    stamps: stamps && rows.map((row) => stamps[row]!),
    group: name,
  }));
}

interface Source {
  readonly path: string;
  readonly wanted: Wanted;
  readonly reading: Reading;
}

function upToNow(rows: Rows, { columns, known, time }: Columns, source: Source): RowsUpToNow {
  const { path, wanted, reading } = source;
  const { matrix, lines, group } = rows;
  const axis = stampsOf(rows, source, { time });
  const measured = lastMeasured(columnsBetween(matrix, 0, columns.length)) + 1;
  if (measured === 0)
    throw new ExperimentError(`${path}${ofGroup(group)}: no row has a value of ${listed(columns)}; the model takes rows to go on from`);
  const cellName = (row: number, c: number) => `${path}, row ${lines[row]}, column ${quoted([...columns, ...known][c]!)}`;
  const fail = (row: number, c: number, reason: string) => {
    const advice = reason === "the value is missing" ? '; set `missing` to "interpolate" or "hold"' : "";
    return new ExperimentError(`${cellName(row, c)}: ${reason}${advice}`, { field: "missing" });
  };
  const now = matrix.subarray(0, measured);
  const cells = wanted.masks ? missingCells(now) : undefined;
  const missing = reading.missing ?? (wanted.fills ? undefined : (wanted.names?.missing ?? "error"));
  const unused = Math.max(0, measured - (wanted.rows ?? measured));
  if (missing === "error") fillMissing(now.subarray(unused), "error", (row, c, reason) => fail(unused + row, c, reason));
  else if (missing !== undefined) fillMissing(now, missing, fail);
  else {
    checkKnown(columnsBetween(now, columns.length), known, rows, path);
    if (wanted.masks) holdMissing(now, fail);
  }
  const ahead = matrix.subarray(measured);
  const coming = columnsBetween(ahead, columns.length);
  checkKnown(coming, known, { ...rows, lines: lines.slice(measured) }, path);
  const own = axis && axisRows(axis, 0, measured);
  const closed = own ? gapless(now, own, rows, source) : { series: now, times: undefined, from: 0 };
  const filled = cells && own ? filledCells(cells, own, closed.times!, closed.from).cells : cells;
  return {
    group,
    series: columnsBetween(closed.series, 0, columns.length),
    known: known.length > 0 ? columnsBetween(closed.series, columns.length) : undefined,
    axis: closed.times,
    filled: filled && columnsBetween(filled, 0, columns.length),
    ahead: { rows: ahead.rows, known: coming, times: axis && ahead.rows > 0 ? axisRows(axis, measured, matrix.rows) : undefined },
  };
}

/**
 * Rows without gaps, and the first of the file's rows among them: rows before the last gap are left
 * out if the rest is enough.
 */
function gapless(series: Matrix<Float64Array>, times: TimeAxis, { lines, group }: Rows, { path, wanted, reading }: Source) {
  const gaps = reading.gaps ?? wanted.names?.gaps ?? "error";
  const last = times.gaps.at(-1)?.row ?? 0;
  const isEnough = wanted.rows !== undefined && series.rows - last >= wanted.rows;
  try {
    if (gaps === "split" || isEnough) return { ...closeGaps({ series, times }, "split").at(-1)!, from: last };
    return { ...closeGaps({ series, times }, gaps, (row) => `row ${lines[row]}`)[0]!, from: 0 };
  } catch (error) {
    throw inFile(error, path, group);
  }
}

function stampsOf({ stamps, lines, group }: Rows, { path, wanted }: Source, { time }: Pick<Columns, "time">): TimeAxis | undefined {
  if (stamps === undefined) return undefined;
  const rowName = (row: number) => `row ${lines[row]}, column ${quoted(time!)}`;
  try {
    const column = readTimeColumn(stamps, wanted.grid ? readingOf(wanted.grid) : { unit: wanted.names?.timeUnit }, rowName);
    return wanted.grid ? axisOnGrid(column, wanted.grid, rowName) : timeAxis(column, rowName);
  } catch (error) {
    throw inFile(error, path, group);
  }
}

function inFile(error: unknown, path: string, group: string | undefined): unknown {
  if (!(error instanceof ArgumentError)) return error;
  const message = error.message.replace(', "hold" or "split"', ' or "hold"');
  return new ExperimentError(`${path}${ofGroup(group)}: ${message}`, { field: error.field, cause: error });
}

/** The name of a series, for a sentence about its file. */
export function ofGroup(group: string | undefined): string {
  return group === undefined ? "" : ` (${quoted(group)})`;
}

/** @throws ExperimentError for a value that is missing */
function checkKnown({ data, cols }: Matrix, names: readonly string[], { lines }: Pick<Rows, "lines">, path: string): void {
  const bad = data.findIndex(Number.isNaN);
  if (bad < 0) return;
  const location = `row ${lines[Math.floor(bad / cols)]}, column ${quoted(names[bad % cols]!)}`;
  throw new ExperimentError(`${path}, ${location}: the value is missing; the model takes this column as known beforehand of every row`);
}

/** The last row that has a value; -1 if none has. */
function lastMeasured({ data, cols }: Matrix): number {
  return Math.floor(data.findLastIndex((value) => !Number.isNaN(value)) / cols);
}
