// NumPy arrays: decodeNpy and npyToMatrix.
import { decodeNpy, encodeNpy, FormatError, npyToMatrix } from "../../../packages/io/src/index.js";
import type { FuzzFormat } from "../format.js";
import { mutate } from "../mutate.js";

const tokens = [
  "'descr'",
  "'<f8'",
  "'|b1'",
  "'>i8'",
  "'<constructor'",
  "'<toString'",
  "'|O'",
  "True",
  "False",
  "(",
  ")",
  ",",
  "{",
  "}",
  "[",
  "'",
];

export default {
  corpus: () => [
    encodeNpy(Float64Array.from([1, 2, 3.5])),
    encodeNpy({ shape: [2, 3], data: Float32Array.from([1, 2, 3, 4, 5, 6]) }),
    encodeNpy({ shape: [2, 2, 1], data: BigInt64Array.from([1n, -2n, 2n ** 60n, 0n]) }),
    encodeNpy({ dtype: "bool", shape: [4], data: Uint8Array.from([0, 1, 1, 0]) }),
    encodeNpy({ shape: [], data: Uint16Array.of(7) }),
    fortran(),
  ],
  read: (input) => npyToMatrix(decodeNpy(input)),
  errors: [FormatError],
  /** The dictionary changed, within a header of the right length. */
  mutate: (input, random, corpus) => {
    const start = 10 + new DataView(input.buffer, input.byteOffset).getUint16(8, true);
    const header = mutate(input.subarray(10, start), random, corpus, tokens).subarray(0, 0xffff);
    const out = new Uint8Array(10 + header.length + input.length - start);
    out.set(input.subarray(0, 10));
    new DataView(out.buffer).setUint16(8, header.length, true);
    out.set(header, 10);
    out.set(input.subarray(start), 10 + header.length);
    return out;
  },
} satisfies FuzzFormat;

/** Big-endian halves in Fortran order. */
function fortran(): Uint8Array {
  const header = `${"{'descr': '>f2', 'fortran_order': True, 'shape': (2, 3), }".padEnd(117)}\n`;
  return Uint8Array.from([
    0x93,
    ..."NUMPY".split("").map((c) => c.charCodeAt(0)),
    1,
    0,
    header.length,
    0,
    ...new TextEncoder().encode(header),
    60,
    0,
    64,
    0,
    66,
    0,
    68,
    0,
    69,
    0,
    70,
    0,
  ]);
}
