// The time loop that launches each step: by one fused kernel ("streamed") or by the named kernels
// ("named"), whose weights come from memory; many steps are launched as a graph. For W that does
// not fit on the chip, and for devices and shapes that no other loop takes.
import { disposeAll, Making } from "@spillway/core/disposal.js";
import type { Context, Graph, Stream } from "@spillway/gpu";
import type { ReservoirModel } from "../../../reservoir/model.js";
import { activationNumber } from "../activation.js";
import { CommonKernels } from "../common-kernels.js";
import type { AnyKernel, CompiledSource } from "../kernels.js";
import type { ClosedLoopRun, DeviceReadout, RealSlice, TimeLoop, TimeLoopRun } from "../time-loop.js";
import { chunkKernels, packingKernel, StepState } from "./step-state.js";
import type { NeuronArguments, StreamedWeights } from "./weights.js";

/** Steps of a graph: even, and the two buffers of the state are as before. */
const graphSteps = 64;

/** Lays W out on the device. */
export type MakeWeights = (stream: Stream, neuron: NeuronArguments) => StreamedWeights;

export class StreamedLoop implements TimeLoop {
  readonly name: string;
  readonly #size: number;
  readonly #inputSize: number;
  readonly #outputSize: number;
  readonly #weights: StreamedWeights;
  readonly #common: CommonKernels;
  readonly #x: StepState;
  readonly #advance: AnyKernel;
  readonly #unpack: AnyKernel;
  readonly #owned = new Making();
  #graph: Graph | undefined;
  #closed: { readonly readout: DeviceReadout; readonly key: string; readonly graph: Graph } | undefined;

  constructor(name: string, context: Context, model: ReservoirModel, makeWeights: MakeWeights, source?: CompiledSource) {
    this.name = name;
    const { precision, size } = model;
    this.#size = size;
    this.#inputSize = model.inputSize;
    this.#outputSize = model.outputSize;
    this.#common = new CommonKernels(context, precision, { source, integers: model.config.arithmetic === "integer" });
    this.#advance = chunkKernels(context).kernel("advance_chunk", ["u64*", "u32"]);
    const [key0, key1] = model.noiseKey;
    using owned = this.#owned;
    using uploading = new Making();
    const stream = uploading.own(context.stream({ label: "upload of W" }));
    this.#weights = owned.own(makeWeights(stream, [activationNumber[model.activation], model.noiseLevel, key0, key1]));
    this.#unpack =
      this.#weights.packing?.unpack ?? packingKernel(context, "unpack_state", precision, ["const real*", "real*", "i32", "i32"]);
    stream.sync();
    uploading.dispose();
    this.#x = owned.own(new StepState(context, model, this.#weights, "x of the streamed loop"));
    owned.done();
  }

  get bytes(): number {
    return this.#weights.bytes + this.#x.bytes;
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
    this.#begin(stream, run);
    let left = steps;
    if (!this.#weights.begin && (left >= 2 * graphSteps || (this.#graph && left >= graphSteps))) {
      this.#graph ??= stream.capture(
        (captured) => {
          for (let step = 0; step < graphSteps; step++) this.#step(captured, step);
          captured.launch(this.#advance, { grid: 1, block: 1 }, this.#x.chunk, graphSteps);
        },
        { label: "streamed steps" },
      );
      for (; left >= graphSteps; left -= graphSteps) this.#graph.launch(stream);
    }
    for (let step = 0; step < left; step++) this.#step(stream, step);
    this.#end(stream, run.state, left);
  }

  enqueueClosed(stream: Stream, run: ClosedLoopRun): boolean {
    const { steps, state, states, drive } = run;
    this.#begin(stream, run);
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
    disposeAll([this.#owned, this.#closed?.graph, this.#graph]);
  }

  #begin(stream: Stream, run: TimeLoopRun | ClosedLoopRun): void {
    const { state, drive, feedback, states, firstStep, sequence } = run;
    const begun = { state, drive, feedback, states, firstStep, sequence };
    this.#x.begin(stream, begun);
    this.#weights.begin?.(stream, { ...begun, packed: this.#x.packed });
  }

  #step(stream: Stream, step: number): void {
    this.#weights.step(stream, this.#x.arguments(step));
  }

  #end(stream: Stream, state: RealSlice, steps: number): void {
    const grid = { grid: Math.ceil(this.#size / 256), block: 256 };
    stream.launch(this.#unpack, grid, this.#x.packed[(steps % 2) as 0 | 1], state, this.#size, this.#weights.lanes);
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
