// ReservoirComputer: a reservoir that runs. It keeps the engine out of sight and owns the session;
// what comes in is checked by inputs.ts.

import { checkHas } from "@spillway/core/checks.js";
import { DisposedByAwaitUsing, orDispose } from "@spillway/core/disposal.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { namingOwner } from "@spillway/core/field-owner.js";
import { type Resolved, resolve } from "@spillway/core/options.js";
import { tally } from "@spillway/core/text.js";
import type { Context, Stream } from "@spillway/gpu";
import { everyRow, type FloatArray, Matrix, type MatrixLike } from "@spillway/numerics";
import type { SpikingReservoirOptions } from "../spikes/liquid/schema.js";
import type { CompositeOptions } from "./composite/config.js";
import type { AnyModel, CompositeModel } from "./composite/model.js";
import {
  batchTable,
  type ComputerBatchOptions,
  type ComputerGenerateOptions,
  type ComputerRunOptions,
  type CreateOptions,
  createTable,
  generateTable,
  openTable,
  runTable,
  streamTable,
  type TrainOptions,
  trainTable,
} from "./computer-options.js";
import type { ReservoirOptions } from "./config.js";
import { DeviceMatrix, type DeviceSequences } from "./device-matrix.js";
import { accumulate } from "./engine/accumulate.js";
import type { ColumnScale, ScaledThere } from "./engine/device.js";
import type { TargetProducts, TargetWork } from "./engine/products.js";
import { checkSummary, type SummaryWork, type WhichStatistics } from "./engine/summaries.js";
import type { TrainingSink } from "./engine/training.js";
import type { EnginePlan, EngineSession, SessionState } from "./engine.js";
import { type EngineChoice, selectEngine } from "./engines.js";
import type { LinearReadout } from "./features.js";
import {
  anySeries,
  batchTargets,
  checkWashout,
  loopInputs,
  rowOf,
  type SequenceLike,
  type SequenceOwner,
  sequenceOf,
  sequencesOf,
  stateOf,
  statesTarget,
} from "./inputs.js";
import { type AnyReservoirOptions, fieldOwners, modelOf, openModel, shapeFor } from "./kinds.js";
import type { ReservoirModel } from "./model.js";
import { OneCall } from "./one-call.js";
import { sinkKind } from "./options.js";
import { warnOfOwnRadius } from "./own-matrices.js";
import type { Profile } from "./profile.js";
import type { RegisteredModel } from "./registered/model.js";
import type { RegisteredReservoirOptions } from "./registered/options.js";
import { shapesOf } from "./shape.js";
import type { SpikingModel } from "./spiking-model.js";
import type { WorkOptions } from "./work.js";

/**
 * A reservoir x(t+1) = (1 - a) x(t) + a f(W x(t) + W_in u(t+1) + b + W_fb y(t) + noise) on one
 * engine, or a spiking one, whose state x is its filtered spikes. Its state carries over from call
 * to call until `reset()`.
 *
 * @example
 * await using computer = await ReservoirComputer.create({ size: 300, spectralRadius: 0.9, seed: 1 });
 * const states = await computer.run(series); // T x 300
 */
export class ReservoirComputer<Model extends AnyModel = ReservoirModel> extends DisposedByAwaitUsing {
  /** The engine, why it was chosen, and how it runs this reservoir. */
  readonly engine: { readonly name: string; readonly reason: string; readonly plan: EnginePlan };
  readonly model: Model;
  readonly #session: EngineSession;
  readonly #owner: SequenceOwner;
  readonly #call: OneCall<EngineSession>;
  readonly #profiled: boolean;

  private constructor(model: Model, session: EngineSession, choice: EngineChoice, profiled: boolean) {
    super();
    this.#session = session;
    this.#owner = { session, engine: choice.engine.name };
    this.#call = new OneCall(session, choice);
    this.#profiled = profiled;
    this.model = model;
    this.engine = this.#call.engine;
  }

  /**
   * Checks a description, draws the weights and opens an engine.
   * @throws ArgumentError naming the field, the value it got and what it takes
   * @throws EngineUnavailableError, EngineCapacityError
   */
  static create(config: ReservoirOptions, options?: CreateOptions): Promise<ReservoirComputer>;
  static create(config: SpikingReservoirOptions, options?: CreateOptions): Promise<ReservoirComputer<SpikingModel>>;
  static create(config: RegisteredReservoirOptions, options?: CreateOptions): Promise<ReservoirComputer<RegisteredModel>>;
  static create(config: CompositeOptions, options?: CreateOptions): Promise<ReservoirComputer<CompositeModel>>;
  static create(config: AnyReservoirOptions, options?: CreateOptions): Promise<ReservoirComputer<AnyModel>>;
  static async create(config: AnyReservoirOptions, options: CreateOptions = {}): Promise<ReservoirComputer<AnyModel>> {
    return namingOwner(
      () => fieldOwners(config),
      async () => {
        const { matrices, ...open } = resolve(createTable, options);
        warnOfOwnRadius(config, options.matrices);
        const choice = await selectEngine(open, () => shapeFor(open.engine, config));
        return ReservoirComputer.#open(await modelOf(config, choice.engine, matrices), choice, open);
      },
    );
  }

  /** Opens a model that is already made, such as one read from a file. */
  static async fromModel<Model extends AnyModel>(
    model: Model,
    options: Omit<CreateOptions, "matrices"> = {},
  ): Promise<ReservoirComputer<Model>> {
    checkHas("model", model, "the model of a reservoir", "config");
    const open = resolve(openTable, options);
    return ReservoirComputer.#open(model, await selectEngine(open, async () => shapesOf(model)), open);
  }

  static async #open<Model extends AnyModel>(
    model: Model,
    choice: EngineChoice,
    { threads, plan, kernelSource, spinLimit, profile }: Resolved<typeof openTable>,
  ): Promise<ReservoirComputer<Model>> {
    const options = { threads, plan, kernelSource, spinLimit, profile };
    return new ReservoirComputer(model, await openModel(choice.engine, model, options), choice, profile);
  }

  /**
   * What the work since `create` cost, by events on the device or the host's clock; undefined
   * without `profile: true`. Read it between calls: pieces of work that are not over are not in it.
   */
  get profile(): Profile | undefined {
    return this.#call.profile;
  }

  /** The description with every default filled in. */
  get config(): Model["config"] {
    return this.model.config;
  }

  /**
   * Runs T x I inputs from the present state and returns the T x N states; row t is the state after
   * input t. A reservoir with feedback and no teacher keeps feeding back its last output.
   * @throws ArgumentError for a wrong shape, an empty series, or a value that is not finite (row
   * and column named)
   * @throws WorkInterruptedError when stopped; the states so far are in `into`, and the state is
   * that of the last finished step
   */
  async run(inputs: SequenceLike, options: ComputerRunOptions & { readonly keep: "device" }): Promise<DeviceMatrix>;
  async run(inputs: SequenceLike, options?: ComputerRunOptions & { readonly keep?: "host" | undefined }): Promise<Matrix>;
  async run(inputs: SequenceLike, options: ComputerRunOptions = {}): Promise<Matrix | DeviceMatrix> {
    const { teacher, every, into, keep, ...work } = resolve(runTable, options);
    const sequence = sequenceOf(this.#owner, inputs, teacher);
    const rows = Math.floor(sequence.inputs.rows / every);
    if (keep === "device") {
      if (into) throw ArgumentError.because('into was given beside keep "device"; it takes one of the two');
      return this.#onDevice([rows], sequence.inputs, every, async (there) => {
        const [states] = there.sequences;
        await this.#session.run(sequence, { ...work, every, into: states });
        return new DeviceMatrix(states!.context, there.values, states!, there);
      });
    }
    const states = into ? statesTarget(this.model, into, rows, "into") : Matrix.zeros(rows, this.model.size, this.model.precision);
    await this.#call.alone(() => this.#session.run(sequence, { ...work, every, into: states }));
    return states;
  }

  /**
   * One step, at once: u (I values) in, a view of x (N values) out that holds until the next call.
   * With a teacher, y(t) of this step is set too.
   */
  step(input: ArrayLike<number>, teacher?: ArrayLike<number>): FloatArray {
    const u = rowOf(this.model, input, "input", "inputSize");
    const y = teacher === undefined ? undefined : rowOf(this.model, teacher, "teacher", "outputSize");
    return this.#profiled ? this.#call.atOnce((session) => session.step(u, y)) : this.#call.free.step(u, y);
  }

  /**
   * Runs sequences of any lengths, each from the initial state; the computer's own state is
   * untouched. Returns T x N states each, or 1 x N with `keep: "last"`.
   */
  async batch(
    sequences: readonly SequenceLike[],
    options: ComputerBatchOptions & { readonly keep: "device" | "deviceLast" },
  ): Promise<DeviceSequences>;
  async batch(
    sequences: readonly SequenceLike[],
    options?: ComputerBatchOptions & { readonly keep?: "all" | "last" | undefined },
  ): Promise<Matrix[]>;
  async batch(sequences: readonly SequenceLike[], options: ComputerBatchOptions = {}): Promise<Matrix[] | DeviceSequences> {
    const { keep, teachers, into: targets, ...work } = resolve(batchTable, options);
    const checked = sequencesOf(this.#owner, sequences, teachers);
    const last = keep === "last" || keep === "deviceLast";
    const rows = checked.map(({ inputs }) => (last ? 1 : inputs.rows));
    if (keep === "all" || keep === "last") {
      const into = targets && batchTargets(this.model, targets, rows);
      return this.#call.alone(() => this.#session.batch(checked, { keep, ...work, into }));
    }
    if (targets) throw ArgumentError.because(`into was given beside keep ${JSON.stringify(keep)}; it takes one of the two`);
    return this.#onDevice(rows, last ? undefined : checked[0]!.inputs, 1, async (into) => {
      await this.#session.batch(checked, { keep: last ? "last" : "all", ...work, into });
      return into;
    });
  }

  /** The device whose memory its data may lie in; undefined for an engine of the host. */
  get context(): Context | undefined {
    return this.#session.device?.context;
  }

  /**
   * The stream of its work on the device. What is enqueued on it is done before its next work, and
   * is counted in its profile.
   */
  get deviceStream(): Stream | undefined {
    return this.#session.device?.stream;
  }

  /**
   * z-scores of series in the memory of the device, where they stay: the caller's to dispose of.
   * Without a scale it is fitted to these series. See `DeviceSide.standardise`.
   * @throws ArgumentError for series that this reservoir does not take
   */
  async standardise(series: readonly DeviceMatrix[], scale?: ColumnScale, changes?: ColumnScale): Promise<ScaledThere> {
    sequencesOf(this.#owner, series);
    return this.#session.device!.standardise(series, scale, changes);
  }

  /**
   * Series in the memory of the device, each from its last row to its first: the caller's to
   * dispose of. @throws ArgumentError for series that this reservoir does not take
   */
  async reverse(series: readonly DeviceMatrix[]): Promise<DeviceSequences> {
    sequencesOf(this.#owner, series);
    return this.#session.device!.reverse(series);
  }

  /**
   * The last row, the mean row or both of each series in the memory of the device, B x F, as a
   * summary has them of states.
   * @throws ArgumentError for series that this reservoir does not take
   */
  async statistics(series: readonly DeviceMatrix[], which: WhichStatistics): Promise<Matrix<Float64Array>> {
    sequencesOf(this.#owner, series);
    checkSummary({ ...which, given: Matrix.zeros(series.length, 0) }, this.model.inputSize, series);
    return this.#session.device!.statistics(series, which);
  }

  /** Whether the engine can `summarise`. */
  get canSummarise(): boolean {
    return this.#session.summarise !== undefined;
  }

  /**
   * Statistics of the states of sequences, each run from the initial state, or what a readout of
   * classes makes of them, where the engine can do that without handing states out; undefined if it
   * cannot. See `SummaryWork`. @throws ArgumentError if what is asked for does not go with them
   */
  summarise(sequences: readonly SequenceLike[], work: SummaryWork): Promise<Matrix<Float64Array>> | undefined {
    const session = this.#session;
    if (!session.summarise) return undefined;
    const checked = sequencesOf(this.#owner, sequences);
    checkSummary(
      work,
      this.model.size,
      checked.map(({ inputs }) => inputs),
    );
    return this.#call.alone(() => session.summarise!(checked, work));
  }

  /**
   * Products of the states with targets made of past inputs, where the engine has them without
   * handing states out; undefined if it has not. See `TargetWork`.
   */
  multiplyTargets(work: TargetWork): Promise<TargetProducts> | undefined {
    const found = this.#call.busy ? undefined : this.#session.multiplyTargets?.(work);
    return found && this.#call.alone(() => found);
  }

  /**
   * Closed loop: `steps` outputs of the readout (steps x O).
   *
   * Without feedback weights the readout predicts the next input, and each step is: y = readout(x,
   * u), then x = step([y, outside inputs]). The first row is the readout of the present state, so
   * after `run(series.slice(0, T))` row k predicts series row T + k. With feedback weights each
   * step is: x = step(outside inputs, y), then y = readout(x, u). Either way generate(a) and then
   * generate(b) gives the rows of generate(a + b).
   * @throws NonFiniteStateError if an output or a state is not finite; the reservoir is left at the
   * last finite state of the diverging loop: reset it or set a state
   */
  async generate(steps: number, readout: LinearReadout, options: ComputerGenerateOptions = {}): Promise<Matrix> {
    const { model } = this;
    const { inputs: fromOutside, into: target, ...work } = resolve(generateTable, options);
    const inputs = loopInputs(model, steps, readout, fromOutside);
    const states = target && statesTarget(this.model, target, steps, "into");
    return this.#call.alone(() => this.#session.generate({ ...work, readout, steps, inputs, into: states }));
  }

  /**
   * Runs a series and hands its states to a training sink (a Gram accumulator) without keeping
   * them: memory does not grow with T.
   */
  async train(inputs: SequenceLike, targets: MatrixLike, sink: TrainingSink, options: TrainOptions = {}): Promise<void> {
    const { teacher, washout, ...work } = resolve(trainTable, options);
    sinkKind.read(sink, "sink");
    const sequence = sequenceOf(this.#owner, inputs, teacher);
    const { rows } = sequence.inputs;
    const wanted = anySeries(targets, "targets", "float64");
    if (wanted.rows !== rows)
      throw ArgumentError.shape(`targets has ${tally(wanted.rows, "row")} and inputs has ${rows}; they take the same number`, {
        field: "targets",
      });
    checkWashout(washout, rows);
    await this.#call.alone(() => accumulate(this.#session, sequence, { ...work, targets: wanted, washout, sink }));
  }

  /**
   * Chunks of inputs in, chunks of states out, with the state carried over: memory stays bounded by
   * one chunk. A chunk is anything `run` takes.
   */
  async *stream(
    chunks: AsyncIterable<SequenceLike> | Iterable<SequenceLike>,
    options: WorkOptions & { every?: number } = {},
  ): AsyncGenerator<Matrix> {
    const { every, signal, onProgress } = resolve(streamTable, options);
    if (typeof chunks !== "object" || chunks === null || !(Symbol.iterator in chunks || Symbol.asyncIterator in chunks))
      throw new ArgumentError("chunks", chunks, "an iterable of series, such as a list or an async generator");
    let done = 0;
    let index = 0;
    let buffer: Matrix | undefined;
    for await (const chunk of chunks) {
      const sequence = sequenceOf(this.#owner, chunk, undefined, `chunk ${index++}`);
      const { rows } = sequence.inputs;
      if (buffer?.rows !== rows) buffer = Matrix.zeros(rows, this.model.size, this.model.precision);
      const states = buffer;
      await this.#call.alone(() => this.#session.run(sequence, { signal, into: states }));
      yield everyRow(states, every, done);
      done += rows;
      onProgress?.(done, Number.NaN);
    }
  }

  /** x, the last input and output, and the step count: everything a resumed run needs. */
  get state(): SessionState {
    return this.#session.getState();
  }

  /**
   * Goes on from a state that was kept, of this reservoir or one of its sizes. @throws
   * ArgumentError on a row of another length or a step that is no count
   */
  set state(state: SessionState) {
    this.#call.free.setState(stateOf(this.model, state));
  }

  /** Back to the initial state, step 0. @throws Error while another call is running */
  reset(): void {
    this.#call.free.reset();
  }

  /** Gives memory and threads back. Idempotent. */
  dispose(): Promise<void> {
    return this.#session.dispose();
  }

  /** Makes states of `rows` in the memory of the device. They are given back if the work fails. */
  async #onDevice<T>(
    rows: readonly number[],
    inputs: Matrix | DeviceMatrix | undefined,
    every: number,
    work: (into: DeviceSequences) => Promise<T>,
  ): Promise<T> {
    const { device } = this.#session;
    if (!device)
      throw ArgumentError.because(
        `keep asks for states on a device; the engine "${this.engine.name}" has them on the host, so take "cuda" or a context`,
      );
    const step = inputs instanceof DeviceMatrix ? inputs.stepMs : undefined;
    return this.#call.alone(async () => {
      const into = device.allocate(rows, step && step * every);
      return orDispose(into, () => work(into));
    });
  }
}

/** A reservoir of any kind. */
export type AnyReservoirComputer = ReservoirComputer<AnyModel>;
