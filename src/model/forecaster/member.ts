// One trained reservoir of a Forecaster: its readout, its road, and where it stands in its series.
// Data comes checked. How a readout is trained stands in training.ts.
import { ArgumentError } from "@spillway/core/errors.js";
import { Matrix, type Precision } from "@spillway/numerics";
import type { TrainedReadout, Trainer } from "../../readout/index.js";
import { type AnyReservoirComputer, NonFiniteStateError, type SessionState, type WorkOptions } from "../../reservoir/index.js";
import { restoredForecast, restoredPredictions, transformed } from "../../series/transforms.js";
import { readoutFor } from "../integer-readout.js";
import { columnsOf, inScoresOf, restored, type Standardisation, sameStandardisation, standardised } from "../standardisation.js";
import { beside, type CheckedData, type CheckedSeries, checkColumns, lastRows, noInputs, seriesInputs } from "./data.js";
import type { AutonomousLoop } from "./exponents.js";
import { checkHybrid, type Hybrid, LoopModel, modelledRows, withModel } from "./hybrid.js";
import { checkKnown, inputsBefore, pendingRow } from "./known.js";
import { closedLoop, isWithin } from "./loop.js";
import { alongRoad, alongTransforms, fitRoad, inScores, type Road, type RoadSettings } from "./road.js";
import { givenInputs, type Sight, seenRows, sightOf } from "./seen.js";
import { roundedInputs, trainReadout } from "./training.js";

/** Where a member stands. */
export interface MemberState {
  readonly reservoir: SessionState;
  /** The last rows of the series, oldest first, in the units of the data, as many as it needs. */
  readonly recent: Matrix;
}

/** What a member is made of. */
export interface MemberParts {
  readonly readout: TrainedReadout;
  readonly road: Road;
  /** Rows of the series that the readout sees beside the state. */
  readonly lags: number;
  readonly recent: Matrix;
  readonly hybrid: Hybrid | undefined;
}

/** How a member is trained. */
export interface MemberTraining extends RoadSettings {
  readonly trainer: Trainer;
  readonly washout: number;
  readonly lags: number;
}

/** Rows predicted at a time. */
const chunk = 1024;

/** Readouts that one pass of the reservoir is predicted by, one after the other. */
export interface ReadoutVariants {
  readonly count: number;
  /** Makes the readout that of place k. */
  use(k: number): void;
}

/** The readout as it is. */
export const oneReadout: ReadoutVariants = { count: 1, use: () => undefined };

export class ForecasterMember {
  readonly computer: AnyReservoirComputer;
  readonly readout: TrainedReadout;
  readonly road: Road;
  readonly lags: number;
  /** The user's model; undefined without one. */
  readonly hybrid: Hybrid | undefined;
  readonly #sight: Sight | undefined;
  #recent: Matrix;

  constructor(computer: AnyReservoirComputer, { readout, road, lags, recent, hybrid }: MemberParts) {
    this.computer = computer;
    this.readout = readoutFor(computer.model, readout);
    this.road = road;
    this.lags = lags;
    this.hybrid = hybrid;
    this.#sight = sightOf(computer.model.inputSize, readout.outputSize, lags, hybrid?.use);
    this.#recent = recent;
  }

  /** Fits the road, trains the readout, and goes to the end of the last series. */
  static async fit(
    computer: AnyReservoirComputer,
    data: readonly CheckedData[],
    training: MemberTraining,
    work: WorkOptions,
  ): Promise<ForecasterMember> {
    const feedback = computer.model.outputSize > 0;
    if (training.hybrid) checkHybrid(data, training.transforms.length > 0, feedback);
    const road = fitRoad(data, training, feedback);
    const { trainer, washout, lags, hybrid } = training;
    const series = data.map((one) => alongRoad(road, one, { hybrid, feedback }));
    if (lags > 0) checkLags(data, feedback);
    const sight = sightOf(computer.model.inputSize, series[0]!.targets.cols, lags, hybrid?.use);
    const readout = await trainReadout(computer, trainer, series, { washout, sight }, work);
    const last = series.at(-1)!.last;
    if (last) await computer.run(last);
    const member = new ForecasterMember(computer, { readout, road, lags, hybrid, recent: Matrix.zeros(0, readout.outputSize) });
    const end = data.at(-1)!;
    if (end.series) member.#remember(end.series);
    return member;
  }

  /** The same with another readout. */
  with(readout: TrainedReadout): ForecasterMember {
    const { computer, road, lags, hybrid } = this;
    return new ForecasterMember(computer, { readout, road, lags, hybrid, recent: this.#recent });
  }

  /** Where it stands; setting it goes back there. */
  get state(): MemberState {
    return { reservoir: this.computer.state, recent: this.#recent };
  }

  set state({ reservoir, recent }: MemberState) {
    this.computer.state = reservoir;
    this.#recent = recent;
  }

  /** Inputs of the reservoir that the data gives: all but those of the user's model. */
  get givenInputs(): number {
    return givenInputs(this.computer.model.inputSize, this.readout.outputSize, this.hybrid?.use);
  }

  /** To the initial state. */
  reset(): void {
    this.computer.reset();
    this.#recent = Matrix.zeros(0, this.#recent.cols);
  }

  /** To the initial state, and from there over a prefix. */
  async start(given: CheckedData, signal: AbortSignal | undefined): Promise<void> {
    const { computer, road } = this;
    const { outputSize } = computer.model;
    const isSeries = given.series === undefined && given.inputs.cols === 0 && road.transforms.steps.length > 0;
    const measured = isSeries ? { series: given.targets } : given;
    const prefix = alongTransforms(road.transforms, measured);
    if (given.series && given.known) checkColumns(given.series, "warmup.series", this.readout.outputSize);
    const inputs = prefix.series ? this.#inputsOver(prefix) : prefix.inputs;
    const teacher = prefix.series ? (outputSize > 0 ? prefix.series : undefined) : prefix.targets;
    if (inputs && inputs.rows > 0) checkColumns(inputs, "warmup.inputs", this.givenInputs);
    if (teacher) checkColumns(teacher, "warmup.targets", outputSize);
    this.reset();
    if (inputs && inputs.rows > 0) {
      const forced = teacher && standardised(road.targetScale, teacher);
      await computer.run(this.#driving(inputs), { signal, every: inputs.rows, teacher: forced });
    }
    if (measured.series && measured.series.cols === this.#recent.cols) this.#remember(measured.series);
  }

  /** Inputs as they drive the reservoir: z-scores, with what the user's model says of each. */
  #driving(inputs: Matrix, made = modelledRows(this.hybrid, inputs, this.readout.outputSize)): Matrix<Float64Array> {
    return standardised(this.road.inputScale, withModel(this.hybrid, inputs, made));
  }

  #inputsOver({ series, known }: CheckedSeries): Matrix {
    checkKnown(known, this.road.known, "warmup.known");
    return this.computer.model.outputSize > 0 ? (known ?? noInputs(series.rows)) : seriesInputs(series, known);
  }

  /**
   * One-step predictions; moves on. With known inputs row t is the prediction of row t of `inputs`,
   * else what follows it. With feedback `inputs` is all that drives the reservoir, and `known` is
   * not looked at. A readout that feeds itself back has no other beside it.
   * @returns a matrix for each of `variants`, from the same states
   */
  async predict(
    inputs: Matrix,
    {
      known,
      teacher,
      precision,
      ...work
    }: WorkOptions & {
      readonly known: Matrix | undefined;
      readonly teacher: Matrix | undefined;
      readonly precision: Precision | undefined;
    },
    variants: ReadoutVariants = oneReadout,
  ): Promise<readonly Matrix<Float64Array>[]> {
    const { computer, readout, road } = this;
    const { signal, onProgress } = work;
    const feedback = computer.model.outputSize > 0;
    const driven = feedback ? inputs : this.#predicting(this.#goingOn(inputs), known);
    const said = modelledRows(this.hybrid, driven, readout.outputSize);
    const u = this.#driving(driven, said);
    const forced = teacher && standardised(road.targetScale, this.#goingOn(teacher));
    if (feedback && !forced) {
      const free = restored(road.targetScale, await computer.generate(u.rows, readout, { signal, onProgress, inputs: u }));
      const made = this.#following(free);
      if (this.#isTransformed) this.#remember(made);
      return [made];
    }
    const seen = this.#seen(u, said);
    const out = Array.from({ length: variants.count }, () => Matrix.zeros(u.rows, readout.outputSize));
    for (let from = 0; from < u.rows; from += chunk) {
      const rows = u.subarray(from, from + chunk);
      const states = await computer.run(rows, { signal, teacher: forced?.subarray(from, from + chunk) });
      const beside = seen?.subarray(from, from + chunk) ?? roundedInputs(computer, rows);
      for (const [k, each] of out.entries()) {
        variants.use(k);
        each.data.set(readout.predict(states, beside, { precision }).data, from * each.cols);
      }
      onProgress?.(from + rows.rows, u.rows);
    }
    const given = feedback ? teacher! : inputs;
    const ahead = feedback || known ? 0 : 1;
    const predicted = out.map((each) => {
      const made = restored(road.targetScale, each);
      return this.#isTransformed ? restoredPredictions(made, this.#withHistory(given), ahead, road.transforms) : made;
    });
    if (feedback ? this.#isTransformed : inputs.cols === this.#recent.cols) this.#remember(given);
    return predicted;
  }

  /** What the readout sees of inputs that go on from here; undefined if it sees them themselves. */
  #seen(u: Matrix, made: Matrix | undefined): Matrix | undefined {
    if (!this.#sight) return undefined;
    const { computer, road } = this;
    const said = made && this.#sight.model ? roundedInputs(computer, standardised(road.targetScale, made)) : undefined;
    const recent = this.lags > 0 ? this.#recentScores() : undefined;
    // With known inputs the last row is the first that drives.
    const before = recent && road.known > 0 ? recent.subarray(0, Math.max(0, recent.rows - 1)) : recent;
    return seenRows(this.#sight, roundedInputs(computer, u), said, before);
  }

  get #isTransformed(): boolean {
    return this.road.transforms.steps.length > 0;
  }

  /** Rows of the series that go on from here, after those that differences take. */
  #withHistory(rows: Matrix): Matrix {
    const { lost } = this.road.transforms;
    if (this.#recent.rows < lost)
      throw ArgumentError.shape(
        `${this.#recent.rows} rows were seen; differences of ${lost} rows in all take at least ${lost}, in warmup`,
        {
          field: "warmup",
        },
      );
    return lastRows(rows.rows + lost, this.#recent, rows);
  }

  /** Rows of the series that go on from here, with transforms done. */
  #goingOn(rows: Matrix): Matrix {
    return this.#isTransformed ? transformed(this.#withHistory(rows), this.road.transforms) : rows;
  }

  /** A closed loop's outputs from here, in the units of the data. */
  #following(outputs: Matrix<Float64Array>): Matrix<Float64Array> {
    return this.#isTransformed ? restoredForecast(outputs, this.#recent, this.road.transforms) : outputs;
  }

  /** The last rows, with transforms done. */
  #recentSeen(): Matrix {
    const { transforms } = this.road;
    if (!this.#isTransformed) return this.#recent;
    return this.#recent.rows > transforms.lost ? transformed(this.#recent, transforms) : Matrix.zeros(0, this.#recent.cols);
  }

  /** Takes other rows for the last ones of the series. @throws ArgumentError if they are too few */
  recall(history: Matrix): void {
    if (this.#memory === 0)
      throw ArgumentError.because(
        "history was given; this forecaster has no transforms, lags, known inputs or model that take the last rows",
        {
          field: "history",
        },
      );
    checkColumns(history, "history", this.#recent.cols);
    if (history.rows < this.#memory)
      throw ArgumentError.shape(`history has ${history.rows} rows; this forecaster takes at least ${this.#memory}`, { field: "history" });
    this.#recent = lastRows(this.#memory, history);
  }

  /** Moves on over rows of its series. */
  async follow({ series, known }: CheckedSeries, signal: AbortSignal | undefined): Promise<void> {
    const { computer, road } = this;
    const feedback = computer.model.outputSize > 0;
    const rows = this.#goingOn(series);
    const inputs = feedback ? (known ?? noInputs(series.rows)) : this.#predicting(rows, known);
    const teacher = feedback ? standardised(road.targetScale, rows) : undefined;
    await computer.run(this.#driving(inputs), { signal, every: inputs.rows, teacher });
    this.#remember(series);
  }

  /** The inputs of one-step predictions over rows that go on from here. */
  #predicting(inputs: Matrix, known: Matrix | undefined): Matrix {
    checkKnown(known, this.road.known, "known");
    if (!known) return inputs;
    checkColumns(inputs, "inputs", this.readout.outputSize);
    return inputsBefore(inputs, known, this.#recentSeen());
  }

  /** The last row of the series, which waits for what is known of the next. */
  #pending(): Matrix {
    return pendingRow(this.#recentSeen());
  }

  /** Closed loop; moves on, to anywhere. `outside` has one row a step, known or not. */
  async forecast(steps: number, outside: Matrix | undefined, work: WorkOptions): Promise<Matrix<Float64Array>> {
    const { computer, readout, road, lags } = this;
    const { outputSize } = computer.model;
    const first = outputSize > 0 ? 0 : readout.outputSize;
    const inputs = outside && standardised(columnsOf(road.inputScale, first, this.givenInputs), outside);
    const scale = outputSize > 0 ? road.targetScale : columnsOf(road.inputScale, 0, first);
    const loop = sameStandardisation(scale, road.targetScale) ? readout : inScoresOf(readout, road.targetScale, scale);
    const held = road.held && inScores(road.held, scale);
    const pending = road.known > 0 && outputSize === 0 ? standardised(scale, this.#pending()) : undefined;
    if (lags === 0 && !this.hybrid) {
      const { state } = computer;
      const free = await this.#freeLoop(steps, loop, inputs, pending, held !== undefined, work);
      // Within their range held outputs are the same as free ones.
      if (free && (!held || isWithin(held, free))) return this.#following(restored(scale, free));
      computer.state = state;
    } else this.#checkRecent();
    const recent = lags > 0 ? this.#recentScores() : Matrix.zeros(0, first);
    const sight = this.#sight;
    const model = this.#loopModel(scale);
    const made = await closedLoop(
      computer,
      { readout: loop, steps, outside: inputs, pending: pending?.row(0), held, sight, recent, model },
      work,
    );
    return this.#following(restored(scale, made));
  }

  /** The loop of a forecast that takes nothing from outside. @throws ArgumentError if it does */
  autonomousLoop(): AutonomousLoop {
    const { computer, readout, road, lags } = this;
    const more =
      lags > 0
        ? "lags"
        : this.hybrid
          ? "a model of yours"
          : computer.model.outputSize > 0
            ? "feedback"
            : road.known > 0
              ? "known inputs"
              : "";
    if (more !== "" || this.givenInputs > readout.outputSize)
      throw ArgumentError.because(
        `the forecaster has ${more || "inputs with targets"}; exponents of a closed loop are of one that is driven by its own series alone`,
      );
    const scale = columnsOf(road.inputScale, 0, readout.outputSize);
    return { readout: inScoresOf(readout, road.targetScale, scale), held: road.held && inScores(road.held, scale) };
  }

  /**
   * The user's model for a loop whose outputs are z-scores of a scale; it has seen the last row.
   */
  #loopModel(output: Standardisation): LoopModel | undefined {
    const { hybrid, road, computer } = this;
    if (!hybrid) return undefined;
    const model = new LoopModel(hybrid, { output, input: output, seen: road.targetScale }, computer.model.precision);
    if (!model.start(this.#pending().row(0) as Float64Array)) throw new NonFiniteStateError(computer.state.step, -1);
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
    const { computer, road } = this;
    return roundedInputs(computer, standardised(columnsOf(road.inputScale, 0, this.#recent.cols), this.#recentSeen()));
  }

  #checkRecent(): void {
    const { rows } = this.#recentSeen();
    if (rows < this.lags)
      throw ArgumentError.shape(`${rows} rows were seen; a readout of ${this.lags} lags takes at least ${this.lags}, in warmup`, {
        field: "warmup",
      });
  }

  #remember(series: Matrix): void {
    this.#recent = lastRows(this.#memory, this.#recent, series);
  }

  /** Rows of the series that it has to know. */
  get #memory(): number {
    return Math.max(this.lags, this.road.known > 0 || this.hybrid ? 1 : 0) + this.road.transforms.lost;
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
