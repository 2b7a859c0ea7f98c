// The session of an engine that computes on the host in chunks of steps: everything but the
// arithmetic, which a stepper does.
import { ArgumentError, DisposedError, SpillwayError } from "../core/errors.js";
import type { DeviceSlice } from "../gpu/index.js";
import { allocate, type FloatArray, firstNonFinite, Matrix } from "../numerics/index.js";
import { DeviceMatrix } from "../reservoir/device-matrix.js";
import { NonFiniteStateError } from "../reservoir/engine/errors.js";
import type { AccumulateOptions } from "../reservoir/engine/training.js";
import { addRows } from "../reservoir/engine/training.js";
import type {
  BatchOptions,
  EnginePlan,
  EngineSession,
  GenerateOptions,
  RunOptions,
  SequenceInput,
  SessionState,
} from "../reservoir/engine.js";
import { evaluateReadout, writeFeatures } from "../reservoir/features.js";
import { hostInputs } from "../reservoir/inputs.js";
import type { EngineProfile, PhaseName } from "../reservoir/profile.js";
import type { EngineModel, NetworkState } from "../reservoir/spiking-model.js";
import type { WorkOptions } from "../reservoir/work.js";
import { WorkPacer } from "../reservoir/work.js";
import { initialNetwork } from "../spikes/liquid/network-state.js";
import type { PhaseClock } from "./phase-clock.js";

/**
 * Computes chunks of steps in buffers of its own. Views are live: reading after `advance` sees its
 * results.
 */
export interface Stepper {
  /** Steps that fit into one chunk. */
  readonly capacity: number;
  /** Whether it times its phases itself, if there is a clock. */
  readonly timesPhases?: boolean;
  /** capacity x I. */
  readonly inputs: FloatArray;
  /** capacity x O: row t is what step t feeds back, y(t). */
  readonly outputs: FloatArray;
  /** capacity x N. */
  readonly states: FloatArray;
  /**
   * Takes rows [from, to) of inputs on its device for the next steps, in place of `inputs`; left
   * out by steppers of the host.
   */
  load?(inputs: DeviceMatrix, from: number, to: number, step: number): Promise<void>;
  /** x(t), N values. */
  getValues(): FloatArray;
  setValues(values: FloatArray): void;
  /** What a spiking network carries besides x; its stepper has both. */
  getNetwork?(): NetworkState;
  setNetwork?(state: NetworkState): void;
  /**
   * Runs `steps` steps whose noise counters start at `step`; returns how many of them have finite
   * states. Without `keep` the states may be gone afterwards, unless one is not finite; "device"
   * keeps them only on the stepper's device.
   */
  advance(steps: number, step: number, sequence: number, keep?: Keep): number;
  /** The same without holding up the event loop, of a stepper whose steps are made elsewhere. */
  advanceLater?(steps: number, step: number, sequence: number, keep?: Keep): Promise<number>;
  dispose(): Promise<void>;
}

/** Whether a stepper keeps the states of a chunk, or where. */
export type Keep = boolean | "device";

/** What one chunk did: its states, if they are kept on the host, from step `from` on. */
export type ChunkSeen = (states: Matrix, from: number) => void;

/** Noise counters are 32 bits wide. */
const lastStep = 2 ** 32;

export class ChunkedSession implements EngineSession {
  readonly model: EngineModel;
  readonly plan: EnginePlan;
  readonly #stepper: Stepper;
  readonly #clock: PhaseClock | undefined;
  #step = 0;
  #input: FloatArray;
  #output: FloatArray;
  /** x before the chunk. */
  readonly #before: FloatArray;
  #disposed = false;

  /** @param clock times phases; left out, nothing is timed. */
  constructor(model: EngineModel, plan: EnginePlan, stepper: Stepper, clock?: PhaseClock) {
    this.model = model;
    this.plan = plan;
    this.#stepper = stepper;
    this.#clock = clock;
    this.#input = allocate(model.precision, model.inputSize);
    this.#output = allocate(model.precision, model.outputSize);
    this.#before = allocate(model.precision, model.size);
    this.#toInitialState();
  }

  async run(sequence: SequenceInput, options: RunOptions): Promise<void> {
    const { into: states, every = 1 } = options;
    if (states instanceof DeviceMatrix) throw ArgumentError.because("this engine keeps no states on a device", { field: "into" });
    const keep = (chunk: Matrix, from: number) => this.#timed("keep", () => keepRows(chunk, from, every, states!));
    await this.runSequence(sequence, options, states !== undefined, states && keep);
  }

  step(input: FloatArray, teacher?: FloatArray): FloatArray {
    this.#alive();
    const stepper = this.#stepper;
    stepper.inputs.set(input);
    stepper.outputs.set(this.#output);
    this.#advance(1, 0);
    this.#input.set(input);
    if (teacher) this.#output.set(teacher);
    return stepper.states.subarray(0, this.model.size);
  }

  async batch(sequences: readonly SequenceInput[], options: BatchOptions): Promise<Matrix[]> {
    const { size, precision } = this.model;
    const isLast = options.keep === "last";
    const results = sequences.map(({ inputs }) => Matrix.zeros(isLast ? 1 : inputs.rows, size, precision));
    await this.runSequences(sequences, options, !isLast, {
      seen: (index) => (isLast ? undefined : (chunk, from) => this.#timed("keep", () => results[index]!.data.set(chunk.data, from * size))),
      ended: (index) => {
        if (isLast) results[index]!.data.set(this.#stepper.getValues());
      },
    });
    return results;
  }

  /**
   * Runs sequences one after the other, each from the initial state; the session's own state is put
   * back.
   */
  protected async runSequences(
    sequences: readonly SequenceInput[],
    options: WorkOptions,
    keep: Keep,
    { seen, ended }: { readonly seen: (index: number) => ChunkSeen | undefined; readonly ended?: (index: number) => void },
  ): Promise<void> {
    this.#alive();
    const saved = this.getState();
    const total = sequences.reduce((sum, sequence) => sum + sequence.inputs.rows, 0);
    const pacer = new WorkPacer(options, total);
    let done = 0;
    try {
      for (const [index, sequence] of sequences.entries()) {
        this.reset();
        await this.#chunks(sequence, index, pacer, done, keep, seen(index));
        ended?.(index);
        done += sequence.inputs.rows;
      }
    } finally {
      if (!this.#disposed) this.setState(saved);
    }
    pacer.finish();
  }

  async generate(options: GenerateOptions): Promise<Matrix> {
    this.#alive();
    const { model } = this;
    const { readout, steps, inputs, into: states } = options;
    const pacer = new WorkPacer(options, steps);
    const outputs = readout.weights.rows;
    const result = Matrix.zeros(steps, outputs, model.precision);
    const features = new Float64Array(readout.weights.cols);
    const answer = (y: FloatArray) => {
      this.#clock?.enter("readout");
      writeFeatures(readout.features, this.#stepper.getValues(), this.#input, features);
      evaluateReadout(readout, features, y);
      this.#clock?.leave();
      if (firstNonFinite(y) >= 0) throw new NonFiniteStateError(this.#step, -1);
    };
    const input = allocate(model.precision, model.inputSize);
    for (let t = 0; t < steps; t++) {
      const y = result.row(t);
      const outside = inputs?.row(t);
      if (model.outputSize > 0) {
        if (outside) input.set(outside);
        this.step(input);
        answer(y);
        this.#output.set(y);
      } else {
        answer(y);
        input.set(y);
        if (outside) input.set(outside, outputs);
        this.step(input);
      }
      states?.row(t).set(this.#stepper.getValues());
      if (pacer.due()) {
        await pacer.pause(t + 1);
        this.#alive();
      }
    }
    pacer.finish();
    return result;
  }

  async accumulate(sequence: SequenceInput, options: AccumulateOptions): Promise<void> {
    const inputs = hostInputs(sequence);
    await this.runSequence(sequence, options, true, (chunk, from) => this.#timed("train", () => addRows(chunk, from, inputs, options)));
  }

  profile(): EngineProfile | undefined {
    return this.#clock?.read();
  }

  getState(): SessionState {
    this.#alive();
    const network = this.#stepper.getNetwork?.();
    return {
      values: this.#stepper.getValues().slice(),
      output: this.#output.slice(),
      input: this.#input.slice(),
      step: this.#step,
      ...(network ? { network } : {}),
    };
  }

  setState(state: SessionState): void {
    this.#alive();
    this.#stepper.setValues(state.values);
    if (state.network) this.#stepper.setNetwork?.(state.network);
    this.#output.set(state.output);
    this.#input.set(state.input);
    this.#step = state.step;
  }

  reset(): void {
    this.#alive();
    this.#toInitialState();
    this.#output.fill(0);
    this.#input.fill(0);
    this.#step = 0;
  }

  async dispose(): Promise<void> {
    if (this.#disposed) return;
    this.#disposed = true;
    await this.#stepper.dispose();
  }

  #toInitialState(): void {
    const { model } = this;
    this.#stepper.setValues(model.initialState);
    if (model.kind === "spiking") this.#stepper.setNetwork?.(initialNetwork(model));
  }

  /** Runs a sequence on from the present state. */
  protected async runSequence(sequence: SequenceInput, options: WorkOptions, keep: Keep, seen: ChunkSeen | undefined): Promise<void> {
    this.#alive();
    const { inputs } = sequence;
    const pacer = new WorkPacer(options, inputs.rows);
    const before = this.#step;
    try {
      await this.#chunks(sequence, 0, pacer, 0, keep, seen);
    } finally {
      const made = this.#step - before;
      const { cols } = inputs;
      if (inputs instanceof DeviceMatrix && made > 0 && !this.#disposed)
        this.#input.set(inputs.context.read(inputs.values.slice((made - 1) * cols, made * cols) as DeviceSlice<"f32">));
    }
    pacer.finish();
  }

  async #chunks(
    sequence: SequenceInput,
    index: number,
    pacer: WorkPacer,
    done: number,
    keep: Keep,
    seen: ChunkSeen | undefined,
  ): Promise<void> {
    const { size, inputSize, outputSize } = this.model;
    const { inputs, teacher } = sequence;
    const stepper = this.#stepper;
    for (let from = 0; from < inputs.rows; ) {
      const to = Math.min(inputs.rows, from + stepper.capacity);
      if (inputs instanceof Matrix) stepper.inputs.set(inputs.data.subarray(from * inputSize, to * inputSize));
      else await stepper.load!(inputs, from, to, this.#step);
      this.#feedBack(teacher, from, to);
      const finite = await this.#advanceChunk(to - from, index, keep);
      const last = from + finite;
      if (finite > 0) {
        if (inputs instanceof Matrix) this.#input.set(inputs.data.subarray((last - 1) * inputSize, last * inputSize));
        if (teacher) this.#output.set(teacher.data.subarray((last - 1) * outputSize, last * outputSize));
      }
      const failure = last < to ? this.#notFinite(finite) : undefined;
      seen?.(new Matrix(finite, size, stepper.states.subarray(0, finite * size)), from);
      if (failure) throw failure;
      from = to;
      if (pacer.due()) {
        await pacer.pause(done + from);
        this.#alive();
      }
    }
  }

  /**
   * Step `from` feeds back the session's last output, later ones the teacher's rows, or the same
   * output if there is no teacher.
   */
  #feedBack(teacher: Matrix | undefined, from: number, to: number): void {
    const { outputSize } = this.model;
    if (outputSize === 0) return;
    const { outputs } = this.#stepper;
    for (let t = from; t < to; t++) {
      const fed = t === from || !teacher ? this.#output : teacher.data.subarray((t - 1) * outputSize, t * outputSize);
      outputs.set(fed, (t - from) * outputSize);
    }
  }

  #advance(steps: number, sequence: number): void {
    const finite = this.#tryAdvance(steps, sequence, true);
    if (finite < steps) throw this.#notFinite(finite);
  }

  #tryAdvance(steps: number, sequence: number, keep: Keep): number {
    this.#prepare(steps);
    const clock = this.#stepper.timesPhases ? undefined : this.#clock;
    clock?.enter("run", steps);
    const finite = this.#stepper.advance(steps, this.#step, sequence, keep);
    clock?.leave();
    this.#step += finite;
    return finite;
  }

  async #advanceChunk(steps: number, sequence: number, keep: Keep): Promise<number> {
    if (!this.#stepper.advanceLater) return this.#tryAdvance(steps, sequence, keep);
    this.#prepare(steps);
    const finite = await this.#stepper.advanceLater(steps, this.#step, sequence, keep);
    this.#alive();
    this.#step += finite;
    return finite;
  }

  #prepare(steps: number): void {
    if (this.model.noiseLevel !== 0 && this.#step + steps > lastStep) {
      throw new SpillwayError(
        "limit",
        `step ${this.#step + steps} is beyond the noise counter, which ends at ${lastStep}; reset() starts a new count`,
      );
    }
    this.#before.set(this.#stepper.getValues());
  }

  /**
   * The error for row `row` of the chunk. The state goes back to the last finite one, and the
   * session can go on.
   */
  #notFinite(row: number): NonFiniteStateError {
    const { size } = this.model;
    const { states } = this.#stepper;
    const state = states.subarray(row * size, (row + 1) * size);
    this.#stepper.setValues(row > 0 ? states.subarray((row - 1) * size, row * size) : this.#before);
    return new NonFiniteStateError(
      this.#step,
      state.findIndex((value) => !Number.isFinite(value)),
    );
  }

  #timed(phase: PhaseName, work: () => void): void {
    this.#clock?.enter(phase);
    work();
    this.#clock?.leave();
  }

  #alive(): void {
    if (this.#disposed) throw new DisposedError("this reservoir");
  }
}

/** Copies every k-th state of a chunk that starts at step `from` to its row. */
function keepRows(chunk: Matrix, from: number, every: number, states: Matrix): void {
  if (every === 1) {
    states.data.set(chunk.data, from * chunk.cols);
    return;
  }
  for (let t = 0; t < chunk.rows; t++) {
    if ((from + t + 1) % every === 0) states.row((from + t + 1) / every - 1).set(chunk.row(t));
  }
}
