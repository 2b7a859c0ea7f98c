// Steps of one reservoir on a device: the model, buffers of chunks, two streams. W and the
// arithmetic of a step are the time loop's.
import { disposeAll, Held, Making } from "@spillway/core/disposal.js";
import type { Context, Stream } from "@spillway/gpu";
import type { FloatArray, Matrix } from "@spillway/numerics";
import { NonFiniteStateError } from "../../reservoir/engine/errors.js";
import type { GenerateOptions, SequenceInput, TargetProducts, TargetWork, TrainingSink } from "../../reservoir/engine.js";
import type { ReservoirModel } from "../../reservoir/model.js";
import type { StatesThere, Steps, TakenBatchOptions, Wanted } from "../session.js";
import type { Chunks, SessionRecord, StateStore } from "../session-record.js";
import { runSequences } from "./batch/index.js";
import { ChunkBuffers } from "./chunk-buffers.js";
import { ChunkPipeline, type FinishedChunk, type PipelineParts, runSize } from "./chunk-pipeline.js";
import { ClosedLoop } from "./closed-loop.js";
import { CommonKernels } from "./common-kernels.js";
import { DeviceModel } from "./device-model.js";
import { slicesOf, statesThere } from "./device-rows.js";
import { multiplyTargets } from "./ensemble/target-products.js";
import { KeptLocked } from "./kept-locked.js";
import type { CompiledSource } from "./kernels.js";
import type { DeviceClock } from "./profile.js";
import { shapeOf } from "./shape.js";
import type { RealSlice, TimeLoop } from "./time-loop.js";
import { openGramTrainer } from "./training/index.js";
import { TrainingRun } from "./training-run.js";

/** What the steps are made of. */
export interface StepsParts {
  readonly context: Context;
  readonly model: ReservoirModel;
  readonly loop: TimeLoop;
  /** The most steps of a chunk. */
  readonly capacity: number;
  /** A loop that takes every closed loop, used if `loop` has none. */
  readonly openStreamed: () => Promise<TimeLoop>;
  /** Where the plan's own matvec_input comes from. */
  readonly compiled?: CompiledSource;
  /** Times phases; the session disposes of it. */
  readonly clock?: DeviceClock | undefined;
  /** Whether the plan was asked for by its name: then everything runs by it. */
  readonly named: boolean;
  /** As `EngineOptions.spinLimit`. */
  readonly spinLimit?: number | undefined;
}

export class DeviceSteps implements Steps<FinishedChunk>, PipelineParts, StateStore {
  readonly context: Context;
  readonly model: ReservoirModel;
  readonly loop: TimeLoop;
  readonly clock: DeviceClock | undefined;
  readonly device: DeviceModel;
  readonly common: CommonKernels;
  readonly compute: Stream;
  readonly copies: Stream;
  readonly there: StatesThere;
  readonly #parts: StepsParts;
  readonly #locked: KeptLocked;
  readonly #owned = new Making();
  #buffers: ChunkBuffers | undefined;
  #streamed: TimeLoop | undefined;

  /** x is the model's initial state. */
  constructor(parts: StepsParts) {
    const { context, model, loop, clock } = parts;
    this.context = context;
    this.model = model;
    this.loop = loop;
    this.clock = clock;
    this.#parts = parts;
    this.#locked = new KeptLocked(context);
    using owned = this.#owned;
    const { own } = owned;
    if (clock) own(clock);
    this.device = own(new DeviceModel(context, model));
    this.common = new CommonKernels(context, model.precision, {
      source: parts.compiled,
      integers: model.config.arithmetic === "integer",
    });
    this.compute = own(context.stream({ label: "reservoir" }));
    this.copies = own(context.stream({ label: "states to the host" }));
    this.setValues(model.initialState);
    clock?.watch(this.compute);
    clock?.watch(this.copies);
    owned.done();
    this.there = statesThere(context, model, this.compute, clock);
  }

  get store(): this {
    return this;
  }

  getValues(): FloatArray {
    return this.context.read(this.device.state);
  }

  setValues(values: FloatArray): void {
    this.compute.upload(this.device.state, values);
  }

  get lost(): boolean {
    return this.context.loss !== undefined;
  }

  async openStreamed(): Promise<TimeLoop> {
    this.#streamed ??= await this.#parts.openStreamed();
    return this.#streamed;
  }

  /** Buffers for chunks of up to `rows` steps, within what was planned. */
  #buffersFor(rows: number): ChunkBuffers {
    const wanted = Math.min(this.#parts.capacity, Math.max(1, rows));
    if (this.#buffers && this.#buffers.capacity >= wanted) return this.#buffers;
    this.#buffers?.dispose();
    this.#buffers = undefined;
    this.#buffers = new ChunkBuffers(this.context, shapeOf(this.model), wanted);
    return this.#buffers;
  }

  /**
   * Waits for all work and puts x back; an error of that work, or a wait that expired, is thrown in
   * place of the one under way.
   */
  async #goBack(state: RealSlice): Promise<void> {
    if (this.lost) return;
    await this.copies.done();
    await this.compute.done();
    this.loop.check();
    this.compute.copy(this.device.state, state);
    this.compute.sync();
  }

  step(record: SessionRecord, input: FloatArray): FloatArray {
    const { context, model, device, common, compute, loop, clock } = this;
    const { size, inputSize, outputSize } = model;
    const buffers = this.#buffersFor(1);
    const { drive, feedback } = buffers;
    const slot = buffers.slots[0];
    const row = (matrix: RealSlice | null, columns: number) => (matrix ? matrix.slice(0, columns) : null);
    const [u, y, state] = [row(slot.inputs, inputSize), row(slot.outputs, outputSize), device.state];
    clock?.on(compute, "upload");
    if (u) compute.upload(u, input);
    if (y) compute.upload(y, record.output);
    clock?.on(compute, "drive");
    common.drive(compute, device.inputWeights, device.bias, u, row(drive, size)!, { size, inputs: inputSize, steps: 1 });
    if (y) common.drive(compute, device.feedbackWeights, null, y, row(feedback, size)!, { size, inputs: outputSize, steps: 1 });
    clock?.off(compute);
    compute.copy(slot.before, state);
    clock?.on(compute, "run", runSize(loop, 1));
    loop.enqueue(compute, {
      ...{ steps: 1, firstStep: record.step, sequence: 0, state },
      drive: row(drive, size)!,
      feedback: row(feedback, size) ?? undefined,
      states: row(slot.states, size)!,
    });
    clock?.off(compute);
    compute.sync();
    loop.check();
    clock?.enter("download");
    const values = context.read(state);
    clock?.leave();
    clock?.came(values.byteLength);
    clock?.endCall();
    const neuron = values.findIndex((value) => !Number.isFinite(value));
    if (neuron < 0) return values;
    compute.copy(state, slot.before);
    throw new NonFiniteStateError(record.step, neuron);
  }

  chunks(sequence: SequenceInput, { step, output }: SessionRecord, number: number, wanted: Wanted): Chunks<FinishedChunk> {
    const { every, into } = wanted;
    const onHost = every === 1 ? wanted.onHost : undefined;
    const start = { step, sequence: number, output: output.slice() };
    this.compute.waitFor(slicesOf([sequence]));
    const pipeline = new ChunkPipeline(this, this.#buffersFor(sequence.inputs.rows), sequence, start, {
      every,
      into: into?.values,
      onHost,
    });
    return {
      next: () => pipeline.next(),
      goBack: ({ finite, slot }) => {
        const { size } = this.model;
        return this.#goBack(finite > 0 ? slot.states.slice((finite - 1) * size, finite * size) : slot.before);
      },
      finish: () => this.loop.check(),
      rewind: async () => {
        const before = pipeline.stateBeforeRest;
        if (before) await this.#goBack(before);
      },
    };
  }

  async generate(options: GenerateOptions, record: SessionRecord): Promise<Matrix> {
    const { steps, readout, inputs, into: states } = options;
    const { size, outputSize } = this.model;
    const buffers = this.#buffersFor(Math.min(steps, this.loop.closedSteps ?? ClosedLoop.chunkSteps));
    using held = new Held();
    const closed = held.own(new ClosedLoop(this, buffers, readout, inputs, steps));
    return await record.closeLoop(options, async (from, outputs) => {
      const chunk = await closed.run(from, record, states !== undefined);
      record.alive();
      outputs.data.set(chunk.outputs.data, from * outputs.cols);
      states?.data.set(chunk.states.subarray(0, chunk.finite * size), from * size);
      const fed = outputSize > 0 && chunk.answered > 0 ? outputs.row(from + chunk.answered - 1) : undefined;
      record.advance(chunk.finite, chunk.input, fed);
      if (chunk.neuron !== undefined) throw new NonFiniteStateError(record.step, chunk.neuron);
      return from + chunk.steps;
    });
  }

  together(sequences: readonly SequenceInput[], options: TakenBatchOptions): Promise<Matrix[]> | undefined {
    const { context, model, clock, spinLimit, named } = this.#parts;
    return named ? undefined : runSequences(context, model, sequences, options, { clock, spinLimit, locked: this.#locked });
  }

  trainer(sink: TrainingSink, targets: Matrix, washout: number): TrainingRun | undefined {
    const trainer = openGramTrainer(this.context, this.compute, this.model, [sink], targets.cols, this.loop.peers);
    return trainer && new TrainingRun(this, trainer, targets, washout);
  }

  multiplyTargets(work: TargetWork): Promise<TargetProducts> | undefined {
    const { context, model, named } = this.#parts;
    return named ? undefined : multiplyTargets(context, model, work);
  }

  /** Gives all back, the time loops too. */
  dispose(): void {
    disposeAll([this.#owned, this.loop, this.#streamed, this.#buffers, this.#locked]);
  }
}
