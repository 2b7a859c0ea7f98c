// How an experiment runs: apart from the run, which loads much more.
import { callback, optional, type TableOf, text } from "@spillway/core/options.js";
import { engineTable, profileTable, threadsTable } from "../../reservoir/options.js";
import { workTable } from "../../reservoir/work.js";
import type { EngineChoiceOptions } from "../tasks/trial.js";

/** How an experiment runs, and where its folder goes. */
export interface ExperimentRunOptions extends EngineChoiceOptions {
  /** The folder that receives a folder of the experiment's name. Left out, nothing is written. */
  readonly out?: string | undefined;
  /** Stops the run, which then keeps the seeds that are finished. */
  readonly signal?: AbortSignal | undefined;
  /** Called with what is done, what is to be done, and the name of the seed's run. */
  readonly onProgress?: ((done: number, total: number, label: string) => void) | undefined;
  /** Called with the folder in which runs are made, for cleaning up if the command is ended. */
  readonly announce?: ((folder: string) => void) | undefined;
}

/** The options of `runExperiment`. */
export const experimentRunTable = {
  ...engineTable,
  ...threadsTable,
  ...profileTable,
  out: optional(
    text("the path of a folder"),
    "The folder that receives a folder of the experiment's name; without one, nothing is written.",
  ),
  signal: workTable.signal,
  onProgress: optional(
    callback<NonNullable<ExperimentRunOptions["onProgress"]>>(),
    "Called with what is done, what is to be done, and the name of the seed's run.",
  ),
  announce: optional(callback<NonNullable<ExperimentRunOptions["announce"]>>(), "Hears of the folder in which runs are made."),
} satisfies TableOf<ExperimentRunOptions>;
