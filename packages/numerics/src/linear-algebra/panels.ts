// Rows on their way into a Gram matrix or a triangular factor: copied into WebAssembly memory,
// promoted, squared if asked, and laid out in panels of six columns. Nothing is summed here.
import { type FloatArray, type Matrix, precisionOf } from "../matrix.js";
import type { WasmExports, WasmInstance } from "../wasm/index.js";
import { float64View, type Regions } from "./memory.js";

/** Columns of a panel. */
export const panelColumns = 6;

/** Rows that are gathered before the kernels see them; it divides the 1024 rows of a Gram block. */
export const panelRows = 256;

/** Which columns of a source are squared: none, every second one (1, 3, 5, ...), or all. */
export type SquaredColumns = "none" | "odd" | "all";

/** Columns of a row: a matrix with T rows, or a column of ones. */
export type ColumnSource = { readonly matrix: Matrix; readonly square: SquaredColumns } | "ones";

/** How many columns a source gives. */
export function sourceColumns(source: ColumnSource): number {
  return source === "ones" ? 1 : source.matrix.cols;
}

/** How many of the first columns hold binary32 numbers, whose products are exact in binary64. */
export function exactColumns(sources: readonly ColumnSource[]): number {
  let columns = 0;
  for (const source of sources) {
    if (source !== "ones" && (source.square !== "none" || precisionOf(source.matrix.data) !== "float32")) break;
    columns += sourceColumns(source);
  }
  return columns;
}

/** The number of panels that hold `columns` columns. */
export function panelsFor(columns: number): number {
  return Math.ceil(columns / panelColumns);
}

/** Bytes of the panels themselves. */
export function panelBytes(panelCount: number): number {
  return panelCount * panelRows * panelColumns * 8;
}

/** Bytes of the raw rows that are copied in before they are packed. */
export function rawBytes(columns: number): number {
  return columns * panelRows * 8;
}

const squareCodes = { none: 0, odd: 1, all: 2 } as const;

/** As `packRows`, of sources side by side from panel column `column0` on. */
export function packSources(
  regions: Regions<"raw">,
  panels: number,
  sources: readonly ColumnSource[],
  first: number,
  count: number,
  row0: number,
  column0 = 0,
): void {
  let column = column0;
  for (const source of sources) {
    packRows(regions, regions.at.raw, panels, source, first, count, row0, column);
    column += sourceColumns(source);
  }
}

/**
 * Copies rows [first, first + count) of a source to panel rows [row0, row0 + count), panel columns
 * [column0, ...).
 */
export function packRows(
  instance: WasmInstance,
  raw: number,
  panels: number,
  source: ColumnSource,
  first: number,
  count: number,
  row0: number,
  column0: number,
): void {
  const { exports, memory } = instance;
  if (source === "ones") {
    exports.fillColumn(1, count, panels, panelRows, row0, column0);
    return;
  }
  const { data, cols } = source.matrix;
  if (cols === 0) return;
  const single = precisionOf(data) === "float32";
  const target: FloatArray = single
    ? new Float32Array(memory.buffer, raw, count * cols)
    : new Float64Array(memory.buffer, raw, count * cols);
  target.set(data.subarray(first * cols, (first + count) * cols));
  const pack: WasmExports["packColumns32"] = single ? exports.packColumns32 : exports.packColumns64;
  pack(raw, cols, count, squareCodes[source.square], panels, panelRows, row0, column0);
}

/**
 * Writes a right-hand side (n x O, from column `first` on) into one panel of six columns; missing
 * columns are 0.
 */
export function writePanel(instance: WasmInstance, panel: number, n: number, rhs: Matrix, first: number): void {
  const view = float64View(instance, panel, n * panelColumns);
  view.fill(0);
  const columns = Math.min(panelColumns, rhs.cols - first);
  for (let r = 0; r < rhs.rows; r++) {
    for (let c = 0; c < columns; c++) view[r * panelColumns + c] = rhs.data[r * rhs.cols + first + c]!;
  }
}

/** Reads a panel back into columns `first` and following of a matrix. */
export function readPanel(instance: WasmInstance, panel: number, out: Matrix, first: number): void {
  const view = float64View(instance, panel, out.rows * panelColumns);
  const columns = Math.min(panelColumns, out.cols - first);
  for (let r = 0; r < out.rows; r++) {
    for (let c = 0; c < columns; c++) out.data[r * out.cols + first + c] = view[r * panelColumns + c]!;
  }
}
