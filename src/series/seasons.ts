// The seasons of a series: of the calendar if its step in time is known, else found in its rows.
import { checkHas } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { asMatrix, type MatrixLike } from "@spillway/numerics";
import { checkFinite } from "@spillway/numerics/known-finite.js";
import { dayMs } from "./civil.js";
import type { TimeStep } from "./time-grid.js";

/**
 * Rows in each season that the calendar gives a series of this step: a day and a week of parts of a
 * day (24 and 168 hours), a week of days (7), a year of weeks (52) and of months (12 and its
 * parts). Empty if no season is a whole number of steps.
 */
export function calendarSeasons(step: TimeStep): number[] {
  const { count, unit } = checkHas("step", step, "the step of a time grid", "count", "unit");
  if (unit === "months") return count < 12 && 12 % count === 0 ? [12 / count] : [];
  const ms = unit === "days" ? count * dayMs : count;
  if (ms < dayMs) return dayMs % ms === 0 ? [dayMs / ms, (7 * dayMs) / ms] : [];
  if (ms === 7 * dayMs) return [52];
  return (7 * dayMs) % ms === 0 ? [(7 * dayMs) / ms] : [];
}

/** The most rows that are looked at, and the longest season that is found. */
const mostRows = 20_000;
const longest = 2000;
/** A season's correlation is at least this, and at least this share of the best one's. */
const leastCorrelation = 0.3;
const nearBest = 0.9;

/**
 * The season that the rows show: of the lags at which the autocorrelation of the series, its
 * straight line taken out, has a peak of at least 0.3 after its first dip, the shortest whose peak
 * is at least 0.9 of the highest. Two seasons must be in the rows. Of several columns, the mean of
 * their autocorrelations counts. Undefined if there is none.
 * @param series T x D.
 * @throws ArgumentError for rows that are not finite
 */
export function findSeason(series: MatrixLike): number | undefined {
  const whole = asMatrix(series, "series");
  checkFinite(whole, "series");
  const { rows, cols, data } = whole.subarray(Math.max(0, whole.rows - mostRows));
  const most = Math.min(longest, Math.floor(rows / 2));
  if (most < 3) return undefined;
  const correlation = new Float64Array(most + 1);
  let changing = 0;
  for (let c = 0; c < cols; c++) {
    const rest = withoutLine(Float64Array.from({ length: rows }, (_, t) => data[t * cols + c]!));
    const own = rest.reduce((sum, value) => sum + value * value, 0);
    if (!(own > 0)) continue;
    changing++;
    for (let lag = 0; lag <= most; lag++) {
      let sum = 0;
      for (let t = lag; t < rows; t++) sum += rest[t]! * rest[t - lag]!;
      // Fewer rows make the sum at a long lag; it is brought to the number of all.
      correlation[lag] = correlation[lag]! + ((sum / own) * rows) / (rows - lag);
    }
  }
  if (changing === 0) return undefined;
  let dip = 1;
  while (dip < most && correlation[dip + 1]! < correlation[dip]!) dip++;
  const peaks: number[] = [];
  for (let lag = dip + 1; lag < most; lag++) {
    const here = correlation[lag]!;
    if (here >= leastCorrelation * changing && here > correlation[lag - 1]! && here >= correlation[lag + 1]!) peaks.push(lag);
  }
  const best = Math.max(...peaks.map((lag) => correlation[lag]!));
  return peaks.find((lag) => correlation[lag]! >= nearBest * best);
}

/**
 * The seasons of a series: those given, else those of its step, else the one that its rows show.
 * Only seasons that the rows contain twice count.
 * @throws ArgumentError for a season that is no whole number above 1
 */
export function seasonsOf(
  series: MatrixLike,
  { step, seasons }: { readonly step?: TimeStep | undefined; readonly seasons?: readonly number[] | undefined } = {},
): number[] {
  const { rows } = asMatrix(series, "series");
  const wrong = seasons?.find((season) => !Number.isSafeInteger(season) || season < 2);
  if (wrong !== undefined) throw new ArgumentError("seasons", wrong, "whole numbers above 1");
  const found = seasons ?? (step ? calendarSeasons(step) : [findSeason(series) ?? 0]);
  return found.filter((season) => season > 1 && 2 * season <= rows);
}

/** What is left of values when their straight line by least squares is taken out. */
function withoutLine(values: Float64Array): Float64Array {
  const n = values.length;
  const middle = (n - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  let product = 0;
  let squares = 0;
  values.forEach((value, t) => {
    product += (t - middle) * (value - mean);
    squares += (t - middle) ** 2;
  });
  return values.map((value, t) => value - mean - ((t - middle) * product) / squares);
}
