// W as the named kernels take it (kernels/neuromorphic_gemv.cu), and a step by two of them:
// matvec_reservoir, then leaky_integration. matvec_input made the drive before. Dense rows stand as
// they are, sparse ones in CSR form.
import { disposeAll, disposeQuietly } from "@spillway/core/disposal.js";
import type { Context, Stream } from "@spillway/gpu";
import { Matrix } from "@spillway/numerics";
import type { ReservoirModel } from "../../../reservoir/model.js";
import { type AnyBuffer, allocAny, type CompiledSource, realType } from "../kernels.js";
import { NamedKernels, productBlocks, type RealInput, type SparseSlices } from "../named-kernels.js";
import type { RealSlice } from "../time-loop.js";
import { countDrawn, drawCsr, drawRoundedRows, roundingOf, rowOffsetsOf } from "./drawn.js";
import { type NeuronArguments, rowsOfPiece, type StepArguments, type StreamedWeights } from "./weights.js";

/** The kernels of a step, in their order. */
export const namedKernels = (storage: "dense" | "sparse"): string =>
  `matvec_input, matvec_reservoir${storage === "sparse" ? "_csr" : ""}, leaky_integration`;

/** What a plan says of compiled kernels. */
export const sourceDetail = (source: CompiledSource): { readonly kernelSource?: "nvrtc" } => (source ? { kernelSource: source } : {});

export class NamedWeights implements StreamedWeights {
  readonly lanes = 0;
  readonly stateLength: number;
  readonly bytes: number;
  readonly details: Readonly<Record<string, string | number | boolean>>;
  readonly #kernels: NamedKernels;
  readonly #neuron: NeuronArguments;
  readonly #buffers: AnyBuffer[] = [];
  readonly #recurrent: RealSlice;
  readonly #matrix: RealInput | SparseSlices;

  constructor(context: Context, stream: Stream, model: ReservoirModel, neuron: NeuronArguments, source?: CompiledSource) {
    const { precision, size, weights, draws } = model;
    const real = realType(precision);
    const kept = <B extends AnyBuffer>(buffer: B): B => {
      this.#buffers.push(buffer);
      return buffer;
    };
    const dense = weights instanceof Matrix;
    this.#neuron = neuron;
    this.stateLength = size;
    this.#kernels = new NamedKernels(context, precision, { overlap: true, source });
    this.#kernels.load(dense ? "matvec_reservoir" : "matvec_reservoir_csr", "leaky_integration");
    try {
      if (weights instanceof Matrix) {
        const rows = kept(allocAny(context, real, size * size, "W"));
        if (draws) drawRoundedRows(context, stream, draws, roundingOf(model), rows);
        else sendRows(stream, weights, rows);
        this.#matrix = rows;
      } else if (draws) {
        const offsets = rowOffsetsOf(countDrawn(context, draws));
        const made = drawCsr(context, stream, draws, offsets, roundingOf(model), real);
        for (const buffer of [made.values, made.columns, made.offsets]) kept(buffer);
        this.#matrix = { values: made.values, columns: made.columns, rowOffsets: made.offsets };
      } else {
        const { values, columns, rowOffsets } = weights;
        // No allocation is empty, and a W may be.
        const connections = values.length;
        const sent = {
          values: kept(allocAny(context, real, Math.max(1, connections), "values of W")),
          columns: kept(allocAny(context, "u32", Math.max(1, connections), "columns of W")),
        };
        if (connections > 0) {
          stream.upload(sent.values, values);
          stream.upload(sent.columns, columns);
        }
        const offsets = context.upload(rowOffsets, { label: "offsets of W" });
        this.#matrix = { ...sent, rowOffsets: kept(offsets) };
      }
      this.bytes = this.#buffers.reduce((sum, buffer) => sum + buffer.byteLength, 0);
      this.#recurrent = kept(allocAny(context, real, size, "W x"));
    } catch (error) {
      disposeQuietly(this.#buffers);
      throw error;
    }
    const storage = dense ? "dense" : "sparse";
    this.details = {
      kernels: namedKernels(storage),
      blocks: productBlocks(size, !dense),
      threads: 256,
      bytesPerStep: this.bytes,
      ...sourceDetail(source),
    };
  }

  step(stream: Stream, { before, after, chunk, leak, step }: StepArguments): void {
    const size = this.stateLength;
    const recurrent = this.#recurrent;
    this.#kernels.matvecReservoir(stream, this.#matrix, before, recurrent, size, size);
    const added = { drive: null, recurrent, feedback: null, leak };
    this.#kernels.leakyIntegration(stream, after, before, added, size, this.#neuron, { step, sequence: 0, chunk });
  }

  dispose(): void {
    disposeAll(this.#buffers);
  }
}

function sendRows(stream: Stream, { rows: size, data }: Matrix, target: AnyBuffer): void {
  const piece = rowsOfPiece(size, data.BYTES_PER_ELEMENT);
  for (let row = 0; row < size; row += piece) {
    const [begin, end] = [row * size, Math.min(size, row + piece) * size];
    stream.upload(target.slice(begin, end), data.subarray(begin, end));
  }
}
