// What was chosen by validation forecasts, and how it was scored.
import type { Matrix } from "@spillway/numerics";
import type { ForecastLoss } from "./loss.js";
import type { MemberName } from "./options.js";

/** A start of a validation forecast: its first row is row `row` of sequence `sequence`. */
export interface ValidationStart {
  readonly sequence: number;
  readonly row: number;
}

/** What a candidate differs from the others in, beside fields of its reservoir. */
export interface TriedSetting {
  /** Rows of the series that the readout sees beside the state. */
  readonly lags: number;
  /** Whether the calendar is an input. */
  readonly calendar: boolean;
}

/** A candidate with a lambda. */
export interface ScoredPair {
  readonly candidate: number;
  readonly lambda: number;
  /**
   * What is compared: its own error, or if that is larger the geometric mean of it and of those of
   * the next smaller and the next larger lambda (of losses below 0 the arithmetic mean), so that
   * one lucky lambda does not win. Undefined if it failed; `failure` then says why.
   */
  readonly score?: number | undefined;
  /** Its own error, by `loss`; undefined if it failed, and in earlier files. */
  readonly error?: number | undefined;
  readonly failure?: string | undefined;
}

/** A member of a combination, with its weights. */
export interface WeightedMember {
  readonly name: MemberName;
  /** One a column; of all members together they are 1. */
  readonly weights: readonly number[];
  /** Mean absolute errors at the origins, one a column; undefined if nothing was measured there. */
  readonly errors?: readonly number[] | undefined;
  /** How many candidates it is the median of. */
  readonly groups: number;
  /** Of the direct member the root mean square error of each penalty, over that of the columns. */
  readonly scores?: readonly { readonly lambda: number; readonly error: number }[] | undefined;
}

/** What was chosen, and by which forecasts. */
export interface ForecasterChoice {
  readonly horizon: number;
  readonly loss: ForecastLoss;
  readonly starts: readonly ValidationStart[];
  /** The candidates, in their order. */
  readonly candidates: readonly TriedSetting[];
  /** Every pair, candidates in their order and lambdas in theirs. */
  readonly scores: readonly ScoredPair[];
  /** The members of a combination; undefined of a loop alone. */
  readonly members?: readonly WeightedMember[] | undefined;
  /** What the members were weighed by: rows from the first origin on, and rows of a season. */
  readonly validated?: { readonly rows: number; readonly season: number } | undefined;
  /** The pairs that the model is made of, best first. */
  readonly kept: readonly ScoredPair[];
  /**
   * Seconds that choosing took; undefined in a model that was opened, whose file does not hold
   * them.
   */
  readonly seconds?: number | undefined;
  /**
   * Where the forecasts of `targets` and `errors` start, which bands are made of: as many as fit
   * into the validation part, up to a cost. Left out, `starts`.
   */
  readonly errorStarts?: readonly ValidationStart[] | undefined;
  /**
   * Error starts * horizon x D: what came, in units of the data; row k * horizon + h is step h of
   * start k.
   */
  readonly targets: Matrix<Float64Array>;
  /**
   * The same rows: targets less the forecast of the kept pairs, their median if they are several;
   * NaN where the target was filled and not measured, infinite if a forecast from there ran away.
   */
  readonly errors: Matrix<Float64Array>;
}
