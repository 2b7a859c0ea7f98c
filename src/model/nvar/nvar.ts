// NvarForecaster: polynomials of delays behind the same fit and forecast as a Forecaster. Its
// training stands in training.ts, its features in features.ts.

import { checkWhole } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import { readBytes } from "@spillway/io/files.js";
import type { Matrix } from "@spillway/numerics";
import type { TrainedReadout } from "../../readout/index.js";
import type { TimeGrid } from "../../series/index.js";
import { NotFittedError } from "../errors.js";
import { bandsAround, checkIntervals } from "../forecaster/bands.js";
import type { Bound } from "../forecaster/bounds.js";
import type { ForecasterChoice } from "../forecaster/choice.js";
import { Clock } from "../forecaster/clock.js";
import {
  type CheckedSeries,
  checkColumns,
  checkTargets,
  type ForecasterData,
  givenColumns,
  selected,
  withTimes,
} from "../forecaster/data.js";
import type { Forecast } from "../forecaster/forecast.js";
import { checkKnown } from "../forecaster/known.js";
import { checkChoose } from "../forecaster/lambda-choice.js";
import { checkFilled } from "../forecaster/missing.js";
import type { TimesOption } from "../forecaster/options.js";
import { scoredRows, scorerOf } from "../forecaster/score.js";
import { SeriesForecaster } from "../forecaster/series-forecaster.js";
import { decodeModelFile, type LoadOptions, loadTable } from "../model-file.js";
import { checkTableNames } from "../table-names.js";
import { type GivenSeries, givenSequences, givenSeries, type NvarLast, nvarKnown, nvarSeries } from "./data.js";
import { NvarFeatures } from "./features.js";
import { decodeNvar, encodeNvar } from "./file.js";
import { fitNvar, nvarLoop, nvarPredictions, solverOn } from "./fit.js";
import {
  type NvarData,
  type NvarDescribed,
  type NvarFitOptions,
  type NvarForecastOptions,
  type NvarOptions,
  type NvarPredictOptions,
  type NvarScoreOptions,
  type NvarSequences,
  type NvarSettings,
  type NvarValues,
  nvarFitTable,
  nvarForecastTable,
  nvarPredictTable,
  nvarScoreTable,
  nvarTable,
} from "./options.js";
import { copyRows, scaledNumbers } from "./step.js";
import type { NvarFit } from "./training.js";

/** Where an NvarForecaster stands: the last rows that it has seen, in z-scores. */
export interface NvarState {
  readonly high: Float64Array;
  /** What binary64 leaves of them, in double-double. */
  readonly low?: Float64Array | undefined;
  /** The time of the last of them; undefined if it is not known. */
  readonly time?: TimeGrid | undefined;
  /** The last row, by which missing values of those to come are held. */
  readonly last?: NvarLast | undefined;
}

/**
 * Nonlinear vector autoregression (NG-RC): y(t + 1) = y(t) + W [1, y(t), y(t - s), ..., y(t - (k -
 * 1) s), k(t + 1), the monomials of all], with k what is known beforehand, fitted by Householder
 * reflections, without a reservoir (Gauthier, Bollt, Griffith and Barbosa 2021, "Next generation
 * reservoir computing", Nature Communications 12; Bollt 2021, Chaos 31). The same `fit` and
 * `forecast` as a {@link Forecaster}; a class of its own, since none of a reservoir's options mean
 * anything to it.
 *
 * It predicts systems whose law is a polynomial, sampled often and without noise, better than any
 * reservoir, and other data worse: noise enters every monomial.
 *
 * Its state is the last rows that it has seen. `fit` leaves it at the end of the (last) training
 * series; `predict` moves it on; `forecast` and `score` put it back. It runs on the host, but for
 * what `fit` may solve on a device, with the same bits everywhere. Calls that are made while
 * another is running wait for it.
 *
 * @example
 * const model = await NvarForecaster.fit(series.subarray(0, 2000), { delays: 1, degrees: [2, 3, 4]
 * }); const next = await model.forecast(500); // rows 2000 to 2499
 */
export class NvarForecaster extends SeriesForecaster<NvarSettings, NvarState, NvarData, GivenSeries, NvarLast> {
  #fit: NvarFit | undefined;
  #choice: ForecasterChoice | undefined;

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
  static async fit(data: NvarData | NvarSequences, options: NvarOptions & TimesOption & NvarFitOptions = {}): Promise<NvarForecaster> {
    const { signal, onProgress, engine, times, ...rest } = options ?? {};
    const timed = times === undefined ? data : (withTimes(data as ForecasterData, times) as NvarDescribed);
    return (await NvarForecaster.create(rest)).fit(timed, { signal, onProgress, engine });
  }

  /**
   * Trains on one series or on several. Memory does not grow with the rows in binary64; in
   * double-double all rows of features are kept.
   * @throws ArgumentError for data that does not fit or too few rows, SingularFitError if the rows
   * do not determine the weights, WorkInterruptedError
   */
  async fit(data: NvarData | NvarSequences, options: NvarFitOptions = {}): Promise<this> {
    return this.turns.take(async () => {
      const { engine, ...work } = resolve(nvarFitTable, options);
      const { settings } = this;
      const solve = await solverOn(engine, settings);
      const given = givenSequences(data, settings);
      checkTargets(settings.targets, given[0]!.checked);
      checkTableNames(settings.table, givenColumns(given[0]!.checked, "error"));
      const clock = new Clock(settings.calendar);
      const timed = clock.train(given.map(({ checked }) => checked)) as readonly CheckedSeries[];
      const series = given.map((one, s) => nvarSeries(one, timed[s]!, settings));
      const features = new NvarFeatures(settings, series[0]!.cols, timed[0]!.known?.cols);
      series.forEach(({ rows }, s) => {
        if (rows <= features.history)
          throw ArgumentError.shape(
            `${series.length > 1 ? `sequences[${s}]` : "series"} has ${rows} rows; ${settings.delays} delays with stride ${settings.stride} ` +
              `reach over ${features.history} and take at least one more`,
          );
      });
      const masks = given.map(({ mask }) => mask);
      const { fit, choice } = await fitNvar(settings, series, masks, solve, work);
      this.#fit = fit;
      this.#choice = choice;
      this.clock = clock;
      this.last = given.at(-1)!.last;
      this.counts = given[0]!.counts.map((_, c) => given.reduce((sum, { counts }) => sum + counts[c]!, 0));
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

  /**
   * Columns of the inputs that are known beforehand and have to be given: it makes the calendar
   * itself. 0 if there are none. @throws NotFittedError
   */
  get known(): number {
    return this.#fitted().features.known - this.clock.columns;
  }

  override get bounds(): readonly Bound[] {
    return this.#fitted().bounds ?? [];
  }

  override get choice(): ForecasterChoice | undefined {
    return this.#choice;
  }

  /** D, the columns of its series. @throws NotFittedError */
  get columns(): number {
    return this.#fitted().features.columns;
  }

  /** Where it stands in its series. @throws NotFittedError */
  override get state(): NvarState {
    return { ...this.#fitted().history, time: this.clock.now, last: this.last };
  }

  /** Goes back to where it stood. */
  override set state(state: NvarState) {
    const fit = this.#fitted();
    if (state?.high?.length !== fit.history.high.length) throw new ArgumentError("state", state, "one that this forecaster's `state` gave");
    const { time, last, ...history } = state;
    this.#fit = { ...fit, history };
    this.clock.now = time;
    this.last = last ?? {};
  }

  /**
   * One-step prediction: row i (T x D, binary64) is the row that follows row i of the series (T x
   * D); with known inputs or the calendar it is row i itself, made from the rows before it, as in
   * `Forecaster`. The state moves on. @throws ArgumentError, NotFittedError
   */
  async predict(series: NvarValues, options: NvarPredictOptions = {}): Promise<Matrix<Float64Array>> {
    return this.turns.take(async () => {
      const { warmup, known, ...work } = resolve(nvarPredictTable, options);
      const fit = this.#fitted();
      const prefix = this.prefix(warmup);
      const given = givenSeries({ series }, "", this.settings, prefix?.last ?? this.last);
      const { rows } = given.checked.series;
      checkColumns(given.checked.series, "series", this.columns);
      checkFilled(given, "series");
      return this.backOnFailure(async () => {
        this.start(prefix);
        const beforehand = this.clock.known(rows, known, fit.features.known);
        const { predicted, history } = await nvarPredictions(
          this.settings,
          this.#fitted(),
          nvarSeries(given, { ...given.checked, known: beforehand }, this.settings),
          work,
        );
        this.#fit = { ...fit, history };
        this.last = given.last;
        this.clock.advance(rows);
        return selected(predicted, this.settings.targets);
      });
    });
  }

  /**
   * Closed loop: `steps` rows (steps x D, binary64), each predicted from those before. Row 0
   * follows the last row that was seen. If that row's time stamp is known, the forecast has
   * `times`.
   * @throws ArgumentError, NotFittedError
   */
  async forecast(steps: number, options: NvarForecastOptions = {}): Promise<Forecast> {
    return this.turns.take(async () => {
      const { warmup, known, intervals, ...work } = resolve(nvarForecastTable, options);
      const fit = this.#fitted();
      checkWhole("steps", steps, 1);
      const choice = this.#choice;
      checkIntervals({ choice, members: [this] }, steps, { intervals, bandsFrom: "errors" });
      return this.puttingBack(async () => {
        this.start(this.prefix(warmup));
        const beforehand = this.clock.known(steps, known, fit.features.known);
        const ahead = beforehand && nvarKnown(beforehand, this.#doubleDouble);
        const values = await nvarLoop(this.settings, fit, { from: this.#fitted().history, ahead, steps }, work);
        const bands = choice && intervals.length > 0 ? bandsAround(values, choice, [{ steps: [], lost: 0 }], intervals) : undefined;
        return this.handedOut(values, bands);
      });
    });
  }

  /**
   * The score of one-step predictions of rows 1 to T - 1 of a series, or of all its rows if
   * something of them is known beforehand. Rows of which a value was filled do not count. The state
   * is put back afterwards. @throws ArgumentError, NotFittedError, and what the metric throws
   */
  async score(data: NvarData, options: NvarScoreOptions = {}): Promise<number> {
    return this.turns.take(async () => {
      const { metric, warmup, ...work } = resolve(nvarScoreTable, options);
      const prefix = this.prefix(warmup);
      const given = givenSeries(data, "", this.settings, prefix?.last ?? this.last);
      const { series } = given.checked;
      checkColumns(series, "series", this.columns);
      checkFilled(given, "series");
      if (series.rows < 2) throw ArgumentError.shape(`series has ${series.rows} row; a score takes at least two`);
      const { target, filled } = scoredRows({ series }, given.mask, this.#fitted().features.known > 0);
      const { targets } = this.settings;
      const score = scorerOf({ target: selected(target, targets), filled: selected(filled, targets), washout: 0, metric });
      return this.puttingBack(async () => {
        this.start(prefix);
        const { known } = this.clock.rows(given.checked) as CheckedSeries;
        checkKnown(known, this.#fitted().features.known, "known");
        const { predicted } = await nvarPredictions(
          this.settings,
          this.#fitted(),
          nvarSeries(given, { series, known }, this.settings),
          work,
        );
        return score(selected(predicted.subarray(0, target.rows), targets));
      });
    });
  }

  /**
   * The model as the bytes of one safetensors file: settings, weights, and the rows it goes on
   * from. @throws NotFittedError
   */
  override async toBytes(): Promise<Uint8Array> {
    return this.turns.take(async () =>
      encodeNvar({ settings: this.settings, fit: this.#fitted(), choice: this.#choice, time: this.clock.note, last: this.last }),
    );
  }

  /**
   * Opens what `toBytes` gave; it runs on the host, whatever `engine` says. @throws FileError with
   * the reason if it cannot be used
   */
  static async fromBytes(bytes: Uint8Array, options: LoadOptions = {}): Promise<NvarForecaster> {
    const { source } = resolve(loadTable, options);
    const { settings, fit, choice, time, last } = await decodeNvar(await decodeModelFile(bytes, source, "nvar"), source);
    const forecaster = new NvarForecaster(settings, time);
    forecaster.#fit = fit;
    forecaster.#choice = choice;
    forecaster.last = last;
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
  override async dispose(): Promise<void> {}

  get #doubleDouble(): boolean {
    return this.settings.arithmetic === "doubleDouble";
  }

  #fitted(): NvarFit {
    if (!this.#fit) throw new NotFittedError("forecaster");
    return this.#fit;
  }

  protected override prefixOf(warmup: NvarData): GivenSeries {
    return givenSeries(warmup, "warmup.", this.settings, {});
  }

  protected override start(given: GivenSeries | undefined): void {
    if (!given) return;
    const { features, scale, ...fit } = this.#fitted();
    const { series } = given.checked;
    checkColumns(series, "warmup", features.columns);
    const usable = series.rows - given.unfilled;
    if (usable < features.history)
      throw ArgumentError.shape(
        `warmup has ${usable} rows${given.unfilled > 0 ? " without a missing value that nothing before it can hold" : ""}; the delays of this forecaster reach over ${features.history}`,
        {
          field: "warmup",
        },
      );
    const timed = this.clock.warmUp(given.checked) as CheckedSeries;
    checkKnown(timed.known, features.known, "warmup.known");
    const { values, rows } = nvarSeries(given, timed, this.settings);
    this.#fit = { ...fit, features, scale, history: scaledNumbers(scale, copyRows(values, features, rows)) };
    this.last = given.last;
  }
}
