// What is done to a series before a model sees it, and undone on forecasts: fitted on training rows
// alone, applied in order, kept as plain data.
import { ArgumentError } from "../core/errors.js";
import { callback, checked, choice, choiceOf, either, given, type Kind, list, number, object, whole } from "../core/options.js";
import { type Part, Registry } from "../core/registry.js";
import { Matrix, portableExp, portableLog, portablePow, portableTanh } from "../numerics/index.js";
import { fitStandardisation } from "./standardisation.js";

/**
 * One step of a list of transforms:
 *
 * - `{ log: c }`, or "log" or `{ log: true }` (c = 0): z = ln(y + c), y + c above 0.
 * - `{ boxCox: L }`: z = (y^L - 1) / L, or ln y for L = 0; y above 0, and 0 itself for L above 0.
 *   By "boxCox" or `{ boxCox: true }`, L is chosen for each column by maximum likelihood on the
 *   training rows (Box and Cox 1964).
 * - `{ difference: m }`: d(t) = y(t) - y(t - m). The first m rows are lost; m rows in a season make
 *   it a seasonal difference.
 * - "standardise": z = (y - mean) / standard deviation.
 * - "squash": z = tanh(y - 1) (Jaeger 2001, GMD report 148, section 6).
 * - `{ transform: NAME }`: one that `registerTransform` added.
 * - `{ forward, back }`: a pair of functions; a model with it has no file.
 *
 * What comes back through a logarithm or a Box-Cox transform is the median of a forecast, not its
 * mean; quantiles pass as they are.
 */
export type Transform =
  | "log"
  | { readonly log: number | true }
  | "boxCox"
  | { readonly boxCox: number | true }
  | { readonly difference: number }
  | "standardise"
  | "squash"
  | { readonly transform: string }
  | TransformPair;

/** A function of each value, and its inverse. */
export interface TransformPair {
  /** z of y. */
  readonly forward: (value: number) => number;
  /** y of z. */
  readonly back: (value: number) => number;
}

/** A transform of the user's own, by its name. */
export interface TransformPart extends Part, TransformPair {}

const transforms = new Registry<TransformPart>({
  kind: "transform",
  register: "registerTransform",
  needs: { forward: callback("a function of a number"), back: callback("a function of a number") },
});

/**
 * Adds a transform that `{ transform: NAME }` names, here and in model files.
 * @throws ArgumentError for a name that is taken, or a field that is missing or malformed
 */
export function registerTransform(part: TransformPart): void {
  transforms.register(part);
}

const names: readonly string[] = ["log", "boxCox", "standardise", "squash"];
const byName = choice(...names);
const orTrue = (takes: string) =>
  either(
    `${takes}, or true`,
    number(),
    checked<true>("true", (value) => value === true, { const: true }),
  );
const byField = {
  difference: object({ difference: given(whole({ atLeast: 1 }), "Rows back.") }),
  log: object({ log: given(orTrue("a number"), "What is added before the logarithm.") }),
  boxCox: object({ boxCox: given(orTrue("a power"), "The power.") }),
  transform: object({ transform: given(choiceOf(transforms), "One that registerTransform added.") }),
};

const pair = object({
  forward: given(callback<TransformPair["forward"]>(), "z of y."),
  back: given(callback<TransformPair["back"]>(), "y of z."),
});

/** One transform of a list, as data. */
export const transformKind: Kind<Transform> = {
  takes: '"log", "boxCox", "standardise", "squash", {difference: lag}, {log: c}, {boxCox: L} or {transform: name}',
  get schema() {
    return { anyOf: [byName, ...Object.values(byField)].map(({ schema }) => schema) };
  },
  read(value, field) {
    if (typeof value === "string" && names.includes(value)) return value as Transform;
    const isObject = typeof value === "object" && value !== null;
    const named = isObject ? Object.entries(byField).find(([name]) => Object.hasOwn(value, name)) : undefined;
    if (named === undefined) throw new ArgumentError(field, value, this.takes);
    return named[1].read(value, field) as Transform;
  },
};

/** One transform of a list, a pair of functions as well. */
export const anyTransformKind: Kind<Transform> = {
  takes: `${transformKind.takes}, or {forward, back}`,
  schema: transformKind.schema,
  read: (value, field) =>
    typeof value === "object" && value !== null && ("forward" in value || "back" in value)
      ? pair.read(value, field)
      : transformKind.read(value, field),
};

/**
 * A fitted step, as it is kept in files: every parameter is there. `boxCox` and `standardise` have
 * one a column; `most` is the largest training value. A pair of functions is in no file.
 */
export type FittedTransform =
  | { readonly log: number }
  | { readonly boxCox: readonly number[]; readonly most: readonly number[] }
  | { readonly difference: number }
  | { readonly standardise: { readonly mean: readonly number[]; readonly deviation: readonly number[] } }
  | "squash"
  | { readonly transform: string }
  | TransformPair;

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

type Difference = { readonly difference: number };
const isDifference = (each: Transform | FittedTransform): each is Difference => typeof each === "object" && "difference" in each;
const differenceOf = (each: Transform | FittedTransform): number => (isDifference(each) ? each.difference : 0);

/**
 * The parameters of transforms by the training rows of one series or of several (T x D each).
 * @throws ArgumentError if a difference leaves no rows, a logarithm or a Box-Cox transform meets a
 * value that it cannot take, or a name is not registered
 */
export function fitTransforms(training: readonly Matrix[], list: readonly Transform[]): FittedTransforms {
  const steps: FittedTransform[] = [];
  let here = training.map(inBinary64);
  for (const [i, each] of list.entries()) {
    const step = fitStep(here, anyTransformKind.read(each, `transforms[${i}]`));
    steps.push(step);
    here = here.map((series) => forwardStep(series, step));
  }
  return { steps, lost: rowsLost(steps) };
}

const perColumn = list(number(), "a list of finite numbers");
const fittedKinds = {
  ...byField,
  log: object({ log: given(number(), "") }),
  boxCox: object({ boxCox: given(perColumn, ""), most: given(perColumn, "") }),
  standardise: object({
    standardise: given(
      object({ mean: given(perColumn, ""), deviation: given(list(number({ above: 0 }), "a list of numbers above 0"), "") }),
      "",
    ),
  }),
};

/** The steps of transforms as a file keeps them. @throws ArgumentError for a pair of functions */
export function keptTransforms({ steps }: FittedTransforms): readonly FittedTransform[] {
  const at = steps.findIndex((step) => typeof step === "object" && "forward" in step);
  if (at < 0) return steps;
  throw ArgumentError.because(
    `transforms[${at}] is a pair of functions, which a file cannot hold; add it by registerTransform, and take { transform: NAME }`,
    { field: "transforms" },
  );
}

/**
 * Transforms from the steps of a file, for a series of so many columns. @throws ArgumentError for
 * what is no step, and a name that is not registered
 */
export function openTransforms(kept: unknown, columns: number): FittedTransforms {
  if (!Array.isArray(kept)) throw new ArgumentError("transforms", kept, "a list of fitted transforms");
  const steps = kept.map((each: unknown, i): FittedTransform => {
    const field = `transforms[${i}]`;
    if (each === "squash") return each;
    const isObject = typeof each === "object" && each !== null;
    const found = isObject ? Object.entries(fittedKinds).find(([name]) => Object.hasOwn(each, name)) : undefined;
    if (!found) throw new ArgumentError(field, each, "a fitted transform");
    const step = found[1].read(each, field) as FittedTransform;
    const own =
      typeof step !== "object"
        ? []
        : "boxCox" in step
          ? [step.boxCox, step.most]
          : "standardise" in step
            ? Object.values(step.standardise)
            : [];
    if (own.some(({ length }) => length !== columns))
      throw ArgumentError.shape(`${field} is of ${own[0]!.length} columns; the series has ${columns}`, { field });
    return step;
  });
  return { steps, lost: rowsLost(steps) };
}

/** A series with its transforms done: T - lost rows. @throws ArgumentError as `fitTransforms` */
export function transformed(series: Matrix, { steps }: FittedTransforms): Matrix<Float64Array> {
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

/** What a difference adds to row k, column c of `out`: a value of its input, or one restored before. */
type Earlier = (out: Matrix<Float64Array>, stage: Matrix<Float64Array>, later: number, k: number, c: number, lag: number) => number;

function restored(rows: Matrix, known: Matrix, { steps }: FittedTransforms, earlier: Earlier): Matrix<Float64Array> {
  const stages = [Matrix.from(known, "float64")];
  for (const step of steps.slice(0, -1)) stages.push(forwardStep(stages.at(-1)!, step, 0));
  /** Rows that the differences behind a step take. */
  let later = 0;
  return steps.reduceRight(
    (out, step, i) => {
      const lag = differenceOf(step);
      if (!isDifference(step)) return map(out, inverseOf(step));
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
  /**
   * A prediction of rows `start`, `start` + 1, ... in the units of the data. In closed loop,
   * differences are added to what was predicted before; else every row earlier than its target is
   * known.
   */
  undo(prediction: Matrix, start: number, closedLoop: boolean): Matrix<Float64Array>;
}

/** A series beside itself transformed. @throws ArgumentError as `fitTransforms` */
export function transformSeries(data: Matrix<Float64Array>, fitted: FittedTransforms): TransformedSeries {
  const { lost } = fitted;
  return {
    series: transformed(data, fitted),
    original: data.subarray(lost),
    measured: data,
    lost,
    undo: (prediction, start, closedLoop) =>
      closedLoop
        ? restoredForecast(prediction, data.subarray(0, start + lost), fitted)
        : restoredPredictions(prediction, data, start, fitted),
  };
}

function fitStep(training: readonly Matrix<Float64Array>[], each: Transform): FittedTransform {
  if (each === "log") return { log: 0 };
  if (each === "squash") return each;
  if (each === "standardise") {
    const { mean, deviation } = fitStandardisation(training);
    return { standardise: { mean: [...mean], deviation: [...deviation] } };
  }
  if (typeof each === "object" && "log" in each) return { log: each.log === true ? 0 : each.log };
  const power = each === "boxCox" ? true : "boxCox" in each ? each.boxCox : undefined;
  if (power === undefined) return each as FittedTransform;
  const columns = Array.from({ length: training[0]!.cols }, (_, c) => c);
  return {
    boxCox: columns.map((c) => (power === true ? likeliestPower(training, c) : power)),
    most: columns.map((c) => training.reduce((most, series) => series.column(c).reduce((a, b) => (b > a ? b : a), most), 0)),
  };
}

/** `least`: rows that have to be left. */
function forwardStep(series: Matrix<Float64Array>, step: FittedTransform, least = 1): Matrix<Float64Array> {
  if (!isDifference(step)) return map(series, functionOf(step));
  const { difference: lag } = step;
  const { rows, cols } = series;
  if (rows < lag + least)
    throw ArgumentError.shape(`a difference of ${lag} rows takes a longer series; this one has ${rows} rows`, { field: "transforms" });
  const out = Matrix.zeros(rows - lag, cols);
  for (let i = 0; i < out.data.length; i++) out.data[i] = series.data[i + lag * cols]! - series.data[i]!;
  return out;
}

/** A function of value, row and column. */
type Elementwise = (value: number, row: number, col: number) => number;

function functionOf(step: Exclude<FittedTransform, Difference>): Elementwise {
  if (step === "squash") return (value) => portableTanh(value - 1);
  if ("log" in step) return (value, row, col) => logarithm(value + step.log, row, col, `log with ${step.log} added`);
  if ("standardise" in step) {
    const { mean, deviation } = step.standardise;
    return (value, _, col) => (value - mean[col]!) / deviation[col]!;
  }
  if (!("boxCox" in step)) return finite("forward" in step ? step : transforms.get(step.transform, "transform"));
  return (value, row, col) => {
    const power = step.boxCox[col]!;
    if (value === 0 && power > 0) return -1 / power;
    const log = logarithm(value, row, col, "boxCox");
    return power === 0 ? log : (portablePow(value, power) - 1) / power;
  };
}

/** The least and the largest value that atanh takes. */
const insideOne = 1 - 2 ** -53;

function inverseOf(step: Exclude<FittedTransform, Difference>): Elementwise {
  if (step === "squash")
    return (value) => {
      const inside = Math.max(-insideOne, Math.min(insideOne, value));
      return 1 + 0.5 * portableLog((1 + inside) / (1 - inside));
    };
  if ("log" in step) return (value) => portableExp(value) - step.log;
  if ("standardise" in step) {
    const { mean, deviation } = step.standardise;
    return (value, _, col) => value * deviation[col]! + mean[col]!;
  }
  if ("forward" in step) return (value) => step.back(value);
  if ("transform" in step) return transforms.get(step.transform, "transform").back;
  return (value, _, col) => {
    const power = step.boxCox[col]!;
    if (power === 0) return portableExp(value);
    // A base that a forecast has pushed below 0 is held there. With a power below 0 that would be
    // infinite: it is held at ten times the largest training value.
    const least = power > 0 ? 0 : portablePow(10 * step.most[col]!, power);
    return portablePow(Math.max(least, power * value + 1), 1 / power);
  };
}

/** A user's function, whose values have to be numbers. */
function finite({ forward }: TransformPair): Elementwise {
  return (value, row, col) => {
    const z = forward(value);
    if (typeof z === "number" && (Number.isFinite(z) || Number.isNaN(value))) return z;
    throw ArgumentError.because(
      `the transform's forward gives ${z} for ${value}, at row ${row}, column ${col}; it takes to finite numbers`,
      {
        field: "transforms",
      },
    );
  };
}

/** ln of a value above 0; a missing one (NaN) stays missing. */
function logarithm(value: number, row: number, col: number, what: string): number {
  if (value <= 0)
    throw ArgumentError.because(
      `${what} takes values above 0; row ${row}, column ${col} gives ${value}; add a constant by { log: c }, or leave the transform out`,
      { field: "transforms" },
    );
  return portableLog(value);
}

/**
 * The L of the largest likelihood l(L) = -n/2 ln var(z) + (L - 1) sum ln y, between -5 and 5, to
 * 1e-10: with w = ln y minus its mean, that is the least var((exp(L w) - 1) / L).
 */
function likeliestPower(training: readonly Matrix[], c: number): number {
  const logs = Float64Array.from(
    training.flatMap((series) => Array.from(series.column(c), (value, t) => logarithm(value, t, c, "boxCox"))),
  ).filter((value) => !Number.isNaN(value));
  const mean = logs.reduce((sum, value) => sum + value, 0) / logs.length;
  const spread = (power: number): number => {
    const z = logs.map((log) => (Math.abs(power) < 1e-9 ? log - mean : (portableExp(power * (log - mean)) - 1) / power));
    const middle = z.reduce((sum, value) => sum + value, 0) / z.length;
    return z.reduce((sum, value) => sum + (value - middle) ** 2, 0);
  };
  const share = (Math.sqrt(5) - 1) / 2;
  let [low, high] = [-5, 5];
  let [left, right] = [high - share * (high - low), low + share * (high - low)];
  let [atLeft, atRight] = [spread(left), spread(right)];
  while (high - low > 1e-10) {
    if (atLeft <= atRight) {
      [high, right, atRight] = [right, left, atLeft];
      left = high - share * (high - low);
      atLeft = spread(left);
    } else {
      [low, left, atLeft] = [left, right, atRight];
      right = low + share * (high - low);
      atRight = spread(right);
    }
  }
  return (low + high) / 2;
}

/** The matrix itself if it is of binary64: what is known of its values stays known. */
function inBinary64(matrix: Matrix): Matrix<Float64Array> {
  return matrix.data instanceof Float64Array ? (matrix as Matrix<Float64Array>) : Matrix.from(matrix, "float64");
}

function map(matrix: Matrix<Float64Array>, change: Elementwise): Matrix<Float64Array> {
  const { rows, cols, data } = matrix;
  const out = new Float64Array(data.length);
  for (let t = 0, i = 0; t < rows; t++) for (let c = 0; c < cols; c++, i++) out[i] = change(data[i]!, t, c);
  return new Matrix(rows, cols, out);
}
