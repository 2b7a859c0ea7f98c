// Quantiles around a forecast from its errors at earlier origins, also of a few rows.
import { portablePow, studentQuantile } from "@spillway/numerics";

/** Errors of a forecast from earlier origins. */
export interface OriginErrors {
  /** y - forecast, one list of steps for each origin; NaN was not measured. */
  readonly errors: readonly Float64Array[];
  /** K of `earlierOrigins`. */
  readonly horizons: number;
  /** Rows from the first origin to the end of the series. */
  readonly validated: number;
  /** Rows in a season, 1 without. */
  readonly season: number;
}

/** From so many horizons the quantiles are those of the errors themselves. */
const enoughHorizons = 3;

/**
 * How far from the forecast of steps 1 to `steps` its quantile `level` is, 0 < level < 1. Errors
 * are brought to step 1 by u = error / k^c, c = 0.3 with a season or K >= 3, otherwise 0.5.
 *
 * - K >= 3: the quantile of all u and -u together (linear interpolation), times k^c;
 * - otherwise Student's t, with min(30, max(2, 0.4 (validated - 12))) degrees of freedom, times the
 *   root mean square of u, times k^c.
 *
 * Without a measured error NaN.
 */
export function errorQuantile({ errors, horizons, validated, season }: OriginErrors, level: number, steps: number): Float64Array {
  const growth = season > 1 || horizons >= enoughHorizons ? 0.3 : 0.5;
  const factors = Float64Array.from({ length: Math.max(steps, ...errors.map(({ length }) => length)) }, (_, k) =>
    portablePow(k + 1, growth),
  );
  const scaled = errors.flatMap((each) => Array.from(each, (error, k) => error / factors[k]!)).filter((error) => !Number.isNaN(error));
  const first = horizons >= enoughHorizons ? symmetricQuantile(scaled, level) : studentError(scaled, level, validated);
  return factors.subarray(0, steps).map((factor) => first * factor);
}

function symmetricQuantile(values: readonly number[], level: number): number {
  const both = Float64Array.from([...values, ...values.map((value) => -value)]).sort();
  const position = (both.length - 1) * level;
  const below = Math.floor(position);
  const above = Math.min(below + 1, both.length - 1);
  return both[below]! + (position - below) * (both[above]! - both[below]!);
}

function studentError(values: readonly number[], level: number, validated: number): number {
  const square = values.reduce((sum, value) => sum + value * value, 0) / values.length;
  return Math.sqrt(square) * studentQuantile(level, Math.min(30, Math.max(2, 0.4 * (validated - 12))));
}
