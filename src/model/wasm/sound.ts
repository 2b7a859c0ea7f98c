// The sound that an exported module takes: the filters of a cochleagram, the low pass before them, and what
// counts as a word.
import { ArgumentError } from "@spillway/core/errors.js";
import { count, type InputOf, number, option, type Resolved } from "@spillway/core/options.js";
import { portableCos, portableLog, portableSin } from "@spillway/numerics";
import { type CochleaOptions, cochleaTable, filterCentres, filterOf } from "../../spikes/encoders/cochlea.js";
import { notNegative, positive } from "../../spikes/options.js";
import type { Constants, Field } from "../c/constants.js";

export const soundTable = {
  ...cochleaTable,
  /** Samples a second as they come, at least `sampleRate`; default 48000 Hz. */
  inputRate: option(count(1, 1_000_000), 48_000, "Samples a second as they come, at least sampleRate."),
  /** The silence that ends a word, in ms; default 200. */
  quietMs: option(positive("ms"), 200, "The silence that ends a word."),
  /** What a word has before and behind its loud frames, in ms; default 40. */
  leadMs: option(notNegative("ms"), 40, "What a word has before and behind its loud frames."),
  /** The shortest word, in ms; default 150. */
  leastMs: option(positive("ms"), 150, "The shortest word."),
  /** The longest word, in ms; anything longer is background. Default 2000. */
  mostMs: option(positive("ms"), 2000, "The longest word; anything longer is background."),
  /** The least loudness of a word; a sine of amplitude 1 has 1 in its channel. Default 0.0005. */
  leastLoudness: option(number({ above: 0 }), 0.0005, "The least loudness of a word."),
};

/**
 * The sound of a module: the levels of a cochleagram, a row a frame. A detector takes each frame,
 * and `reference` must be given. A classifier takes words: a word begins with two frames that are
 * louder than `leastLoudness` and than 4 times the background, and ends when `quietMs` are not, or
 * are 50 times softer than its loudest frame. Loudness is the mean of a frame's envelopes.
 */
export interface SoundOptions extends CochleaOptions, InputOf<typeof soundTable> {}

/** Sound options with their defaults. */
export type ResolvedSound = Resolved<typeof soundTable>;

/** What a host has to know of it. */
export interface SoundAbout {
  readonly inputRate: number;
  /** Where the table of constants is. */
  readonly front: number;
  /**
   * Bytes of what is kept between blocks, and where in it the shares or a detector's state begin.
   */
  readonly bytes: number;
  readonly model: number;
}

/** What a module does with its sound. */
export interface SoundWork {
  /** Whether it takes words, not frames. */
  readonly words: boolean;
  /** Values of a row. */
  readonly columns: number;
  /** Bytes that a pass over a word works in, or of a detector's state. */
  readonly each: number;
  /** Bytes of all that is behind the front. */
  readonly all: number;
}

/** Bytes of `sound_state` in wasm-sound-types.c, before its arrays. */
const headBytes = 120;

/**
 * Adds the table "front" to the constants of a model. @throws ArgumentError for a rate or a frame
 * of no whole number of samples, or another number of channels than the model's
 */
export function addFront(
  sound: ResolvedSound,
  { words, columns, each, all }: SoundWork,
  constants: Constants,
): Pick<SoundAbout, "inputRate" | "bytes" | "model"> {
  check(sound, words, columns);
  const { sampleRate, inputRate, channels, lowestHz, highestHz, frameMs, dynamicRangeDb, reference, leastLoudness } = sound;
  const frames = (ms: number) => Math.round(ms / frameMs);
  const divisor = commonDivisor(sampleRate, inputRate);
  const [up, down] = [sampleRate / divisor, inputRate / divisor];
  const { taps, kernel } = lowPass(up, down);
  const most = words ? frames(sound.mostMs) : 0;
  const filters = Array.from(filterCentres({ sampleRate, channels, lowestHz, highestHz }), (centre) => filterOf(centre, sampleRate)).flat();
  const row: readonly Field[] = [
    ...[channels, up, down, taps, (sampleRate * frameMs) / 1000],
    ...[frames(sound.leadMs), frames(sound.quietMs), frames(sound.leastMs), most, each],
    ...[constants.to("float64", "filters", filters), constants.to("float64", "kernel", kernel)],
    constants.to("float64", "sound_scale", [20 / portableLog(10) / dynamicRangeDb, reference ?? 0, leastLoudness]),
  ];
  constants.tables.push({ name: "front", type: "front", rows: [row] });
  const model = headBytes + 8 * (2 * taps + 128 + 10 * channels + 2 * most * channels);
  return { inputRate, model, bytes: model + all };
}

function check(
  { sampleRate, inputRate, channels, frameMs, reference, leadMs, quietMs, leastMs, mostMs }: ResolvedSound,
  words: boolean,
  columns: number,
): void {
  const refuse = (field: string, value: unknown, takes: string): never => {
    throw new ArgumentError(`sound.${field}`, value, takes);
  };
  if (!Number.isSafeInteger(sampleRate) || sampleRate > inputRate)
    refuse("sampleRate", sampleRate, `a whole number of Hz, at most inputRate, ${inputRate}`);
  if (!Number.isSafeInteger((sampleRate * frameMs) / 1000)) refuse("frameMs", frameMs, `a whole number of samples at ${sampleRate} Hz`);
  if (channels !== columns) refuse("channels", channels, `${columns}, as many as a row of the model has values`);
  if (!words && reference === undefined)
    refuse("reference", reference, "the envelope of level 1, because a detector takes frames, not words");
  if (words && leadMs > quietMs) refuse("leadMs", leadMs, `at most quietMs, ${quietMs}`);
  if (words && leastMs > mostMs) refuse("leastMs", leastMs, `at most mostMs, ${mostMs}`);
}

const commonDivisor = (a: number, b: number): number => (b === 0 ? a : commonDivisor(b, a % b));

/**
 * A low pass for `up / down` times as many samples: a sinc of 0.45 of the smaller rate under a
 * Blackman window of 16 of its periods, as `up` phases of `taps` weights, oldest sample first. Each
 * phase sums to 1.
 */
function lowPass(up: number, down: number): { readonly taps: number; readonly kernel: readonly number[] } {
  if (up === down) return { taps: 1, kernel: [1] };
  const half = Math.ceil((8 * down) / up);
  const taps = 2 * half;
  const phases = Array.from({ length: up }, (_, phase) => {
    const weights = Array.from({ length: taps }, (_, k) => {
      // Samples from the middle of the window to this one; the output is phase / up behind the newest.
      const at = taps - 1 - k + phase / up - half + 0.5;
      const angle = Math.PI * 0.9 * (up / down) * at;
      const turn = (6.283185307179586 * at) / (taps + 1);
      const window = 0.42 + 0.5 * portableCos(turn) + 0.08 * portableCos(2 * turn);
      return window * (angle === 0 ? 1 : portableSin(angle) / angle);
    });
    const sum = weights.reduce((a, b) => a + b, 0);
    return weights.map((weight) => weight / sum);
  });
  return { taps, kernel: phases.flat() };
}
