// The options of benchmark generators as tables: one table gives the defaults, the checks, and what the command line lists.
// It knows nothing of any one generator.
import { ArgumentError } from "../core/errors.js";
import { machineMemory } from "../core/machine-memory.js";
import { describe, type Seed } from "../numerics/index.js";

/** What an option may hold: JSON. */
export type OptionValue = number | boolean | string | readonly number[] | null;

/** One option: its default, what it takes in words, and the check behind those words. */
export interface OptionRule<Value = OptionValue> {
  readonly default: Value;
  readonly description: string;
  readonly takes: string;
  readonly accepts: (value: unknown) => boolean;
}

/** Every option with a value; an option that may be left out without a default holds null. */
export type Resolved<Options> = { readonly [Name in keyof Options]-?: Exclude<Options[Name], undefined> };

/** A rule for every option of a generator. */
export type OptionTable<Options> = { readonly [Name in keyof Options]-?: OptionRule<Exclude<Options[Name], undefined>> };

interface Bounds {
  readonly above?: number;
  readonly atLeast?: number;
  readonly below?: number;
  readonly atMost?: number;
}

/** A finite number within bounds. */
export function numberOption(fallback: number, description: string, bounds: Bounds = {}): OptionRule<number> {
  const takes = `a number${inWords(bounds)}`;
  return { default: fallback, description, takes, accepts: (value) => isNumber(value) && within(value, bounds) };
}

/** A whole number within bounds. */
export function wholeOption(fallback: number, description: string, bounds: Bounds = { atLeast: 0 }): OptionRule<number> {
  const takes = `a whole number${inWords(bounds)}`;
  return { default: fallback, description, takes, accepts: (value) => Number.isSafeInteger(value) && within(value as number, bounds) };
}

/** A fixed number of finite numbers. */
export function vectorOption(fallback: readonly number[], description: string): OptionRule<readonly number[]> {
  const { length } = fallback;
  return {
    default: fallback,
    description,
    takes: `${length} numbers`,
    accepts: (value) => isNumberArray(value) && value.length === length,
  };
}

/** Finite numbers, or null where the generator finds its own. */
export function optionalVectorOption(description: string, takes = "an array of numbers"): OptionRule<readonly number[] | null> {
  return { default: null, description, takes, accepts: (value) => value === null || isNumberArray(value) };
}

/** true or false. */
export function flagOption(fallback: boolean, description: string): OptionRule<boolean> {
  return { default: fallback, description, takes: "true or false", accepts: (value) => typeof value === "boolean" };
}

/** One of some names. */
export function choiceOption<Name extends string>(fallback: NoInfer<Name>, names: readonly Name[], description: string): OptionRule<Name> {
  const takes = names.map((name) => JSON.stringify(name)).join(" or ");
  return { default: fallback, description, takes, accepts: (value) => (names as readonly unknown[]).includes(value) };
}

/** A seed: any text or finite number. */
export function seedOption(fallback: Seed, description: string): OptionRule<Seed> {
  return { default: fallback, description, takes: "a text or a number", accepts: isSeed };
}

/** A seed, or null for nothing random. */
export function optionalSeedOption(description: string): OptionRule<Seed | null> {
  return { default: null, description, takes: "a text, a number or null", accepts: (value) => value === null || isSeed(value) };
}

/** What moves the start of a system: an option of every one that is integrated from a point. */
export const startSeedOption: OptionRule<Seed | null> = optionalSeedOption("moves the start: initialState + 0.1 (U - 0.5); null for none");

/** Samples left out at the start: an option of every generator that has a transient. */
export const discardOption: OptionRule<number> = wholeOption(0, "samples left out at the start");

/**
 * Checks options against a table and fills in the defaults.
 * @throws ArgumentError for an unknown option or a value that its rule does not accept.
 */
export function resolveOptions<Options extends object>(task: string, table: OptionTable<Options>, options: Options): Resolved<Options> {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw ArgumentError.because(`${task}: the options are ${describe(options)}; they take an object`);
  }
  const rules = table as Readonly<Record<string, OptionRule>>;
  const given = options as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(rules, name)) continue;
    throw ArgumentError.because(`unknown option ${JSON.stringify(name)}; it takes ${Object.keys(rules).join(", ")}`, {
      of: task,
      field: name,
      value: given[name],
    });
  }
  const resolved: Record<string, unknown> = {};
  for (const [name, rule] of Object.entries(rules)) {
    const value = given[name];
    if (value !== undefined && !rule.accepts(value)) {
      throw new ArgumentError(name, value, rule.takes, { of: task });
    }
    resolved[name] = value === undefined ? rule.default : value;
  }
  return resolved as Resolved<Options>;
}

/** Checks the number of rows that is asked for. */
export function checkLength(task: string, length: number): void {
  if (!(Number.isSafeInteger(length) && length >= 1))
    throw new ArgumentError("length", length, "a whole number of at least 1", { of: task });
  const rows = Math.min(2 ** 32 - 1, Math.floor(machineMemory() / 8));
  if (length > rows)
    throw ArgumentError.because(
      `length is ${length}, of which a column takes ${8 * length} bytes; it takes at most ${rows} rows on this machine`,
      { of: task, field: "length", value: length },
    );
}

/** How many whole `step`s, or shorter ones, make up `interval`. */
export function stepsPer(interval: number, step: number): number {
  return Math.max(1, Math.ceil((interval / step) * (1 - 1e-12)));
}

/** The whole number of `step`s in `interval`, or undefined where it is not whole to within rounding. */
export function wholeSteps(interval: number, step: number): number | undefined {
  const steps = Math.round(interval / step);
  return steps >= 1 && Math.abs(steps * step - interval) <= 1e-9 * interval ? steps : undefined;
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function isNumberArray(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length > 0 && value.every(isNumber);
}

function isSeed(value: unknown): boolean {
  return typeof value === "string" || isNumber(value);
}

function within(value: number, { above = -Infinity, atLeast = -Infinity, below = Infinity, atMost = Infinity }: Bounds): boolean {
  return value > above && value >= atLeast && value < below && value <= atMost;
}

function inWords({ above, atLeast, below, atMost }: Bounds): string {
  const words: string[] = [];
  if (above !== undefined) words.push(`above ${above}`);
  if (atLeast !== undefined) words.push(`of at least ${atLeast}`);
  if (below !== undefined) words.push(`below ${below}`);
  if (atMost !== undefined) words.push(`${words.length === 0 ? "of " : ""}at most ${atMost}`);
  return words.length === 0 ? "" : ` ${words.join(" and ")}`;
}
