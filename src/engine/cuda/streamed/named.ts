// W as the named kernels take it (kernels/neuromorphic_gemv.cu), and a step by two of them: matvec_reservoir, then leaky_integration. matvec_input made the
// drive before. Dense rows stand as they are, sparse ones in CSR form.
import type { Context, DeviceSlice, Stream } from "../../../gpu/index.js";
import { type FloatArray, Matrix } from "../../../numerics/index.js";
import { EngineUnavailableError } from "../../../reservoir/engine.js";
import type { ReservoirModel } from "../../../reservoir/model.js";
import { abandonAll, disposeAll } from "../dispose.js";
import { allocAny, type AnyBuffer, type AnyKernel, namedKernel, realType } from "../kernels.js";
import type { RealSlice } from "../time-loop.js";
import { drawPlainRows } from "./drawn.js";
import { type NeuronArguments, rowsOfPiece, type StepArguments, type StreamedWeights } from "./weights.js";

const threads = 256;

/** The kernels of a step, in their order. */
export const namedKernels = (storage: "dense" | "sparse"): string =>
  `matvec_input, matvec_reservoir${storage === "sparse" ? "_csr" : ""}, leaky_integration`;

export class NamedWeights implements StreamedWeights {
  readonly lanes = 0;
  readonly stateLength: number;
  readonly bytes: number;
  readonly details: Readonly<Record<string, string | number | boolean>>;
  readonly #product: AnyKernel;
  readonly #integrate: AnyKernel;
  readonly #neuron: NeuronArguments;
  readonly #buffers: AnyBuffer[] = [];
  readonly #recurrent: RealSlice;
  readonly #blocks: number;
  /** Each kernel loads weights while the one before ends, if the device can (docs/cuda.md, launch shapes). */
  readonly #overlap: boolean;
  readonly #sparse: boolean;

  /** @throws EngineUnavailableError for a W that the device draws in another form */
  constructor(context: Context, stream: Stream, model: ReservoirModel, neuron: NeuronArguments) {
    const { precision, size, weights, draws } = model;
    const real = realType(precision);
    const kept = <B extends AnyBuffer>(buffer: B): B => {
      this.#buffers.push(buffer);
      return buffer;
    };
    this.#overlap = context.info.computeCapability[0] >= 9;
    this.#sparse = !(weights instanceof Matrix);
    this.#neuron = neuron;
    this.stateLength = size;
    this.#product = namedKernel(context, `matvec_reservoir${this.#sparse ? "_csr" : ""}`, precision, [
      ...(this.#sparse ? (["const real*", "const u32*", "const u32*"] as const) : (["const real*"] as const)),
      ...(["const real*", "real*", "i32"] as const),
      ...(this.#sparse ? [] : (["i32"] as const)),
    ]);
    this.#integrate = namedKernel(context, "leaky_integration", precision, [
      ...(["real*", "const real*", "const real*", "const real*", "const real*", "const real*", "i32", "i32"] as const),
      ...(["real", "u32", "u32", "u32", "u32", "const u64*"] as const),
    ]);
    try {
      if (weights instanceof Matrix) {
        const rows = kept(allocAny(context, real, size * size, "W"));
        if (draws) drawDense(context, stream, model, rows);
        else sendRows(stream, weights, rows);
      } else {
        if (draws) throw new EngineUnavailableError("cuda", drawnElsewhere);
        const { values, columns, rowOffsets } = weights;
        // No allocation is empty, and a W may be.
        const connections = values.length;
        const given = [
          [kept(allocAny(context, real, Math.max(1, connections), "values of W")), values],
          [kept(allocAny(context, "u32", Math.max(1, connections), "columns of W")), columns],
        ] as const;
        if (connections > 0)
          for (const [target, source] of given) stream.upload(target as DeviceSlice<"f32">, source as Float32Array<ArrayBuffer>);
        kept(context.upload(rowOffsets as Uint32Array<ArrayBuffer>, { label: "offsets of W" }));
      }
      this.bytes = this.#buffers.reduce((sum, buffer) => sum + buffer.byteLength, 0);
      this.#recurrent = kept(allocAny(context, real, size, "W x")) as RealSlice;
    } catch (error) {
      abandonAll(this.#buffers);
      throw error;
    }
    this.#blocks = Math.ceil((size * (this.#sparse ? 8 : 32)) / threads);
    const storage = this.#sparse ? "sparse" : "dense";
    this.details = { kernels: namedKernels(storage), blocks: this.#blocks, threads, bytesPerStep: this.bytes };
  }

  step(stream: Stream, { before, after, chunk, leak, step }: StepArguments): void {
    const size = this.stateLength;
    const recurrent = this.#recurrent;
    const matrix = this.#sparse ? this.#buffers.slice(0, 3) : this.#buffers.slice(0, 1);
    const overlap = this.#overlap;
    const config = { grid: this.#blocks, block: threads, overlap };
    stream.launch(this.#product, config, ...([...matrix, before, recurrent, size, ...(this.#sparse ? [] : [size])] as never[]));
    const [activation, noiseLevel, key0, key1] = this.#neuron;
    stream.launch(
      this.#integrate,
      { grid: Math.ceil(size / threads), block: threads, overlap },
      ...([after, before, null, recurrent, null, leak, size, activation, noiseLevel, key0, key1, step, 0, chunk] as const),
    );
  }

  dispose(): void {
    disposeAll(this.#buffers);
  }
}

const drawnElsewhere = 'W is drawn on the device in a form that the plan "named" does not read; take "streamed"';

function drawDense(context: Context, stream: Stream, { draws, precision, config }: ReservoirModel, rows: AnyBuffer): void {
  if (config.weightPrecision !== "full") throw new EngineUnavailableError("cuda", drawnElsewhere);
  drawPlainRows(context, stream, draws!, precision === "float32" ? "float32" : "none", rows);
}

function sendRows(stream: Stream, { rows: size, data }: Matrix, target: AnyBuffer): void {
  const piece = rowsOfPiece(size, data.BYTES_PER_ELEMENT);
  for (let row = 0; row < size; row += piece) {
    const [begin, end] = [row * size, Math.min(size, row + piece) * size];
    stream.upload(target.slice(begin, end) as DeviceSlice<"f32">, (data as FloatArray).subarray(begin, end) as Float32Array<ArrayBuffer>);
  }
}
