// Options of calls of a forecaster: predict, update, forecast, score.
import {
  callback,
  checkedLater,
  choice,
  type InputOf,
  list,
  number,
  option,
  optional,
  type TableOf,
  text,
  whole,
} from "@spillway/core/options.js";
import type { Matrix, MatrixLike } from "@spillway/numerics";
import type { WorkOptions } from "../../reservoir/index.js";
import { seriesOf } from "../../reservoir/options.js";
import { workTable } from "../../reservoir/work.js";
import type { TimedRows } from "./clock.js";
import type { ForecasterPrefix, TimesLike } from "./data.js";

/** What `Forecaster.fit` takes of a series beside its options. */
export interface TimesOption {
  /** The time stamps of the rows of the series; `{ series, times }` as data says the same. */
  readonly times?: TimesLike | undefined;
}

/** Which of several series is meant. */
export interface KeyOption {
  /**
   * Of a combination that was trained on several series: which of them is forecast. Left out, the
   * rows of `warmup` are those of a new series, whose members are fitted and weighed by them.
   */
  readonly key?: string | undefined;
}

/** Options of `score`. */
export interface ScoreOptions extends StartOptions {
  /** A function of target and prediction (T x O). Default `nrmse`. */
  readonly metric?: ((target: Matrix, prediction: Matrix) => number) | undefined;
  /** Rows left out at the start. Default 0. */
  readonly washout?: number | undefined;
}

const startTable = {
  ...workTable,
  /**
   * Start from the initial state and run this first. Left out, go on from the present state: after
   * `fit`, the end of the training data.
   */
  warmup: optional(
    checkedLater<ForecasterPrefix>("a series, or {inputs, targets}"),
    "Start from the initial state and run this first; left out, go on from the present state.",
  ),
};

/** Where a prediction starts. */
export interface StartOptions extends WorkOptions, InputOf<typeof startTable> {}

/** What was known of rows that are predicted. */
export const knownRowsOption = optional(seriesOf("T x K"), "What was known beforehand of each row of the inputs.");

/** What is known of rows to come. */
export const knownAheadOption = optional(
  checkedLater<MatrixLike | TimedRows>("a matrix with one row a step, or { values, times }"),
  "What is known of the steps to come.",
);

export const predictTable = {
  ...startTable,
  /**
   * With feedback: the true outputs (T x O) to feed back in place of the predicted ones. Row t
   * reaches the prediction of row t + 1.
   */
  teacher: optional(seriesOf("T x O"), "With feedback: the true outputs to feed back in place of the predicted ones."),
  /**
   * The precision that outputs are rounded to, if the forecaster's own are not fed back. Default
   * that of the reservoir.
   */
  precision: optional(choice("float32", "float64"), "The precision that outputs are rounded to; left out, that of the reservoir."),
  /**
   * What was known beforehand of each row of the inputs, if the model takes that. Output t is then
   * the prediction of row t itself, made from the rows before it.
   */
  known: knownRowsOption,
};

/** Options of `predict`. */
export interface PredictOptions extends StartOptions, InputOf<typeof predictTable> {}

/** The shares that bands hold. */
export const intervalsOption = option(
  list(number({ above: 0, below: 1 }), "a list of shares"),
  [],
  "Shares of the values to come that bands hold.",
);

/** The levels of quantiles. */
export const quantilesOption = option(list(number({ above: 0, below: 1 }), "a list of levels"), [], "Levels of quantiles of each step.");

/** What bands are made of. */
export const bandsFromOption = option(
  choice("errors", "members"),
  "errors",
  "Bands from what forecasts were off by, or from what members differ by.",
);

export const updateTable = {
  ...workTable,
  /**
   * "fit" (default): the model is what `fit` of all rows gives, to the bit. It trains again, which
   * takes as long as `fit`, and only a combination of members keeps its rows for it. "keep": the
   * model moves on over the rows; choices, weights and readouts stay as they are.
   */
  weights: option(choice("fit", "keep"), "fit", "Train again on all rows, or go on with the model as it is."),
};

/** Options of `update`. */
export interface UpdateOptions extends WorkOptions, InputOf<typeof updateTable> {}

export const forecastTable = {
  ...startTable,
  key: optional(text(), "Which of several series is forecast."),
  /**
   * Inputs from outside, one row a step: with feedback all I of them, else those after the first O,
   * which are the forecast itself.
   */
  inputs: optional(seriesOf("one row a step"), "Inputs from outside."),
  /**
   * What is known of the steps to come, one row a step, if the model takes that; or rows with time
   * stamps, one for each step. The calendar need not be given.
   */
  known: knownAheadOption,
  /**
   * The last known rows of the series (T x D), in the units of the data, in place of those that the
   * model keeps: what differences are added to, and lags are taken from. The reservoir's state is
   * left as it is; `warmup` sets both.
   */
  history: optional(seriesOf("T x D"), "The last known rows of the series, in place of those that the model keeps."),
  /**
   * Shares of the values to come that bands around the forecast hold, such as [0.8, 0.95]: split
   * conformal by step (`conformalOffsets`), from the forecasts that chose the model; after a
   * logarithm or a power, on its scale. It takes a
   * `horizon` in fit, and no more steps than that. Bands of a series that drifts hold fewer.
   * Default none.
   */
  intervals: intervalsOption,
  /**
   * Levels between 0 and 1, such as [0.1, 0.5, 0.9]: `forecast.quantiles` has the value of each
   * level at every step. They are the ends of the bands of `intervals`, the forecast itself at 0.5,
   * and never cross. Default none.
   */
  quantiles: quantilesOption,
  /**
   * What bands are made of. "errors" (default): what forecasts inside the training part were off
   * by. "members": by step and column the quantiles of the members' forecasts (`ensembleBand`),
   * which shows how far reservoirs of other seeds differ, and not how far they are from what comes.
   * It takes no horizon, and two members.
   */
  bandsFrom: bandsFromOption,
};

/** Options of `forecast`. */
export interface ForecastOptions extends StartOptions, KeyOption, InputOf<typeof forecastTable> {}

export const loopSpectrumTable = {
  ...startTable,
  /** How many exponents, the largest first. Default as many as the series has columns. */
  count: optional(whole({ atLeast: 1 }), "How many exponents, the largest first; left out, as many as the series has columns."),
  /** Steps of the loop that are measured. Default 5000. */
  length: option(whole({ atLeast: 1 }), 5000, "Steps of the loop that are measured."),
  /** Steps before that: the differences find their directions. Default 500. */
  washout: option(whole(), 500, "Steps before that."),
  /** Time of a step: exponents are per unit of time. Default 1: per step. */
  dt: option(number({ above: 0 }), 1, "Time of a step: exponents are per unit of time."),
};

/** Options of `lyapunovSpectrum`. */
export interface LoopSpectrumOptions extends StartOptions, InputOf<typeof loopSpectrumTable> {}

/** The options of `Forecaster.score`. */
export const scoreTable = {
  ...startTable,
  metric: optional(callback<NonNullable<ScoreOptions["metric"]>>("a function of target and prediction"), "The score; left out, nrmse."),
  washout: option(whole(), 0, "Rows left out at the start."),
} satisfies TableOf<ScoreOptions>;
