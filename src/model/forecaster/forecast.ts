// What a Forecaster says of rows to come, and the bands around it.
import { ArgumentError } from "../../core/errors.js";
import { Matrix } from "../../numerics/index.js";
import { conformalOffsets, fewestScores } from "../../series/conformal.js";
import type { ForecasterChoice } from "./choice.js";

/** A band around a forecast that a share of the values to come lies in. */
export interface ForecastBand {
  /** The share, such as 0.9. */
  readonly level: number;
  /** steps x O: the lower ends, in the units of the data. */
  readonly lower: Matrix<Float64Array>;
  /** steps x O: the upper ends. */
  readonly upper: Matrix<Float64Array>;
}

/**
 * A forecast: a matrix, steps x O in the units of the data, with the time stamps of its rows if the
 * forecaster knows them, and the bands that were asked for.
 */
export class Forecast extends Matrix<Float64Array> {
  /** The time stamp of each step, in the form of the training data; undefined if it had none. */
  readonly times: readonly string[] | undefined;
  /** A band for each of the `intervals` that were asked for, in their order; undefined without any. */
  readonly bands: readonly ForecastBand[] | undefined;

  constructor({ rows, cols, data }: Matrix<Float64Array>, times?: readonly string[], bands?: readonly ForecastBand[]) {
    super(rows, cols, data);
    this.times = times;
    this.bands = bands;
  }

  /** The forecast itself: `const { values, times } = await forecaster.forecast(24)`. */
  get values(): this {
    return this;
  }
}

/**
 * Checks levels before any work. @throws ArgumentError if the forecaster chose nothing by
 * forecasts, looks less far ahead, or from too few starts
 */
export function checkIntervals(choice: ForecasterChoice | undefined, steps: number, levels: readonly number[]): void {
  if (levels.length === 0) return;
  if (!choice)
    throw ArgumentError.because(
      "intervals was given; this forecaster knows no errors of forecasts to take them from; fit it with a horizon, or with choose",
      { field: "intervals" },
    );
  if (steps > choice.horizon)
    throw new ArgumentError(
      "steps",
      steps,
      `at most ${choice.horizon} with intervals, which is the horizon that the forecaster was fitted with`,
    );
  const starts = choice.starts.length;
  for (const [i, level] of levels.entries())
    if (starts < fewestScores(level))
      throw new ArgumentError(
        `intervals[${i}]`,
        level,
        `at most ${(starts / (starts + 1)).toFixed(3)}: forecasts from ${starts} starts inside the training part cannot give more; ${fewestScores(level)} can`,
      );
}

/** The bands of a forecast, by the errors of the forecasts that chose the model, step by step. */
export function bandsAround(forecast: Matrix<Float64Array>, choice: ForecasterChoice, levels: readonly number[]): ForecastBand[] {
  return levels.map((level) => {
    const { lower, upper } = conformalOffsets(choice.errors, choice.horizon, { level });
    const moved = ({ data }: Matrix<Float64Array>) =>
      new Matrix(
        forecast.rows,
        forecast.cols,
        forecast.data.map((value, i) => value + data[i]!),
      );
    return { level, lower: moved(lower), upper: moved(upper) };
  });
}
