// The options of a sweep. Apart from it, for they take the reservoir's, which import loads late.
import { given, list, type Option, object, option, optional, seed, type TableOf, whole, withoutDefaults } from "../../core/options.js";
import { featureTable } from "../../readout/features-option.js";
import { ridgeTable } from "../../readout/ridge.js";
import type { ReservoirOptions } from "../../reservoir/config.js";
import { reservoirTable } from "../../reservoir/config-schema.js";
import { engineTable, profileTable, seriesOf } from "../../reservoir/options.js";
import { workTable } from "../../reservoir/work.js";
import { describedReservoir } from "../schemas.js";
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

/** The options of `sweepReadouts`. */
export const sweepTable = {
  ...workTable,
  ...featureTable,
  reservoir: describedReservoir as Option<ReservoirOptions>,
  seeds: optional(list(seed, "a list of at least one seed", 1), "Seeds of the weights; left out, the description's alone."),
  settings: given(
    list(object(sweepSettingTable), "a list of at least one, such as [{lambda: 1e-6}]", 1),
    "The settings that are tried with every seed.",
  ),
  inputs: given(seriesOf("T x I"), "What drives the reservoirs."),
  targets: given(seriesOf("T x O"), "What the readouts learn."),
  washout: option(whole(), 0, "Rows at the start that train nothing."),
  validation: given(whole({ atLeast: 1 }), "Rows at the end that score and do not train."),
  ...engineTable,
  ...profileTable,
} satisfies TableOf<SweepOptions>;
