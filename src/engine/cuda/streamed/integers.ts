// W in integers in device memory, and its step: weights of 16 or 8 bits, states in pairs of 16,
// sums of 32. docs/numerics.md, rule 18.
import { Making } from "@spillway/core/disposal.js";
import type { Context, DeviceInfo, Stream } from "@spillway/gpu";
import { isSparse } from "@spillway/numerics";
import { tanhTable } from "../../../reservoir/integer/tanh.js";
import { type IntegerRows, integerRows } from "../../../reservoir/integer/weights.js";
import type { ReservoirModel } from "../../../reservoir/model.js";
import { type AnyArgument, type AnyBuffer, allocAny, bytesOf, shippedKernel } from "../kernels.js";
import type { ModelShape } from "../shape.js";
import { entriesPerLoad, packSlices, type SparseLayout, sparseLayout } from "./sparse-layout.js";
import type { StreamedWeights } from "./weights.js";

const file = "reservoir_integer";

/** Threads of a dense block, of a block that stages x, and of one that does not. */
const threads = { dense: 128, staged: 1024, short: 256 } as const;

/** Where W in integers stands. */
export interface IntegerLayout {
  readonly kernel: string;
  readonly weightType: "i16" | "i8";
  /** Of a dense W: columns of a packed row, a whole number of a warp's loads of 16 bytes. */
  readonly stride: number;
  /** Pairs of states. */
  readonly stateLength: number;
  /** Bytes of W that a step reads, as far as the sizes tell. */
  readonly bytes: number;
  /** Whether a block copies x to shared memory. */
  readonly staged: boolean;
}

export function integerLayout({ size, nonzeros, storage, weightPrecision }: ModelShape): IntegerLayout {
  const weightBytes = weightPrecision === "int8" ? 1 : 2;
  const weightType = weightBytes === 1 ? "i8" : "i16";
  if (storage === "dense") {
    const load = 512 / weightBytes;
    const stride = Math.ceil(size / load) * load;
    const bytes = size * stride * weightBytes;
    return { kernel: `integer_dense_${weightType}`, weightType, stride, stateLength: stride / 2, bytes, staged: false };
  }
  const staged = entriesPerLoad(size, nonzeros) === 4;
  return {
    ...{ kernel: `integer_sparse_${weightType}_${staged ? "staged" : "short"}`, weightType, stride: 0, staged },
    stateLength: Math.ceil(size / 2),
    bytes: nonzeros * (weightBytes + 2),
  };
}

export function integerWeights(
  context: Context,
  stream: Stream,
  model: ReservoirModel,
  layout: IntegerLayout,
  device: DeviceInfo,
): StreamedWeights {
  const { size, weights } = model;
  const { kernel: name, weightType, stride, staged, stateLength } = layout;
  const rows = integerRows(model);
  const sparse = isSparse(weights);
  const kernel = shippedKernel(context, file, name, [
    `const ${weightType}*`,
    ...(sparse ? (["const u16*", "const u32*", "const i32*", "i32"] as const) : []),
    ...(["const f32*", "f32*", "const u64*", "const i32*", "const i16*", "i32", "i32"] as const),
    ...(sparse ? [] : (["i32"] as const)),
  ]);
  using made = new Making();
  const buffers: AnyBuffer[] = [];
  const own = <B extends AnyBuffer>(buffer: B): B => {
    buffers.push(buffer);
    return made.own(buffer);
  };
  const neurons = own(context.upload(pairsOf(rows), { label: "e and a" }));
  const table = own(context.upload(tanhTable, { label: "tanh" }));
  /** What a launch takes of W, before x. */
  let matrix: readonly AnyArgument[];
  let config: { readonly grid: number; readonly block: number; readonly shared: number };
  if (sparse) {
    const slices = sparseLayout(weights.rowOffsets, staged ? 4 : 1);
    const { values, columns } = slicesOf({ ...weights, values: rows.weights }, slices, weightType);
    matrix = [
      own(context.upload(values, { label: "values of W" })),
      own(context.upload(columns, { label: "columns of W" })),
      own(context.upload(slices.offsets, { label: "offsets of W" })),
      own(context.upload(slices.rows, { label: "rows of W" })),
      slices.slices,
    ];
    const block = staged ? threads.staged : threads.short;
    const grid = staged ? Math.min(slices.slices, device.attributes.multiprocessors) : Math.ceil(slices.slices / (block / 32));
    config = { grid, block, shared: staged ? 4 * stateLength : 0 };
  } else {
    const target = own(allocAny(context, weightType, size * stride, "W"));
    stream.upload(target, paddedRows(rows.weights, size, stride, weightType));
    matrix = [target];
    config = { grid: Math.ceil(size / (threads.dense / 32)), block: threads.dense, shared: 0 };
  }
  return made.done({
    ...{ lanes: 0, stateLength, bytes: bytesOf(buffers) },
    packing: {
      pack: shippedKernel(context, file, "pack_state_integer", ["const f32*", "f32*", "i32", "i32", "i32"]),
      unpack: shippedKernel(context, file, "unpack_state_integer", ["const f32*", "f32*", "i32", "i32"]),
    },
    details: { kernel: name, blocks: config.grid, threads: config.block, arithmetic: "integer", bytesPerStep: layout.bytes },
    step: (on, { before, after, chunk, step }) =>
      on.launch(kernel, config, ...matrix, before, after, chunk, neurons, table, size, ...(sparse ? [] : [stride]), step),
    dispose: () => made.dispose(),
  } satisfies StreamedWeights);
}

/** e and a 2^15, neuron by neuron. */
function pairsOf({ exponents, leakRate }: IntegerRows): Int32Array<ArrayBuffer> {
  return Int32Array.from({ length: 2 * exponents.length }, (_, i) => (i % 2 === 0 ? exponents[i / 2]! : leakRate[(i - 1) / 2]!));
}

function paddedRows(weights: Int16Array, size: number, stride: number, type: IntegerLayout["weightType"]): Int8Array | Int16Array {
  const out = type === "i8" ? new Int8Array(size * stride) : new Int16Array(size * stride);
  for (let r = 0; r < size; r++) out.set(weights.subarray(r * size, (r + 1) * size), r * stride);
  return out;
}

function slicesOf(
  weights: Parameters<typeof packSlices>[0],
  layout: SparseLayout,
  type: IntegerLayout["weightType"],
): { readonly values: Int8Array | Int16Array; readonly columns: Uint16Array<ArrayBuffer> } {
  const entries = Math.max(1, layout.padded);
  const values = type === "i8" ? new Int8Array(entries) : new Int16Array(entries);
  const columns = new Uint16Array(entries);
  packSlices(weights, layout, 0, layout.slices, values, columns);
  return { values, columns };
}
