// A member of several series: one readout of windows that are scaled one by one, which all series
// train. It never sees a level, so series in any units may train it.
import { Matrix, portableExp, portableLog } from "@spillway/numerics";
import { type GramAccumulator, IllConditionedError, type TrainedReadout } from "../../readout/index.js";
import { ridgePath } from "../../readout/ridge-path.js";
import type { AnyReservoirComputer } from "../../reservoir/index.js";
import { rotated } from "../../series/exponential-smoothing.js";
import { foundIndices, isPositive, seasonalIndices, withoutSeason } from "../../series/seasonal-indices.js";
import { ColumnwiseMember, type ColumnwiseParts } from "./columnwise.js";
import { addWindows, aheadOf, type DirectShape, directShares, trainer } from "./direct.js";

/** At most about so many windows of all series together train. */
const mostWindows = 20_000;
/** Fewer train nothing. */
const fewestWindows = 100;
const chunk = 512;

/** How a column becomes what windows are cut from: without its season, and then its logarithm. */
interface Turning {
  readonly season: "none" | "additive" | "multiplicative";
  /** Of row 0 and those that follow; empty without a season. */
  readonly indices: Float64Array;
  /** The least value if logarithms are taken; else 0. */
  readonly least: number;
}

/** A column at the position. */
export interface PooledColumn extends Turning {
  /** The last values, turned; the indices are those of the rows to come. */
  readonly recent: Float64Array;
  /** The value of the last row. */
  readonly last: number;
}

/** What a pooled member is made of. */
export interface PooledParts extends ColumnwiseParts {
  /** Its season is 1: seasons are taken out before. */
  readonly shape: DirectShape;
  readonly readout: TrainedReadout;
}

/** The readout of all series, at a position of one of them. It finds season and scale anew at a start. */
export class PooledMember extends ColumnwiseMember<PooledColumn, PooledParts> {
  readonly computers: readonly [AnyReservoirComputer];

  constructor(computer: AnyReservoirComputer, parts: PooledParts) {
    super(parts);
    this.computers = [computer];
  }

  get readouts(): readonly TrainedReadout[] {
    return [this.parts.readout];
  }

  protected get name(): string {
    return "pooled";
  }

  protected get seasonRows(): number {
    return 2 * this.parts.season;
  }

  protected isSeasonal({ season }: PooledColumn): boolean {
    return season !== "none";
  }

  protected columnOf(values: Float64Array, isSeasonal: boolean | undefined): PooledColumn {
    const { season, shape } = this.parts;
    const turning = turningOf(values, season, isSeasonal);
    const recent = turned(values, turning).slice(-shape.window);
    return { ...turning, indices: rotated(turning.indices, values.length % season), recent, last: values.at(-1)! };
  }

  protected moved(column: PooledColumn, values: Float64Array): PooledColumn {
    const recent = Float64Array.from([...column.recent, ...turned(values, column)]).slice(-this.parts.shape.window);
    const indices = column.indices.length > 0 ? rotated(column.indices, values.length % column.indices.length) : column.indices;
    return { ...column, indices, recent, last: values.at(-1)! };
  }

  protected async ahead(column: PooledColumn, steps: number, signal: AbortSignal | undefined): Promise<number[]> {
    const { readout, shape } = this.parts;
    let values = column.recent;
    const made: number[] = [];
    while (made.length < steps) {
      const [next] = await aheadOf(this.computers[0], [readout], values, [values.length], shape, signal);
      made.push(...next!.row(0));
      values = Float64Array.from([...values, ...next!.row(0)]).slice(-shape.window);
    }
    return Array.from({ length: steps }, (_, k) => restored(made[k]!, k, column));
  }
}

/** One of several series, as it trains a readout of all. */
export interface PooledSeries {
  readonly series: Matrix;
  /** 1 where a value was filled and not measured: it is no target. */
  readonly filled: Matrix | undefined;
  /** The rows that forecasts start from; the rows before the first of them train for them. */
  readonly origins: readonly number[];
}

/** A window: four horizons, or with a season as many rows as it or the horizon has. */
export function pooledShape(lengths: readonly number[], horizon: number, season: number): DirectShape {
  const sorted = lengths.toSorted((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)]!;
  const window = season > 1 ? Math.max(season, horizon) : Math.min(4 * horizon, Math.floor(median / 3));
  return { window: Math.max(1, window), season: 1, horizon };
}

/** How many windows of a horizon the series have. */
function countOf(all: readonly PooledSeries[], { window, horizon }: DirectShape): number {
  return all.reduce((sum, { series }) => sum + series.cols * Math.max(0, series.rows - window - horizon + 1), 0);
}

/** Neurons of a pooled reservoir; undefined if the windows are too few to train. */
export function pooledSize(all: readonly PooledSeries[], shape: DirectShape): number | undefined {
  const count = countOf(all, shape);
  return count < fewestWindows ? undefined : count < 10_000 ? 60 : 100;
}

/**
 * Readouts of the windows whose targets end before row `end` of each series, one for each share.
 */
async function trained(
  computer: AnyReservoirComputer,
  all: readonly PooledSeries[],
  { shape, season }: { readonly shape: DirectShape; readonly season: number },
  endOf: (series: PooledSeries) => number,
  { shares, signal }: { readonly shares: readonly number[]; readonly signal: AbortSignal | undefined },
): Promise<readonly (TrainedReadout | IllConditionedError)[]> {
  const { window, horizon } = shape;
  const stride = Math.ceil(countOf(all, shape) / mostWindows);
  const sums = trainer(1).accumulator({ stateSize: computer.model.size, inputSize: window, outputSize: horizon }) as GramAccumulator;
  try {
    for (const one of all) {
      const end = endOf(one);
      const starts: number[] = [];
      for (let t = window; t + horizon <= end; t += stride) starts.push(t);
      for (let c = 0; c < one.series.cols && starts.length > 0; c++) {
        const known = Float64Array.from(one.series.column(c).subarray(0, end));
        const values = turned(known, turningOf(known, season));
        const isFilled = (row: number) => one.filled?.at(row, c) === 1;
        for (let from = 0; from < starts.length; from += chunk)
          await addWindows(sums, { computer, shape, values, isFilled, signal }, starts.slice(from, from + chunk));
      }
    }
    if (sums.rows === 0) return [];
    const lambdas = shares.map((share) => share * sums.rows);
    return ridgePath(sums, lambdas);
  } finally {
    sums.dispose();
  }
}

/** What a pooled readout forecasts of each series from its origins, and the share that it takes. */
export interface PooledChoice {
  readonly share: number;
  /** Of each series origins * horizon x D. */
  readonly forecasts: readonly Matrix<Float64Array>[];
}

/**
 * Trains on the rows before the first origin of each series, and takes the share with the least
 * mean over series of the mean absolute error over that of the last value. Undefined if none
 * trains.
 */
export async function choosePooled(
  computer: AnyReservoirComputer,
  all: readonly PooledSeries[],
  how: { readonly shape: DirectShape; readonly season: number },
  signal: AbortSignal | undefined,
): Promise<PooledChoice | undefined> {
  const found = await trained(computer, all, how, ({ origins }) => origins[0]!, { shares: directShares, signal });
  const readouts = found.flatMap((one, s) => (one instanceof IllConditionedError ? [] : [{ readout: one, share: directShares[s]! }]));
  if (readouts.length === 0) return undefined;
  const totals = readouts.map(() => 0);
  const tried = readouts.map(({ readout }) => readout);
  const forecasts: (readonly Matrix<Float64Array>[])[] = [];
  for (const one of all) {
    const each = await forecastsOf(computer, tried, one, how, signal);
    const errors = each.map((made) => relativeError(made, one, how.shape.horizon));
    for (const [k, error] of errors.entries()) totals[k]! += error;
    forecasts.push(each);
  }
  const best = totals.indexOf(Math.min(...totals));
  if (best < 0) return undefined;
  return { share: readouts[best]!.share, forecasts: forecasts.map((each) => each[best]!) };
}

/** The readout of all windows of all series. @throws IllConditionedError */
export async function trainPooled(
  computer: AnyReservoirComputer,
  all: readonly PooledSeries[],
  how: { readonly shape: DirectShape; readonly season: number },
  share: number,
  signal: AbortSignal | undefined,
): Promise<TrainedReadout> {
  const [made] = await trained(computer, all, how, ({ series }) => series.rows, { shares: [share], signal });
  if (made instanceof IllConditionedError) throw made;
  return made!;
}

/** What readouts forecast of a series from its origins; season and scale are of the rows before. */
export async function forecastsOf(
  computer: AnyReservoirComputer,
  readouts: readonly TrainedReadout[],
  { series, origins }: PooledSeries,
  { shape, season }: { readonly shape: DirectShape; readonly season: number },
  signal: AbortSignal | undefined,
): Promise<readonly Matrix<Float64Array>[]> {
  const { horizon } = shape;
  const out = readouts.map(() => Matrix.zeros(origins.length * horizon, series.cols));
  for (let c = 0; c < series.cols; c++) {
    const values = Float64Array.from(series.column(c));
    const turning = turningOf(values.slice(0, origins[0]), season);
    const made = await aheadOf(computer, readouts, turned(values, turning), origins, shape, signal);
    for (const [r, each] of made.entries())
      for (const [k, origin] of origins.entries())
        for (let step = 0; step < horizon; step++) {
          const value = restored(each.at(k, step), origin + step, turning);
          out[r]!.row(k * horizon + step)[c] = Number.isFinite(value) ? value : values[origin - 1]!;
        }
  }
  return out;
}

/** The mean absolute error over that of the last value before each origin; 1 if that has none. */
function relativeError(made: Matrix<Float64Array>, { series, filled, origins }: PooledSeries, horizon: number): number {
  let own = 0;
  let naive = 0;
  for (const [k, origin] of origins.entries())
    for (let step = 0; step < horizon && origin + step < series.rows; step++)
      for (let c = 0; c < series.cols; c++) {
        if (filled?.at(origin + step, c) === 1) continue;
        const value = series.at(origin + step, c);
        own += Math.abs(value - made.at(k * horizon + step, c));
        naive += Math.abs(value - series.at(origin - 1, c));
      }
  return naive > 0 ? own / naive : 1;
}

/** @param isKnown the values have a season, as more rows have shown: they are not tested for one */
function turningOf(values: Float64Array, season: number, isKnown = false): Turning {
  const found = season > 1 ? (isKnown ? seasonalIndices : foundIndices)(values, season) : undefined;
  const rest = found ? withoutSeason(values, found) : values;
  const least = isPositive(rest) ? rest.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY) : 0;
  return { season: found?.kind ?? "none", indices: found?.indices ?? new Float64Array(0), least: Number.isFinite(least) ? least : 0 };
}

/** A value at or below 0 has the logarithm of the least one. */
function turned(values: Float64Array, { season, indices, least }: Turning): Float64Array {
  const rest = season === "none" ? values : withoutSeason(values, { kind: season, indices });
  return least > 0 ? rest.map((value) => portableLog(value > 0 ? value : least)) : rest.slice();
}

/** A turned value of row t in the units of the data. */
function restored(value: number, t: number, { season, indices, least }: Turning): number {
  const rest = least > 0 ? portableExp(value) : value;
  if (season === "none") return rest;
  const index = indices[t % indices.length]!;
  return season === "multiplicative" ? rest * index : rest + index;
}
