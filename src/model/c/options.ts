// The options of an export to C. The command line reads them before it loads any model.
import { type InputOf, option, text } from "@spillway/core/options.js";

export const cTable = {
  /** What every name in the files begins with, and the files' own name; default "model". */
  name: option(text(), "model", "What every name in the C files begins with, and the files' own name."),
};

/** How a model is written as C. */
export interface COptions extends InputOf<typeof cTable> {}
