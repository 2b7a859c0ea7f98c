// What a comparison of engines takes: apart from the comparison, which loads much more.
import { type InputOf, list, optional, text, whole } from "@spillway/core/options.js";
import { workTable } from "../../reservoir/work.js";
import { inputTable } from "../../spikes/liquid/input-options.js";

export const compareTable = {
  /** Stops the comparison, which then throws WorkInterruptedError. */
  signal: workTable.signal,
  /** Steps done and in all, over all engines. */
  onProgress: workTable.onProgress,
  /**
   * Of a spike pattern and a rate reservoir: the length of a step in ms. A spiking one has its own.
   */
  stepMs: inputTable.stepMs,
  /**
   * Plans by which each device runs ("named", "auto"): an engine is there once for each. Engines
   * without plans run once.
   */
  plans: optional(list(text("a plan"), "a list of plans", 1), "Plans by which each device runs; engines without plans run once."),
  /**
   * Rows that are run on every engine before they are compared: memory is bounded by one chunk an
   * engine. Default 1024, less for large reservoirs.
   */
  chunk: optional(
    whole({ atLeast: 1 }),
    "Rows that are run on every engine before they are compared; left out, 1024, less for large reservoirs.",
  ),
  /**
   * Cut the inputs into this many sequences of equal length, which run as a batch, each from the
   * initial state; rows left over are not run. Default 1, one run from start to end. If an engine
   * may compute fast (engines do so in batches), as many as leave each 100 steps, at most 64.
   */
  sequences: optional(whole({ atLeast: 1 }), "Cuts the inputs into so many sequences of equal length, which run as a batch."),
};

/** The chunks a comparison is run in, and how it is followed and stopped. */
export interface CompareOptions extends InputOf<typeof compareTable> {}
