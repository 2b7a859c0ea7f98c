// What a comparison of engines takes: apart from the comparison, which loads much more.
import { optional, type TableOf, whole } from "@spillway/core/options.js";
import { workTable } from "../../reservoir/work.js";
import { inputTable } from "../../spikes/liquid/input-options.js";

/** The chunks a comparison is run in, and how it is followed and stopped. */
export interface CompareOptions {
  /**
   * Rows that are run on every engine before they are compared: memory is bounded by one chunk an
   * engine. Default 1024, less for large reservoirs.
   */
  readonly chunk?: number | undefined;
  /**
   * Cut the inputs into this many sequences of equal length, which run as a batch, each from the
   * initial state; rows left over are not run. Default 1, one run from start to end. If an engine
   * may compute fast (engines do so in batches), as many as leave each 100 steps, at most 64.
   */
  readonly sequences?: number | undefined;
  /**
   * Of a spike pattern and a rate reservoir: the length of a step in ms. A spiking one has its own.
   */
  readonly stepMs?: number | undefined;
  /** Stops the comparison, which then throws WorkInterruptedError. */
  readonly signal?: AbortSignal | undefined;
  /** Steps done and in all, over all engines. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/** The options of `compare`. */
export const compareTable = {
  ...workTable,
  ...inputTable,
  chunk: optional(
    whole({ atLeast: 1 }),
    "Rows that are run on every engine before they are compared; left out, 1024, less for large reservoirs.",
  ),
  sequences: optional(whole({ atLeast: 1 }), "Cuts the inputs into so many sequences of equal length, which run as a batch."),
} satisfies TableOf<CompareOptions>;
