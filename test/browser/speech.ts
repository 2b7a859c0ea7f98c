// A stream of spoken words as a microphone gives it: recordings with pauses between them, over
// faint noise, at 48 kHz.
/** Samples a second of a stream. */
export const streamRate = 48_000;

/** A recording at six times its rate of 8 kHz: between samples, a sinc under a Hann window. */
export function upsampled(sound: ArrayLike<number>): Float64Array {
  const reach = 16;
  return Float64Array.from({ length: 6 * sound.length }, (_, n) => {
    const at = n / 6;
    let sum = 0;
    for (let k = Math.max(0, Math.floor(at) - reach + 1); k <= Math.min(sound.length - 1, Math.floor(at) + reach); k++) {
      const angle = Math.PI * (at - k);
      sum += sound[k]! * (angle === 0 ? 1 : Math.sin(angle) / angle) * (0.5 + 0.5 * Math.cos(angle / reach));
    }
    return sum;
  });
}

/** A stream, and where each recording is in it, in samples. */
export interface Stream {
  readonly samples: Float32Array<ArrayBuffer>;
  readonly spoken: readonly { readonly label: string; readonly from: number; readonly to: number }[];
}

/**
 * Recordings at 8 kHz with pauses of 0.6 to 0.8 s, over uniform noise of amplitude 0.0005. The
 * same recordings give the same stream, of 16-bit steps.
 */
export function streamOf(recordings: readonly ArrayLike<number>[], labels: readonly unknown[]): Stream {
  let state = 1;
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const pause = () => Math.round(streamRate * (0.6 + 0.2 * random()));
  let at = pause();
  const timed = recordings.map((recording, b) => {
    const sound = upsampled(recording);
    const from = at;
    at += sound.length + pause();
    return { sound, label: String(labels[b]), from, to: from + sound.length };
  });
  const samples = Float32Array.from({ length: at }, () => 0.001 * (random() - 0.5));
  for (const { sound, from } of timed) for (const [n, value] of sound.entries()) samples[from + n]! += value;
  const spoken = timed.map(({ label, from, to }) => ({ label, from, to }));
  return { samples: samples.map((value) => Math.max(-32768, Math.min(32767, Math.round(32768 * value))) / 32768), spoken };
}

/** A stream as a WAV file of 16 bits. */
export function wavOf(samples: Float32Array): Buffer {
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + 2 * samples.length, 4);
  head.write("WAVEfmt ", 8);
  for (const [at, value] of [
    [16, 16],
    [24, streamRate],
    [28, 2 * streamRate],
    [40, 2 * samples.length],
  ] as const)
    head.writeUInt32LE(value, at);
  for (const [at, value] of [
    [20, 1],
    [22, 1],
    [32, 2],
    [34, 16],
  ] as const)
    head.writeUInt16LE(value, at);
  head.write("data", 36);
  return Buffer.concat([head, Buffer.from(Int16Array.from(samples, (value) => 32768 * value).buffer)]);
}

/** What was found of a stream. */
export interface FoundWord {
  readonly label: string;
  readonly first: number;
  readonly last: number;
}

/** How many words are right: one is found while it is spoken, under its name. @param late by how many samples */
export function rightIn({ spoken }: Stream, found: readonly FoundWord[], late = 0): number {
  return spoken.filter(({ label, from, to }) => {
    const during = found.filter(({ first, last }) => first - late < to && last - late > from);
    return during.length === 1 && during[0]!.label === label;
  }).length;
}
