// What a search asks of the reservoirs that it proposes, over the same rows.
import { Matrix, stackRows } from "@spillway/numerics";
import type { ReservoirConfig } from "../../reservoir/config.js";
import type { ReadoutAsk } from "../../reservoir/engine/evaluation.js";
import type { EvaluatedMember } from "../../reservoir/evaluate/evaluate.js";
import type { FeatureSpec } from "../../reservoir/features.js";
import { series } from "../../reservoir/inputs.js";
import type { Transform } from "../../series/transform-kinds.js";
import { restoredForecast, rowsLost } from "../../series/transforms.js";
import { fitPreprocessing, inScores, preprocessed, withTransforms } from "../forecaster/preprocessing.js";
import { restored, restoreInto, standardised } from "../standardisation.js";

/** Rows that train and, right after them, rows to predict; all in the units of the data. */
export interface CandidateRows {
  readonly train: { readonly inputs: Matrix; readonly targets: Matrix };
  readonly test: { readonly inputs: Matrix };
  readonly washout: number;
  readonly standardise: boolean;
  readonly features: FeatureSpec;
  /** Whether readouts have an intercept. */
  readonly constant: boolean;
}

/** A series whose first rows train, and rows from which it is to go on by itself. */
export interface CandidateSeries {
  /** T x D, as it was measured. */
  readonly series: Matrix;
  readonly transforms: readonly Transform[];
  /** Rows that train, and the first rows of forecasts, counted after those that transforms lose. */
  readonly trainRows: number;
  readonly starts: readonly number[];
  /** Rows before each start over which the reservoir comes from its initial state. */
  readonly warmup: number;
  readonly horizon: number;
  readonly washout: number;
  readonly standardise: boolean;
  readonly features: FeatureSpec;
  readonly constant: boolean;
}

/** Takes a candidate's forecasts by one of its penalties, one a start; undefined as below. */
export type TakeForecasts = (candidate: number, penalty: number, forecasts: readonly Matrix<Float64Array>[] | undefined) => void;

/**
 * Takes what a candidate predicts by one of its penalties, T x O, in memory that the next one is
 * written to; undefined if a state is not finite or the penalty is too small.
 */
export type TakePrediction = (candidate: number, penalty: number, prediction: Matrix<Float64Array> | undefined) => void;

/** The ask of members that are described like this one. */
type AskOf = (config: ReservoirConfig) => ReadoutAsk<EvaluatedMember>;

/**
 * Asks for what `Forecaster.fit` and `predict` give for each candidate and penalty, to the bit.
 * @throws ArgumentError for rows that a Forecaster refuses
 */
export function predictionsOf({ train, test, washout, standardise, features, constant }: CandidateRows, take: TakePrediction): AskOf {
  const preprocessing = fitPreprocessing([train], { transforms: [], standardise, hold: false }, false);
  const trained = preprocessed(preprocessing, train, { hybrid: undefined, feedback: false });
  const following = standardised(preprocessing.inputScale, test.inputs);
  const all = stackRows([trained.inputs, following]);
  const prediction = Matrix.zeros(following.rows, trained.targets.cols);
  // Rows to predict have no targets, and need none.
  const targets = stackRows([trained.targets, Matrix.zeros(following.rows, trained.targets.cols)]);
  return ({ inputSize, precision }) => ({
    kind: "predictions",
    ...{ washout, features, constant, targets, trainRows: trained.inputs.rows },
    inputs: series(all, "inputs", inputSize, "inputSize", precision),
    take({ candidate, penalty }, values) {
      if (values) restoreInto(prediction.data, preprocessing.targetScale, values);
      take(candidate, penalty, values && prediction);
    },
  });
}

/**
 * Asks for what `Forecaster.fit` and `forecast` give for each candidate and penalty, to the bit:
 * all rows NaN of a forecast that leaves the finite numbers. Throws as above.
 */
export function forecastsOf(
  { series: measured, transforms, trainRows, starts, warmup, horizon, washout, standardise, features, constant }: CandidateSeries,
  take: TakeForecasts,
): AskOf {
  const lost = rowsLost(transforms);
  const preprocessing = fitPreprocessing(
    [{ series: measured.subarray(0, lost + trainRows) }],
    { transforms, standardise, hold: true },
    false,
  );
  const scale = preprocessing.targetScale;
  const scores = standardised(scale, withTransforms(preprocessing.transforms, { series: measured }).series);
  const held = inScores(preprocessing.held!, scale);
  const ends = (of: "lower" | "upper") =>
    new Matrix(starts.length, scores.cols, Float64Array.from(starts.flatMap(() => Array.from(held[of]))));
  const range = { lower: ends("lower"), upper: ends("upper") };
  const forecastOf = (values: Float64Array, start: number): Matrix<Float64Array> => {
    if (!values.every(Number.isFinite)) return new Matrix(horizon, scores.cols, values.slice().fill(Number.NaN));
    const made = restored(scale, new Matrix(horizon, scores.cols, values));
    return lost > 0 || transforms.length > 0 ? restoredForecast(made, measured.subarray(0, lost + start), preprocessing.transforms) : made;
  };
  return ({ inputSize, precision }) => ({
    kind: "forecasts",
    ...{ washout, features, constant, horizon, refit: false },
    series: [
      {
        ...{ rows: series(scores, "series", inputSize, "inputSize", precision), targets: scores, starts, ...range },
        apart: { trainRows, warmup },
      },
    ],
    take({ candidate, penalty }, values) {
      const length = horizon * scores.cols;
      const isTrained = !values.every(Number.isNaN);
      const made = starts.map((start, k) => forecastOf(values.subarray(k * length, (k + 1) * length), start));
      take(candidate, penalty, isTrained ? made : undefined);
    },
  });
}
