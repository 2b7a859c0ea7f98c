// What the options of models take.
import {
  anything,
  callback,
  checked,
  checkedLater,
  choice,
  choiceOf,
  either,
  flag,
  given,
  type Kind,
  list,
  number,
  object,
  objectLater,
  option,
  optional,
  record,
  resolve,
  type TableOf,
  whole,
  withoutDefaults,
} from "@spillway/core/options.js";
import { type ReadoutDescription, readouts, type Trainer } from "../readout/index.js";
import type { AnyReservoirOptions } from "../reservoir/index.js";
import { matricesTable, profileTable, selectionTable } from "../reservoir/options.js";
import { calendarKind } from "../series/calendar.js";
import { anyTransformKind } from "../series/transform-kinds.js";
import type { ClassifierOptions, ClassifierReadout, ClassifierReservoir, ClassifierSettings } from "./classifier/options.js";
import { boundsOption } from "./forecaster/bounds.js";
import { type RowModel, rowModelTakes } from "./forecaster/hybrid.js";
import { chooseLambdaTable } from "./forecaster/lambda-choice.js";
import { missingKind } from "./forecaster/missing-option.js";
import {
  type ChooseOptions,
  type ForecasterOptions,
  type ForecasterSettings,
  membersKind,
  reservoirsKind,
  targetsOption,
  weightsOption,
} from "./forecaster/options.js";
import { chooseDefaults } from "./forecaster/plan.js";
import { tableNamesOption } from "./table-names.js";

const readoutTakes = "an object of readout options";
const named = choiceOf(readouts);
/** "own": a trainer without a name, in a model file. */
const readoutType: Kind<string> = {
  get takes() {
    return named.takes;
  },
  get schema() {
    return named.schema;
  },
  read: (value, field) => (value === "own" ? value : named.read(value, field)),
};

const washoutTakes = 'a whole number of at least 0, or "auto"';
const seasonTakes = "a whole number of at least 1, or a list of them";
const lagsKind = either('a whole number or "season"', whole(), choice("season"));
const candidateTakes = "an object with reservoir, lags or transforms";
const transformsKind = list(anyTransformKind, "a list of transforms");

/** How a Forecaster chooses. */
export const chooseTable = {
  ...chooseLambdaTable,
  warmup: optional(whole({ atLeast: 1 }), "Rows that drive the reservoir before each of these forecasts; left out, all before it."),
  keep: option(whole({ atLeast: 1 }), chooseDefaults.keep, "Pairs of candidate and lambda that the model is made of."),
  candidates: optional(
    list(
      object(
        {
          reservoir: optional(record(anything, "an object of reservoir options") as Kind<object>, "Fields of its description."),
          lags: optional(lagsKind, "Rows of the series that the readout sees."),
          transforms: optional(transformsKind, "What is done to the series."),
        },
        candidateTakes,
      ),
      "a list of at least one candidate",
      1,
    ),
    "Settings that are tried.",
  ),
} satisfies TableOf<ChooseOptions>;

/**
 * What a Forecaster keeps beside its reservoir. The options of the readout are its trainer's to
 * check.
 */
export const forecasterTable = {
  washout: option(
    either(washoutTakes, whole({ atLeast: 0, takes: washoutTakes }), choice("auto")),
    100,
    "Rows at the start of every training series that train nothing.",
  ),
  horizon: optional(whole({ atLeast: 1 }), "Steps that are forecast: settings and lambda are chosen by closed loops that long."),
  targets: targetsOption,
  season: optional(
    either(seasonTakes, whole({ atLeast: 1, takes: seasonTakes }), list(whole({ atLeast: 1, takes: seasonTakes }), seasonTakes, 1)),
    "Rows of a season, or of each of several.",
  ),
  members: optional(membersKind, "Members of a combination, or reservoirs of other seeds, whose median is the forecast."),
  weights: weightsOption,
  choose: optional(object(chooseTable), "How settings and lambda are chosen."),
  missing: optional(missingKind, "What becomes of missing values (NaN) of a series; left out, error."),
  transforms: optional(transformsKind, "What is done to a series, in order, and undone on forecasts."),
  standardise: option(
    either('true, false, "inputs" or "targets"', flag, choice("inputs", "targets")),
    true,
    "Turn inputs and targets, or one of them, into z-scores.",
  ),
  hold: option(flag, true, "Hold outputs of a closed loop near the range of the training rows."),
  bounds: boundsOption,
  lags: option(lagsKind, 0, "Rows of the series that the readout sees beside the state."),
  calendar: optional(
    either(`${calendarKind.takes}, or "choose"`, calendarKind, choice("choose")),
    "What of the calendar is an input, by the time stamps of the rows; left out, with a horizon it is chosen, else nothing.",
  ),
  table: tableNamesOption,
  hybrid: optional(choice("both", "input", "output"), "Where a model of yours goes; both if there is one."),
  readout: option(record(anything, readoutTakes) as Kind<object>, {}, "Options of ridge."),
} satisfies TableOf<ForecasterSettings>;

/** The same of a Classifier. */
export const classifierTable = {
  representation: option(
    choice("statistics", "last", "mean", "last+mean", "output"),
    "statistics",
    "What of a sequence the readout sees; of a liquid last+mean, if left out.",
  ),
  thresholds: option(whole({ atLeast: 0, atMost: 99 }), 3, "Levels by which statistics counts, quantiles of each neuron's states."),
  differences: option(flag, true, "Whether statistics has a second reservoir, on the changes from row to row."),
  directions: option(choice("both", "forward"), "both", "Whether statistics also runs sequences from their end."),
  input: option(flag, false, "Join the same statistics of the inputs."),
  standardise: option(flag, true, "Turn the inputs into z-scores."),
  layerNorm: option(flag, false, "Take from each sequence's features their mean and divide them by their deviation."),
  scaleFeatures: option(flag, true, "Turn the features into z-scores."),
  washout: option(whole(), 0, "Rows at the start of every sequence that count for nothing."),
  sequenceLambda: option(number({ above: 0 }), 1, "Ridge penalty of the readouts of representation output."),
  readout: option(
    object({ type: option(readoutType, "ridge", "The readout.") }, readoutTakes, "kept") as unknown as Kind<ClassifierSettings["readout"]>,
    { type: "ridge" },
    "The readout of classes and its options.",
  ),
  members: option(reservoirsKind, 1, "Reservoirs that vote, each of another seed."),
  vote: option(choice("majority", "mean"), "majority", "How members agree."),
} satisfies TableOf<ClassifierSettings>;

const reservoirTakes = "an object that describes a reservoir, at least {size}";
export const describedReservoir = given(
  checked<AnyReservoirOptions>(reservoirTakes, (value) => typeof value === "object" && value !== null),
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

/** The reservoir of a classifier; its size has a default. */
export const classifierReservoirOption = option(
  checked<ClassifierReservoir>("an object that describes a reservoir", (value) => typeof value === "object" && value !== null),
  {},
  "A rate reservoir of 100 neurons, if nothing else is said, or with kind spiking a liquid.",
);
/** The same with a horizon, by which everything else may be chosen. */
export const plannedOptionsTable = {
  ...forecasterOptionsTable,
  reservoir: optional(objectLater<AnyReservoirOptions>("an object that describes a reservoir"), "Its description."),
};

/** The options of `Classifier.create`. */
export const classifierOptionsTable = {
  reservoir: classifierReservoirOption,
  ...selectionTable,
  ...profileTable,
  ...withoutDefaults(classifierTable),
  readout: optional(checkedLater<ClassifierReadout>("a trainer by its type and options, or a trainer"), "The readout."),
} satisfies TableOf<ClassifierOptions>;

/** @throws ArgumentError */
export function parseForecasterSettings(value: unknown): ForecasterSettings {
  return resolve(forecasterTable, value as object) as ForecasterSettings;
}

/** @throws ArgumentError */
export function parseClassifierSettings(value: unknown): ClassifierSettings {
  return resolve(classifierTable, value as object) as ClassifierSettings;
}
