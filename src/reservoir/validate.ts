// Turns a failed zod check into one sentence a person can act on: the field, the value it got, what it takes.
import { ArgumentError } from "../core/errors.js";

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
 * Parses `value`, whose schemas carry as their message what they take. @throws ArgumentError for the first thing that is wrong.
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
    throw ArgumentError.unknownField(path.map(String).join("."), lookUp(value, path), fieldsOf(issue.path));
  }
  throw new ArgumentError(issue.path.length === 0 ? root : formatPath(issue.path), lookUp(value, issue.path), issue.message);
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
