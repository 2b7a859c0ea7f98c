// A Forecaster's options, data, and their checks. It runs nothing.
import { ArgumentError } from "../core/errors.js";
import { callback, checkedLater, choice, option, optional, type TableOf, whole } from "../core/options.js";
import { Matrix, type MatrixLike, type Precision } from "../numerics/index.js";
import type { ReadoutDescription, Trainer } from "../readout/index.js";
import { type AnyReservoirOptions, checkFinite, type ReservoirMatrices, type WorkOptions } from "../reservoir/index.js";
import { filledSeries } from "../reservoir/inputs.js";
import { seriesOf } from "../reservoir/options.js";
import { workTable } from "../reservoir/work.js";

/** What a Forecaster keeps beside its reservoir. */
export interface ForecasterSettings {
  /** Rows at the start of every training series that train nothing. Default 100. */
  readonly washout: number;
  /**
   * Turn inputs and targets (or only one of them) into z-scores by the training data; outputs are
   * turned back. Default true; false for a reservoir that takes spikes; "inputs" for softmax, whose
   * targets are classes. A column that never changes is left as it is.
   */
  readonly standardise: boolean | "inputs" | "targets";
  /** The trainer of the readout. A trainer that is your own object is kept as `{ type: "own" }`. */
  readonly readout: ReadoutDescription | OwnReadout;
}

/** What stands for a trainer that is not one of this package's, in settings and model files. */
export interface OwnReadout {
  readonly type: "own";
}

/**
 * A description of a forecaster: its reservoir, the readout, what is done to the data, and where it
 * runs.
 */
export interface ForecasterOptions extends Partial<Omit<ForecasterSettings, "readout">> {
  /**
   * How outputs are learnt: the options of `ridge` (without `lambda` or `lambdas`, lambda is 1e-3);
   * another trainer by its `type` ("rls", "lms", "softmax") and its options; or a trainer, which
   * may be your own object. With softmax, targets are one column a class, and predictions scores.
   */
  readonly readout?: ReadoutDescription | Trainer | undefined;
  /**
   * The reservoir; `inputSize` and `feedback.size` follow from the data if they are left out.
   * Without `matrices`, `bias` is 0.5,
   * `inputScaling` and `feedback.scaling` 0.2 and `spectralRadius` 1 if they are left out.
   */
  readonly reservoir: AnyReservoirOptions;
  /** Matrices to use in place of drawn ones. */
  readonly matrices?: ReservoirMatrices | undefined;
  /** "auto" (default), "cpu", "cuda", "cuda:1" (a device by number), "sim" or "reference". */
  readonly engine?: string | undefined;
  /** Worker threads of the CPU engine. Default 1. */
  readonly threads?: number | undefined;
  /** Measure what the work costs by phase: `computer.profile`. Default false. */
  readonly profile?: boolean | undefined;
}

/** A T x D series to go on, or T x I inputs with T x O targets. */
export type ForecasterData = MatrixLike | { readonly inputs?: MatrixLike | undefined; readonly targets: MatrixLike };

/**
 * Series that follow one another without touching: each starts from the reservoir's initial state
 * and has its own washout.
 */
export interface ForecasterSequences {
  readonly sequences: readonly ForecasterData[];
}

/**
 * What the reservoir has seen before: a series, or inputs, with the targets if there is feedback
 * to force.
 */
export type ForecasterPrefix = MatrixLike | { readonly inputs?: MatrixLike | undefined; readonly targets?: MatrixLike | undefined };

/** Where a prediction starts. */
export interface StartOptions extends WorkOptions {
  /**
   * Start from the initial state and run this first. Left out, go on from the present state: after
   * `fit`, the end of the training data.
   */
  readonly warmup?: ForecasterPrefix | undefined;
}

/** Options of `predict`. */
export interface PredictOptions extends StartOptions {
  /**
   * With feedback: the true outputs (T x O) to feed back in place of the predicted ones. Row t
   * reaches the prediction of row t + 1.
   */
  readonly teacher?: MatrixLike | undefined;
  /**
   * The precision that outputs are rounded to, if the forecaster's own are not fed back. Default
   * that of the reservoir.
   */
  readonly precision?: Precision | undefined;
}

/** Options of `forecast`. */
export interface ForecastOptions extends StartOptions {
  /**
   * Inputs from outside, one row a step: with feedback all I of them, else those after the first O,
   * which are the forecast itself.
   */
  readonly inputs?: MatrixLike | undefined;
}

/** Options of `score`. */
export interface ScoreOptions extends StartOptions {
  /** A function of target and prediction (T x O). Default `nrmse`. */
  readonly metric?: ((target: Matrix, prediction: Matrix) => number) | undefined;
  /** Rows left out at the start. Default 0. */
  readonly washout?: number | undefined;
}

const startTable = {
  ...workTable,
  warmup: optional(
    checkedLater<ForecasterPrefix>("a series, or {inputs, targets}"),
    "Start from the initial state and run this first; left out, go on from the present state.",
  ),
} satisfies TableOf<StartOptions>;

/** The options of `Forecaster.predict`. */
export const predictTable = {
  ...startTable,
  teacher: optional(seriesOf("T x O"), "With feedback: the true outputs to feed back in place of the predicted ones."),
  precision: optional(choice("float32", "float64"), "The precision that outputs are rounded to; left out, that of the reservoir."),
} satisfies TableOf<PredictOptions>;

/** The options of `Forecaster.forecast`. */
export const forecastTable = {
  ...startTable,
  inputs: optional(seriesOf("one row a step"), "Inputs from outside."),
} satisfies TableOf<ForecastOptions>;

/** The options of `Forecaster.score`. */
export const scoreTable = {
  ...startTable,
  metric: optional(callback<NonNullable<ScoreOptions["metric"]>>("a function of target and prediction"), "The score; left out, nrmse."),
  washout: option(whole(), 0, "Rows left out at the start."),
} satisfies TableOf<ScoreOptions>;

/**
 * Rows that train: inputs T x I, targets T x O, and the last row of a series, which is an input
 * whose target is not known.
 */
export interface TrainingRows {
  readonly inputs: Matrix;
  readonly targets: Matrix;
  readonly last?: Matrix;
  /** All rows of the series that inputs and targets are cut from. */
  readonly series?: Matrix;
}

/**
 * Without feedback, a series becomes inputs (rows 0 to T - 2) and targets (rows 1 to T - 1); with
 * feedback, targets that are forced and no inputs.
 * @throws ArgumentError naming what is empty, too short, of another length, or not finite (row and
 * column)
 */
export function trainingRows(data: ForecasterData, feedback: boolean, name = ""): TrainingRows {
  if (isPair(data)) {
    const targets = checkedSeries(data.targets, `${name}targets`);
    if (data.inputs === undefined) {
      if (!feedback)
        throw ArgumentError.because(`${name}inputs is missing; without feedback, give inputs with the targets, or just a series`);
      return { inputs: noInputs(targets.rows), targets };
    }
    const inputs = checkedSeries(data.inputs, `${name}inputs`);
    if (inputs.rows !== targets.rows) {
      throw ArgumentError.shape(`${name}inputs has ${inputs.rows} rows and ${name}targets has ${targets.rows}; they take the same number`);
    }
    return { inputs, targets };
  }
  const series = checkedSeries(data, `${name}series`);
  if (feedback) return { inputs: noInputs(series.rows), targets: series };
  if (series.rows < 2)
    throw ArgumentError.shape(`${name}series has ${series.rows} row; a series takes at least two, since one of them is predicted`);
  return { inputs: series.subarray(0, -1), targets: series.subarray(1), last: series.subarray(-1), series };
}

/** Inputs and forced outputs of a prefix. @throws ArgumentError */
export function prefixRows(prefix: ForecasterPrefix, feedback: boolean): { inputs: Matrix; teacher: Matrix | undefined } {
  const { inputs, targets } = isPair(prefix) ? prefix : feedback ? { inputs: undefined, targets: prefix } : { inputs: prefix };
  if (!feedback) {
    if (inputs === undefined)
      throw ArgumentError.because("warmup.inputs is missing; a reservoir without feedback is warmed up on its inputs");
    return { inputs: checkedSeries(inputs, "warmup.inputs"), teacher: undefined };
  }
  if (targets === undefined)
    throw ArgumentError.because("warmup.targets is missing; a reservoir with feedback is warmed up on the outputs to force");
  const teacher = checkedSeries(targets, "warmup.targets");
  return { inputs: inputs === undefined ? noInputs(teacher.rows) : checkedSeries(inputs, "warmup.inputs"), teacher };
}

/** @throws ArgumentError if there are no rows or a value is not finite */
export function checkedSeries(source: MatrixLike, name: string): Matrix {
  const matrix = filledSeries(source, name);
  checkFinite(matrix, name);
  return matrix;
}

/** T rows of no inputs. */
export function noInputs(rows: number): Matrix<Float64Array> {
  return new Matrix(rows, 0, new Float64Array(0));
}

/** The first of several, if all have its shape. @throws ArgumentError */
export function sameShape(rows: readonly TrainingRows[]): TrainingRows {
  const first = rows[0];
  if (!first) throw ArgumentError.shape("sequences is empty; it takes at least one", { field: "sequences" });
  rows.forEach(({ inputs, targets }, s) => {
    if (inputs.cols === first.inputs.cols && targets.cols === first.targets.cols) return;
    throw ArgumentError.shape(
      `sequences[${s}] has ${inputs.cols} inputs and ${targets.cols} targets, and sequences[0] has ${first.inputs.cols} and ` +
        `${first.targets.cols}; they take the same`,
    );
  });
  return first;
}

/** @throws ArgumentError */
export function checkColumns(matrix: Matrix, name: string, cols: number): void {
  if (matrix.cols !== cols) throw ArgumentError.shape(`${name} has ${matrix.cols} columns; this forecaster takes ${cols}`, { field: name });
}

function isPair<Data extends ForecasterData | ForecasterPrefix>(data: Data): data is Exclude<Data, MatrixLike> {
  return typeof data === "object" && data !== null && ("targets" in data || "inputs" in data);
}
