// The reservoirs of a field at work: training, one-step predictions, the closed loop in which they
// see each other's forecasts, and where they stand. Data comes checked.
import { ArgumentError } from "../../core/errors.js";
import { allocate, type FloatArray, firstNonFinite, Matrix } from "../../numerics/index.js";
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
import { restoredForecast, restoredPredictions, transformed } from "../../series/transforms.js";
import type { FollowsRows } from "../forecaster/choice.js";
import { type CheckedSeries, checkColumns, lastRows } from "../forecaster/data.js";
import { roundedInputs } from "../forecaster/training.js";
import { restored, standardised } from "../standardisation.js";
import type { FieldGeometry } from "./geometry.js";
import type { FieldRoad } from "./road.js";

/** What training gives. */
export interface FieldFit {
  readonly geometry: FieldGeometry;
  readonly road: FieldRoad;
  /** As many as the geometry says. */
  readonly readouts: readonly TrainedReadout[];
  readonly hold: boolean;
}

/** Where the reservoirs of a field stand. */
export interface FieldGroupsState {
  /** One a group. */
  readonly groups: readonly SessionState[];
  /**
   * The last rows of the series, oldest first, in the units of the data, as many as differences
   * take.
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
export class FieldGroups implements FollowsRows<FieldGroupsState> {
  readonly computers: readonly ReservoirComputer[];
  readonly fit: FieldFit;
  #recent: Matrix;

  constructor(computers: readonly ReservoirComputer[], fit: FieldFit, recent: Matrix = Matrix.zeros(0, fit.geometry.columns)) {
    this.computers = computers;
    this.fit = fit;
    this.#recent = recent;
  }

  /**
   * Trains the readouts by each of some trainers, which differ in lambda alone, and goes to the end
   * of the last series. A lambda that is too small for its solver gives its error.
   */
  static async fit(
    computers: readonly ReservoirComputer[],
    series: readonly Matrix[],
    { trainers, washout, ...made }: FieldTraining,
    work: WorkOptions,
  ): Promise<readonly (FieldGroups | IllConditionedError)[]> {
    const { geometry, road } = made;
    const fields = series.map((one) => scoresOf(road, one));
    const shape = { stateSize: computers[0]!.model.size, inputSize: geometry.seen, outputSize: geometry.own };
    const sinks = Array.from({ length: geometry.readoutCount }, () => trainers[0]!.accumulator(shape));
    const pacer = new WorkPacer(work, geometry.groups * fields.length);
    try {
      for (const [g, computer] of computers.entries())
        for (const [s, field] of fields.entries()) {
          const inputs = geometry.seenOf(field, g);
          computer.reset();
          await computer.train(inputs.subarray(0, -1), geometry.ownOf(field.subarray(1), g), sinks[geometry.readouts[g]!]!, {
            washout,
            signal: work.signal,
          });
          if (s === fields.length - 1) await computer.run(inputs.subarray(-1));
          await pacer.pause(g * fields.length + s + 1);
        }
      const recent = lastRows(road.transforms.lost, series.at(-1)!);
      const found: (FieldGroups | IllConditionedError)[] = [];
      for (const trainer of trainers) {
        const readouts: TrainedReadout[] = [];
        try {
          for (const sink of sinks) {
            readouts.push(trainer.solve(sink));
            if (pacer.due()) await pacer.pause(geometry.groups * fields.length);
          }
          found.push(new FieldGroups(computers, { ...made, readouts }, recent));
        } catch (error) {
          if (!(error instanceof IllConditionedError)) throw error;
          found.push(error);
        }
      }
      pacer.finish();
      return found;
    } finally {
      for (const sink of sinks) sink.dispose();
    }
  }

  /** Where they stand; setting it goes back there. */
  get state(): FieldGroupsState {
    return { groups: this.computers.map(({ state }) => state), recent: this.#recent };
  }

  set state({ groups, recent }: FieldGroupsState) {
    this.computers.forEach((computer, g) => {
      computer.state = groups[g]!;
    });
    this.#recent = recent;
  }

  /** To the initial state. */
  reset(): void {
    for (const computer of this.computers) computer.reset();
    this.#recent = Matrix.zeros(0, this.#recent.cols);
  }

  /** To the initial state, and from there over a series. */
  async start({ series }: CheckedSeries, signal: AbortSignal | undefined): Promise<void> {
    const field = scoresOf(this.fit.road, series);
    this.reset();
    for (const [g, computer] of this.computers.entries())
      await computer.run(this.fit.geometry.seenOf(field, g), { every: field.rows, signal });
    this.#remember(series);
  }

  /** Takes other rows for the last ones of the series. @throws ArgumentError if they are too few */
  recall(history: Matrix): void {
    const { lost } = this.fit.road.transforms;
    if (lost === 0)
      throw ArgumentError.because("history was given; this forecaster has no differences that take the last rows", { field: "history" });
    checkColumns(history, "history", this.#recent.cols);
    if (history.rows < lost)
      throw ArgumentError.shape(`history has ${history.rows} rows; this forecaster takes at least ${lost}`, { field: "history" });
    this.#recent = lastRows(lost, history);
  }

  /** Moves on over rows of the series. */
  async follow({ series }: CheckedSeries, signal: AbortSignal | undefined): Promise<void> {
    const field = this.#scores(series);
    for (const [g, computer] of this.computers.entries())
      await computer.run(this.fit.geometry.seenOf(field, g), { every: field.rows, signal });
    this.#remember(series);
  }

  /** One-step predictions: row t is what follows row t. Moves on. */
  async predict(series: Matrix, work: WorkOptions): Promise<Matrix<Float64Array>> {
    const { geometry, road, readouts } = this.fit;
    const field = this.#scores(series);
    const out = Matrix.zeros(series.rows, series.cols);
    const pacer = new WorkPacer(work, series.rows);
    for (let from = 0; from < field.rows; from += chunk) {
      const rows = field.subarray(from, from + chunk);
      for (const [g, computer] of this.computers.entries()) {
        const inputs = geometry.seenOf(rows, g);
        const states = await computer.run(inputs, { signal: work.signal });
        const own = readouts[geometry.readouts[g]!]!.predict(states, roundedInputs(computer, inputs));
        for (let t = 0; t < rows.rows; t++) geometry.writeOwn(g, own.row(t), out.row(from + t));
      }
      await pacer.pause(Math.min(series.rows, from + chunk));
    }
    pacer.finish();
    const made = restored(road.scale, out);
    const predicted = this.#isTransformed ? restoredPredictions(made, this.#withHistory(series), 1, road.transforms) : made;
    this.#remember(series);
    return predicted;
  }

  /** Closed loop; moves on, to anywhere. */
  async forecast(steps: number, _: undefined, work: WorkOptions): Promise<Matrix<Float64Array>> {
    const { geometry, road, readouts, hold } = this.fit;
    const { lower, upper } = road.held;
    if (this.#isTransformed) this.#withHistory(Matrix.zeros(0, geometry.columns));
    const { precision } = this.computers[0]!.model;
    const out = new Matrix(steps, geometry.columns, allocate(precision, steps * geometry.columns)) as Matrix;
    const features = new Float64Array(readouts[0]!.weights.cols);
    const own = allocate(precision, geometry.own);
    const groups = this.computers.map((computer, g) => ({
      computer,
      readout: readouts[geometry.readouts[g]!]!,
      ...(({ values, input }) => ({ values, input }))(computer.state),
    }));
    const pacer = new WorkPacer(work, steps);
    for (let t = 0; t < steps; t++) {
      const row: FloatArray = out.row(t);
      for (const [g, { readout, values, input }] of groups.entries()) {
        writeFeatures(readout.features, values, input, features);
        evaluateReadout(readout, features, own);
        geometry.writeOwn(g, own, row);
      }
      if (firstNonFinite(row) >= 0) throw new NonFiniteStateError(this.computers[0]!.state.step, -1);
      if (hold) for (let c = 0; c < row.length; c++) row[c] = Math.min(upper[c]!, Math.max(lower[c]!, row[c]!));
      for (const [g, group] of groups.entries()) {
        geometry.writeSeen(g, row, group.input);
        group.values = group.computer.step(group.input);
      }
      if (pacer.due()) await pacer.pause(t + 1);
    }
    pacer.finish();
    const made = restored(road.scale, out);
    return this.#isTransformed ? restoredForecast(made, this.#recent, road.transforms) : made;
  }

  get #isTransformed(): boolean {
    return this.fit.road.transforms.steps.length > 0;
  }

  /** Rows that go on from here, after those that differences take. @throws ArgumentError */
  #withHistory(rows: Matrix): Matrix {
    const { lost } = this.fit.road.transforms;
    if (this.#recent.rows < lost)
      throw ArgumentError.shape(
        `${this.#recent.rows} rows were seen; differences of ${lost} rows in all take at least ${lost}, in warmup`,
        { field: "warmup" },
      );
    return lastRows(rows.rows + lost, this.#recent, rows);
  }

  /** Rows that go on from here, as reservoirs take them. */
  #scores(series: Matrix): Matrix<Float64Array> {
    return scoresOf(this.fit.road, this.#isTransformed ? this.#withHistory(series) : series);
  }

  #remember(series: Matrix): void {
    this.#recent = lastRows(this.fit.road.transforms.lost, this.#recent, series);
  }
}

/** A series as reservoirs take it: transformed, and in z-scores. */
function scoresOf({ transforms, scale }: FieldRoad, series: Matrix): Matrix<Float64Array> {
  return standardised(scale, transforms.steps.length > 0 ? transformed(series, transforms) : series);
}
