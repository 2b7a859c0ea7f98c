// One transform of a series: its parameters by training rows, what it does, and its inverse.
import { ArgumentError } from "@spillway/core/errors.js";
import { Matrix, portableExp, portableLog, portablePow, portableTanh } from "@spillway/numerics";
import { fitStandardisation } from "./standardisation.js";
import { type FittedTransform, type Transform, type TransformPair, transforms } from "./transform-kinds.js";

/** ln of a value above 0; a missing one (NaN) stays missing. */
export function logarithm(value: number, row: number, col: number, what: string): number {
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

type Difference = { readonly difference: number };
export const isDifference = (each: Transform | FittedTransform): each is Difference => typeof each === "object" && "difference" in each;
export const differenceOf = (each: Transform | FittedTransform): number => (isDifference(each) ? each.difference : 0);

export function fitStep(training: readonly Matrix<Float64Array>[], each: Transform): FittedTransform {
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
export function forwardStep(series: Matrix<Float64Array>, step: FittedTransform, least = 1): Matrix<Float64Array> {
  if (!isDifference(step)) return map(series, functionOf(step));
  const { difference: lag } = step;
  const { rows, cols } = series;
  if (rows < lag + least)
    throw ArgumentError.shape(`a difference of ${lag} rows takes a longer series; this one has ${rows} rows`, { field: "transforms" });
  const out = Matrix.zeros(rows - lag, cols);
  for (let i = 0; i < out.data.length; i++) out.data[i] = series.data[i + lag * cols]! - series.data[i]!;
  return out;
}

/** Undoes a step that looks at one value at a time. */
export function undoStep(series: Matrix<Float64Array>, step: Exclude<FittedTransform, Difference>): Matrix<Float64Array> {
  return map(series, inverseOf(step));
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

function map(matrix: Matrix<Float64Array>, change: Elementwise): Matrix<Float64Array> {
  const { rows, cols, data } = matrix;
  const out = new Float64Array(data.length);
  for (let t = 0, i = 0; t < rows; t++) for (let c = 0; c < cols; c++, i++) out[i] = change(data[i]!, t, c);
  return new Matrix(rows, cols, out);
}
