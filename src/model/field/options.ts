// A FieldForecaster's options and their checks. It runs nothing.
import { ArgumentError } from "../../core/errors.js";
import { anything, checkedLater, flag, given, type Kind, option, optional, record, type TableOf, whole } from "../../core/options.js";
import type { MatrixLike } from "../../numerics/index.js";
import type { RidgeOptions } from "../../readout/index.js";
import type { ReservoirOptions, WorkOptions } from "../../reservoir/index.js";
import { engineTable, threadsTable } from "../../reservoir/options.js";
import { workTable } from "../../reservoir/work.js";
import { type TableNames, tableNamesOption } from "../table-names.js";

/** What a field forecaster keeps beside its reservoirs. */
export interface FieldSettings {
  /** g, how many reservoirs lie side by side; the Q sites are shared out evenly. */
  readonly groups: number;
  /** l, sites on each side that a reservoir sees beside its own. Default 0. */
  readonly halo: number;
  /**
   * One W, W_in and readout for all groups, trained on the rows of all, for a field that looks the
   * same everywhere; false draws and trains each group for itself. Default true.
   */
  readonly shared: boolean;
  /** Rows at the start of the series that train nothing. Default 100. */
  readonly washout: number;
  /** Turn the field into z-scores: over all sites if shared, else each by itself. Default true. */
  readonly standardise: boolean;
  /**
   * Hold forecasts to the range of the training data, widened by half a deviation. Default true.
   */
  readonly hold: boolean;
  /** Ridge and its options. Default lambda 1e-3. */
  readonly readout: RidgeOptions;
  /** Names of the table that the rows come from, which the file keeps for `spillway forecast`. */
  readonly table?: TableNames | undefined;
}

/** A description of a field forecaster. */
export interface FieldOptions extends Partial<Omit<FieldSettings, "groups">> {
  /** The reservoir of one group; its `inputSize` follows. Defaults as in `Forecaster`. */
  readonly reservoir: ReservoirOptions;
  /** g, how many reservoirs lie side by side; the Q sites are shared out evenly. */
  readonly groups: number;
  /** "auto" (default), "cpu", "cuda", "cuda:1" (a device by number), "sim" or "reference". */
  readonly engine?: string | undefined;
  /** Worker threads of the CPU engine. Default 1. */
  readonly threads?: number | undefined;
}

/** Where a forecast of a field starts. */
export interface FieldForecastOptions extends WorkOptions {
  /**
   * Start from the initial state and run these rows (T x Q) first. Left out, go on from the end of
   * the training data.
   */
  readonly warmup?: MatrixLike | undefined;
}

/** The settings of a FieldForecaster. */
export const fieldTable = {
  groups: given(whole({ atLeast: 1, atMost: 65_536 }), "How many reservoirs lie side by side."),
  halo: option(whole(), 0, "Sites on each side that a reservoir sees beside its own."),
  shared: option(flag, true, "One reservoir and one readout for all groups."),
  washout: option(whole(), 100, "Rows at the start of the series that train nothing."),
  standardise: option(flag, true, "Turn the field into z-scores."),
  hold: option(flag, true, "Hold forecasts to the widened range of the training data."),
  readout: option(record(anything, "an object of ridge options") as Kind<object>, {}, "Options of ridge."),
  table: tableNamesOption,
} satisfies TableOf<FieldSettings>;

/** The options of `FieldForecaster.create`. */
export const fieldOptionsTable = {
  reservoir: given(
    checkedLater<ReservoirOptions>("an object that describes a reservoir, at least {size}"),
    "The reservoir of one group; its inputSize follows.",
  ),
  ...engineTable,
  ...threadsTable,
  ...fieldTable,
} satisfies TableOf<FieldOptions>;

/** The options of `FieldForecaster.forecast`. */
export const fieldForecastTable = {
  ...workTable,
  warmup: optional(checkedLater<MatrixLike>("T x Q"), "Start from the initial state and run these rows first."),
} satisfies TableOf<FieldForecastOptions>;

/** Sites of one group. @throws ArgumentError if groups or halo do not go with Q sites */
export function sitesOf({ groups, halo }: FieldSettings, sites: number): number {
  if (sites % groups !== 0)
    throw ArgumentError.because(`groups is ${groups} and the field has ${sites} sites; it takes a divisor of that`, {
      field: "groups",
      value: groups,
    });
  const own = sites / groups;
  if (own + 2 * halo > sites)
    throw ArgumentError.because(
      `halo is ${halo}, so that a group of ${own} sees ${own + 2 * halo} of ${sites} sites; it takes at most ${Math.floor((sites - own) / 2)}`,
      { field: "halo", value: halo },
    );
  return own;
}
