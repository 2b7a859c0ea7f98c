// A Forecaster's options, data, and their checks. It runs nothing.
import { callback, choice, count, either, type InputOf, type Kind, list, optional, seed, whole } from "@spillway/core/options.js";
import type { Seed } from "@spillway/numerics";
import type { ReadoutDescription, Trainer } from "../../readout/index.js";
import type { AnyReservoirOptions, CompositeOptions, EngineSelection, OwnMatrices, ReservoirOptions } from "../../reservoir/index.js";
import type { Transform } from "../../series/transform-kinds.js";
import { type LoadOptions, loadTable } from "../model-file.js";
import type { TableNames } from "../table-names.js";
import type { Bounds } from "./bounds.js";
import type { CalendarSetting } from "./clock.js";
import { type HybridUse, type RowModel, rowModelTakes } from "./hybrid.js";
import type { ForecastLoss } from "./loss.js";
import type { MissingInSeries } from "./missing-option.js";

/** What a Forecaster keeps beside its reservoir. */
export interface ForecasterSettings {
  /**
   * Rows at the start of every training series that train nothing. Default 100; "auto", the default
   * with a horizon, is 100, or a fifth of a shorter series.
   */
  readonly washout: number | "auto";
  /**
   * Steps that are forecast: settings and lambda are then chosen by closed-loop forecasts of that
   * many steps from starts inside the training series (`choose`), never by rows that come later.
   */
  readonly horizon?: number | undefined;
  /**
   * The columns of the series (from 0) that are forecast, predicted and scored, and that count in
   * the choice. The others are covariates whose past alone is known: they drive the model, whose
   * closed loop goes on with what it forecasts of them. Default all columns.
   */
  readonly targets?: readonly number[] | undefined;
  /** Rows of a season, or of each of several: what `lags: "season"` follows from. */
  readonly season?: number | readonly number[] | undefined;
  /**
   * With a horizon, names of members that are combined: "loop" (a closed loop), "direct" (a readout
   * of windows that are scaled one by one), "theta", "damped" and "ets" (exponential smoothing),
   * "seasonalNaive", and "nvar" (polynomials of two delays, of 2 to 11 columns whose law they
   * find). Each takes part if the rows are enough for it, from 2 rows on; their weighted mean is
   * the forecast. A described reservoir is the loop's. Or reservoirs of one setting, each of
   * another seed (or a list of seeds), whose median is the forecast: a loop alone. Default all
   * names with a horizon, and 5 reservoirs beside options of a loop alone (`choose`, `lags`,
   * `readout`, `transforms`, `standardise`, `hold`, `washout`, `matrices`, `model`, a kind of
   * reservoir or its feedback) or with a list of series; without a horizon 1. Several series
   * (`sequences`) by key, or with names of members, are each weighed by itself, without loop and
   * NVAR; "pooled" is a readout of the windows of all of them, whatever their times.
   */
  readonly members?: number | readonly Seed[] | readonly MemberName[] | undefined;
  /**
   * How the members of a combination are weighed: by their errors at earlier origins of the series
   * (default), or all alike.
   */
  readonly weights?: "validation" | "equal" | undefined;
  /**
   * How settings and lambda are chosen. A lambda is scored with its neighbours (`ScoredPair`). Of
   * pairs of the two whose scores are within 0.1 % of the best, the one with the largest lambda is
   * taken, then the earliest candidate. If fewer than five forecasts fit without overlapping, pairs
   * within one standard error of the mean log ratio of their costs over starts count too; if more
   * fit, the earliest candidate is taken that is within it of the winner and at most 2 % worse
   * (Breiman, Friedman, Olshen and Stone 1984, the 1 SE rule).
   */
  readonly choose?: ChooseOptions | undefined;
  /**
   * What becomes of missing values (NaN) of a series, in training, warm-ups and predictions.
   * Default "error". `missingCounts` says how many there were.
   */
  readonly missing?: MissingInSeries | undefined;
  /**
   * What is done to a series before anything else, in order, fitted on its training rows, and
   * undone on forecasts: log, Box-Cox, differences and others (`Transform`). Default none.
   * After a logarithm a forecast is the median. Outputs are held (`hold`) in the units of what is
   * transformed.
   */
  readonly transforms?: readonly Transform[] | undefined;
  /**
   * Turn inputs and targets (or only one of them) into z-scores by the training data; outputs are
   * turned back. Default true; false for a reservoir that takes spikes; "inputs" for softmax, whose
   * targets are classes. A column that never changes is 0.
   */
  readonly standardise: boolean | "inputs" | "targets";
  /**
   * Hold every output of a closed loop between the least and the largest value of its column in the
   * training rows, widened by half a standard deviation. Default true.
   */
  readonly hold: boolean;
  /**
   * The least and the largest value that a column can have, [low, high], null for no such end: one
   * pair for all columns, or a list of one a column. Forecasts and the ends of their bands are
   * moved to the nearer end; without transforms a closed loop is held there too (`hold`). Left out,
   * [0, null] for each column without a training value below 0 (`bounds` of the forecaster says
   * them).
   */
  readonly bounds?: Bounds | undefined;
  /**
   * Rows p of the series that the readout sees beside the state x: its features are [x(t), y(t),
   * y(t-1), ..., y(t-p+1)], and the known inputs. 0: the state alone. "season" tries 0, and each
   * season and a seventh of it. Default "season" with a horizon and a season, else 0.
   */
  readonly lags: number | "season";
  /**
   * What of the calendar is an input that is known beforehand, by the time stamps of the rows:
   * cycles ("hour", "weekday", "yearday") and holidays. "choose" tries none, and the cycles that
   * the step is short enough for and two of which are in the rows. Default "choose" with a
   * horizon and time stamps, else none.
   */
  readonly calendar?: CalendarSetting | undefined;
  /** Names of the table that the rows come from, which the file keeps for `spillway forecast`. */
  readonly table?: TableNames | undefined;
  /**
   * Where `model`, a model of yours, goes. "input": the reservoir is driven by [u(t), M(u(t))];
   * "output": the features are [x(t), M(u(t))]; "both" (default): both at once (Pathak et al. 2018,
   * "Hybrid forecasting of chaotic processes", Chaos 28, 041101). M(u(t)) has the z-scores of the
   * series. In a closed loop M is called on the forecast.
   */
  readonly hybrid?: HybridUse | undefined;
  /** The trainer of the readout. A trainer that is your own object is kept as `{ type: "own" }`. */
  readonly readout: ReadoutDescription | OwnReadout;
}

/**
 * Members of a combination: a closed loop, a readout of scaled windows, classical methods, of
 * several series a readout of the windows of all, and polynomials of delays.
 */
export const memberNames = ["loop", "direct", "theta", "damped", "ets", "seasonalNaive", "pooled", "nvar"] as const;

/** What a member is in a file. */
export const memberKinds = ["loop", "direct", "classical", "pooled", "nvar"] as const;

/** What a member is in a file. */
export type MemberKind = (typeof memberKinds)[number];

/** A member of a combination. */
export type MemberName = (typeof memberNames)[number];

/** Whether members are those of a combination, and not reservoirs. */
export function areNames(members: ForecasterSettings["members"]): members is readonly MemberName[] {
  return Array.isArray(members) && members.length > 0 && members.every((each) => memberNames.includes(each));
}

/** How a forecaster with a horizon chooses. */
export interface ChooseOptions {
  /**
   * Penalties that every candidate is tried with. Default 1e-8, 1e-6, 1e-4, 0.01, 0.1, 1, 10, 100.
   */
  readonly lambdas?: readonly number[] | undefined;
  /**
   * Forecasts that each pair of candidate and lambda is scored by. Default 25, fewer if they do not
   * fit.
   */
  readonly starts?: number | undefined;
  /** The share of the series, at its end, that forecasts are scored on. Default 0.25. */
  readonly validation?: number | undefined;
  /**
   * Rows that drive the reservoir before each of these forecasts, from its initial state. Say as
   * many as the model's own forecasts will have in their `warmup`: a readout of a small lambda
   * forecasts badly after fewer. Default all rows before it, as after `fit`.
   */
  readonly warmup?: number | undefined;
  /**
   * Pairs of candidate and lambda that the model is made of, the best of them, at most two of one
   * candidate; the median of their forecasts is the model's. Default 1.
   */
  readonly keep?: number | undefined;
  /**
   * "rmse" (default): root mean square of errors over each column's standard deviation. "mae":
   * their mean absolute value. "smape". "validTime": minus the median of the steps before errors
   * are above 0.4 deviations.
   */
  readonly loss?: ForecastLoss | undefined;
  /** Settings that are tried, each in place of the forecaster's own. Default only those. */
  readonly candidates?: readonly CandidateOptions[] | undefined;
}

/** A setting that is tried; what it leaves out is the forecaster's. */
export interface CandidateOptions {
  /** Fields of the reservoir's description. */
  readonly reservoir?: Partial<ReservoirOptions> | CompositeOptions | undefined;
  /** Rows of the series that the readout sees beside the state, as in `ForecasterSettings`. */
  readonly lags?: number | "season" | undefined;
  /** Fitted by each candidate on the rows that it is trained on. */
  readonly transforms?: readonly Transform[] | undefined;
}

/** Replaces a trainer that is not one of this package's, in settings and model files. */
export interface OwnReadout {
  readonly type: "own";
}

/**
 * A description of a forecaster: its reservoir, the readout, what is done to the data, and where it
 * runs.
 */
export interface ForecasterOptions extends Partial<Omit<ForecasterSettings, "readout">>, EngineSelection {
  /**
   * How outputs are learnt: the options of `ridge` (without `lambda` or `lambdas`, lambda is 1e-3);
   * another trainer by its `type` ("rls", "lms", "softmax") and its options; or a trainer, which
   * may be your own object. With softmax, targets are one column a class, and predictions scores.
   */
  readonly readout?: ReadoutDescription | Trainer | undefined;
  /**
   * The reservoir; `inputSize` and `feedback.size` follow from the data if they are left out.
   * Without `matrices`, `bias` is 0.5,
   * `inputScaling` and `feedback.scaling` 0.2 and `spectralRadius` 1 if they are left out. With a
   * horizon its size is 300 if it is left out, and it may be left out as a whole.
   */
  readonly reservoir?: AnyReservoirOptions | Partial<ReservoirOptions> | undefined;
  /**
   * A model M of yours of the next row, right or nearly so; `hybrid` says how it is used. Of a
   * series without transforms, and without feedback. No file keeps it: it is given again to open
   * one.
   */
  readonly model?: RowModel | undefined;
  /**
   * Matrices to use in place of drawn ones; for a composed reservoir a list with those of each
   * part.
   */
  readonly matrices?: OwnMatrices | undefined;
  /** Measure what the work costs by phase: `computer.profile`. Default false. */
  readonly profile?: boolean | undefined;
}

export const forecasterLoadTable = {
  ...loadTable,
  /** The model of yours that it was trained with, which its file does not hold. */
  model: optional(callback<RowModel>(rowModelTakes), "The model of yours that it was trained with."),
};

/** How a forecaster is opened again. */
export interface ForecasterLoadOptions extends LoadOptions, InputOf<typeof forecasterLoadTable> {}

/** The columns of a series that are forecast. */
export const targetsOption = optional(
  list(whole(), "a list of at least one column of the series, from 0", 1),
  "The columns of the series that are forecast; left out, all.",
);

const reservoirsTake = "a whole number of at least 1, or a list of one seed a member";

/** Members of an ensemble. */
export const reservoirsKind: Kind<number | readonly Seed[]> = either(
  reservoirsTake,
  count(1, 10_000, reservoirsTake),
  list(seed, reservoirsTake, 1),
);

/** Members of a combination, or reservoirs of an ensemble. */
export const membersKind: Kind<number | readonly Seed[] | readonly MemberName[]> = either(
  `a list of ${memberNames.join(", ")}; or ${reservoirsTake}`,
  reservoirsKind,
  list(choice(...memberNames), "a list of names", 1),
);

/** How members are weighed. */
export const weightsOption = optional(
  choice("validation", "equal"),
  "How members of a combination are weighed; left out, by their errors at earlier origins.",
);
