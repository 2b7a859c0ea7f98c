// What the notes of model files take.
import { ArgumentError } from "@spillway/core/errors.js";
import {
  anything,
  checked,
  choice,
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
  text,
  whole,
} from "@spillway/core/options.js";
import type { ReadoutTraining } from "../readout/index.js";
import type { FeatureSpec, RadiusMethod, ReservoirOptions } from "../reservoir/index.js";
import { calendarKind } from "../series/calendar.js";
import { firstTime, isTimeForm, lastTime } from "../series/time-form.js";
import { zoneKind } from "../series/time-zone.js";
import type { ForecasterChoice } from "./forecaster/choice.js";
import type { ClockNote } from "./forecaster/clock.js";
import { memberKinds, memberNames } from "./forecaster/options.js";

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
export const clockNote = object({
  trained: given(gridKind, "Where training ended."),
  now: given(either("a grid or null", gridKind, nothing), "Now."),
  calendar: optional(calendarKind, "What of the calendar was chosen."),
}) as Kind<ClockNote>;

/** A kind whose values also meet a condition. */
function such<Value>(kind: Kind<Value, unknown>, takes: string, isGood: (value: Value) => boolean): Kind<Value> {
  const read = (value: unknown, field: string): Value => {
    const found = kind.read(value, field);
    if (isGood(found)) return found;
    throw new ArgumentError(field, value, takes);
  };
  return { takes, schema: kind.schema, read };
}

const groupsTake = "a list of the group of each member: 0, and then each time the same or the next";
export const groupsNote = such(list(whole(), groupsTake, 1), groupsTake, (groups) =>
  groups.every((group, m) => group === groups[m - 1] || group === (groups[m - 1] ?? -1) + 1),
);

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
const choiceFields = object({
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

/** Beside the tensors of targets and errors. */
export const choiceNote = such<Omit<ForecasterChoice, "targets" | "errors">>(
  choiceFields,
  "kept pairs of a loop, or members with what they were weighed by",
  ({ members, validated, kept }) => (members === undefined ? kept.length > 0 : validated !== undefined),
);

/** What each member of a combination is. */
export const combinationNote = list(choice(...memberKinds), `a list of ${memberKinds.join(", ")}`, 1);

const directFields = object({
  window: given(whole({ atLeast: 1 }), "Rows of a window."),
  season: given(whole({ atLeast: 1 }), "Rows of a season."),
  horizon: given(whole({ atLeast: 1 }), "Steps of the readout."),
  known: given(whole(), "Known inputs."),
  least: given(list(number({ atLeast: 0 }), "a list of numbers, one a column", 1), "The least value of logarithms; 0 for none."),
});

export const directNote = such(directFields, "a window of a season at least", ({ season, window }) => season === 1 || season <= window);

const seasonTakes = "indices if and only if there is a season";
const isSeasonWhole = ({ season, indices }: { readonly season: string; readonly indices: readonly number[] }) =>
  (season === "none") === (indices.length === 0);

const classicalFields = object({
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

export const classicalNote = such(classicalFields, seasonTakes, ({ smoothed }) =>
  smoothed.every(({ smoothing }) => isSeasonWhole(smoothing)),
);

const pooledFields = object({
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

export const pooledNote = such(pooledFields, seasonTakes, ({ pooled }) => pooled.every(isSeasonWhole));

export const preprocessingNote = object({
  known: given(whole(), "Known inputs."),
  lags: given(whole(), "Rows that the readout sees."),
  transforms: optional(anything, "Fitted transforms."),
});

const radiusMethods = [
  "analytic",
  "structure",
  "dense",
  "krylov",
  "power",
  "circularLaw",
  "unscaled",
] as const satisfies readonly RadiusMethod[];

/** The description itself is checked by `resolveConfig`. */
export const reservoirNote = object({
  config: given(objectLater<ReservoirOptions>("a reservoir's description"), "The description."),
  measuredRadius: given(number({ atLeast: 0 }), "The spectral radius of W as drawn."),
  radiusMethod: given(choice<RadiusMethod>(...radiusMethods), "How it was measured."),
});

/** A number of a note; scores of a choice of lambda may be infinite. */
const score = checked<number>("a number", (value) => typeof value === "number" && !Number.isNaN(value));

export const readoutNote = object({
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

export const stateNote = object({ step: given(position, "Steps since the start.") });

const factorsTake = "a list of one number above 0 or null a member";

/** What makes probabilities, of each of so many members. */
export const factorsNote = (members: number) =>
  such(list(either(factorsTake, nothing, number({ above: 0 })), factorsTake, 1), factorsTake, ({ length }) => length === members);

const twoTexts = "a list of at least two different texts, or numbers";
const classList = either(twoTexts, list(text(twoTexts), twoTexts, 2), list(number({ takes: twoTexts }), twoTexts, 2));
export const classesNote = such<readonly (string | number)[]>(
  classList,
  twoTexts,
  (classes) => new Set<string | number>(classes).size === classes.length,
);
