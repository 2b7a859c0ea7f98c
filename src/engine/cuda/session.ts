// One reservoir on a device: the session that the engine contract asks for. W and the arithmetic of
// a step are the time loop's; what every session keeps is the record's.
import { disposeAll } from "@spillway/core/disposal.js";
import { type FloatArray, Matrix } from "@spillway/numerics";
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
  type TargetProducts,
  type TargetWork,
  type WorkOptions,
} from "../../reservoir/engine.js";
import { hostInputs } from "../../reservoir/inputs.js";
import type { ReservoirModel } from "../../reservoir/model.js";
import type { EngineProfile } from "../../reservoir/profile.js";
import { type Progress, SessionRecord } from "../session-record.js";
import { ChunkPipeline, type ChunkTarget, type FinishedChunk } from "./chunk-pipeline.js";
import { ClosedLoop } from "./closed-loop.js";
import { deviceSide, StateKeeper, slicesOf } from "./device-rows.js";
import type { DeviceBatch, DeviceBatchOptions, OpenBatch, OpenTrainer, StateTaker } from "./device-work.js";
import { multiplyTargets } from "./ensemble/target-products.js";
import { KeptLocked } from "./kept-locked.js";
import { type MemoryParts, SessionMemory } from "./session-memory.js";
import { singleStep } from "./single-step.js";
import { DeviceSummary } from "./summary.js";
import { TrainingRun } from "./training-run.js";

/** What a session is made of. */
export interface SessionParts extends MemoryParts {
  readonly plan: EnginePlan;
  readonly openTrainer: OpenTrainer;
  readonly openBatch: OpenBatch;
  /** Whether the plan was asked for by its name: then everything runs by it. */
  readonly named: boolean;
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
  readonly #memory: SessionMemory;
  readonly #record: SessionRecord;
  #batch: DeviceBatch | undefined;
  readonly #locked: KeptLocked;
  #work: Promise<unknown> = Promise.resolve();
  /** Stops, when the session is disposed, work that looks only at a signal. */
  readonly #ending = new AbortController();

  constructor(parts: SessionParts) {
    const { context, model, plan } = parts;
    this.model = model;
    this.plan = plan;
    this.device = deviceSide(context, model);
    this.#parts = parts;
    this.#locked = new KeptLocked(context);
    this.#memory = new SessionMemory(parts);
    this.#record = new SessionRecord(model, this.#memory);
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
    const values = singleStep(this.#memory, record, input);
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
      return await this.#alone(() => summary.finish(this.#memory.compute));
    } finally {
      summary.dispose();
    }
  }

  multiplyTargets(work: TargetWork): Promise<TargetProducts> | undefined {
    this.#record.alive();
    const found = this.#parts.named ? undefined : multiplyTargets(this.#parts.context, this.model, work);
    return found && this.#alone(() => found);
  }

  /** Runs sequences whose states are taken on the device. */
  async #taken(sequences: readonly SequenceInput[], given: BatchOptions, taker: StateTaker): Promise<void> {
    const { signal, onProgress, firstSequence, devices } = given;
    const together = this.#together(sequences, { signal, onProgress, firstSequence, devices, taker });
    if (together) await together;
    else
      await this.#oneByOne(sequences, { signal, onProgress, firstSequence }, (_, index) => {
        const take = taker.group(this.#memory.compute, [index]);
        return { every: 0, seen: ({ from, finite, slot: { states } }) => take({ states, pitch: 0, from, to: from + finite }) };
      });
    await this.#alone(() => this.#memory.compute.done());
  }

  /** Sequences beside one another, if there is a way that is worth it. */
  #together(sequences: readonly SequenceInput[], options: DeviceBatchOptions): Promise<Matrix[]> | undefined {
    this.#record.alive();
    const { context, openBatch, clock, spinLimit, named } = this.#parts;
    if (named) return undefined;
    this.#batch ??= openBatch(context, this.model, { clock, spinLimit, locked: this.#locked });
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
    options: BatchOptions,
    begin: (sequence: SequenceInput, index: number) => ChunkTarget & { readonly seen: ChunkSeen },
  ): Promise<void> {
    await this.#alone(() =>
      this.#record.runEach(sequences, options, (sequence, index, progress) => {
        const { every, seen } = begin(sequence, index);
        return this.#chunks(sequence, (options.firstSequence ?? 0) + index, progress, { every }, seen);
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
      const buffers = this.#memory.buffersFor(Math.min(steps, this.#memory.loop.closedSteps ?? ClosedLoop.chunkSteps));
      const closed = new ClosedLoop(this.#memory, buffers, readout, inputs, steps);
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
      const trainer = openTrainer(context, this.model, sink, targets.cols, this.#memory.compute, this.#memory.loop.peers);
      if (!trainer) {
        const inputs = hostInputs(sequence);
        await this.#chunks(sequence, 0, progress, { every: 1 }, ({ from, finite, kept }) => {
          clock?.enter("train");
          addRows(kept.subarray(0, finite), from, inputs, options);
          clock?.leave();
        });
        return;
      }
      const training = new TrainingRun(context, this.#memory.compute, trainer, targets, washout, this.model, clock);
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
    disposeAll([this.#memory, this.#locked, this.#batch]);
  }

  /**
   * Runs the chunks of a sequence. Keeps the state and the input at the last one that was handed
   * on, even if it fails.
   */
  async #chunks(sequence: SequenceInput, index: number, progress: Progress, target: ChunkTarget, seen: ChunkSeen): Promise<void> {
    const memory = this.#memory;
    const { step, output } = this.#record;
    const start = { step, sequence: index, output: output.slice() };
    memory.compute.waitFor(slicesOf([sequence]));
    const pipeline = new ChunkPipeline(memory, memory.buffersFor(sequence.inputs.rows), sequence, start, target);
    try {
      await this.#record.takeChunks(sequence, progress, {
        next: () => pipeline.next(),
        seen,
        goBack: ({ finite, slot }) => {
          const { size } = this.model;
          return memory.goBack(finite > 0 ? slot.states.slice((finite - 1) * size, finite * size) : slot.before);
        },
      });
    } catch (error) {
      const before = pipeline.stateBeforeRest;
      if (before && !(error instanceof NonFiniteStateError)) await memory.goBack(before);
      throw error;
    }
    memory.loop.check();
  }

  #keepRows(chunk: FinishedChunk, every: number, states: Matrix): void {
    const { clock } = this.#parts;
    clock?.enter("keep");
    keepRows(chunk, every, states);
    clock?.leave();
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
