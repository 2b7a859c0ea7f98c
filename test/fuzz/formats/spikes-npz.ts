// Spike patterns as NPZ: decodePatternNpz, with the arrays changed within a sound archive.
import { decodeNpz, encodeNpz, FileError, type NpyArray, type NpySource } from "../../../packages/io/src/index.js";
import { decodePatternNpz, encodePatternNpz, SpikePattern } from "../../../src/spikes/index.js";
import type { FuzzFormat } from "../format.js";
import { mutate } from "../mutate.js";
import { bytesOf } from "../text.js";

const pattern = new SpikePattern(
  { times: [0, 1.5, 1.5, 9], neurons: [2, 0, 1, 2], amplitudes: [1, 0.5, 2, -1] },
  { durationMs: 10, neuronCount: 3, metadata: { label: "a" } },
);

export default {
  corpus: async () => [
    await encodePatternNpz(pattern),
    await encodeNpz({ times_ms: Float32Array.of(1, 2), neurons: BigInt64Array.of(0n, 5n) }),
  ],
  read: (input) => decodePatternNpz(input, { source: "a.npz" }),
  errors: [FileError],
  mutate: async (input, random) => {
    const arrays: Record<string, NpyArray | NpySource> = { ...(await decodeNpz(input)) };
    const name = random.pick(Object.keys(arrays));
    const { data } = arrays[name] as NpyArray;
    if (random.chance(0.2)) delete arrays[name];
    else if (name === "metadata" && random.chance(0.5)) arrays[name] = mutate(data as Uint8Array, random, [bytesOf('{"label":1}')]);
    else {
      const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
      bytes.set(mutate(bytes, random, [bytes]).subarray(0, bytes.length));
    }
    return encodeNpz(arrays as Record<string, NpySource>);
  },
} satisfies FuzzFormat;
