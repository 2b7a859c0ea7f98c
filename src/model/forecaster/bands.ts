// The bands around a forecast and its quantiles: split conformal by step, from the errors that
// chose the model; after a logarithm or a power they are measured on its scale. Those of a
// combination are of its errors of all steps together, also of short series.
import { ArgumentError } from "@spillway/core/errors.js";
import { Matrix } from "@spillway/numerics";
import { type BandOffsets, conformalOffsets, ensembleBand, fewestScores } from "../../series/conformal.js";
import { errorQuantile } from "../../series/error-quantiles.js";
import type { FittedTransforms } from "../../series/transforms.js";
import { scaleOf, type ValueScale } from "../../series/transforms.js";
import { type Bound, bounded } from "./bounds.js";
import type { ForecasterChoice } from "./choice.js";
import { selected } from "./data.js";
import type { ForecastBand, ForecastQuantile } from "./forecast.js";

/** What bands are asked for. */
interface Asked {
  readonly intervals: readonly number[];
  readonly bandsFrom: "errors" | "members";
}

/**
 * Checks levels before any work. @throws ArgumentError if the forecaster chose nothing by
 * forecasts, looks less far ahead, or from too few starts; or has one member, if bands are the
 * members'
 */
export function checkIntervals(
  { choice, members }: { readonly choice: ForecasterChoice | undefined; readonly members: readonly unknown[] },
  steps: number,
  { intervals, quantiles, bandsFrom }: Asked & { readonly quantiles: readonly number[] },
): void {
  const levels = [...intervals, ...quantiles.map(shareOf)];
  if (levels.length === 0) return;
  if (bandsFrom === "members") {
    if (members.length > 1) return;
    throw ArgumentError.because('bandsFrom is "members" and this forecaster has one; fit it with members: 2 or more', {
      field: "bandsFrom",
    });
  }
  const field = intervals.length > 0 ? "intervals" : "quantiles";
  if (!choice)
    throw ArgumentError.because(
      `${field} was given; this forecaster knows no errors of forecasts to take them from; fit it with a horizon, or with choose`,
      { field },
    );
  if (choice.members) return;
  if (steps > choice.horizon)
    throw new ArgumentError(
      "steps",
      steps,
      `at most ${choice.horizon} with ${field}, which is the horizon that the forecaster was fitted with`,
    );
  const starts = (choice.errorStarts ?? choice.starts).length;
  for (const [i, level] of levels.entries())
    if (starts < fewestScores(level))
      throw new ArgumentError(
        i < intervals.length ? `intervals[${i}]` : `quantiles[${i - intervals.length}]`,
        i < intervals.length ? level : quantiles[i - intervals.length]!,
        `at most ${(starts / (starts + 1)).toFixed(3)}: forecasts from ${starts} starts inside the training part cannot give more; ${fewestScores(level)} can`,
      );
}

/** Forecasts whose rows came since: what they were off by. */
export type MeasuredErrors = Pick<ForecasterChoice, "horizon" | "targets" | "errors"> & Pick<ForecasterChoice, "validated">;

/** A model that bands are asked of. */
export interface BandSource {
  readonly choice: ForecasterChoice | undefined;
  readonly members: readonly { readonly preprocessing: { readonly transforms: FittedTransforms } }[];
}

/** The bands of a forecast whose levels are checked; undefined if none are asked for. */
export function bandsOf(
  { choice, members }: BandSource,
  { values, made }: { readonly values: Matrix<Float64Array>; readonly made: readonly Matrix<Float64Array>[] },
  { intervals, bandsFrom }: Asked,
): readonly ForecastBand[] | undefined {
  if (intervals.length === 0) return undefined;
  if (bandsFrom === "members") return intervals.map((level) => ({ level, ...ensembleBand(made, level) }));
  const transforms = members.map(({ preprocessing }) => preprocessing.transforms);
  return bandsAround(values, choice!, transforms, intervals);
}

/** The share of the band between a quantile and the one as far on the other side. */
function shareOf(quantile: number): number {
  return Math.abs(2 * quantile - 1);
}

/** The quantiles of a forecast, whose levels are checked: ends of bands, which never cross. */
export function quantilesOf(
  source: BandSource,
  forecasts: Parameters<typeof bandsOf>[1],
  {
    quantiles,
    bandsFrom,
    bounds,
  }: Pick<Asked, "bandsFrom"> & {
    readonly quantiles: readonly number[];
    readonly bounds: readonly Bound[];
  },
): readonly ForecastQuantile[] | undefined {
  if (quantiles.length === 0) return undefined;
  return quantiles.map((level) => {
    const share = shareOf(level);
    const [band] = share === 0 ? [] : (bandsOf(source, forecasts, { intervals: [share], bandsFrom }) ?? []);
    const values = band ? (level < 0.5 ? band.lower : band.upper) : forecasts.values;
    return { level, values: bounded(values, bounds) };
  });
}

/** The band of a combination: as far down as up, wider with each step. */
function bandAround(
  values: Matrix<Float64Array>,
  { errors, horizon }: MeasuredErrors,
  { rows, season }: NonNullable<ForecasterChoice["validated"]>,
  level: number,
): Pick<ForecastBand, "lower" | "upper"> {
  const [lower, upper] = [Matrix.zeros(values.rows, values.cols), Matrix.zeros(values.rows, values.cols)];
  for (let c = 0; c < values.cols; c++) {
    const column = Float64Array.from(errors.column(c));
    const own = Array.from({ length: errors.rows / horizon }, (_, k) => column.subarray(k * horizon, (k + 1) * horizon));
    const half = errorQuantile({ errors: own, horizons: rows / horizon, validated: rows, season }, (1 + level) / 2, values.rows);
    for (let k = 0; k < values.rows; k++) {
      // Where nothing was measured nothing is known.
      const width = Number.isNaN(half[k]!) ? Number.POSITIVE_INFINITY : half[k]!;
      lower.row(k)[c] = values.at(k, c) - width;
      upper.row(k)[c] = values.at(k, c) + width;
    }
  }
  return { lower, upper };
}

/**
 * The bands of a forecast of at most the horizon; of a combination of any length. If all members
 * have the same logarithm or power
 * before any difference, an error is that of the transformed values, and the ends are turned back:
 * a series that is above 0 has bands above 0, as wide as it is large.
 */
export function bandsAround(
  forecast: Matrix<Float64Array>,
  measured: MeasuredErrors,
  transforms: readonly FittedTransforms[],
  levels: readonly number[],
): ForecastBand[] {
  const { validated } = measured;
  if (validated) return levels.map((level) => ({ level, ...bandAround(forecast, measured, validated, level) }));
  const { errors, forward, back } = bandScale(measured, transforms);
  const centre = forward(forecast);
  return levels.map((level) => {
    const offsets = conformalOffsets(errors, measured.horizon, { level });
    return { level, ...back(moved(centre, offsets, "lower"), moved(centre, offsets, "upper")) };
  });
}

/** The scale on which bands by step are as wide as their errors, and the way to it and back. */
export interface BandScale {
  readonly errors: Matrix;
  forward(values: Matrix): Matrix;
  back(lower: Matrix<Float64Array>, upper: Matrix<Float64Array>): Pick<ForecastBand, "lower" | "upper">;
}

/** The scale of `bandsAround`: that of a transform which all members have, or that of the data. */
export function bandScale(measured: MeasuredErrors, transforms: readonly FittedTransforms[]): BandScale {
  const scale = commonScale(transforms);
  if (!scale) return { errors: measured.errors, forward: (values) => values, back: (lower, upper) => ({ lower, upper }) };
  return {
    errors: errorsOn(scale, measured),
    forward: (values) => scale.forward(values),
    back: (lower, upper) => turnedBack(scale, lower, upper),
  };
}

/** Bands whose ends lie within bounds. */
export function boundedBands(bands: readonly ForecastBand[], bounds: readonly Bound[] | undefined): readonly ForecastBand[] {
  return bands.map(({ level, lower, upper }) => ({ level, lower: bounded(lower, bounds), upper: bounded(upper, bounds) }));
}

/** The bands of some columns. */
export function selectedBands(bands: readonly ForecastBand[], columns: readonly number[] | undefined): readonly ForecastBand[] {
  return bands.map(({ level, lower, upper }) => ({ level, lower: selected(lower, columns), upper: selected(upper, columns) }));
}

function moved(centre: Matrix, offsets: BandOffsets, end: "lower" | "upper"): Matrix<Float64Array> {
  const { data } = offsets[end];
  return centre.map((value, i) => value + data[i]!);
}

/** The scale of all members; undefined if it is that of the data, or they have several. */
function commonScale(transforms: readonly FittedTransforms[]): ValueScale | undefined {
  const [first, ...others] = transforms.map(({ steps }) => steps);
  const isSame = others.every((steps) => {
    return (
      steps.length === first!.length && steps.every((step, i) => step === first![i] || JSON.stringify(step) === JSON.stringify(first![i]))
    );
  });
  return isSame ? scaleOf(transforms[0]!) : undefined;
}

/**
 * What came less what was forecast, on a scale; a value outside its domain is as far off as can be.
 */
function errorsOn(scale: ValueScale, { targets, errors }: MeasuredErrors): Matrix<Float64Array> {
  const forecasts = targets.map((value, i) => value - errors.data[i]!);
  const came = scale.forward(targets);
  const said = scale.forward(forecasts);
  return came.map((value, i) => {
    const error = value - said.data[i]!;
    if (Number.isNaN(errors.data[i]!)) return Number.NaN;
    return Number.isFinite(error) && Number.isFinite(errors.data[i]!) ? error : Number.POSITIVE_INFINITY;
  });
}

/** Ends in the units of the data, in their order: a function of the user's may fall. */
function turnedBack(scale: ValueScale, lower: Matrix, upper: Matrix): Pick<ForecastBand, "lower" | "upper"> {
  const [a, b] = [scale.back(lower), scale.back(upper)];
  const ends = (pick: (x: number, y: number) => number) => a.map((value, i) => pick(value, b.data[i]!));
  return { lower: ends(Math.min), upper: ends(Math.max) };
}
