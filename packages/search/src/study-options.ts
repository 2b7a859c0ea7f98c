// What a study is opened with.
import { checkedLater, choice, given, type InputOf, option, optional, text } from "@spillway/core/options.js";
import type { Sampler } from "./sampler.js";
import type { SearchSpace, SpaceDescription } from "./space.js";
import type { Attributes, StudyStorage } from "./storage.js";

export const studyTable = {
  /** What is varied. */
  space: given(checkedLater<SpaceDescription | SearchSpace>("an object of parameters by name"), "What is varied."),
  /** Default "study". */
  name: option(text(), "study", "The name of the study in its storage."),
  /** Whether small values are good, which is the default, or large ones. */
  direction: option(choice("minimise", "maximise"), "minimise", "Whether small values are good, or large ones."),
  /** Default `tpe()`. */
  sampler: optional(checkedLater<Sampler>("what tpe() and its like make"), "What proposes trials; left out, tpe()."),
  /** Where trials are kept; default in memory. */
  storage: optional(checkedLater<StudyStorage>("a storage"), "Where trials are kept; left out, in memory."),
  /** Attributes of the study when it is made, by name. */
  attributes: optional(checkedLater<Attributes>("an object"), "Attributes of the study when it is made."),
};

/** Options of `Study.open`. */
export interface StudyOptions extends InputOf<typeof studyTable> {}
