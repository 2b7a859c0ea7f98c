// A FieldForecaster's options and their checks. It runs nothing.
import {
  anything,
  choice,
  either,
  flag,
  given,
  type InputOf,
  type Kind,
  list,
  objectLater,
  option,
  optional,
  type Resolved,
  record,
  tuple,
  whole,
} from "@spillway/core/options.js";
import type { RidgeOptions } from "../../readout/index.js";
import type { EngineSelection, ReservoirOptions } from "../../reservoir/index.js";
import { selectionTable } from "../../reservoir/options.js";
import { anyTransformKind } from "../../series/transform-kinds.js";
import { lambdaSettingsTable } from "../forecaster/lambda-choice.js";
import { reservoirsKind } from "../forecaster/options.js";

/** What lies beyond the last site of a direction: the first one again, or nothing. */
export type FieldEdges = "periodic" | "open";

const number = whole({ atLeast: 1, atMost: 65_536 });
const edge = choice("periodic", "open");
const pairOf = <Value>(each: Kind<Value>) => tuple<readonly [down: Value, along: Value]>(`[down, along], each ${each.takes}`, [each, each]);
const oneOrPair = <Value>(each: Kind<Value>) => either(`${each.takes}, or one for each direction: [down, along]`, each, pairOf(each));

/** The settings of a FieldForecaster. */
export const fieldTable = {
  /**
   * How many reservoirs lie side by side along a line, or down and along a grid, [down, along]; the
   * sites of a direction are shared out evenly.
   */
  groups: given(oneOrPair(number), "How many reservoirs lie side by side, or down and along a grid."),
  /**
   * [rows, columns] of a grid, whose sites are row by row in a row of the series. Left out, a
   * line.
   */
  shape: optional(pairOf(number), "Rows and columns of a grid; left out, a line."),
  /** Values of one site, which are beside one another in a row of the series. Default 1. */
  channels: option(number, 1, "Values of one site."),
  /**
   * l, sites on each side that a reservoir sees beside its own, of a grid in both directions or
   * [down, along]. Default 0.
   */
  halo: option(oneOrPair(whole()), 0, "Sites on each side that a reservoir sees beside its own."),
  /**
   * "periodic" (default): a line is a ring, and a grid a torus. "open": beyond the last site is
   * nothing, and a reservoir sees 0 there. Of a grid for both directions or [down, along].
   */
  edges: option(oneOrPair<FieldEdges>(edge), "periodic", "Whether the first site follows the last one."),
  /**
   * One W and W_in for all groups, and one readout, trained on the rows of all, for a field that
   * looks the same everywhere; groups that see beyond an open end share one with those that see as
   * far beyond it. false draws and trains each group for itself. Default true.
   */
  shared: option(flag, true, "One reservoir and one readout for all groups."),
  /**
   * Forecasters of the whole field, each with reservoirs of another seed (or a list of seeds),
   * whose median is the forecast. Each takes as long and as much memory as one. Default 1.
   */
  members: optional(reservoirsKind, "Forecasters of other seeds, whose median is the forecast; left out, 1."),
  /** Rows at the start of every training series that train nothing. Default 100. */
  washout: option(whole(), 100, "Rows at the start of every series that train nothing."),
  /**
   * What is done to the field before anything else, in order, and undone on forecasts
   * (`Transform`); if weights are shared, with the same parameters at every site. Default none.
   */
  transforms: optional(list(anyTransformKind, "a list of transforms"), "What is done to the field first, and undone on forecasts."),
  /**
   * Turn the field into z-scores: each channel over all sites if shared, else each column by
   * itself. Default true.
   */
  standardise: option(flag, true, "Turn the field into z-scores."),
  /**
   * Hold forecasts to the range of the training data, widened by half a deviation. Default true.
   */
  hold: option(flag, true, "Hold forecasts to the widened range of the training data."),
  /** Ridge and its options. Default lambda 1e-3, or with a horizon that which is chosen. */
  readout: option(record(anything, "an object of ridge options") as Kind<RidgeOptions>, {}, "Options of ridge."),
  ...lambdaSettingsTable,
};

/** What a field forecaster keeps beside its reservoirs. */
export interface FieldSettings extends Resolved<typeof fieldTable> {}

const groupTable = {
  /** The reservoir of one group; its `inputSize` follows. Defaults as in `Forecaster`. */
  reservoir: given(
    objectLater<ReservoirOptions>("an object that describes a reservoir, at least {size}"),
    "The reservoir of one group; its inputSize follows.",
  ),
};

/** The options of `FieldForecaster.create`. */
export const fieldOptionsTable = { ...groupTable, ...selectionTable, ...fieldTable };

/** A description of a field forecaster. */
export interface FieldOptions
  extends EngineSelection,
    InputOf<typeof lambdaSettingsTable>,
    InputOf<typeof fieldTable>,
    InputOf<typeof groupTable> {}
