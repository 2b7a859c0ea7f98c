// One reservoir on a device: the session that the engine contract asks for. It keeps step count,
// last input and last output; W and the arithmetic of a step are the time loop's.
import { DisposedError, SpillwayError } from "../../core/errors.js";
import type { Context, Stream } from "../../gpu/index.js";
import { allocate, type FloatArray, Matrix } from "../../numerics/index.js";
import { DeviceMatrix } from "../../reservoir/device-matrix.js";
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
  type WorkOptions,
} from "../../reservoir/engine.js";
import { hostInputs } from "../../reservoir/inputs.js";
import type { ReservoirModel } from "../../reservoir/model.js";
import type { EngineProfile } from "../../reservoir/profile.js";
import type { SummaryWork } from "../../reservoir/summary.js";
import { WorkPacer } from "../../reservoir/work.js";
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

/** Noise counters are 32 bits wide. */
const lastStep = 2 ** 32;

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
  #step = 0;
  #input: FloatArray;
  /** The last input while it is only on the device. */
  #inputThere: RealSlice | undefined;
  #output: FloatArray;
  #work: Promise<unknown> = Promise.resolve();
  /** Stops, when the session is disposed, work that looks only at a signal. */
  readonly #ending = new AbortController();
  #disposed = false;

  constructor(parts: SessionParts) {
    const { context, model, plan, clock } = parts;
    this.model = model;
    this.plan = plan;
    this.device = deviceSide(context, model);
    this.#parts = parts;
    this.#shape = shapeOf(model);
    this.#input = allocate(model.precision, model.inputSize);
    this.#output = allocate(model.precision, model.outputSize);
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
      this.#setValues(model.initialState);
      clock?.watch(this.#compute);
      clock?.watch(this.#copies);
    } catch (error) {
      abandonAll(this.#owned);
      throw error;
    }
  }

  async run(sequence: SequenceInput, options: RunOptions): Promise<void> {
    const { into: states, every = 1 } = options;
    const pacer = new WorkPacer(options, sequence.inputs.rows);
    const [into, kept] = states instanceof DeviceMatrix ? [states.values, undefined] : [undefined, states];
    await this.#alone(() =>
      this.#chunks(sequence, 0, pacer, 0, { every: states ? every : 0, into }, (chunk) => {
        if (kept) this.#keepRows(chunk, every, kept);
      }),
    );
    pacer.finish();
  }

  step(input: FloatArray, teacher?: FloatArray): FloatArray {
    this.#alive();
    this.#countsUpTo(this.#step + 1);
    const { size, inputSize, outputSize } = this.model;
    const slot = this.#buffersFor(1).slots[0];
    const { drive, feedback } = this.#buffers!;
    const row = <S extends RealSlice | null>(matrix: S, columns: number) => matrix && (matrix.slice(0, columns) as RealSlice<"f32">);
    const [u, y, state] = [row(slot.inputs, inputSize), row(slot.outputs, outputSize), this.#device.state as RealSlice<"f32">];
    const compute = this.#compute;
    const { clock } = this.#parts;
    clock?.on(compute, "upload");
    if (u) compute.upload(u, input as Float32Array<ArrayBuffer>);
    if (y) compute.upload(y, this.#output as Float32Array<ArrayBuffer>);
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
      ...{ steps: 1, firstStep: this.#step, sequence: 0, state },
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
      throw new NonFiniteStateError(this.#step, neuron);
    }
    this.#step++;
    this.#input.set(input);
    if (teacher) this.#output.set(teacher);
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
    this.#alive();
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
    this.#alive();
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
          this.#alive();
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
    const total = sequences.reduce((sum, sequence) => sum + sequence.inputs.rows, 0);
    const pacer = new WorkPacer(options, total);
    let done = 0;
    await this.#alone(async () => {
      const saved = this.getState();
      try {
        for (const [index, sequence] of sequences.entries()) {
          this.reset();
          const { every, seen } = begin(sequence, index);
          await this.#chunks(sequence, index, pacer, done, { every }, seen);
          done += sequence.inputs.rows;
        }
      } finally {
        if (!this.#disposed && !this.#parts.context.loss) this.setState(saved);
      }
    });
    pacer.finish();
  }

  async generate(options: GenerateOptions): Promise<Matrix> {
    const { steps, readout, into: states } = options;
    const { size, precision, outputSize } = this.model;
    const pacer = new WorkPacer(options, steps);
    const result = Matrix.zeros(steps, readout.weights.rows, precision);
    await this.#alone(async () => {
      this.#countsUpTo(this.#step + steps);
      const buffers = this.#buffersFor(Math.min(steps, this.#parts.loop.closedSteps ?? ClosedLoop.chunkSteps));
      const parts = { ...this.#pipelineParts(), openStreamed: () => this.#streamedLoop() };
      const closed = new ClosedLoop(parts, buffers, readout, options.inputs, steps);
      try {
        for (let from = 0; from < steps; ) {
          const start = { step: this.#step, input: this.#input, output: this.#output };
          const chunk = await closed.run(from, start, states !== undefined);
          this.#alive();
          result.data.set(chunk.outputs.data.subarray(0, chunk.finite * result.cols), from * result.cols);
          states?.data.set(chunk.states.subarray(0, chunk.finite * size), from * size);
          this.#step += chunk.finite;
          this.#input = chunk.input;
          if (outputSize > 0 && chunk.finite > 0) this.#output.set(result.row(from + chunk.finite - 1));
          if (chunk.finite < chunk.steps) throw new NonFiniteStateError(this.#step, chunk.neuron);
          from += chunk.steps;
          if (pacer.due()) {
            await pacer.pause(from);
            this.#alive();
          }
        }
      } finally {
        closed.dispose();
      }
    });
    pacer.finish();
    return result;
  }

  async accumulate(sequence: SequenceInput, options: AccumulateOptions): Promise<void> {
    const { targets, washout, sink } = options;
    const { clock } = this.#parts;
    const pacer = new WorkPacer(options, sequence.inputs.rows);
    await this.#alone(async () => {
      const { context, openTrainer } = this.#parts;
      const trainer = openTrainer(context, this.model, sink, targets.cols, this.#compute);
      if (!trainer) {
        const inputs = hostInputs(sequence);
        await this.#chunks(sequence, 0, pacer, 0, { every: 1 }, ({ from, finite, kept }) => {
          const first = Math.max(0, washout - from);
          const to = from + finite;
          if (first >= finite) return;
          clock?.enter("train");
          sink.add(kept.subarray(first, finite), inputs.subarray(from + first, to), targets.subarray(from + first, to));
          clock?.leave();
        });
        return;
      }
      const training = new TrainingRun(context, this.#compute, trainer, targets, washout, this.model, clock);
      try {
        await this.#chunks(sequence, 0, pacer, 0, { every: 0 }, (chunk) => training.add(chunk));
        clock?.enter("sums");
        await training.finish();
        clock?.leave();
      } finally {
        training.dispose();
      }
    });
    pacer.finish();
  }

  profile(): EngineProfile | undefined {
    return this.#parts.clock?.read();
  }

  getState(): SessionState {
    this.#alive();
    const values = this.#parts.context.read(this.#device.state) as FloatArray;
    return { values, output: this.#output.slice(), input: this.#input.slice(), step: this.#step };
  }

  setState(state: SessionState): void {
    this.#alive();
    this.#setValues(state.values);
    this.#output.set(state.output);
    this.#input.set(state.input);
    this.#step = state.step;
  }

  reset(): void {
    this.#alive();
    this.#setValues(this.model.initialState);
    this.#output.fill(0);
    this.#input.fill(0);
    this.#step = 0;
  }

  async dispose(): Promise<void> {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#ending.abort();
    await this.#work.catch(() => undefined);
    disposeAll([...this.#owned, this.#parts.loop, this.#streamed, this.#buffers, this.#batch]);
  }

  /**
   * Runs the chunks of a sequence. Keeps the state and the input at the last one that was handed
   * on, even if it fails.
   */
  async #chunks(
    sequence: SequenceInput,
    index: number,
    pacer: WorkPacer,
    done: number,
    target: ChunkTarget,
    seen: ChunkSeen,
  ): Promise<void> {
    const { rows } = sequence.inputs;
    this.#countsUpTo(this.#step + rows);
    const start = { step: this.#step, sequence: index, output: this.#output.slice() };
    this.#compute.waitFor(slicesOf([sequence]));
    const pipeline = new ChunkPipeline(this.#pipelineParts(), this.#buffersFor(rows), sequence, start, target);
    try {
      for (let chunk = await pipeline.next(); chunk; chunk = await pipeline.next()) {
        this.#alive();
        const { from, to, finite, neuron, slot } = chunk;
        this.#commit(sequence, from, finite);
        seen(chunk);
        if (finite < to - from) {
          const { size } = this.model;
          const last = finite > 0 ? slot.states.slice((finite - 1) * size, finite * size) : slot.before;
          await this.#goBack(last as RealSlice);
          throw new NonFiniteStateError(this.#step, neuron);
        }
        if (pacer.due()) {
          await pacer.pause(done + to);
          this.#alive();
        }
      }
    } catch (error) {
      const before = pipeline.stateBeforeRest;
      if (before && !(error instanceof NonFiniteStateError)) await this.#goBack(before);
      throw error;
    } finally {
      this.#bringInput();
    }
    this.#parts.loop.check();
  }

  /**
   * The session's step, last input and last output after `finite` steps from row `from` of a
   * sequence.
   */
  #commit({ inputs, teacher }: SequenceInput, from: number, finite: number): void {
    if (finite === 0) return;
    this.#step += finite;
    const last = from + finite - 1;
    if (inputs instanceof DeviceMatrix) this.#inputThere = inputs.values.slice(last * inputs.cols, (last + 1) * inputs.cols) as RealSlice;
    else this.#input.set(inputs.row(last));
    if (teacher) this.#output.set(teacher.row(last));
  }

  /** Copies the last input to the host if it is only on the device. */
  #bringInput(): void {
    const { context } = this.#parts;
    if (this.#inputThere && !this.#disposed && !context.loss) this.#input.set(context.read(this.#inputThere as RealSlice<"f32">));
    this.#inputThere = undefined;
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

  #setValues(values: FloatArray): void {
    this.#compute.upload(this.#device.state as RealSlice<"f32">, values as Float32Array<ArrayBuffer>);
  }

  #countsUpTo(step: number): void {
    if (this.model.noiseLevel !== 0 && step > lastStep)
      throw new SpillwayError("limit", `step ${step} is beyond the noise counter, which ends at ${lastStep}; reset() starts a new count`);
  }

  /** One piece of work, which `dispose` waits for. */
  async #alone<T>(work: () => Promise<T>): Promise<T> {
    this.#alive();
    const result = work();
    this.#work = result;
    try {
      return await result;
    } finally {
      this.#parts.clock?.settle();
    }
  }

  #alive(): void {
    if (this.#disposed) throw new DisposedError("this reservoir");
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
