// The reservoirs of a field at work: training, one-step predictions, the closed loop in which they
// see each other's forecasts, and their position. Data comes checked.
import { disposeAll } from "@spillway/core/disposal.js";
import { allocate, type FloatArray, firstNonFinite, Matrix } from "@spillway/numerics";
import { IllConditionedError, type RidgeTrainer, type TrainedReadout } from "../../readout/index.js";
import {
  evaluateReadout,
  NonFiniteStateError,
  type ReservoirComputer,
  type SessionState,
  type WorkOptions,
  WorkPacer,
  writeFeatures,
} from "../../reservoir/index.js";
import { type CheckedSeries, checkColumns, seriesInputs } from "../forecaster/data.js";
import { SeriesHistory } from "../forecaster/history.js";
import { checkKnown } from "../forecaster/known.js";
import type { ForecastMember, PredictedRows } from "../forecaster/model.js";
import { type Preprocessing, preprocessed, type Range, withTransforms } from "../forecaster/preprocessing.js";
import { roundedInputs } from "../forecaster/training.js";
import { columnsOf, restored, standardised } from "../standardisation.js";
import type { FieldGeometry } from "./geometry.js";

/** Preprocessing whose range is in z-scores. */
type FieldPreprocessing = Preprocessing & { readonly held: Range };

/** What training gives. */
export interface FieldFit {
  readonly geometry: FieldGeometry;
  readonly preprocessing: FieldPreprocessing;
  /** As many as the geometry says. */
  readonly readouts: readonly TrainedReadout[];
  readonly hold: boolean;
}

/** The position of the reservoirs of a field. */
export interface FieldGroupsState {
  /** One a group. */
  readonly groups: readonly SessionState[];
  /**
   * The last rows of the series, oldest first, in the units of the data, as many as differences and
   * known inputs take.
   */
  readonly recent: Matrix;
}

/** How a field is trained. */
export interface FieldTraining extends Omit<FieldFit, "readouts"> {
  readonly trainers: readonly RidgeTrainer[];
  readonly washout: number;
}

/** Rows predicted at a time. */
const chunk = 1024;

/** The reservoirs of a field with their readouts. */
export class FieldGroups implements ForecastMember<FieldGroupsState> {
  readonly fedBack = 0;
  readonly computers: readonly ReservoirComputer[];
  readonly fit: FieldFit;
  readonly #history: SeriesHistory;

  constructor(computers: readonly ReservoirComputer[], fit: FieldFit, recent: Matrix = Matrix.zeros(0, fit.geometry.columns)) {
    this.computers = computers;
    this.fit = fit;
    this.#history = new SeriesHistory(fit.preprocessing, fit.preprocessing.known > 0 ? 1 : 0, recent);
  }

  get leastRows(): number {
    return Math.max(1, this.fit.preprocessing.transforms.lost);
  }

  /**
   * Trains the readouts by each of some trainers, which differ in lambda alone, and goes to the end
   * of the last series. A lambda that is too small for its solver gives its error.
   */
  static async fit(
    computers: readonly ReservoirComputer[],
    data: readonly CheckedSeries[],
    { trainers, washout, ...made }: FieldTraining,
    work: WorkOptions,
  ): Promise<readonly (FieldGroups | IllConditionedError)[]> {
    const { geometry, preprocessing } = made;
    const fields = data.map((one) => preprocessed(preprocessing, one, { hybrid: undefined, feedback: false }));
    const shape = { stateSize: computers[0]!.model.size, inputSize: geometry.inputs, outputSize: geometry.own };
    const sinks = Array.from({ length: geometry.readoutCount }, () => trainers[0]!.accumulator(shape));
    const pacer = new WorkPacer(work, geometry.groups * fields.length);
    try {
      for (const [g, computer] of computers.entries())
        for (const [s, field] of fields.entries()) {
          const { inputs, targets, last } = field;
          computer.reset();
          await computer.train(geometry.inputsOf(inputs, g), geometry.ownOf(targets, g), sinks[geometry.readouts[g]!]!, {
            washout,
            signal: work.signal,
          });
          if (last && s === fields.length - 1) await computer.run(geometry.inputsOf(last, g));
          await pacer.pause(g * fields.length + s + 1);
        }
      const found: (FieldGroups | IllConditionedError)[] = [];
      for (const trainer of trainers) {
        const readouts: TrainedReadout[] = [];
        try {
          for (const sink of sinks) {
            readouts.push(trainer.solve(sink));
            if (pacer.due()) await pacer.pause(geometry.groups * fields.length);
          }
          const groups = new FieldGroups(computers, { ...made, readouts });
          groups.#history.remember(data.at(-1)!.series);
          found.push(groups);
        } catch (error) {
          if (!(error instanceof IllConditionedError)) throw error;
          found.push(error);
        }
      }
      pacer.finish();
      return found;
    } finally {
      disposeAll(sinks);
    }
  }

  get preprocessing(): FieldPreprocessing {
    return this.fit.preprocessing;
  }

  /** One readout, one for each way that groups lie to open ends, or one a group. */
  get readouts(): readonly TrainedReadout[] {
    return this.fit.readouts;
  }

  get columns(): number {
    return this.fit.geometry.columns;
  }

  get inputs(): number {
    return this.columns;
  }

  get state(): FieldGroupsState {
    return { groups: this.computers.map(({ state }) => state), recent: this.#history.recent };
  }

  set state({ groups, recent }: FieldGroupsState) {
    this.computers.forEach((computer, g) => {
      computer.state = groups[g]!;
    });
    this.#history.recent = recent;
  }

  isState(value: unknown): value is FieldGroupsState {
    const { groups, recent } = (value ?? {}) as Partial<FieldGroupsState>;
    return groups?.length === this.computers.length && recent?.cols === this.columns;
  }

  reset(): void {
    for (const computer of this.computers) computer.reset();
    this.#history.reset();
  }

  async start(data: CheckedSeries, signal: AbortSignal | undefined): Promise<void> {
    const { preprocessing } = this.fit;
    checkColumns(data.series, "warmup", this.columns);
    checkKnown(data.known, preprocessing.known, "warmup.known");
    const { series, known } = withTransforms(preprocessing.transforms, data);
    const inputs = seriesInputs(series, known);
    this.reset();
    if (inputs.rows > 0) await this.#run(inputs, signal);
    this.#history.remember(data.series);
  }

  /** Over rows of inputs, the known ones among them. */
  async #run(inputs: Matrix, signal: AbortSignal | undefined): Promise<void> {
    const driving = standardised(this.fit.preprocessing.inputScale, inputs);
    for (const [g, computer] of this.computers.entries())
      await computer.run(this.fit.geometry.inputsOf(driving, g), { every: driving.rows, signal });
  }

  recall(history: Matrix): void {
    this.#history.recall(history);
  }

  async follow({ series, known }: CheckedSeries, signal: AbortSignal | undefined): Promise<void> {
    await this.#run(this.#history.inputs(series, known), signal);
    this.#history.remember(series);
  }

  /**
   * One-step predictions: row t is what follows row t, or with known inputs row t itself. Moves on.
   */
  async predict({ series, known, precision }: PredictedRows, work: WorkOptions): Promise<readonly [Matrix<Float64Array>]> {
    const { geometry, preprocessing, readouts } = this.fit;
    const field = standardised(preprocessing.inputScale, this.#history.inputs(series, known));
    const out = Matrix.zeros(series.rows, series.cols);
    const pacer = new WorkPacer(work, series.rows);
    for (let from = 0; from < field.rows; from += chunk) {
      const rows = field.subarray(from, from + chunk);
      for (const [g, computer] of this.computers.entries()) {
        const inputs = geometry.inputsOf(rows, g);
        const states = await computer.run(inputs, { signal: work.signal });
        const own = readouts[geometry.readouts[g]!]!.predict(states, roundedInputs(computer, inputs), { precision });
        for (let t = 0; t < rows.rows; t++) geometry.writeOwn(g, own.row(t), out.row(from + t));
      }
      await pacer.pause(Math.min(series.rows, from + chunk));
    }
    pacer.finish();
    const predicted = this.#history.restorePredictions(restored(preprocessing.targetScale, out), series, known ? 0 : 1);
    this.#history.remember(series);
    return [predicted];
  }

  async forecast(steps: number, outside: Matrix | undefined, work: WorkOptions): Promise<Matrix<Float64Array>> {
    const { geometry, preprocessing, readouts, hold } = this.fit;
    const { lower, upper } = preprocessing.held;
    this.#history.check();
    const { precision } = this.computers[0]!.model;
    const out = new Matrix(steps, geometry.columns, allocate(precision, steps * geometry.columns)) as Matrix;
    const features = new Float64Array(readouts[0]!.weights.cols);
    const own = allocate(precision, geometry.own);
    const groups = this.computers.map((computer, g) => ({
      computer,
      readout: readouts[geometry.readouts[g]!]!,
      ...(({ values, input }) => ({ values, input }))(computer.state),
    }));
    const joined = new Float64Array(geometry.columns + preprocessing.known);
    const known = outside && standardised(columnsOf(preprocessing.inputScale, geometry.columns, joined.length), outside);
    const take = (row: FloatArray, t: number): void => {
      joined.set(row);
      if (known) joined.set(known.row(t), geometry.columns);
      for (const [g, group] of groups.entries()) {
        geometry.writeInputs(g, joined, group.input);
        group.values = group.computer.step(group.input);
      }
    };
    const pacer = new WorkPacer(work, steps);
    let before: FloatArray | undefined = known && standardised(preprocessing.targetScale, this.#history.pending).row(0);
    for (let t = 0; t < steps; t++) {
      if (before) take(before, t);
      const row: FloatArray = out.row(t);
      for (const [g, { readout, values, input }] of groups.entries()) {
        writeFeatures(readout.features, values, input, features);
        evaluateReadout(readout, features, own);
        geometry.writeOwn(g, own, row);
      }
      if (firstNonFinite(row) >= 0) throw new NonFiniteStateError(this.computers[0]!.state.step, -1);
      if (hold) for (let c = 0; c < row.length; c++) row[c] = Math.min(upper[c]!, Math.max(lower[c]!, row[c]!));
      if (before) before = row;
      else take(row, t);
      if (pacer.due()) await pacer.pause(t + 1);
    }
    pacer.finish();
    return this.#history.restoreForecast(restored(preprocessing.targetScale, out));
  }
}
