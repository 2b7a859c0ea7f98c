// Fields of options that nothing reads. A misspelt one would otherwise be ignored silently.
import { nearest } from "./near-names.js";
import { describe, visible } from "./text.js";

/** `unknown field "sedd": did you mean "seed"?`; the known fields if none is near. */
export function unknownField(field: string, known: readonly string[]): string {
  const near = nearest(field.split(".").at(-1) ?? field, known);
  return `unknown field "${visible(field, 120)}"${near ? `: did you mean "${near}"?` : `; known fields are ${known.join(", ")}`}`;
}

/**
 * @throws RangeError for a field that is not in `known`; TypeError for options that are no object
 */
export function rejectUnknown(options: object, known: readonly string[], name: string): void {
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw new TypeError(`${name} is ${describe(options)}; it takes an object of options`);
  for (const field in options) if (!known.includes(field)) throw new RangeError(`${name}: ${unknownField(field, known)}`);
}
