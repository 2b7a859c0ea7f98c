// Steps of a session on the host, in chunks: all but the arithmetic, which a stepper does.
import { allocate, type FloatArray, firstNonFinite, Matrix } from "@spillway/numerics";
import type { DeviceMatrix, RealValues } from "../reservoir/device-matrix.js";
import { NonFiniteStateError } from "../reservoir/engine/errors.js";
import type { EnginePlan, GenerateOptions, SequenceInput } from "../reservoir/engine.js";
import { evaluateReadout, writeFeatures } from "../reservoir/features.js";
import type { EngineModel } from "../reservoir/spiking-model.js";
import type { PhaseClock } from "./phase-clock.js";
import { type Chunk, Session, type StatesThere, type Steps, type Wanted } from "./session.js";
import { type Chunks, type SessionRecord, type StateStore, writeFeedback } from "./session-record.js";

/**
 * Computes chunks of steps in buffers of its own. Views are live: reading after `advance` sees its
 * results.
 */
export interface Stepper extends StateStore {
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
  /** States that stay on its device; left out by steppers of the host. */
  readonly there?: StepperStates | undefined;
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

/** What a stepper of the host has: a model, and the buffers of a chunk in memory of its own. */
export abstract class HostStepper<Model extends EngineModel> {
  readonly capacity: number;
  readonly inputs: FloatArray;
  readonly outputs: FloatArray;
  readonly states: FloatArray;
  protected readonly model: Model;

  constructor(model: Model, capacity: number) {
    const { precision, size, inputSize, outputSize } = model;
    this.model = model;
    this.capacity = capacity;
    this.inputs = allocate(precision, capacity * inputSize);
    this.outputs = allocate(precision, capacity * outputSize);
    this.states = allocate(precision, capacity * size);
  }

  /** The inputs of step t of a chunk, and what it feeds back. */
  protected given(t: number): readonly [input: FloatArray, output: FloatArray] {
    const { inputSize, outputSize } = this.model;
    return [this.inputs.subarray(t * inputSize, (t + 1) * inputSize), this.outputs.subarray(t * outputSize, (t + 1) * outputSize)];
  }

  async dispose(): Promise<void> {}
}

/** Whether a stepper keeps the states of a chunk, or where. */
export type Keep = boolean | "device";

/** States of a stepper on its device. */
export interface StepperStates extends StatesThere {
  /** capacity x N: those of the last chunk that kept some. */
  readonly states: RealValues;
  /** Copies every k-th state of a chunk of `rows` states from step `from` on to its row. */
  copyEvery(from: number, rows: number, every: number, into: DeviceMatrix): void;
}

/** Longest time that a chunk should take: a signal is read only between chunks. */
const chunkMilliseconds = 15;

/** The session of a stepper. */
export function stepperSession(model: EngineModel, plan: EnginePlan, stepper: Stepper, clock?: PhaseClock): Session {
  const session = new Session(model, plan, new HostSteps(model, stepper, clock), clock);
  session.reset();
  return session;
}

class HostSteps implements Steps {
  readonly store: Stepper;
  readonly there: StepperStates | undefined;
  readonly #model: EngineModel;
  readonly #stepper: Stepper;
  readonly #clock: PhaseClock | undefined;
  /** x before the chunk. */
  readonly #before: FloatArray;
  /**
   * Steps of the next chunk: as many as take about the time that a signal may wait. Steps that are
   * made elsewhere hold up nothing, so their chunks are as long as fits.
   */
  #chunkSteps: number;

  constructor(model: EngineModel, stepper: Stepper, clock: PhaseClock | undefined) {
    this.#model = model;
    this.#stepper = stepper;
    this.#clock = clock;
    this.store = stepper;
    this.there = stepper.there;
    this.#chunkSteps = stepper.advanceLater ? Number.POSITIVE_INFINITY : 1;
    this.#before = allocate(model.precision, model.size);
  }

  step(record: SessionRecord, input: FloatArray): FloatArray {
    this.#give(record, input);
    return this.#outcome(record, this.#advance(record, 1, 0, true));
  }

  chunks(sequence: SequenceInput, record: SessionRecord, number: number, { every, into, there }: Wanted): Chunks<Chunk> {
    const { size, inputSize, outputSize } = this.#model;
    const { inputs, teacher } = sequence;
    const stepper = this.#stepper;
    const { there: states } = this;
    let from = 0;
    if (inputs instanceof Matrix) stepper.check?.(inputs.data, record.step);
    return {
      next: async () => {
        record.alive();
        if (from === inputs.rows) return undefined;
        const [first, to] = [from, Math.min(inputs.rows, from + Math.min(stepper.capacity, this.#chunkSteps))];
        const steps = to - first;
        if (inputs instanceof Matrix) stepper.inputs.set(inputs.data.subarray(first * inputSize, to * inputSize));
        else await stepper.load!(inputs, first, to, record.step);
        if (outputSize > 0) writeFeedback(stepper.outputs, record.output, teacher, first, to);
        const isKept = every > 0 && Math.floor(to / every) > Math.floor(first / every);
        const begun = performance.now();
        const finite = await this.#advanceChunk(record, steps, number, there || into ? "device" : isKept);
        const each = (performance.now() - begun) / steps;
        if (!stepper.advanceLater) this.#chunkSteps = Math.max(1, Math.floor(chunkMilliseconds / Math.max(each, 1e-6)));
        from = to;
        if (into) states!.copyEvery(first, finite, every, into);
        return {
          ...{ from: first, to, finite, neuron: finite < steps ? this.#badNeuron(finite) : -1, there: states?.states },
          ...{ kept: new Matrix(finite, size, stepper.states.subarray(0, finite * size)), keptFrom: 0, keptEvery: 1 },
        };
      },
      goBack: ({ finite }) => this.#goBack(finite),
      finish: () => (into ? states!.stream.done() : undefined),
    };
  }

  async generate(options: GenerateOptions, record: SessionRecord): Promise<Matrix> {
    const model = this.#model;
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
      record.advance(1, input);
      if (model.outputSize > 0) {
        answer(y);
        record.output.set(y);
      }
      states?.row(t).set(this.#stepper.getValues());
    };
    if (this.#stepper.onlyLater)
      return record.closeLoop(options, async (t, outputs) => {
        given(t, outputs.row(t));
        this.#give(record, input);
        this.#outcome(record, await this.#advanceChunk(record, 1, 0, true));
        taken(t, outputs.row(t));
        return t + 1;
      });
    return record.closeLoop(options, (from, outputs, pacer) => {
      let t = from;
      do {
        given(t, outputs.row(t));
        this.step(record, input);
        taken(t, outputs.row(t));
        t++;
      } while (t < steps && !pacer.due());
      return t;
    });
  }

  dispose(): Promise<void> {
    return this.#stepper.dispose();
  }

  #give(record: SessionRecord, input: FloatArray): void {
    this.#stepper.inputs.set(input);
    this.#stepper.outputs.set(record.output);
  }

  /** x after one step. @throws NonFiniteStateError */
  #outcome(record: SessionRecord, finite: number): FloatArray {
    if (finite > 0) return this.#stepper.states.subarray(0, this.#model.size);
    const neuron = this.#badNeuron(0);
    this.#goBack(0);
    throw new NonFiniteStateError(record.step, neuron);
  }

  #advance({ step }: SessionRecord, steps: number, sequence: number, keep: Keep): number {
    this.#before.set(this.#stepper.getValues());
    const clock = this.#stepper.timesPhases ? undefined : this.#clock;
    clock?.enter("run", steps);
    const finite = this.#stepper.advance(steps, step, sequence, keep);
    clock?.leave();
    return finite;
  }

  async #advanceChunk(record: SessionRecord, steps: number, sequence: number, keep: Keep): Promise<number> {
    if (!this.#stepper.advanceLater) return this.#advance(record, steps, sequence, keep);
    this.#before.set(this.#stepper.getValues());
    const finite = await this.#stepper.advanceLater(steps, record.step, sequence, keep);
    record.alive();
    return finite;
  }

  /** The first neuron of row `row` of the chunk that is not finite. */
  #badNeuron(row: number): number {
    const { size } = this.#model;
    return this.#stepper.states.subarray(row * size, (row + 1) * size).findIndex((value) => !Number.isFinite(value));
  }

  /** Back to the last of the chunk's `finite` states, or to the one before the chunk. */
  #goBack(finite: number): void {
    const { size } = this.#model;
    const { states } = this.#stepper;
    this.#stepper.setValues(finite > 0 ? states.subarray((finite - 1) * size, finite * size) : this.#before);
  }
}
