// What can be wrong with a spike pattern or with what is asked of one, in words.
import { ArgumentError, SpillwayError } from "@spillway/core/errors.js";
import { machineMemory } from "@spillway/core/machine-memory.js";

/** @throws ArgumentError unless `value` is a finite number of at least 0. */
export function checkNotNegative(name: string, value: number, unit = ""): number {
  if (!(Number.isFinite(value) && value >= 0)) throw new ArgumentError(name, value, `a finite number of at least 0${unit && ` ${unit}`}`);
  return value;
}

/**
 * @throws ArgumentError if a table of `bytes` does not fit this machine: a file of a few bytes may name any
 * number of neurons.
 */
export function checkMemory(what: string, bytes: number): void {
  const most = Math.min(machineMemory(), 2 ** 33);
  if (bytes <= most) return;
  const gibibytes = (value: number) => `${(value / 2 ** 30).toPrecision(3)} GiB`;
  throw new SpillwayError("limit", `${what} is ${gibibytes(bytes)}; it takes up to ${gibibytes(most)} here`, { field: what, value: bytes });
}
