// Ridge regression, the readout of reservoir computing: options, training on rows, and the choice
// of solver. The arithmetic is in numerics/linear-algebra.
import { ArgumentError, SpillwayError } from "@spillway/core/errors.js";
import { type Resolved, resolve } from "@spillway/core/options.js";
import { type DenseBlas, type DoubleDoubleReflections, describe, type Matrix, SystemBlas, transposed } from "@spillway/numerics";
import type { FeatureSpec } from "../reservoir/features.js";
import { SingularFitError } from "./errors.js";
import { checkSizes, featureSpec, featuresOf } from "./features-option.js";
import { GramAccumulator } from "./gram-accumulator.js";
import { generalisedCrossValidation, type LambdaSelection, leaveOneOut, type SelectionMethod } from "./lambda-selection.js";
import { isReflections, type RidgeOptions, ridgeTable } from "./options.js";
import { solveDual } from "./ridge-dual.js";
import { gramSystem, type RidgeSystem, triangularSystem } from "./ridge-solve.js";
import { TrainedReadout } from "./trained-readout.js";
import type { Trainer, TrainingStream } from "./trainer.js";
import {
  checkShape,
  type FitOptions,
  type ReadoutShape,
  rowsOf,
  type SeriesLike,
  shapeOf,
  type TrainingSequence,
  trainingSequences,
} from "./training-data.js";
import { TriangularAccumulator } from "./triangular-accumulator.js";

/** What rows are gathered in while they stream by. */
export type RidgeAccumulator = GramAccumulator | TriangularAccumulator;

/**
 * Ridge regression: W = argmin sum over t of |y_t - W x_t - b|^2 + lambda |W|^2, the intercept b
 * unpenalised (Lukoševičius 2012, "A practical guide to applying echo state networks", section
 * 4.2). All in binary64 and one fixed order.
 * @throws ArgumentError naming the option
 */
export function ridge(options: RidgeOptions = {}): RidgeTrainer {
  return new RidgeTrainer(options);
}

/**
 * Trains readouts: `fit` on rows that are all there, or `partialFit` and `solve`, or an
 * `accumulator` that an engine fills.
 */
export class RidgeTrainer implements Trainer {
  readonly features: FeatureSpec;
  readonly description: RidgeOptions;
  readonly #options: Resolved<typeof ridgeTable>;
  readonly #lambdas: readonly number[];
  readonly #selection: SelectionMethod | undefined;
  readonly #blas: DenseBlas | undefined;
  readonly #reflections: DoubleDoubleReflections | undefined;
  #accumulator: RidgeAccumulator | undefined;

  /** Use `ridge`. */
  constructor(options: RidgeOptions) {
    this.#options = resolve(ridgeTable, options, "ridge");
    const { intercept, subtractMean, solver, lambda, lambdas, selection, blas } = this.#options;
    this.features = featureSpec(this.#options);
    this.description = options;
    if (lambda !== undefined && lambdas !== undefined)
      throw ArgumentError.because("lambda and lambdas are both given; it takes one of them", { field: "lambdas", value: lambdas });
    this.#lambdas = lambdas ?? [lambda ?? 1e-6];
    this.#selection = lambdas && (selection ?? "gcv");
    if (options.selection !== undefined && !options.lambdas) {
      throw ArgumentError.because(`selection is ${describe(options.selection)} and lambdas is missing; it takes a grid to choose from`, {
        field: "selection",
      });
    }
    if (this.#selection && subtractMean && !intercept) {
      throw ArgumentError.because(
        "lambdas with subtractMean takes intercept: true, without which the scores would not be those of the fit",
      );
    }
    const served = isReflections(blas) ? "doubleDouble" : "cholesky";
    if (blas !== "portable" && solver !== served) {
      const named = blas === "system" ? '"system"' : blas.library;
      const what = isReflections(blas) ? "it" : "a library";
      throw ArgumentError.because(`blas is ${named} and solver is ${describe(solver)}; ${what} serves "${served}"`, {
        field: "blas",
      });
    }
    if (isReflections(blas)) this.#reflections = blas;
    else this.#blas = blas === "system" ? SystemBlas.load() : blas === "portable" ? undefined : blas;
  }

  /**
   * Trains on T x N states and T x O targets, or on lists of them.
   * @throws ArgumentError for data that does not fit, IllConditionedError if lambda is too small
   * for "cholesky", SingularFitError if the rows do not determine the weights, MemoryLimitError
   */
  fit(states: SeriesLike, targets: SeriesLike, options: FitOptions = {}): TrainedReadout {
    const sequences = trainingSequences(states, targets, options, this.features.input);
    const shape = shapeOf(sequences[0]!);
    const rows = rowsOf(sequences);
    this.#checkRows(rows, shape);
    if (this.#options.solver === "dual" || (this.#options.solver === "auto" && rows < featuresOf(this.features, shape)))
      return this.#fitDual(sequences, shape, rows);
    const accumulator = this.accumulator(shape);
    for (const { states: x, inputs, targets: y } of sequences) accumulator.addChecked(x, inputs, y);
    const readout = this.#solve(accumulator, sequences);
    accumulator.dispose();
    return readout;
  }

  /**
   * Takes in more rows; `solve` gives the readout of all rows so far. Each call is a sequence (or a
   * list of them) with its own washout.
   */
  partialFit(states: SeriesLike, targets: SeriesLike, options: FitOptions = {}): this {
    const sequences = trainingSequences(states, targets, options, this.features.input);
    this.#accumulator ??= this.accumulator(shapeOf(sequences[0]!));
    const { shape } = this.#accumulator;
    for (const sequence of sequences) checkShape(shape, sequence, "partialFit");
    for (const { states: x, inputs, targets: y } of sequences) this.#accumulator.addChecked(x, inputs, y);
    return this;
  }

  /**
   * The readout of the rows taken in by `partialFit`, or of an accumulator of this trainer's;
   * either can go on afterwards.
   */
  solve(accumulator: RidgeAccumulator | undefined = this.#accumulator): TrainedReadout {
    if (accumulator !== undefined && !(accumulator instanceof GramAccumulator || accumulator instanceof TriangularAccumulator))
      throw new ArgumentError("accumulator", accumulator, "one that this trainer's accumulator() gave");
    if (!accumulator || accumulator.rows === 0)
      throw new SpillwayError("lifecycle", "there are no training rows; call partialFit before solve");
    this.#checkRows(accumulator.rows, accumulator.shape);
    const made = accumulator instanceof GramAccumulator ? "cholesky" : accumulator.doubleDouble ? "doubleDouble" : "qr";
    if (made !== (this.#options.solver === "auto" ? "cholesky" : this.#options.solver) || accumulator.constant !== this.#constant) {
      throw ArgumentError.because(
        "the accumulator was made by a trainer with another solver or intercept; take this trainer's accumulator()",
      );
    }
    if (this.#selection === "leaveOneOut") {
      throw ArgumentError.because('selection "leaveOneOut" goes over the rows once more, which are gone; use fit, or selection "gcv"');
    }
    return this.#solve(accumulator, []);
  }

  /**
   * An empty accumulator for rows of this shape: a training sink for an engine, or one part of
   * several that are merged.
   */
  accumulator(shape: ReadoutShape): RidgeAccumulator {
    if (this.#options.solver === "dual")
      throw ArgumentError.because('solver "dual" keeps every row; for rows that stream by, take "cholesky", "qr" or "doubleDouble"');
    checkSizes(shape, "the shape of the accumulator");
    const { stateSize, inputSize, outputSize } = shape;
    const own = { stateSize, inputSize, outputSize, features: this.features, constant: this.#constant };
    const doubleDouble = this.#options.solver === "doubleDouble";
    if (doubleDouble || this.#options.solver === "qr")
      return new TriangularAccumulator({ ...own, doubleDouble, reflections: this.#reflections });
    return new GramAccumulator({ ...own, blas: this.#blas });
  }

  /**
   * undefined if it goes over the rows again: for leave-one-out, and for the solvers "dual" and
   * "auto".
   */
  stream(shape: ReadoutShape): TrainingStream | undefined {
    if (this.#options.solver === "dual" || this.#options.solver === "auto" || this.#selection === "leaveOneOut") return undefined;
    const sink = this.accumulator(shape);
    return { sink, solve: () => this.solve(sink), dispose: () => sink.dispose() };
  }

  /** Means are subtracted by fitting with a constant feature, which gives the same weights. */
  get #constant(): boolean {
    return this.#options.intercept || this.#options.subtractMean;
  }

  #checkRows(rows: number, shape: ReadoutShape): void {
    const count = featuresOf(this.features, shape) + (this.#constant ? 1 : 0);
    const lambda = Math.min(...this.#lambdas);
    if (lambda === 0 && rows < count) {
      throw ArgumentError.shape(
        `${rows} rows do not determine ${count} weights an output with lambda 0; it takes as many rows, or lambda above 0`,
      );
    }
  }

  #solve(accumulator: RidgeAccumulator, sequences: readonly TrainingSequence[]): TrainedReadout {
    const system = accumulator instanceof GramAccumulator ? gramSystem(accumulator, this.#blas) : triangularSystem(accumulator);
    const selection = this.#select(system, sequences);
    const lambda = selection?.lambda ?? this.#lambdas[0]!;
    const solved = system.solve(lambda);
    const count = accumulator.featureCount - (this.#constant ? 1 : 0);
    const weights = solved.subarray(0, count);
    const intercept = this.#options.intercept ? solved.row(count).slice() : new Float64Array(solved.cols);
    if (!this.#options.intercept && this.#options.subtractMean) subtractMeans(intercept, weights, system.means());
    const solver = accumulator instanceof GramAccumulator ? "cholesky" : this.#options.solver;
    return this.#readout(weights, intercept, accumulator.shape, system.rows, lambda, solver, selection);
  }

  #select(system: RidgeSystem, sequences: readonly TrainingSequence[]): LambdaSelection | undefined {
    if (!this.#selection) return undefined;
    const problem = system.reduce(Math.min(...this.#lambdas));
    if (this.#selection === "gcv") return generalisedCrossValidation(problem, this.#lambdas);
    return leaveOneOut(problem, this.#lambdas, this.features, sequences, this.#constant ? system.means() : undefined);
  }

  #fitDual(sequences: readonly TrainingSequence[], shape: ReadoutShape, rows: number): TrainedReadout {
    const solution = solveDual(sequences, this.features, this.#lambdas, this.#selection, this.#constant);
    const { weights, featureMeans, targetMeans, lambda, selection, leftOut } = solution;
    const intercept = this.#options.intercept ? targetMeans.slice() : new Float64Array(shape.outputSize);
    subtractMeans(intercept, weights, featureMeans);
    return this.#readout(weights, intercept, shape, rows, lambda, "dual", selection, leftOut);
  }

  #readout(
    weights: Matrix<Float64Array>,
    intercept: Float64Array,
    shape: ReadoutShape,
    rows: number,
    lambda: number,
    solver: string,
    selection: LambdaSelection | undefined,
    leftOut?: Matrix<Float64Array>,
  ): TrainedReadout {
    if (!weights.data.every(Number.isFinite) || !intercept.every(Number.isFinite)) throw new SingularFitError(lambda, rows, weights.rows);
    const { stateSize, inputSize } = shape;
    const details = {
      solver,
      lambda,
      blas: this.#blas ? this.#blas.library : "portable",
      ...(selection ? { selection: selection.method, lambdas: selection.lambdas, scores: selection.scores } : {}),
    };
    const data = { features: this.features, stateSize, inputSize, weights: transposed(weights), intercept };
    return new TrainedReadout(data, { method: "ridge", rows, details }, leftOut);
  }
}

/** intercept -= W means, in rising order of features. */
function subtractMeans(intercept: Float64Array, weights: Matrix<Float64Array>, means: Float64Array): void {
  for (let o = 0; o < intercept.length; o++) {
    let sum = 0;
    for (let f = 0; f < weights.rows; f++) sum += weights.data[f * weights.cols + o]! * means[f]!;
    intercept[o] = intercept[o]! - sum;
  }
}
