// Checks of single values that many modules make, and counts in words.
import { ArgumentError } from "./errors.js";

/** @throws ArgumentError unless `value` is a whole number of at least `least`. */
export function checkWhole(name: string, value: number, least: number): number {
  if (!Number.isSafeInteger(value) || value < least) throw new ArgumentError(name, value, `a whole number of at least ${least}`);
  return value;
}

/** `1 column`, `3 columns`. */
export function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}
