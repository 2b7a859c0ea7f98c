// Preprocessing of a series: what is fitted on its training rows, and the numbers that drive the
// reservoir and train its readout.
import { ArgumentError } from "@spillway/core/errors.js";
import { Matrix } from "@spillway/numerics";
import type { FittedTransform, Transform } from "../../series/transform-kinds.js";
import { type FittedTransforms, fitTransforms, rowsLost, transformed } from "../../series/transforms.js";
import { columnsOf, fitStandardisation, noStandardisation, type Standardisation, standardised } from "../standardisation.js";
import { type Bound, type Bounds, boundsOf, endsWithin } from "./bounds.js";
import { type CheckedData, type CutRows, columnsBetween, cutRows } from "./data.js";
import { drives, feedsReadout, type Hybrid, modelledRows, withModel } from "./hybrid.js";
import type { TrainingSeries } from "./training.js";

/** What is fitted on training rows and kept with the model. */
export interface Preprocessing {
  /** What is done to a series before anything else. */
  readonly transforms: FittedTransforms;
  /**
   * z-scores of the reservoir's inputs: of a series its columns, then those of known inputs, then
   * those of the series once more, if the user's model drives it.
   */
  readonly inputScale: Standardisation;
  /** z-scores of what the readout learns. */
  readonly targetScale: Standardisation;
  /** Columns of inputs that are known beforehand; 0 for inputs with targets. */
  readonly known: number;
  /** Between what an output is held in a closed loop; undefined if it is not. */
  readonly held: Range | undefined;
  /** Of each column of a series, in the units of the data; undefined for what is not forecast. */
  readonly bounds?: readonly Bound[] | undefined;
}

/** A least and a largest value a column. */
export interface Range {
  readonly lower: Float64Array;
  readonly upper: Float64Array;
}

/** Columns of what is known that are 0 or 1 and stay so: the mask of missing values. */
export interface MaskColumns {
  readonly first: number;
  readonly count: number;
}

/** What is done to data. */
export interface PreprocessingSettings {
  /** Undefined if nothing is known of missing values. */
  readonly maskColumns?: MaskColumns | undefined;
  readonly transforms: readonly Transform[];
  readonly standardise: boolean | "inputs" | "targets";
  readonly hold: boolean;
  readonly bounds?: Bounds | undefined;
  readonly hybrid?: Hybrid | undefined;
  /** Columns of a site, if all sites of a field have the same parameters. */
  readonly alike?: number | undefined;
}

/** Deviations that a held output may leave the range of the training rows. */
const margin = 0.5;

/** Fits the preprocessing on training rows. */
export function fitPreprocessing(
  given: readonly CheckedData[],
  { transforms: asked, standardise, hold, bounds: limits, hybrid, maskColumns, alike }: PreprocessingSettings,
  feedback: boolean,
): Preprocessing {
  const transforms = fitAlike(asked.length > 0 ? given.map((one, s) => transformable(one, s, asked, given.length)) : [], asked, alike);
  const data = given.map((one) => withTransforms(transforms, one));
  const known = data[0]!.series ? (data[0]!.known?.cols ?? 0) : 0;
  const whole = data.map((one) => one.series ?? one.targets);
  const { cols } = whole[0]!;
  const sites = (series: readonly Matrix[]) => (alike ? series.map((one) => new Matrix(one.data.length / alike, alike, one.data)) : series);
  const spread = (values: Float64Array): Float64Array => Float64Array.from({ length: cols }, (_, c) => values[c % values.length]!);
  const own = (): Standardisation => {
    const { mean, deviation } = fitStandardisation(sites(whole));
    return { mean: spread(mean), deviation: spread(deviation) };
  };
  const inputs = (): Standardisation => {
    if (feedback || !data[0]!.series) return fitStandardisation(data.map((one) => cutRows(one, feedback).inputs));
    if (known === 0) return own();
    return joined(
      own(),
      fitKnown(
        data.map((one) => (one as { known: Matrix }).known),
        maskColumns,
      ),
    );
  };
  const isForecast = feedback || data[0]!.series !== undefined;
  const measured = given.map((one) => one.series ?? one.targets);
  const found = isForecast ? boundsOf(limits, limits ? measured : sites(measured)) : undefined;
  const bounds = found && Array.from({ length: cols }, (_, c) => found[c % found.length]!);
  const range = (): Range => {
    const { lower, upper } = rangeOf(sites(whole));
    const ends = { lower: spread(lower), upper: spread(upper) };
    return bounds && asked.length === 0 ? endsWithin(ends, bounds) : ends;
  };
  const isScaled = standardise === true || standardise === "inputs";
  const inputScale = isScaled ? inputs() : noStandardisation(cutRows(data[0]!, feedback).inputs.cols);
  return {
    transforms,
    known,
    inputScale: drives(hybrid?.use) ? joined(inputScale, columnsOf(inputScale, 0, cols)) : inputScale,
    targetScale: standardise === true || standardise === "targets" ? own() : noStandardisation(cols),
    held: hold ? range() : undefined,
    bounds,
  };
}

/** Transforms whose parameters are fitted column by column, or for all sites of `alike` columns together. */
function fitAlike(series: readonly Matrix[], asked: readonly Transform[], alike: number | undefined): FittedTransforms {
  if (!alike || series.length === 0) return fitTransforms(series, asked);
  const sites = series[0]!.cols / alike;
  const fitted = fitTransforms(
    series.flatMap((one) => Array.from({ length: sites }, (_, site) => columnsBetween(one, site * alike, (site + 1) * alike))),
    asked,
  );
  return { ...fitted, steps: fitted.steps.map((step) => atEverySite(step, sites)) };
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

/**
 * z-scores of what is known. The mask stays as it is: of a few gaps in many rows a 1 would be a
 * z-score of ten and more, which drives the reservoir far from where it ever is.
 */
export function fitKnown(known: readonly Matrix[], { first, count }: MaskColumns = { first: 0, count: 0 }): Standardisation {
  const scale = fitStandardisation(known);
  scale.mean.fill(0, first, first + count);
  scale.deviation.fill(1, first, first + count);
  return scale;
}

/** Training rows as the reservoir and its readout take them. */
export function preprocessed(
  preprocessing: Pick<Preprocessing, "transforms" | "inputScale" | "targetScale">,
  data: CheckedData,
  { hybrid, feedback }: { readonly hybrid: Hybrid | undefined; readonly feedback: boolean },
): TrainingSeries & Pick<CutRows, "last"> {
  const { inputs, targets, last } = cutRows(withTransforms(preprocessing.transforms, data), feedback);
  const made = modelledRows(hybrid, inputs, targets.cols);
  return {
    inputs: standardised(preprocessing.inputScale, withModel(hybrid, inputs, made)),
    targets: standardised(preprocessing.targetScale, targets),
    ...(made && feedsReadout(hybrid?.use) ? { modelled: standardised(preprocessing.targetScale, made) } : {}),
    ...(last ? { last: standardised(preprocessing.inputScale, withModel(hybrid, last, modelledRows(hybrid, last, targets.cols))) } : {}),
  };
}

/** A series with its transforms done, beside what is known of the rows that are left. */
export function withTransforms<Data extends CheckedData>(transforms: FittedTransforms, data: Data): Data {
  if (!data.series || transforms.steps.length === 0) return data;
  return { ...data, series: transformed(data.series, transforms), known: data.known?.subarray(transforms.lost) };
}

function transformable({ series }: CheckedData, s: number, transforms: readonly Transform[], of: number): Matrix {
  if (!series)
    throw ArgumentError.because(
      "transforms are of a series, and inputs with targets were given; transform them before, or give { series, known }",
      {
        field: "transforms",
      },
    );
  const lost = rowsLost(transforms);
  if (series.rows <= lost)
    throw ArgumentError.shape(
      `${of > 1 ? `sequences[${s}]` : "the series"} has ${series.rows} rows; differences of ${lost} rows in all take more, in training`,
      { field: "transforms" },
    );
  return series;
}

/** A range in the z-scores of a scale. */
export function inScores({ lower, upper }: Range, { mean, deviation }: Standardisation): Range {
  const scores = (values: Float64Array) => values.map((value, c) => (value - mean[c]!) / deviation[c]!);
  return { lower: scores(lower), upper: scores(upper) };
}

/** The least and the largest value of each column, widened by half a standard deviation. */
export function rangeOf(series: readonly Matrix[]): Range {
  const { deviation } = fitStandardisation(series);
  const lower = deviation.map(() => Number.POSITIVE_INFINITY);
  const upper = deviation.map(() => Number.NEGATIVE_INFINITY);
  for (const { data, cols } of series) {
    for (let i = 0, c = 0; i < data.length; i++) {
      lower[c] = Math.min(lower[c]!, data[i]!);
      upper[c] = Math.max(upper[c]!, data[i]!);
      if (++c === cols) c = 0;
    }
  }
  return { lower: lower.map((value, c) => value - margin * deviation[c]!), upper: upper.map((value, c) => value + margin * deviation[c]!) };
}

/** The standardisation of columns, and then of others. */
export function joined(a: Standardisation, b: Standardisation): Standardisation {
  return { mean: Float64Array.of(...a.mean, ...b.mean), deviation: Float64Array.of(...a.deviation, ...b.deviation) };
}
