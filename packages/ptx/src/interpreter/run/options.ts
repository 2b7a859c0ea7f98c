// Options of a launch: which checks run and where simulated limits lie. Defaults are the
// strict ones.
import { checked, flag, option, type TableOf } from "@spillway/core/options.js";

/** Each check can be switched on or off; all but `globalRaces` are on by default. */
export interface Checks {
  /**
   * Accesses outside live allocations. Off: such a load gives zeros and such a store goes nowhere.
   */
  bounds: boolean;
  /** Addresses that are no multiple of the access size. Off: the address is rounded down. */
  alignment: boolean;
  /**
   * Reads of bytes that nothing wrote; of shared and local ones only if an address, a branch, an
   * atomic or a store depends on the value. Fixed when the device is made.
   */
  initialised: boolean;
  /**
   * Shared-memory races between threads of a block, and touching what a copy still brings. Stores
   * of equal bytes are none.
   */
  races: boolean;
  /**
   * Races on global memory: between blocks, by the fences that the memory model asks for, and
   * between threads of a block. Off by default, since it makes a kernel several times slower.
   */
  globalRaces: boolean;
  /**
   * Threads that go past a barrier which others wait at, and lanes of a warp at different aligned
   * barriers. Off: they count as arrived. Threads that exit on a way of their own are never waited
   * for. A deadlock is an error in any case.
   */
  barriers: boolean;
  /**
   * Shuffles from lanes that take no part, lanes that are not in their own member mask, masks that
   * overlap and differ, and lanes of a mask that go past. Off: a lane that shuffles from such a
   * lane reads its own value.
   */
  shuffles: boolean;
  /** Loops that nothing can end. Off: it runs until `limits.steps`. */
  spins: boolean;
}

/** The checks of a machine, and whether each is on. */
export const checksTable = {
  bounds: option(flag, true, "Accesses outside live allocations."),
  alignment: option(flag, true, "Addresses that are no multiple of the access size."),
  initialised: option(flag, true, "Reads of bytes that nothing wrote; fixed when the device is made."),
  races: option(flag, true, "Races on shared memory between threads of a block."),
  globalRaces: option(flag, false, "Races on global memory; a kernel is several times slower."),
  barriers: option(flag, true, "Threads that go past a barrier which others wait at."),
  shuffles: option(flag, true, "Shuffles from lanes that take no part, and masks that do not fit."),
  spins: option(flag, true, "Loops that nothing can end."),
} satisfies TableOf<Checks>;

/** When a launch that does not end is ended. */
export interface Limits {
  /**
   * Polls of one warp during which nothing in the launch changes, before that is an error. Default
   * 20,000.
   */
  idlePolls: number;
  /**
   * Steps (straight pieces of code, run by a warp) during which nothing in the launch changes.
   * Default 50 million, some ten seconds.
   */
  idleSteps: number;
  /** Steps of one launch. Default a billion, some minutes; Infinity for none. */
  steps: number;
  /**
   * Bytes of local memory for the calls of a thread if recursion or calls through pointers leave
   * the depth open. Default 8192.
   */
  stackBytes: number;
}

const count = checked<number>(
  "a whole number of at least 1, or Infinity",
  (value) => value === Infinity || (Number.isInteger(value) && (value as number) >= 1),
  {
    type: "integer",
    minimum: 1,
  },
);

/** What ends a launch that does not. */
export const limitsTable = {
  idlePolls: option(count, 20_000, "Polls of one warp during which nothing in the launch changes."),
  idleSteps: option(count, 50_000_000, "Steps during which nothing in the launch changes."),
  steps: option(count, 1_000_000_000, "Steps of one launch."),
  stackBytes: option(count, 8192, "Bytes of local memory for the calls of a thread whose depth is open."),
} satisfies TableOf<Limits>;
