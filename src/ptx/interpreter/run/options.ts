// What a launch may be told: which checks run and where simulated limits lie. Defaults are the
// strict ones.
import { checkFields } from "../../../core/errors.js";

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

export const defaultChecks: Checks = {
  bounds: true,
  alignment: true,
  initialised: true,
  races: true,
  globalRaces: false,
  barriers: true,
  shuffles: true,
  spins: true,
};

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

export const defaultLimits: Limits = { idlePolls: 20_000, idleSteps: 50_000_000, steps: 1_000_000_000, stackBytes: 8192 };

/** @throws ArgumentError for a check or a limit that there is not */
export function rejectUnknownChecks({ checks = {}, limits = {} }: { checks?: Partial<Checks>; limits?: Partial<Limits> }): void {
  checkFields(checks, Object.keys(defaultChecks), "checks of the simulated device");
  checkFields(limits, Object.keys(defaultLimits), "limits of the simulated device");
}
