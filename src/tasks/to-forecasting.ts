// Turning a series into inputs and the values that follow them, with the last rows kept for the
// test.
import { ArgumentError } from "@spillway/core/errors.js";
import { checked, type InputOf, option, resolve, whole } from "@spillway/core/options.js";
import type { FloatArray, Matrix, MatrixLike } from "@spillway/numerics";
import { checkFinite, filledSeries } from "@spillway/numerics/known-finite.js";

export const toForecastingTable = {
  /** How many rows ahead the target is; default 1. */
  forecast: option(whole({ atLeast: 1 }), 1, "How many rows ahead the target is."),
  /**
   * Rows of the test part: a whole number, or a share of the series below 1. Default 0: no test
   * part.
   */
  testSize: option(
    checked<number>(
      "a whole number of at least 0, or a share below 1",
      (value) => typeof value === "number" && value >= 0 && (value < 1 || Number.isSafeInteger(value)),
    ),
    0,
    "Rows of the test part, or their share of the series.",
  ),
};

/** How far ahead the target is, and how much is kept for testing. */
export interface ToForecastingOptions extends InputOf<typeof toForecastingTable> {}

/** Training rows, then the test rows that follow them at once. All four are views of the series. */
export interface ForecastingSplit<Data extends FloatArray = FloatArray> {
  readonly inputs: Matrix<Data>;
  readonly targets: Matrix<Data>;
  readonly testInputs: Matrix<Data>;
  readonly testTargets: Matrix<Data>;
}

/**
 * Pairs row t of a series with row t + forecast. Of the T - forecast pairs the last `testSize` are
 * the test part. The test part goes on where the training part ends, so a reservoir that has run
 * over `inputs` may go straight on with `testInputs`.
 *
 * The order of the fields is train inputs, train targets, test inputs, test targets; ReservoirPy's
 * `to_forecasting` gives X, X_t, y, y_t.
 * @param series T x D; a flat series is one column.
 * @returns four matrices of D columns that share the memory of `series` if it is a matrix or a
 * typed array.
 * @throws ArgumentError for too few rows, or a value that is not finite (row and column named)
 */
export function toForecasting<Data extends FloatArray>(series: Matrix<Data>, options?: ToForecastingOptions): ForecastingSplit<Data>;
export function toForecasting(series: MatrixLike, options?: ToForecastingOptions): ForecastingSplit;
export function toForecasting(series: MatrixLike, options: ToForecastingOptions = {}): ForecastingSplit {
  const { forecast, testSize } = resolve(toForecastingTable, options, "toForecasting");
  const matrix = filledSeries(series, "series");
  checkFinite(matrix, "series");
  const test = testSize < 1 ? Math.round(matrix.rows * testSize) : testSize;
  const pairs = matrix.rows - forecast;
  if (pairs - test < 1) {
    throw ArgumentError.shape(
      `series has ${matrix.rows} rows; a forecast of ${forecast} with ${test} test rows takes at least ${forecast + test + 1}`,
      { of: "toForecasting", field: "series" },
    );
  }
  const train = pairs - test;
  return {
    inputs: matrix.subarray(0, train),
    targets: matrix.subarray(forecast, forecast + train),
    testInputs: matrix.subarray(train, pairs),
    testTargets: matrix.subarray(forecast + train, forecast + pairs),
  };
}
