// Tensors by name: decodeSafetensors. Mutants of the header are put back with the length they have.
import { decodeSafetensors, encodeSafetensors, FormatError } from "../../../packages/io/src/index.js";
import { cutHeader } from "../../../packages/io/src/safetensors-header.js";
import type { FuzzFormat } from "../format.js";
import { mutate, mutateJson } from "../mutate.js";
import { bytesOf } from "../text.js";

export default {
  corpus: () => [
    encodeSafetensors(
      {
        weights: { dtype: "F32", shape: [2, 3], data: Float32Array.from([1, 2, 3, 4, 5, 6]) },
        mask: { dtype: "BOOL", shape: [3], data: Uint8Array.from([0, 1, 1]) },
        half: { dtype: "F16", shape: [2], data: Uint16Array.from([0x3c00, 0x7c00]) },
        one: { dtype: "I64", shape: [], data: BigInt64Array.of(-7n) },
        none: { dtype: "F64", shape: [0, 4], data: new Float64Array(0) },
      },
      { config: '{"size":2}', note: "a text" },
    ),
    encodeSafetensors({}, { only: "notes" }),
  ],
  read: (input) => decodeSafetensors(input),
  errors: [FormatError],
  mutate: (input, random, corpus) => {
    const { header, dataOffset } = cutHeader(input, "input");
    const data = input.subarray(dataOffset);
    if (random.chance(0.3))
      return withHeader(mutate(header, random, corpus, ["dtype", "shape", "data_offsets", "F32", "[", "]", "{", "}"]), data);
    return withHeader(bytesOf(JSON.stringify(mutateJson(JSON.parse(new TextDecoder().decode(header)), random)) ?? ""), data);
  },
} satisfies FuzzFormat;

function withHeader(header: Uint8Array, data: Uint8Array): Uint8Array {
  const out = new Uint8Array(8 + header.length + data.length);
  new DataView(out.buffer).setBigUint64(0, BigInt(header.length), true);
  out.set(header, 8);
  out.set(data, 8 + header.length);
  return out;
}
