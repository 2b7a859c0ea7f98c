// Evaluations: many reservoirs over the same rows, and what is asked of each of them. Devices run
// all of them at once, hosts one after the other, with the same bits.
import { getOrMake } from "@spillway/core/maps.js";
import type { Matrix, SparseMatrix } from "@spillway/numerics";
import type { FeatureSpec } from "../features.js";
import type { ReservoirModel } from "../model.js";
import type { EngineProfile } from "../profile.js";
import type { WorkOptions } from "../work.js";
import type { EnginePlan } from "./calls.js";
import type { MeasuresAsked, MeasuresFound } from "./measures.js";

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
 * One reservoir that is evaluated and the penalty of its readout. What is scaled is a draw times a
 * factor, rounded to binary64 and then as the base's model is.
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
  /** Measures do not depend on it. */
  readonly lambda: number;
}

/** How the rows of a series train ridge readouts (docs/numerics.md, rules 9 to 11). */
export interface ReadoutTraining {
  /** Rows at the start of a series that train nothing. */
  readonly washout: number;
  readonly features: FeatureSpec;
  /** Whether there is a constant feature, which has no penalty. */
  readonly constant: boolean;
}

/** Readouts of some rows, which answer those after them. */
export interface TrainedRows extends ReadoutTraining {
  /** T x I in the models' precision. */
  readonly inputs: Matrix;
  /** T x O in binary64. */
  readonly targets: Matrix<Float64Array>;
  /** Rows [washout, trainRows) train, rows [trainRows, T) are predicted. */
  readonly trainRows: number;
}

/** Asks for the errors of readouts. `Of` names a member: for an engine its index. */
export interface ErrorsAsk<Of = number> extends TrainedRows {
  readonly kind: "errors";
  /**
   * Takes the sums of a member's squared errors, O values added row by row from +0; undefined if a
   * state is not finite or the factorisation failed. It may not keep the array.
   */
  take(member: Of, squares: Float64Array | undefined): void;
}

/** Asks for the predictions of readouts. */
export interface PredictionsAsk<Of = number> extends TrainedRows {
  readonly kind: "predictions";
  /**
   * Takes what a member's readout makes of the rows after training, (T - trainRows) x O in the
   * models' precision; undefined as above. It may not keep the array.
   */
  take(member: Of, predictions: Float64Array | undefined): void;
}

/** A series that is forecast by a closed loop from some of its rows. */
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

/** Asks for closed loops of readouts that make a row of a series of the one before. */
export interface ForecastsAsk<Of = number> extends ReadoutTraining {
  readonly kind: "forecasts";
  readonly series: readonly ForecastSeries[];
  readonly horizon: number;
  /** Whether each start has a readout of all rows before it, or all have that of the first. */
  readonly refit: boolean;
  /**
   * Takes a member's forecasts of a series, starts x horizon x I one after the other; NaN from an
   * output on that is not finite, and all of them if a state of the series is not finite or the
   * factorisation failed. It may not keep the array.
   */
  take(member: Of, forecasts: Float64Array, series: number): void;
}

/** Asks for measures of the reservoirs themselves. */
export interface MeasuresAsk<Of = number> {
  readonly kind: "measures";
  readonly measures: MeasuresAsked;
  /** Members that are measured together, at most; they come in order of waves. Default 4096. */
  readonly membersAtOnce?: number | undefined;
  /** Takes what was found of a member. */
  take(member: Of, found: MeasuresFound): void;
}

/** What is asked of many reservoirs. */
export type Ask<Of = number> = ErrorsAsk<Of> | PredictionsAsk<Of> | ForecastsAsk<Of> | MeasuresAsk<Of>;

/** What is asked of many reservoirs by their readouts. */
export type ReadoutAsk<Of = number> = Exclude<Ask<Of>, MeasuresAsk<Of>>;

/** Many reservoirs, and what is asked of each. */
export interface Evaluation<Of extends Ask = Ask> extends WorkOptions {
  readonly bases: readonly SweepBase[];
  readonly members: readonly SweepMember[];
  readonly ask: Of;
  /** Measure phases. */
  readonly profile?: boolean | undefined;
}

/** How an evaluation ran. */
export interface Evaluated {
  readonly plan: EnginePlan;
  /** If it was asked for. */
  readonly profile?: EngineProfile | undefined;
}

/** What progress counts of a member: its steps; of measures, the member. */
export function stepsOf(ask: Ask<never>): number {
  if (ask.kind === "measures") return 1;
  return ask.kind === "forecasts" ? ask.series.reduce((sum, { starts }) => sum + starts.at(-1)!, 0) : ask.inputs.rows;
}

/** The same ask of members with other names. */
export function askedAs<From, To>(ask: Ask<From>, nameOf: (member: To) => From): Ask<To> {
  const take = (member: To, found: never, series: number) => ask.take(nameOf(member), found, series);
  return { ...ask, take } as Ask<To>;
}

/**
 * Members that differ in the penalty of their readouts alone: all that comes before, states and
 * Gram matrix, is the same.
 */
export interface SharedPrefix {
  /** One of them. */
  readonly member: SweepMember;
  /** All of them, by their indices in the evaluation. */
  readonly members: readonly number[];
}

/** The shared prefixes of members, in the order of their first members. */
export function sharedPrefixes(members: readonly SweepMember[]): SharedPrefix[] {
  const lists = new Map<readonly number[], number>();
  const prefixes = new Map<string, { readonly member: SweepMember; readonly members: number[] }>();
  for (const [index, member] of members.entries()) {
    const { base, factor, inputScaling, bias, leakRate, noiseLevel } = member;
    if (typeof leakRate !== "number" && !lists.has(leakRate)) lists.set(leakRate, lists.size);
    const rate = typeof leakRate === "number" ? leakRate : `list ${lists.get(leakRate)!}`;
    const key = [base, factor, inputScaling, bias, rate, noiseLevel].join(" ");
    getOrMake(prefixes, key, () => ({ member, members: [] })).members.push(index);
  }
  return [...prefixes.values()];
}
