// The session of an engine that computes on the host in chunks of steps: everything but the
// arithmetic, which a stepper does.
import { ArgumentError } from "@spillway/core/errors.js";
import { allocate, type FloatArray, firstNonFinite, Matrix } from "@spillway/numerics";
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
import type { EngineModel } from "../reservoir/spiking-model.js";
import type { WorkOptions } from "../reservoir/work.js";
import type { PhaseClock } from "./phase-clock.js";
import { type Progress, SessionRecord, type StatePlace, writeFeedback } from "./session-record.js";

/**
 * Computes chunks of steps in buffers of its own. Views are live: reading after `advance` sees its
 * results.
 */
export interface Stepper extends StatePlace {
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
  /** Refuses inputs of steps from `step` on before any step is made. @throws ArgumentError */
  check?(inputs: FloatArray, step: number): void;
  /**
   * Takes rows [from, to) of inputs on its device for the next steps, in place of `inputs`; left
   * out by steppers of the host.
   */
  load?(inputs: DeviceMatrix, from: number, to: number, step: number): Promise<void>;
  /**
   * Runs `steps` steps whose noise counters start at `step`; returns how many of them have finite
   * states. Without `keep` the states may be gone afterwards, unless one is not finite; "device"
   * keeps them only on the stepper's device.
   */
  advance(steps: number, step: number, sequence: number, keep?: Keep): number;
  /** Whether only `advanceLater` makes steps. */
  readonly onlyLater?: boolean;
  /** The same without holding up the event loop, of a stepper whose steps are made elsewhere. */
  advanceLater?(steps: number, step: number, sequence: number, keep?: Keep): Promise<number>;
  dispose(): Promise<void>;
}

/** Whether a stepper keeps the states of a chunk, or where. */
export type Keep = boolean | "device";

/** What one chunk did: its states, if they are kept on the host, from step `from` on. */
export type ChunkSeen = (states: Matrix, from: number) => void;

export class ChunkedSession implements EngineSession {
  readonly model: EngineModel;
  readonly plan: EnginePlan;
  readonly #stepper: Stepper;
  readonly #clock: PhaseClock | undefined;
  readonly #record: SessionRecord;
  /** x before the chunk. */
  readonly #before: FloatArray;
  /**
   * Steps of the next chunk: as many as take about the time that a signal may wait. Steps that are
   * made elsewhere hold up nothing, so their chunks are as long as fits.
   */
  #chunkSteps: number;

  /** @param clock times phases; left out, nothing is timed. */
  constructor(model: EngineModel, plan: EnginePlan, stepper: Stepper, clock?: PhaseClock) {
    this.model = model;
    this.plan = plan;
    this.#chunkSteps = stepper.advanceLater ? Number.POSITIVE_INFINITY : 1;
    this.#stepper = stepper;
    this.#clock = clock;
    this.#record = new SessionRecord(model, stepper);
    this.#before = allocate(model.precision, model.size);
    this.#record.reset();
  }

  async run(sequence: SequenceInput, options: RunOptions): Promise<void> {
    const { into: states, every = 1 } = options;
    if (states instanceof DeviceMatrix) throw ArgumentError.because("this engine keeps no states on a device", { field: "into" });
    const keep = (chunk: Matrix, from: number) => this.#timed("keep", () => keepRows(chunk, from, every, states!));
    await this.runSequence(sequence, options, states !== undefined, states && keep);
  }

  step(input: FloatArray, teacher?: FloatArray): FloatArray {
    this.#beginStep(input);
    return this.#endStep(this.#advance(1, this.#record.step, 0, true), input, teacher);
  }

  #beginStep(input: FloatArray): void {
    this.#record.alive();
    this.#record.checkCount(1);
    this.#stepper.inputs.set(input);
    this.#stepper.outputs.set(this.#record.output);
  }

  #endStep(finite: number, input: FloatArray, teacher?: FloatArray): FloatArray {
    const record = this.#record;
    if (finite < 1) {
      const neuron = this.#badNeuron(0);
      this.#goBack(0);
      throw new NonFiniteStateError(record.step, neuron);
    }
    record.advance(1, input, teacher);
    return this.#stepper.states.subarray(0, this.model.size);
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
    options: Pick<BatchOptions, keyof WorkOptions | "firstSequence">,
    keep: Keep,
    { seen, ended }: { readonly seen: (index: number) => ChunkSeen | undefined; readonly ended?: (index: number) => void },
  ): Promise<void> {
    const { firstSequence = 0 } = options;
    await this.#record.runEach(sequences, options, async (sequence, index, progress) => {
      await this.#chunks(sequence, firstSequence + index, progress, keep, seen(index));
      ended?.(index);
    });
  }

  /** Runs a sequence on from the present state. */
  protected async runSequence(sequence: SequenceInput, options: WorkOptions, keep: Keep, seen: ChunkSeen | undefined): Promise<void> {
    await this.#record.runOne(sequence, options, (progress) => this.#chunks(sequence, 0, progress, keep, seen));
  }

  async generate(options: GenerateOptions): Promise<Matrix> {
    const { model } = this;
    const record = this.#record;
    const { readout, steps, inputs, into: states } = options;
    const features = new Float64Array(readout.weights.cols);
    const answer = (y: FloatArray) => {
      this.#clock?.enter("readout");
      writeFeatures(readout.features, this.#stepper.getValues(), record.input, features);
      evaluateReadout(readout, features, y);
      this.#clock?.leave();
      if (firstNonFinite(y) >= 0) throw new NonFiniteStateError(record.step, -1);
    };
    const input = allocate(model.precision, model.inputSize);
    const given = (t: number, y: FloatArray) => {
      const outside = inputs?.row(t);
      if (model.outputSize === 0) {
        answer(y);
        input.set(y);
      }
      if (outside) input.set(outside, model.outputSize > 0 ? 0 : y.length);
    };
    const taken = (t: number, y: FloatArray) => {
      if (model.outputSize > 0) {
        answer(y);
        record.output.set(y);
      }
      states?.row(t).set(this.#stepper.getValues());
    };
    if (this.#stepper.onlyLater)
      return record.closeLoop(options, async (t, outputs) => {
        given(t, outputs.row(t));
        this.#beginStep(input);
        this.#endStep(await this.#advanceChunk(1, 0, true), input);
        taken(t, outputs.row(t));
        return t + 1;
      });
    return record.closeLoop(options, (from, outputs, pacer) => {
      let t = from;
      do {
        given(t, outputs.row(t));
        this.step(input);
        taken(t, outputs.row(t));
        t++;
      } while (t < steps && !pacer.due());
      return t;
    });
  }

  async accumulate(sequence: SequenceInput, options: AccumulateOptions): Promise<void> {
    const inputs = hostInputs(sequence);
    await this.runSequence(sequence, options, true, (chunk, from) => this.#timed("train", () => addRows(chunk, from, inputs, options)));
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
    if (this.#record.end()) await this.#stepper.dispose();
  }

  #chunks(sequence: SequenceInput, index: number, progress: Progress, keep: Keep, seen: ChunkSeen | undefined): Promise<void> {
    const { size, inputSize, outputSize } = this.model;
    const { inputs, teacher } = sequence;
    const stepper = this.#stepper;
    const record = this.#record;
    let from = 0;
    if (inputs instanceof Matrix) stepper.check?.(inputs.data, record.step);
    const next = async () => {
      record.alive();
      if (from === inputs.rows) return undefined;
      const to = Math.min(inputs.rows, from + Math.min(stepper.capacity, this.#chunkSteps));
      if (inputs instanceof Matrix) stepper.inputs.set(inputs.data.subarray(from * inputSize, to * inputSize));
      else await stepper.load!(inputs, from, to, record.step);
      if (outputSize > 0) writeFeedback(stepper.outputs, record.output, teacher, from, to);
      const begun = performance.now();
      const finite = await this.#advanceChunk(to - from, index, keep);
      const each = (performance.now() - begun) / (to - from);
      if (!stepper.advanceLater) this.#chunkSteps = Math.max(1, Math.floor(chunkMilliseconds / Math.max(each, 1e-6)));
      const chunk = { from, to, finite, neuron: finite < to - from ? this.#badNeuron(finite) : -1 };
      from = to;
      return chunk;
    };
    return record.takeChunks(sequence, progress, {
      next,
      seen: ({ finite, from }) => seen?.(new Matrix(finite, size, stepper.states.subarray(0, finite * size)), from),
      goBack: ({ finite }) => this.#goBack(finite),
    });
  }

  #advance(steps: number, step: number, sequence: number, keep: Keep): number {
    this.#before.set(this.#stepper.getValues());
    const clock = this.#stepper.timesPhases ? undefined : this.#clock;
    clock?.enter("run", steps);
    const finite = this.#stepper.advance(steps, step, sequence, keep);
    clock?.leave();
    return finite;
  }

  async #advanceChunk(steps: number, sequence: number, keep: Keep): Promise<number> {
    const { step } = this.#record;
    if (!this.#stepper.advanceLater) return this.#advance(steps, step, sequence, keep);
    this.#before.set(this.#stepper.getValues());
    const finite = await this.#stepper.advanceLater(steps, step, sequence, keep);
    this.#record.alive();
    return finite;
  }

  /** The first neuron of row `row` of the chunk that is not finite. */
  #badNeuron(row: number): number {
    const { size } = this.model;
    return this.#stepper.states.subarray(row * size, (row + 1) * size).findIndex((value) => !Number.isFinite(value));
  }

  /** Back to the last of the chunk's `finite` states, or to the one before the chunk. */
  #goBack(finite: number): void {
    const { size } = this.model;
    const { states } = this.#stepper;
    this.#stepper.setValues(finite > 0 ? states.subarray((finite - 1) * size, finite * size) : this.#before);
  }

  #timed(phase: PhaseName, work: () => void): void {
    this.#clock?.enter(phase);
    work();
    this.#clock?.leave();
  }
}

/** Longer than this no chunk should take: only between chunks a signal is seen. */
const chunkMilliseconds = 15;

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
