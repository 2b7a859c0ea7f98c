// An NvarForecaster's options, data and their checks. It computes nothing.
import { ArgumentError } from "../../core/errors.js";
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
  whole,
} from "../../core/options.js";
import { Matrix, type MatrixLike } from "../../numerics/index.js";
import type { WorkOptions } from "../../reservoir/index.js";
import { checkSequences } from "../../reservoir/inputs.js";
import { workTable } from "../../reservoir/work.js";
import { checkedSeries } from "../forecaster/data.js";
import { type ChooseLambdaOptions, chooseLambdaTable } from "../forecaster/lambda-choice.js";
import { intervalsOption } from "../forecaster/options.js";
import { type TableNames, tableNamesOption } from "../table-names.js";
import type { Numbers } from "./features.js";

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
  /**
   * "float64" (default), or "doubleDouble" for data, weights and closed loop in about 106 bits:
   * some 50 times as slow, and of use only for data without noise.
   */
  readonly arithmetic: "float64" | "doubleDouble";
  /** Names of the table that the rows come from, which the file keeps for `spillway forecast`. */
  readonly table?: TableNames | undefined;
}

/** The options of an NVAR forecaster; each has a default. */
export type NvarOptions = { readonly [Name in keyof NvarSettings]?: NvarSettings[Name] | undefined };

/**
 * A T x D series. With arithmetic "doubleDouble", `{ high, low }` gives more than 53 bits of each
 * value: high + low.
 */
export type NvarData = MatrixLike | { readonly high: MatrixLike; readonly low: MatrixLike };

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

/** Options of `forecast`. */
export interface NvarForecastOptions extends NvarStartOptions {
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
  choose: optional(object(chooseLambdaTable) as Kind<ChooseLambdaOptions>, "How lambda is chosen."),
  neighbours: option(
    either("null or a whole number of at least 0", nothing, whole()),
    null,
    "For a field on a ring: columns on each side that a column sees, with the same weights for all.",
  ),
  standardise: option(flag, true, "Turn the series into z-scores by the training data."),
  hold: option(flag, true, "Hold outputs of a closed loop to the widened range of the training data."),
  arithmetic: option(choice("float64", "doubleDouble"), "float64", "Of data, weights and closed loop."),
  table: tableNamesOption,
} satisfies TableOf<NvarSettings>;

/** Where predictions of an NvarForecaster start. */
export const nvarStartTable = {
  ...workTable,
  warmup: optional(checkedLater<NvarData>("a series"), "Rows to go on from; left out, the end of the training data."),
} satisfies TableOf<NvarStartOptions>;

/** The options of `NvarForecaster.forecast`. */
export const nvarForecastTable = { ...nvarStartTable, intervals: intervalsOption } satisfies TableOf<NvarForecastOptions>;

/** The options of `NvarForecaster.score`. */
export const nvarScoreTable = {
  ...nvarStartTable,
  metric: optional(callback<NonNullable<NvarScoreOptions["metric"]>>("a function of target and prediction"), "The score; left out, nrmse."),
} satisfies TableOf<NvarScoreOptions>;

/** A checked series: T x D numbers. */
export interface NvarSeries {
  readonly rows: number;
  readonly cols: number;
  readonly values: Numbers;
}

/** Checks series and copies them into memory of their own. @throws ArgumentError */
export function nvarSeries(data: NvarData, name: string, doubleDouble: boolean): NvarSeries {
  const both = typeof data === "object" && data !== null && "high" in data ? data : undefined;
  if (typeof data === "object" && data !== null && "targets" in data)
    throw ArgumentError.because(`${name} has inputs and targets; NVAR goes on with a series, T x D: give it just that`);
  if (both && !doubleDouble)
    throw ArgumentError.because(`${name} has high and low parts; they take arithmetic "doubleDouble"`, { field: "arithmetic" });
  const high = Matrix.from(checkedSeries(both ? both.high : (data as MatrixLike), both ? `${name}.high` : name));
  const values = doubleDouble ? { high: high.data, low: new Float64Array(high.data.length) } : { high: high.data };
  if (both) {
    const low = checkedSeries(both.low, `${name}.low`);
    if (low.rows !== high.rows || low.cols !== high.cols)
      throw ArgumentError.shape(
        `${name}.low is ${low.rows} x ${low.cols} and ${name}.high is ${high.rows} x ${high.cols}; they take the same`,
      );
    values.low!.set(low.data);
  }
  return { rows: high.rows, cols: high.cols, values };
}

/** Every series of training data. @throws ArgumentError */
export function nvarSequences(data: NvarData | NvarSequences, doubleDouble: boolean): readonly NvarSeries[] {
  const several = typeof data === "object" && data !== null && "sequences" in data;
  if (several) checkSequences(data.sequences, "sequences");
  const all = several
    ? data.sequences.map((one, s) => nvarSeries(one, `sequences[${s}]`, doubleDouble))
    : [nvarSeries(data, "series", doubleDouble)];
  const first = all[0];
  if (!first) throw ArgumentError.shape("sequences is empty; it takes at least one", { field: "sequences" });
  all.forEach(({ cols }, s) => {
    if (cols !== first.cols)
      throw ArgumentError.shape(`sequences[${s}] has ${cols} columns and sequences[0] has ${first.cols}; they take the same`);
  });
  return all;
}
