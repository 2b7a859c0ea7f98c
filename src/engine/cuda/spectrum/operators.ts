// A square matrix in device memory and its product with a vector, in the order of the host's Krylov
// iteration. No iteration here.
import type { Context, DeviceBuffer, DeviceSlice, Stream } from "../../../gpu/index.js";
import type { Component } from "../../../numerics/spectrum/components.js";
import { powerOfTwoFactors } from "../../../numerics/spectrum/power-of-two.js";
import type { WeightDraws } from "../../../reservoir/weight-draws.js";
import { abandonAll, disposeAll } from "../dispose.js";
import { type AnyBuffer, type AnyKernel, allocAny, loadEntries } from "../kernels.js";
import { NamedKernels, type SparseSlices } from "../named-kernels.js";
import { connectionsIn, type DrawnRounding, drawCsr, drawPlainRows, rowOffsetsOf } from "../streamed/drawn.js";

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
  if (!isTakenDense(size, connectionsIn(counts))) {
    const { offsets, columns, values } = drawCsr(context, stream, draws, rowOffsetsOf(counts), rounding);
    return sparseProduct(context, size, offsets, columns, values);
  }
  const type = ({ none: "f64", float32: "f32", bfloat16: "u16" } as const)[rounding];
  const rows = allocAny(context, type, size * size, "W");
  try {
    drawPlainRows(context, stream, draws, rounding, rows);
    return denseProduct(context, size, rows);
  } catch (error) {
    abandonAll([rows]);
    throw error;
  }
}

function denseBlock(context: Context, stream: Stream, component: Component, exponent: number): DeviceOperator {
  const n = component.size;
  const [scale0, scale1] = powerOfTwoFactors(-exponent);
  const piece = Math.max(1, Math.min(n, Math.floor(pieceBytes / (8 * n))));
  const matrix = context.alloc("f64", n * n, { label: "W" });
  try {
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
    return denseProduct(context, n, matrix);
  } catch (error) {
    abandonAll([matrix]);
    throw error;
  }
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
  const sent: AnyBuffer[] = [];
  const send = <A extends Uint32Array<ArrayBuffer> | Float64Array<ArrayBuffer>>(array: A, label: string) => {
    const buffer = context.upload(array, { label });
    sent.push(buffer as AnyBuffer);
    return buffer as AnyBuffer;
  };
  try {
    return sparseProduct(context, n, send(offsets, "offsets of W"), send(columns, "columns of W"), send(values, "values of W"));
  } catch (error) {
    abandonAll(sent);
    throw error;
  }
}

function denseProduct(context: Context, n: number, matrix: AnyBuffer): DeviceOperator {
  const type = matrix.dtype as "f64" | "f32" | "u16";
  const name = `krylov_product_${type === "u16" ? "bf16" : type}`;
  const parameters = [`const ${type}*`, "const f64*", "f64*", "i32", "i32"] as const;
  const kernel = loadEntries(context, "krylov_schur", [name]).kernel(name, parameters) as AnyKernel;
  const shape = { grid: Math.ceil(n / 32), block: 320 };
  return {
    multiply: (stream, x, y) => stream.launch(kernel, shape, ...([matrix, x, y, n, n] as const)),
    ...(type === "f64" ? { powerStep: powerStep(context, matrix as DeviceBuffer<"f64">, n) } : {}),
    dispose: () => matrix.dispose(),
  };
}

function sparseProduct(context: Context, n: number, offsets: AnyBuffer, columns: AnyBuffer, values: AnyBuffer): DeviceOperator {
  const name = "krylov_product_sparse";
  const parameters = ["const u32*", "const u32*", "const f64*", "const f64*", "f64*", "i32"] as const;
  const kernel = loadEntries(context, "krylov_schur", [name]).kernel(name, parameters) as AnyKernel;
  const shape = { grid: Math.min(65535, Math.ceil(n / 64)), block: 256 };
  return {
    multiply: (stream, x, y) => stream.launch(kernel, shape, ...([offsets, columns, values, x, y, n] as const)),
    powerStep: powerStep(context, { values, columns, rowOffsets: offsets } as SparseSlices, n),
    dispose: () => disposeAll([offsets, columns, values]),
  };
}

/** The kernel is loaded by its first use. */
function powerStep(context: Context, weights: DeviceSlice<"f64"> | SparseSlices, n: number): PowerStep {
  const kernels = new NamedKernels(context, "float64", { overlap: true });
  return (stream, x, y, length) => kernels.powerIteration(stream, weights, x, y, length, n);
}
