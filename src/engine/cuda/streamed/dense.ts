// A dense W in device memory, rows packed to put a lane's next columns side by side, and its step.
// docs/numerics.md, rule 1.
import { disposeQuietly } from "@spillway/core/disposal.js";
import type { Context, Stream } from "@spillway/gpu";
import type { Matrix, Precision } from "@spillway/numerics";
import type { WeightDraws } from "../../../reservoir/weight-draws.js";
import type { WeightPrecision } from "../../../reservoir/weight-rounding.js";
import { type AnyBuffer, type AnyKernel, allocAny, realKernel, realType } from "../kernels.js";
import { elementBytes } from "../shape.js";
import { drawPackedRows, type RowRange } from "./drawn.js";
import { fastDetail, type NeuronArguments, rowsOfPiece, type StepArguments, type StreamedWeights } from "./weights.js";

/**
 * What a kernel makes of W: columns a lane loads at once, rows of a warp. Lanes and the DENSE_STEP
 * lines of kernels/reservoir_step.cu.
 */
const variants = {
  f32: { lanes: 4, rows: 1, weightBytes: 4 },
  f64: { lanes: 2, rows: 1, weightBytes: 8 },
  f32_bf16: { lanes: 8, rows: 4, weightBytes: 2 },
  f64_bf16: { lanes: 8, rows: 2, weightBytes: 2 },
} as const;

const threads = 128;

export interface DenseLayout {
  readonly variant: keyof typeof variants;
  readonly lanes: number;
  readonly rowsPerWarp: number;
  /** Columns of a packed row. */
  readonly stride: number;
  readonly bytes: number;
  /** Whether products and sums are fused, which is not portable arithmetic. */
  readonly fast: boolean;
}

/**
 * Where a dense W of N rows would stand. Weights of steps stand as the numbers they are;
 * quantized.ts packs them.
 */
export function denseLayout(
  size: number,
  precision: Precision,
  weightPrecision: WeightPrecision,
  arithmetic: "portable" | "fast",
): DenseLayout {
  const variant = `${realType(precision)}${weightPrecision === "bfloat16" ? "_bf16" : ""}` as keyof typeof variants;
  const fast = arithmetic === "fast" && precision === "float32";
  const { lanes, rows, weightBytes } = variants[variant];
  const stride = Math.ceil(size / (32 * lanes)) * 32 * lanes;
  return { variant, lanes, rowsPerWarp: rows, stride, bytes: size * stride * weightBytes, fast };
}

/** The step that reads it. */
export const denseKernel = ({ variant, fast }: DenseLayout): string => `dense_step_${variant}${fast ? "_fast" : ""}`;

const weightType = (layout: DenseLayout): "f32" | "f64" | "u16" =>
  layout.variant.endsWith("bf16") ? "u16" : (layout.variant as "f32" | "f64");

export class DenseWeights implements StreamedWeights {
  readonly lanes: number;
  readonly stateLength: number;
  readonly bytes: number;
  readonly details: Readonly<Record<string, string | number | boolean>>;
  readonly #size: number;
  readonly #weights: AnyBuffer;
  readonly #kernel: AnyKernel;
  readonly #neuron: NeuronArguments;
  readonly #blocks: number;
  readonly #rows: RowRange;

  /** W, or the rows of it that a device has. */
  constructor(
    context: Context,
    stream: Stream,
    weights: Matrix,
    drawn: WeightDraws | undefined,
    precision: Precision,
    layout: DenseLayout,
    neuron: NeuronArguments,
    rows: RowRange = { from: 0, to: weights.rows },
  ) {
    const { variant, lanes, rowsPerWarp, stride, fast } = layout;
    const name = denseKernel(layout);
    const type = weightType(layout);
    const count = rows.to - rows.from;
    this.#size = weights.rows;
    this.#rows = rows;
    this.#neuron = neuron;
    this.lanes = lanes;
    this.stateLength = stride;
    this.bytes = (layout.bytes / weights.rows) * count;
    this.#blocks = Math.ceil(count / ((threads / 32) * rowsPerWarp));
    const where = drawn ? { drawn: "on the device" } : {};
    this.details = { kernel: name, blocks: this.#blocks, threads, rowsPerWarp, bytesPerStep: this.bytes, ...fastDetail(fast), ...where };
    this.#kernel = realKernel(context, fast ? "reservoir_step_fast" : "reservoir_step", name, precision, [
      ...([`const ${type}*`, "const real*", "real*", "const u64*", "const real*", "const real*", "i32", "i32"] as const),
      ...(["i32", "real", "u32", "u32", "i32", "i32", "const u64*", "i32"] as const),
    ]);
    this.#weights = allocAny(context, type, count * stride, "W");
    try {
      if (drawn) drawPackedRows(context, stream, drawn, variant, type, this.#weights, stride, rows);
      else pack(context, stream, weights, precision, layout, this.#weights, rows);
    } catch (error) {
      disposeQuietly([this.#weights]);
      throw error;
    }
  }

  step(stream: Stream, { before, after, chunk, leak, keep, step, others }: StepArguments): void {
    const config = { grid: this.#blocks, block: threads };
    const own = [this.#weights, before, after, chunk, leak, keep, this.#size, this.stateLength, ...this.#neuron, step] as const;
    stream.launch(this.#kernel, config, ...own, this.#rows.from, others ?? null, others?.length ?? 0);
  }

  dispose(): void {
    this.#weights.dispose();
  }
}

/** Sends rows as they are, in pieces, and lets the device put them where they belong. */
function pack(
  context: Context,
  stream: Stream,
  weights: Matrix,
  precision: Precision,
  layout: DenseLayout,
  target: AnyBuffer,
  { from, to }: RowRange,
): void {
  const { rows: size, data } = weights;
  const real = realType(precision);
  const piece = rowsOfPiece(size, elementBytes(precision));
  const parameters = ["const real*", `${weightType(layout)}*`, "i32", "i32", "i32"] as const;
  const kernel = realKernel(context, "reservoir_step", `pack_rows_${layout.variant}`, precision, parameters);
  const source = allocAny(context, real, piece * size, "rows of W on their way");
  try {
    for (let row = from; row < to; row += piece) {
      const rows = Math.min(piece, to - row);
      const values = data.subarray(row * size, (row + rows) * size);
      stream.upload(source.slice(0, rows * size), values);
      const grid = [Math.ceil(layout.stride / threads), Math.min(rows, 65535)] as const;
      const packed = target.slice((row - from) * layout.stride, (row - from + rows) * layout.stride);
      stream.launch(kernel, { grid, block: threads }, source, packed, rows, size, layout.stride);
    }
  } finally {
    source.dispose();
  }
}
