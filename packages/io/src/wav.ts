// Reads RIFF WAVE sound: PCM of 8 to 32 bits and float, plain or WAVE_FORMAT_EXTENSIBLE (Microsoft,
// "Multiple channel audio data"). Compressed sound is refused by name; nothing is resampled.
import { Matrix } from "@spillway/numerics";
import { checkBytes, type FormatError, failing, type SourceOptions } from "./errors.js";
import { readBytes } from "./files.js";

/** A recording. */
export interface WavSound {
  /** Frames a second (Hz). */
  readonly sampleRate: number;
  readonly channels: number;
  /** T x channels. PCM is scaled to [-1, 1): divided by 2^(bits - 1); float is as it was stored. */
  readonly matrix: Matrix<Float64Array>;
  readonly encoding: "pcm" | "float";
  readonly bitsPerSample: number;
}

interface SoundFormat {
  readonly encoding: "pcm" | "float";
  readonly channels: number;
  readonly sampleRate: number;
  readonly bits: number;
  readonly bytesPerSample: number;
}

/** Reads a .wav file; see {@link decodeWav}. @throws FileError if it cannot be read. */
export async function readWav(path: string): Promise<WavSound> {
  return decodeWav(await readBytes(path), { source: path });
}

/**
 * Decodes WAV bytes: PCM 8 (unsigned), 16, 24, 32 bits, float 32 and 64. Chunks other than "fmt "
 * and "data" are skipped. Samples whose size was never filled in reach to the end.
 * @throws FormatError with the bytes that were expected and found if it is truncated.
 */
export function decodeWav(bytes: Uint8Array, { source = "WAV data" }: SourceOptions = {}): WavSound {
  const fail = failing("WAV", source);
  checkBytes(bytes, source);
  if (bytes.length < 12) throw fail(`it is truncated: it holds ${bytes.length} bytes and a WAV header takes at least 12`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const kind = fourCharacters(bytes, 0);
  if (kind === "RF64" || kind === "RIFX") throw fail(`it is a ${kind} file; plain RIFF is read`);
  if (kind !== "RIFF" || fourCharacters(bytes, 8) !== "WAVE") throw fail("it does not begin as a RIFF WAVE file does; it is no .wav file");

  let format: SoundFormat | undefined;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const id = fourCharacters(bytes, at);
    const body = at + 8;
    const size = sizeOf(bytes, at, format);
    if ((id === "fmt " || id === "data") && body + size > bytes.length) {
      throw fail(`it is truncated: its "${id.trim()}" chunk takes ${size} bytes and the file holds ${bytes.length - body} of them`);
    }
    if (id === "fmt ") format = parseFormat(view, body, size, fail);
    if (id === "data") {
      if (!format) throw fail('its "data" chunk stands before its "fmt" chunk: nothing says what it holds');
      const { sampleRate, channels, encoding, bits } = format;
      return { sampleRate, channels, matrix: samples(view, body, size, format, fail), encoding, bitsPerSample: bits };
    }
    at = body + size + (size & 1);
  }
  throw fail(`it has no "${format ? "data" : "fmt"}" chunk: it is truncated (${bytes.length} bytes), or holds no sound`);
}

/** What writers that cannot go back to the header leave as the size of their samples. */
const unknownSizes = [0, 0xffffffff];

/**
 * The bytes of the chunk at `at`. A "data" chunk of unknown size reaches to the end of the file, in
 * whole frames, unless another chunk follows on an empty one.
 */
function sizeOf(bytes: Uint8Array, at: number, format: SoundFormat | undefined): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = view.getUint32(at + 4, true);
  const body = at + 8;
  if (!format || fourCharacters(bytes, at) !== "data" || !unknownSizes.includes(size)) return size;
  const isChunk = body + 8 <= bytes.length && /^[A-Za-z][\w ]{3}$/.test(fourCharacters(bytes, body));
  if (size === 0 && isChunk && body + 8 + view.getUint32(body + 4, true) <= bytes.length) return 0;
  const frame = format.channels * format.bytesPerSample;
  return Math.floor((bytes.length - body) / frame) * frame;
}

/**
 * The tail that the GUID of every WAVE_FORMAT_EXTENSIBLE subformat shares; before it stands the
 * plain format code.
 */
const guidTail = [0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x80, 0x00, 0x00, 0xaa, 0x00, 0x38, 0x9b, 0x71];

const compressed: Readonly<Record<number, string>> = { 2: "Microsoft ADPCM", 6: "A-law", 7: "mu-law", 17: "IMA ADPCM", 85: "MP3" };

function parseFormat(view: DataView, at: number, size: number, fail: (reason: string) => FormatError): SoundFormat {
  if (size < 16) throw fail(`its "fmt" chunk holds ${size} bytes; it takes at least 16`);
  let code = view.getUint16(at, true);
  const channels = view.getUint16(at + 2, true);
  const sampleRate = view.getUint32(at + 4, true);
  const blockAlign = view.getUint16(at + 12, true);
  const bits = view.getUint16(at + 14, true);
  if (code === 0xfffe) {
    if (size < 40) throw fail(`its extensible "fmt" chunk holds ${size} bytes; it takes at least 40`);
    code = view.getUint16(at + 24, true);
    if (guidTail.some((byte, i) => view.getUint8(at + 26 + i) !== byte)) throw fail("its extensible subformat is neither PCM nor float");
  }
  const encoding = code === 1 ? "pcm" : code === 3 ? "float" : undefined;
  if (!encoding)
    throw fail(`its format code is ${code}${compressed[code] ? ` (${compressed[code]})` : ""}; 1 (PCM) and 3 (float) are read`);
  const widths = encoding === "pcm" ? [8, 16, 24, 32] : [32, 64];
  if (!widths.includes(bits))
    throw fail(`its ${encoding === "pcm" ? "PCM" : "float"} samples have ${bits} bits; ${widths.join(", ")} are read`);
  if (channels === 0) throw fail("it has 0 channels; it takes at least 1");
  if (sampleRate === 0) throw fail("its sample rate is 0; it takes at least 1 Hz");
  if (blockAlign !== (channels * bits) / 8) {
    throw fail(`a frame is said to take ${blockAlign} bytes; ${channels} channels of ${bits} bits take ${(channels * bits) / 8}`);
  }
  return { encoding, channels, sampleRate, bits, bytesPerSample: bits / 8 };
}

function samples(
  view: DataView,
  at: number,
  size: number,
  { encoding, channels, bytesPerSample }: SoundFormat,
  fail: (reason: string) => FormatError,
): Matrix<Float64Array> {
  const frame = channels * bytesPerSample;
  if (size % frame !== 0) throw fail(`its "data" chunk holds ${size} bytes, which is no whole number of frames of ${frame}`);
  const read = sampleReader(view, encoding, bytesPerSample);
  const out = new Float64Array(size / bytesPerSample);
  for (let i = 0; i < out.length; i++) out[i] = read(at + i * bytesPerSample);
  return new Matrix<Float64Array>(size / frame, channels, out);
}

function sampleReader(view: DataView, encoding: "pcm" | "float", bytesPerSample: number): (at: number) => number {
  if (encoding === "float") return bytesPerSample === 4 ? (at) => view.getFloat32(at, true) : (at) => view.getFloat64(at, true);
  if (bytesPerSample === 1) return (at) => (view.getUint8(at) - 128) / 128;
  if (bytesPerSample === 2) return (at) => view.getInt16(at, true) / 32768;
  if (bytesPerSample === 3) return (at) => ((view.getInt8(at + 2) << 16) | view.getUint16(at, true)) / 8388608;
  return (at) => view.getInt32(at, true) / 2147483648;
}

function fourCharacters(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(bytes[at]!, bytes[at + 1]!, bytes[at + 2]!, bytes[at + 3]!);
}
