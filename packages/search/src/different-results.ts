// Two results of one trial that differ, where the same bits were to be expected.
import { SpillwayError } from "@spillway/core/errors.js";

/** The same work gave different bits: a device, a build or a version is not sound. */
export class DifferentResultsError extends SpillwayError {
  override readonly name = "DifferentResultsError";

  constructor(sentence: string) {
    super("device", sentence);
  }
}
