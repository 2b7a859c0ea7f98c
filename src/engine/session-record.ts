// What every session keeps besides x and W, on the host and on a device: step count, last input,
// last output, whether it is disposed. It goes over sequences and chunks and computes no state.
import { DisposedError, SpillwayError } from "@spillway/core/errors.js";
import { allocate, type FloatArray, Matrix } from "@spillway/numerics";
import { DeviceMatrix } from "../reservoir/device-matrix.js";
import { NonFiniteStateError } from "../reservoir/engine/errors.js";
import type { GenerateOptions, SequenceInput, SessionState, WorkOptions } from "../reservoir/engine.js";
import { checkSteps } from "../reservoir/integer/weights.js";
import type { EngineModel, NetworkState } from "../reservoir/spiking-model.js";
import { WorkPacer } from "../reservoir/work.js";
import { initialNetwork } from "../spikes/liquid/network-state.js";

/** Where x is. */
export interface StateStore {
  /** x(t), N values; the view may be live. */
  getValues(): FloatArray;
  setValues(values: FloatArray): void;
  /** What a spiking network carries besides x. */
  getNetwork?(): NetworkState;
  setNetwork?(state: NetworkState): void;
  /** The hidden values of a registered kind. */
  getBelow?(): FloatArray;
  setBelow?(values: FloatArray): void;
  /** Whether the device under it is lost: nothing can be put back then. */
  readonly lost?: boolean;
}

/** Steps of a sequence that are done: rows [from, to). */
export interface DoneChunk {
  readonly from: number;
  readonly to: number;
  /** How many of their states are finite: all, or those before the first that is not. */
  readonly finite: number;
  /** The neuron of the first that is not finite. */
  readonly neuron: number;
}

/** The chunks of one sequence, in turn. */
export interface Chunks<Chunk extends DoneChunk> {
  /** The next one once it is done; undefined after the last. */
  next(): Promise<Chunk | undefined>;
  /** Puts x back to the last finite one of a chunk, or to the one before it. */
  goBack(chunk: Chunk): void | Promise<void>;
  /** After the last chunk. */
  finish?(): void | Promise<void>;
  /** After an error of other work: puts x back to the last chunk that was handed on. */
  rewind?(): Promise<void>;
}

/** Watches one piece of long work. */
export interface Progress {
  readonly pacer: WorkPacer;
  /** Steps made before the present sequence. */
  readonly done: number;
}

/** Noise counters are 32 bits wide. */
const lastStep = 2 ** 32;

export class SessionRecord {
  /** u(t), the last input. */
  readonly input: FloatArray;
  /** y(t), what the next step feeds back. */
  readonly output: FloatArray;
  readonly #model: EngineModel;
  readonly #store: StateStore;
  #step = 0;
  /** The last input while it is only on a device. */
  #inputThere: { readonly matrix: DeviceMatrix; readonly row: number } | undefined;
  #disposed = false;

  constructor(model: EngineModel, store: StateStore) {
    this.#model = model;
    this.#store = store;
    this.input = allocate(model.precision, model.inputSize);
    this.output = allocate(model.precision, model.outputSize);
  }

  /** Steps since reset. */
  get step(): number {
    return this.#step;
  }

  /** @throws DisposedError */
  alive(): void {
    if (this.#disposed) throw new DisposedError("this reservoir");
  }

  /** Ends the session; false if it had ended before. */
  end(): boolean {
    const first = !this.#disposed;
    this.#disposed = true;
    return first;
  }

  /** @throws SpillwayError if so many more steps pass the noise counter */
  checkCount(steps: number): void {
    const end = this.#step + steps;
    if (this.#model.noiseLevel !== 0 && end > lastStep)
      throw new SpillwayError("limit", `step ${end} is beyond the noise counter, which ends at ${lastStep}; reset() starts a new count`);
  }

  /** Notes steps that were made, the input of the last one, and what comes in place of y(t). */
  advance(steps: number, input?: FloatArray, output?: FloatArray): void {
    this.#step += steps;
    if (input) this.input.set(input);
    if (output) this.output.set(output);
  }

  /** A copy of the state. */
  getState(): SessionState {
    this.alive();
    const { input, output, step } = this;
    const network = this.#store.getNetwork?.();
    const below = this.#store.getBelow?.().slice();
    const values = this.#store.getValues().slice();
    return {
      values,
      output: output.slice(),
      input: input.slice(),
      step,
      ...(network ? { network } : {}),
      ...(below?.length ? { below } : {}),
    };
  }

  setState({ values, network, below, output, input, step }: SessionState): void {
    this.alive();
    const model = this.#model;
    if (model.kind === undefined && model.config.arithmetic === "integer") checkSteps(values);
    this.#store.setValues(values);
    if (network) this.#store.setNetwork?.(network);
    if (below) this.#store.setBelow?.(below);
    this.output.set(output);
    this.input.set(input);
    this.#inputThere = undefined;
    this.#step = step;
  }

  /** Back to the initial state, step 0. */
  reset(): void {
    this.alive();
    const model = this.#model;
    this.#store.setValues(model.initialState);
    if (model.kind === "spiking") this.#store.setNetwork?.(initialNetwork(model));
    if (model.kind === "registered") this.#store.setBelow?.(model.initialBelow);
    this.output.fill(0);
    this.input.fill(0);
    this.#inputThere = undefined;
    this.#step = 0;
  }

  /** Runs one sequence from the present state. */
  async runOne(sequence: SequenceInput, options: WorkOptions, run: (progress: Progress) => Promise<void>): Promise<void> {
    this.alive();
    const pacer = new WorkPacer(options, sequence.inputs.rows);
    try {
      await run({ pacer, done: 0 });
    } finally {
      this.#fetchInput();
    }
    pacer.finish();
  }

  /**
   * Runs sequences one after the other, each from the initial state; the session's own state is put
   * back.
   */
  async runEach(
    sequences: readonly SequenceInput[],
    options: WorkOptions,
    run: (sequence: SequenceInput, index: number, progress: Progress) => Promise<void>,
  ): Promise<void> {
    const saved = this.getState();
    const total = sequences.reduce((sum, { inputs }) => sum + inputs.rows, 0);
    const pacer = new WorkPacer(options, total);
    let done = 0;
    try {
      for (const [index, sequence] of sequences.entries()) {
        this.reset();
        await run(sequence, index, { pacer, done });
        done += sequence.inputs.rows;
      }
    } finally {
      if (!this.#disposed && !this.#store.lost) this.setState(saved);
    }
    pacer.finish();
  }

  /**
   * Takes the chunks of a sequence in turn, hands each on before the next one is asked for, and
   * notes its steps. @throws NonFiniteStateError at the first state that is not finite, once the
   * states before it were handed on and x was put back
   */
  async takeChunks<Chunk extends DoneChunk>(
    sequence: SequenceInput,
    progress: Progress,
    chunks: Chunks<Chunk>,
    take: (chunk: Chunk) => void,
  ): Promise<void> {
    try {
      this.checkCount(sequence.inputs.rows);
      for (let chunk = await chunks.next(); chunk; chunk = await chunks.next()) {
        this.alive();
        const { from, to, finite, neuron } = chunk;
        this.#note(sequence, from, finite);
        const failed = finite < to - from;
        try {
          take(chunk);
        } finally {
          if (failed) await chunks.goBack(chunk);
        }
        if (failed) throw new NonFiniteStateError(this.#step, neuron);
        await this.#pause(progress, to);
      }
    } catch (error) {
      if (!(error instanceof NonFiniteStateError)) await chunks.rewind?.();
      throw error;
    }
    await chunks.finish?.();
  }

  /**
   * Runs a closed loop by calls of `advance`: each gets the first step that is left and says which
   * one is left after it.
   */
  async closeLoop(
    options: GenerateOptions,
    advance: (from: number, outputs: Matrix, pacer: WorkPacer) => number | Promise<number>,
  ): Promise<Matrix> {
    this.alive();
    const { steps, readout } = options;
    this.checkCount(steps);
    const pacer = new WorkPacer(options, steps);
    const outputs = Matrix.zeros(steps, readout.weights.rows, this.#model.precision);
    for (let from = 0; from < steps; ) {
      from = await advance(from, outputs, pacer);
      await this.#pause({ pacer, done: 0 }, from);
    }
    pacer.finish();
    return outputs;
  }

  /** Lets the event loop run, if it is time for that. */
  async #pause({ pacer, done }: Progress, made: number): Promise<void> {
    if (!pacer.due()) return;
    await pacer.pause(done + made);
    this.alive();
  }

  /** Notes `finite` steps from row `from` of a sequence. */
  #note({ inputs, teacher }: SequenceInput, from: number, finite: number): void {
    if (finite === 0) return;
    const last = from + finite - 1;
    const there = inputs instanceof DeviceMatrix;
    this.#inputThere = there ? { matrix: inputs, row: last } : undefined;
    this.advance(finite, there ? undefined : inputs.row(last), teacher?.row(last));
  }

  /** Copies the last input to the host if it is only on a device. */
  #fetchInput(): void {
    const there = this.#inputThere;
    this.#inputThere = undefined;
    if (!there || this.#disposed || this.#store.lost) return;
    const { matrix, row } = there;
    this.input.set(
      matrix.context.read(matrix.values.slice(row * matrix.cols, (row + 1) * matrix.cols) as typeof matrix.values) as FloatArray,
    );
  }
}

/**
 * Writes what the steps of rows [from, to) feed back, row by row: step 0 the session's last output,
 * later ones the teacher's rows, or the same output if there is no teacher.
 */
export function writeFeedback(rows: FloatArray, last: FloatArray, teacher: Matrix | undefined, from: number, to: number): void {
  for (let t = from; t < to; t++) rows.set(t === 0 || !teacher ? last : teacher.row(t - 1), (t - from) * last.length);
}
