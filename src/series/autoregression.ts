// Ridge autoregression: the linear model of the last p values, which a forecaster has to beat.
import { ArgumentError } from "../core/errors.js";
import { either, flag, given, list, number, option, optional, resolve, type TableOf, whole } from "../core/options.js";
import { asMatrix, cholesky, Matrix, type MatrixLike } from "../numerics/index.js";
import { validationStarts } from "./validation-starts.js";

/** Options of `fitAutoregression`. */
export interface AutoregressionOptions {
  /** p: values that the next one is made of. */
  readonly order: number;
  /**
   * The ridge parameter, or several: the one whose closed-loop forecasts of `horizon` steps, from
   * starts in the last quarter of the rows, have the smallest error is taken for each column, and
   * all rows are fitted again with it. Default 1e-4, 0.01, 1, 10, 100 and 1000.
   */
  readonly lambda?: number | readonly number[] | undefined;
  /** Steps of the forecasts that choose lambda; needed if there are several. */
  readonly horizon?: number | undefined;
  /**
   * Fit z-scores of each column by its training rows. Default true; lambda is relative to them
   * then.
   */
  readonly standardise?: boolean | undefined;
}

const lambdas = [1e-4, 0.01, 1, 10, 100, 1000];
const lambda = number({ atLeast: 0 });

/** The options of `fitAutoregression`. */
export const autoregressionTable = {
  order: given(whole({ atLeast: 1 }), "p: values that the next one is made of."),
  lambda: option(
    either("a number of at least 0, or a list of them", lambda, list(lambda, "at least one number", 1)),
    lambdas,
    "The ridge parameter, or several to choose from.",
  ),
  horizon: optional(whole({ atLeast: 1 }), "Steps of the forecasts that choose lambda."),
  standardise: option(flag, true, "Fit z-scores of each column."),
} satisfies TableOf<AutoregressionOptions>;

/**
 * One column's model: z(t) = intercept + sum_j weights[j - 1] z(t - j), z = (y - mean) / deviation.
 */
interface Column {
  readonly mean: number;
  readonly deviation: number;
  readonly weights: Float64Array;
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
 * 3.4.1).
 */
export class Autoregression {
  readonly order: number;
  /** The ridge parameter of each column. */
  readonly lambdas: readonly number[];
  readonly #columns: readonly Column[];

  /** @internal Use `fitAutoregression`. */
  constructor(order: number, columns: readonly Column[]) {
    this.order = order;
    this.lambdas = columns.map((column) => column.lambda);
    this.#columns = columns;
  }

  /**
   * The `steps` rows after the last of `history`, each made of those before it.
   * @param history T x D, T at least p. @returns steps x D
   * @throws ArgumentError for a history of another shape
   */
  forecast(history: MatrixLike, steps: number): Matrix<Float64Array> {
    const known = asMatrix(history, "history");
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
      continueLoop(column, values);
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
  const { order, lambda: asked, horizon, standardise } = resolve(autoregressionTable, options, "fitAutoregression");
  const given = asMatrix(series, "series");
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
    const best = candidates.length > 1 ? chooseLambda(values, order, candidates, horizon!, standardise) : candidates[0]!;
    return new Lagged(values, order, standardise).solve(best);
  });
  return new Autoregression(order, columns);
}

/**
 * The lambda of the smallest sum of squared errors over starts and steps. A relative difference
 * below 1e-3 of the root is a tie, which the larger lambda wins.
 */
function chooseLambda(values: Float64Array, order: number, candidates: readonly number[], horizon: number, standardise: boolean): number {
  const { fitted, starts } = validationStarts(values.length, horizon, order + 2);
  const lagged = new Lagged(values.subarray(0, fitted), order, standardise);
  let best = { lambda: Number.NaN, error: Number.POSITIVE_INFINITY };
  for (const candidate of candidates.toSorted((a, b) => b - a)) {
    const column = lagged.solve(candidate);
    let squares = 0;
    for (const start of starts) {
      const loop = new Float64Array(order + horizon);
      for (let j = 0; j < order; j++) loop[j] = (values[start - order + j]! - column.mean) / column.deviation;
      continueLoop(column, loop);
      for (let h = 0; h < horizon; h++) squares += (loop[order + h]! * column.deviation + column.mean - values[start + h]!) ** 2;
    }
    const error = Math.sqrt(squares);
    if (error < best.error * (1 - 1e-3)) best = { lambda: candidate, error };
  }
  // Every loop ran away: the strongest penalty stays nearest.
  return Number.isNaN(best.lambda) ? Math.max(...candidates) : best.lambda;
}

/** Fills a loop of z-scores whose first p values are known. */
function continueLoop({ weights, intercept }: Column, values: Float64Array): void {
  for (let t = weights.length; t < values.length; t++) {
    let sum = intercept;
    for (let j = 0; j < weights.length; j++) sum += weights[j]! * values[t - 1 - j]!;
    values[t] = sum;
  }
}

/** The sums of a column's lagged products, from which every lambda is solved. */
class Lagged {
  readonly #mean: number;
  readonly #deviation: number;
  /** Means of z(t - j) over t = p .. T - 1, j = 0 .. p. */
  readonly #means: Float64Array;
  /** X' X and X' y about their means. */
  readonly #gram: Matrix<Float64Array>;
  readonly #cross: Matrix<Float64Array>;

  constructor(values: Float64Array, order: number, standardise: boolean) {
    const { length } = values;
    const mean = values.reduce((sum, value) => sum + value, 0) / length;
    const spread = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / length);
    this.#mean = mean;
    this.#deviation = standardise && spread > length * 2 ** -53 * Math.abs(mean) ? spread : 1;
    const z = values.map((value) => (value - mean) / this.#deviation);
    const rows = length - order;
    this.#means = Float64Array.from({ length: order + 1 }, (_, j) => {
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
    const centred = (i: number, j: number): number =>
      products.data[Math.min(i, j) * (order + 1) + Math.max(i, j)]! - rows * this.#means[i]! * this.#means[j]!;
    this.#gram = Matrix.zeros(order, order);
    this.#cross = Matrix.zeros(order, 1);
    for (let i = 0; i < order; i++) {
      for (let j = 0; j < order; j++) this.#gram.data[i * order + j] = centred(i + 1, j + 1);
      this.#cross.data[i] = centred(0, i + 1);
    }
  }

  solve(lambda: number): Column {
    const order = this.#gram.rows;
    const isConstant = this.#gram.data.every((value) => value === 0);
    const weights = isConstant
      ? new Float64Array(order)
      : cholesky(this.#gram, new Float64Array(order).fill(lambda)).solve(this.#cross).data;
    let intercept = this.#means[0]!;
    for (let j = 0; j < order; j++) intercept -= weights[j]! * this.#means[j + 1]!;
    return { mean: this.#mean, deviation: this.#deviation, weights, intercept, lambda };
  }
}
