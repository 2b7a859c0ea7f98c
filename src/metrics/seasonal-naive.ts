// The seasonal naive forecast: the baseline that a forecast of a measured series has to beat.
import { ArgumentError } from "@spillway/core/errors.js";
import { given, type InputOf, resolve, whole } from "@spillway/core/options.js";
import { allocate, asMatrix, Matrix, type MatrixLike, precisionOf } from "@spillway/numerics";
import { checkFinite } from "./check.js";

const table = {
  /** m, rows in one season; 1 repeats the last value. */
  period: given(whole({ atLeast: 1 }), "Rows in one season."),
  /** Rows to forecast. */
  steps: given(whole({ atLeast: 1 }), "Rows to forecast."),
};

/** The season that is repeated, and for how long. */
export interface SeasonalNaiveOptions extends InputOf<typeof table> {}

/**
 * The seasonal naive forecast (R. J. Hyndman, G. Athanasopoulos 2021, "Forecasting: principles and
 * practice", section 5.2): each forecast is the last known value of the same season,
 *
 *     p(T + h) = y(T + h - m (floor((h - 1) / m) + 1)),  h = 1, 2, ..., steps.
 *
 * Against one-step forecasts, where every past value is known, the baseline is the series itself
 * shifted by m: rows start - m to end - m.
 * @param history y, T x D, T at least m.
 * @returns steps x D, in the precision of `history`.
 * @throws ArgumentError on a period or a number of steps that is not a whole number above 0, a
 * history shorter than a period, and a last season with a value that is not finite.
 */
export function seasonalNaive(history: MatrixLike, options: SeasonalNaiveOptions): Matrix {
  const { period, steps } = resolve(table, options, "seasonalNaive");
  const known = asMatrix(history, "history");
  if (known.rows < period) {
    throw ArgumentError.shape(`history has ${known.rows} rows; a period of ${period} takes at least that many`, {
      of: "seasonalNaive",
      field: "history",
    });
  }
  const { rows, cols } = known;
  const season = known.subarray(rows - period, rows);
  checkFinite("seasonalNaive", "the last season", season);
  const out = allocate(precisionOf(known.data), steps * cols);
  for (let h = 0; h < steps; h++) out.set(season.row(h % period), h * cols);
  return new Matrix(steps, cols, out);
}
