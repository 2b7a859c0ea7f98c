// A Forecaster's options and their checks. It runs nothing.
import {
  anything,
  callback,
  checked,
  checkedLater,
  choice,
  count,
  either,
  flag,
  given,
  type InputOf,
  type Kind,
  list,
  object,
  objectLater,
  option,
  optional,
  type Resolved,
  record,
  seed,
  type TableOf,
  whole,
  withoutDefaults,
} from "@spillway/core/options.js";
import type { Seed } from "@spillway/numerics";
import type { ReadoutDescription, Trainer } from "../../readout/index.js";
import type { AnyReservoirOptions, CompositeOptions, EngineSelection, OwnMatrices, ReservoirOptions } from "../../reservoir/index.js";
import { matricesTable, profileTable, selectionTable } from "../../reservoir/options.js";
import { calendarKind } from "../../series/calendar.js";
import { anyTransformKind } from "../../series/transform-kinds.js";
import { type LoadOptions, loadTable } from "../model-file.js";
import { tableNamesOption } from "../table-names.js";
import { boundsOption } from "./bounds.js";
import { type RowModel, rowModelTakes } from "./hybrid.js";
import { chooseDefaults, chooseLambdaTable } from "./lambda-choice.js";
import { missingKind } from "./missing-option.js";

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

/** The seed of each member: the first has that of the description. */
export function seedsOf(
  members: number | readonly Seed[],
  { seed: first = "spillway" }: { readonly seed?: Seed | undefined },
): readonly Seed[] {
  if (typeof members === "object") return members;
  return Array.from({ length: members }, (_, m) => (m === 0 ? first : `${first}/${m}`));
}

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

const washoutTakes = 'a whole number of at least 0, or "auto"';
const seasonTakes = "a whole number of at least 1, or a list of them";
const lagsKind = either('a whole number of at least 0, or "season"', whole(), choice("season"));
const candidateTakes = "an object with reservoir, lags or transforms";
const transformsKind = list(anyTransformKind, "a list of transforms");

const candidateTable = {
  /** Fields of the reservoir's description. */
  reservoir: optional(
    record(anything, "an object of reservoir options") as Kind<Partial<ReservoirOptions> | CompositeOptions>,
    "Fields of its description.",
  ),
  /** Rows of the series that the readout sees beside the state, as in `ForecasterSettings`. */
  lags: optional(lagsKind, "Rows of the series that the readout sees."),
  /** Fitted by each candidate on the rows that it is trained on. */
  transforms: optional(transformsKind, "What is done to the series."),
};

/** A setting that is tried; what it leaves out is the forecaster's. */
export interface CandidateOptions extends InputOf<typeof candidateTable> {}

const chooseTable = {
  ...chooseLambdaTable,
  /**
   * Rows that drive the reservoir before each of these forecasts, from its initial state. Say as
   * many as the model's own forecasts will have in their `warmup`: a readout of a small lambda
   * forecasts badly after fewer. Default all rows before it, as after `fit`.
   */
  warmup: optional(whole({ atLeast: 1 }), "Rows that drive the reservoir before each of these forecasts; left out, all before it."),
  /**
   * Pairs of candidate and lambda that the model is made of, the best of them, at most two of one
   * candidate; the median of their forecasts is the model's. Default 1.
   */
  keep: option(whole({ atLeast: 1 }), chooseDefaults.keep, "Pairs of candidate and lambda that the model is made of."),
  /** Settings that are tried, each in place of the forecaster's own. Default only those. */
  candidates: optional(
    list(object(candidateTable, candidateTakes) as Kind<CandidateOptions>, "a list of at least one candidate", 1),
    "Settings that are tried.",
  ),
};

/** How a forecaster with a horizon chooses. */
export interface ChooseOptions extends InputOf<typeof chooseLambdaTable>, InputOf<typeof chooseTable> {}

/** Replaces a trainer that is not one of this package's, in settings and model files. */
export interface OwnReadout {
  readonly type: "own";
}

/** The options of the readout are its trainer's to check. */
export const forecasterTable = {
  /**
   * Rows at the start of every training series that train nothing. Default 100; "auto", the default
   * with a horizon, is 100, or a fifth of a shorter series.
   */
  washout: option(
    either(washoutTakes, whole({ atLeast: 0, takes: washoutTakes }), choice("auto")),
    100,
    "Rows at the start of every training series that train nothing.",
  ),
  /**
   * Steps that are forecast: settings and lambda are then chosen by closed-loop forecasts of that
   * many steps from starts inside the training series (`choose`), never by rows that come later.
   */
  horizon: optional(whole({ atLeast: 1 }), "Steps that are forecast: settings and lambda are chosen by closed loops that long."),
  /**
   * The columns of the series (from 0) that are forecast, predicted and scored, and that count in
   * the choice. The others are covariates whose past alone is known: they drive the model, whose
   * closed loop goes on with what it forecasts of them. Default all columns.
   */
  targets: targetsOption,
  /** Rows of a season, or of each of several: what `lags: "season"` follows from. */
  season: optional(
    either(seasonTakes, whole({ atLeast: 1, takes: seasonTakes }), list(whole({ atLeast: 1, takes: seasonTakes }), seasonTakes, 1)),
    "Rows of a season, or of each of several.",
  ),
  /**
   * With a horizon, names of members that are combined: "loop" (a closed loop), "direct" (a readout
   * of windows that are scaled one by one), "theta", "damped" and "ets" (exponential smoothing),
   * "seasonalNaive", and "nvar" (polynomials of two delays, of 2 to 11 columns whose law they
   * find). Each takes part if the rows are enough for it, from 2 rows on; their weighted mean is
   * the forecast. A described reservoir is the loop's. Or reservoirs of one setting, each of
   * another seed (or a list of seeds: numbers with a horizon), whose median is the forecast: a loop
   * alone. Default all names with a horizon, and 5 reservoirs beside options of a loop alone
   * (`choose`, `lags`, `readout`, `transforms`, `standardise`, `hold`, `washout`, `matrices`,
   * `model`, a kind of reservoir or its feedback) or with a list of series; without a horizon 1.
   * Several series (`sequences`) by key, or with names of members, are each weighed by itself,
   * without loop and NVAR; "pooled" is a readout of the windows of all of them, whatever their
   * times.
   */
  members: optional(membersKind, "Members of a combination, or reservoirs of other seeds, whose median is the forecast."),
  /**
   * How the members of a combination are weighed: by their errors at earlier origins of the series
   * (default), or all alike.
   */
  weights: weightsOption,
  /**
   * How settings and lambda are chosen. A lambda is scored with its neighbours (`ScoredPair`). Of
   * pairs of the two whose scores are within 0.1 % of the best, the one with the largest lambda is
   * taken, then the earliest candidate. If fewer than five forecasts fit without overlapping, pairs
   * within one standard error of the mean log ratio of their costs over starts count too; if more
   * fit, the earliest candidate is taken that is within it of the winner and at most 2 % worse
   * (Breiman, Friedman, Olshen and Stone 1984, the 1 SE rule).
   */
  choose: optional(object(chooseTable) as Kind<ChooseOptions>, "How settings and lambda are chosen."),
  /**
   * What becomes of missing values (NaN) of a series, in training, warm-ups and predictions.
   * Default "error". `missingCounts` says how many there were.
   */
  missing: optional(missingKind, "What becomes of missing values (NaN) of a series; left out, error."),
  /**
   * What is done to a series before anything else, in order, fitted on its training rows, and
   * undone on forecasts: log, Box-Cox, differences and others (`Transform`). Default none.
   * After a logarithm a forecast is the median. Outputs are held (`hold`) in the units of what is
   * transformed.
   */
  transforms: optional(transformsKind, "What is done to a series, in order, and undone on forecasts."),
  /**
   * Turn inputs and targets (or only one of them) into z-scores by the training data; outputs are
   * turned back. Default true; false for a reservoir that takes spikes; "inputs" for softmax, whose
   * targets are classes. A column that never changes is 0.
   */
  standardise: option(
    either('true, false, "inputs" or "targets"', flag, choice("inputs", "targets")),
    true,
    "Turn inputs and targets, or one of them, into z-scores.",
  ),
  /**
   * Hold every output of a closed loop between the least and the largest value of its column in the
   * training rows, widened by half a standard deviation. Default true.
   */
  hold: option(flag, true, "Hold outputs of a closed loop near the range of the training rows."),
  /**
   * The least and the largest value that a column can have, [low, high], null for no such end: one
   * pair for all columns, or a list of one a column. Forecasts and the ends of their bands are
   * moved to the nearer end; without transforms a closed loop is held there too (`hold`). Left out,
   * [0, null] for each column without a training value below 0 (`bounds` of the forecaster says
   * them).
   */
  bounds: boundsOption,
  /**
   * Rows p of the series that the readout sees beside the state x: its features are [x(t), y(t),
   * y(t-1), ..., y(t-p+1)], and the known inputs. 0: the state alone. "season" tries 0, and each
   * season and a seventh of it. Default "season" with a horizon and a season, else 0.
   */
  lags: option(lagsKind, 0, "Rows of the series that the readout sees beside the state."),
  /**
   * What of the calendar is an input that is known beforehand, by the time stamps of the rows:
   * cycles ("hour", "weekday", "yearday") and holidays. "choose" tries none, and the cycles that
   * the step is short enough for and two of which are in the rows. Default "choose" with a
   * horizon and time stamps, else none.
   */
  calendar: optional(
    either(`${calendarKind.takes}, or "choose"`, calendarKind, choice("choose")),
    "What of the calendar is an input, by the time stamps of the rows; left out, with a horizon it is chosen, else nothing.",
  ),
  /** Names of the table that the rows come from, which the file keeps for `spillway forecast`. */
  table: tableNamesOption,
  /**
   * Where `model`, a model of yours, goes. "input": the reservoir is driven by [u(t), M(u(t))];
   * "output": the features are [x(t), M(u(t))]; "both" (default): both at once (Pathak et al. 2018,
   * "Hybrid forecasting of chaotic processes", Chaos 28, 041101). M(u(t)) has the z-scores of the
   * series. In a closed loop M is called on the forecast.
   */
  hybrid: optional(choice("both", "input", "output"), "Where a model of yours goes; both if there is one."),
  /** The trainer of the readout. A trainer that is your own object is kept as `{ type: "own" }`. */
  readout: option(record(anything, "an object of readout options") as Kind<ReadoutDescription | OwnReadout>, {}, "Options of ridge."),
};

/** What a Forecaster keeps beside its reservoir. */
export interface ForecasterSettings extends Resolved<typeof forecasterTable> {}

/** Whether members are those of a combination, and not reservoirs. */
export function areNames(members: ForecasterSettings["members"]): members is readonly MemberName[] {
  return Array.isArray(members) && members.length > 0 && members.every((each) => memberNames.includes(each));
}

/**
 * A description of a forecaster: its reservoir, the readout, what is done to the data, and where it
 * runs.
 */
export interface ForecasterOptions extends Omit<InputOf<typeof forecasterTable>, "readout">, EngineSelection {
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

export const describedReservoir = given(
  checked<AnyReservoirOptions>(
    "an object that describes a reservoir, at least {size}",
    (value) => typeof value === "object" && value !== null,
  ),
  "Its description.",
);

/**
 * The options of `Forecaster.create`. What is left out stays so: some defaults follow from others.
 */
export const forecasterOptionsTable = {
  reservoir: describedReservoir,
  model: optional(callback<RowModel>(rowModelTakes), "A model of yours of the next row."),
  ...matricesTable,
  ...selectionTable,
  ...profileTable,
  ...withoutDefaults(forecasterTable),
  readout: optional(
    checkedLater<ReadoutDescription | Trainer>("options of ridge, another trainer by its type, or a trainer"),
    "The readout.",
  ),
} satisfies TableOf<ForecasterOptions>;

/** The same with a horizon, by which everything else may be chosen. */
export const plannedOptionsTable = {
  ...forecasterOptionsTable,
  reservoir: optional(objectLater<AnyReservoirOptions>("an object that describes a reservoir"), "Its description."),
};

export const forecasterLoadTable = {
  ...loadTable,
  /** The model of yours that it was trained with, which its file does not hold. */
  model: optional(callback<RowModel>(rowModelTakes), "The model of yours that it was trained with."),
};

/** How a forecaster is opened again. */
export interface ForecasterLoadOptions extends LoadOptions, InputOf<typeof forecasterLoadTable> {}
