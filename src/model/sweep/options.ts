// The options of a sweep. Apart from it, for they take the reservoir's, which import loads late.
import {
  callback,
  choice,
  either,
  flag,
  given,
  type InputOf,
  type Kind,
  list,
  type Option,
  object,
  option,
  optional,
  seed,
  whole,
  withoutDefaults,
} from "@spillway/core/options.js";
import type { Matrix } from "@spillway/numerics";
import { type FeatureOptions, featureTable } from "../../readout/features-option.js";
import { ridgeTable } from "../../readout/options.js";
import type { ReservoirOptions } from "../../reservoir/config.js";
import { reservoirTable } from "../../reservoir/config-table.js";
import { engineTable, profileTable, seriesOf } from "../../reservoir/options.js";
import { type WorkOptions, workTable } from "../../reservoir/work.js";
import { describedReservoir } from "../forecaster/options.js";

const { spectralRadius, leakRate, inputScaling, bias, noiseLevel } = withoutDefaults(reservoirTable);

export const sweepSettingTable = {
  /** null leaves W as it was drawn. */
  spectralRadius,
  leakRate,
  /** A factor on every input weight, or one per input. */
  inputScaling,
  bias,
  noiseLevel,
  /** The penalty of ridge regression. */
  lambda: optional(ridgeTable.lambda, "The penalty of ridge regression; left out, 1e-6."),
};

/**
 * What a member of a sweep may have for itself. What is left out is the description's; lambda's
 * default is 1e-6.
 */
export interface SweepSetting extends InputOf<typeof sweepSettingTable> {}

const membersTable = {
  /** The reservoir that all are variants of; it has no feedback. */
  reservoir: describedReservoir as Option<ReservoirOptions, ReservoirOptions, true>,
  /** Seeds of the weights; default only the description's. */
  seeds: optional(list(seed, "a list of at least one seed", 1), "Seeds of the weights; left out, the description's alone."),
  /** The settings that are tried with every seed. */
  settings: given(
    list(object(sweepSettingTable) as Kind<SweepSetting>, "a list of at least one, such as [{lambda: 1e-6}]", 1),
    "The settings that are tried with every seed.",
  ),
};

const runTable = {
  /**
   * Default "auto": for many reservoir-steps a GPU if there is one, else what suits a single
   * reservoir.
   */
  engine: engineTable.engine,
  /**
   * Measure what the work costs, phase by phase: the result's `profile`. Default false, and then
   * nothing is recorded.
   */
  profile: profileTable.profile,
};

/** Which reservoirs a sweep has, and where they run. */
export interface SweepMembersOptions extends WorkOptions, FeatureOptions, InputOf<typeof membersTable>, InputOf<typeof runTable> {}

export const sweepTable = {
  ...workTable,
  ...featureTable,
  ...membersTable,
  /** T x I. */
  inputs: given(seriesOf("T x I"), "What drives the reservoirs."),
  /** T x O. */
  targets: given(seriesOf("T x O"), "What the readouts learn."),
  /** Rows at the start that train nothing; default 0. */
  washout: option(whole(), 0, "Rows at the start that train nothing."),
  /** Rows at the end that score and do not train, at least 1. */
  validation: given(whole({ atLeast: 1 }), "Rows at the end that score and do not train."),
  ...runTable,
};

/** Options of `sweepReadouts`. */
export interface SweepOptions extends SweepMembersOptions, InputOf<typeof sweepTable> {}

/**
 * A score of one's own: forecasts and what came, row k * horizon + h step h of start k, and the
 * series by its index. Smaller is better; NaN counts as no score.
 */
export type ForecastScore = (forecasts: Matrix<Float64Array>, targets: Matrix<Float64Array>, series: number) => number;

export const forecastSweepTable = {
  ...workTable,
  ...featureTable,
  ...membersTable,
  /** T x D each; of different lengths if need be. They are taken as they are: give z-scores. */
  series: given(list(seriesOf("T x D"), "a list of at least one series", 1), "What is forecast, as it is: give z-scores."),
  /** Rows at the start that train nothing; default 0. */
  washout: option(whole(), 0, "Rows at the start of a series that train nothing."),
  /**
   * Rows that are the first of a forecast; below 0 they count from the end of the series: -30 is
   * the first of its last 30 rows.
   */
  starts: given(
    list(whole({}), "a list of at least one row, such as [-60, -30]", 1),
    "Rows that are the first of a forecast; below 0 they count from the end.",
  ),
  /** Steps of a forecast, at least 1. */
  horizon: given(whole({ atLeast: 1 }), "Steps of a forecast."),
  /**
   * Whether each start has a readout of its own, of all rows before it. Default false: all have
   * the readout of the rows before the first.
   */
  refit: option(flag, false, "Whether each start has a readout of all rows before it, or all have that of the first."),
  /**
   * Whether outputs are held to the range of the rows that the readout learned from, widened by
   * half a standard deviation. Default true.
   */
  hold: option(flag, true, "Hold outputs to the range of the rows that train, widened by half a standard deviation."),
  /**
   * How forecasts are scored, by the deviation of the rows before the first start; default "rmse".
   * Or a function.
   */
  loss: option(
    either(
      '"rmse", "mae", "smape", "validTime" or a function',
      choice("rmse", "mae", "smape", "validTime"),
      callback<ForecastScore>("a function of forecasts, targets and the series' index"),
    ),
    "rmse",
    "How forecasts are scored; smaller is better.",
  ),
  ...runTable,
};

/** Options of `sweepForecasts`. The reservoir has an input for each column. */
export interface ForecastSweepOptions extends SweepMembersOptions, InputOf<typeof forecastSweepTable> {}
