// The options of a sweep. Apart from it, for they take the reservoir's, which import loads late.
import {
  callback,
  choice,
  either,
  flag,
  given,
  list,
  type Option,
  object,
  option,
  optional,
  seed,
  type TableOf,
  whole,
  withoutDefaults,
} from "@spillway/core/options.js";
import { featureTable } from "../../readout/features-option.js";
import { ridgeTable } from "../../readout/ridge.js";
import type { ReservoirOptions } from "../../reservoir/config.js";
import { reservoirTable } from "../../reservoir/config-table.js";
import { engineTable, profileTable, seriesOf } from "../../reservoir/options.js";
import { workTable } from "../../reservoir/work.js";
import { describedReservoir } from "../schemas.js";
import type { ForecastScore, ForecastSweepOptions } from "./forecasts.js";
import type { SweepOptions, SweepSetting } from "./sweep.js";

const { spectralRadius, leakRate, inputScaling, bias, noiseLevel } = withoutDefaults(reservoirTable);

/** What a member of a sweep may have for itself. */
export const sweepSettingTable = {
  spectralRadius,
  leakRate,
  inputScaling,
  bias,
  noiseLevel,
  lambda: optional(ridgeTable.lambda, "The penalty of ridge regression; left out, 1e-6."),
} satisfies TableOf<SweepSetting>;

const members = {
  reservoir: describedReservoir as Option<ReservoirOptions>,
  seeds: optional(list(seed, "a list of at least one seed", 1), "Seeds of the weights; left out, the description's alone."),
  settings: given(
    list(object(sweepSettingTable), "a list of at least one, such as [{lambda: 1e-6}]", 1),
    "The settings that are tried with every seed.",
  ),
};

/** The options of `sweepReadouts`. */
export const sweepTable = {
  ...workTable,
  ...featureTable,
  ...members,
  inputs: given(seriesOf("T x I"), "What drives the reservoirs."),
  targets: given(seriesOf("T x O"), "What the readouts learn."),
  washout: option(whole(), 0, "Rows at the start that train nothing."),
  validation: given(whole({ atLeast: 1 }), "Rows at the end that score and do not train."),
  ...engineTable,
  ...profileTable,
} satisfies TableOf<SweepOptions>;

/** The options of `sweepForecasts`. */
export const forecastSweepTable = {
  ...workTable,
  ...featureTable,
  ...members,
  series: given(list(seriesOf("T x D"), "a list of at least one series", 1), "What is forecast, as it is: give z-scores."),
  washout: option(whole(), 0, "Rows at the start of a series that train nothing."),
  starts: given(
    list(whole({}), "a list of at least one row, such as [-60, -30]", 1),
    "Rows that are the first of a forecast; below 0 they count from the end.",
  ),
  horizon: given(whole({ atLeast: 1 }), "Steps of a forecast."),
  refit: option(flag, false, "Whether each start has a readout of all rows before it, or all have that of the first."),
  hold: option(flag, true, "Hold outputs to the range of the rows that train, widened by half a standard deviation."),
  loss: option(
    either(
      '"rmse", "mae", "smape", "validTime" or a function',
      choice("rmse", "mae", "smape", "validTime"),
      callback<ForecastScore>("a function of forecasts, targets and the series' index"),
    ),
    "rmse",
    "How forecasts are scored; smaller is better.",
  ),
  ...engineTable,
  ...profileTable,
} satisfies TableOf<ForecastSweepOptions>;
