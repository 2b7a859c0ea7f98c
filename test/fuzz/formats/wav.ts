// Sounds: decodeWav.
import { decodeWav, encodeWav, FormatError } from "../../../packages/io/src/index.js";
import { Matrix } from "../../../packages/numerics/src/index.js";
import type { FuzzFormat } from "../format.js";

const sound = new Matrix(
  20,
  2,
  Float64Array.from({ length: 40 }, (_, i) => (i % 9) / 9 - 0.5),
);

export default {
  corpus: () => [
    encodeWav(sound, { sampleRate: 8000 }),
    encodeWav(sound, { sampleRate: 44100, format: "float32" }),
    extensible(encodeWav(sound, { sampleRate: 8000 })),
  ],
  read: (input) => decodeWav(input),
  errors: [FormatError],
} satisfies FuzzFormat;

/** The same sound as WAVE_FORMAT_EXTENSIBLE, after a chunk that is skipped. */
function extensible(plain: Uint8Array): Uint8Array {
  const out = new Uint8Array(plain.length + 24 + 10);
  const view = new DataView(out.buffer);
  out.set(plain.subarray(0, 12));
  view.setUint32(4, out.length - 8, true);
  out.set([0x4e, 0x4f, 0x54, 0x45, 1, 0, 0, 0, 0x61, 0], 12);
  out.set(plain.subarray(12, 36), 22);
  view.setUint32(26, 40, true);
  view.setUint16(30, 0xfffe, true);
  out.set([22, 0, 16, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71], 46);
  out.set(plain.subarray(36), 70);
  return out;
}
