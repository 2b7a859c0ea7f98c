// One reservoir on a device: the session that the engine contract asks for. W and the arithmetic of
// a step are the time loop's; what every session keeps is the record's.
import type { Context, Stream } from "../../gpu/index.js";
import { type FloatArray, Matrix } from "../../numerics/index.js";
import { DeviceMatrix } from "../../reservoir/device-matrix.js";
import { addRows } from "../../reservoir/engine/training.js";
import {
  type AccumulateOptions,
  type BatchOptions,
  type DeviceSide,
  type EnginePlan,
  type EngineSession,
  type GenerateOptions,
  NonFiniteStateError,
  type RunOptions,
  type SequenceInput,
  type SessionState,
  type SummaryWork,
  type WorkOptions,
} from "../../reservoir/engine.js";
import { hostInputs } from "../../reservoir/inputs.js";
import type { ReservoirModel } from "../../reservoir/model.js";
import type { EngineProfile } from "../../reservoir/profile.js";
import { type Progress, SessionRecord, type StatePlace } from "../session-record.js";
import { ChunkBuffers } from "./chunk-buffers.js";
import { ChunkPipeline, type ChunkTarget, type FinishedChunk, runSize } from "./chunk-pipeline.js";
import { ClosedLoop } from "./closed-loop.js";
import { CommonKernels } from "./common-kernels.js";
import { DeviceModel } from "./device-model.js";
import { deviceSide, StateKeeper, slicesOf } from "./device-rows.js";
import type { DeviceBatch, DeviceBatchOptions, OpenBatch, OpenTrainer, StateTaker } from "./device-work.js";
import { abandonAll, disposeAll } from "./dispose.js";
import type { CompiledSource } from "./kernels.js";
import type { DeviceClock } from "./profile.js";
import { type ModelShape, shapeOf } from "./shape.js";
import { DeviceSummary } from "./summary.js";
import type { RealSlice, TimeLoop } from "./time-loop.js";
import { TrainingRun } from "./training-run.js";

/** What a session is made of. */
export interface SessionParts {
  readonly context: Context;
  readonly model: ReservoirModel;
  readonly plan: EnginePlan;
  readonly loop: TimeLoop;
  /** The most steps of a chunk. */
  readonly capacity: number;
  /** A loop that takes every closed loop, used if `loop` has none. */
  readonly openStreamed: () => Promise<TimeLoop>;
  readonly openTrainer: OpenTrainer;
  readonly openBatch: OpenBatch;
  /** Where the plan's own matvec_input comes from. */
  readonly compiled?: CompiledSource;
  /** Times phases; the session disposes of it. */
  readonly clock?: DeviceClock | undefined;
  /** As `EngineOptions.spinLimit`. */
  readonly spinLimit?: number | undefined;
}

/** Called with each chunk before the next is waited for. */
type ChunkSeen = (chunk: FinishedChunk) => void;

export class DeviceSession implements EngineSession {
  readonly model: ReservoirModel;
  readonly plan: EnginePlan;
  readonly device: DeviceSide;
  readonly #parts: SessionParts;
  readonly #shape: ModelShape;
  readonly #device: DeviceModel;
  readonly #common: CommonKernels;
  readonly #compute: Stream;
  readonly #copies: Stream;
  readonly #owned: { dispose(): void }[] = [];
  #buffers: ChunkBuffers | undefined;
  #streamed: TimeLoop | undefined;
  #batch: DeviceBatch | undefined;
  readonly #record: SessionRecord;
  #work: Promise<unknown> = Promise.resolve();
  /** Stops, when the session is disposed, work that looks only at a signal. */
  readonly #ending = new AbortController();

  constructor(parts: SessionParts) {
    const { context, model, plan, clock } = parts;
    this.model = model;
    this.plan = plan;
    this.device = deviceSide(context, model);
    this.#parts = parts;
    this.#shape = shapeOf(model);
    const own = <T extends { dispose(): void }>(thing: T): T => {
      this.#owned.push(thing);
      return thing;
    };
    try {
      if (clock) own(clock);
      this.#device = own(new DeviceModel(context, model));
      this.#common = new CommonKernels(context, model.precision, parts.compiled);
      this.#compute = own(context.stream({ label: "reservoir" }));
      this.#copies = own(context.stream({ label: "states to the host" }));
      this.#record = new SessionRecord(model, this.#statePlace());
      this.#record.reset();
      clock?.watch(this.#compute);
      clock?.watch(this.#copies);
    } catch (error) {
      abandonAll(this.#owned);
      throw error;
    }
  }

  async run(sequence: SequenceInput, options: RunOptions): Promise<void> {
    const { into: states, every = 1 } = options;
    const [into, kept] = states instanceof DeviceMatrix ? [states.values, undefined] : [undefined, states];
    await this.#runOne(sequence, options, (progress) =>
      this.#chunks(sequence, 0, progress, { every: states ? every : 0, into }, (chunk) => {
        if (kept) this.#keepRows(chunk, every, kept);
      }),
    );
  }

  step(input: FloatArray, teacher?: FloatArray): FloatArray {
    const record = this.#record;
    record.alive();
    record.checkCount(1);
    const { size, inputSize, outputSize } = this.model;
    const slot = this.#buffersFor(1).slots[0];
    const { drive, feedback } = this.#buffers!;
    const row = <S extends RealSlice | null>(matrix: S, columns: number) => matrix && (matrix.slice(0, columns) as RealSlice<"f32">);
    const [u, y, state] = [row(slot.inputs, inputSize), row(slot.outputs, outputSize), this.#device.state as RealSlice<"f32">];
    const compute = this.#compute;
    const { clock } = this.#parts;
    clock?.on(compute, "upload");
    if (u) compute.upload(u, input as Float32Array<ArrayBuffer>);
    if (y) compute.upload(y, record.output as Float32Array<ArrayBuffer>);
    clock?.on(compute, "drive");
    this.#common.drive(compute, this.#device.inputWeights, this.#device.bias, u, row(drive, size)!, { size, inputs: inputSize, steps: 1 });
    if (y) {
      const shape = { size, inputs: outputSize, steps: 1 };
      this.#common.drive(compute, this.#device.feedbackWeights, null, y, row(feedback, size)!, shape);
    }
    clock?.off(compute);
    compute.copy(slot.before as RealSlice<"f32">, state);
    clock?.on(compute, "run", runSize(this.#parts.loop, 1));
    this.#parts.loop.enqueue(compute, {
      ...{ steps: 1, firstStep: record.step, sequence: 0, state },
      drive: row(drive, size)!,
      feedback: row(feedback, size) ?? undefined,
      states: row(slot.states, size)!,
    });
    clock?.off(compute);
    compute.sync();
    this.#parts.loop.check();
    clock?.enter("download");
    const values = this.#parts.context.read(state) as FloatArray;
    clock?.leave();
    clock?.came(values.byteLength);
    clock?.settle();
    const neuron = values.findIndex((value) => !Number.isFinite(value));
    if (neuron >= 0) {
      compute.copy(state, slot.before as RealSlice<"f32">);
      throw new NonFiniteStateError(record.step, neuron);
    }
    record.advance(1, input, teacher);
    return values;
  }

  async batch(sequences: readonly SequenceInput[], options: BatchOptions): Promise<Matrix[]> {
    if (options.into) {
      await this.#taken(sequences, options, new StateKeeper(options.into, sequences, options.keep === "last"));
      return [];
    }
    const together = this.#together(sequences, options);
    if (together) return together;
    const { size, precision } = this.model;
    const results: Matrix[] = [];
    await this.#oneByOne(sequences, options, ({ inputs: { rows } }) => {
      const out = Matrix.zeros(options.keep === "last" ? 1 : rows, size, precision);
      const every = options.keep === "last" ? rows : 1;
      results.push(out);
      return { every, seen: (chunk) => this.#keepRows(chunk, every, out) };
    });
    return results;
  }

  async summarise(sequences: readonly SequenceInput[], work: SummaryWork): Promise<Matrix<Float64Array>> {
    this.#record.alive();
    const { context, clock } = this.#parts;
    const summary = new DeviceSummary(context, this.model, sequences, work, clock);
    try {
      await this.#taken(sequences, work, summary);
      return await this.#alone(() => summary.finish(this.#compute));
    } finally {
      summary.dispose();
    }
  }

  /** Runs sequences whose states are taken on the device. */
  async #taken(sequences: readonly SequenceInput[], { signal, onProgress }: WorkOptions, taker: StateTaker): Promise<void> {
    const together = this.#together(sequences, { signal, onProgress, taker });
    if (together) await together;
    else
      await this.#oneByOne(sequences, { signal, onProgress }, (_, index) => {
        const take = taker.group(this.#compute, [index]);
        return { every: 0, seen: ({ from, finite, slot: { states } }) => take({ states, pitch: 0, from, to: from + finite }) };
      });
    await this.#alone(() => this.#compute.done());
  }

  /** Sequences beside one another, if there is a way that is worth it. */
  #together(sequences: readonly SequenceInput[], options: DeviceBatchOptions): Promise<Matrix[]> | undefined {
    this.#record.alive();
    const { context, openBatch, clock, spinLimit } = this.#parts;
    this.#batch ??= openBatch(context, this.model, { clock, spinLimit });
    const ending = AbortSignal.any([this.#ending.signal, ...(options.signal ? [options.signal] : [])]);
    const together = this.#batch?.run(sequences, { ...options, signal: ending });
    return (
      together &&
      this.#alone(async () => {
        try {
          return await together;
        } finally {
          this.#record.alive();
        }
      })
    );
  }

  /**
   * Sequences one after the other, each from the initial state; what is wanted of the chunks of
   * each is asked for when it begins.
   */
  async #oneByOne(
    sequences: readonly SequenceInput[],
    options: WorkOptions,
    begin: (sequence: SequenceInput, index: number) => ChunkTarget & { readonly seen: ChunkSeen },
  ): Promise<void> {
    await this.#alone(() =>
      this.#record.runEach(sequences, options, (sequence, index, progress) => {
        const { every, seen } = begin(sequence, index);
        return this.#chunks(sequence, index, progress, { every }, seen);
      }),
    );
  }

  #runOne(sequence: SequenceInput, options: WorkOptions, run: (progress: Progress) => Promise<void>): Promise<void> {
    return this.#alone(() => this.#record.runOne(sequence, options, run));
  }

  async generate(options: GenerateOptions): Promise<Matrix> {
    const { steps, readout, inputs, into: states } = options;
    const { size, outputSize } = this.model;
    const record = this.#record;
    return this.#alone(async () => {
      const buffers = this.#buffersFor(Math.min(steps, this.#parts.loop.closedSteps ?? ClosedLoop.chunkSteps));
      const parts = { ...this.#pipelineParts(), openStreamed: () => this.#streamedLoop() };
      const closed = new ClosedLoop(parts, buffers, readout, inputs, steps);
      try {
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
      } finally {
        closed.dispose();
      }
    });
  }

  async accumulate(sequence: SequenceInput, options: AccumulateOptions): Promise<void> {
    const { targets, washout, sink } = options;
    const { clock } = this.#parts;
    await this.#runOne(sequence, options, async (progress) => {
      const { context, openTrainer } = this.#parts;
      const trainer = openTrainer(context, this.model, sink, targets.cols, this.#compute);
      if (!trainer) {
        const inputs = hostInputs(sequence);
        await this.#chunks(sequence, 0, progress, { every: 1 }, ({ from, finite, kept }) => {
          clock?.enter("train");
          addRows(kept.subarray(0, finite), from, inputs, options);
          clock?.leave();
        });
        return;
      }
      const training = new TrainingRun(context, this.#compute, trainer, targets, washout, this.model, clock);
      try {
        await this.#chunks(sequence, 0, progress, { every: 0 }, (chunk) => training.add(chunk));
        clock?.enter("sums");
        await training.finish();
        clock?.leave();
      } finally {
        training.dispose();
      }
    });
  }

  profile(): EngineProfile | undefined {
    return this.#parts.clock?.read();
  }

  getState(): SessionState {
    return this.#record.getState();
  }

  setState(state: SessionState): void {
    this.#record.setState(state);
  }

  reset(): void {
    this.#record.reset();
  }

  async dispose(): Promise<void> {
    if (!this.#record.end()) return;
    this.#ending.abort();
    await this.#work.catch(() => undefined);
    disposeAll([...this.#owned, this.#parts.loop, this.#streamed, this.#buffers, this.#batch]);
  }

  /**
   * Runs the chunks of a sequence. Keeps the state and the input at the last one that was handed
   * on, even if it fails.
   */
  async #chunks(sequence: SequenceInput, index: number, progress: Progress, target: ChunkTarget, seen: ChunkSeen): Promise<void> {
    const { step, output } = this.#record;
    const start = { step, sequence: index, output: output.slice() };
    this.#compute.waitFor(slicesOf([sequence]));
    const pipeline = new ChunkPipeline(this.#pipelineParts(), this.#buffersFor(sequence.inputs.rows), sequence, start, target);
    try {
      await this.#record.takeChunks(sequence, progress, {
        next: () => pipeline.next(),
        seen,
        goBack: ({ finite, slot }) => {
          const { size } = this.model;
          return this.#goBack((finite > 0 ? slot.states.slice((finite - 1) * size, finite * size) : slot.before) as RealSlice);
        },
      });
    } catch (error) {
      const before = pipeline.stateBeforeRest;
      if (before && !(error instanceof NonFiniteStateError)) await this.#goBack(before);
      throw error;
    }
    this.#parts.loop.check();
  }

  /**
   * Waits for all work and puts x back; an error of that work, or a wait that expired, is thrown in
   * place of the one under way.
   */
  async #goBack(state: RealSlice): Promise<void> {
    if (this.#parts.context.loss) return;
    await this.#copies.done();
    await this.#compute.done();
    this.#parts.loop.check();
    this.#compute.copy(this.#device.state as RealSlice<"f32">, state as RealSlice<"f32">);
    this.#compute.sync();
  }

  #pipelineParts() {
    const { context, model, loop, clock } = this.#parts;
    return { context, model, loop, clock, device: this.#device, common: this.#common, compute: this.#compute, copies: this.#copies };
  }

  async #streamedLoop(): Promise<TimeLoop> {
    this.#streamed ??= await this.#parts.openStreamed();
    return this.#streamed;
  }

  /** Buffers for chunks of up to `rows` steps, within what was planned. */
  #buffersFor(rows: number): ChunkBuffers {
    const { context, capacity } = this.#parts;
    const wanted = Math.min(capacity, Math.max(1, rows));
    if (this.#buffers && this.#buffers.capacity >= wanted) return this.#buffers;
    this.#buffers?.dispose();
    this.#buffers = undefined;
    this.#buffers = new ChunkBuffers(context, this.#shape, wanted);
    return this.#buffers;
  }

  #keepRows(chunk: FinishedChunk, every: number, states: Matrix): void {
    const { clock } = this.#parts;
    clock?.enter("keep");
    keepRows(chunk, every, states);
    clock?.leave();
  }

  #statePlace(): StatePlace {
    const { context } = this.#parts;
    const state = this.#device.state as RealSlice<"f32">;
    return {
      getValues: () => context.read(state) as FloatArray,
      setValues: (values) => this.#compute.upload(state, values as Float32Array<ArrayBuffer>),
      get lost() {
        return context.loss !== undefined;
      },
    };
  }

  /** One piece of work, which `dispose` waits for. */
  async #alone<T>(work: () => Promise<T>): Promise<T> {
    this.#record.alive();
    const result = work();
    this.#work = result;
    try {
      return await result;
    } finally {
      this.#parts.clock?.settle();
    }
  }
}

/**
 * Copies kept states to their rows; kept row j of a chunk is every-th state number (from + keptFrom
 * + 1) / every + j, counting from 1.
 */
function keepRows({ from, finite, kept, keptFrom }: FinishedChunk, every: number, states: Matrix): void {
  const rows = Math.min(kept.rows, finite <= keptFrom ? 0 : Math.floor((finite - 1 - keptFrom) / every) + 1);
  if (rows > 0) states.data.set(kept.data.subarray(0, rows * kept.cols), ((from + keptFrom + 1) / every - 1) * kept.cols);
}
