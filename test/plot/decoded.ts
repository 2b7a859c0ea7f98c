import type { EncodedArray } from "../../src/plot/index.js";

const types = { f4: Float32Array, f8: Float64Array, i4: Int32Array, u2: Uint16Array, u1: Uint8Array };

/** What plotly makes of an encoded array. */
export function decoded(array: unknown): number[] {
  const { dtype, bdata } = array as EncodedArray;
  return Array.from(new types[dtype](Uint8Array.from(Buffer.from(bdata, "base64")).buffer));
}
