// What the options of models and the notes of model files take.
import { ArgumentError } from "@spillway/core/errors.js";
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
  nothing,
  number,
  object,
  objectLater,
  option,
  optional,
  position,
  record,
  resolve,
  type TableOf,
  text,
  whole,
  withoutDefaults,
} from "@spillway/core/options.js";
import { type ReadoutDescription, type ReadoutTraining, readouts, type Trainer } from "../readout/index.js";
import type { AnyReservoirOptions, FeatureSpec, RadiusMethod, ReservoirOptions } from "../reservoir/index.js";
import { matricesTable, profileTable, selectionTable } from "../reservoir/options.js";
import { calendarKind } from "../series/calendar.js";
import { firstTime, isTimeForm, lastTime } from "../series/time-form.js";
import { zoneKind } from "../series/time-zone.js";
import { anyTransformKind } from "../series/transform-kinds.js";
import type { ClassifierOptions, ClassifierReadout, ClassifierReservoir, ClassifierSettings } from "./classifier/options.js";
import { type Bound, boundList, boundsOption } from "./forecaster/bounds.js";
import type { ForecasterChoice } from "./forecaster/choice.js";
import type { ClockNote } from "./forecaster/clock.js";
import { type RowModel, rowModelTakes } from "./forecaster/hybrid.js";
import { chooseLambdaTable } from "./forecaster/lambda-choice.js";
import { missingKind } from "./forecaster/missing-option.js";
import {
  type ChooseOptions,
  type ForecasterOptions,
  type ForecasterSettings,
  type MemberKind,
  memberKinds,
  memberNames,
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

const gridKind = object({
  form: given(checked<string>("a form of time stamps", isTimeForm), "How stamps are written."),
  step: given(
    object({ count: given(whole({ atLeast: 1 }), "How many."), unit: given(choice("months", "days", "ms"), "Of what.") }),
    "From row to row.",
  ),
  last: given(whole({ atLeast: firstTime, atMost: lastTime }), "The last stamp."),
  offset: given(whole({ atLeast: -1439, atMost: 1439 }), "Minutes ahead of UTC."),
  day: optional(whole({ atLeast: 1, atMost: 31 }), "The day of the month."),
  zone: optional(zoneKind, "The time zone whose clock they show."),
});
const clockNote = object({
  trained: given(gridKind, "Where training ended."),
  now: given(either("a grid or null", gridKind, nothing), "Now."),
  calendar: optional(calendarKind, "What of the calendar was chosen."),
});

/** @throws ArgumentError */
export function parseClockNote(value: unknown): ClockNote {
  return clockNote.read(value, "time") as ClockNote;
}

const groupsTake = "a list of the group of each member: 0, and then each time the same or the next";
const groupsNote = list(whole(), groupsTake, 1);

/** @throws ArgumentError */
export function parseBounds(value: unknown): readonly Bound[] {
  return boundList.read(value, "bounds");
}

/** @throws ArgumentError */
export function parseGroups(value: unknown): readonly number[] {
  const groups = groupsNote.read(value, "groups");
  const isNext = (group: number, m: number) => group === groups[m - 1] || group === (groups[m - 1] ?? -1) + 1;
  if (!groups.every(isNext)) throw new ArgumentError("groups", value, groupsTake);
  return groups;
}

const pairKind = object({
  candidate: given(whole(), "Its index among the candidates."),
  lambda: given(number({ atLeast: 0 }), "The penalty."),
  score: optional(number(), "What is compared: its error and those of its neighbours."),
  error: optional(number(), "By the loss."),
  failure: optional(text(), "Why there is no score."),
});
const startKind = object({ sequence: given(whole(), "Which series."), row: given(whole(), "The first row that is forecast.") });
const weightedKind = object({
  name: given(choice(...memberNames), "Which."),
  weights: given(list(number({ atLeast: 0 }), "a list of numbers", 1), "One a column."),
  errors: optional(list(number({ atLeast: 0 }), "a list of numbers", 1), "Mean absolute errors, one a column."),
  groups: given(whole({ atLeast: 1 }), "How many candidates it is the median of."),
  scores: optional(
    list(object({ lambda: given(number({ above: 0 }), "The penalty."), error: given(number({ atLeast: 0 }), "Its error.") }), "a list"),
    "Of each penalty.",
  ),
});
const choiceNote = object({
  horizon: given(whole({ atLeast: 1 }), "Steps."),
  loss: given(choice("rmse", "mae", "smape", "validTime"), "How forecasts were scored."),
  starts: given(list(startKind, "a list of starts", 1), "Where forecasts started."),
  errorStarts: optional(list(startKind, "a list of starts", 1), "Where the forecasts start that bands are made of, if they are others."),
  candidates: option(
    list(
      object({ lags: given(whole(), "Rows that the readout sees."), calendar: given(flag, "Whether the calendar is an input.") }),
      "a list of candidates",
    ),
    [],
    "What was tried.",
  ),
  scores: given(list(pairKind, "a list of pairs"), "Every pair."),
  kept: given(list(pairKind, "a list of pairs"), "The best."),
  members: optional(list(weightedKind, "a list of weighted members", 1), "The members of a combination."),
  validated: optional(
    object({ rows: given(whole({ atLeast: 1 }), "Rows."), season: given(whole({ atLeast: 1 }), "Rows of a season.") }),
    "What members were weighed by.",
  ),
  seconds: optional(number({ atLeast: 0 }), "What choosing took, in files of earlier versions."),
});

/** @throws ArgumentError */
export function parseChoice(value: unknown): Omit<ForecasterChoice, "targets" | "errors"> {
  const choice = choiceNote.read(value, "choice");
  const { members, validated, kept } = choice;
  if (members === undefined ? kept.length === 0 : validated === undefined)
    throw new ArgumentError("choice", value, "kept pairs of a loop, or members with what they were weighed by");
  return choice;
}

/** What each member of a combination is. */
const combinationNote = list(choice(...memberKinds), `a list of ${memberKinds.join(", ")}`, 1);

/** @throws ArgumentError */
export function parseCombination(value: unknown): readonly MemberKind[] {
  return combinationNote.read(value, "combination");
}

const directNote = object({
  window: given(whole({ atLeast: 1 }), "Rows of a window."),
  season: given(whole({ atLeast: 1 }), "Rows of a season."),
  horizon: given(whole({ atLeast: 1 }), "Steps of the readout."),
  known: given(whole(), "Known inputs."),
  least: given(list(number({ atLeast: 0 }), "a list of numbers, one a column", 1), "The least value of logarithms; 0 for none."),
});

/** @throws ArgumentError */
export function parseDirect(value: unknown) {
  const found = directNote.read(value, "direct");
  if (found.season > 1 && found.season > found.window) throw new ArgumentError("direct", value, "a window of a season at least");
  return found;
}

const classicalNote = object({
  method: given(choice("theta", "damped", "ets", "seasonalNaive"), "Which."),
  season: given(whole({ atLeast: 1 }), "Rows of a season."),
  columns: given(whole({ atLeast: 1 }), "What it predicts."),
  known: given(whole(), "Known inputs."),
  smoothed: given(
    list(
      object({
        last: given(number(), "The last value."),
        ends: optional(list(number(), "the least and the largest value", 2), "The least and the largest value."),
        smoothing: given(
          object({
            season: given(choice("none", "additive", "multiplicative"), "How the season enters."),
            level: given(number(), "l."),
            trend: given(number(), "b."),
            damping: given(number(), "phi."),
            alpha: given(number(), "Of the level."),
            beta: given(number(), "Of the trend."),
            gamma: given(number(), "Of the season."),
            indices: given(list(number(), "a list of numbers"), "Of the rows to come."),
            least: optional(number(), "No forecast is below it."),
          }),
          "Its parameters and its position.",
        ),
      }),
      "a list of columns",
    ),
    "One a column; none after a reset.",
  ),
});

/** @throws ArgumentError */
export function parseClassical(value: unknown) {
  const found = classicalNote.read(value, "classical");
  const isBad = found.smoothed.some(({ smoothing: { season, indices } }) => (season === "none") !== (indices.length === 0));
  if (isBad) throw new ArgumentError("classical", value, "indices if and only if there is a season");
  return found;
}

const pooledNote = object({
  window: given(whole({ atLeast: 1 }), "Rows of a window."),
  horizon: given(whole({ atLeast: 1 }), "Steps of the readout."),
  season: given(whole({ atLeast: 1 }), "Rows of a season."),
  columns: given(whole({ atLeast: 1 }), "What it predicts."),
  known: given(whole(), "Known inputs."),
  pooled: given(
    list(
      object({
        season: given(choice("none", "additive", "multiplicative"), "How the season enters."),
        indices: given(list(number(), "a list of numbers"), "Of the rows to come."),
        least: given(number({ atLeast: 0 }), "The least value of logarithms; 0 for none."),
        recent: given(list(number(), "a list of numbers", 1), "The last values."),
        last: given(number(), "The value of the last row."),
      }),
      "a list of columns",
    ),
    "One a column; none after a reset.",
  ),
});

/** @throws ArgumentError */
export function parsePooled(value: unknown) {
  const found = pooledNote.read(value, "pooled");
  const isBad = found.pooled.some(({ season, indices }) => (season === "none") !== (indices.length === 0));
  if (isBad) throw new ArgumentError("pooled", value, "indices if and only if there is a season");
  return found;
}

const preprocessingNote = object({
  known: given(whole(), "Known inputs."),
  lags: given(whole(), "Rows that the readout sees."),
  transforms: optional(anything, "Fitted transforms."),
});

/** @throws ArgumentError */
export function parsePreprocessingNote(value: unknown): { readonly known: number; readonly lags: number; readonly transforms?: unknown } {
  return preprocessingNote.read(value, "preprocessing");
}

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

const radiusMethods = [
  "analytic",
  "structure",
  "dense",
  "krylov",
  "power",
  "circularLaw",
  "unscaled",
] as const satisfies readonly RadiusMethod[];

const reservoirNote = object({
  config: given(objectLater<ReservoirOptions>("a reservoir's description"), "The description."),
  measuredRadius: given(number({ atLeast: 0 }), "The spectral radius of W as drawn."),
  radiusMethod: given(choice<RadiusMethod>(...radiusMethods), "How it was measured."),
});

interface ReservoirNote {
  readonly config: ReservoirOptions;
  readonly measuredRadius: number;
  readonly radiusMethod: RadiusMethod;
}

/** @throws ArgumentError; the description itself is checked by `resolveConfig` */
export function parseReservoirNote(value: unknown): ReservoirNote {
  const note = reservoirNote.read(value, "reservoir");
  // Older files say the size of the feedback a second time.
  const { outputSize: _, ...config } = note.config as ReservoirOptions & { readonly outputSize?: unknown };
  return { ...note, config };
}

/** A number of a note; scores of a choice of lambda may be infinite. */
const score = checked<number>("a number", (value) => typeof value === "number" && !Number.isNaN(value));

const readoutNote = object({
  features: given(
    object({
      state: given(choice("plain", "squareHalf"), "Which power of each state."),
      input: given(flag, "Whether the input is a feature."),
      squares: given(flag, "Whether the squares are."),
    }) as unknown as Kind<FeatureSpec>,
    "What the readout is linear in.",
  ),
  stateSize: given(whole({ atLeast: 1 }), "N."),
  inputSize: given(whole(), "I."),
  training: optional(
    object({
      method: given(text("text"), "The trainer."),
      rows: given(whole(), "T."),
      details: given(
        record(
          either("a text, true, false, a number or a list of numbers", text(), flag, score, list(score, "a list of numbers")),
          "an object",
        ),
        "What it was told and found.",
      ),
    }) as unknown as Kind<ReadoutTraining>,
    "How it was trained.",
  ),
});

interface ReadoutNote {
  readonly features: FeatureSpec;
  readonly stateSize: number;
  readonly inputSize: number;
  readonly training?: ReadoutTraining | undefined;
}

/** @throws ArgumentError */
export function parseReadoutNote(value: unknown): ReadoutNote {
  return readoutNote.read(value, "readout");
}

const stateNote = object({ step: given(position, "Steps since the start.") });

/** @throws ArgumentError */
export function parseStateNote(value: unknown): { readonly step: number } {
  return stateNote.read(value, "state");
}

const factorsTake = "a list of one number above 0 or null a member";
const factorsNote = list(either(factorsTake, nothing, number({ above: 0 })), factorsTake, 1);

/** @throws ArgumentError for another number of factors than members */
export function parseFactors(value: unknown, members: number): readonly (number | null)[] {
  const factors = factorsNote.read(value, "calibration");
  if (factors.length !== members) throw new ArgumentError("calibration", value, factorsTake);
  return factors;
}

const twoTexts = "a list of at least two different texts, or numbers";
const classesNote = either(twoTexts, list(text(twoTexts), twoTexts, 2), list(number({ takes: twoTexts }), twoTexts, 2));

/** @throws ArgumentError */
export function parseClasses(value: unknown): readonly (string | number)[] {
  const classes = classesNote.read(value, "classes");
  if (new Set<string | number>(classes).size !== classes.length) throw new ArgumentError("classes", value, twoTexts);
  return classes;
}
