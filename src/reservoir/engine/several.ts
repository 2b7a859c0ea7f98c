// What engines of several devices need: reservoirs that may have the memory and the multiprocessors
// of several, and sequences that are numbered among those of all.
import type { Engine } from "../engine.js";

/** Sequences that are a share of more. */
export interface NumbersSequences {
  /** The noise sequence of the first one; those after it follow. Default 0. */
  readonly firstSequence?: number | undefined;
  /** Devices that have a share, all of them served by this thread. Default 1. */
  readonly devices?: number | undefined;
}

/** One reservoir over several devices. */
export interface RunsOverSeveral {
  /**
   * This engine, with single reservoirs also over the devices of others where that is faster; they
   * are of its own kind.
   */
  beside?(others: readonly Engine[]): Engine;
}
