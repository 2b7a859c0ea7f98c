// How wide the bands of forecasts are: the same forecaster, trained on the first part of the
// training rows, forecasts the rest of them; or its choice has measured errors already.
import { ArgumentError, orError } from "@spillway/core/errors.js";
import { Matrix } from "@spillway/numerics";
import { coverage, winklerScore } from "../../metrics/index.js";
import type { MeasuredErrors } from "../../model/forecaster/bands.js";
import { formatNumber, formatShare } from "../../plot/format.js";
import { type Band, fewestScores, validationStarts } from "../../series/index.js";
import { measuredRows, type PreparedSeries } from "../data/prepare.js";
import { columnAlone, mostColumns, type Outcome } from "./scores.js";

/** Bands around every forecast of a horizon, and how they did. */
export interface Bands {
  readonly level: number;
  /** Whether they follow what forecasts from earlier starts missed. */
  readonly adaptive?: true | undefined;
  /** The starts whose errors made them. */
  readonly calibratedOn: number;
  /** Of a combination: how many horizons the rows of these errors hold. */
  readonly horizons?: number | undefined;
  /** The share of the test values inside, and the mean Winkler score. */
  readonly covered: number;
  readonly winkler: number;
  /** The share of each of several columns. */
  readonly columns?: readonly number[] | undefined;
  /** What bands of other levels from the same errors hold: how well they are calibrated. */
  readonly calibration: readonly { readonly level: number; readonly covered: number }[];
}

/** The levels that show how well bands are calibrated. */
const shownLevels = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95];

/** A forecaster for the rows before `fitted`, which is given back when it has forecast. */
export interface Calibrator {
  /** The rows from row `at` on. */
  forecast(at: number): Promise<Matrix>;
  dispose(): Promise<void>;
}

/**
 * The errors of forecasts of the last quarter of the training rows, which bands are made of.
 * Undefined if there are too few rows for it.
 * @param least rows before the first start.
 * @param train trains on the first `fitted` rows.
 */
export async function calibrate(
  { whole, trainRows, facts }: Pick<PreparedSeries, "whole" | "trainRows" | "facts">,
  { horizon, least }: { readonly horizon: number; readonly least: number },
  train: (fitted: number) => Promise<Calibrator>,
): Promise<MeasuredErrors | undefined> {
  const found = orError(() => validationStarts(trainRows, horizon, least), ArgumentError);
  if (found instanceof ArgumentError) return undefined;
  const { cols } = whole.original;
  const targets = Matrix.zeros(found.starts.length * horizon, cols);
  const errors = Matrix.zeros(found.starts.length * horizon, cols);
  const calibrator = await train(found.fitted);
  try {
    for (const [k, at] of found.starts.entries()) {
      const said = await calibrator.forecast(at);
      const target = whole.original.subarray(at, at + horizon);
      const came = measuredRows(whole, facts, at, horizon);
      targets.data.set(target.data, k * horizon * cols);
      for (let i = 0; i < said.data.length; i++) {
        const error = target.data[i]! - said.data[i]!;
        const isUnknown = Number.isNaN(came.data[i]!);
        errors.data[k * horizon * cols + i] = Number.isNaN(error) ? Number.POSITIVE_INFINITY : isUnknown ? Number.NaN : error;
      }
    }
  } finally {
    await calibrator.dispose();
  }
  return { horizon, targets, errors };
}

/** Whether errors are of starts enough for bands of a share; those of a combination always are. */
export function canGive({ horizon, errors, validated }: MeasuredErrors, share: number): boolean {
  return validated !== undefined || errors.rows / horizon >= fewestScores(share);
}

/** How bands did on the test starts, those of `level` and those of others. */
export function judgeBands(
  outcomes: readonly Outcome[],
  bandOf: (outcome: number, level: number) => Band,
  level: number,
  measured: MeasuredErrors,
  adaptive: boolean,
): Bands {
  const { horizon, validated } = measured;
  const calibratedOn = measured.errors.rows / horizon;

  // Every measured value counts as much.
  const mean = (measure: (target: Matrix, band: Band) => number, share: number, c?: number) => {
    let sum = 0;
    let measured = 0;
    for (const [k, { target }] of outcomes.entries()) {
      const band = bandOf(k, share);
      const own = c === undefined ? target : columnAlone(target, c);
      const count = own.data.filter((value) => !Number.isNaN(value)).length;
      if (count === 0) continue;
      sum += count * measure(own, c === undefined ? band : { lower: columnOf(band.lower, c), upper: columnOf(band.upper, c) });
      measured += count;
    }
    return sum / measured;
  };
  const covered = (share: number, c?: number) => mean(coverage, share, c);
  const cols = outcomes[0]!.target.cols;
  return {
    level,
    ...(adaptive && { adaptive }),
    calibratedOn,
    horizons: validated && validated.rows / horizon,
    covered: covered(level),
    columns: cols > 1 && cols <= mostColumns ? Array.from({ length: cols }, (_, c) => covered(level, c)) : undefined,
    winkler: mean((target, band) => winklerScore(target, band, level), level),
    calibration: shownLevels.filter((share) => canGive(measured, share)).map((share) => ({ level: share, covered: covered(share) })),
  };
}

/** "bands of 90 % from 25 starts hold 88.2 % of the test values" */
export function describeBands({ level, adaptive, calibratedOn, covered, horizons }: Bands): string {
  if (horizons !== undefined)
    return `bands of ${formatShare(level)} from ${formatNumber(horizons)} horizons of earlier rows hold ${formatShare(covered)} of the test values`;
  const fewest = fewestScores(level);
  if (calibratedOn < fewest) return `no bands: ${calibratedOn} starts cannot give ${formatShare(level)}; ${fewest} can`;
  return `${adaptive ? "adaptive bands" : "bands"} of ${formatShare(level)} from ${calibratedOn} starts hold ${formatShare(covered)} of the test values`;
}

function columnOf(matrix: Matrix<Float64Array>, c: number): Matrix<Float64Array> {
  return columnAlone(matrix, c) as Matrix<Float64Array>;
}
