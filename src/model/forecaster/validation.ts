// Where validation forecasts start, and the forecasts from there: the last part of the rows, which
// no row that trains is in.
import { ArgumentError, isNumeric, SpillwayError } from "@spillway/core/errors.js";
import { firstNonFinite, Matrix } from "@spillway/numerics";
import { startsBetween } from "../../series/validation-starts.js";
import type { ValidationStart } from "./chosen.js";
import { type CheckedData, type CheckedSeries, seriesBetween } from "./data.js";
import type { ForecastMember } from "./model.js";

export type { ValidationStart } from "./chosen.js";

/** The parts of the data: what trains, and what the starts are in. */
export interface ValidationParts {
  readonly training: readonly CheckedSeries[];
  readonly starts: readonly ValidationStart[];
}

/** How the data is cut into rows that train and rows that are forecast. */
export interface ValidationOptions {
  readonly horizon: number;
  readonly starts: number;
  /** The share of the rows that is forecast. */
  readonly validation: number;
  readonly washout: number;
}

/** A trained model, as validation goes over rows with it. */
export type FollowsRows = Pick<ForecastMember, "state" | "start" | "follow" | "forecast" | "preprocessing">;

/** How forecasts are made from a start. */
export interface ForecastsFrom {
  readonly horizon: number;
  /** Rows that drive the model before each forecast; left out, all before it. */
  readonly warmup?: number | undefined;
  /** A forecast that runs away ends the try ("error"), or is infinite. */
  readonly runaway?: "error" | "infinite" | undefined;
}

/**
 * Forecasts with every member from every start: after `warmup` rows and those that transforms take,
 * or else going over the validation rows once. Members share their reservoirs and their state, at
 * the end of their training rows; an error in place of one is its result.
 */
export async function forecastAll(
  data: readonly CheckedSeries[],
  { training, starts }: ValidationParts,
  given: readonly (FollowsRows | Error)[],
  { horizon, warmup, runaway = "error" }: ForecastsFrom,
  signal: AbortSignal | undefined,
): Promise<(Matrix<Float64Array> | Error)[]> {
  const tries = [...given];
  const model = given.find((one) => !(one instanceof Error)) as FollowsRows | undefined;
  if (!model) return given as readonly Error[] as Error[];
  const { lost } = model.preprocessing.transforms;
  const outs = tries.map((found) => (found instanceof Error ? found : Matrix.zeros(starts.length * horizon, data[0]!.series.cols)));
  const size = horizon * data[0]!.series.cols;
  let at = { sequence: data.length - 1, row: training.at(-1)!.series.rows };
  for (const [k, start] of starts.entries()) {
    const { series, held = series, known, low } = data[start.sequence]!;
    const before = { series: held, known, low: low && { values: low.held ?? low.values } };
    const rows = (from: number, to: number) => seriesBetween(before, from, to);
    if (warmup !== undefined) {
      await model.start(rows(Math.max(0, start.row - warmup - lost), start.row), signal);
    } else {
      if (start.sequence !== at.sequence) {
        const part = training[start.sequence]!;
        await model.start(part, signal);
        at = { sequence: start.sequence, row: part.series.rows };
      }
      if (start.row > at.row) await model.follow(rows(at.row, start.row), signal);
      at = start;
    }
    const { state } = model;
    for (const [l, one] of tries.entries()) {
      if (one instanceof Error) continue;
      one.state = state;
      try {
        const forecast = await one.forecast(horizon, known?.subarray(start.row, start.row + horizon), { signal });
        if (firstNonFinite(forecast.data) >= 0) throw new SpillwayError("numeric", "its forecasts leave the finite numbers");
        (outs[l] as Matrix<Float64Array>).data.set(forecast.data, k * size);
      } catch (error) {
        if (!isNumeric(error)) throw error;
        if (runaway === "infinite") {
          (outs[l] as Matrix<Float64Array>).data.fill(Number.POSITIVE_INFINITY, k * size, (k + 1) * size);
          continue;
        }
        tries[l] = error;
        outs[l] = error;
      }
    }
    model.state = state;
  }
  return outs;
}

/** Where the training part ends, and where forecasts start. @throws ArgumentError */
export function validationParts(
  data: readonly CheckedSeries[],
  { horizon, validation, starts, washout }: ValidationOptions,
): ValidationParts {
  const ends = data.map(({ series }) => Math.floor((1 - validation) * series.rows));
  const usable = data.flatMap(({ series }, s) => (fits(series.rows, ends[s]!, horizon, washout) ? [s] : []));
  const longest = data.reduce((a, b) => (a.series.rows >= b.series.rows ? a : b)).series.rows;
  if (usable.length === 0) {
    const end = Math.floor((1 - validation) * longest);
    throw ArgumentError.shape(
      `horizon is ${horizon} and the ${data.length > 1 ? "longest " : ""}series has ${longest} rows, ${end} to train on and ${longest - end} to forecast: ` +
        `it takes at least ${horizon} to forecast, and ${washout + 2 * horizon} to train on (washout ${washout} and twice the horizon). ` +
        "Take a shorter horizon, a shorter washout or more rows",
      { field: "horizon", value: horizon },
    );
  }
  const each = Math.ceil(starts / usable.length);
  const training = data.map((one, s) => trainingPart(one, usable.includes(s) ? ends[s]! : one.series.rows));
  if (changingColumns(training).every((changes) => !changes))
    throw ArgumentError.because("the series never changes in its training part, so there is nothing to choose by; leave horizon out", {
      field: "horizon",
    });
  // The last sequence first: the member that was just trained is at its end.
  const found = usable.toReversed().flatMap((sequence) => {
    const rows = startsBetween(ends[sequence]!, data[sequence]!.series.rows - horizon, each);
    return rows.map((row) => ({ sequence, row }));
  });
  return { training, starts: found };
}

/** The first rows of a series. If they end within a gap, its values are held: no line ends later. */
export function trainingPart(one: CheckedSeries, end: number): CheckedSeries {
  const { series, held, low } = one;
  const first = seriesBetween(one, 0, end);
  if (!held || end === series.rows) return first;
  const rows = Matrix.from(first.series, "float64");
  for (let c = 0; c < rows.cols; c++)
    for (let t = end - 1; t >= 0 && rows.at(t, c) !== held.at(t, c); t--) rows.data[t * rows.cols + c] = held.at(t, c);
  const lows = low?.values.slice(0, rows.data.length).map((value, i) => (rows.data[i] === held.data[i] ? low.held![i]! : value));
  return { ...first, series: rows, ...(lows && { low: { values: lows } }) };
}

function fits(rows: number, end: number, horizon: number, washout: number): boolean {
  return rows - end >= horizon && end >= washout + 2 * horizon;
}

/** The fewest rows of a series that a choice by forecasts of so many steps takes. */
export function fewestRows({ horizon, washout, validation }: Omit<ValidationOptions, "starts">): number {
  let rows = Math.ceil((washout + 2 * horizon) / (1 - validation));
  while (!fits(rows, Math.floor((1 - validation) * rows), horizon, washout)) rows++;
  return rows;
}

export function changingColumns(series: readonly CheckedData[]): boolean[] {
  const first = series[0]!.series!;
  return Array.from({ length: first.cols }, (_, c) =>
    series.some((one) => {
      const { rows, cols, data } = one.series!;
      for (let t = 0; t < rows; t++) if (data[t * cols + c] !== first.data[c]) return true;
      return false;
    }),
  );
}

/** The rows that each start forecasts, under each other. */
export function rowsOf(series: readonly Matrix[], starts: readonly ValidationStart[], horizon: number): Matrix<Float64Array> {
  const { cols } = series[0]!;
  const out = Matrix.zeros(starts.length * horizon, cols);
  for (const [k, { sequence, row }] of starts.entries())
    out.data.set(series[sequence]!.subarray(row, row + horizon).data, k * horizon * cols);
  return out;
}

/** Most starts that errors are measured from, and steps of a reservoir that they may take. */
const mostStarts = 200;
const mostSteps = 100_000;

/**
 * Starts over the validation parts whose forecasts do not overlap, as many as fit and are not too
 * much work. They are a row more apart than the horizon at least: one at the same hour every day
 * would say nothing of the other hours.
 */
export function startsOneAfterAnother(
  data: readonly CheckedSeries[],
  { training, starts }: ValidationParts,
  { horizon, warmup }: { readonly horizon: number; readonly warmup: number },
): readonly ValidationStart[] {
  const used = [...new Set(starts.map(({ sequence }) => sequence))];
  const most = Math.floor(Math.min(mostStarts, mostSteps / (horizon + warmup)) / used.length);
  return used.flatMap((sequence) => {
    const [first, last] = [training[sequence]!.series.rows, data[sequence]!.series.rows - horizon];
    const apart = Math.max(horizon + 1, Math.ceil((last - first) / Math.max(1, most - 1)));
    return Array.from({ length: Math.floor((last - first) / apart) + 1 }, (_, k) => ({ sequence, row: first + k * apart }));
  });
}
