// A dense W of eight or four bits a weight in device memory, and its step, which is not portable
// arithmetic. The weights were rounded to steps when they were made (docs/numerics.md, rule 7); the
// device finds the steps again. Layouts: kernels/reservoir_quantize.cu.
import { Making } from "@spillway/core/disposal.js";
import type { Context, DeviceBuffer, DeviceInfo, DeviceSlice, Stream } from "@spillway/gpu";
import type { FloatArray, Matrix } from "@spillway/numerics";
import type { ReservoirModel } from "../../../reservoir/model.js";
import type { WeightDraws } from "../../../reservoir/weight-draws.js";
import { isQuantized } from "../../../reservoir/weight-rounding.js";
import { shippedKernel } from "../kernels.js";
import { freeMemory } from "../memory.js";
import type { ModelShape } from "../shape.js";
import { drawArguments, drawParameters } from "./drawn.js";
import { drawnDetail, fastDetail, type NeuronArguments, rowsOfPiece, type StreamedWeights } from "./weights.js";

/**
 * What the kernels make of W: columns that stand together and their bytes, columns a lane loads at
 * once, rows of a block, and the least device.
 */
const kinds = {
  int8: { file: "reservoir_step_fast", name: "int8", columns: 512, bytes: 512, lanes: 16, rows: 16, threads: 128, capability: 7 },
  q4_k: { file: "reservoir_q4k", name: "q4k", columns: 256, bytes: 144, lanes: 0, rows: 32, threads: 128, capability: 8 },
} as const;

export interface QuantizedLayout {
  readonly precision: keyof typeof kinds;
  readonly kernel: string;
  /** Columns of a packed row, and its bytes. */
  readonly stride: number;
  readonly rowBytes: number;
  /** Bytes of W with its scales. */
  readonly bytes: number;
}

/**
 * Where W would stand; undefined if it has no steps, or the arithmetic or the device has no
 * kernel for them.
 */
export function quantizedLayout(
  { size, weightPrecision: precision, arithmetic }: ModelShape,
  { computeCapability }: Pick<DeviceInfo, "computeCapability">,
): QuantizedLayout | undefined {
  if (!isQuantized(precision) || arithmetic !== "fast" || computeCapability[0] < kinds[precision].capability) return undefined;
  const { columns, bytes, name } = kinds[precision];
  const tiles = Math.ceil(size / columns);
  const rowBytes = tiles * bytes;
  return { precision, kernel: `dense_step_f32_${name}`, stride: tiles * columns, rowBytes, bytes: size * (rowBytes + 4) };
}

export function quantizedWeights(
  context: Context,
  stream: Stream,
  { weights, draws, size }: Pick<ReservoirModel, "weights" | "draws" | "size">,
  layout: QuantizedLayout,
  neuron: NeuronArguments,
): StreamedWeights {
  const { kernel: name, stride, rowBytes, bytes } = layout;
  const { file, lanes, rows, threads } = kinds[layout.precision];
  const kernel = shippedKernel(context, file, name, [
    ...(["const u8*", "const f32*", "const f32*", "f32*", "const u64*", "const f32*", "const f32*", "i32", "i32"] as const),
    ...(["i32", "f32", "u32", "u32", "i32"] as const),
  ]);
  using made = new Making();
  const packed = made.own(context.alloc("u8", size * rowBytes, { label: "W" }));
  const scales = made.own(context.alloc("f32", size, { label: "scales of W" }));
  const bring = draws ? drawnRows(context, draws) : hostRows((weights as Matrix).data, size);
  // A thread draws a row: as many rows at a time as fit.
  const available = Math.min(bytes, freeMemory(context) / 2);
  const piece = draws ? Math.max(1, Math.min(size, Math.floor(available / (4 * size)))) : rowsOfPiece(size, 4);
  pack(context, stream, layout, size, { packed, scales, bring, piece });
  const blocks = Math.ceil(size / rows);
  return made.done({
    ...{ lanes, stateLength: stride, bytes },
    details: { kernel: name, blocks, threads, bytesPerStep: bytes, ...fastDetail(true), ...drawnDetail(draws) },
    step(on, { before, after, chunk, leak, keep, step }) {
      const data = [packed, scales, before, after, chunk, leak, keep] as const;
      on.launch(kernel, { grid: blocks, block: threads }, ...data, size, stride, ...neuron, step);
    },
    dispose: () => made.dispose(),
  } satisfies StreamedWeights);
}

interface PackedRows {
  readonly packed: DeviceBuffer<"u8">;
  readonly scales: DeviceBuffer<"f32">;
  readonly bring: BringRows;
  readonly piece: number;
}

/** Brings rows in binary32, from the host or drawn here, some at a time, and packs them. */
function pack(
  context: Context,
  stream: Stream,
  { precision, rowBytes, stride }: QuantizedLayout,
  size: number,
  { packed, scales, bring, piece }: PackedRows,
): void {
  const name = `pack_rows_${kinds[precision].name}`;
  const kernel = shippedKernel(context, "reservoir_quantize", name, ["const f32*", "u8*", "f32*", "i32", "i32", "i32"]);
  using source = context.alloc("f32", piece * size, { label: "rows of W on their way" });
  for (let row = 0; row < size; row += piece) {
    const rows = Math.min(piece, size - row);
    const target = source.slice(0, rows * size);
    bring(stream, target, row, rows);
    const into = packed.slice(row * rowBytes, (row + rows) * rowBytes);
    const grid = Math.min(65535, Math.ceil(rows / 4));
    stream.launch(kernel, { grid, block: 128 }, target, into, scales.slice(row, row + rows), rows, size, stride);
  }
}

/** Puts rows of W where they are asked for. */
type BringRows = (stream: Stream, target: DeviceSlice<"f32">, first: number, rows: number) => void;

const hostRows =
  (data: FloatArray, size: number): BringRows =>
  (stream, target, first, rows) =>
    stream.upload(target, data.subarray(first * size, (first + rows) * size) as Float32Array);

function drawnRows(context: Context, drawn: WeightDraws): BringRows {
  const name = "draw_some_rows";
  const kernel = shippedKernel(context, "reservoir_quantize", name, [...drawParameters, "f64", "f32*", "i32", "i32"]);
  return (stream, target, first, rows) => {
    stream.fill(target);
    const config = { grid: Math.ceil(rows / 128), block: 128 };
    stream.launch(kernel, config, ...drawArguments(drawn), drawn.factor, target, first, rows);
  };
}
