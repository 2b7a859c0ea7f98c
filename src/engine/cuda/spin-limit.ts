// How long a block waits for the others, for every kernel whose blocks do: the one file that reads
// it. It is not the wait, which is in the kernels.

import { ArgumentError } from "@spillway/core/errors.js";

const variable = "SPILLWAY_SPIN_LIMIT";

/** Seconds on any device, and far more than a step. */
const usualLimit = 8e9;

/**
 * Clock ticks of a multiprocessor after which a wait between blocks is a StallError: the option,
 * else SPILLWAY_SPIN_LIMIT, else 8e9.
 * @throws ArgumentError if either is no whole number from 1 to 2^53 - 1
 */
export function spinLimitOf(option?: number): number {
  const text = process.env[variable];
  const limit = option ?? (text ? Number(text) : usualLimit);
  if (Number.isSafeInteger(limit) && limit >= 1) return limit;
  const [field, value] = option === undefined ? [variable, text] : ["spinLimit", limit];
  throw new ArgumentError(field, value, `clock ticks, a whole number from 1 to ${Number.MAX_SAFE_INTEGER}`);
}
