// A dense W in device memory, rows packed to put a lane's next columns side by side, and its step.
// docs/numerics.md, rule 1.
import { Making } from "@spillway/core/disposal.js";
import type { Context, Stream } from "@spillway/gpu";
import type { Matrix, Precision } from "@spillway/numerics";
import type { ReservoirModel } from "../../../reservoir/model.js";
import type { WeightPrecision } from "../../../reservoir/weight-rounding.js";
import { type AnyBuffer, allocAny, realKernel, realType } from "../kernels.js";
import { elementBytes } from "../shape.js";
import { drawRows, type RowRange } from "./drawn.js";
import { drawnDetail, fastDetail, type NeuronArguments, rowsOfPiece, type StreamedWeights } from "./weights.js";

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

/** W, or the rows of it that a device has. */
export function denseWeights(
  context: Context,
  stream: Stream,
  { weights, draws, precision, size }: ReservoirModel,
  layout: DenseLayout,
  neuron: NeuronArguments,
  rows: RowRange = { from: 0, to: size },
): StreamedWeights {
  const { variant, lanes, rowsPerWarp, stride, fast } = layout;
  const name = denseKernel(layout);
  const type = weightType(layout);
  const count = rows.to - rows.from;
  const bytes = (layout.bytes / size) * count;
  const config = { grid: Math.ceil(count / ((threads / 32) * rowsPerWarp)), block: threads };
  const kernel = realKernel(context, fast ? "reservoir_step_fast" : "reservoir_step", name, precision, [
    ...([`const ${type}*`, "const real*", "real*", "const u64*", "const real*", "const real*", "i32", "i32"] as const),
    ...(["i32", "real", "u32", "u32", "i32", "i32", "const u64*", "i32"] as const),
  ]);
  using made = new Making();
  const packed = made.own(allocAny(context, type, count * stride, "W"));
  if (draws) drawRows(context, stream, draws, `draw_rows_${variant}`, type, packed, stride, rows);
  else pack(context, stream, weights as Matrix, precision, layout, packed, rows);
  const blocks = config.grid;
  return made.done({
    ...{ lanes, stateLength: stride, bytes },
    details: { kernel: name, blocks, threads, rowsPerWarp, bytesPerStep: bytes, ...fastDetail(fast), ...drawnDetail(draws) },
    step(on, { before, after, chunk, leak, keep, step, others }) {
      const own = [packed, before, after, chunk, leak, keep, size, stride, ...neuron, step] as const;
      on.launch(kernel, config, ...own, rows.from, others ?? null, others?.length ?? 0);
    },
    dispose: () => made.dispose(),
  } satisfies StreamedWeights);
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
  using source = allocAny(context, real, piece * size, "rows of W on their way");
  for (let row = from; row < to; row += piece) {
    const rows = Math.min(piece, to - row);
    const values = data.subarray(row * size, (row + rows) * size);
    stream.upload(source.slice(0, rows * size), values);
    const grid = [Math.ceil(layout.stride / threads), Math.min(rows, 65535)] as const;
    const packed = target.slice((row - from) * layout.stride, (row - from + rows) * layout.stride);
    stream.launch(kernel, { grid, block: threads }, source, packed, rows, size, layout.stride);
  }
}
