// Reservoirs that a search proposes, over the same rows: each its own description, seed and
// penalties, trained and asked together if an engine can.
import { ArgumentError } from "@spillway/core/errors.js";
import { Matrix, type Seed } from "@spillway/numerics";
import type { ReservoirConfig, ReservoirOptions } from "../../reservoir/config.js";
import { askedAs, type ReadoutAsk } from "../../reservoir/engine/evaluation.js";
import { type EvaluatedMember, type EvaluateOptions, evaluate } from "../../reservoir/evaluate/evaluate.js";
import type { FeatureSpec } from "../../reservoir/features.js";
import { series } from "../../reservoir/inputs.js";
import type { Transform } from "../../series/transform-kinds.js";
import { restoredForecast, rowsLost } from "../../series/transforms.js";
import { forecasterReservoir } from "../defaults.js";
import { fitPreprocessing, inScores, preprocessed, withTransforms } from "../forecaster/preprocessing.js";
import { restored, restoreInto, standardised } from "../standardisation.js";

/** A reservoir and the penalties of its readouts. */
export interface SweepCandidate {
  /**
   * As a Forecaster takes it: what is left out has the Forecaster's defaults. It is read once for
   * all candidates that share the object.
   */
  readonly reservoir: ReservoirOptions;
  readonly seed: Seed;
  readonly lambdas: readonly number[];
}

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

/** What is asked of candidates over the same rows. */
export interface CandidateAsk {
  readonly inputSize: number;
  /** The ask of members that are described like this one. */
  readonly of: (config: ReservoirConfig) => ReadoutAsk<EvaluatedMember>;
}

/**
 * Evaluates candidates on an engine that runs them side by side.
 * @returns the indices of candidates that the engine does not run, or whose description is refused
 */
export async function evaluateCandidates(
  candidates: readonly SweepCandidate[],
  { inputSize, of }: CandidateAsk,
  options: EvaluateOptions,
): Promise<readonly number[]> {
  const { resolveConfig } = await import("../../reservoir/config-schema.js");
  const known = new Map<ReservoirOptions, ReservoirConfig | undefined>();
  const configOf = (reservoir: ReservoirOptions): ReservoirConfig | undefined => {
    try {
      return resolveConfig(forecasterReservoir({ inputSize, ...reservoir }));
    } catch (error) {
      if (error instanceof ArgumentError) return undefined;
      throw error;
    }
  };
  const indices: number[] = [];
  const refused: number[] = [];
  const described = candidates.flatMap(({ reservoir, seed, lambdas }, index) => {
    if (!known.has(reservoir)) known.set(reservoir, configOf(reservoir));
    const config = known.get(reservoir);
    (config ? indices : refused).push(index);
    return config ? [{ config, seed, lambdas }] : [];
  });
  const named = (config: ReservoirConfig): ReadoutAsk<EvaluatedMember> =>
    askedAs(of(config), (member: EvaluatedMember) => ({ ...member, candidate: indices[member.candidate]! }));
  const { left } = await evaluate(described, named, options);
  return [...refused, ...left.map((index) => indices[index]!)];
}

/**
 * Asks for what `Forecaster.fit` and `predict` give for each candidate and penalty, to the bit.
 * @throws ArgumentError for rows that a Forecaster refuses
 */
export function predictionsOf(
  { train, test, washout, standardise, features, constant }: CandidateRows,
  take: TakePrediction,
): CandidateAsk {
  const preprocessing = fitPreprocessing([train], { transforms: [], standardise, hold: false }, false);
  const trained = preprocessed(preprocessing, train, { hybrid: undefined, feedback: false });
  const following = standardised(preprocessing.inputScale, test.inputs);
  const all = stacked(trained.inputs, following);
  const prediction = Matrix.zeros(following.rows, trained.targets.cols);
  // Rows to predict have no targets, and need none.
  const targets = stacked(trained.targets, Matrix.zeros(following.rows, trained.targets.cols));
  return {
    inputSize: train.inputs.cols,
    of: ({ inputSize, precision }) => ({
      kind: "predictions",
      ...{ washout, features, constant, targets, trainRows: trained.inputs.rows },
      inputs: series(all, "inputs", inputSize, "inputSize", precision),
      take({ candidate, penalty }, values) {
        if (values) restoreInto(prediction.data, preprocessing.targetScale, values);
        take(candidate, penalty, values && prediction);
      },
    }),
  };
}

/**
 * Asks for what `Forecaster.fit` and `forecast` give for each candidate and penalty, to the bit: all
 * rows NaN of a forecast that leaves the finite numbers. Throws as above.
 */
export function forecastsOf(
  { series: measured, transforms, trainRows, starts, warmup, horizon, washout, standardise, features, constant }: CandidateSeries,
  take: TakeForecasts,
): CandidateAsk {
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
  return {
    inputSize: scores.cols,
    of: ({ inputSize, precision }) => ({
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
    }),
  };
}

function stacked(above: Matrix, below: Matrix): Matrix<Float64Array> {
  const out = Matrix.zeros(above.rows + below.rows, above.cols);
  out.data.set(above.data);
  out.data.set(below.data, above.data.length);
  return out;
}
