// Sweeps: many reservoirs that are trained and scored over one series. Devices do that at once,
// others one reservoir after the other, with the same bits.
import type { Matrix, SparseMatrix } from "@spillway/numerics";
import type { EnginePlan } from "../engine.js";
import type { FeatureSpec } from "../features.js";
import type { ReservoirModel } from "../model.js";
import type { EngineProfile } from "../profile.js";
import type { WorkOptions } from "../work.js";

/** Reservoirs that share all that was drawn for one seed. */
export interface SweepBase {
  /** One of them; the others differ in W's factor and in what a member says. */
  readonly model: ReservoirModel;
  /** W before it is scaled, in binary64. */
  readonly draws: Matrix | SparseMatrix;
  /** W_in before it is scaled, N x I. */
  readonly inputDraws: Matrix<Float64Array>;
  /** b before it is scaled, N values. */
  readonly biasDraws: Float64Array;
}

/**
 * One reservoir of a sweep and the penalty of its readout. What is scaled is a draw times a factor,
 * rounded to binary64 and then as the base's model is.
 */
export interface SweepMember {
  /** Index of its base. */
  readonly base: number;
  /** W = draws * factor. */
  readonly factor: number;
  /** W_in = inputDraws * inputScaling: one for all inputs, or one each. */
  readonly inputScaling: number | readonly number[];
  /** b = biasDraws * bias; +0 if that is 0. */
  readonly bias: number;
  /** One for all neurons, or one each. */
  readonly leakRate: number | readonly number[];
  readonly noiseLevel: number;
  readonly lambda: number;
}

/** Many reservoirs, each with a ridge readout (docs/numerics.md, rules 9 to 11). */
export interface SweptReadouts extends WorkOptions {
  readonly bases: readonly SweepBase[];
  readonly members: readonly SweepMember[];
  /** Rows at the start of a series that train nothing. */
  readonly washout: number;
  readonly features: FeatureSpec;
  /** Whether there is a constant feature, which has no penalty. */
  readonly constant: boolean;
  /** Measure phases. */
  readonly profile?: boolean | undefined;
}

/** Such reservoirs over one series, and the errors of their readouts. */
export interface SweepWork extends SweptReadouts {
  /** T x I in the models' precision. */
  readonly inputs: Matrix;
  /** T x O in binary64. */
  readonly targets: Matrix<Float64Array>;
  /** Rows [washout, trainRows) train, rows [trainRows, T) are predicted. */
  readonly trainRows: number;
  /**
   * Takes what a member's readout makes of the rows after training, (T - trainRows) x O in the
   * models' precision; undefined if a state is not finite or the factorisation failed. Only an
   * engine's own sweep calls it, and then adds no squares up.
   */
  take?(member: number, predictions: Float64Array | undefined): void;
}

/** What a sweep came to. */
export interface SweepErrors {
  /**
   * Sums of squared errors, members x O, added row by row from +0; NaN if a state is not finite or
   * a factorisation failed. All 0 if predictions were taken.
   */
  readonly squares: Matrix<Float64Array>;
  readonly plan: EnginePlan;
  /** If it was asked for. */
  readonly profile?: EngineProfile | undefined;
}

/** A series that goes on by itself from some of its rows. */
export interface ForecastSeries {
  /** T x I in the models' precision. */
  readonly rows: Matrix;
  /** The same in binary64: row t + 1 is what a readout learns to make of row t. */
  readonly targets: Matrix<Float64Array>;
  /** Row s is the first that is forecast; rising, each above the one before. */
  readonly starts: readonly number[];
  /** Starts x I: what outputs are held to. */
  readonly lower: Matrix<Float64Array>;
  readonly upper: Matrix<Float64Array>;
  /**
   * If it is given, the first `trainRows` rows train the readout of all starts, and to each the
   * reservoir comes from its initial state over the `warmup` rows before it. Left out, it goes on
   * from start to start. Only without `refit`.
   */
  readonly apart?: { readonly trainRows: number; readonly warmup: number } | undefined;
}

/**
 * Such reservoirs over some series, whose readouts make a row of the series of the one before, and
 * their closed loops.
 */
export interface ForecastSweepWork extends SweptReadouts {
  readonly series: readonly ForecastSeries[];
  readonly horizon: number;
  /** Whether each start has a readout of all rows before it, or all have that of the first. */
  readonly refit: boolean;
  /**
   * Takes a member's forecasts of a series, starts x horizon x I one after the other; NaN from an
   * output on that is not finite, and all of them if a state of the series is not finite or the
   * factorisation failed. It may not keep the array.
   */
  take(series: number, member: number, forecasts: Float64Array): void;
}

/** What a sweep of forecasts took. */
export interface SweptForecasts {
  readonly plan: EnginePlan;
  /** If it was asked for. */
  readonly profile?: EngineProfile | undefined;
}
