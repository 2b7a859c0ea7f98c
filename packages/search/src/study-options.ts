// What a study is opened with.
import {
  anything,
  checked,
  checkedLater,
  choice,
  given,
  type InputOf,
  type Kind,
  option,
  optional,
  record,
  text,
} from "@spillway/core/options.js";
import type { Sampler } from "./sampler.js";
import type { SearchSpace, SpaceDescription } from "./space.js";
import type { Attributes, StudyStorage } from "./storage.js";

const has =
  (...methods: readonly string[]) =>
  (value: unknown): boolean =>
    methods.every((name) => typeof (value as Readonly<Record<string, unknown>> | null)?.[name] === "function");

export const studyTable = {
  /** What is varied. */
  space: given(checkedLater<SpaceDescription | SearchSpace>("an object of parameters by name"), "What is varied."),
  /** Default "study". */
  name: option(text(), "study", "The name of the study in its storage."),
  /** Whether small values are good, which is the default, or large ones. */
  direction: option(choice("minimise", "maximise"), "minimise", "Whether small values are good, or large ones."),
  /** Default `tpe()`. */
  sampler: optional(checked<Sampler>("what tpe() and its like make", has("suggest")), "What proposes trials; left out, tpe()."),
  /** Where trials are kept; default in memory. */
  storage: optional(
    checked<StudyStorage>("what journalFile() makes", has("append", "read", "close")),
    "Where trials are kept; left out, in memory.",
  ),
  /** Attributes of the study when it is made, by name. */
  attributes: optional(record(anything, "an object") as Kind<Attributes>, "Attributes of the study when it is made."),
};

/** Options of `Study.open`. */
export interface StudyOptions extends InputOf<typeof studyTable> {}
