// What a study is opened with.
import { checkedLater, choice, given, option, optional, type TableOf, text } from "@spillway/core/options.js";
import type { Sampler } from "./sampler.js";
import type { SearchSpace, SpaceDescription } from "./space.js";
import type { Attributes, StudyStorage } from "./storage.js";

/** Options of `Study.open`. */
export interface StudyOptions {
  /** What is varied. */
  readonly space: SpaceDescription | SearchSpace;
  /** Default "study". */
  readonly name?: string | undefined;
  /** Whether small values are good, which is the default, or large ones. */
  readonly direction?: "minimise" | "maximise" | undefined;
  /** Default `tpe()`. */
  readonly sampler?: Sampler | undefined;
  /** Where trials are kept; default in memory. */
  readonly storage?: StudyStorage | undefined;
  /** What stands beside the study when it is made, by name. */
  readonly attributes?: Attributes | undefined;
}

/** The options of `Study.open`. */
export const studyTable = {
  space: given(checkedLater<SpaceDescription | SearchSpace>("an object of parameters by name"), "What is varied."),
  name: option(text(), "study", "The name of the study in its storage."),
  direction: option(choice("minimise", "maximise"), "minimise", "Whether small values are good, or large ones."),
  sampler: optional(checkedLater<Sampler>("what tpe() and its like make"), "What proposes trials; left out, tpe()."),
  storage: optional(checkedLater<StudyStorage>("a storage"), "Where trials are kept; left out, in memory."),
  attributes: optional(checkedLater<Attributes>("an object"), "What stands beside the study when it is made."),
} satisfies TableOf<StudyOptions>;
