// The capability of an engine whose reservoirs may have the memory and the multiprocessors of
// several devices.
import type { Engine } from "../engine.js";

/** One reservoir over several devices. */
export interface RunsOverSeveral {
  /**
   * This engine, with single reservoirs also over the devices of others where that is faster; they
   * are of its own kind.
   */
  beside?(others: readonly Engine[]): Engine;
}
