// Ridge autoregression: the linear model of the last p values, which a forecaster has to beat.
import { ArgumentError } from "@spillway/core/errors.js";
import {
  anything,
  either,
  flag,
  given,
  type InputOf,
  type Kind,
  list,
  number,
  option,
  optional,
  resolve,
  whole,
} from "@spillway/core/options.js";
import { asMatrix, cholesky, firstNonFinite, Matrix, type MatrixLike } from "@spillway/numerics";
import { validationStarts } from "./validation-starts.js";

const lambdas = [1e-4, 0.01, 1, 10, 100, 1000];
const lambda = number({ atLeast: 0 });

export const autoregressionTable = {
  /** p: values that the next one is made of. */
  order: given(whole({ atLeast: 1 }), "p: values that the next one is made of."),
  /**
   * The ridge parameter, or several: the one whose closed-loop forecasts of `horizon` steps, from
   * starts in the last quarter of the rows, have the smallest error is taken for each column, and
   * all rows are fitted again with it. Default 1e-4, 0.01, 1, 10, 100 and 1000.
   */
  lambda: option(
    either("a number of at least 0, or a list of them", lambda, list(lambda, "at least one number", 1)),
    lambdas,
    "The ridge parameter, or several to choose from.",
  ),
  /** Steps of the forecasts that choose lambda; needed if there are several. */
  horizon: optional(whole({ atLeast: 1 }), "Steps of the forecasts that choose lambda."),
  /**
   * Fit z-scores of each column by its training rows. Default true; lambda is relative to them
   * then.
   */
  standardise: option(flag, true, "Fit z-scores of each column."),
  /**
   * T x K: what is known beforehand of every row, that of the row which is forecast included; each
   * column has a weight beside those of the p earlier values.
   */
  known: optional(anything as Kind<MatrixLike>, "T x K: what is known beforehand of every row."),
};

/** Options of `fitAutoregression`. */
export interface AutoregressionOptions extends InputOf<typeof autoregressionTable> {}

/**
 * One column's model: z(t) = intercept + sum_j weights[j - 1] z(t - j) + sum_k knownWeights[k]
 * x_k(t), z = (y - mean) / deviation.
 */
interface Column {
  readonly mean: number;
  readonly deviation: number;
  readonly weights: Float64Array;
  /** Of the known columns in their own units. */
  readonly knownWeights: Float64Array;
  readonly intercept: number;
  readonly lambda: number;
}

/**
 * A fitted autoregression of each column by itself,
 *
 *     y(t) = c + sum_{j = 1..p} w_j y(t - j),   w = (X' X + lambda I)^-1 X' y,
 *
 * X the T - p rows of p earlier values, X and y with their means taken off; c from the means and
 * without a penalty (Hastie, Tibshirani and Friedman, Elements of Statistical Learning, section
 * 3.4.1). With `known` there are K further columns of X, those of row t itself.
 */
export class Autoregression {
  readonly order: number;
  /** The ridge parameter of each column. */
  readonly lambdas: readonly number[];
  readonly #columns: readonly Column[];
  readonly #known: number;

  /** @internal Use `fitAutoregression`. */
  constructor(order: number, columns: readonly Column[]) {
    this.order = order;
    this.#known = columns[0]?.knownWeights.length ?? 0;
    this.lambdas = columns.map((column) => column.lambda);
    this.#columns = columns;
  }

  /**
   * The `steps` rows after the last of `history`, each made of those before it.
   * @param history T x D, T at least p. @param ahead steps x K: what is known beforehand of them
   * @returns steps x D
   * @throws ArgumentError for a history of another shape, or without what is known
   */
  forecast(history: MatrixLike, steps: number, ahead?: MatrixLike): Matrix<Float64Array> {
    const known = asMatrix(history, "history");
    const coming = ahead === undefined ? Matrix.zeros(steps, 0) : asMatrix(ahead, "ahead");
    if (coming.rows !== steps || coming.cols !== this.#known)
      throw ArgumentError.shape(
        `ahead is ${coming.rows} x ${coming.cols}; this autoregression takes ${this.#known} known values for each of ${steps} steps`,
        { field: "ahead" },
      );
    if (known.cols !== this.#columns.length)
      throw ArgumentError.shape(`history has ${known.cols} columns; this autoregression was fitted to ${this.#columns.length}`, {
        field: "history",
      });
    if (known.rows < this.order)
      throw ArgumentError.shape(`history has ${known.rows} rows; an autoregression of order ${this.order} takes at least that many`, {
        field: "history",
      });
    const out = Matrix.zeros(steps, known.cols);
    for (const [c, column] of this.#columns.entries()) {
      const values = new Float64Array(this.order + steps);
      for (let j = 0; j < this.order; j++)
        values[j] = (known.data[(known.rows - this.order + j) * known.cols + c]! - column.mean) / column.deviation;
      continueLoop(column, values, coming);
      for (let h = 0; h < steps; h++) out.data[h * known.cols + c] = values[this.order + h]! * column.deviation + column.mean;
    }
    return out;
  }
}

/**
 * Fits an autoregression to each column of a series.
 * @param series T x D, finite. @throws ArgumentError for bad options, fewer rows than order + 2, a
 * value that is not finite, several lambdas without a horizon or with too few rows to choose one,
 * and lambda 0 if columns depend on one another
 */
export function fitAutoregression(series: MatrixLike, options: AutoregressionOptions): Autoregression {
  const { order, lambda: asked, horizon, standardise, known } = resolve(autoregressionTable, options, "fitAutoregression");
  const given = asMatrix(series, "series");
  const beside = known === undefined ? Matrix.zeros(given.rows, 0) : asMatrix(known, "known");
  if (beside.rows !== given.rows)
    throw ArgumentError.shape(`known has ${beside.rows} rows and series ${given.rows}; they take as many`, { field: "known" });
  const unknown = firstNonFinite(beside.data);
  if (unknown >= 0)
    throw ArgumentError.because(
      `known[${Math.floor(unknown / beside.cols)}][${unknown % beside.cols}] is ${beside.data[unknown]}; it takes finite numbers`,
      {
        field: "known",
      },
    );
  if (given.rows < order + 2)
    throw ArgumentError.shape(`an autoregression of order ${order} takes at least ${order + 2} rows; this series has ${given.rows}`, {
      field: "order",
      value: order,
    });
  const candidates = typeof asked === "number" ? [asked] : asked;
  if (candidates.length > 1 && horizon === undefined)
    throw ArgumentError.because("horizon is missing; it is how far the forecasts look that choose among several lambdas", {
      field: "horizon",
    });
  const columns = Array.from({ length: given.cols }, (_, c) => {
    const values = Float64Array.from({ length: given.rows }, (_, t) => given.data[t * given.cols + c]!);
    const bad = values.findIndex((value) => !Number.isFinite(value));
    if (bad >= 0)
      throw ArgumentError.because(`series[${bad}][${c}] is ${values[bad]}; an autoregression takes finite numbers`, { field: "series" });
    const best = candidates.length > 1 ? chooseLambda(values, beside, order, candidates, horizon!, standardise) : candidates[0]!;
    return lagged(values, beside, order, standardise)(best);
  });
  return new Autoregression(order, columns);
}

/**
 * The lambda of the smallest sum of squared errors over starts and steps. A relative difference
 * below 1e-3 of the root is a tie, which the larger lambda wins.
 */
function chooseLambda(
  values: Float64Array,
  known: Matrix,
  order: number,
  candidates: readonly number[],
  horizon: number,
  standardise: boolean,
): number {
  const { fitted, starts } = validationStarts(values.length, horizon, order + 2);
  const modelBy = lagged(values.subarray(0, fitted), known.subarray(0, fitted), order, standardise);
  let best = { lambda: Number.NaN, error: Number.POSITIVE_INFINITY };
  for (const candidate of candidates.toSorted((a, b) => b - a)) {
    const column = modelBy(candidate);
    let squares = 0;
    for (const start of starts) {
      const loop = new Float64Array(order + horizon);
      for (let j = 0; j < order; j++) loop[j] = (values[start - order + j]! - column.mean) / column.deviation;
      continueLoop(column, loop, known.subarray(start, start + horizon));
      for (let h = 0; h < horizon; h++) squares += (loop[order + h]! * column.deviation + column.mean - values[start + h]!) ** 2;
    }
    const error = Math.sqrt(squares);
    if (error < best.error * (1 - 1e-3)) best = { lambda: candidate, error };
  }
  // Every loop ran away: the strongest penalty stays nearest.
  return Number.isNaN(best.lambda) ? Math.max(...candidates) : best.lambda;
}

/** Fills a loop of z-scores whose first p values are known. */
function continueLoop({ weights, knownWeights, intercept }: Column, values: Float64Array, ahead: Matrix): void {
  for (let t = weights.length; t < values.length; t++) {
    let sum = intercept;
    for (let k = 0; k < knownWeights.length; k++) sum += knownWeights[k]! * ahead.at(t - weights.length, k);
    for (let j = 0; j < weights.length; j++) sum += weights[j]! * values[t - 1 - j]!;
    values[t] = sum;
  }
}

/** The model of a column by its lambda: the sums of its lagged products are made once. */
function lagged(values: Float64Array, known: Matrix, order: number, standardise: boolean): (lambda: number) => Column {
  const { length } = values;
  const { cols } = known;
  const mean = values.reduce((sum, value) => sum + value, 0) / length;
  const spread = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / length);
  const deviation = standardise && spread > length * 2 ** -53 * Math.abs(mean) ? spread : 1;
  const z = values.map((value) => (value - mean) / deviation);
  const rows = length - order;
  const columns = Array.from({ length: cols }, (_, k) => scaled(Float64Array.from(known.column(k)), standardise));
  // Means of z(t - j) over t = p .. T - 1, j = 0 .. p, then of the known columns' z-scores.
  const means = Float64Array.from({ length: order + 1 + cols }, (_, j) => {
    if (j > order) return columns[j - order - 1]!.z.subarray(order).reduce((sum, value) => sum + value, 0) / rows;
    let sum = 0;
    for (let t = order; t < length; t++) sum += z[t - j]!;
    return sum / rows;
  });
  // products[i][j] = sum over t of z(t - i) z(t - j): the first row by sums, each later one along
  // the diagonals, by the pair of values that enters and the pair that leaves.
  const products = Matrix.zeros(order + 1, order + 1);
  for (let j = 0; j <= order; j++) {
    let sum = 0;
    for (let t = order; t < length; t++) sum += z[t]! * z[t - j]!;
    products.data[j] = sum;
  }
  for (let i = 1; i <= order; i++)
    for (let j = i; j <= order; j++)
      products.data[i * (order + 1) + j] =
        products.data[(i - 1) * (order + 1) + j - 1]! + z[order - i]! * z[order - j]! - z[length - i]! * z[length - j]!;
  const entry = (i: number, t: number): number => (i > order ? columns[i - order - 1]!.z[t]! : z[t - i]!);
  const sumOf = (i: number, j: number): number => {
    if (j <= order) return products.data[i * (order + 1) + j]!;
    let sum = 0;
    for (let t = order; t < length; t++) sum += entry(i, t) * entry(j, t);
    return sum;
  };
  const centred = (i: number, j: number): number => sumOf(Math.min(i, j), Math.max(i, j)) - rows * means[i]! * means[j]!;
  const all = order + cols;
  // X' X and X' y about their means.
  const gram = Matrix.zeros(all, all);
  const cross = Matrix.zeros(all, 1);
  for (let i = 0; i < all; i++) {
    for (let j = i; j < all; j++) {
      const value = centred(i + 1, j + 1);
      gram.data[i * all + j] = value;
      gram.data[j * all + i] = value;
    }
    cross.data[i] = centred(0, i + 1);
  }
  const isConstant = gram.data.every((value) => value === 0);
  return (lambda) => {
    const weights = isConstant ? new Float64Array(all) : cholesky(gram, new Float64Array(all).fill(lambda)).solve(cross).data;
    let intercept = means[0]!;
    for (let j = 0; j < all; j++) intercept -= weights[j]! * means[j + 1]!;
    const knownWeights = columns.map((column, k) => weights[order + k]! / column.deviation);
    for (const [k, column] of columns.entries()) intercept -= knownWeights[k]! * column.mean;
    return {
      ...{ mean, deviation, intercept, lambda },
      weights: weights.slice(0, order) as Float64Array,
      knownWeights: Float64Array.from(knownWeights),
    };
  };
}

/** z-scores of a column; a constant one is 0. */
function scaled(values: Float64Array, standardise: boolean) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const spread = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
  const deviation = standardise && spread > 1e-12 * Math.abs(mean) ? spread : 1;
  return { mean, deviation, z: values.map((value) => (value - mean) / deviation) };
}
