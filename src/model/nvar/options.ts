// An NvarForecaster's options and their checks. It computes nothing.
import {
  choice,
  either,
  flag,
  type InputOf,
  list,
  nothing,
  number,
  option,
  optional,
  type Resolved,
  text,
  whole,
} from "@spillway/core/options.js";
import { lambdaSettingsTable } from "../forecaster/lambda-choice.js";
import { targetsOption } from "../forecaster/options.js";

const degreesTake = "a list of whole numbers of at least 2";

/** The settings of an NvarForecaster. */
export const nvarTable = {
  /** k, values of each column that are features: rows t, t - s, ..., t - (k - 1) s. Default 2. */
  delays: option(whole({ atLeast: 1, atMost: 100_000 }), 2, "Values of each column that are features, k."),
  /** s, rows between two of them. Default 1. */
  stride: option(whole({ atLeast: 1, atMost: 1_000_000 }), 1, "Rows between two of them, s."),
  /** Degrees of the monomials of these values, each at least 2; [] is linear. Default [2]. */
  degrees: option(list(whole({ atLeast: 2, atMost: 64 }), degreesTake), [2], "Degrees of the monomials of these values."),
  /** Whether there is a constant, which is not penalised. Default true. */
  constant: option(flag, true, "Whether there is a constant, which is not penalised."),
  /** What is learnt: y(t + 1) - y(t) ("increment", default) or y(t + 1) ("value"). */
  target: option(choice("increment", "value"), "increment", "What is learnt: y(t + 1) - y(t), or y(t + 1)."),
  /**
   * The penalty on squared weights, not divided by rows; 0 is plain least squares. Default 1e-6, or
   * with a horizon that which is chosen.
   */
  lambda: option(number({ atLeast: 0 }), 1e-6, "The penalty on squared weights."),
  /** The columns of the series that are forecast, as in `Forecaster`. Default all. */
  targets: targetsOption,
  /**
   * For a field on a ring: each column is predicted from itself and this many columns on each
   * side, by one polynomial with the same weights for all. Default null: every column sees all.
   */
  neighbours: option(
    either("null or a whole number of at least 0", nothing, whole()),
    null,
    "For a field on a ring: columns on each side that a column sees, with the same weights for all.",
  ),
  /** Turn the series into z-scores by the training data. Default true. */
  standardise: option(flag, true, "Turn the series into z-scores by the training data."),
  /**
   * Hold every output of a closed loop to the range of the training data, widened by half a
   * standard deviation on both sides: a polynomial that leaves its data runs to infinity. Default
   * true.
   */
  hold: option(flag, true, "Hold outputs of a closed loop to the widened range of the training data."),
  /**
   * "float64" (default), or "doubleDouble" for data, weights and closed loop in about 106 bits:
   * some 50 times as slow, and of use only for data without noise.
   */
  arithmetic: option(choice("float64", "doubleDouble"), "float64", "Of data, weights and closed loop."),
  ...lambdaSettingsTable,
};

/** What an NVAR forecaster is. */
export interface NvarSettings extends Resolved<typeof nvarTable> {}

const solverTable = {
  /**
   * Where double-double solves for the weights: "cpu" (default, as is "auto"), "cuda", "cuda:1" (a
   * device by number) or "sim", with the same bits. A device has none for binary64.
   */
  engine: optional(
    text("the name of an engine"),
    'Where double-double solves for the weights: "cpu" (default), "cuda", "cuda:1" (a device by number) or "sim".',
  ),
};

/** The options of `NvarForecaster.create`. */
export const nvarOptionsTable = { ...nvarTable, ...solverTable };

/** The options of an NVAR forecaster; each has a default. */
export interface NvarOptions extends InputOf<typeof lambdaSettingsTable>, InputOf<typeof nvarTable>, InputOf<typeof solverTable> {}
