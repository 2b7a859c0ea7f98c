// How spike patterns become inputs: apart from the work, which loads much more.
import { type InputOf, optional } from "@spillway/core/options.js";
import { positive } from "../options.js";

export const inputTable = {
  /**
   * Length of a step in ms; a spiking reservoir's is its own `timeStep`, a rate reservoir's must be
   * given.
   */
  stepMs: optional(positive("ms"), "Length of a step; a spiking reservoir's is its own timeStep."),
};

/** How patterns become inputs. */
export interface InputOptions extends InputOf<typeof inputTable> {}
