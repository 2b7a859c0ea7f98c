// What the options of benchmark generators have in common. It knows nothing of any one generator.
import { mostOfAny } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { machineMemory } from "@spillway/core/machine-memory.js";
import { checked, count, either, list, nothing, number, type Option, option, seed } from "@spillway/core/options.js";
import type { Seed } from "@spillway/numerics";

/** A fixed number of finite numbers. */
export function vectorOption(fallback: readonly number[], description: string): Option<readonly number[]> {
  const isVector = (value: unknown) => Array.isArray(value) && value.length === fallback.length && value.every(Number.isFinite);
  return option(checked<readonly number[]>(`${fallback.length} numbers`, isVector), fallback, description);
}

/** Finite numbers, or null if the generator finds its own. */
export function optionalVectorOption(description: string, takes = "an array of numbers"): Option<readonly number[] | null> {
  return option(either(takes, nothing, list(number(), takes, 1)), null, description);
}

/** A seed, or null for nothing random. */
export function optionalSeedOption(description: string): Option<Seed | null> {
  return option(either("a text, a number or null", seed, nothing), null, description);
}

/** What moves the start of a system: an option of every one that is integrated from a point. */
const startSeedOption: Option<Seed | null> = optionalSeedOption("moves the start: initialState + 0.1 (U - 0.5); null for none");

/** Samples left out at the start: an option of every generator that has a transient. */
export const discardOption: Option<number> = option(count(0, 10_000_000), 0, "samples left out at the start");

/** How a system is sampled: the time between two rows and the longest integration step, if left out. */
export const samplingTable = (dt: number, step: number) => ({
  dt: option(number({ above: 0 }), dt, "time between two samples"),
  step: option(number({ above: 0 }), step, "longest integration step"),
  discard: discardOption,
});

/** The same of a system that starts at a point. */
export const flowTable = (dt: number, step: number) => ({ ...samplingTable(dt, step), seed: startSeedOption });

/** The start of a system of N variables. @throws ArgumentError for another number of them */
export function startOf(task: string, given: readonly number[], N: number): readonly number[] {
  if (given.length === N) return given;
  throw ArgumentError.shape(`initialState holds ${given.length} numbers; it takes N, ${N}`, {
    of: task,
    field: "initialState",
    value: given,
  });
}

/** Checks the number of rows that is asked for. */
export function checkLength(task: string, length: number): void {
  if (!(Number.isSafeInteger(length) && length >= 1))
    throw new ArgumentError("length", length, "a whole number of at least 1", { of: task });
  const rows = Math.min(mostOfAny, Math.floor(machineMemory() / 8));
  if (length > rows)
    throw ArgumentError.because(`length is ${length}, ${8 * length} bytes a column; it may be ${rows} at most on this machine`, {
      of: task,
      field: "length",
      value: length,
    });
}

/** How many whole `step`s, or shorter ones, make up `interval`. */
export function stepsPer(interval: number, step: number): number {
  return Math.max(1, Math.ceil((interval / step) * (1 - 1e-12)));
}

/**
 * The whole number of `step`s in `interval`, or undefined if it is not whole to within rounding.
 */
export function wholeSteps(interval: number, step: number): number | undefined {
  const steps = Math.round(interval / step);
  return steps >= 1 && Math.abs(steps * step - interval) <= 1e-9 * interval ? steps : undefined;
}
