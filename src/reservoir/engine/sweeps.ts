// The capability of an engine that trains and scores many reservoirs over one series. Others do so
// one after the other, with the same bits.
import type { Matrix, SparseMatrix } from "../../numerics/index.js";
import type { EnginePlan } from "../engine.js";
import type { FeatureSpec } from "../features.js";
import type { ReservoirModel } from "../model.js";
import type { EngineProfile } from "../profile.js";
import type { WorkOptions } from "../work.js";

/** Runs sweeps. */
export interface RunsSweeps {
  /** All members; undefined for work that is better done one member after the other. */
  sweep?(work: SweepWork): Promise<SweepErrors> | undefined;
}

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

/**
 * Many reservoirs over one series, each with a ridge readout (docs/numerics.md, rules 9 to 11) and
 * its errors.
 */
export interface SweepWork extends WorkOptions {
  readonly bases: readonly SweepBase[];
  readonly members: readonly SweepMember[];
  /** T x I in the models' precision. */
  readonly inputs: Matrix;
  /** T x O in binary64. */
  readonly targets: Matrix<Float64Array>;
  /** Rows [washout, trainRows) train, rows [trainRows, T) are predicted. */
  readonly washout: number;
  readonly trainRows: number;
  readonly features: FeatureSpec;
  /** Whether there is a constant feature, which has no penalty. */
  readonly constant: boolean;
  /** Measure phases. */
  readonly profile?: boolean | undefined;
}

/** What a sweep came to. */
export interface SweepErrors {
  /**
   * Sums of squared errors, members x O, added row by row from +0; NaN if a state is not finite or
   * a factorisation failed.
   */
  readonly squares: Matrix<Float64Array>;
  readonly plan: EnginePlan;
  /** If it was asked for. */
  readonly profile?: EngineProfile | undefined;
}
