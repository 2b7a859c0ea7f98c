// An NvarForecaster's options and their checks. It computes nothing.
import {
  callback,
  checkedLater,
  choice,
  either,
  flag,
  type Kind,
  list,
  nothing,
  number,
  object,
  option,
  optional,
  type TableOf,
  text,
  whole,
} from "@spillway/core/options.js";
import type { Matrix, MatrixLike } from "@spillway/numerics";
import type { WorkOptions } from "../../reservoir/index.js";
import { workTable } from "../../reservoir/work.js";
import { type CalendarFeature, calendarKind } from "../../series/calendar.js";
import { type Bounds, boundsOption } from "../forecaster/bounds.js";
import type { TimedRows } from "../forecaster/clock.js";
import type { DescribedSeries } from "../forecaster/data.js";
import { type ChooseLambdaOptions, chooseLambdaTable } from "../forecaster/lambda-choice.js";
import { type MissingInSeries, missingKind } from "../forecaster/missing.js";
import { intervalsOption, knownAheadOption, knownRowsOption, targetsOption } from "../forecaster/options.js";
import { type TableNames, tableNamesOption } from "../table-names.js";

/** What an NVAR forecaster is. */
export interface NvarSettings {
  /** k, values of each column that are seen: rows t, t - s, ..., t - (k - 1) s. Default 2. */
  readonly delays: number;
  /** s, rows between two of them. Default 1. */
  readonly stride: number;
  /** Degrees of the monomials of these values, each at least 2; [] is linear. Default [2]. */
  readonly degrees: readonly number[];
  /** Whether there is a constant, which is not penalised. Default true. */
  readonly constant: boolean;
  /** What is learnt: y(t + 1) - y(t) ("increment", default) or y(t + 1) ("value"). */
  readonly target: "increment" | "value";
  /**
   * The penalty on squared weights, not divided by rows; 0 is plain least squares. Default 1e-6, or
   * with a horizon that which is chosen.
   */
  readonly lambda: number;
  /**
   * Steps that are forecast: lambda is then chosen by closed-loop forecasts of that many steps from
   * starts inside the training series, as in `Forecaster`, and forecasts have bands (`intervals`).
   */
  readonly horizon?: number | undefined;
  /** The columns of the series that are forecast, as in `Forecaster`. Default all. */
  readonly targets?: readonly number[] | undefined;
  /**
   * How it is chosen: `lambdas` (default those of `Forecaster`, or `lambda` if it is said),
   * `starts`,
   * `validation`, `loss`.
   */
  readonly choose?: ChooseLambdaOptions | undefined;
  /**
   * For a field on a ring: each column is predicted from itself and this many columns on each
   * side, by one polynomial with the same weights for all. Default null: every column sees all.
   */
  readonly neighbours: number | null;
  /** Turn the series into z-scores by the training data. Default true. */
  readonly standardise: boolean;
  /**
   * Hold every output of a closed loop to the range of the training data, widened by half a
   * standard deviation on both sides: a polynomial that leaves its data runs to infinity. Default
   * true.
   */
  readonly hold: boolean;
  /** The least and the largest value that a column can have, as in `Forecaster`. */
  readonly bounds?: Bounds | undefined;
  /**
   * "float64" (default), or "doubleDouble" for data, weights and closed loop in about 106 bits:
   * some 50 times as slow, and of use only for data without noise.
   */
  readonly arithmetic: "float64" | "doubleDouble";
  /**
   * What becomes of missing values (NaN), as in `Forecaster`. Default "error". With "mask" they are
   * held, and rows of features that see or predict such a value train nothing: there is no state
   * that had to be told of them. `missingCounts` says how many there were.
   */
  readonly missing?: MissingInSeries | undefined;
  /**
   * What of the calendar is an input that is known beforehand, by the time stamps of the rows:
   * cycles ("hour", "weekday", "yearday") and holidays. Default none.
   */
  readonly calendar?: readonly CalendarFeature[] | undefined;
  /** Names of the table that the rows come from, which the file keeps for `spillway forecast`. */
  readonly table?: TableNames | undefined;
}

/** The options of an NVAR forecaster; each has a default. */
export type NvarOptions = { readonly [Name in keyof NvarSettings]?: NvarSettings[Name] | undefined };

/**
 * The values of a T x D series. With arithmetic "doubleDouble", `{ high, low }` gives more than 53
 * bits of each value: high + low.
 */
export type NvarValues = MatrixLike | { readonly high: MatrixLike; readonly low: MatrixLike };

/** A T x D series with its time stamps, and what is known of its rows beforehand. */
export interface NvarDescribed extends Omit<DescribedSeries, "series"> {
  readonly series: NvarValues;
}

/** A T x D series, alone or with what is known of its rows. */
export type NvarData = NvarValues | NvarDescribed;

/** Series that follow one another without touching. */
export interface NvarSequences {
  readonly sequences: readonly NvarData[];
}

/** Where a forecast starts. */
export interface NvarStartOptions extends WorkOptions {
  /**
   * Rows to go on from, at least (k - 1) s + 1. Left out, the end of the training data (of the last
   * series).
   */
  readonly warmup?: NvarData | undefined;
}

/** Watching and stopping a fit, and where it solves. */
export interface NvarFitOptions extends WorkOptions {
  /**
   * Where double-double solves for the weights: "cpu" (default, as is "auto"), "cuda", "cuda:1" (a
   * device by number) or "sim", with the same bits. A device has none for binary64.
   */
  readonly engine?: string | undefined;
}

export const nvarFitTable = {
  engine: optional(
    text("the name of an engine"),
    'Where double-double solves for the weights: "cpu" (default), "cuda", "cuda:1" (a device by number) or "sim".',
  ),
  ...workTable,
} satisfies TableOf<NvarFitOptions>;

/** Options of `predict`. */
export interface NvarPredictOptions extends NvarStartOptions {
  /**
   * What was known beforehand of each row, if the model takes that. Output t is then the prediction
   * of row t itself, made from the rows before it.
   */
  readonly known?: MatrixLike | undefined;
}

/** Options of `forecast`. */
export interface NvarForecastOptions extends NvarStartOptions {
  /**
   * What is known of the steps to come, one row a step, if the model takes that; or rows with time
   * stamps, of which each step takes its own. The calendar need not be given.
   */
  readonly known?: MatrixLike | TimedRows | undefined;
  /**
   * Shares of the values to come that bands around the forecast hold, such as [0.8, 0.95]: split
   * conformal by step, as in `Forecaster`. It takes a `horizon` in fit, and no more steps than
   * that. Default none.
   */
  readonly intervals?: readonly number[] | undefined;
}

/** Options of `score`. */
export interface NvarScoreOptions extends NvarStartOptions {
  /** A function of target and prediction (T x D). Default `nrmse`. */
  readonly metric?: ((target: Matrix, prediction: Matrix) => number) | undefined;
}

const degreesTake = "a list of whole numbers of at least 2";

/** The options of an NvarForecaster, and the settings of its file. */
export const nvarTable = {
  delays: option(whole({ atLeast: 1, atMost: 100_000 }), 2, "Values of each column that are seen, k."),
  stride: option(whole({ atLeast: 1, atMost: 1_000_000 }), 1, "Rows between two of them, s."),
  degrees: option(list(whole({ atLeast: 2, atMost: 64 }), degreesTake), [2], "Degrees of the monomials of these values."),
  constant: option(flag, true, "Whether there is a constant, which is not penalised."),
  target: option(choice("increment", "value"), "increment", "What is learnt: y(t + 1) - y(t), or y(t + 1)."),
  lambda: option(number({ atLeast: 0 }), 1e-6, "The penalty on squared weights."),
  horizon: optional(whole({ atLeast: 1 }), "Steps that are forecast: lambda is chosen by closed loops that long."),
  targets: targetsOption,
  choose: optional(object(chooseLambdaTable) as Kind<ChooseLambdaOptions>, "How lambda is chosen."),
  neighbours: option(
    either("null or a whole number of at least 0", nothing, whole()),
    null,
    "For a field on a ring: columns on each side that a column sees, with the same weights for all.",
  ),
  standardise: option(flag, true, "Turn the series into z-scores by the training data."),
  hold: option(flag, true, "Hold outputs of a closed loop to the widened range of the training data."),
  bounds: boundsOption,
  arithmetic: option(choice("float64", "doubleDouble"), "float64", "Of data, weights and closed loop."),
  missing: optional(missingKind, "What becomes of missing values; left out, error."),
  calendar: optional(calendarKind, "What of the calendar is an input, by the time stamps of the rows."),
  table: tableNamesOption,
} satisfies TableOf<NvarSettings>;

/** Where predictions of an NvarForecaster start. */
export const nvarStartTable = {
  ...workTable,
  warmup: optional(
    checkedLater<NvarData>("a series, or { series, known, times }"),
    "Rows to go on from; left out, the end of the training data.",
  ),
} satisfies TableOf<NvarStartOptions>;

/** The options of `NvarForecaster.predict`. */
export const nvarPredictTable = { ...nvarStartTable, known: knownRowsOption } satisfies TableOf<NvarPredictOptions>;

/** The options of `NvarForecaster.forecast`. */
export const nvarForecastTable = {
  ...nvarStartTable,
  known: knownAheadOption,
  intervals: intervalsOption,
} satisfies TableOf<NvarForecastOptions>;

/** The options of `NvarForecaster.score`. */
export const nvarScoreTable = {
  ...nvarStartTable,
  metric: optional(callback<NonNullable<NvarScoreOptions["metric"]>>("a function of target and prediction"), "The score; left out, nrmse."),
} satisfies TableOf<NvarScoreOptions>;
