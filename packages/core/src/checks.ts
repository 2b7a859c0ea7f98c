// Checks of single values that many modules make.
import { ArgumentError } from "./errors.js";
import { hasNoFields } from "./text.js";

/** The largest count of an argument or an option that names no other bound. */
export const mostOfAny = 100_000_000;

/**
 * @throws ArgumentError unless `value` is a whole number from `least` to `most`, which is 100
 * million if it is left out
 */
export function checkWhole(name: string, value: number, least: number, most?: number): number {
  if (!Number.isSafeInteger(value) || value < least || value > (most ?? Number.MAX_SAFE_INTEGER)) {
    const range = most === undefined || most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
    throw new ArgumentError(name, value, `a whole number ${range}`);
  }
  if (most === undefined && value > mostOfAny) throw new ArgumentError(name, value, `at most ${mostOfAny}`);
  return value;
}

/** The value. @throws ArgumentError unless it is an object, and has these fields */
export function checkHas<T>(name: string, value: T, expected: string, ...fields: readonly (keyof T & string)[]): T {
  const isObject = (typeof value === "object" && value !== null) || typeof value === "function";
  if (!isObject || fields.some((field) => value[field] === undefined)) throw new ArgumentError(name, value, expected);
  return value;
}

/** Whether a value has its fields by name: no null, no list, no date, and no Map, Set or Promise. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date) && !hasNoFields(value);
}

/** The text. @throws ArgumentError unless it is one */
export function checkText(name: string, value: string, expected = "a text"): string {
  if (typeof value !== "string") throw new ArgumentError(name, value, expected);
  return value;
}
