// Exponential smoothing of one series with additive errors: its recursion, which Theta and the
// naive methods are cases of too, and its fit by least squares. Choosing a form is classical.ts.
import { portableExp, portableLog } from "@spillway/numerics";
import { minimise } from "./minimise.js";
import { meanOf, measuredCount, type SeasonalIndices, seasonalIndices, withoutSeason } from "./seasonal-indices.js";

/**
 * A level with a damped trend and a season, at the end of a series. With e = x - fit, the fit being
 * l + phi b and the season of the row:
 *
 *     additive or none:  l <- l + phi b + alpha e      b <- phi b + beta e      s <- s + gamma e
 *     multiplicative:    l <- l + phi b + alpha e / s  b <- phi b + beta e / s  s <- s + gamma e / (l + phi b)
 *
 * with the values before the row on the right. A value that was not measured (NaN) has e = 0.
 */
export interface Smoothing {
  readonly season: "none" | SeasonalIndices["kind"];
  readonly level: number;
  readonly trend: number;
  /** phi; 0 without a trend. */
  readonly damping: number;
  readonly alpha: number;
  readonly beta: number;
  readonly gamma: number;
  /** Of the rows to come, the next one first; none without a season. */
  readonly indices: Float64Array;
  /** No forecast is below it. */
  readonly least: number;
}

/** A smoothing while it runs: `next` is the index of the next row's season. */
type Running = { -readonly [K in keyof Smoothing]: Smoothing[K] } & { next: number };

/** Forecasts of the next rows: step k is l + (phi + ... + phi^k) b with its season. */
export function continueSmoothing({ season, level, trend, damping, indices, least }: Smoothing, steps: number): Float64Array {
  const out = new Float64Array(steps);
  let power = 1;
  let sum = 0;
  for (let k = 0; k < steps; k++) {
    power *= damping;
    sum += power;
    const base = level + sum * trend;
    const index = indices[k % indices.length]!;
    const value = season === "none" ? base : season === "additive" ? base + index : base * index;
    out[k] = Math.max(least, value);
  }
  return out;
}

/** The smoothing after further rows, its parameters as they are. */
export function followSmoothing(smoothing: Smoothing, values: Float64Array): Smoothing {
  const running = { ...smoothing, indices: smoothing.indices.slice(), next: 0 };
  run(values, running);
  return atEnd(running);
}

/** Moves on over rows. @returns the sum of squared errors */
function run(values: Float64Array, state: Running): number {
  const { season, damping, alpha, beta, gamma, indices } = state;
  const length = indices.length;
  let { level, trend, next } = state;
  let squares = 0;
  for (let t = 0; t < values.length; t++) {
    const base = level + damping * trend;
    const index = season === "none" ? 0 : indices[next]!;
    const error = values[t]! - (season === "multiplicative" ? base * index : base + index);
    if (Number.isNaN(error)) {
      level = base;
      trend *= damping;
    } else {
      squares += error * error;
      const change = season === "multiplicative" ? error / index : error;
      level = base + alpha * change;
      trend = damping * trend + beta * change;
      if (season === "additive") indices[next] = index + gamma * error;
      else if (season === "multiplicative" && base !== 0) indices[next] = index + (gamma * error) / base;
    }
    if (++next >= length) next = 0;
  }
  state.level = level;
  state.trend = trend;
  state.next = next;
  return squares;
}

function atEnd({ next, indices, ...rest }: Running): Smoothing {
  return { ...rest, indices: rotated(indices, next) };
}

/** Indices with that of row `first` as the first. */
export function rotated(indices: Float64Array, first: number): Float64Array {
  return indices.map((_, j) => indices[(first + j) % indices.length]!);
}

/** A straight line by least squares through the measured values of rows 0 to n - 1. */
export function fitLine(values: Float64Array): { readonly slope: number; at(row: number): number } {
  const count = measuredCount(values);
  let rows = 0;
  for (let t = 0; t < values.length; t++) if (!Number.isNaN(values[t]!)) rows += t;
  const middle = rows / count;
  const mean = meanOf(values);
  let product = 0;
  let squares = 0;
  for (let t = 0; t < values.length; t++) {
    if (Number.isNaN(values[t]!)) continue;
    product += (t - middle) * (values[t]! - mean);
    squares += (t - middle) * (t - middle);
  }
  const slope = squares > 0 ? product / squares : 0;
  return { slope, at: (row) => mean + slope * (row - middle) };
}

/** A form of exponential smoothing: a level or a damped trend, and its season. */
export interface SmoothingForm {
  readonly trend: boolean;
  readonly season: Smoothing["season"];
}

/** A fitted form. */
export interface FittedSmoothing {
  readonly smoothing: Smoothing;
  /** Corrected Akaike information criterion; infinite with too few rows. */
  readonly aicc: number;
}

const rounds = 400;

/**
 * Fits a form by least squares of one-step errors (Hyndman, Koehler, Ord and Snyder 2008,
 * Forecasting with Exponential Smoothing): smoothing parameters, damping and the first level and
 * trend by Nelder and Mead's method, the first seasonal indices by decomposition. The first value
 * is measured. Undefined if there are no indices, or nothing finite is found.
 */
export function fitSmoothing(values: Float64Array, season: number, form: SmoothingForm): FittedSmoothing | undefined {
  const { trend: hasTrend, season: kind } = form;
  const hasSeason = kind !== "none";
  const found = hasSeason ? seasonalIndices(values, season, kind) : undefined;
  if (hasSeason && !found) return undefined;
  const indices = found?.indices ?? new Float64Array(0);
  const rest = found ? withoutSeason(values, found) : values;
  const line = fitLine(rest.subarray(0, Math.min(rest.length, Math.max(10, 2 * season))));
  const [firstLevel, firstTrend] = [line.at(-1), hasTrend ? line.slope : 0];
  const mean = meanOf(rest);
  const deviation = Math.sqrt(meanOf(rest.map((value) => (value - mean) * (value - mean)))) || 1e-9;
  const scratch = indices.slice();
  const startOf = (point: readonly number[]): Running => {
    const alpha = 1e-4 + 0.9998 * unit(point[0]!);
    scratch.set(indices);
    return {
      season: kind,
      level: firstLevel + point[1]! * deviation,
      trend: hasTrend ? firstTrend + point[4]! * deviation : 0,
      damping: hasTrend ? 0.8 + 0.18 * unit(point[3]!) : 0,
      alpha,
      beta: hasTrend ? alpha * unit(point[2]!) : 0,
      gamma: hasSeason ? (1 - alpha) * unit(point[point.length - 1]!) : 0,
      indices: scratch,
      least: Number.NEGATIVE_INFINITY,
      next: 0,
    };
  };
  const cost = (point: readonly number[]): number => {
    const squares = run(values, startOf(point));
    return Number.isFinite(squares) ? squares : Number.POSITIVE_INFINITY;
  };
  const start = [0, 0, ...(hasTrend ? [-2, 1, 0] : []), ...(hasSeason ? [-2] : [])];
  const steps = [1, 0.3, ...(hasTrend ? [1, 1, 0.05] : []), ...(hasSeason ? [1] : [])];
  const best = minimise(cost, start, steps, rounds);
  const running = startOf(best.point);
  run(values, running);
  const smoothing = atEnd(running);
  if (![smoothing.level, smoothing.trend, ...smoothing.indices].every(Number.isFinite)) return undefined;
  const n = measuredCount(values);
  const q = start.length + 1 + (hasSeason ? season - 1 : 0);
  const spare = n - q - 1;
  const fit = n * portableLog(Math.max(best.value, 1e-300) / n);
  return { smoothing, aicc: spare > 0 ? fit + 2 * q + (2 * q * (q + 1)) / spare : Number.POSITIVE_INFINITY };
}

/** The logistic function. */
function unit(value: number): number {
  return 1 / (1 + portableExp(-value));
}
