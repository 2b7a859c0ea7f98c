// A square matrix in device memory and its product with a vector, in the order of the host's Krylov
// iteration. No iteration here.
import { disposeAll, Held, Making } from "@spillway/core/disposal.js";
import type { Context, DeviceBuffer, DeviceEvent, DeviceSlice, Stream } from "@spillway/gpu";
import type { Component } from "@spillway/numerics/spectrum/components.js";
import { powerOfTwoFactors } from "@spillway/numerics/spectrum/power-of-two.js";
import { namedFailure } from "../../../reservoir/engine/shares.js";
import type { WeightDraws } from "../../../reservoir/weight-draws.js";
import { syncAll } from "../beside.js";
import { deviceName } from "../device.js";
import { type AnyBuffer, type AnyKernel, allocAny, shippedKernel } from "../kernels.js";
import { NamedKernels, type SparseSlices } from "../named-kernels.js";
import { connectionsIn, type DrawnRounding, drawCsr, drawPlainRows, type RowRange, rowOffsetsOf } from "../streamed/drawn.js";

/** A matrix that vectors are multiplied with. */
export interface DeviceOperator {
  /** y = W x. */
  multiply(stream: Stream, x: DeviceSlice<"f64">, y: DeviceSlice<"f64">): void;
  /**
   * An iteration of power iteration, y = W (x / |x|), and |x|; left out of an operator whose
   * weights are not in binary64.
   */
  readonly powerStep?: PowerStep;
  dispose(): void;
}

type PowerStep = (stream: Stream, x: DeviceSlice<"f64">, y: DeviceSlice<"f64">, length: DeviceSlice<"f64">) => void;

/** Dense rows are sent in pieces of about this many bytes. */
const pieceBytes = 64 * 2 ** 20;

/**
 * Whether the iteration takes a matrix of n rows and `count` nonzeros as dense: as on the host,
 * if it has more than half of all elements.
 */
export const isTakenDense = (n: number, count: number): boolean => count > 0.5 * n * n;

/** Bytes of an operator on n rows. */
export function operatorBytes(n: number, count: number, elementBytes = 8): number {
  return isTakenDense(n, count) ? n * n * elementBytes : 12 * count + 4 * (n + 1);
}

/** A block of a matrix on the host, divided by 2^exponent. */
export function blockOperator(context: Context, stream: Stream, component: Component, count: number, exponent: number): DeviceOperator {
  return isTakenDense(component.size, count)
    ? denseBlock(context, stream, component, exponent)
    : sparseBlock(context, component, count, exponent);
}

/**
 * A matrix with these connections of each row that is drawn on the device: draw times factor,
 * rounded.
 */
export function drawnOperator(
  context: Context,
  stream: Stream,
  draws: WeightDraws,
  counts: Uint32Array,
  rounding: DrawnRounding,
): DeviceOperator {
  const { size } = draws;
  if (!isTakenDense(size, connectionsIn(counts))) return drawnSparse(context, stream, draws, counts, rounding);
  const type = ({ none: "f64", float32: "f32", bfloat16: "u16" } as const)[rounding];
  using made = new Making();
  const rows = made.own(allocAny(context, type, size * size, "W"));
  drawPlainRows(context, stream, draws, rounding, rows);
  return made.done(denseProduct(context, size, rows));
}

function drawnSparse(
  context: Context,
  stream: Stream,
  draws: WeightDraws,
  counts: Uint32Array,
  rounding: DrawnRounding,
  rows: RowRange = { from: 0, to: draws.size },
): DeviceOperator {
  const starts = rowOffsetsOf(counts.subarray(rows.from, rows.to));
  const { offsets, columns, values } = drawCsr(context, stream, draws, starts, rounding, "f64", rows);
  return sparseProduct(context, rows.to - rows.from, offsets, columns, values);
}

/** Rows of a block of krylov_product_f64: slices of a dense matrix have whole numbers of them. */
export const rowsOfBlock = 32;

/** Bytes of the largest slice of an operator that so many devices share, with x and y. */
export function sliceBytes(n: number, count: number, elementBytes: number, devices: number): number {
  const rows = Math.ceil(Math.ceil(n / rowsOfBlock) / devices) * rowsOfBlock;
  return Math.ceil((operatorBytes(n, count, elementBytes) / n) * rows) + 8 * (n + rows);
}

/** A slice of a matrix on one device, and its product with a copy of x. */
interface OperatorSlice {
  readonly context: Context;
  readonly stream: Stream;
  readonly done: DeviceEvent;
  readonly rows: RowRange;
  readonly operator: DeviceOperator;
  readonly x: DeviceBuffer<"f64">;
  readonly y: DeviceBuffer<"f64">;
}

/**
 * As `drawnOperator`, its rows in slices over devices that draw them: x goes to all of them in
 * every product, and parts of y come back. A row's sum is that of one device.
 */
export function drawnOperatorOver(
  contexts: readonly Context[],
  draws: WeightDraws,
  counts: Uint32Array,
  rounding: DrawnRounding,
): DeviceOperator {
  const { size } = draws;
  const dense = isTakenDense(size, connectionsIn(counts));
  const type = ({ none: "f64", float32: "f32", bfloat16: "u16" } as const)[rounding];
  const owned = new Held();
  const { own } = owned;
  const blocks = Math.ceil(size / rowsOfBlock);
  const begin = (d: number): number => Math.min(size, Math.floor((blocks * d) / contexts.length) * rowsOfBlock);
  const slices: OperatorSlice[] = [];
  let where = contexts[0]!;
  try {
    const ready = own(where.event({ timing: false }));
    for (const [d, context] of contexts.entries()) {
      where = context;
      const rows = { from: begin(d), to: begin(d + 1) };
      if (rows.to === rows.from) continue;
      const stream = own(context.stream({ label: "slice of a product" }));
      const done = own(context.event({ timing: false }));
      // The last block's rows may be more than there are.
      const padded = Math.ceil((rows.to - rows.from) / rowsOfBlock) * rowsOfBlock;
      let operator: DeviceOperator;
      if (dense) {
        const matrix = own(allocAny(context, type, padded * size, "W"));
        drawPlainRows(context, stream, draws, rounding, matrix, rows);
        operator = denseProduct(context, size, matrix, padded);
      } else operator = own(drawnSparse(context, stream, draws, counts, rounding, rows));
      const [x, y] = [size, padded].map((length) => own(context.alloc("f64", length, { label: "vector of a product" })));
      slices.push({ context, stream, done, rows, operator, x: x!, y: y! });
    }
    return {
      multiply(stream, x, y) {
        ready.record(stream);
        for (const slice of slices) {
          slice.stream.wait(ready);
          slice.stream.copy(slice.x, x);
          slice.operator.multiply(slice.stream, slice.x, slice.y);
          slice.done.record(slice.stream);
        }
        for (const { done, rows, y: part } of slices) {
          stream.wait(done);
          stream.copy(y.slice(rows.from, rows.to), part.slice(0, rows.to - rows.from));
        }
      },
      dispose() {
        syncAll(slices);
        owned.dispose();
      },
    };
  } catch (error) {
    owned.disposeQuietly();
    throw namedFailure(error, deviceName(where));
  }
}

function denseBlock(context: Context, stream: Stream, component: Component, exponent: number): DeviceOperator {
  const n = component.size;
  const [scale0, scale1] = powerOfTwoFactors(-exponent);
  const piece = Math.max(1, Math.min(n, Math.floor(pieceBytes / (8 * n))));
  using made = new Making();
  const matrix = made.own(context.alloc("f64", n * n, { label: "W" }));
  const rows = new Float64Array(piece * n);
  let first = 0;
  const send = (): void => {
    const count = Math.min(piece, n - first);
    stream.upload(matrix.slice(first * n, (first + count) * n), rows.subarray(0, count * n));
    rows.fill(0);
    first += count;
  };
  component.forEach((row, column, value) => {
    while (row >= first + piece) send();
    rows[(row - first) * n + column] = value * scale0 * scale1;
  });
  while (first < n) send();
  return made.done(denseProduct(context, n, matrix));
}

function sparseBlock(context: Context, component: Component, count: number, exponent: number): DeviceOperator {
  const n = component.size;
  const [scale0, scale1] = powerOfTwoFactors(-exponent);
  const offsets = new Uint32Array(n + 1);
  const columns = new Uint32Array(count);
  const values = new Float64Array(count);
  let p = 0;
  component.forEach((row, column, value) => {
    values[p] = value * scale0 * scale1;
    columns[p++] = column;
    offsets[row + 1] = p;
  });
  using made = new Making();
  const send = <A extends Uint32Array<ArrayBuffer> | Float64Array<ArrayBuffer>>(array: A, label: string) =>
    made.own(context.upload(array, { label }));
  return made.done(sparseProduct(context, n, send(offsets, "offsets of W"), send(columns, "columns of W"), send(values, "values of W")));
}

function denseProduct(context: Context, n: number, matrix: AnyBuffer, rows = n): DeviceOperator {
  const type = matrix.dtype as "f64" | "f32" | "u16";
  const name = `krylov_product_${type === "u16" ? "bf16" : type}`;
  const parameters = [`const ${type}*`, "const f64*", "f64*", "i32", "i32"] as const;
  const kernel: AnyKernel = shippedKernel(context, "krylov_schur", name, parameters);
  const shape = { grid: Math.ceil(rows / rowsOfBlock), block: 320 };
  return {
    multiply: (stream, x, y) => stream.launch(kernel, shape, matrix, x, y, n, n),
    ...(type === "f64" && rows === n ? { powerStep: powerStep(context, matrix as DeviceBuffer<"f64">, n) } : {}),
    dispose: () => matrix.dispose(),
  };
}

function sparseProduct(context: Context, n: number, offsets: AnyBuffer, columns: AnyBuffer, values: AnyBuffer): DeviceOperator {
  const name = "krylov_product_sparse";
  const parameters = ["const u32*", "const u32*", "const f64*", "const f64*", "f64*", "i32"] as const;
  const kernel: AnyKernel = shippedKernel(context, "krylov_schur", name, parameters);
  const shape = { grid: Math.min(65535, Math.ceil(n / 64)), block: 256 };
  return {
    multiply: (stream, x, y) => stream.launch(kernel, shape, offsets, columns, values, x, y, n),
    powerStep: powerStep(context, { values, columns, rowOffsets: offsets } as SparseSlices, n),
    dispose: () => disposeAll([offsets, columns, values]),
  };
}

/** The kernel is loaded by its first use. */
function powerStep(context: Context, weights: DeviceSlice<"f64"> | SparseSlices, n: number): PowerStep {
  const kernels = new NamedKernels(context, "float64", { overlap: true });
  return (stream, x, y, length) => kernels.powerIteration(stream, weights, x, y, length, n);
}
