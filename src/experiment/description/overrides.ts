// `--set field=value`: changes to an experiment before it is checked. Whether the field exists and
// takes the value is checked after.
import { ArgumentError } from "@spillway/core/errors.js";
import { describe, quoted } from "@spillway/core/text.js";
import { readYaml } from "./yaml.js";

/** Pairs of fields that exclude each other: setting one removes the other. */
const alternatives: ReadonlyMap<string, string> = new Map([
  ["seed", "seeds"],
  ["seeds", "seed"],
  ["readout.lambda", "readout.lambdas"],
  ["readout.lambdas", "readout.lambda"],
]);

/** Fields that take just their type as text: `task: predict` is `task: { type: predict }`. */
export const typedFields: readonly string[] = ["readout", "task", "model"];

/**
 * A copy of an experiment with some fields set. A value is read as YAML, so `reservoir.size=500`,
 * `seeds=[1, 2]` and
 * `readout={type: ridge, lambda: 1e-4}` all work, and a lone sign is itself; a number in a path
 * (`transforms.0`) is a position in a list.
 * @throws ArgumentError for a text without "=", a value that is not YAML, and a path through
 * something that has no fields.
 */
export function applyOverrides(source: unknown, overrides: readonly string[]): unknown {
  if (overrides.length === 0) return source;
  const fields = overrides.map((override): [string, unknown] => {
    const equals = override.indexOf("=");
    const field = override.slice(0, Math.max(0, equals)).trim();
    if (field === "") throw new ArgumentError("--set", override, "field=value, such as reservoir.size=500");
    return [field, readValue(override.slice(equals + 1), field)];
  });
  return withSet(source, fields);
}

/** A copy of an experiment with fields set to values, by their paths. @throws ArgumentError */
export function withFields(source: unknown, values: Readonly<Record<string, unknown>>): unknown {
  return withSet(source, Object.entries(values));
}

function withSet(source: unknown, fields: readonly (readonly [field: string, value: unknown])[]): unknown {
  const root = structuredClone(source);
  for (const [field, value] of fields) {
    set(root, field, value);
    const other = alternatives.get(field);
    if (other) remove(root, other.split("."));
  }
  return root;
}

function readValue(text: string, field: string): unknown {
  // A delimiter or a decimal mark; YAML takes some of them for the beginning of something longer.
  if (/^[^\w\s~]$/.test(text)) return text;
  try {
    return readYaml(text).value;
  } catch {
    throw new ArgumentError(field, text, "a value that YAML reads; quote it if it holds : { [ or #");
  }
}

function set(root: unknown, field: string, value: unknown): void {
  const path = field.split(".");
  let here = root;
  for (const [depth, part] of path.entries()) {
    const last = depth === path.length - 1;
    if (Array.isArray(here)) {
      const index = Number(part);
      if (!Number.isSafeInteger(index) || index < 0 || index > here.length) {
        const why = `since ${path.slice(0, depth).join(".")} is a list`;
        throw new ArgumentError(field, value, `a position from 0 to ${here.length} in place of ${quoted(part)}, ${why}`);
      }
      if (last) here[index] = value;
      else here = here[index] ??= {};
      continue;
    }
    if (typeof here !== "object" || here === null) {
      const above = path.slice(0, depth).join(".") || "the experiment";
      throw new ArgumentError(field, value, `an object above it, and ${above} is ${describe(here)}`);
    }
    const object = here as Record<string, unknown>;
    const own = Object.hasOwn(object, part) ? object[part] : undefined;
    if (last) define(object, part, value);
    else {
      if (own === undefined || own === null) define(object, part, {});
      else if (typeof own === "string" && depth === 0 && typedFields.includes(part)) define(object, part, { type: own });
      here = object[part];
    }
  }
}

/**
 * Assignment would follow `__proto__` out of the object; this makes it a field like any other,
 * which the check then refuses.
 */
function define(object: Record<string, unknown>, field: string, value: unknown): void {
  Object.defineProperty(object, field, { value, writable: true, enumerable: true, configurable: true });
}

function remove(root: unknown, path: readonly string[]): void {
  let here = root as Record<string, unknown> | undefined;
  for (const part of path.slice(0, -1)) here = here?.[part] as Record<string, unknown> | undefined;
  if (typeof here === "object" && here !== null) delete here[path.at(-1)!];
}
