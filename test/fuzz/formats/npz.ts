// Archives of NumPy arrays: decodeNpz. Repaired mutants have the checksums and sizes of what they
// hold.
import { unzipSync, zipSync } from "fflate";
import { decodeNpz, encodeNpz, FormatError } from "../../../packages/io/src/index.js";
import type { FuzzFormat } from "../format.js";
import { mutate } from "../mutate.js";

const arrays = {
  x: Float32Array.from({ length: 60 }, (_, i) => i % 7),
  "labels of cases": { shape: [2, 3], data: Int32Array.from([1, 2, 3, 4, 5, 6]) },
  none: new Float64Array(0),
};

export default {
  corpus: async () => [await encodeNpz(arrays), await encodeNpz(arrays, { compress: false }), await encodeNpz({})],
  read: (input) => decodeNpz(input),
  errors: [FormatError],
  mutate: (input, random, corpus) => {
    const members: Record<string, Uint8Array> = unzipSync(input);
    const names = Object.keys(members);
    if (names.length > 0) {
      const name = random.pick(names);
      members[name] = mutate(members[name]!, random, corpus);
      if (random.chance(0.1))
        members[random.pick(["__proto__.npy", "a\u001b[2J.npy", "constructor", names[0]!.slice(0, -4)])] = members[name]!;
    }
    return zipSync({ ...members }, { level: random.pick([0, 6]), mtime: new Date(1980, 0, 1) });
  },
} satisfies FuzzFormat;
