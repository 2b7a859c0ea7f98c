// A sparse W in device memory, in slices of four rows, and its step. docs/numerics.md, rule 2.
import { Making } from "@spillway/core/disposal.js";
import type { Context, DeviceInfo, Stream } from "@spillway/gpu";
import { allocate, type Precision, type SparseMatrix } from "@spillway/numerics";
import type { ReservoirModel } from "../../../reservoir/model.js";
import type { WeightPrecision } from "../../../reservoir/weight-rounding.js";
import { type AnyBuffer, allocAny, bytesOf, realKernel, realType } from "../kernels.js";
import { elementBytes } from "../shape.js";
import { countDrawn, drawSlices, type RowRange, rowOffsetsOf } from "./drawn.js";
import { entriesPerLoad, packSlices, type SparseLayout, sparseLayout } from "./sparse-layout.js";
import { drawnDetail, fastDetail, type NeuronArguments, type StreamedWeights } from "./weights.js";

/** Slices are sent in pieces of about this many entries. */
const pieceEntries = 2 ** 24;

/** The variant of the kernel, known from sizes. */
export interface SparseVariant {
  /** "f32_u16_staged" of sparse_step_f32_u16_staged. */
  readonly name: string;
  readonly columnType: "u16" | "u32";
  readonly valueType: "f32" | "f64" | "u16";
  readonly entryBytes: number;
  /** Entries that a lane loads at once. */
  readonly entries: 1 | 4;
  /** Bytes of shared memory that x is copied to; 0 if it is gathered from where it lies. */
  readonly shared: number;
  readonly threads: number;
  /** Whether products and sums are fused, which is not portable arithmetic. */
  readonly fast: boolean;
}

/** The step that reads it. */
export const sparseKernel = ({ name, fast }: SparseVariant): string => `sparse_step_${name}${fast ? "_fast" : ""}`;

/**
 * Whether rows are long enough to be worth a copy of x in shared memory, and which types stand for
 * values and columns.
 */
export function sparseVariant(
  size: number,
  nonzeros: number,
  precision: Precision,
  weightPrecision: WeightPrecision,
  arithmetic: "portable" | "fast",
  device: DeviceInfo,
): SparseVariant {
  const real = realType(precision);
  const rounded = weightPrecision === "bfloat16";
  const columnType = size <= 65536 ? "u16" : "u32";
  const entries = entriesPerLoad(size, nonzeros);
  const long = entries === 4;
  const stateBytes = size * elementBytes(precision);
  const staged = long && columnType === "u16" && stateBytes <= device.attributes.sharedBytesPerBlockOptIn;
  return {
    name: `${real}${rounded ? "_bf16" : ""}_${columnType}_${staged ? "staged" : long ? "long" : "short"}`,
    columnType,
    valueType: rounded ? "u16" : real,
    entryBytes: (rounded ? 2 : elementBytes(precision)) + (columnType === "u16" ? 2 : 4),
    entries,
    shared: staged ? stateBytes : 0,
    threads: staged ? 1024 : 256,
    fast: arithmetic === "fast" && precision === "float32",
  };
}

/** W, or the rows of it that a device has. */
export function sparseWeights(
  context: Context,
  stream: Stream,
  { weights, draws, precision, size }: ReservoirModel,
  variant: SparseVariant,
  neuron: NeuronArguments,
  { from, to }: RowRange = { from: 0, to: size },
): StreamedWeights {
  const csr = weights as SparseMatrix;
  const layout = sparseLayout(draws ? rowOffsetsOf(countDrawn(context, draws)) : csr.rowOffsets, variant.entries, from, to);
  const { columnType, valueType, threads, shared, fast } = variant;
  const { slices, padded } = layout;
  const blocks = shared > 0 ? Math.min(slices, context.info.attributes.multiprocessors) : Math.ceil(slices / (threads / 32));
  const name = sparseKernel(variant);
  const kernel = realKernel(context, fast ? "reservoir_step_fast" : "reservoir_step", name, precision, [
    ...([`const ${valueType}*`, `const ${columnType}*`, "const u32*", "const i32*", "i32", "const real*", "real*"] as const),
    ...(["const u64*", "const real*", "const real*", "i32", "i32", "real", "u32", "u32", "i32", "const u64*", "i32"] as const),
  ]);
  using made = new Making();
  const { own } = made;
  const values = own(allocAny(context, valueType, Math.max(1, padded), "values of W"));
  const columns = own(allocAny(context, columnType, Math.max(1, padded), "columns of W"));
  const offsets = own(context.upload(layout.offsets, { label: "offsets of W" }));
  const rows = own(context.upload(layout.rows, { label: "rows of W" }));
  if (draws) drawSlices(context, stream, draws, layout, variant, { offsets, rows, values, columns });
  else send(stream, csr, layout, variant, values, columns);
  const nonzeros = draws ? draws.nonzeros! : csr.values.length;
  const bytesPerStep = padded * variant.entryBytes;
  return made.done({
    ...{ lanes: 0, stateLength: size, bytes: bytesOf([values, columns, offsets, rows]) },
    details: { kernel: name, blocks, threads, nonzeros, bytesPerStep, ...fastDetail(fast), ...drawnDetail(draws) },
    step(on, { before, after, chunk, leak, keep, step, others }) {
      const w = [values, columns, offsets, rows, slices] as const;
      const steps = [before, after, chunk, leak, keep, size, ...neuron, step] as const;
      on.launch(kernel, { grid: blocks, block: threads, shared }, ...w, ...steps, others ?? null, others?.length ?? 0);
    },
    dispose: () => made.dispose(),
  } satisfies StreamedWeights);
}

function send(
  stream: Stream,
  weights: SparseMatrix,
  layout: SparseLayout,
  variant: SparseVariant,
  values: AnyBuffer,
  columns: AnyBuffer,
): void {
  const { offsets, slices, entries } = layout;
  for (let from = 0; from < slices; ) {
    let to = from + 1;
    while (to < slices && (offsets[to + 1]! - offsets[from]!) * 32 * entries <= pieceEntries) to++;
    const [begin, end] = [offsets[from]! * 32 * entries, offsets[to]! * 32 * entries];
    if (end > begin) {
      const packedValues =
        variant.valueType === "u16"
          ? new Uint16Array(end - begin)
          : allocate(variant.valueType === "f32" ? "float32" : "float64", end - begin);
      const packedColumns = variant.columnType === "u16" ? new Uint16Array(end - begin) : new Uint32Array(end - begin);
      packSlices(weights, layout, from, to, packedValues, packedColumns);
      stream.upload(values.slice(begin, end), packedValues);
      stream.upload(columns.slice(begin, end), packedColumns);
    }
    from = to;
  }
}
