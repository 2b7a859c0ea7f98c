// W as the named kernels take it (kernels/neuromorphic_gemv.cu), and a step by two of them:
// matvec_reservoir, then leaky_integration. matvec_input made the drive before. Dense rows stand as
// they are, sparse ones in CSR form.
import { Making } from "@spillway/core/disposal.js";
import type { Context, Stream } from "@spillway/gpu";
import { Matrix } from "@spillway/numerics";
import type { ReservoirModel } from "../../../reservoir/model.js";
import { type AnyBuffer, allocAny, bytesOf, type CompiledSource, realType } from "../kernels.js";
import { NamedKernels, productBlocks, type RealInput, type SparseSlices } from "../named-kernels.js";
import { countDrawn, drawCsr, drawRoundedRows, roundingOf, rowOffsetsOf } from "./drawn.js";
import { type NeuronArguments, rowsOfPiece, type StreamedWeights } from "./weights.js";

/** The kernels of a step, in their order. */
export const namedKernels = (storage: "dense" | "sparse"): string =>
  `matvec_input, matvec_reservoir${storage === "sparse" ? "_csr" : ""}, leaky_integration`;

/** What a plan says of compiled kernels. */
export const sourceDetail = (source: CompiledSource): { readonly kernelSource?: "nvrtc" } => (source ? { kernelSource: source } : {});

export function namedWeights(
  context: Context,
  stream: Stream,
  model: ReservoirModel,
  neuron: NeuronArguments,
  source?: CompiledSource,
): StreamedWeights {
  const { precision, size } = model;
  const dense = model.weights instanceof Matrix;
  const kernels = new NamedKernels(context, precision, { overlap: true, source });
  kernels.load(dense ? "matvec_reservoir" : "matvec_reservoir_csr", "leaky_integration");
  using made = new Making();
  const buffers: AnyBuffer[] = [];
  const own = <B extends AnyBuffer>(buffer: B): B => {
    buffers.push(buffer);
    return made.own(buffer);
  };
  const matrix = matrixThere(context, stream, model, own);
  const bytes = bytesOf(buffers);
  const recurrent = own(allocAny(context, realType(precision), size, "W x"));
  return made.done({
    ...{ lanes: 0, stateLength: size, bytes },
    details: {
      kernels: namedKernels(dense ? "dense" : "sparse"),
      ...{ blocks: productBlocks(size, !dense), threads: 256, bytesPerStep: bytes, ...sourceDetail(source) },
    },
    step(on, { before, after, chunk, leak, step }) {
      kernels.matvecReservoir(on, matrix, before, recurrent, size, size);
      const added = { drive: null, recurrent, feedback: null, leak };
      kernels.leakyIntegration(on, after, before, added, size, neuron, { step, sequence: 0, chunk });
    },
    dispose: () => made.dispose(),
  } satisfies StreamedWeights);
}

function matrixThere(
  context: Context,
  stream: Stream,
  model: ReservoirModel,
  own: <B extends AnyBuffer>(buffer: B) => B,
): RealInput | SparseSlices {
  const { size, weights, draws } = model;
  const real = realType(model.precision);
  if (weights instanceof Matrix) {
    const rows = own(allocAny(context, real, size * size, "W"));
    if (draws) drawRoundedRows(context, stream, draws, roundingOf(model), rows);
    else sendRows(stream, weights, rows);
    return rows;
  }
  if (draws) {
    const { values, columns, offsets } = drawCsr(context, stream, draws, rowOffsetsOf(countDrawn(context, draws)), roundingOf(model), real);
    for (const buffer of [values, columns, offsets]) own(buffer);
    return { values, columns, rowOffsets: offsets };
  }
  const { values, columns, rowOffsets } = weights;
  // No allocation is empty, and a W may be.
  const connections = values.length;
  const sent = {
    values: own(allocAny(context, real, Math.max(1, connections), "values of W")),
    columns: own(allocAny(context, "u32", Math.max(1, connections), "columns of W")),
  };
  if (connections > 0) {
    stream.upload(sent.values, values);
    stream.upload(sent.columns, columns);
  }
  const offsets = context.upload(rowOffsets, { label: "offsets of W" });
  return { ...sent, rowOffsets: own(offsets) };
}

function sendRows(stream: Stream, { rows: size, data }: Matrix, target: AnyBuffer): void {
  const piece = rowsOfPiece(size, data.BYTES_PER_ELEMENT);
  for (let row = 0; row < size; row += piece) {
    const [begin, end] = [row * size, Math.min(size, row + piece) * size];
    stream.upload(target.slice(begin, end), data.subarray(begin, end));
  }
}
