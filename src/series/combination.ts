// How forecasts of several members are weighed and combined, by their errors from earlier origins.
import { portableExp, portableLog, portablePow } from "@spillway/numerics";

/** From which rows members are scored. */
export interface EarlierOrigins {
  /** From origin o rows 0 to o - 1 are known, and rows from o on are forecast. Ascending. */
  readonly origins: readonly number[];
  /** K = (rows - origins[0]) / horizon: how many horizons of rows validate. */
  readonly horizons: number;
}

const mostOrigins = 8;
const fewestRows = 6;

/**
 * At most 8 origins, evenly over the last quarter of the rows, so that one horizon is left behind
 * the last one; of short series those that leave enough rows to know, from 2 rows on.
 * @param season rows in a season, 1 without
 */
export function earlierOrigins(rows: number, horizon: number, season: number): EarlierOrigins {
  const fewest = season > 1 ? Math.max(fewestRows, Math.min(2 * season + 2, Math.floor(rows / 2))) : fewestRows;
  const last = Math.max(rows - horizon, Math.min(fewest, rows - 1));
  const first = Math.max(Math.min(fewest, last), Math.min(Math.floor(0.75 * rows), last - (mostOrigins - 1)));
  const count = Math.min(mostOrigins, last - first + 1);
  const origins = Array.from({ length: count }, (_, i) => (count === 1 ? last : Math.round(first + ((last - first) * i) / (count - 1))));
  return { origins, horizons: (rows - first) / horizon };
}

/** The mean size of errors, NaN those that were not measured; NaN if none was. */
export function meanSize(errors: readonly Float64Array[]): number {
  let sum = 0;
  let count = 0;
  for (const each of errors) {
    for (const error of each) {
      if (Number.isNaN(error)) continue;
      sum += Math.abs(error);
      count++;
    }
  }
  return sum / count;
}

/**
 * The weights of members with these mean absolute errors: proportional to (e / least e)^-p, p =
 * min(8, max(2, K)), and 1 together. Equal if nothing was measured (NaN).
 * @param horizons K of `earlierOrigins`
 */
export function memberWeights(errors: readonly number[], horizons: number): Float64Array {
  const sizes = errors.map((error) => Math.max(1e-12, error));
  const least = Math.min(...sizes);
  if (!Number.isFinite(least)) return new Float64Array(errors.length).fill(1 / errors.length);
  const power = Math.min(8, Math.max(2, horizons));
  const raw = Float64Array.from(sizes, (size) => portablePow(size / least, -power));
  const sum = raw.reduce((all, weight) => all + weight, 0);
  return raw.map((weight) => weight / sum);
}

/**
 * The index of the penalty with the least smoothed error: the geometric mean of its own and of its
 * two neighbours' (one at an end), so that no single lucky one wins. Errors that are not finite are
 * left out, and those on either side of them are neighbours. -1 if none is finite.
 */
export function leastWithNeighbours(errors: readonly number[]): { readonly index: number; readonly error: number } {
  const finite = errors.flatMap((error, index) => (Number.isFinite(error) ? [{ index, log: portableLog(Math.max(error, 1e-300)) }] : []));
  let best = { index: -1, log: Number.POSITIVE_INFINITY };
  for (const [i, { index }] of finite.entries()) {
    const near = finite.slice(Math.max(0, i - 1), i + 2);
    const log = near.reduce((sum, each) => sum + each.log, 0) / near.length;
    if (log < best.log) best = { index, log };
  }
  return { index: best.index, error: portableExp(best.log) };
}
