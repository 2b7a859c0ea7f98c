// A composed reservoir in sessions of an engine, one for each part: whole chunks of a series go
// through part after part, a closed loop goes step by step. It computes no step itself.
import { disposeAllAsync, eachOrNone } from "@spillway/core/disposal.js";
import { DisposedError } from "@spillway/core/errors.js";
import { allocate, type FloatArray, firstNonFinite, Matrix } from "@spillway/numerics";
import { NonFiniteStateError } from "../engine/errors.js";
import type {
  BatchOptions,
  Engine,
  EngineOptions,
  EnginePlan,
  EngineSession,
  GenerateOptions,
  RunOptions,
  SequenceInput,
  SessionState,
} from "../engine.js";
import { evaluateReadout, writeFeatures } from "../features.js";
import { hostInputs } from "../inputs.js";
import { type EngineProfile, profileOf } from "../profile.js";
import { WorkPacer } from "../work.js";
import { type CompositeModel, neuronsOf } from "./model.js";

/** Multiplications between two looks at the signal, and values of states that are kept for it. */
const chunkWork = 2 ** 28;
const chunkValues = 2 ** 22;

/** How an engine would run a composed reservoir. @throws as `Engine.plan` */
export function planComposite(engine: Engine, model: CompositeModel, options?: EngineOptions): EnginePlan {
  return joinedPlan(
    model,
    engine.name,
    model.parts.map((part) => engine.plan(part, options)),
  );
}

/** Loads every part. @throws as `Engine.open` */
export async function openComposite(engine: Engine, model: CompositeModel, options: EngineOptions): Promise<EngineSession> {
  const sessions = await eachOrNone(
    model.parts,
    (part) => engine.open(part, options),
    (session) => [session],
  );
  return new CompositeSession(model, engine.name, sessions);
}

function joinedPlan(model: CompositeModel, engine: string, plans: readonly EnginePlan[]): EnginePlan {
  const isDeep = model.config.layers !== undefined;
  const [noun, order] = isDeep ? ["layer", "layer after layer"] : ["group", "group after group"];
  return {
    engine,
    summary: `${order}: ${plans.map(({ summary }, p) => `${noun} ${p + 1}: ${summary}`).join("; ")}`,
    bytes: plans.reduce((sum, { bytes }) => sum + bytes, 0),
    details: {
      plan: order,
      ...Object.fromEntries(
        plans.flatMap(({ details }, p) => Object.entries(details).map(([name, value]) => [`${noun} ${p + 1} ${name}`, value])),
      ),
    },
  };
}

class CompositeSession implements EngineSession {
  readonly model: CompositeModel;
  readonly plan: EnginePlan;
  readonly #sessions: readonly EngineSession[];
  /** The first neuron of each part. */
  readonly #first: readonly number[];
  readonly #chunk: number;
  /** x of all parts, and what states are of. */
  readonly #all: FloatArray;
  readonly #read: FloatArray;
  readonly #input: FloatArray;
  #step = 0;
  #disposed = false;

  constructor(model: CompositeModel, engine: string, sessions: readonly EngineSession[]) {
    this.model = model;
    this.#sessions = sessions;
    this.plan = joinedPlan(
      model,
      engine,
      sessions.map(({ plan }) => plan),
    );
    const total = model.below + model.size;
    this.#first = model.parts.map((_, p) => neuronsOf(model.parts.slice(0, p)));
    const work = model.parts.reduce((sum, { size, inputSize }) => sum + size * (size + inputSize), 0);
    this.#chunk = Math.max(16, Math.min(4096, Math.floor(chunkWork / work), Math.floor(chunkValues / total)));
    this.#all = allocate(model.precision, total);
    this.#read = this.#all.subarray(model.below);
    this.#input = allocate(model.precision, model.inputSize);
    this.#takeInitial();
  }

  async run(sequence: SequenceInput, options: RunOptions): Promise<void> {
    this.#alive();
    const inputs = hostInputs(sequence);
    const { into, every = 1 } = options;
    const pacer = new WorkPacer(options, inputs.rows);
    for (let from = 0; from < inputs.rows; from += this.#chunk) {
      const rows = inputs.subarray(from, Math.min(inputs.rows, from + this.#chunk));
      const { states, failure } = await this.#advance(rows);
      if (into instanceof Matrix) for (const [p, each] of states.entries()) this.#put(each, p, into, from, every);
      if (failure) throw failure;
      if (pacer.due()) {
        await pacer.pause(from + rows.rows);
        this.#alive();
      }
    }
    pacer.finish();
  }

  step(input: FloatArray): FloatArray {
    this.#alive();
    const { inputSize } = this.model;
    const row = new Matrix(1, inputSize, input.subarray(0, inputSize) as FloatArray);
    const made: Matrix[] = [];
    try {
      for (const [p, session] of this.#sessions.entries()) {
        const values = session.step(this.#inputsOf(p, row, made[p - 1]).data);
        made.push(new Matrix(1, values.length, values));
      }
    } catch (error) {
      this.setState(this.getState());
      throw error instanceof NonFiniteStateError ? this.#located(error, made.length) : error;
    }
    this.#take(made, row);
    return this.#read;
  }

  async batch(sequences: readonly SequenceInput[], options: BatchOptions): Promise<Matrix[]> {
    this.#alive();
    const { size, precision, parts } = this.model;
    const given = sequences.map(hostInputs);
    const isLast = options.keep === "last";
    const results = given.map(({ rows }) => Matrix.zeros(isLast ? 1 : rows, size, precision));
    const total = parts.length * given.reduce((sum, { rows }) => sum + rows, 0);
    const pacer = new WorkPacer(options, total);
    let done = 0;
    // One group with noise: an engine of one's own may know no `firstSequence`.
    for (const [from, to] of this.model.noiseLevel !== 0 ? [[0, given.length] as const] : this.#groups(given)) {
      const group = given.slice(from, to);
      const firstSequence = (options.firstSequence ?? 0) + from;
      let below: readonly Matrix[] = [];
      for (const [p, session] of this.#sessions.entries()) {
        const feeds = this.#isDeep && p + 1 < parts.length;
        const before = done;
        const onProgress = options.onProgress && ((some: number) => options.onProgress!(before + some, total));
        const driven = group.map((inputs, b) => ({ inputs: this.#inputsOf(p, inputs, below[b]) }));
        const wanted = { signal: options.signal, onProgress, keep: feeds ? "all" : options.keep, firstSequence } as const;
        const made = await session.batch(driven, wanted).catch((error) => {
          throw error instanceof NonFiniteStateError ? this.#located(error, p) : error;
        });
        this.#alive();
        made.forEach((states, b) => {
          const rows = isLast ? states.subarray(states.rows - 1, states.rows) : states;
          this.#put(rows, p, results[from + b]!, 0, 1);
          done += group[b]!.rows;
        });
        below = made;
      }
    }
    pacer.finish();
    return results;
  }

  async generate(options: GenerateOptions): Promise<Matrix> {
    this.#alive();
    const { inputSize, precision } = this.model;
    const { readout, steps, inputs, into } = options;
    const outputs = readout.weights.rows;
    const pacer = new WorkPacer(options, steps);
    const made = Matrix.zeros(steps, outputs, precision);
    const features = new Float64Array(readout.weights.cols);
    const input = allocate(precision, inputSize);
    for (let t = 0; t < steps; t++) {
      const y = made.row(t);
      writeFeatures(readout.features, this.#read, this.#input, features);
      evaluateReadout(readout, features, y);
      if (firstNonFinite(y) >= 0) throw new NonFiniteStateError(this.#step, -1);
      input.set(y);
      if (inputs) input.set(inputs.row(t), outputs);
      const values = this.step(input);
      into?.row(t).set(values);
      if (pacer.due()) {
        await pacer.pause(t + 1);
        this.#alive();
      }
    }
    pacer.finish();
    return made;
  }

  profile(): EngineProfile | undefined {
    return profileOf(this.#sessions);
  }

  getState(): SessionState {
    this.#alive();
    const { below, precision } = this.model;
    return {
      values: this.#read.slice(),
      input: this.#input.slice(),
      output: allocate(precision, 0),
      step: this.#step,
      ...(below > 0 ? { below: this.#all.slice(0, below) } : {}),
    };
  }

  setState({ values, below, input, step }: SessionState): void {
    this.#alive();
    this.#read.set(values);
    if (below) this.#all.set(below);
    this.#input.set(input);
    this.#step = step;
    for (const [p, session] of this.#sessions.entries()) {
      const { size, inputSize, precision } = this.model.parts[p]!;
      const own = this.#all.slice(this.#first[p], this.#first[p]! + size);
      session.setState({ values: own, input: allocate(precision, inputSize), output: allocate(precision, 0), step });
    }
  }

  reset(): void {
    this.#alive();
    for (const session of this.#sessions) session.reset();
    this.#takeInitial();
  }

  async dispose(): Promise<void> {
    if (this.#disposed) return;
    this.#disposed = true;
    await disposeAllAsync(this.#sessions);
  }

  get #isDeep(): boolean {
    return this.model.config.layers !== undefined;
  }

  #takeInitial(): void {
    this.model.parts.forEach(({ initialState }, p) => {
      this.#all.set(initialState, this.#first[p]);
    });
    this.#input.fill(0);
    this.#step = 0;
  }

  /**
   * Takes all parts over rows: the states of each, up to the first that is not finite. Whatever
   * fails, all parts stand at the same step.
   */
  async #advance(rows: Matrix): Promise<{ readonly states: readonly Matrix[]; readonly failure?: NonFiniteStateError | undefined }> {
    const before = this.getState();
    let failure: NonFiniteStateError | undefined;
    for (let left = rows; left.rows > 0; ) {
      const states: Matrix[] = [];
      try {
        for (const [p, session] of this.#sessions.entries()) {
          const into = Matrix.zeros(left.rows, this.model.parts[p]!.size, this.model.precision);
          await session.run({ inputs: this.#inputsOf(p, left, states[p - 1]) }, { into });
          this.#alive();
          states.push(into);
        }
      } catch (error) {
        this.setState(before);
        if (!(error instanceof NonFiniteStateError)) throw error;
        failure = this.#located(error, states.length);
        left = left.subarray(0, error.step - before.step);
        continue;
      }
      this.#take(states, left);
      return { states, failure };
    }
    return { states: [], failure };
  }

  /** Advances to the last rows of the states of all parts, and of their inputs. */
  #take(states: readonly Matrix[], inputs: Matrix): void {
    const last = inputs.rows - 1;
    for (const [p, each] of states.entries()) this.#all.set(each.row(last), this.#first[p]);
    this.#input.set(inputs.row(last));
    this.#step += inputs.rows;
  }

  /** The inputs of part p: the states of the part below it, or rows, or some of their channels. */
  #inputsOf(p: number, rows: Matrix, below: Matrix | undefined): Matrix {
    if (this.#isDeep) return below ?? rows;
    const channels = this.model.config.groups![p]!.inputs;
    if (!channels) return rows;
    const out = Matrix.zeros(rows.rows, channels.length, this.model.precision);
    for (let t = 0; t < rows.rows; t++) out.row(t).set(channels.map((channel) => rows.data[t * rows.cols + channel]!));
    return out;
  }

  /** Copies every k-th state of a part; the first row is that of step `from`. */
  #put(states: Matrix, p: number, into: Matrix, from: number, every: number): void {
    const column = this.#first[p]! - this.model.below;
    if (column < 0) return;
    for (let t = 0; t < states.rows; t++)
      if ((from + t + 1) % every === 0) into.data.set(states.row(t), ((from + t + 1) / every - 1) * into.cols + column);
  }

  /** Indices from and to of sequences whose states are held at a time. */
  *#groups(sequences: readonly Matrix[]): Generator<readonly [number, number]> {
    const most = Math.max(1, Math.floor(chunkValues / this.#all.length));
    let from = 0;
    let rows = 0;
    for (const [b, sequence] of sequences.entries()) {
      if (b > from && rows + sequence.rows > most) {
        yield [from, b];
        from = b;
        rows = 0;
      }
      rows += sequence.rows;
    }
    yield [from, sequences.length];
  }

  /** The same error with the neuron counted over all parts. */
  #located({ step, neuron }: NonFiniteStateError, p: number): NonFiniteStateError {
    return new NonFiniteStateError(step, this.#first[p]! + neuron);
  }

  #alive(): void {
    if (this.#disposed) throw new DisposedError("this reservoir");
  }
}
