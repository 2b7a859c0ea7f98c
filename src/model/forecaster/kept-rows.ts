// The rows that a combination was trained on, as they were given: it is trained on them again when
// more rows come.
import { ArgumentError } from "@spillway/core/errors.js";
import { missingCells } from "@spillway/io/missing.js";
import { Matrix, type MatrixLike, stackRows } from "@spillway/numerics";
import { filledSeries } from "@spillway/numerics/known-finite.js";
import { type TimeColumn, type TimeGrid, timeAxis } from "../../series/time-grid.js";
import { floats, type MutableContent } from "../mutable-content.js";
import type { TensorReader } from "../tensor-reader.js";
import { checkFieldNames, type DescribedSeries, type ForecasterData, type ForecasterSequences, seriesByKey } from "./data.js";

/** Rows of one series. */
export interface KeptRows {
  /** T x D; NaN is missing. */
  readonly series: Matrix<Float64Array>;
  /** T x K. */
  readonly known?: Matrix<Float64Array> | undefined;
  /** T x D: 1 where a value was filled before. */
  readonly filled?: Matrix<Float64Array> | undefined;
  readonly times?: TimeColumn | undefined;
}

/** A copy of the rows that were given. @param times their stamps, as they were read */
export function keptRows(data: ForecasterData | ForecasterSequences, times: TimeColumn | undefined): KeptRows {
  const [one] = seriesByKey(data)?.values() ?? [data];
  const { series, known, filled } = described(one as ForecasterData<MatrixLike>);
  const copy = (values: MatrixLike, name: string) => Matrix.from(filledSeries(values, name), "float64");
  return {
    series: copy(series, "series"),
    ...(known !== undefined && { known: copy(known, "known") }),
    ...(filled !== undefined && { filled: copy(filled, "filled") }),
    ...(times && { times }),
  };
}

function described(data: ForecasterData<MatrixLike>): DescribedSeries<MatrixLike> {
  if (typeof data !== "object" || data === null || !("series" in data)) return { series: data as MatrixLike };
  checkFieldNames(data);
  return data;
}

/** The rows and those that follow them. @throws ArgumentError for other columns */
export function appended(before: KeptRows, after: KeptRows): KeptRows {
  for (const field of ["series", "known"] as const) {
    const [a, b] = [before[field]?.cols ?? 0, after[field]?.cols ?? 0];
    if (a !== b) throw ArgumentError.shape(`${field} has ${b} columns; the rows that they follow have ${a}`, { field });
  }
  const both = (field: "series" | "known" | "filled") => {
    const [a, b] = [before[field], after[field]];
    if (!a && !b) return undefined;
    const none = ({ series }: KeptRows) => Matrix.zeros(series.rows, series.cols);
    return stackRows([a ?? none(before), b ?? none(after)]) as Matrix<Float64Array>;
  };
  const series = both("series")!;
  const [known, filled] = [both("known"), both("filled")];
  const times = before.times && after.times && joined(before.times, after.times);
  return { series, ...(known && { known }), ...(filled && { filled }), ...(times && { times }) };
}

function joined(before: TimeColumn, after: TimeColumn): TimeColumn {
  const { form, zone } = before;
  const wall = new Float64Array(before.wall.length + after.wall.length);
  wall.set(before.wall);
  wall.set(after.wall, before.wall.length);
  if (!before.offsets && !after.offsets) return { form, wall, zone };
  const offsets = new Int16Array(wall.length);
  if (before.offsets) offsets.set(before.offsets);
  if (after.offsets) offsets.set(after.offsets, before.wall.length);
  return { form, wall, offsets, zone };
}

/** The rows as a forecaster takes them. */
export function asTraining({ times, ...rows }: KeptRows): DescribedSeries {
  return { ...rows, ...(times && { times: timeAxis(times) }) };
}

/** Tensors `kept.series` and, if there are such, `.missing`, `.known`, `.filled`, `.wall`, `.offsets`. */
export function putKept({ tensors }: MutableContent, kept: KeptRows | undefined): void {
  if (!kept) return;
  const put = (name: string, { data, rows, cols }: Matrix<Float64Array>) => {
    tensors[`kept.${name}`] = floats(data, [rows, cols]);
  };
  const { series, known, filled, times } = kept;
  const measured = series.map((value) => (Number.isNaN(value) ? 0 : value));
  const missing = missingCells(series);
  put("series", measured);
  if (missing.data.includes(1)) put("missing", missing);
  if (known) put("known", known);
  if (filled) put("filled", filled);
  if (!times) return;
  tensors["kept.wall"] = floats(times.wall);
  if (times.offsets) tensors["kept.offsets"] = floats(Float64Array.from(times.offsets));
}

/**
 * What `putKept` put; undefined of an earlier file. @param grid that of the time stamps
 * @throws ModelFileError
 */
export function getKept(reader: TensorReader, columns: number, grid: TimeGrid | undefined): KeptRows | undefined {
  if (!reader.has("kept.series")) return undefined;
  const length = reader.lengthOf("kept.series");
  const rows = length / columns;
  if (rows < 1 || !Number.isInteger(rows)) throw reader.error(`its tensor "kept.series" holds ${length} values; rows take ${columns}`);
  const get = (name: string, cols: number) => reader.matrix(`kept.${name}`, rows, cols, "float64") as Matrix<Float64Array>;
  const series = get("series", columns).slice() as Matrix<Float64Array>;
  if (reader.has("kept.missing"))
    get("missing", columns).data.forEach((flag, i) => {
      if (flag !== 0) series.data[i] = Number.NaN;
    });
  const known = reader.has("kept.known") ? get("known", reader.lengthOf("kept.known") / rows) : undefined;
  const filled = reader.has("kept.filled") ? get("filled", columns) : undefined;
  const stamps = (name: string) => (reader.has(name) ? (reader.vector(name, rows, "float64") as Float64Array) : undefined);
  const [wall, minutes] = [stamps("kept.wall"), stamps("kept.offsets")];
  const offsets = minutes && Int16Array.from(minutes);
  if ((wall === undefined) !== (grid === undefined))
    throw reader.error("its rows have time stamps and it has none, or the other way round");
  const times = wall && { form: grid!.form, wall, offsets, zone: grid!.zone };
  return { series, ...(known && { known }), ...(filled && { filled }), ...(times && { times }) };
}
