// The season of one series as an index for each of its rows, and the test whether it has one.

/** A season: one index for each row of it, row 0 of the series first. */
export interface SeasonalIndices {
  readonly kind: "additive" | "multiplicative";
  readonly indices: Float64Array;
}

/** 90 % of a normal distribution are within so many deviations. */
const within90 = 1.645;

/**
 * Whether the autocorrelation at the season stands out (the test of the M4 competition): n >= 3m
 * and
 * |r_m| > 1.645 sqrt((1 + 2 sum_{k < m} r_k^2) / n). NaN is a value that was not measured; n counts
 * the others.
 */
export function isSeasonal(values: Float64Array, season: number): boolean {
  if (season < 2 || values.length < 3 * season) return false;
  const measured = measuredCount(values);
  const mean = meanOf(values);
  const deviations = values.map((value) => (Number.isNaN(value) ? 0 : value - mean));
  let squares = 0;
  for (const deviation of deviations) squares += deviation * deviation;
  if (!(squares > 0)) return false;
  const correlation = (lag: number): number => {
    let sum = 0;
    for (let t = lag; t < deviations.length; t++) sum += deviations[t]! * deviations[t - lag]!;
    return sum / squares;
  };
  let sum = 0;
  for (let lag = 1; lag < season; lag++) sum += correlation(lag) ** 2;
  return Math.abs(correlation(season)) > within90 * Math.sqrt((1 + 2 * sum) / measured);
}

/**
 * Indices by classical decomposition: the mean of x / average (x - average) of the rows of the same
 * season, divided by (less) the mean of all; the average is centred, of m rows, and of 2 x m if m
 * is even. A value that was not measured counts in the averages as that of a season before, and in
 * no index.
 * @param kind multiplicative if left out and all values are above 0
 * @returns undefined if a season has no row with an average, or a multiplicative index is not above
 * 0
 */
export function seasonalIndices(
  values: Float64Array,
  season: number,
  kind: SeasonalIndices["kind"] = isPositive(values) ? "multiplicative" : "additive",
): SeasonalIndices | undefined {
  const filled = heldBySeason(values, season);
  const half = Math.floor(season / 2);
  const sums = new Float64Array(season);
  const counts = new Float64Array(season);
  for (let t = half; t < values.length - half; t++) {
    if (Number.isNaN(values[t]!)) continue;
    let average = 0;
    if (season % 2 === 1) for (let k = -half; k <= half; k++) average += filled[t + k]!;
    else {
      average = (filled[t - half]! + filled[t + half]!) / 2;
      for (let k = 1 - half; k < half; k++) average += filled[t + k]!;
    }
    average /= season;
    const j = t % season;
    sums[j] = sums[j]! + (kind === "multiplicative" ? values[t]! / average : values[t]! - average);
    counts[j] = counts[j]! + 1;
  }
  const raw = sums.map((sum, j) => sum / counts[j]!);
  const mean = meanOf(raw);
  const indices = raw.map((index) => (kind === "multiplicative" ? index / mean : index - mean));
  if (!indices.every((index) => (kind === "multiplicative" ? index > 0 : true) && Number.isFinite(index))) return undefined;
  return { kind, indices };
}

/** Values without their season. */
export function withoutSeason(values: Float64Array, { kind, indices }: SeasonalIndices): Float64Array {
  return values.map((value, t) => {
    const index = indices[t % indices.length]!;
    return kind === "multiplicative" ? value / index : value - index;
  });
}

/** The season of values that pass the test of `isSeasonal` and have indices; undefined if none. */
export function foundIndices(values: Float64Array, season: number): SeasonalIndices | undefined {
  return isSeasonal(values, season) ? seasonalIndices(values, season) : undefined;
}

/** Whether every measured value is above 0. */
export function isPositive(values: Float64Array): boolean {
  return values.every((value) => !(value <= 0));
}

/** How many values were measured. */
export function measuredCount(values: Float64Array): number {
  let count = 0;
  for (const value of values) if (!Number.isNaN(value)) count++;
  return count;
}

/** The mean of the measured values. */
export function meanOf(values: Float64Array): number {
  let sum = 0;
  for (const value of values) if (!Number.isNaN(value)) sum += value;
  return sum / measuredCount(values);
}

/** Gaps hold the value of a season before, or else the last one. The first value is measured. */
function heldBySeason(values: Float64Array, season: number): Float64Array {
  const filled = values.slice();
  for (let t = 1; t < filled.length; t++) if (Number.isNaN(filled[t]!)) filled[t] = filled[t - (t >= season ? season : 1)]!;
  return filled;
}
