// The session of every engine: what the contract asks for, over steps that an engine makes. It goes
// over sequences and chunks, keeps rows, trains and summarises, and computes no state itself.
import { ArgumentError } from "@spillway/core/errors.js";
import type { Stream } from "@spillway/gpu";
import { type FloatArray, Matrix } from "@spillway/numerics";
import { DeviceMatrix, DeviceSequences, type RealValues } from "../reservoir/device-matrix.js";
import { addRows } from "../reservoir/engine/accumulate.js";
import type {
  AccumulateOptions,
  BatchOptions,
  DeviceSide,
  EnginePlan,
  EngineSession,
  GenerateOptions,
  RunOptions,
  SequenceInput,
  SessionState,
  SummaryWork,
  TargetProducts,
  TargetWork,
  TrainingSink,
  WorkOptions,
} from "../reservoir/engine.js";
import { hostInputs } from "../reservoir/inputs.js";
import type { EngineProfile } from "../reservoir/profile.js";
import type { EngineModel } from "../reservoir/spiking-model.js";
import type { PhaseClock } from "./phase-clock.js";
import { type Chunks, type DoneChunk, type Progress, SessionRecord, type StateStore } from "./session-record.js";

/** Which states of a sequence are wanted, and where. */
export interface Wanted {
  /** Every k-th; 0 for none. */
  readonly every: number;
  /** Where they go on the device, floor(T / every) x N; left out, they come to the host. */
  readonly into?: DeviceMatrix | undefined;
  /** Where they go on the host: steps may put them there themselves, and then keep none. */
  readonly onHost?: Matrix | undefined;
  /** All of them on the device, where a `StateTaker` reads them; then `every` is 0. */
  readonly there?: boolean;
}

/** A chunk that is done, and where its states are. */
export interface Chunk extends DoneChunk {
  /**
   * States on the host, of steps `keptFrom`, `keptFrom + keptEvery`, ... of the chunk, none if they
   * are where they were wanted. They are written again by later chunks.
   */
  readonly kept: Matrix;
  readonly keptFrom: number;
  readonly keptEvery: number;
  /** All states on the device, if they are there. */
  readonly there?: RealValues | undefined;
}

/**
 * Steps [from, to) of sequences that run in the same launches: the states of each lie behind one
 * another, `pitch` numbers after those of the one before.
 */
export interface StateChunk {
  readonly states: RealValues;
  readonly pitch: number;
  readonly from: number;
  readonly to: number;
}

/** Takes the states of sequences where they lie on the device. */
export interface StateTaker {
  /**
   * For sequences that run in the same launches, those of `indices` in that order: what takes their
   * chunks, in the order of the stream.
   */
  group(stream: Stream, indices: readonly number[]): (chunk: StateChunk) => void;
}

/** A batch whose states come to the host, or are taken on the device and none is returned. */
export interface TakenBatchOptions extends Omit<BatchOptions, "into"> {
  readonly into?: readonly Matrix[] | undefined;
  readonly taker?: StateTaker | undefined;
}

/** States that stay on the device of a session. */
export interface StatesThere {
  readonly side: DeviceSide;
  /** Orders all that is done to them. */
  readonly stream: Stream;
  /** Keeps them where they were made: every state, or the last of each sequence. */
  keeper(into: DeviceSequences, sequences: readonly SequenceInput[], last: boolean): StateTaker;
  summary(
    sequences: readonly SequenceInput[],
    work: SummaryWork,
  ): StateTaker & { finish(stream: Stream): Promise<Matrix<Float64Array>>; dispose(): void };
}

/** Sums for a training sink that are made from chunks where they lie. */
export interface ChunkTrainer<C extends Chunk> {
  add(chunk: C): void;
  /** After the last chunk: hands what was summed to the sink. */
  finish(): Promise<void>;
  dispose(): void;
}

/** How an engine makes the steps of a session. Calls do not overlap. */
export interface Steps<C extends Chunk = Chunk> {
  readonly store: StateStore;
  /**
   * x after one more step, at once; the record does not know of it yet. @throws NonFiniteStateError
   */
  step(record: SessionRecord, input: FloatArray): FloatArray;
  /** The chunks of a sequence from the present state; `number` is its noise sequence. */
  chunks(sequence: SequenceInput, record: SessionRecord, number: number, wanted: Wanted): Chunks<C>;
  /** A closed loop; it notes its steps in the record. */
  generate(options: GenerateOptions, record: SessionRecord): Promise<Matrix>;
  /** Left out by steps of the host. */
  readonly there?: StatesThere | undefined;
  /** Sequences beside one another; undefined if they run better one after the other. */
  together?(sequences: readonly SequenceInput[], options: TakenBatchOptions): Promise<Matrix[]> | undefined;
  /** Undefined for a sink that takes its rows on the host. */
  trainer?(sink: TrainingSink, targets: Matrix, washout: number): ChunkTrainer<C> | undefined;
  /** As `EngineSession.multiplyTargets`. */
  multiplyTargets?(work: TargetWork): Promise<TargetProducts> | undefined;
  dispose(): void | Promise<void>;
}

export class Session<C extends Chunk = Chunk> implements EngineSession {
  readonly model: EngineModel;
  readonly plan: EnginePlan;
  readonly device: DeviceSide | undefined;
  readonly summarise?: NonNullable<EngineSession["summarise"]>;
  readonly multiplyTargets?: NonNullable<EngineSession["multiplyTargets"]>;
  readonly #steps: Steps<C>;
  readonly #clock: PhaseClock | undefined;
  readonly #record: SessionRecord;
  #work: Promise<unknown> = Promise.resolve();
  /** Stops, when the session is disposed, work that looks only at a signal. */
  readonly #ending = new AbortController();

  /** @param clock times phases; left out, nothing is timed. */
  constructor(model: EngineModel, plan: EnginePlan, steps: Steps<C>, clock?: PhaseClock) {
    this.model = model;
    this.plan = plan;
    this.#steps = steps;
    this.#clock = clock;
    this.#record = new SessionRecord(model, steps.store);
    const { there } = steps;
    this.device = there?.side;
    if (there) this.summarise = (sequences, work) => this.#summarise(there, sequences, work);
    if (steps.multiplyTargets)
      this.multiplyTargets = (work) => {
        this.#record.alive();
        const found = steps.multiplyTargets!(work);
        return found && this.#alone(() => found);
      };
  }

  async run(sequence: SequenceInput, options: RunOptions): Promise<void> {
    const { into, every = 1 } = options;
    const there = into instanceof DeviceMatrix ? into : undefined;
    const onHost = into instanceof Matrix ? into : undefined;
    if (there && !this.device) throw ArgumentError.because("this engine keeps no states on a device", { field: "into" });
    await this.#runOne(sequence, options, (progress) =>
      this.#chunks(sequence, 0, progress, { every: into ? every : 0, into: there, onHost }, (chunk) => {
        if (onHost) this.#timed("keep", () => keepRows(chunk, every, onHost));
      }),
    );
  }

  step(input: FloatArray, teacher?: FloatArray): FloatArray {
    const record = this.#record;
    record.alive();
    record.checkCount(1);
    const values = this.#steps.step(record, input);
    record.advance(1, input, teacher);
    return values;
  }

  async batch(sequences: readonly SequenceInput[], { into, ...options }: BatchOptions): Promise<Matrix[]> {
    const isLast = options.keep === "last";
    if (into instanceof DeviceSequences) {
      const { there } = this.#steps;
      if (!there) throw ArgumentError.because("this engine keeps no states on a device", { field: "into" });
      await this.#taken(there, sequences, options, there.keeper(into, sequences, isLast));
      return [];
    }
    const together = this.#together(sequences, { ...options, into });
    if (together) return together;
    const { size, precision } = this.model;
    const results: Matrix[] = [];
    await this.#oneByOne(sequences, options, ({ inputs: { rows } }, index) => {
      const out = into?.[index] ?? Matrix.zeros(isLast ? 1 : rows, size, precision);
      const every = isLast ? rows : 1;
      results.push(out);
      return { every, onHost: out, take: (chunk) => this.#timed("keep", () => keepRows(chunk, every, out)) };
    });
    return results;
  }

  generate(options: GenerateOptions): Promise<Matrix> {
    return this.#alone(() => this.#steps.generate(options, this.#record));
  }

  async accumulate(sequence: SequenceInput, options: AccumulateOptions): Promise<void> {
    const { targets, washout, sink } = options;
    await this.#runOne(sequence, options, async (progress) => {
      const trainer = this.#steps.trainer?.(sink, targets, washout);
      if (!trainer) {
        const inputs = hostInputs(sequence);
        await this.#chunks(sequence, 0, progress, { every: 1 }, ({ from, finite, kept }) =>
          this.#timed("train", () => addRows(kept.subarray(0, finite), from, inputs, options)),
        );
        return;
      }
      try {
        await this.#chunks(sequence, 0, progress, { every: 0, there: true }, (chunk) => trainer.add(chunk));
        this.#clock?.enter("sums");
        await trainer.finish();
        this.#clock?.leave();
      } finally {
        trainer.dispose();
      }
    });
  }

  profile(): EngineProfile | undefined {
    return this.#clock?.read();
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
    await this.#steps.dispose();
  }

  async #summarise(there: StatesThere, sequences: readonly SequenceInput[], work: SummaryWork): Promise<Matrix<Float64Array>> {
    this.#record.alive();
    const summary = there.summary(sequences, work);
    try {
      await this.#taken(there, sequences, work, summary);
      return await this.#alone(() => summary.finish(there.stream));
    } finally {
      summary.dispose();
    }
  }

  /** Runs sequences whose states are taken on the device. */
  async #taken(there: StatesThere, sequences: readonly SequenceInput[], given: BatchOptions, taker: StateTaker): Promise<void> {
    const { signal, onProgress, firstSequence, devices } = given;
    const { stream } = there;
    const together = this.#together(sequences, { signal, onProgress, firstSequence, devices, taker });
    if (together) await together;
    else
      await this.#oneByOne(sequences, { signal, onProgress, firstSequence }, (_, index) => {
        const take = taker.group(stream, [index]);
        return {
          every: 0,
          there: true,
          take: ({ from, finite, there: states }) => take({ states: states!, pitch: 0, from, to: from + finite }),
        };
      });
    await this.#alone(() => stream.done());
  }

  /** Sequences beside one another, if there is a way that is worth it. */
  #together(sequences: readonly SequenceInput[], options: TakenBatchOptions): Promise<Matrix[]> | undefined {
    this.#record.alive();
    const signal = AbortSignal.any([this.#ending.signal, ...(options.signal ? [options.signal] : [])]);
    const together = this.#steps.together?.(sequences, { ...options, signal });
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
  #oneByOne(
    sequences: readonly SequenceInput[],
    options: BatchOptions,
    begin: (sequence: SequenceInput, index: number) => Wanted & { readonly take: (chunk: C) => void },
  ): Promise<void> {
    return this.#alone(() =>
      this.#record.runEach(sequences, options, (sequence, index, progress) => {
        const { take, ...wanted } = begin(sequence, index);
        return this.#chunks(sequence, (options.firstSequence ?? 0) + index, progress, wanted, take);
      }),
    );
  }

  #runOne(sequence: SequenceInput, options: WorkOptions, run: (progress: Progress) => Promise<void>): Promise<void> {
    return this.#alone(() => this.#record.runOne(sequence, options, run));
  }

  /**
   * Runs the chunks of a sequence. Keeps the state and the input at the last one that was handed
   * on, even if it fails.
   */
  #chunks(sequence: SequenceInput, number: number, progress: Progress, wanted: Wanted, take: (chunk: C) => void): Promise<void> {
    const record = this.#record;
    return record.takeChunks(sequence, progress, this.#steps.chunks(sequence, record, number, wanted), take);
  }

  #timed(phase: "keep" | "train", work: () => void): void {
    this.#clock?.enter(phase);
    work();
    this.#clock?.leave();
  }

  /** One piece of work, which `dispose` waits for. */
  async #alone<T>(work: () => Promise<T>): Promise<T> {
    this.#record.alive();
    const result = work();
    this.#work = result;
    try {
      return await result;
    } finally {
      this.#clock?.endCall();
    }
  }
}

/**
 * Copies kept states to their rows: state number n of the sequence, counting from 1, to row n /
 * every - 1.
 */
function keepRows({ from, finite, kept, keptFrom, keptEvery }: Chunk, every: number, states: Matrix): void {
  if (keptEvery !== every) {
    for (let t = 0; t < finite; t++) if ((from + t + 1) % every === 0) states.row((from + t + 1) / every - 1).set(kept.row(t));
    return;
  }
  const rows = Math.min(kept.rows, finite <= keptFrom ? 0 : Math.floor((finite - 1 - keptFrom) / every) + 1);
  if (rows > 0) states.data.set(kept.data.subarray(0, rows * kept.cols), ((from + keptFrom + 1) / every - 1) * kept.cols);
}
