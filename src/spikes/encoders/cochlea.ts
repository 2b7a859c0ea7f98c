// A cochlea-like front end: sound to the envelopes of a gammatone filter bank, and those to spikes.
// No model of hair cells or of the nerve.
import { ArgumentError } from "@spillway/core/errors.js";
import { seed as anySeed, choice, count, given, type InputOf, number, option, optional, resolve } from "@spillway/core/options.js";
import { asMatrix, Matrix, type MatrixLike, portableCos, portableExp, portableLog, portableSin } from "@spillway/numerics";
import { notNegative, positive } from "../options.js";
import { SpikePattern } from "../pattern/pattern.js";
import type { Encoder } from "./encoder.js";
import { rateEncode } from "./rate.js";

export const cochleaTable = {
  /** Samples a second of the sound, in Hz. */
  sampleRate: given(positive("Hz"), "Samples a second of the sound."),
  /** F, filters from `lowestHz` to `highestHz`; default 64. */
  channels: option(count(1, 10_000), 64, "F, filters from lowestHz to highestHz."),
  /** The centre of the first filter; default 100 Hz. */
  lowestHz: option(positive("Hz"), 100, "The centre of the first filter."),
  /**
   * The centre of the last filter, below half the sample rate; default 0.45 of the sample rate, at
   * most 8000 Hz.
   */
  highestHz: optional(positive("Hz"), "The centre of the last filter; left out, 0.45 of the sample rate, at most 8000."),
  /** The length of a frame, over which an envelope is averaged, in ms; default 5. */
  frameMs: option(positive("ms"), 5, "The length of a frame, over which an envelope is averaged."),
  /** How far below the reference the level is that becomes 0, in dB; default 50. */
  dynamicRangeDb: option(positive("dB"), 50, "How far below the reference the level is that becomes 0."),
  /**
   * The envelope that becomes 1; default the largest of the recording: its loudness then does not
   * matter.
   */
  reference: optional(number({ above: 0 }), "The envelope that becomes 1; left out, the largest of the recording."),
};

/** A bank of gammatone filters and the levels that are read from it. */
export interface CochleaOptions extends InputOf<typeof cochleaTable> {}

/**
 * The cochleagram of a sound, T x F in [0, 1], channel 0 lowest: each filter's envelope e, averaged
 * over the samples of a frame, as a level max(0, 1 + 20 log10(e / reference) / dynamicRange), at
 * most 1. Silence is 0. The last frame may be shorter.
 *
 * Filters: gammatones of order 4 as four complex one-pole filters in a row (Hohmann 2002,
 * "Frequency analysis and synthesis using a gammatone filterbank"), pole exp(-2 pi 1.019 ERB(f) /
 * sampleRate) at angle 2 pi f / sampleRate, gain 1 at f for a sine; centres evenly spaced on the
 * ERB scale 21.4 log10(1 + 0.00437 f), ERB(f) = 24.7 (1 + 0.00437 f) Hz (Glasberg and Moore 1990).
 * The envelope is the modulus of the complex output.
 * @throws ArgumentError on a sample that is not finite, a sound of several channels, or centres
 * beyond half the sample rate.
 */
export function cochleagram(sound: MatrixLike, options: CochleaOptions): Matrix<Float64Array> {
  const filters = resolve(cochleaTable, options);
  const samples = asMatrix(sound, "sound");
  const { sampleRate, channels, frameMs, dynamicRangeDb, reference } = filters;
  if (samples.cols !== 1)
    throw new ArgumentError("the number of channels of the sound", samples.cols, "1: mix them or take one", { code: "shape" });
  const bad = samples.data.findIndex((value) => !Number.isFinite(value));
  if (bad >= 0) throw new ArgumentError(`sample ${bad}`, samples.data[bad], "finite numbers");
  const frameSamples = (sampleRate * frameMs) / 1000;
  if (frameSamples < 1) throw new ArgumentError("frameMs", frameMs, `at least one sample, ${1000 / sampleRate} ms`);
  const centres = filterCentres(filters);
  const frames = Math.max(0, Math.ceil(samples.rows / frameSamples - 1e-9));
  const out = Matrix.zeros(frames, channels);
  for (let c = 0; c < channels; c++) envelope(samples.data, sampleRate, centres[c]!, frameSamples, out, c);
  const top = reference ?? out.data.reduce((a, b) => Math.max(a, b), 0);
  const decibels = 20 / portableLog(10) / dynamicRangeDb;
  for (let i = 0; i < out.data.length; i++) {
    const ratio = out.data[i]! / top;
    out.data[i] = ratio > 0 ? Math.min(1, Math.max(0, 1 + decibels * portableLog(ratio))) : 0;
  }
  return out;
}

/**
 * The centre frequencies of the filters in Hz, evenly spaced on the ERB scale. @throws
 * ArgumentError if they leave (0, sampleRate / 2).
 */
export function filterCentres(options: CochleaOptions): Float64Array {
  const { sampleRate, channels, lowestHz, highestHz } = resolve(cochleaTable, options);
  const highest = highestHz ?? Math.min(0.45 * sampleRate, 8000);
  if (!(highest >= lowestHz && highest < sampleRate / 2)) {
    throw new ArgumentError(
      "highestHz",
      highest,
      `a frequency from lowestHz, ${lowestHz} Hz, to below half the sample rate, ${sampleRate / 2} Hz`,
    );
  }
  const low = portableLog(1 + 0.00437 * lowestHz);
  const step = channels === 1 ? 0 : (portableLog(1 + 0.00437 * highest) - low) / (channels - 1);
  return Float64Array.from({ length: channels }, (_, c) => (portableExp(low + c * step) - 1) / 0.00437);
}

/** The pole a + ib of the filter of a centre frequency, and its gain. */
export function filterOf(centre: number, sampleRate: number): readonly [a: number, b: number, gain: number] {
  const angle = (6.283185307179586 * centre) / sampleRate;
  const radius = portableExp((-6.283185307179586 * 1.019 * 24.7 * (1 + 0.00437 * centre)) / sampleRate);
  return [radius * portableCos(angle), radius * portableSin(angle), 1 - radius];
}

/** Writes the mean envelope of each frame of one filter into column `c`. */
function envelope(
  sound: ArrayLike<number>,
  sampleRate: number,
  centre: number,
  frameSamples: number,
  out: Matrix<Float64Array>,
  c: number,
): void {
  const [a, b, gain] = filterOf(centre, sampleRate);
  const real = new Float64Array(4);
  const imaginary = new Float64Array(4);
  let frame = 0;
  let sum = 0;
  let count = 0;
  for (let n = 0; n < sound.length; n++) {
    // A sine is half a positive frequency, so twice the input gives its amplitude.
    let x = 2 * sound[n]!;
    let y = 0;
    for (let k = 0; k < 4; k++) {
      const re = gain * x + (a * real[k]! - b * imaginary[k]!);
      const im = gain * y + (a * imaginary[k]! + b * real[k]!);
      real[k] = re;
      imaginary[k] = im;
      x = re;
      y = im;
    }
    sum += Math.sqrt(x * x + y * y);
    count++;
    if (n + 1 < Math.min(sound.length, (frame + 1) * frameSamples)) continue;
    out.data[frame * out.cols + c] = sum / count;
    frame++;
    sum = 0;
    count = 0;
  }
}

const cochleaEncoderTable = {
  ...cochleaTable,
  /** The rate of level 1, in Hz; default 200. Level 0 is silent. */
  maxRateHz: option(notNegative("Hz"), 200, "The rate of level 1; level 0 is silent."),
  /** "regular" (default) draws nothing, "poisson" takes a seed. */
  process: option(choice("poisson", "regular"), "regular", "regular draws nothing; poisson takes a seed."),
  /** Default 1. */
  neuronsPerChannel: option(count(1, 100_000), 1, "Neurons of each channel."),
  /** Draws the Poisson process. */
  seed: optional(anySeed, "Draws the Poisson process."),
};

/** The filters, and how their levels become spikes. */
export interface CochleaEncoderOptions extends CochleaOptions, InputOf<typeof cochleaEncoderTable> {}

/**
 * Sound to spikes: its {@link cochleagram}, each channel rate coded by {@link rateEncode} from 0 to
 * maxRateHz. The pattern lasts as long as the frames do.
 * @throws ArgumentError as those two do.
 */
export function cochleaEncode(sound: MatrixLike, options: CochleaEncoderOptions): SpikePattern {
  const { maxRateHz, process, neuronsPerChannel, seed, ...filters } = resolve(cochleaEncoderTable, options);
  const levels = cochleagram(sound, filters);
  const pattern = rateEncode(levels, { frameMs: filters.frameMs, minRateHz: 0, maxRateHz, process, neuronsPerChannel, seed });
  const { durationMs, neuronCount, metadata } = pattern;
  return new SpikePattern(pattern, { durationMs, neuronCount, metadata: { ...metadata, source: "cochlea encoder" } });
}

export const cochleagramEncoder: Encoder = {
  name: "cochleagram",
  description: "A sound's levels by frequency, which drive a reservoir as they are.",
  options: cochleaTable,
  range: "any",
  encode: cochleagram,
};

export const cochleaEncoder: Encoder = {
  name: "cochlea",
  description: "A sound's levels by frequency, each rate coded.",
  options: cochleaEncoderTable,
  range: "any",
  encode: cochleaEncode,
};
