// Writes RIFF WAVE sound: 16-bit PCM or 32-bit float. Nothing is normalised: values beyond the
// range are errors.
import { ArgumentError } from "@spillway/core/errors.js";
import { choice, given, type InputOf, option, resolve, whole } from "@spillway/core/options.js";
import { asMatrix, type MatrixLike } from "@spillway/numerics";
import { writeFileAtomic } from "./atomic.js";

export const wavWriteTable = {
  /** Frames a second (Hz). */
  sampleRate: given(whole({ atLeast: 1, atMost: 0xffffffff, unit: "Hz" }), "Frames a second."),
  /** Default "pcm16": 32768 steps on either side of 0, and 1 itself becomes 32767/32768. */
  format: option(choice("pcm16", "float32"), "pcm16", "The type of a sample."),
};

/** Rate and sample format of what is written. */
export interface WavWriteOptions extends InputOf<typeof wavWriteTable> {}

/**
 * Encodes T x channels as WAV. pcm16 takes values in [-1, 1] and rounds to the nearest step.
 * @throws ArgumentError naming frame, channel and value if one is outside, and on a shape or
 * rate that a WAV cannot hold.
 */
export function encodeWav(sound: MatrixLike, options: WavWriteOptions): Uint8Array {
  const { sampleRate, format } = resolve(wavWriteTable, options);
  const matrix = asMatrix(sound, "sound");
  const { rows, cols } = matrix;
  const width = format === "pcm16" ? 2 : 4;
  if (cols < 1 || cols * width > 0xffff)
    throw ArgumentError.shape(`the sound has ${cols} channels; a WAV takes 1 to ${Math.floor(0xffff / width)}`, { field: "sound" });
  const size = rows * cols * width;
  // A format other than PCM has the size of its extension (0) and a "fact" chunk with the number of
  // frames.
  const header = format === "pcm16" ? 44 : 58;
  if (header - 8 + size > 0xffffffff) throw ArgumentError.because(`the sound takes ${size} bytes; a WAV takes up to 4 GiB`);
  const bytes = new Uint8Array(header + size);
  const view = new DataView(bytes.buffer);
  const name = (at: number, text: string): void => bytes.set(new TextEncoder().encode(text), at);
  name(0, "RIFF");
  view.setUint32(4, bytes.length - 8, true);
  name(8, "WAVEfmt ");
  view.setUint32(16, format === "pcm16" ? 16 : 18, true);
  view.setUint16(20, format === "pcm16" ? 1 : 3, true);
  view.setUint16(22, cols, true);
  view.setUint32(24, sampleRate, true);
  view.setUint32(28, Math.min(sampleRate * cols * width, 0xffffffff), true);
  view.setUint16(32, cols * width, true);
  view.setUint16(34, width * 8, true);
  if (format === "float32") {
    name(38, "fact");
    view.setUint32(42, 4, true);
    view.setUint32(46, rows, true);
  }
  name(header - 8, "data");
  view.setUint32(header - 4, size, true);
  for (let i = 0; i < matrix.data.length; i++) {
    const value = matrix.data[i]!;
    if (format === "float32") {
      view.setFloat32(header + i * 4, value, true);
    } else if (value >= -1 && value <= 1) {
      view.setInt16(header + i * 2, Math.min(Math.round(value * 32768), 32767), true);
    } else {
      throw ArgumentError.because(
        `frame ${Math.floor(i / cols)}, channel ${i % cols} is ${value}; pcm16 takes values from -1 to 1: scale the sound, or write "float32"`,
      );
    }
  }
  return bytes;
}

/** Writes {@link encodeWav} to a file, whole or not at all. @throws FileError. */
export async function writeWav(path: string, sound: MatrixLike, options: WavWriteOptions): Promise<void> {
  await writeFileAtomic(path, encodeWav(sound, options));
}
