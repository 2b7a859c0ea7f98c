// One trained reservoir of a Forecaster: its readout, its preprocessing, and its position in the
// series. Data comes checked. training.ts trains readouts.
import { ArgumentError } from "@spillway/core/errors.js";
import { Matrix } from "@spillway/numerics";
import type { TrainedReadout, Trainer } from "../../readout/index.js";
import { type AnyReservoirComputer, NonFiniteStateError, type SessionState, type WorkOptions } from "../../reservoir/index.js";
import { readoutFor } from "../integer-readout.js";
import { columnsOf, inScoresOf, restored, type Standardisation, sameStandardisation, standardised } from "../standardisation.js";
import { beside, type CheckedData, type CheckedSeries, checkColumns, lastRows, noInputs, seriesInputs } from "./data.js";
import type { AutonomousLoop } from "./exponents.js";
import { SeriesHistory } from "./history.js";
import { checkHybrid, type Hybrid, LoopModel, modelledRows, withModel } from "./hybrid.js";
import { checkKnown } from "./known.js";
import { closedLoop, isWithin } from "./loop.js";
import { type Drive, type ForecastMember, oneReadout, type PredictedRows, type ReadoutVariants } from "./model.js";
import {
  fitPreprocessing,
  inScores,
  type Preprocessing,
  type PreprocessingSettings,
  preprocessed,
  withTransforms,
} from "./preprocessing.js";
import { givenInputs, type ReadoutFeatures, readoutFeatureRows, readoutFeaturesOf } from "./readout-features.js";
import { roundedInputs, trainReadout } from "./training.js";

/** The position of a member in its series. */
export interface MemberState {
  readonly reservoir: SessionState;
  /** The last rows of the series, oldest first, in the units of the data, as many as it needs. */
  readonly recent: Matrix;
}

/** What a member is made of. */
export interface MemberParts {
  readonly readout: TrainedReadout;
  readonly preprocessing: Preprocessing;
  /** Rows of the series that the readout sees beside the state. */
  readonly lags: number;
  readonly recent: Matrix;
  readonly hybrid: Hybrid | undefined;
}

/** How a member is trained. */
export interface MemberTraining extends PreprocessingSettings {
  readonly trainer: Trainer;
  readonly washout: number;
  readonly lags: number;
}

/** Rows predicted at a time. */
const chunk = 1024;

/** One trained reservoir: one of those whose median an ensemble forecasts. */
export class ForecasterMember implements ForecastMember<MemberState> {
  readonly computer: AnyReservoirComputer;
  readonly readout: TrainedReadout;
  readonly preprocessing: Preprocessing;
  readonly lags: number;
  /** The user's model; undefined without one. */
  readonly hybrid: Hybrid | undefined;
  readonly #readoutFeatures: ReadoutFeatures | undefined;
  readonly #history: SeriesHistory;

  constructor(computer: AnyReservoirComputer, { readout, preprocessing, lags, recent, hybrid }: MemberParts) {
    this.computer = computer;
    this.readout = readoutFor(computer.model, readout);
    this.preprocessing = preprocessing;
    this.lags = lags;
    this.hybrid = hybrid;
    this.#readoutFeatures = readoutFeaturesOf(computer.model.inputSize, readout.outputSize, lags, hybrid?.use);
    this.#history = new SeriesHistory(preprocessing, Math.max(lags, preprocessing.known > 0 || hybrid ? 1 : 0), recent);
  }

  /** Fits the preprocessing, trains the readout, and goes to the end of the last series. */
  static async fit(
    computer: AnyReservoirComputer,
    data: readonly CheckedData[],
    training: MemberTraining,
    work: WorkOptions,
  ): Promise<ForecasterMember> {
    const feedback = computer.model.outputSize > 0;
    if (training.hybrid) checkHybrid(data, training.transforms.length > 0, feedback);
    const preprocessing = fitPreprocessing(data, training, feedback);
    const { trainer, washout, lags, hybrid } = training;
    const series = data.map((one) => preprocessed(preprocessing, one, { hybrid, feedback }));
    if (lags > 0) checkLags(data, feedback);
    const readoutFeatures = readoutFeaturesOf(computer.model.inputSize, series[0]!.targets.cols, lags, hybrid?.use);
    const readout = await trainReadout(computer, trainer, series, { washout, readoutFeatures }, work);
    const last = series.at(-1)!.last;
    if (last) await computer.run(last);
    const member = new ForecasterMember(computer, { readout, preprocessing, lags, hybrid, recent: Matrix.zeros(0, readout.outputSize) });
    const end = data.at(-1)!;
    if (end.series) member.#history.remember(end.series);
    return member;
  }

  /** The same with another readout, and on another reservoir if one is given. */
  with(readout: TrainedReadout, computer = this.computer): ForecasterMember {
    const { preprocessing, lags, hybrid } = this;
    return new ForecasterMember(computer, { readout, preprocessing, lags, hybrid, recent: this.#history.recent });
  }

  get computers(): readonly [AnyReservoirComputer] {
    return [this.computer];
  }

  get readouts(): readonly TrainedReadout[] {
    return [this.readout];
  }

  get leastRows(): number {
    return Math.max(1, this.lags + this.preprocessing.transforms.lost);
  }

  get state(): MemberState {
    return { reservoir: this.computer.state, recent: this.#history.recent };
  }

  set state({ reservoir, recent }: MemberState) {
    this.computer.state = reservoir;
    this.#history.recent = recent;
  }

  isState(value: unknown): value is MemberState {
    return (value as Partial<MemberState> | undefined)?.recent instanceof Matrix;
  }

  get columns(): number {
    return this.readout.outputSize;
  }

  get inputs(): number {
    return this.givenInputs - this.preprocessing.known;
  }

  get fedBack(): number {
    return this.computer.model.outputSize;
  }

  /** Inputs of the reservoir that the data gives: all but those of the user's model. */
  get givenInputs(): number {
    return givenInputs(this.computer.model.inputSize, this.readout.outputSize, this.hybrid?.use);
  }

  reset(): void {
    this.computer.reset();
    this.#history.reset();
  }

  async start(given: CheckedData, signal: AbortSignal | undefined): Promise<void> {
    const { computer } = this;
    const { inputs, teacher } = this.drive(given);
    this.reset();
    if (inputs.rows > 0) await computer.run(inputs, { signal, every: inputs.rows, teacher });
    const series = this.#seriesOf(given);
    if (series && series.cols === this.#history.recent.cols) this.#history.remember(series);
  }

  /** With transforms, inputs alone are a series. */
  #seriesOf(given: CheckedData): Matrix | undefined {
    const isSeries = given.series === undefined && given.inputs.cols === 0 && this.#history.isTransformed;
    return isSeries ? given.targets : given.series;
  }

  drive(given: CheckedData): Drive {
    const { preprocessing } = this;
    const { outputSize } = this.computer.model;
    const series = this.#seriesOf(given);
    const prefix = withTransforms(preprocessing.transforms, given.series || !series ? given : { series });
    if (given.series && given.known) checkColumns(given.series, "warmup.series", this.readout.outputSize);
    const inputs = prefix.series ? this.#inputsOver(prefix) : prefix.inputs;
    const teacher = prefix.series ? (outputSize > 0 ? prefix.series : undefined) : prefix.targets;
    if (inputs.rows > 0) checkColumns(inputs, "warmup.inputs", this.givenInputs);
    if (teacher) checkColumns(teacher, "warmup.targets", outputSize);
    return {
      inputs: inputs.rows > 0 ? this.#driving(inputs) : inputs,
      teacher: teacher && standardised(preprocessing.targetScale, teacher),
    };
  }

  /** Inputs as they drive the reservoir: z-scores, with what the user's model says of each. */
  #driving(inputs: Matrix, made = modelledRows(this.hybrid, inputs, this.readout.outputSize)): Matrix<Float64Array> {
    return standardised(this.preprocessing.inputScale, withModel(this.hybrid, inputs, made));
  }

  #inputsOver({ series, known }: CheckedSeries): Matrix {
    checkKnown(known, this.preprocessing.known, "warmup.known");
    return this.computer.model.outputSize > 0 ? (known ?? noInputs(series.rows)) : seriesInputs(series, known);
  }

  /**
   * One-step predictions; moves on. With known inputs row t is the prediction of row t of `series`,
   * else what follows it. With feedback `series` is all that drives the reservoir, and `known` is
   * not used. A readout that feeds itself back has no variants.
   */
  async predict(
    { series: inputs, known, teacher, precision }: PredictedRows,
    work: WorkOptions,
    variants: ReadoutVariants = oneReadout,
  ): Promise<readonly Matrix<Float64Array>[]> {
    const { computer, readout, preprocessing } = this;
    const { signal, onProgress } = work;
    const feedback = computer.model.outputSize > 0;
    const driven = feedback ? inputs : this.#inputs(inputs, known);
    const said = modelledRows(this.hybrid, driven, readout.outputSize);
    const u = this.#driving(driven, said);
    const forced = teacher && standardised(preprocessing.targetScale, this.#history.transform(teacher));
    if (feedback && !forced) {
      const free = restored(preprocessing.targetScale, await computer.generate(u.rows, readout, { signal, onProgress, inputs: u }));
      const made = this.#history.restoreForecast(free);
      if (this.#history.isTransformed) this.#history.remember(made);
      return [made];
    }
    const features = this.#featureRows(u, said);
    const out = Array.from({ length: variants.count }, () => Matrix.zeros(u.rows, readout.outputSize));
    for (let from = 0; from < u.rows; from += chunk) {
      const rows = u.subarray(from, from + chunk);
      const states = await computer.run(rows, { signal, teacher: forced?.subarray(from, from + chunk) });
      const beside = features?.subarray(from, from + chunk) ?? roundedInputs(computer, rows);
      for (const [k, each] of out.entries()) {
        variants.use(k);
        each.data.set(readout.predict(states, beside, { precision }).data, from * each.cols);
      }
      onProgress?.(from + rows.rows, u.rows);
    }
    const given = feedback ? teacher! : inputs;
    const ahead = feedback || known ? 0 : 1;
    const predicted = out.map((each) => this.#history.restorePredictions(restored(preprocessing.targetScale, each), given, ahead));
    if (feedback ? this.#history.isTransformed : inputs.cols === this.#history.recent.cols) this.#history.remember(given);
    return predicted;
  }

  /** What the readout sees of inputs that go on from here; undefined if it sees them themselves. */
  #featureRows(u: Matrix, made: Matrix | undefined): Matrix | undefined {
    if (!this.#readoutFeatures) return undefined;
    const { computer, preprocessing } = this;
    const said = made && this.#readoutFeatures.model ? roundedInputs(computer, standardised(preprocessing.targetScale, made)) : undefined;
    const recent = this.lags > 0 ? this.#recentScores() : undefined;
    // With known inputs the last row is the first that drives.
    const before = recent && preprocessing.known > 0 ? recent.subarray(0, Math.max(0, recent.rows - 1)) : recent;
    return readoutFeatureRows(this.#readoutFeatures, roundedInputs(computer, u), said, before);
  }

  recall(history: Matrix): void {
    this.#history.recall(history);
  }

  async follow({ series, known }: CheckedSeries, signal: AbortSignal | undefined): Promise<void> {
    const { computer, preprocessing } = this;
    const feedback = computer.model.outputSize > 0;
    const inputs = feedback ? (known ?? noInputs(series.rows)) : this.#inputs(series, known);
    const teacher = feedback ? standardised(preprocessing.targetScale, this.#history.transform(series)) : undefined;
    await computer.run(this.#driving(inputs), { signal, every: inputs.rows, teacher });
    this.#history.remember(series);
  }

  /** The inputs of one-step predictions over rows that go on from here. */
  #inputs(rows: Matrix, known: Matrix | undefined): Matrix {
    if (known) checkColumns(rows, "inputs", this.readout.outputSize);
    return this.#history.inputs(rows, known);
  }

  async forecast(steps: number, outside: Matrix | undefined, work: WorkOptions): Promise<Matrix<Float64Array>> {
    const { computer, readout, preprocessing, lags } = this;
    const { outputSize } = computer.model;
    const first = outputSize > 0 ? 0 : readout.outputSize;
    const inputs = outside && standardised(columnsOf(preprocessing.inputScale, first, this.givenInputs), outside);
    const scale = outputSize > 0 ? preprocessing.targetScale : columnsOf(preprocessing.inputScale, 0, first);
    const loop = sameStandardisation(scale, preprocessing.targetScale) ? readout : inScoresOf(readout, preprocessing.targetScale, scale);
    const held = preprocessing.held && inScores(preprocessing.held, scale);
    const pending = preprocessing.known > 0 && outputSize === 0 ? standardised(scale, this.#history.pending) : undefined;
    if (lags === 0 && !this.hybrid) {
      const { state } = computer;
      const free = await this.#freeLoop(steps, loop, inputs, pending, held !== undefined, work);
      // Within their range held outputs are the same as free ones.
      if (free && (!held || isWithin(held, free))) return this.#history.restoreForecast(restored(scale, free));
      computer.state = state;
    } else this.#checkRecent();
    const recent = lags > 0 ? this.#recentScores() : Matrix.zeros(0, first);
    const readoutFeatures = this.#readoutFeatures;
    const model = this.#loopModel(scale);
    const made = await closedLoop(
      computer,
      { readout: loop, steps, outside: inputs, pending: pending?.row(0), held, readoutFeatures, recent, model },
      work,
    );
    return this.#history.restoreForecast(restored(scale, made));
  }

  autonomousLoop(): AutonomousLoop {
    const { computer, readout, preprocessing, lags } = this;
    const more =
      lags > 0
        ? "lags"
        : this.hybrid
          ? "a model of yours"
          : computer.model.outputSize > 0
            ? "feedback"
            : preprocessing.known > 0
              ? "known inputs"
              : "";
    if (more !== "" || this.givenInputs > readout.outputSize)
      throw ArgumentError.because(
        `the forecaster has ${more || "inputs with targets"}; exponents of a closed loop are of one that is driven by its own series alone`,
      );
    const scale = columnsOf(preprocessing.inputScale, 0, readout.outputSize);
    return {
      readout: inScoresOf(readout, preprocessing.targetScale, scale),
      held: preprocessing.held && inScores(preprocessing.held, scale),
    };
  }

  /**
   * The user's model for a loop whose outputs are z-scores of a scale, after the last row.
   */
  #loopModel(output: Standardisation): LoopModel | undefined {
    const { hybrid, preprocessing, computer } = this;
    if (!hybrid) return undefined;
    const model = new LoopModel(hybrid, { output, input: output, feature: preprocessing.targetScale }, computer.model.precision);
    if (!model.start(this.#history.pending.row(0) as Float64Array)) throw new NonFiniteStateError(computer.state.step, -1);
    return model;
  }

  /**
   * The engine's own loop, of outputs that are not held; undefined if they run away and may not.
   */
  async #freeLoop(
    steps: number,
    loop: TrainedReadout,
    inputs: Matrix | undefined,
    pending: Matrix | undefined,
    isHeld: boolean,
    { signal, onProgress }: WorkOptions,
  ): Promise<Matrix | undefined> {
    const { computer } = this;
    let shifted = inputs;
    if (pending && inputs) {
      await computer.run(beside(pending, inputs.subarray(0, 1)), { signal });
      // The last step's state is not used, nor is what drives it.
      shifted = lastRows(steps, inputs.subarray(1), inputs.subarray(steps - 1));
    }
    try {
      return await computer.generate(steps, loop, { signal, onProgress, inputs: shifted });
    } catch (error) {
      if (isHeld && error instanceof NonFiniteStateError) return undefined;
      throw error;
    }
  }

  /** The last rows as the reservoir got them. */
  #recentScores(): Matrix {
    const { computer, preprocessing } = this;
    return roundedInputs(computer, standardised(columnsOf(preprocessing.inputScale, 0, this.columns), this.#history.transformed));
  }

  #checkRecent(): void {
    const { rows } = this.#history.transformed;
    if (rows < this.lags)
      throw ArgumentError.shape(`${rows} rows were seen; a readout of ${this.lags} lags takes at least ${this.lags}, in warmup`, {
        field: "warmup",
      });
  }
}

function checkLags(data: readonly CheckedData[], feedback: boolean): void {
  if (feedback)
    throw ArgumentError.because("lags is given and the reservoir has feedback; lags are of a series that is the input", { field: "lags" });
  if (data.some(({ series }) => series === undefined))
    throw ArgumentError.because("lags is given beside inputs and targets; lags are of a series, with known inputs or without", {
      field: "lags",
    });
}
