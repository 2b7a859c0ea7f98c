// Draws W on the device, from the streams that the host would draw it from
// (kernels/reservoir_weights.cu).
import { Held, Making } from "@spillway/core/disposal.js";
import { ArgumentError } from "@spillway/core/errors.js";
import type { Context, DeviceBuffer, Stream } from "@spillway/gpu";
import type { SparseMatrix } from "@spillway/numerics";
import { EngineCapacityError } from "../../../reservoir/engine.js";
import type { ReservoirModel } from "../../../reservoir/model.js";
import type { DrawnRounding, RowSums, WeightDraws } from "../../../reservoir/weight-draws.js";
import { type AnyArgument, type AnyBuffer, type AnyKernel, shippedKernel } from "../kernels.js";
import { freeMemory } from "../memory.js";

export type { DrawnRounding } from "../../../reservoir/weight-draws.js";

const threads = 128;
const file = "reservoir_weights";
/** What every kernel that draws takes first. */
export const drawParameters = ["u32", "u32", "i32", "i32", "i32", "i32", "f64"] as const;
const distributionNumber = { uniform: 0, normal: 1, bernoulli: 2 } as const;

export const drawArguments = ({ key, size, selfConnections, distribution, full, logMiss }: WeightDraws) =>
  [key[0], key[1], size, selfConnections ? 1 : 0, distributionNumber[distribution], full ? 1 : 0, logMiss] as const;

/** Rows of W, from `from` up to `to`, which is not among them. */
export interface RowRange {
  readonly from: number;
  readonly to: number;
}

/** How the weights of a model that is drawn in place are rounded. */
export const roundingOf = ({ precision, config: { weightPrecision } }: ReservoirModel): DrawnRounding =>
  weightPrecision === "bfloat16" ? "bfloat16" : precision === "float32" ? "float32" : "none";

const wholeOf = ({ size }: WeightDraws): RowRange => ({ from: 0, to: size });

export const drawShape = (size: number) => ({ grid: Math.min(65535, Math.ceil(size / threads)), block: threads });

/** Sums of each row's unscaled draws and of their squares. */
export async function drawRowSums(context: Context, drawn: WeightDraws): Promise<RowSums> {
  const kernel: AnyKernel = shippedKernel(context, file, "draw_row_sums", [...drawParameters, "f64*", "f64*"]);
  using owned = new Held();
  const stream = owned.own(context.stream({ label: "draws" }));
  const sums = owned.own(context.alloc("f64", drawn.size, { label: "row sums" }));
  const squares = owned.own(context.alloc("f64", drawn.size, { label: "row sums of squares" }));
  stream.launch(kernel, drawShape(drawn.size), ...drawArguments(drawn), sums, squares);
  const nonzeros = connectionsIn(countDrawn(context, drawn));
  return { sums: await stream.download(sums), squares: await stream.download(squares), nonzeros };
}

/** Connections of each row. */
export function countDrawn(context: Context, drawn: WeightDraws): Uint32Array {
  if (drawn.full) return new Uint32Array(drawn.size).fill(drawn.selfConnections ? drawn.size : drawn.size - 1);
  const kernel: AnyKernel = shippedKernel(context, file, "count_drawn", [...drawParameters, "u32*"]);
  using owned = new Held();
  const counts = owned.own(context.alloc("u32", drawn.size, { label: "row counts" }));
  const stream = owned.own(context.stream({ label: "counts" }));
  stream.launch(kernel, drawShape(drawn.size), ...drawArguments(drawn), counts);
  stream.sync();
  return context.read(counts);
}

/** Connections of all rows together, which may be more than 2^32. */
export const connectionsIn = (counts: Uint32Array): number => counts.reduce((sum, count) => sum + count, 0);

/**
 * Where each row begins in CSR form, and where the last one ends. @throws ArgumentError from 2^32
 * connections on
 */
export function rowOffsetsOf(counts: Uint32Array): Uint32Array<ArrayBuffer> {
  const offsets = new Uint32Array(counts.length + 1);
  let sum = 0;
  for (let r = 0; r < counts.length; r++) {
    sum += counts[r]!;
    offsets[r + 1] = sum;
  }
  if (sum >= 2 ** 32)
    throw ArgumentError.because(`a sparse W has ${sum} connections; it takes fewer than 2^32`, {
      field: "connectionProbability",
    });
  return offsets;
}

/** W in CSR form on the device: what `rounding` leaves of each draw times its factor. */
export interface DrawnCsr<T extends "f32" | "f64" = "f64"> {
  readonly offsets: DeviceBuffer<"u32">;
  readonly columns: DeviceBuffer<"u32">;
  readonly values: DeviceBuffer<T>;
}

export const roundingNumber = { none: 0, float32: 1, bfloat16: 2 } as const;

/** `rowOffsets` are those of the rows that are drawn, from 0 on. */
export function drawCsr<T extends "f32" | "f64" = "f64">(
  context: Context,
  stream: Stream,
  drawn: WeightDraws,
  rowOffsets: Uint32Array<ArrayBuffer>,
  rounding: DrawnRounding,
  type: T = "f64" as T,
  { from, to }: RowRange = wholeOf(drawn),
): DrawnCsr<T> {
  const parameters = [...drawParameters, "f64", "i32", "const u32*", "u32*", `${type}*`, "i32", "i32"] as const;
  const name = type === "f64" ? "draw_csr" : "draw_csr_f32";
  const kernel: AnyKernel = shippedKernel(context, file, name, parameters);
  const count = Math.max(1, rowOffsets[to - from]!);
  using made = new Making();
  const offsets = made.own(context.upload(rowOffsets, { label: "offsets of W" }));
  const columns = made.own(context.alloc("u32", count, { label: "columns of W" }));
  const values = made.own(context.alloc(type, count, { label: "values of W" }));
  const how = [drawn.factor, roundingNumber[rounding]];
  stream.launch(kernel, drawShape(to - from), ...drawArguments(drawn), ...how, offsets, columns, values, from, to - from);
  return made.done({ offsets, columns, values });
}

/**
 * W in CSR form for the host, drawn, scaled and rounded as the host would.
 * @throws EngineCapacityError if it does not fit on the device
 */
export async function drawSparse(
  context: Context,
  drawn: WeightDraws,
  rounding: DrawnRounding = "none",
): Promise<SparseMatrix<Float64Array>> {
  const { size } = drawn;
  const rowOffsets = rowOffsetsOf(countDrawn(context, drawn));
  const count = rowOffsets[size]!;
  const [needed, limit] = [12 * count + 4 * (size + 1), freeMemory(context)];
  if (needed > limit) {
    const what = `the ${count.toLocaleString("en")} connections of ${size} neurons on ${context.info.name}`;
    throw new EngineCapacityError(what, needed, limit, "let the host draw them");
  }
  using owned = new Held();
  const stream = owned.own(context.stream({ label: "draws" }));
  const { offsets, columns, values } = drawCsr(context, stream, drawn, rowOffsets, rounding);
  for (const buffer of [offsets, columns, values]) owned.own(buffer);
  const [allColumns, allValues] = [await stream.download(columns), await stream.download(values)];
  return { rows: size, cols: size, rowOffsets, columns: allColumns.subarray(0, count), values: allValues.subarray(0, count) };
}

/**
 * Draws, scales and rounds a sparse W into slices (sparse-layout.ts) whose groups of lanes have
 * these rows.
 */
export function drawSlices(
  context: Context,
  stream: Stream,
  drawn: WeightDraws,
  layout: { readonly entries: number; readonly slices: number },
  variant: { readonly name: string; readonly valueType: "f32" | "f64" | "u16"; readonly columnType: "u16" | "u32" },
  target: { readonly offsets: AnyBuffer; readonly rows: AnyBuffer; readonly values: AnyBuffer; readonly columns: AnyBuffer },
): void {
  const { valueType, columnType } = variant;
  const name = `draw_slices_${variant.name.replace(/_(u16|u32)_.*$/, "")}_${columnType}`;
  const parameters = [
    ...drawParameters,
    ...(["f64", "const u32*", "const i32*", "i32", "i32", `${valueType}*`, `${columnType}*`] as const),
  ] as const;
  const kernel: AnyKernel = shippedKernel(context, file, name, parameters);
  const { offsets, rows, values, columns } = target;
  stream.fill(values);
  stream.fill(columns);
  const groups = 4 * layout.slices;
  stream.launch(
    kernel,
    drawShape(groups),
    ...([...drawArguments(drawn), drawn.factor, offsets, rows, groups, layout.entries, values, columns] as const),
  );
}

/** Draws, scales and rounds W, or some rows of it, into rows of N columns. */
export function drawPlainRows(
  context: Context,
  stream: Stream,
  drawn: WeightDraws,
  rounding: DrawnRounding,
  target: AnyBuffer,
  rows: RowRange = wholeOf(drawn),
): void {
  const [name, type] = ({ none: ["f64", "f64"], float32: ["f32", "f32"], bfloat16: ["bf16", "u16"] } as const)[rounding];
  drawRows(context, stream, drawn, `draw_plain_rows_${name}`, type, target, drawn.size, rows);
}

/** Draws, scales and rounds W into rows of N columns that are kept in the target's precision. */
export function drawRoundedRows(context: Context, stream: Stream, drawn: WeightDraws, rounding: DrawnRounding, target: AnyBuffer): void {
  const name = `draw_rounded_rows_${target.dtype}`;
  const kernel: AnyKernel = shippedKernel(context, file, name, [...drawParameters, "f64", "i32", `${target.dtype}*`]);
  stream.fill(target);
  const args: AnyArgument[] = [...drawArguments(drawn), drawn.factor, roundingNumber[rounding], target];
  stream.launch(kernel, drawShape(drawn.size), ...args);
}

/**
 * Draws, scales and rounds W, or some rows of it, into rows of `stride` columns by a kernel of that
 * form.
 */
export function drawRows(
  context: Context,
  stream: Stream,
  drawn: WeightDraws,
  name: string,
  weightType: "f32" | "f64" | "u16",
  target: AnyBuffer,
  stride: number,
  { from, to }: RowRange,
): void {
  const parameters = [...drawParameters, "f64", `${weightType}*`, "i32", "i32", "i32"] as const;
  const kernel: AnyKernel = shippedKernel(context, file, name, parameters);
  stream.fill(target);
  stream.launch(kernel, drawShape(to - from), ...drawArguments(drawn), drawn.factor, target, stride, from, to - from);
}
