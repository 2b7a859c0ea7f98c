// The options of an export to C. The command line reads them before it loads any model.
import { option, type TableOf, text } from "@spillway/core/options.js";

/** How a model is written as C. */
export interface COptions {
  /** What every name in the files begins with, and the files' own name; default "model". */
  readonly name?: string | undefined;
}

/** The options of `toC`. */
export const cTable = {
  name: option(text(), "model", "What every name in the C files begins with, and the files' own name."),
} satisfies TableOf<COptions>;
