// Latency (temporal) coding: the value of a channel is when in its frame a neuron fires, once.
import { ArgumentError } from "@spillway/core/errors.js";
import { checked, choice, type InputOf, option, optional, type Resolved, resolve } from "@spillway/core/options.js";
import { Matrix, type MatrixLike, portableExp, portableLog } from "@spillway/numerics";
import { notNegative, positive, share } from "../options.js";
import { SpikePattern } from "../pattern/pattern.js";
import type { Encoder } from "./encoder.js";
import { decodedShape } from "./rate.js";
import { encoderMetadata, type FrameOptions, framesOf, frameTable } from "./series.js";

const codeTable = {
  /**
   * The latest spike of a channel's first neuron, in ms after the frame's beginning; default 50.
   */
  delayRangeMs: option(positive("ms"), 50, "The latest spike of a channel's first neuron after the frame's beginning."),
  /**
   * "strongFirst" (default): value 1 fires at 0 and value 0 at delayRangeMs. "weakFirst": the other
   * way round.
   */
  order: option(choice("strongFirst", "weakFirst"), "strongFirst", "Whether value 1 or value 0 fires at once."),
  /**
   * "linear" (default): d = delayRange s, with s = 1 - f (strongFirst) or f (weakFirst).
   * "logarithmic": d = -tau ln(1 - s (1 - e^(-delayRange / tau))), as a leaky integrator that
   * charges towards its input.
   */
  curve: option(choice("linear", "logarithmic"), "linear", "How the time follows from the value."),
  /** tau of the logarithmic curve, in ms; default delayRangeMs / 3. */
  timeConstantMs: optional(positive("ms"), "tau of the logarithmic curve; left out, a third of delayRangeMs."),
};

/** How a value from 0 to 1 becomes the time of a spike. */
export interface LatencyCode extends InputOf<typeof codeTable> {}

export const latencyTable = {
  ...frameTable,
  ...codeTable,
  /** Neuron j of a channel fires j times this later than its first, in ms; default 2. */
  neuronDelayMs: option(notNegative("ms"), 2, "Neuron j of a channel fires j times this later than its first."),
  /** Values below it do not fire; default 0: all do. */
  threshold: option(share, 0, "Values below it do not fire."),
};

/** Frames, neurons and code of `latencyEncode`. */
export interface LatencyEncoderOptions extends FrameOptions, LatencyCode, InputOf<typeof latencyTable> {}

const latencyDecodeTable = {
  ...latencyTable,
  /** The value of a channel that is silent in a frame; default 0. */
  silent: option(
    checked<number>("a number", (value) => typeof value === "number"),
    0,
    "The value of a channel that is silent in a frame.",
  ),
};

/**
 * One spike a neuron and frame at t = row frameMs + d(f) + j neuronDelayMs, for a T x F series of
 * values f in [0, 1]; a spike that would come after the end of its frame is left out. First-spike
 * coding: Thorpe, Delorme, van Rullen 2001, "Spike-based strategies for rapid processing".
 * @throws ArgumentError on a value outside [0, 1] or an option that it does not take.
 */
export function latencyEncode(values: MatrixLike, options: LatencyEncoderOptions): SpikePattern {
  const { neuronDelayMs, threshold, ...rest } = resolve(latencyTable, options);
  const delay = delayCurve(rest);
  const { series, frameMs, group, durationMs, neuronCount } = framesOf(values, rest);
  const times: number[] = [];
  const neurons: number[] = [];
  for (let i = 0; i < series.data.length; i++) {
    const value = series.data[i]!;
    if (value < threshold) continue;
    const first = delay.of(value);
    const origin = Math.floor(i / series.cols) * frameMs;
    for (let j = 0; j < group; j++) {
      const after = first + j * neuronDelayMs;
      if (after >= frameMs) break;
      times.push(Math.min(origin + after, durationMs));
      neurons.push((i % series.cols) * group + j);
    }
  }
  return SpikePattern.from({ times, neurons }, { durationMs, neuronCount, metadata: encoderMetadata("latency", series) });
}

export const latencyEncoder: Encoder = {
  name: "latency",
  description: "When in its frame a neuron fires, once, is the value.",
  options: latencyTable,
  range: "unit",
  encode: latencyEncode,
};

/** The code that was used, and the frames it was used in. */
export interface LatencyDecoderOptions extends FrameOptions, LatencyCode, Pick<InputOf<typeof latencyDecodeTable>, "silent"> {}

/**
 * The values that first spikes stand for, T x F: the inverse of the encoder's curve at the first
 * spike of each channel's first neuron in each frame. All that the encoder was given may be given
 * again.
 * @throws ArgumentError if the neurons do not divide into groups.
 */
export function latencyDecode(pattern: SpikePattern, options: LatencyDecoderOptions): Matrix<Float64Array> {
  const { frameMs, neuronsPerChannel, silent, ...code } = resolve(latencyDecodeTable, options);
  const delay = delayCurve(code);
  const { frames, channels } = decodedShape(pattern, frameMs, neuronsPerChannel);
  const out = new Matrix(frames, channels, new Float64Array(frames * channels).fill(silent));
  const isFilled = new Uint8Array(frames * channels);
  for (let i = 0; i < pattern.spikeCount; i++) {
    if (pattern.neurons[i]! % neuronsPerChannel !== 0) continue;
    const frame = Math.min(Math.floor(pattern.times[i]! / frameMs), frames - 1);
    const cell = frame * channels + pattern.neurons[i]! / neuronsPerChannel;
    if (isFilled[cell]) continue;
    isFilled[cell] = 1;
    out.data[cell] = Math.min(1, Math.max(0, delay.inverse(pattern.times[i]! - frame * frameMs)));
  }
  return out;
}

function delayCurve({ delayRangeMs, order, curve, timeConstantMs = delayRangeMs / 3 }: Resolved<typeof codeTable>) {
  const share = (value: number) => (order === "strongFirst" ? 1 - value : value);
  if (curve === "linear") {
    return { of: (value: number) => delayRangeMs * share(value), inverse: (delayMs: number) => share(delayMs / delayRangeMs) };
  }
  const full = 1 - portableExp(-delayRangeMs / timeConstantMs);
  if (!(full < 1)) throw new ArgumentError("timeConstantMs", timeConstantMs, `more than a 36th of delayRangeMs, ${delayRangeMs} ms`);
  return {
    of: (value: number) => -timeConstantMs * portableLog(1 - share(value) * full),
    inverse: (delayMs: number) => share((1 - portableExp(-delayMs / timeConstantMs)) / full),
  };
}
