// Where an unknown field belongs, if another argument of the same call knows it.
import { ArgumentError } from "./errors.js";

/** Tables of other arguments, or of parts of one, each by its name in a sentence. */
export type FieldOwners = Readonly<Record<string, object>>;

/**
 * Makes a call. If it refuses a field that one of `owners` knows, its error says which; they are
 * loaded only then. @throws what the call throws
 */
export async function namingOwner<Value>(owners: () => Promise<FieldOwners>, call: () => Value | Promise<Value>): Promise<Value> {
  try {
    return await call();
  } catch (error) {
    throw isUnknownField(error) ? withOwner(error, await owners()) : error;
  }
}

/** An error about an unknown field that says where it belongs; any other as it is. */
export function withOwner(error: unknown, owners: FieldOwners): unknown {
  if (!isUnknownField(error)) return error;
  const { code, field, value } = error;
  const name = field.split(".").at(-1)!;
  const owner = Object.keys(owners).find((each) => Object.hasOwn(owners[each]!, name));
  if (owner === undefined) return error;
  return ArgumentError.because(`unknown field "${field}": it belongs to ${owner}`, { code, field, value, expected: owner, cause: error });
}

/** Of the call itself: an error of a part, such as "ridge", is about the fields of that part. */
function isUnknownField(error: unknown): error is ArgumentError {
  return error instanceof ArgumentError && error.code === "unknown-field" && error.of === undefined;
}
