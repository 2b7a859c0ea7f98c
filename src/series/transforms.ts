// What is done to a series before a model sees it, and undone on forecasts: fitted on training rows
// alone, applied in order, kept as plain data.
import { checkHas } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { Matrix } from "@spillway/numerics";
import { anyTransformKind, type FittedTransform, type Transform } from "./transform-kinds.js";
import { differenceOf, fitStep, forwardStep, isDifference, undoStep } from "./transform-step.js";

/** Transforms with their parameters. */
export interface FittedTransforms {
  readonly steps: readonly FittedTransform[];
  /** Rows lost at the start to differences. */
  readonly lost: number;
}

/** Rows that differences of a list take from the start of a series. */
export function rowsLost(list: readonly (Transform | FittedTransform)[]): number {
  return list.reduce((sum, each) => sum + differenceOf(each), 0);
}

/**
 * How many rows ahead a one-step prediction may look before a difference adds what is not known
 * yet.
 */
export function longestLookAhead(list: readonly (Transform | FittedTransform)[]): number {
  return Math.min(...list.map((each) => differenceOf(each) || Number.POSITIVE_INFINITY));
}

/**
 * The parameters of transforms by the training rows of one series or of several (T x D each).
 * @throws ArgumentError if a difference leaves no rows, a logarithm or a Box-Cox transform meets a
 * value that it cannot take, or a name is not registered
 */
export function fitTransforms(training: readonly Matrix[], list: readonly Transform[]): FittedTransforms {
  checkHas("training", training, "a list of matrices", "map");
  const steps: FittedTransform[] = [];
  let here = training.map(inBinary64);
  for (const [i, each] of checkHas("list", list, "a list of transforms", "entries").entries()) {
    const step = fitStep(here, anyTransformKind.read(each, `transforms[${i}]`));
    steps.push(step);
    here = here.map((series) => forwardStep(series, step));
  }
  return { steps, lost: rowsLost(steps) };
}

/** A series with its transforms done: T - lost rows. @throws ArgumentError as `fitTransforms` */
export function transformed(series: Matrix, fitted: FittedTransforms): Matrix<Float64Array> {
  const { steps } = checkHas("fitted", fitted, "what fitTransforms gives", "steps");
  checkHas("series", series, "a Matrix", "rows", "cols", "data");
  return steps.reduce((here, step) => forwardStep(here, step), inBinary64(series));
}

/**
 * Undoes transforms on forecasts of the rows that follow `history`: differences are added to what
 * was forecast before.
 * @param forecast h x D, of the transformed series. @param history the rows before it, as they were
 * measured; the last `lost` of them are used.
 * @throws ArgumentError if history has fewer rows than differences take
 */
export function restoredForecast(forecast: Matrix, history: Matrix, fitted: FittedTransforms): Matrix<Float64Array> {
  checkHas("forecast", forecast, "a Matrix", "rows", "cols", "data");
  if (history.rows < fitted.lost)
    throw ArgumentError.shape(
      `history has ${history.rows} rows; differences of ${fitted.lost} rows in all take at least that many before a forecast`,
      {
        field: "history",
      },
    );
  const known = history.subarray(history.rows - fitted.lost);
  return restored(forecast, known, fitted, (out, stage, _, k, c, lag) =>
    k < lag ? stage.data[(stage.rows - lag + k) * stage.cols + c]! : out.data[(k - lag) * out.cols + c]!,
  );
}

/**
 * Undoes transforms on one-step predictions of rows `start`, `start` + 1, ... of the transformed
 * series, each made when every earlier row of `series` (as measured) was known.
 */
export function restoredPredictions(predictions: Matrix, series: Matrix, start: number, fitted: FittedTransforms): Matrix<Float64Array> {
  const known = series.subarray(start, start + fitted.lost + predictions.rows);
  return restored(predictions, known, fitted, (_, stage, later, k, c) => stage.data[(k + later) * stage.cols + c]!);
}

/**
 * What a difference adds to row k, column c of `out`: a value of its input, or one restored before.
 */
type Earlier = (out: Matrix<Float64Array>, stage: Matrix<Float64Array>, later: number, k: number, c: number, lag: number) => number;

function restored(rows: Matrix, known: Matrix, { steps }: FittedTransforms, earlier: Earlier): Matrix<Float64Array> {
  const stages = [Matrix.from(known, "float64")];
  for (const step of steps.slice(0, -1)) stages.push(forwardStep(stages.at(-1)!, step, 0));
  /** Rows that the differences behind a step take. */
  let later = 0;
  return steps.reduceRight(
    (out, step, i) => {
      const lag = differenceOf(step);
      if (!isDifference(step)) return undoStep(out, step);
      const back = Matrix.zeros(out.rows, out.cols);
      for (let k = 0; k < out.rows; k++)
        for (let c = 0; c < out.cols; c++)
          back.data[k * out.cols + c] = out.data[k * out.cols + c]! + earlier(back, stages[i]!, later, k, c, lag);
      later += lag;
      return back;
    },
    Matrix.from(rows, "float64"),
  );
}

/** A series with its transforms done. Row t of `series` and of `original` are the same time. */
export interface TransformedSeries {
  /** T x D: what the model sees. */
  readonly series: Matrix<Float64Array>;
  /** T x D, in the units of the data. */
  readonly original: Matrix<Float64Array>;
  /** (lost + T) x D: the same with the rows before it. */
  readonly measured: Matrix<Float64Array>;
  /** Rows lost at the start to differences. */
  readonly lost: number;
  readonly fitted: FittedTransforms;
  /**
   * A prediction of rows `start`, `start` + 1, ... in the units of the data. In closed loop,
   * differences are added to what was predicted before; else every row earlier than its target is
   * known.
   */
  undo(prediction: Matrix, start: number, closedLoop: boolean): Matrix<Float64Array>;
}

/** A series beside itself transformed. @throws ArgumentError as `fitTransforms` */
export function transformSeries(data: Matrix<Float64Array>, fitted: FittedTransforms): TransformedSeries {
  checkHas("data", data, "a Matrix", "rows", "cols", "data");
  checkHas("fitted", fitted, "what fitTransforms gives", "steps", "lost");
  const { lost } = fitted;
  return {
    series: transformed(data, fitted),
    original: data.subarray(lost),
    measured: data,
    lost,
    fitted,
    undo: (prediction, start, closedLoop) =>
      closedLoop
        ? restoredForecast(prediction, data.subarray(0, start + lost), fitted)
        : restoredPredictions(prediction, data, start, fitted),
  };
}

/** The matrix itself if it is of binary64: what is known of its values stays known. */
function inBinary64(matrix: Matrix): Matrix<Float64Array> {
  return matrix.data instanceof Float64Array ? (matrix as Matrix<Float64Array>) : Matrix.from(matrix, "float64");
}

/** A scale that is no straight line of the units of the data, such as that of a logarithm. */
export interface ValueScale {
  /** Of each value, T x D; NaN for one outside the domain of the scale. */
  forward(values: Matrix): Matrix<Float64Array>;
  back(values: Matrix): Matrix<Float64Array>;
}

/**
 * The scale that transforms give a series before they take differences; undefined if it is a
 * straight line, on which errors are what they are in the units of the data.
 */
export function scaleOf({ steps }: FittedTransforms): ValueScale | undefined {
  const end = steps.findIndex((step) => typeof step === "object" && "difference" in step);
  const pointwise = end < 0 ? steps : steps.slice(0, end);
  if (pointwise.every(isStraight)) return undefined;
  return {
    forward: (values) => pointwise.reduce(stepped, Matrix.from(values, "float64")),
    back: (values) => restoredForecast(values, Matrix.zeros(0, values.cols), { steps: pointwise, lost: 0 }),
  };
}

/** A step done to values, and NaN for those that it does not take. */
function stepped(values: Matrix<Float64Array>, step: FittedTransform): Matrix<Float64Array> {
  const { data, cols } = values;
  for (const [i, value] of data.entries()) if (!takes(step, value, i % cols)) data[i] = Number.NaN;
  return transformed(values, { steps: [step], lost: 0 });
}

function isStraight(step: FittedTransform): boolean {
  return typeof step === "object" && ("standardise" in step || ("boxCox" in step && step.boxCox.every((power) => power === 1)));
}

function takes(step: FittedTransform, value: number, column: number): boolean {
  if (typeof step !== "object") return true;
  if ("log" in step) return value + step.log > 0;
  return !("boxCox" in step) || value > 0 || (value === 0 && step.boxCox[column]! > 0);
}
