// Preprocessing of a field: transforms, z-scores and the range that forecasts are held in. If
// weights are shared, all sites share the parameters.
import { ArgumentError } from "@spillway/core/errors.js";
import { Matrix } from "@spillway/numerics";
import type { FittedTransform } from "../../series/transform-kinds.js";
import { fitTransforms, rowsLost, transformed } from "../../series/transforms.js";
import { boundsOf, endsWithin } from "../forecaster/bounds.js";
import type { CheckedSeries } from "../forecaster/data.js";
import { fitKnown, inScores, joined, type Preprocessing, type Range, rangeOf } from "../forecaster/preprocessing.js";
import { fitStandardisation, noStandardisation, type Standardisation } from "../standardisation.js";
import type { KnownColumns } from "./geometry.js";
import type { FieldSettings } from "./options.js";

/** What is fitted on training rows and kept with the model. */
export interface FieldPreprocessing extends Pick<Preprocessing, "transforms" | "inputScale" | "targetScale" | "known" | "bounds"> {
  /** Between what a forecast is held, in z-scores. */
  readonly held: Range;
}

/** Fits the preprocessing on the training rows of one series or of several. @throws ArgumentError */
export function fitFieldPreprocessing(data: readonly CheckedSeries[], settings: FieldSettings, columns: KnownColumns): FieldPreprocessing {
  const { shared, standardise, channels, transforms: asked = [] } = settings;
  const given = data.map(({ series }) => series);
  const { cols } = given[0]!;
  const lost = rowsLost(asked);
  const short = given.findIndex(({ rows }) => rows <= lost);
  if (short >= 0)
    throw ArgumentError.shape(
      `${given.length > 1 ? `sequences[${short}]` : "the series"} has ${given[short]!.rows} rows; differences of ${lost} rows in all take more, in training`,
      { field: "transforms" },
    );
  const each = asked.length > 0 && shared ? given.flatMap((series) => siteBySite(series, channels)) : given;
  const fitted = fitTransforms(asked.length > 0 ? each : [], asked);
  const transforms = shared ? { ...fitted, steps: fitted.steps.map((step) => atEverySite(step, cols / channels)) } : fitted;
  const series = asked.length > 0 ? given.map((one) => transformed(one, transforms)) : given;
  const alike = sitesAlike(series, settings);
  const spread = (values: Float64Array): Float64Array => Float64Array.from({ length: cols }, (_, c) => values[c % values.length]!);
  const found = boundsOf(settings.bounds, settings.bounds ? given : sitesAlike(given, settings));
  const bounds = Array.from({ length: cols }, (_, c) => found[c % found.length]!);
  const range = rangeOf(alike);
  const ends = { lower: spread(range.lower), upper: spread(range.upper) };
  const scaleOf = (of: readonly Matrix[]): Standardisation => {
    const { mean, deviation } = standardise ? fitStandardisation(of) : noStandardisation(of[0]!.cols);
    return { mean: spread(mean), deviation: spread(deviation) };
  };
  const targetScale = scaleOf(alike);
  const known = data.flatMap((one) => (one.known ? [one.known.subarray(lost)] : []));
  const count = known[0]?.cols ?? 0;
  const { given: first, masks } = columns;
  const knownScale = () => (standardise ? fitKnown(known, { first, count: masks }) : noStandardisation(count));
  return {
    transforms,
    known: count,
    targetScale,
    inputScale: count > 0 ? joined(targetScale, knownScale()) : targetScale,
    held: inScores(asked.length === 0 ? endsWithin(ends, bounds) : ends, targetScale),
    bounds,
  };
}

/** A row of sites with their channels as so many rows of channels, if weights are shared. */
function sitesAlike(series: readonly Matrix[], { shared, channels }: FieldSettings): readonly Matrix[] {
  return shared ? series.map(({ data }) => new Matrix(data.length / channels, channels, data)) : series;
}

/** Each site as a series of its own, T x channels. */
function siteBySite(series: Matrix, channels: number): Matrix[] {
  return Array.from({ length: series.cols / channels }, (_, site) => {
    const own = Matrix.zeros(series.rows, channels);
    for (let t = 0; t < series.rows; t++) own.data.set(series.row(t).subarray(site * channels, (site + 1) * channels), t * channels);
    return own;
  });
}

/** The parameters of one site at all of them. */
function atEverySite(step: FittedTransform, sites: number): FittedTransform {
  if (typeof step !== "object") return step;
  const all = (values: readonly number[]) => Array.from({ length: sites }, () => values).flat();
  if ("boxCox" in step) return { boxCox: all(step.boxCox), most: all(step.most) };
  if (!("standardise" in step)) return step;
  const { mean, deviation } = step.standardise;
  return { standardise: { mean: all(mean), deviation: all(deviation) } };
}
