// What a Forecaster says of rows to come.
import { Matrix } from "@spillway/numerics";

/** A band around a forecast that a share of the values to come lies in. */
export interface ForecastBand {
  /** The share, such as 0.9. */
  readonly level: number;
  /** steps x O: the lower ends, in the units of the data. */
  readonly lower: Matrix<Float64Array>;
  /** steps x O: the upper ends. */
  readonly upper: Matrix<Float64Array>;
}

/** A value for each step below which a share of the values to come lies. */
export interface ForecastQuantile {
  /** The share, such as 0.1. */
  readonly level: number;
  /** steps x O, in the units of the data. */
  readonly values: Matrix<Float64Array>;
}

/**
 * A forecast: a matrix, steps x O in the units of the data, with the time stamps of its rows if the
 * forecaster knows them, and the bands that were asked for.
 */
export class Forecast extends Matrix<Float64Array> {
  /** The time stamp of each step, in the form of the training data; undefined if it had none. */
  readonly times: readonly string[] | undefined;
  /**
   * A band for each of the `intervals` that were asked for, in their order; undefined without any.
   */
  readonly bands: readonly ForecastBand[] | undefined;
  /** Of each of the `quantiles` that were asked for, in their order; undefined without any. */
  readonly quantiles: readonly ForecastQuantile[] | undefined;

  constructor(
    { rows, cols, data }: Matrix<Float64Array>,
    times?: readonly string[],
    bands?: readonly ForecastBand[],
    quantiles?: readonly ForecastQuantile[],
  ) {
    super(rows, cols, data);
    this.times = times;
    this.bands = bands;
    this.quantiles = quantiles;
  }

  /** The forecast itself: `const { values, times } = await forecaster.forecast(24)`. */
  get values(): this {
    return this;
  }
}
