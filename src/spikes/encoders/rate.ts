// Rate coding: the value of a channel is how often its neurons fire. Poisson or regular; the rate
// may change from frame to frame.
import { ArgumentError } from "@spillway/core/errors.js";
import { seed as anySeed, choice, type InputOf, option, optional, resolve } from "@spillway/core/options.js";
import { Matrix, type MatrixLike, portableLog } from "@spillway/numerics";
import { notNegative } from "../options.js";
import { checkPattern, SpikePattern } from "../pattern/pattern.js";
import { spikeStream } from "../streams.js";
import type { Encoder } from "./encoder.js";
import { checkSpikes, encoderMetadata, type FrameOptions, type Frames, framesOf, frameTable } from "./series.js";

export const rateTable = {
  ...frameTable,
  /** "poisson" (default) takes a seed; "regular" draws nothing. */
  process: option(choice("poisson", "regular"), "poisson", "poisson takes a seed; regular draws nothing."),
  /** The rate of value 0, in Hz; default 1. */
  minRateHz: option(notNegative("Hz"), 1, "The rate of value 0."),
  /** The rate of value 1, in Hz; default 100. */
  maxRateHz: option(notNegative("Hz"), 100, "The rate of value 1."),
  /** Draws the intervals of the Poisson process. */
  seed: optional(anySeed, "Draws the intervals of the Poisson process."),
};

/** Frames, rates and process of `rateEncode`. */
export interface RateEncoderOptions extends FrameOptions, InputOf<typeof rateTable> {}

/**
 * Rates r = minimum + f (maximum - minimum) of a T x F series of values f in [0, 1], held for
 * frameMs each; every neuron of a channel fires at that rate. A neuron spikes wherever the integral
 * of its rate passes the next of a rising row of levels. Poisson: levels E0, E0 + E1, ..., with E =
 * -ln(1 - U) drawn by neuron and spike, which is an exact Poisson process for rates that are
 * constant within a frame (time rescaling; Brown et al. 2002, "The time-rescaling theorem").
 * Regular: levels p, 1 + p, 2 + p, ... with p = (j + 1/2) / G for neuron j of the channel's G:
 * neurons of one channel take turns.
 * @throws ArgumentError on a value outside [0, 1], a rate below 0, or a Poisson process without a
 * seed.
 */
export function rateEncode(values: MatrixLike, options: RateEncoderOptions): SpikePattern {
  const { process, minRateHz, maxRateHz, seed, ...framing } = resolve(rateTable, options);
  if (process === "poisson" && seed === undefined)
    throw new ArgumentError("seed", seed, "a number or a text: a Poisson process is drawn from it");
  const frames = framesOf(values, framing);
  let rates = 0;
  for (const value of frames.series.data) rates += minRateHz + value * (maxRateHz - minRateHz);
  checkSpikes((rates * frames.frameMs * frames.group) / 1000);
  const draws = process === "poisson" ? spikeStream("rateEncoder", seed!) : undefined;
  const times: number[] = [];
  const neurons: number[] = [];
  for (let neuron = 0; neuron < frames.neuronCount; neuron++) {
    let spikes = 0;
    const next = draws
      ? (level: number) => level - portableLog(1 - draws.uniform(neuron, spikes++))
      : (level: number) => (spikes++ === 0 ? ((neuron % frames.group) + 0.5) / frames.group : level + 1);
    passLevels(frames, Math.floor(neuron / frames.group), minRateHz, maxRateHz, next, (timeMs) => {
      times.push(timeMs);
      neurons.push(neuron);
    });
  }
  const { durationMs, neuronCount } = frames;
  return SpikePattern.from({ times, neurons }, { durationMs, neuronCount, metadata: encoderMetadata("rate", frames.series) });
}

export const rateEncoder: Encoder = {
  name: "rate",
  description: "How often a neuron fires is the value.",
  options: rateTable,
  range: "unit",
  encode: rateEncode,
};

/** Calls `spike` at each time where the integral of the channel's rate passes a level. */
function passLevels(
  { series, frameMs, durationMs }: Frames,
  channel: number,
  minimum: number,
  maximum: number,
  next: (level: number) => number,
  spike: (timeMs: number) => void,
): void {
  let passed = 0;
  let level = next(0);
  for (let row = 0; row < series.rows; row++) {
    const rate = (minimum + series.data[row * series.cols + channel]! * (maximum - minimum)) / 1000;
    const end = passed + rate * frameMs;
    for (; level < end; level = next(level)) spike(Math.min(row * frameMs + (level - passed) / rate, durationMs));
    passed = end;
  }
}

/** The frames and rates that were used. */
export interface RateDecoderOptions extends Pick<RateEncoderOptions, "frameMs" | "neuronsPerChannel" | "minRateHz" | "maxRateHz"> {}

/**
 * The values that rates stand for, T x F: (spikes of the channel in the frame / (G frame in
 * seconds) - minimum) / (maximum - minimum). It is not clipped: its mean is the value that was
 * encoded. Its standard deviation for a Poisson process is sqrt(r / (G frame)) / (maximum -
 * minimum). All that the encoder was given may be given again.
 * @throws ArgumentError if the neurons do not divide into groups, or minimum and maximum are the
 * same.
 */
export function rateDecode(pattern: SpikePattern, options: RateDecoderOptions): Matrix<Float64Array> {
  const { frameMs, neuronsPerChannel, minRateHz, maxRateHz } = resolve(rateTable, options);
  const { frames, channels } = decodedShape(pattern, frameMs, neuronsPerChannel);
  if (!(maxRateHz !== minRateHz)) throw new ArgumentError("maxRateHz", maxRateHz, "a rate other than minRateHz");
  const counts = Matrix.zeros(frames, channels);
  for (let i = 0; i < pattern.spikeCount; i++) {
    const frame = Math.min(Math.floor(pattern.times[i]! / frameMs), frames - 1);
    const cell = frame * channels + Math.floor(pattern.neurons[i]! / neuronsPerChannel);
    counts.data[cell] = counts.data[cell]! + 1;
  }
  const scale = (neuronsPerChannel * frameMs) / 1000;
  return new Matrix(
    frames,
    channels,
    counts.data.map((count) => (count / scale - minRateHz) / (maxRateHz - minRateHz)),
  );
}

/**
 * The T x F shape that a pattern decodes to. @throws ArgumentError if neurons or duration do not
 * divide.
 */
export function decodedShape(pattern: SpikePattern, frameMs: number, group: number): { frames: number; channels: number } {
  checkPattern(pattern);
  if (pattern.neuronCount % group !== 0) {
    throw new ArgumentError("neuronsPerChannel", group, `a divisor of the pattern's ${pattern.neuronCount} neurons`);
  }
  return { frames: Math.max(0, Math.ceil(pattern.durationMs / frameMs - 1e-9)), channels: pattern.neuronCount / group };
}
