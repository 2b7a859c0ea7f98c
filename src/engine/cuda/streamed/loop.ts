// The time loop that launches each step: by one fused kernel ("streamed") or by the named kernels
// ("named"), whose weights come from memory; many steps are launched as a graph. For W that does
// not fit on the chip, and for devices and shapes that no other loop takes.
import { disposeAll, disposeQuietly } from "@spillway/core/disposal.js";
import type { Context, DeviceBuffer, Graph, Stream } from "@spillway/gpu";
import type { FloatArray, Precision } from "@spillway/numerics";
import type { ReservoirModel } from "../../../reservoir/model.js";
import { activationNumber } from "../activation.js";
import { CommonKernels } from "../common-kernels.js";
import { type AnyKernel, type CompiledSource, loadEntries, type RealType, realKernel, realType } from "../kernels.js";
import type { ClosedLoopRun, DeviceReadout, RealSlice, TimeLoop, TimeLoopRun } from "../time-loop.js";
import type { NeuronArguments, StatePacking, StreamedWeights } from "./weights.js";

/** Steps of a graph: even, and the two buffers of the state are as before. */
const graphSteps = 64;

/** Of a Chunk (kernels/chunk.cuh). */
export const chunkBytes = 40;

/** Lays W out on the device. */
export type MakeWeights = (stream: Stream, neuron: NeuronArguments) => StreamedWeights;

export class StreamedLoop implements TimeLoop {
  readonly name: string;
  readonly #size: number;
  readonly #inputSize: number;
  readonly #outputSize: number;
  readonly #weights: StreamedWeights;
  readonly #common: CommonKernels;
  readonly #buffers: DeviceBuffer[] = [];
  readonly #states: readonly [RealSlice, RealSlice];
  readonly #leak: RealSlice;
  readonly #keep: RealSlice;
  readonly #chunk: DeviceBuffer<"u64">;
  readonly #setChunk: AnyKernel;
  readonly #advance: AnyKernel;
  readonly #pack: AnyKernel;
  readonly #unpack: AnyKernel;
  #graph: Graph | undefined;
  #closed: { readonly readout: DeviceReadout; readonly key: string; readonly graph: Graph } | undefined;

  constructor(name: string, context: Context, model: ReservoirModel, makeWeights: MakeWeights, source?: CompiledSource) {
    this.name = name;
    const { precision, size } = model;
    const real = realType(precision);
    this.#size = size;
    this.#inputSize = model.inputSize;
    this.#outputSize = model.outputSize;
    this.#common = new CommonKernels(context, precision, { source, integers: model.config.arithmetic === "integer" });
    const chunkKernels = loadEntries(context, "reservoir_step", ["set_chunk", "advance_chunk"]);
    this.#setChunk = chunkKernels.kernel("set_chunk", ["u64*", `const ${real}*`, `const ${real}*`, `${real}*`, "u32", "u32"]);
    this.#advance = chunkKernels.kernel("advance_chunk", ["u64*", "u32"]);
    const [key0, key1] = model.noiseKey;
    const stream = context.stream({ label: "upload of W" });
    try {
      this.#weights = makeWeights(stream, [activationNumber[model.activation], model.noiseLevel, key0, key1]);
    } catch (error) {
      disposeQuietly([stream]);
      throw error;
    }
    const kept = <B extends DeviceBuffer>(buffer: B): B => {
      this.#buffers.push(buffer);
      return buffer;
    };
    try {
      const packing = this.#weights.packing ?? packingOf(context, precision);
      this.#pack = packing.pack;
      this.#unpack = packing.unpack;
      stream.sync();
      stream.dispose();
      const state = () => kept(context.zeros(real, this.#weights.stateLength, { label: "x of the streamed loop" }));
      this.#states = [state(), state()];
      this.#leak = kept(context.upload<FloatArray, RealType>(model.leakRate, { label: "a" }));
      this.#keep = kept(context.upload<FloatArray, RealType>(keepRates(model.leakRate, precision), { label: "1 - a" }));
      this.#chunk = kept(context.zeros("u64", chunkBytes / 8, { label: "chunk" }));
    } catch (error) {
      disposeQuietly([this, stream]);
      throw error;
    }
  }

  get bytes(): number {
    return this.#buffers.reduce((sum, buffer) => sum + buffer.byteLength, this.#weights.bytes);
  }

  get peers(): readonly Context[] | undefined {
    return this.#weights.peers;
  }

  get bytesPerStep(): number {
    return this.#weights.bytes;
  }

  get details(): Readonly<Record<string, string | number | boolean>> {
    return { ...this.#weights.details, ...(this.#weights.begin ? {} : { stepsPerGraph: graphSteps }) };
  }

  enqueue(stream: Stream, run: TimeLoopRun): void {
    const { steps } = run;
    this.#begin(stream, run.state, run.drive, run.feedback, run.states, run.firstStep, run.sequence);
    let left = steps;
    if (!this.#weights.begin && (left >= 2 * graphSteps || (this.#graph && left >= graphSteps))) {
      this.#graph ??= stream.capture(
        (captured) => {
          for (let step = 0; step < graphSteps; step++) this.#step(captured, step);
          captured.launch(this.#advance, { grid: 1, block: 1 }, this.#chunk, graphSteps);
        },
        { label: "streamed steps" },
      );
      for (; left >= graphSteps; left -= graphSteps) this.#graph.launch(stream);
    }
    for (let step = 0; step < left; step++) this.#step(stream, step);
    this.#end(stream, run.state, left);
  }

  enqueueClosed(stream: Stream, run: ClosedLoopRun): boolean {
    const { steps, state, states, drive, feedback } = run;
    this.#begin(stream, state, drive, feedback, states, run.firstStep, run.sequence);
    if (this.#outputSize > 0) this.#drive(stream, run, 0, steps);
    if (this.#weights.begin) {
      this.#closedSteps(stream, run);
      this.#end(stream, state, steps);
      return true;
    }
    const key = [run.steps, run.readout.weights.address, run.inputs.address, run.outputs.address, states.address, drive.address].join();
    // Another readout may lie where one was that is gone, and a graph holds what it was captured
    // with.
    if (this.#closed?.key !== key || this.#closed.readout !== run.readout) {
      this.#closed?.graph.dispose();
      this.#closed = undefined;
      const graph = stream.capture((captured) => this.#closedSteps(captured, run), { label: "closed loop" });
      this.#closed = { readout: run.readout, key, graph };
    }
    this.#closed.graph.launch(stream);
    this.#end(stream, state, steps);
    return true;
  }

  check(): void {
    this.#weights.check?.();
  }

  dispose(): void {
    disposeAll([this.#weights, ...this.#buffers, this.#closed?.graph, this.#graph]);
  }

  #begin(
    stream: Stream,
    state: RealSlice,
    drive: RealSlice,
    feedback: RealSlice | undefined,
    states: RealSlice | undefined,
    firstStep: number,
    sequence: number,
  ): void {
    stream.launch(
      this.#setChunk,
      { grid: 1, block: 1 },
      ...([this.#chunk, drive, feedback ?? null, states ?? null, firstStep >>> 0, sequence] as const),
    );
    const { stateLength, lanes } = this.#weights;
    const grid = { grid: Math.ceil(stateLength / 256), block: 256 };
    stream.launch(this.#pack, grid, state, this.#states[0], this.#size, stateLength, lanes);
    this.#weights.begin?.(stream, { state, drive, feedback, states, firstStep, sequence, packed: this.#states });
  }

  #step(stream: Stream, step: number): void {
    const [before, after] = step % 2 === 0 ? this.#states : [this.#states[1], this.#states[0]];
    this.#weights.step(stream, { before, after, chunk: this.#chunk, leak: this.#leak, keep: this.#keep, step });
  }

  #end(stream: Stream, state: RealSlice, steps: number): void {
    const grid = { grid: Math.ceil(this.#size / 256), block: 256 };
    stream.launch(this.#unpack, grid, this.#states[(steps % 2) as 0 | 1], state, this.#size, this.#weights.lanes);
  }

  /** The drive of steps `from` to `to` of a closed loop. */
  #drive(stream: Stream, { inputs, inputWeights, bias, drive }: ClosedLoopRun, from: number, to: number): void {
    const [size, width] = [this.#size, this.#inputSize];
    const rows = width > 0 ? inputs.slice((from + 1) * width, (to + 1) * width) : null;
    const out = drive.slice(from * size, to * size);
    this.#common.drive(stream, width > 0 ? inputWeights : null, bias, rows, out, { size, inputs: width, steps: to - from });
  }

  #closedSteps(stream: Stream, run: ClosedLoopRun): void {
    const { readout, inputs, outputs, state, states, feedback, feedbackWeights } = run;
    const [size, width, answers] = [this.#size, this.#inputSize, readout.outputs];
    const row = (matrix: RealSlice, r: number, columns: number) => matrix.slice(r * columns, (r + 1) * columns);
    const input = (r: number) => (width > 0 ? row(inputs, r, width) : null);
    for (let t = 0; t < run.steps; t++) {
      const before = t === 0 ? state : row(states, t - 1, size);
      if (feedbackWeights && feedback) {
        const shape = { size, inputs: answers, steps: 1 };
        this.#common.drive(stream, feedbackWeights, null, row(outputs, t, answers), row(feedback, t, size), shape);
        this.#step(stream, t);
        this.#common.readout(stream, readout, row(states, t, size), input(t + 1), size, row(outputs, t + 1, answers), null);
      } else {
        this.#common.readout(stream, readout, before, input(t), size, row(outputs, t + 1, answers), input(t + 1));
        this.#drive(stream, run, t, t + 1);
        this.#step(stream, t);
      }
    }
  }
}

function packingOf(context: Context, precision: Precision): StatePacking {
  const kernel = (name: string, parameters: Parameters<typeof realKernel>[4]) =>
    realKernel(context, "reservoir_step", `${name}_${realType(precision)}`, precision, parameters);
  return {
    pack: kernel("pack_state", ["const real*", "real*", "i32", "i32", "i32"]),
    unpack: kernel("unpack_state", ["const real*", "real*", "i32", "i32"]),
  };
}

/** 1 - a, rounded once. */
export function keepRates(leak: FloatArray, precision: Precision): FloatArray {
  return precision === "float32" ? Float32Array.from(leak, (a) => 1 - a) : Float64Array.from(leak, (a) => 1 - a);
}
