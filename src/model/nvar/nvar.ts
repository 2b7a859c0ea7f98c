// NvarForecaster: polynomials of delays behind the same fit and forecast as a Forecaster. Its
// training stands in nvar-training.ts, its features in nvar-features.ts.
import { ArgumentError } from "../../core/errors.js";
import { resolve } from "../../core/options.js";
import { writeFileAtomic } from "../../io/atomic.js";
import { readBytes } from "../../io/files.js";
import { nrmse } from "../../metrics/index.js";
import { Matrix } from "../../numerics/index.js";
import type { TrainedReadout } from "../../readout/index.js";
import type { WorkOptions } from "../../reservoir/index.js";
import { checkWhole } from "../../reservoir/inputs.js";
import { Turns, WorkPacer, workTable } from "../../reservoir/work.js";
import { NotFittedError } from "../errors.js";
import { bandsAround, checkIntervals } from "../forecaster/bands.js";
import type { ForecasterChoice } from "../forecaster/choice.js";
import { Forecast } from "../forecaster/forecast.js";
import { checkChoose } from "../forecaster/lambda-choice.js";
import { decodeModelFile, type LoadOptions, loadTable } from "../model-file.js";
import { checkTableNames } from "../table-names.js";
import { type Numbers, NvarFeatures, type Numbers as NvarState, numbers } from "./features.js";
import { decodeNvar, encodeNvar } from "./file.js";
import { fitNvar, nvarLoop } from "./fit.js";
import {
  type NvarData,
  type NvarForecastOptions,
  type NvarOptions,
  type NvarScoreOptions,
  type NvarSequences,
  type NvarSeries,
  type NvarSettings,
  type NvarStartOptions,
  nvarForecastTable,
  nvarScoreTable,
  nvarSequences,
  nvarSeries,
  nvarStartTable,
  nvarTable,
} from "./options.js";
import { copyRows, NvarStep, restoredNumbers, scaledNumbers } from "./step.js";
import type { NvarFit } from "./training.js";

/**
 * Nonlinear vector autoregression (NG-RC): y(t + 1) = y(t) + W [1, y(t), y(t - s), ..., y(t - (k -
 * 1) s), their monomials], fitted by Householder reflections, without a reservoir (Gauthier, Bollt,
 * Griffith and Barbosa 2021, "Next generation reservoir computing", Nature Communications 12;
 * Bollt 2021, Chaos 31). The same `fit` and `forecast` as a {@link Forecaster}; a class of its own,
 * since none of a reservoir's options mean anything to it.
 *
 * It predicts systems whose law is a polynomial, sampled often and without noise, better than any
 * reservoir, and other data worse: noise enters every monomial.
 *
 * Its state is the last rows that it has seen. `fit` leaves it at the end of the (last) training
 * series; `predict` moves it on; `forecast` and `score` put it back. It runs on the host, with the
 * same bits everywhere. Calls that are made while another is running wait for it.
 *
 * @example
 * const model = await NvarForecaster.fit(series.subarray(0, 2000), { delays: 1, degrees: [2, 3, 4] });
 * const next = await model.forecast(500); // rows 2000 to 2499
 */
export class NvarForecaster implements AsyncDisposable {
  readonly settings: NvarSettings;
  #fit: NvarFit | undefined;
  #choice: ForecasterChoice | undefined;
  readonly #turns = new Turns();

  private constructor(settings: NvarSettings) {
    this.settings = settings;
  }

  /** Checks the options. @throws ArgumentError */
  static async create(options: NvarOptions = {}): Promise<NvarForecaster> {
    const settings = resolve(nvarTable, options);
    const { horizon, choose, lambda } = settings;
    checkChoose(settings);
    // A lambda that is said is the only one that is tried.
    if (horizon === undefined || choose?.lambdas || options.lambda === undefined) return new NvarForecaster(settings);
    return new NvarForecaster({ ...settings, choose: { ...choose, lambdas: [lambda] } });
  }

  /** Makes a forecaster and trains it. */
  static async fit(data: NvarData | NvarSequences, options: NvarOptions & WorkOptions = {}): Promise<NvarForecaster> {
    const { signal, onProgress, ...rest } = options ?? {};
    return (await NvarForecaster.create(rest)).fit(data, { signal, onProgress });
  }

  /**
   * Trains on one series or on several. Memory does not grow with the rows in binary64; in
   * double-double all rows of features are kept.
   * @throws ArgumentError for data that does not fit or too few rows, SingularFitError if the rows
   * do not determine the weights, WorkInterruptedError
   */
  async fit(data: NvarData | NvarSequences, work: WorkOptions = {}): Promise<this> {
    return this.#turns.take(async () => {
      resolve(workTable, work);
      const { settings } = this;
      const series = nvarSequences(data, this.#doubleDouble);
      checkTableNames(settings.table, { columns: series[0]!.cols, known: 0, inputs: 0 });
      const features = new NvarFeatures(settings, series[0]!.cols);
      series.forEach(({ rows }, s) => {
        if (rows <= features.history)
          throw ArgumentError.shape(
            `${series.length > 1 ? `sequences[${s}]` : "series"} has ${rows} rows; ${settings.delays} delays with stride ${settings.stride} ` +
              `reach over ${features.history} and take at least one more`,
          );
      });
      const { fit, choice } = await fitNvar(settings, series, work);
      this.#fit = fit;
      this.#choice = choice;
      return this;
    });
  }

  /**
   * The readout: O x F weights of the features in binary64, and the constant. @throws
   * NotFittedError
   */
  get readout(): TrainedReadout {
    return this.#fitted().readout;
  }

  /** F, the constant not counted. @throws NotFittedError */
  get featureCount(): number {
    return this.#fitted().features.count;
  }

  /** How lambda was chosen by a horizon, and by which forecasts; undefined without one. */
  get choice(): ForecasterChoice | undefined {
    return this.#choice;
  }

  /** D, the columns of its series. @throws NotFittedError */
  get columns(): number {
    return this.#fitted().features.columns;
  }

  /** The last rows that it has seen, in z-scores. @throws NotFittedError */
  get state(): NvarState {
    return this.#fitted().history;
  }

  /** Goes back to where it stood. */
  set state(state: NvarState) {
    const fit = this.#fitted();
    if (state?.high?.length !== fit.history.high.length) throw new ArgumentError("state", state, "one that this forecaster's `state` gave");
    this.#fit = { ...fit, history: state };
  }

  /** Goes on from a series, for all calls that follow. @throws ArgumentError, NotFittedError */
  async warmUp(warmup: NvarData): Promise<void> {
    return this.#turns.take(async () => {
      this.#fit = { ...this.#fitted(), history: this.#start(warmup) };
    });
  }

  /**
   * One-step prediction: row i (T x D, binary64) is the row that follows row i of the series (T x
   * D). The state moves on. @throws ArgumentError, NotFittedError
   */
  async predict(series: NvarData, options: NvarStartOptions = {}): Promise<Matrix<Float64Array>> {
    return this.#turns.take(async () => {
      const { warmup, ...work } = resolve(nvarStartTable, options);
      const fit = this.#fitted();
      const { predicted, history } = await this.#oneStep(this.#series(series, "series"), this.#start(warmup), work);
      this.#fit = { ...fit, history };
      return predicted;
    });
  }

  /**
   * Closed loop: `steps` rows (steps x D, binary64), each predicted from those before. Row 0
   * follows the last row that was seen. @throws ArgumentError, NotFittedError
   */
  async forecast(steps: number, options: NvarForecastOptions = {}): Promise<Forecast> {
    return this.#turns.take(async () => {
      const { warmup, intervals, ...work } = resolve(nvarForecastTable, options);
      const fit = this.#fitted();
      checkWhole("steps", steps, 1);
      const choice = this.#choice;
      checkIntervals({ choice, members: [this] }, steps, { intervals, bandsFrom: "errors" });
      const values = await nvarLoop(this.settings, fit, this.#start(warmup), steps, work);
      const bands = choice && intervals.length > 0 ? bandsAround(values, choice, [{ steps: [], lost: 0 }], intervals) : undefined;
      return new Forecast(values, undefined, bands);
    });
  }

  /**
   * The score of one-step predictions of rows 1 to T - 1 of a series. The state is put back
   * afterwards. @throws ArgumentError, NotFittedError, and what the metric throws
   */
  async score(data: NvarData, options: NvarScoreOptions = {}): Promise<number> {
    return this.#turns.take(async () => {
      const { metric = nrmse, warmup, ...work } = resolve(nvarScoreTable, options);
      const series = this.#series(data, "series");
      if (series.rows < 2) throw ArgumentError.shape(`series has ${series.rows} row; a score takes at least two`);
      const rows = new Matrix(series.rows, series.cols, series.values.high);
      const { predicted } = await this.#oneStep(series, this.#start(warmup), work);
      return metric(rows.subarray(1), predicted.subarray(0, -1));
    });
  }

  /**
   * The model as the bytes of one safetensors file: settings, weights, and the rows it goes on
   * from. @throws NotFittedError
   */
  async toBytes(): Promise<Uint8Array> {
    return this.#turns.take(async () => encodeNvar(this.settings, this.#fitted(), this.#choice));
  }

  /** Writes `toBytes()` to a file, whole or not at all (Node). @throws FileError, NotFittedError */
  async save(path: string): Promise<void> {
    await writeFileAtomic(path, await this.toBytes());
  }

  /**
   * Opens what `toBytes` gave; it runs on the host, whatever `engine` says. @throws FileError with
   * the reason if it cannot be used
   */
  static async fromBytes(bytes: Uint8Array, options: LoadOptions = {}): Promise<NvarForecaster> {
    const { source } = resolve(loadTable, options);
    const { settings, fit, choice } = await decodeNvar(await decodeModelFile(bytes, source, "nvar"), source);
    const forecaster = new NvarForecaster(settings);
    forecaster.#fit = fit;
    forecaster.#choice = choice;
    return forecaster;
  }

  /**
   * Opens a file that `save` wrote (Node). @throws FileError with the reason if it cannot be used
   */
  static async load(path: string, options: Omit<LoadOptions, "source"> = {}): Promise<NvarForecaster> {
    resolve(loadTable, options);
    return NvarForecaster.fromBytes(await readBytes(path), { ...options, source: path });
  }

  /** There is nothing to give back; it is here so that every model has it. */
  async dispose(): Promise<void> {}

  /** Lets `await using` dispose of it. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  get #doubleDouble(): boolean {
    return this.settings.arithmetic === "doubleDouble";
  }

  #fitted(): NvarFit {
    if (!this.#fit) throw new NotFittedError("forecaster");
    return this.#fit;
  }

  #series(data: NvarData, name: string): NvarSeries {
    const { features } = this.#fitted();
    const series = nvarSeries(data, name, this.#doubleDouble);
    if (series.cols !== features.columns)
      throw ArgumentError.shape(`${name} has ${series.cols} columns; this forecaster takes ${features.columns}`, { field: name });
    return series;
  }

  /** The rows to go on from: those of the warm-up, or those that are there. */
  #start(warmup: NvarData | undefined): Numbers {
    const { features, scale, history } = this.#fitted();
    if (warmup === undefined) return history;
    const { rows, values } = this.#series(warmup, "warmup");
    if (rows < features.history)
      throw ArgumentError.shape(`warmup has ${rows} rows; the delays of this forecaster reach over ${features.history}`, {
        field: "warmup",
      });
    return scaledNumbers(scale, copyRows(values, features, rows));
  }

  async #oneStep({ rows, cols, values }: NvarSeries, start: Numbers, work: WorkOptions) {
    const fit = this.#fitted();
    const { features, scale } = fit;
    const all = numbers((features.history + rows) * cols, this.#doubleDouble);
    const scaled = scaledNumbers(scale, values);
    for (const part of ["high", "low"] as const) {
      all[part]?.set(start[part]!);
      all[part]?.set(scaled[part]!, features.history * cols);
    }
    const step = new NvarStep(this.settings, fit);
    const predicted = Matrix.zeros(rows, cols);
    const next = numbers(cols, this.#doubleDouble);
    const pacer = new WorkPacer(work, rows);
    for (let t = 0; t < rows; t++) {
      step.next(all, features.history + t, next);
      predicted.data.set(restoredNumbers(scale, next), t * cols);
      if (pacer.due()) await pacer.pause(t + 1);
    }
    pacer.finish();
    return { predicted, history: copyRows(all, features, features.history + rows) };
  }
}
