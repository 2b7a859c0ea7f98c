// The reservoirs of a field at work: training, one-step predictions, the closed loop in which they
// see each other's forecasts, and where they stand. Data comes checked.
import { ArgumentError } from "@spillway/core/errors.js";
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
import { restoredForecast, restoredPredictions, transformed } from "../../series/transforms.js";
import { type CheckedSeries, checkColumns, lastRows, seriesInputs } from "../forecaster/data.js";
import { checkKnown, inputsBefore, pendingRow } from "../forecaster/known.js";
import { alongRoad, alongTransforms } from "../forecaster/road.js";
import { roundedInputs } from "../forecaster/training.js";
import type { FollowsRows } from "../forecaster/validation.js";
import { columnsOf, restored, standardised } from "../standardisation.js";
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
    data: readonly CheckedSeries[],
    { trainers, washout, ...made }: FieldTraining,
    work: WorkOptions,
  ): Promise<readonly (FieldGroups | IllConditionedError)[]> {
    const { geometry, road } = made;
    const fields = data.map((one) => alongRoad(road, one, { hybrid: undefined, feedback: false }));
    const shape = { stateSize: computers[0]!.model.size, inputSize: geometry.seen, outputSize: geometry.own };
    const sinks = Array.from({ length: geometry.readoutCount }, () => trainers[0]!.accumulator(shape));
    const pacer = new WorkPacer(work, geometry.groups * fields.length);
    try {
      for (const [g, computer] of computers.entries())
        for (const [s, field] of fields.entries()) {
          const { inputs, targets, last } = field;
          computer.reset();
          await computer.train(geometry.seenOf(inputs, g), geometry.ownOf(targets, g), sinks[geometry.readouts[g]!]!, {
            washout,
            signal: work.signal,
          });
          if (last && s === fields.length - 1) await computer.run(geometry.seenOf(last, g));
          await pacer.pause(g * fields.length + s + 1);
        }
      const recent = lastRows(memoryOf(road), data.at(-1)!.series);
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

  /** Transforms, z-scores, and between what forecasts are held. */
  get road(): FieldRoad {
    return this.fit.road;
  }

  /** One readout, one for each way that groups lie to open ends, or one a group. */
  get readouts(): readonly TrainedReadout[] {
    return this.fit.readouts;
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
  async start(data: CheckedSeries, signal: AbortSignal | undefined): Promise<void> {
    const { road } = this.fit;
    checkKnown(data.known, road.known, "warmup.known");
    const { series, known } = alongTransforms(road.transforms, data);
    const inputs = seriesInputs(series, known);
    this.reset();
    if (inputs.rows > 0) await this.#run(inputs, signal);
    this.#remember(data.series);
  }

  /** Over rows of inputs, the known ones among them. */
  async #run(inputs: Matrix, signal: AbortSignal | undefined): Promise<void> {
    const driving = standardised(this.fit.road.inputScale, inputs);
    for (const [g, computer] of this.computers.entries())
      await computer.run(this.fit.geometry.seenOf(driving, g), { every: driving.rows, signal });
  }

  /** Takes other rows for the last ones of the series. @throws ArgumentError if they are too few */
  recall(history: Matrix): void {
    const memory = memoryOf(this.fit.road);
    if (memory === 0)
      throw ArgumentError.because("history was given; this forecaster has no differences or known inputs that take the last rows", {
        field: "history",
      });
    checkColumns(history, "history", this.#recent.cols);
    if (history.rows < memory)
      throw ArgumentError.shape(`history has ${history.rows} rows; this forecaster takes at least ${memory}`, { field: "history" });
    this.#recent = lastRows(memory, history);
  }

  /** Moves on over rows of the series. */
  async follow({ series, known }: CheckedSeries, signal: AbortSignal | undefined): Promise<void> {
    await this.#run(this.#predicting(series, known), signal);
    this.#remember(series);
  }

  /**
   * One-step predictions: row t is what follows row t, or with known inputs row t itself. Moves on.
   */
  async predict({ series, known }: CheckedSeries, work: WorkOptions): Promise<Matrix<Float64Array>> {
    const { geometry, road, readouts } = this.fit;
    const field = standardised(road.inputScale, this.#predicting(series, known));
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
    const made = restored(road.targetScale, out);
    const predicted = this.#isTransformed ? restoredPredictions(made, this.#withHistory(series), known ? 0 : 1, road.transforms) : made;
    this.#remember(series);
    return predicted;
  }

  /** Closed loop; moves on, to anywhere. `outside` has one row a step of what is known. */
  async forecast(steps: number, outside: Matrix | undefined, work: WorkOptions): Promise<Matrix<Float64Array>> {
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
    const joined = new Float64Array(geometry.columns + road.known);
    const known = outside && standardised(columnsOf(road.inputScale, geometry.columns, joined.length), outside);
    const take = (row: FloatArray, t: number): void => {
      joined.set(row);
      if (known) joined.set(known.row(t), geometry.columns);
      for (const [g, group] of groups.entries()) {
        geometry.writeSeen(g, joined, group.input);
        group.values = group.computer.step(group.input);
      }
    };
    const pacer = new WorkPacer(work, steps);
    let before: FloatArray | undefined = known && standardised(road.targetScale, pendingRow(this.#recentSeen())).row(0);
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
    const made = restored(road.targetScale, out);
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

  /** The last rows, with transforms done. */
  #recentSeen(): Matrix {
    const { transforms } = this.fit.road;
    if (!this.#isTransformed) return this.#recent;
    return this.#recent.rows > transforms.lost ? transformed(this.#recent, transforms) : Matrix.zeros(0, this.#recent.cols);
  }

  /** The inputs of one-step predictions over rows that go on from here. */
  #predicting(series: Matrix, known: Matrix | undefined): Matrix {
    const { road } = this.fit;
    checkKnown(known, road.known, "known");
    const rows = this.#isTransformed ? transformed(this.#withHistory(series), road.transforms) : series;
    return known ? inputsBefore(rows, known, this.#recentSeen()) : rows;
  }

  #remember(series: Matrix): void {
    this.#recent = lastRows(memoryOf(this.fit.road), this.#recent, series);
  }
}

/** Rows of the series that have to be known. */
function memoryOf({ transforms, known }: FieldRoad): number {
  return transforms.lost + (known > 0 ? 1 : 0);
}
