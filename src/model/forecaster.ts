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
import { decodeForecaster, encodeForecaster } from "./forecaster-file.js";
import {
  checkColumns,
  checkedSeries,
  type ForecasterData,
  type ForecasterOptions,
  type ForecasterSequences,
  type ForecasterSettings,
  type ForecastOptions,
  noInputs,
  type PredictOptions,
  forecastTable,
  predictTable,
  prefixRows,
  scoreTable,
  type ScoreOptions,
  type StartOptions,
  sameShape,
  trainingRows,
} from "./forecaster-options.js";
import { roundedInputs, trainReadout } from "./forecaster-training.js";
import { decodeModelFile, type LoadOptions, loadTable } from "./model-file.js";
import {
  columnsOf,
  fitStandardisation,
  inScoresOf,
  noStandardisation,
  restored,
  type Standardisation,
  sameStandardisation,
  standardised,
} from "./standardisation.js";

/** What training gives. */
interface Fitted {
  readonly computer: AnyReservoirComputer;
  readonly readout: TrainedReadout;
  readonly inputScale: Standardisation;
  readonly targetScale: Standardisation;
}

/** Rows predicted at a time. */
const chunk = 1024;

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
  #trained: Omit<Fitted, "computer"> | undefined;
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
    const trainer = forecasterTrainer(readout);
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
    const rows = several
      ? data.sequences.map((one, s) => trainingRows(one, this.#feedback, `sequences[${s}]: `))
      : [trainingRows(data, this.#feedback)];
    const { inputs, targets } = sameShape(rows);
    const computer = await this.#reservoirFor(inputs.cols, targets.cols);
    const { standardise, washout } = this.settings;
    this.#trainer ??= describedTrainer(this.settings.readout);
    const inputScale =
      standardise === true || standardise === "inputs"
        ? fitStandardisation(rows.map((one) => one.series ?? one.inputs))
        : noStandardisation(inputs.cols);
    const targetScale =
      standardise === true || standardise === "targets"
        ? fitStandardisation(rows.map((one) => one.series ?? one.targets))
        : noStandardisation(targets.cols);
    const series = rows.map((one) => ({
      inputs: standardised(inputScale, one.inputs),
      targets: standardised(targetScale, one.targets),
    }));
    const readout = await trainReadout(computer, this.#trainer, series, washout, work);
    const last = rows.at(-1)?.last;
    if (last) await computer.run(standardised(inputScale, last));
    this.#trained = { readout, inputScale, targetScale };
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
    const { teacher: forced, warmup, signal, onProgress, precision } = resolve(predictTable, options);
    const { computer, readout, inputScale, targetScale } = this.#fitted();
    const given =
      typeof inputs === "object" && inputs !== null && "steps" in inputs
        ? noInputs(checkWhole("steps", inputs.steps, 1))
        : checkedSeries(inputs, "inputs");
    checkColumns(given, "inputs", computer.model.inputSize);
    const teacher = this.#teacher(forced, given.rows);
    await this.#start({ warmup, signal });
    const u = standardised(inputScale, given);
    if (computer.model.outputSize > 0 && !teacher) {
      return restored(targetScale, await computer.generate(u.rows, readout, { signal, onProgress, inputs: u }));
    }
    const out = Matrix.zeros(u.rows, readout.outputSize);
    for (let from = 0; from < u.rows; from += chunk) {
      const rows = u.subarray(from, from + chunk);
      const states = await computer.run(rows, { signal, teacher: teacher?.subarray(from, from + chunk) });
      out.data.set(readout.predict(states, roundedInputs(computer, rows), { precision }).data, from * out.cols);
      onProgress?.(from + rows.rows, u.rows);
    }
    return restored(targetScale, out);
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
    const { inputs: fromOutside, warmup, signal, onProgress } = resolve(forecastTable, options);
    const { computer, readout, inputScale, targetScale } = this.#fitted();
    const { inputSize, outputSize } = computer.model;
    const first = outputSize > 0 ? 0 : readout.outputSize;
    if (first > inputSize) {
      throw ArgumentError.shape(
        `a closed loop without feedback takes the ${first} outputs as inputs; this reservoir has ${inputSize} (inputSize)`,
      );
    }
    const outside = fromOutside && checkedSeries(fromOutside, "inputs");
    if (!outside && inputSize > first) {
      throw ArgumentError.because(
        `inputs is missing; ${inputSize - first} of this reservoir's ${inputSize} inputs come from outside, one row a step`,
        { field: "inputs" },
      );
    }
    if (outside) checkColumns(outside, "inputs", inputSize - first);
    const inputs = outside && standardised(columnsOf(inputScale, first, inputSize), outside);
    const scale = outputSize > 0 ? targetScale : columnsOf(inputScale, 0, first);
    const loop = sameStandardisation(scale, targetScale) ? readout : inScoresOf(readout, targetScale, scale);
    return this.#puttingBack(async () => {
      await this.#start({ warmup, signal });
      return restored(scale, await computer.generate(steps, loop, { signal, onProgress, inputs }));
    });
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
    const { inputs, targets } = trainingRows(data, this.#feedback);
    if (washout >= targets.rows)
      throw ArgumentError.shape(`washout is ${washout} and there are ${targets.rows} rows to score; it takes fewer`, {
        field: "washout",
        value: washout,
      });
    const teacher = computer.model.outputSize > 0 ? targets : undefined;
    const predicted = await this.#puttingBack(() => this.#predict(inputs, { ...start, teacher }));
    return metric(targets.subarray(washout), predicted.subarray(washout));
  }

  /** Back to the reservoir's initial state. @throws NotFittedError */
  reset(): void {
    this.#fitted().computer.reset();
  }

  /**
   * The model as the bytes of one safetensors file: weights, readout, settings, and the state it
   * stands at. @throws NotFittedError
   */
  async toBytes(): Promise<Uint8Array> {
    return this.#turns.take(async () => {
      const { computer, ...rest } = this.#fitted();
      return encodeForecaster({ settings: this.settings, model: computer.model, state: computer.state, ...rest });
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
    const { settings, model, state, ...trained } = await decodeForecaster(file, source);
    const forecaster = new Forecaster({ reservoir: model.config, engine, threads }, settings);
    const computer = await ReservoirComputer.fromModel(model, { engine, threads });
    computer.state = state;
    forecaster.#computer = computer;
    forecaster.#trained = trained;
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

  #fitted(): Fitted {
    if (!this.#computer || !this.#trained) throw new NotFittedError("forecaster");
    return { computer: this.#computer, ...this.#trained };
  }

  /** The reservoir that is there, or a new one if the data has another shape. */
  async #reservoirFor(inputs: number, outputs: number): Promise<AnyReservoirComputer> {
    const standing = this.#computer?.model;
    if (this.#computer && standing?.inputSize === inputs && (standing.outputSize === 0 || standing.outputSize === outputs)) {
      return this.#computer;
    }
    await this.#computer?.dispose();
    this.#trained = undefined;
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
    const { computer, inputScale, targetScale } = this.#fitted();
    const { inputs, teacher } = prefixRows(warmup, computer.model.outputSize > 0);
    checkColumns(inputs, "warmup.inputs", computer.model.inputSize);
    if (teacher) checkColumns(teacher, "warmup.targets", computer.model.outputSize);
    const y = teacher && standardised(targetScale, teacher);
    computer.reset();
    await computer.run(standardised(inputScale, inputs), { signal, every: inputs.rows, teacher: y });
  }

  #teacher(teacher: MatrixLike | undefined, rows: number): Matrix | undefined {
    if (teacher === undefined) return undefined;
    const { computer, targetScale } = this.#fitted();
    if (computer.model.outputSize === 0)
      throw ArgumentError.because("teacher was given; this forecaster's reservoir has no feedback to force");
    const forced = checkedSeries(teacher, "teacher");
    checkColumns(forced, "teacher", computer.model.outputSize);
    if (forced.rows !== rows)
      throw ArgumentError.shape(`teacher has ${forced.rows} rows and inputs has ${rows}; they take the same number`, { field: "teacher" });
    return standardised(targetScale, forced);
  }

  async #puttingBack<T>(work: () => Promise<T>): Promise<T> {
    const { computer } = this.#fitted();
    const { state } = computer;
    try {
      return await work();
    } finally {
      computer.state = state;
    }
  }
}
