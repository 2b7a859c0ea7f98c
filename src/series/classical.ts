// Classical forecasts of one series from itself: naive methods, Theta and exponential smoothing.
// Values that were not measured are NaN.
import { ArgumentError } from "@spillway/core/errors.js";
import { type FittedSmoothing, fitLine, fitSmoothing, rotated, type Smoothing, type SmoothingForm } from "./exponential-smoothing.js";
import { foundIndices, isPositive, measuredCount, seasonalIndices, withoutSeason } from "./seasonal-indices.js";

/** Methods, by the name that options and results have. */
export const classicalMethods = { naive, naive2, seasonalNaive, drift, theta, damped, ets } as const;

export type ClassicalMethod = keyof typeof classicalMethods;

/**
 * Fits a method to a series, whose season has `season` rows (1: none).
 *
 * - "naive": the last value. "seasonalNaive": the last value of the same season. "drift": the
 *   straight line through the first and the last value.
 * - "naive2": the last value without its season, with the season of the row to come; seasons are
 *   those of `foundIndices`, here as in the next two.
 * - "theta": Theta of Assimakopoulos and Nikolopoulos (2000, International Journal of Forecasting
 *   16), the mean of the line and of the smoothed series of double curvature.
 * - "damped": a level with a damped trend, by least squares; the last value below 5 rows.
 * - "ets": of a level and a damped trend, each without a season, with an additive, and (all values
 *   above 0) a multiplicative one, the form with the least AICc; seasons from 2m + 5 rows on. The
 *   last value if no form has a finite one.
 *
 * @param values NaN was not measured
 * @param isKnown the series has a season, as more rows of it have shown: it is not tested for one
 * @returns plain data, for `continueSmoothing` and `followSmoothing`
 * @throws ArgumentError if nothing was measured
 */
export function fitClassical(method: ClassicalMethod, values: ArrayLike<number>, season = 1, isKnown = false): Smoothing {
  const all = Float64Array.from(values);
  const first = all.findIndex((value) => !Number.isNaN(value));
  if (first < 0)
    throw ArgumentError.because(`values has ${all.length} rows, and none of them was measured; a forecast takes at least one`, {
      of: method,
      field: "values",
    });
  return classicalMethods[method](all.subarray(first), season, isKnown);
}

const unmoved: Smoothing = {
  ...{ season: "none", level: 0, trend: 0, damping: 0, alpha: 0, beta: 0, gamma: 0 },
  indices: new Float64Array(0),
  least: Number.NEGATIVE_INFINITY,
};

function naive(values: Float64Array): Smoothing {
  return { ...unmoved, level: values[lastMeasured(values)]!, alpha: 1 };
}

function seasonalNaive(values: Float64Array, season: number): Smoothing {
  if (season < 2 || values.length < season) return naive(values);
  const last = naive(values).level;
  const indices = Float64Array.from({ length: season }, (_, j) => {
    let t = values.length - season + j;
    while (t >= 0 && Number.isNaN(values[t]!)) t -= season;
    return values[t] ?? last;
  });
  return { ...unmoved, season: "additive", gamma: 1, indices };
}

function drift(values: Float64Array): Smoothing {
  const last = lastMeasured(values);
  const slope = last > 0 ? (values[last]! - values[0]!) / last : 0;
  return { ...unmoved, level: values[last]! + slope * (values.length - 1 - last), trend: slope, damping: 1, alpha: 1 };
}

function naive2(values: Float64Array, season: number, isKnown: boolean): Smoothing {
  return onSeason(values, season, isKnown, naive);
}

/** Smoothing constants that are tried. */
const alphas = [0.01, 0.03, ...Array.from({ length: 19 }, (_, k) => (k + 1) / 20), 0.99];

function theta(values: Float64Array, season: number, isKnown: boolean): Smoothing {
  const fitted = onSeason(values, season, isKnown, (rest) => {
    const line = fitLine(rest);
    const doubled = rest.map((value, t) => 2 * value - line.at(t));
    let best = { squares: Number.POSITIVE_INFINITY, alpha: 0, level: doubled[0]! };
    for (const alpha of alphas) {
      let level = doubled[0]!;
      let squares = 0;
      for (let t = 1; t < doubled.length; t++) {
        const error = doubled[t]! - level;
        if (Number.isNaN(error)) continue;
        squares += error * error;
        level += alpha * error;
      }
      if (squares < best.squares) best = { squares, alpha, level };
    }
    // (l + L(t)) / 2 moves on by half the slope and by alpha times its own error.
    return { ...unmoved, level: (best.level + line.at(rest.length - 1)) / 2, trend: line.slope / 2, damping: 1, alpha: best.alpha };
  });
  return values.every((value) => !(value < 0)) ? { ...fitted, least: 0 } : fitted;
}

function damped(values: Float64Array, season: number, isKnown: boolean): Smoothing {
  return onSeason(values, season, isKnown, (rest) => {
    if (measuredCount(rest) < 5) return naive(rest);
    return fitSmoothing(rest, 1, { trend: true, season: "none" })?.smoothing ?? naive(rest);
  });
}

function ets(values: Float64Array, season: number, isKnown: boolean): Smoothing {
  const isLong = season > 1 && values.length >= 2 * season + 5;
  const seasons: SmoothingForm["season"][] = isKnown && isLong ? [] : ["none"];
  if (isLong) seasons.push("additive", ...(isPositive(values) ? ["multiplicative" as const] : []));
  let best: FittedSmoothing | undefined;
  for (const kind of seasons) {
    for (const trend of [false, true]) {
      const fitted = fitSmoothing(values, season, { trend, season: kind });
      if (fitted && fitted.aicc < (best?.aicc ?? Number.POSITIVE_INFINITY)) best = fitted;
    }
  }
  return best?.smoothing ?? naive(values);
}

/** A method on the series without the season that is found, with that season put back. */
function onSeason(values: Float64Array, season: number, isKnown: boolean, method: (rest: Float64Array) => Smoothing): Smoothing {
  const found = isKnown ? seasonalIndices(values, season) : foundIndices(values, season);
  if (!found) return method(values);
  return { ...method(withoutSeason(values, found)), season: found.kind, indices: rotated(found.indices, values.length % season) };
}

function lastMeasured(values: Float64Array): number {
  return values.findLastIndex((value) => !Number.isNaN(value));
}
