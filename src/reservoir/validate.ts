// Turns a failed zod check into one sentence a person can act on: the field, the value it got, what it takes.
import { unknownField } from "../core/known-fields.js";
import { describe, visible } from "../core/text.js";

/** A description (of a reservoir, an experiment, a readout) that cannot be used. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  /** The field, as a path: `feedback.scaling`. */
  readonly field: string;
  readonly value: unknown;

  constructor(field: string, value: unknown, takes: string) {
    super(visible(`${visible(field, 120)} is ${describe(value)}; it takes ${takes}`));
    this.field = field;
    this.value = value;
  }
}

/** An unknown field, with the nearest known one. */
export class UnknownFieldError extends ConfigError {
  constructor(field: string, value: unknown, known: readonly string[]) {
    super(field, value, "");
    this.message = unknownField(field, known);
  }
}

/**
 * @throws UnknownFieldError: a misspelt option would be left out in silence, and the work done otherwise than it was meant to be; ConfigError
 * for options that are no object
 */
export function checkFields(options: object, known: readonly string[], name = "options"): void {
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw new ConfigError(name, options, "an object of options");
  for (const [name, value] of Object.entries(options)) if (!known.includes(name)) throw new UnknownFieldError(name, value, known);
}

/** What `parseOrThrow` uses of a zod schema. The public declarations cannot name zod: it is inside the package, and users do not have it. */
export interface Schema<T> {
  /** Checks a value: the data with defaults filled in, or what is wrong with it. */
  safeParse(value: unknown): { success: true; data: T } | { success: false; error: { issues: readonly SchemaIssue[] } };
}

/** What is wrong with a value: `keys` are the unknown fields of code "unrecognized_keys". */
export interface SchemaIssue {
  readonly code: string;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly keys?: readonly string[];
}

/**
 * Parses `value`, whose schemas carry as their message what they take. @throws ConfigError for the first thing that is wrong.
 */
export function parseOrThrow<T>(
  schema: Schema<T>,
  value: unknown,
  root: string,
  fieldsOf: (path: readonly PropertyKey[]) => readonly string[],
): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  // A misspelt field that has to be there is missing as well; its name says more.
  const { issues } = result.error;
  const issue = issues.find(({ code }) => code === "unrecognized_keys") ?? issues[0]!;
  if (issue.code === "unrecognized_keys") {
    const key = issue.keys![0]!;
    const path = [...issue.path, key];
    throw new UnknownFieldError(path.map(String).join("."), lookUp(value, path), fieldsOf(issue.path));
  }
  throw new ConfigError(issue.path.length === 0 ? root : formatPath(issue.path), lookUp(value, issue.path), issue.message);
}

/** `feedback.scaling`, `leakRate[3]`. */
export function formatPath(path: readonly PropertyKey[]): string {
  return path.map((part, i) => (typeof part === "number" ? `[${part}]` : i === 0 ? String(part) : `.${String(part)}`)).join("");
}

function lookUp(value: unknown, path: readonly PropertyKey[]): unknown {
  let here = value;
  for (const part of path) {
    if (here === null || typeof here !== "object") return undefined;
    here = (here as Record<PropertyKey, unknown>)[part];
  }
  return here;
}
