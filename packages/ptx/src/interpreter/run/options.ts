// Options of a launch: which checks run and where simulated limits lie. Defaults are the
// strict ones.
import { checked, flag, option, type Resolved } from "@spillway/core/options.js";

export const checksTable = {
  /** Accesses outside live allocations. If off, loads give zeros and stores are dropped. */
  bounds: option(flag, true, "Accesses outside live allocations."),
  /** Addresses that are no multiple of the access size. Off: the address is rounded down. */
  alignment: option(flag, true, "Addresses that are no multiple of the access size."),
  /**
   * Reads of unwritten bytes; of shared and local ones only if an address, a branch, an atomic or a
   * store depends on the value. Fixed when the device is made.
   */
  initialised: option(flag, true, "Reads of bytes that nothing wrote; fixed when the device is made."),
  /** Races on shared memory, and touching what a copy still brings; not stores of equal bytes. */
  races: option(flag, true, "Races on shared memory between threads of a block."),
  /** Races on global memory, between blocks and between threads. Slow, hence off by default. */
  globalRaces: option(flag, false, "Races on global memory; a kernel is several times slower."),
  /**
   * Threads that go past a barrier which others wait at, and lanes of a warp at different aligned
   * barriers. Off: they count as arrived. Threads that exit on a way of their own are never waited
   * for. A deadlock is an error in any case.
   */
  barriers: option(flag, true, "Threads that go past a barrier which others wait at."),
  /**
   * Shuffles from lanes that take no part, lanes that are not in their own member mask, masks that
   * overlap and differ, and lanes of a mask that go past. Off: a lane that shuffles from such a
   * lane reads its own value.
   */
  shuffles: option(flag, true, "Shuffles from lanes that take no part, and masks that do not fit."),
  /** Loops that nothing can end. Off: it runs until `limits.steps`. */
  spins: option(flag, true, "Loops that nothing can end."),
};

/** Each check can be switched on or off; all but `globalRaces` are on by default. */
export interface Checks extends Resolved<typeof checksTable> {}

const count = checked<number>(
  "a whole number of at least 1, or Infinity",
  (value) => value === Infinity || (Number.isInteger(value) && (value as number) >= 1),
  {
    type: "integer",
    minimum: 1,
  },
);

export const limitsTable = {
  /** Polls of one warp in which nothing changes, before that is an error. Default 20,000. */
  idlePolls: option(count, 20_000, "Polls of one warp during which nothing in the launch changes."),
  /** Steps in which nothing of the launch changes. Default 50 million, some ten seconds. */
  idleSteps: option(count, 50_000_000, "Steps during which nothing in the launch changes."),
  /** Steps of one launch. Default a billion, some minutes; Infinity for none. */
  steps: option(count, 1_000_000_000, "Steps of one launch."),
  /** Local bytes of a thread whose calls have no known depth. Default 8192. */
  stackBytes: option(count, 8192, "Bytes of local memory for the calls of a thread whose depth is open."),
};

/** When a launch that does not end is ended. */
export interface Limits extends Resolved<typeof limitsTable> {}
