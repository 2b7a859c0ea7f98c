// Forecaster: a reservoir and a readout that predict a series, or outputs from inputs. How it is
// trained stands in forecaster-training.ts, how it is kept in forecaster-file.ts.
import { ArgumentError } from "../core/errors.js";
import { resolve } from "../core/options.js";
import { writeFileAtomic } from "../io/atomic.js";
import { readBytes } from "../io/files.js";
import { nrmse } from "../metrics/index.js";
import { Matrix, type MatrixLike } from "../numerics/index.js";
import type { TrainedReadout, Trainer } from "../readout/index.js";
import { type AnyReservoirComputer, type AnyReservoirOptions, ReservoirComputer, type WorkOptions } from "../reservoir/index.js";
import { checkSequences, checkWhole } from "../reservoir/inputs.js";
import { Turns, workTable } from "../reservoir/work.js";
import { describedTrainer, descriptionOf, forecasterReservoir, forecasterTrainer, withClassTargets, withStandardise } from "./defaults.js";
import { NotFittedError } from "./errors.js";
import {
  checkAlike,
  checkColumns,
  checkedData,
  checkedPrefix,
  checkedSeries,
  cutRows,
  type ForecasterData,
  type ForecasterPrefix,
  type ForecasterSequences,
  noInputs,
} from "./forecaster-data.js";
import { decodeForecaster, encodeForecaster } from "./forecaster-file.js";
import { ForecasterMember, type MemberState as ForecasterState } from "./forecaster-member.js";
import {
  type ForecasterOptions,
  type ForecasterSettings,
  type ForecastOptions,
  forecastTable,
  type PredictOptions,
  predictTable,
  type ScoreOptions,
  type StartOptions,
  scoreTable,
} from "./forecaster-options.js";
import { decodeModelFile, type LoadOptions, loadTable } from "./model-file.js";

/**
 * A reservoir x(t+1) = (1 - a) x(t) + a f(W x(t) + W_in u(t+1) + b + W_fb y(t)) and a readout y =
 * W_out [features of x] + c: ridge regression, or any other trainer (`readout`) (Jaeger 2001, GMD
 * report 148; Lukoševičius 2012, "A practical guide to applying echo state networks").
 *
 * - Trained on a series (T x D) without feedback, it predicts the next row: u(t) is row t and y(t)
 *   is row t + 1.
 * - Trained on inputs (T x I) and targets (T x O), y(t) is target t.
 * - With feedback (`reservoir.feedback`), targets are fed back as y(t) while it trains (teacher
 *   forcing), and its own outputs when it forecasts.
 *
 * The defaults are made for series as they come: z-scores (`standardise`), and if the
 * description leaves them out bias 0.5, inputScaling and feedback.scaling 0.2, and spectralRadius
 * 1. A description beside `matrices` is taken as it is.
 *
 * It has a state. `fit` leaves it at the end of the training data, and the rows after those can
 * follow; `predict` moves it on;
 * `forecast` and `score` put it back. Calls that are made while another is running wait for it, in
 * their order.
 *
 * @example
 * await using forecaster = await Forecaster.fit(series.subarray(0, 3000), { reservoir: { size: 300 } });
 * const next = await forecaster.forecast(84); // rows 3000 to 3083
 */
export class Forecaster implements AsyncDisposable {
  readonly settings: ForecasterSettings;
  readonly #options: Omit<ForecasterOptions, "readout">;
  #trainer: Trainer | undefined;
  #computer: AnyReservoirComputer | undefined;
  #member: ForecasterMember | undefined;
  readonly #turns = new Turns();

  private constructor(options: Omit<ForecasterOptions, "readout">, settings: ForecasterSettings, trainer?: Trainer) {
    this.#options = options;
    this.settings = settings;
    this.#trainer = trainer;
  }

  /**
   * Checks the options; the reservoir is made when it is trained. @throws ArgumentError, and what
   * the trainer of the readout throws
   */
  static async create(options: ForecasterOptions): Promise<Forecaster> {
    const { forecasterOptionsTable, parseForecasterSettings } = await import("./schemas.js");
    const { reservoir: described, matrices, engine, threads, profile, readout, ...rest } = resolve(forecasterOptionsTable, options);
    const reservoir = matrices ? described : forecasterReservoir(described);
    const trainer = forecasterTrainer(readout, rest.lags);
    const said = withClassTargets(withStandardise(rest, reservoir), trainer);
    const settings = parseForecasterSettings({ ...said, readout: descriptionOf(trainer) });
    return new Forecaster({ reservoir, matrices, engine, threads, profile }, settings, trainer);
  }

  /** Makes a forecaster and trains it. */
  static async fit(data: ForecasterData | ForecasterSequences, options: ForecasterOptions & WorkOptions): Promise<Forecaster> {
    const { signal, onProgress, ...rest } = options ?? {};
    const forecaster = await Forecaster.create(rest);
    try {
      return await forecaster.fit(data, { signal, onProgress });
    } catch (error) {
      await forecaster.dispose();
      throw error;
    }
  }

  /**
   * Trains the readout on one series or on several. Memory does not grow with the rows, except if
   * the trainer goes over them again: softmax, and ridge with "leaveOneOut", "dual" or "auto". The
   * state then stands at the end of the last series.
   * @throws ArgumentError for data or a reservoir that do not fit, and what the trainer of the
   * readout throws
   */
  async fit(data: ForecasterData | ForecasterSequences, work: WorkOptions = {}): Promise<this> {
    return this.#turns.take(() => this.#fit(data, work));
  }

  async #fit(data: ForecasterData | ForecasterSequences, work: WorkOptions): Promise<this> {
    resolve(workTable, work);
    const several = typeof data === "object" && data !== null && "sequences" in data;
    if (several) checkSequences(data.sequences, "sequences");
    const checked = several
      ? data.sequences.map((one, s) => checkedData(one, this.#feedback, `sequences[${s}]: `))
      : [checkedData(data, this.#feedback)];
    checkAlike(checked);
    const { inputs, targets } = cutRows(checked[0]!, this.#feedback);
    const computer = await this.#reservoirFor(inputs.cols, targets.cols);
    const { standardise, washout, hold, lags } = this.settings;
    this.#trainer ??= describedTrainer(this.settings.readout);
    const trainer = this.#trainer;
    this.#member = undefined;
    this.#member = await ForecasterMember.fit(computer, checked, { trainer, standardise, hold, washout, lags }, work);
    return this;
  }

  /** The reservoir. @throws NotFittedError */
  get computer(): AnyReservoirComputer {
    return this.#fitted().computer;
  }

  /** The readout; if targets are standardised it gives z-scores. @throws NotFittedError */
  get readout(): TrainedReadout {
    return this.#fitted().readout;
  }

  /**
   * One-step prediction: outputs (T x O, binary64) for inputs (T x I), each from the state after
   * its input; `{ steps }` if the reservoir has no inputs. With feedback, `teacher` is fed back;
   * without it, the forecaster's own outputs are. The state moves on.
   * @throws ArgumentError, NotFittedError
   */
  async predict(inputs: MatrixLike | { readonly steps: number }, options: PredictOptions = {}): Promise<Matrix<Float64Array>> {
    return this.#turns.take(() => this.#predict(inputs, options));
  }

  async #predict(inputs: MatrixLike | { readonly steps: number }, options: PredictOptions): Promise<Matrix<Float64Array>> {
    const { teacher: forced, known, warmup, signal, onProgress, precision } = resolve(predictTable, options);
    const member = this.#fitted();
    const { inputSize } = member.computer.model;
    const given =
      typeof inputs === "object" && inputs !== null && "steps" in inputs
        ? noInputs(checkWhole("steps", inputs.steps, 1))
        : checkedSeries(inputs, "inputs");
    checkColumns(given, "inputs", this.#feedback ? inputSize : inputSize - member.road.known);
    const teacher = this.#teacher(forced, given.rows);
    await this.#start({ warmup, signal });
    return member.predict(given, { known: known && checkedSeries(known, "known"), teacher, signal, onProgress, precision });
  }

  /**
   * Closed loop: `steps` outputs (steps x O, binary64), each fed back as the next input or through
   * the feedback weights. Row 0 follows the last row that the reservoir has seen. The state is put
   * back afterwards.
   * @throws ArgumentError, NotFittedError
   */
  async forecast(steps: number, options: ForecastOptions = {}): Promise<Matrix<Float64Array>> {
    return this.#turns.take(() => this.#forecast(steps, options));
  }

  async #forecast(steps: number, options: ForecastOptions): Promise<Matrix<Float64Array>> {
    const { inputs: others, known, warmup, signal, onProgress } = resolve(forecastTable, options);
    const member = this.#fitted();
    checkWhole("steps", steps, 1);
    const outside = this.#outside(member, others, known, steps);
    return this.#puttingBack(async () => {
      await this.#start({ warmup, signal });
      return member.forecast(steps, outside, { signal, onProgress });
    });
  }

  /** What comes from outside in a closed loop, one row a step. @throws ArgumentError */
  #outside({ computer, readout, road }: ForecasterMember, others: MatrixLike | undefined, known: MatrixLike | undefined, steps: number) {
    const { inputSize, outputSize } = computer.model;
    const first = outputSize > 0 ? 0 : readout.outputSize;
    if (first > inputSize) {
      throw ArgumentError.shape(
        `a closed loop without feedback takes the ${first} outputs as inputs; this reservoir has ${inputSize} (inputSize)`,
      );
    }
    const name = road.known > 0 ? "known" : "inputs";
    const [given, other] = road.known > 0 ? [known, others] : [others, known];
    if (other !== undefined)
      throw ArgumentError.because(
        road.known > 0
          ? "inputs was given; this forecaster takes known"
          : "known was given; this forecaster was trained without known inputs",
        { field: road.known > 0 ? "inputs" : "known" },
      );
    const outside = given && checkedSeries(given, name);
    if (!outside && inputSize > first) {
      throw ArgumentError.because(
        road.known > 0
          ? `known is missing; this forecaster takes ${road.known} known inputs for each of the ${steps} steps`
          : `inputs is missing; ${inputSize - first} of this reservoir's ${inputSize} inputs come from outside, one row a step`,
        { field: name },
      );
    }
    if (outside) {
      checkColumns(outside, name, inputSize - first);
      if (outside.rows !== steps)
        throw ArgumentError.shape(`${name} has ${outside.rows} rows; ${steps} steps take as many`, { field: name });
    }
    return outside;
  }

  /**
   * The score of one-step predictions on data of the kind it was trained on; if there is
   * feedback, the true outputs are fed back. The state is put back afterwards.
   * @throws ArgumentError, NotFittedError, and what the metric throws
   */
  async score(data: ForecasterData, options: ScoreOptions = {}): Promise<number> {
    return this.#turns.take(() => this.#score(data, options));
  }

  async #score(data: ForecasterData, options: ScoreOptions): Promise<number> {
    const { metric = nrmse, washout, ...start } = resolve(scoreTable, options);
    const { computer } = this.#fitted();
    const feedback = computer.model.outputSize > 0;
    const checked = checkedData(data, feedback);
    const known = feedback ? undefined : checked.series && checked.known;
    const { inputs, targets } = known ? { inputs: checked.series!, targets: checked.series! } : cutRows(checked, feedback);
    if (washout >= targets.rows)
      throw ArgumentError.shape(`washout is ${washout} and there are ${targets.rows} rows to score; it takes fewer`, {
        field: "washout",
        value: washout,
      });
    const teacher = feedback ? targets : undefined;
    const predicted = await this.#puttingBack(() => this.#predict(inputs, { ...start, known, teacher }));
    return metric(targets.subarray(washout), predicted.subarray(washout));
  }

  /** Columns of the inputs that are known beforehand; 0 if there are none. @throws NotFittedError */
  get known(): number {
    return this.#fitted().road.known;
  }

  /**
   * Where it stands in its series. Setting it goes back there; only a state of this forecaster, or
   * of the same one opened again, fits. @throws NotFittedError
   */
  get state(): ForecasterState {
    return this.#fitted().state;
  }

  /** Goes back to where it stood. */
  set state(state: ForecasterState) {
    if (!(state?.recent instanceof Matrix)) throw new ArgumentError("state", state, "one that a forecaster's `state` gave");
    this.#fitted().state = state;
  }

  /**
   * To the initial state, and from there over a series: as `warmup` does for one call, for all that
   * follow. @throws ArgumentError, NotFittedError
   */
  async warmUp(warmup: ForecasterPrefix, work: WorkOptions = {}): Promise<void> {
    const { signal } = resolve(workTable, work);
    return this.#turns.take(() => this.#start({ warmup, signal }));
  }

  /** Back to the reservoir's initial state. @throws NotFittedError */
  reset(): void {
    this.#fitted().reset();
  }

  /**
   * The model as the bytes of one safetensors file: weights, readout, settings, and the state it
   * stands at. @throws NotFittedError
   */
  async toBytes(): Promise<Uint8Array> {
    return this.#turns.take(async () => {
      const { computer, readout, road, lags, state } = this.#fitted();
      return encodeForecaster({ settings: this.settings, model: computer.model, readout, road, lags, state });
    });
  }

  /** Writes `toBytes()` to a file, whole or not at all (Node). @throws FileError, NotFittedError */
  async save(path: string): Promise<void> {
    await writeFileAtomic(path, await this.toBytes());
  }

  /** Opens what `toBytes` gave. @throws FileError with the reason if it cannot be used */
  static async fromBytes(bytes: Uint8Array, options: LoadOptions = {}): Promise<Forecaster> {
    const { source, engine, threads } = resolve(loadTable, options);
    const file = await decodeModelFile(bytes, source, "forecaster");
    const { settings, model, readout, road, lags, state } = await decodeForecaster(file, source);
    const forecaster = new Forecaster({ reservoir: model.config, engine, threads }, settings);
    const computer = await ReservoirComputer.fromModel(model, { engine, threads });
    forecaster.#computer = computer;
    forecaster.#member = new ForecasterMember(computer, { readout, road, lags, recent: state.recent });
    forecaster.#member.state = state;
    return forecaster;
  }

  /**
   * Opens a file that `save` wrote (Node). @throws FileError with the reason if it cannot be used
   */
  static async load(path: string, options: Omit<LoadOptions, "source"> = {}): Promise<Forecaster> {
    resolve(loadTable, options);
    return Forecaster.fromBytes(await readBytes(path), { ...options, source: path });
  }

  /** Gives memory and threads back. Idempotent. */
  async dispose(): Promise<void> {
    await this.#computer?.dispose();
  }

  /** Lets `await using` dispose of it. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  get #feedback(): boolean {
    const { reservoir, matrices } = this.#options;
    return (reservoir.feedback ?? null) !== null || matrices?.feedbackWeights !== undefined;
  }

  #fitted(): ForecasterMember {
    if (!this.#member) throw new NotFittedError("forecaster");
    return this.#member;
  }

  /** The reservoir that is there, or a new one if the data has another shape. */
  async #reservoirFor(inputs: number, outputs: number): Promise<AnyReservoirComputer> {
    const standing = this.#computer?.model;
    if (this.#computer && standing?.inputSize === inputs && (standing.outputSize === 0 || standing.outputSize === outputs)) {
      return this.#computer;
    }
    await this.#computer?.dispose();
    this.#member = undefined;
    const { reservoir, ...create } = this.#options;
    const { feedback } = reservoir;
    const config = {
      ...reservoir,
      inputSize: reservoir.inputSize ?? inputs,
      ...(feedback ? { feedback: { ...feedback, size: feedback.size ?? outputs } } : {}),
    } as AnyReservoirOptions;
    const computer = await ReservoirComputer.create(config, create);
    this.#computer = computer;
    const { model } = computer;
    if (model.inputSize !== inputs) {
      const advice = inputs === 0 ? "give { inputs, targets }, or set inputSize to 0" : "set inputSize to that, or leave it out";
      throw ArgumentError.shape(`the data has ${inputs} inputs and the reservoir takes ${model.inputSize} (inputSize); ${advice}`);
    }
    if (model.outputSize > 0 && model.outputSize !== outputs) {
      throw ArgumentError.shape(
        `the data has ${outputs} targets and the reservoir feeds back ${model.outputSize} (feedback.size); set it to that, or leave it out`,
      );
    }
    return computer;
  }

  /** Goes to the initial state and through the warm-up, if there is one. */
  async #start({ warmup, signal }: StartOptions): Promise<void> {
    if (warmup === undefined) return;
    const member = this.#fitted();
    await member.start(checkedPrefix(warmup, member.computer.model.outputSize > 0), signal);
  }

  #teacher(teacher: MatrixLike | undefined, rows: number): Matrix | undefined {
    if (teacher === undefined) return undefined;
    const { computer } = this.#fitted();
    if (computer.model.outputSize === 0)
      throw ArgumentError.because("teacher was given; this forecaster's reservoir has no feedback to force");
    const forced = checkedSeries(teacher, "teacher");
    checkColumns(forced, "teacher", computer.model.outputSize);
    if (forced.rows !== rows)
      throw ArgumentError.shape(`teacher has ${forced.rows} rows and inputs has ${rows}; they take the same number`, { field: "teacher" });
    return forced;
  }

  async #puttingBack<T>(work: () => Promise<T>): Promise<T> {
    const member = this.#fitted();
    const { state } = member;
    try {
      return await work();
    } finally {
      member.state = state;
    }
  }
}
