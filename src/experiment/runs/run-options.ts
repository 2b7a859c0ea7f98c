// How an experiment runs: apart from the run, which loads much more.
import { type InputOf, callback, optional, text } from "@spillway/core/options.js";
import { profileTable, selectionTable } from "../../reservoir/options.js";
import { workTable } from "../../reservoir/work.js";
import type { EngineChoiceOptions } from "../tasks/trial.js";

export const experimentRunTable = {
  ...selectionTable,
  ...profileTable,
  /** The folder that receives a folder of the experiment's name. Left out, nothing is written. */
  out: optional(
    text("the path of a folder"),
    "The folder that receives a folder of the experiment's name; without one, nothing is written.",
  ),
  /** Stops the run, which then keeps the seeds that are finished. */
  signal: workTable.signal,
  /** Called with what is done, what is to be done, and the name of the seed's run. */
  onProgress: optional(
    callback<(done: number, total: number, label: string) => void>(),
    "Called with what is done, what is to be done, and the name of the seed's run.",
  ),
  /** Called with the folder in which runs are made, for cleaning up if the command is ended. */
  announce: optional(callback<(folder: string) => void>(), "Called with the folder in which runs are made."),
};

/** How an experiment runs, and where its folder goes. */
export interface ExperimentRunOptions extends EngineChoiceOptions, InputOf<typeof experimentRunTable> {}
