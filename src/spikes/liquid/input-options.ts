// How spike patterns become inputs: apart from the work, which loads much more.
import { optional, type TableOf } from "@spillway/core/options.js";
import { positive } from "../options.js";

/** How patterns become inputs. */
export interface InputOptions {
  /**
   * Length of a step in ms; a spiking reservoir's is its own `timeStep`, a rate reservoir's must be
   * given.
   */
  readonly stepMs?: number | undefined;
}

/** The options of `patternInputs`. */
export const inputTable = {
  stepMs: optional(positive("ms"), "Length of a step; a spiking reservoir's is its own timeStep."),
} satisfies TableOf<InputOptions>;
