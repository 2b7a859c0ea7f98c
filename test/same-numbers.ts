// Tells `toEqual` at once that two arrays hold the same numbers. Vitest alone makes texts of all
// indices and looks each element up by them. Arrays that differ are left to it.
import { expect } from "vitest";

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView) => Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);

/** True if both are of one kind and have the same bits, or are lists of the same numbers. */
export function sameNumbers(a: unknown, b: unknown): true | undefined {
  if (ArrayBuffer.isView(a)) {
    if (!ArrayBuffer.isView(b) || a.constructor !== b.constructor || a.byteLength !== b.byteLength) return undefined;
    return bytesOf(a).equals(bytesOf(b)) || undefined;
  }
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return undefined;
  // `every` would leave out holes.
  for (let k = 0; k < a.length; k++) if (typeof a[k] !== "number" || !Object.is(a[k], b[k])) return undefined;
  return true;
}

const added = Symbol.for("spillway.sameNumbers");
// Workers that files share keep it.
if (!(added in globalThis)) expect.addEqualityTesters([sameNumbers]);
Object.assign(globalThis, { [added]: true });
