// What a Forecaster says of rows to come.
import { Matrix } from "../numerics/index.js";

/**
 * A forecast: a matrix, steps x O in the units of the data, with the time stamps of its rows if the
 * forecaster knows them.
 */
export class Forecast extends Matrix<Float64Array> {
  /** The time stamp of each step, in the form of the training data; undefined if it had none. */
  readonly times: readonly string[] | undefined;

  constructor({ rows, cols, data }: Matrix<Float64Array>, times?: readonly string[]) {
    super(rows, cols, data);
    this.times = times;
  }

  /** The forecast itself: `const { values, times } = await forecaster.forecast(24)`. */
  get values(): this {
    return this;
  }
}
