// Population coding: the neurons of a channel have Gaussian receptive fields side by side, and
// those near the value respond most.
import { ArgumentError } from "@spillway/core/errors.js";
import { seed as anySeed, choice, count, type InputOf, option, optional, resolve } from "@spillway/core/options.js";
import { Matrix, type MatrixLike, portableExp } from "@spillway/numerics";
import { positive, share } from "../options.js";
import { SpikePattern } from "../pattern/pattern.js";
import { spikeStream } from "../streams.js";
import type { Encoder } from "./encoder.js";
import { decodedShape } from "./rate.js";
import { encoderMetadata, type FrameOptions, framesOf, frameTable } from "./series.js";

export const populationTable = {
  ...frameTable,
  /** G, at least 2; default 10. */
  neuronsPerChannel: option(count(2, 100_000), 10, "G, the neurons of each channel."),
  /**
   * "probability" (default): neuron j fires once, with probability peakProbability times its
   * response, at a uniform time of the frame; takes a seed. "latency": it fires at (1 - response)
   * of the frame, and not at all if the response is below `threshold` (Bohte et al. 2002).
   */
  code: option(choice("probability", "latency"), "probability", "Whether a neuron's response is its chance to fire, or when it does."),
  /** Standard deviation of a field, in neurons; default G / 6. */
  fieldWidth: optional(positive("neurons"), "Standard deviation of a field; left out, G / 6."),
  /** Default 0.8. */
  peakProbability: option(share, 0.8, "The chance of the neuron whose centre the value is."),
  /** The smallest response that fires in the latency code; default 0.1. */
  threshold: option(share, 0.1, "The smallest response that fires in the latency code."),
  /** Draws which neurons fire, and when. */
  seed: optional(anySeed, "Draws which neurons fire, and when."),
};

/** Frames, receptive fields and code of `populationEncode`. */
export interface PopulationEncoderOptions extends FrameOptions, InputOf<typeof populationTable> {}

/**
 * Gaussian receptive fields: neuron j of the G of a channel responds to f in [0, 1] with exp(-((j -
 * f (G - 1)) / width)^2 / 2), its centre at f = j / (G - 1). Source: Bohte, La Poutre, Kok 2002,
 * "Unsupervised clustering with spiking neurons by sparse temporal coding".
 * @throws ArgumentError on a value outside [0, 1], fewer than 2 neurons a channel, or no seed if
 * one is drawn from.
 */
export function populationEncode(values: MatrixLike, options: PopulationEncoderOptions): SpikePattern {
  const { code, fieldWidth, peakProbability, threshold, seed, ...framing } = resolve(populationTable, options);
  const width = fieldWidth ?? framing.neuronsPerChannel / 6;
  if (code === "probability" && seed === undefined)
    throw new ArgumentError("seed", seed, "a number or a text: the spikes are drawn from it");
  const { series, frameMs, group, durationMs, neuronCount } = framesOf(values, framing);
  const fires = code === "probability" ? spikeStream("populationEncoder", seed!, 0) : undefined;
  const when = code === "probability" ? spikeStream("populationEncoder", seed!, 1) : undefined;
  const times: number[] = [];
  const neurons: number[] = [];
  for (let i = 0; i < series.data.length; i++) {
    const row = Math.floor(i / series.cols);
    for (let j = 0; j < group; j++) {
      const neuron = (i % series.cols) * group + j;
      const distance = (j - series.data[i]! * (group - 1)) / width;
      const response = portableExp(-0.5 * distance * distance);
      if (fires ? fires.uniform(neuron, row) >= peakProbability * response : response < threshold) continue;
      const share = when ? when.uniform(neuron, row) : 1 - response;
      times.push(Math.min((row + share) * frameMs, durationMs));
      neurons.push(neuron);
    }
  }
  return SpikePattern.from({ times, neurons }, { durationMs, neuronCount, metadata: encoderMetadata("population", series) });
}

export const populationEncoder: Encoder = {
  name: "population",
  description: "Neurons side by side respond to values near their own.",
  options: populationTable,
  range: "unit",
  encode: populationEncode,
};

/**
 * The values that a population stands for, T x F: the mean centre j / (G - 1) of the spikes of each
 * channel and frame, all of equal weight, or by 1 - (time within the frame) / frameMs for the
 * latency code. NaN if a channel is silent. All that the encoder was given may be given again.
 * @throws ArgumentError if the neurons do not divide into groups of at least 2.
 */
export function populationDecode(
  pattern: SpikePattern,
  options: Pick<PopulationEncoderOptions, "frameMs" | "neuronsPerChannel" | "code">,
): Matrix<Float64Array> {
  const { frameMs, neuronsPerChannel: group, code } = resolve(populationTable, options);
  const { frames, channels } = decodedShape(pattern, frameMs, group);
  const weights = new Float64Array(frames * channels);
  const centres = new Float64Array(frames * channels);
  for (let i = 0; i < pattern.spikeCount; i++) {
    const frame = Math.min(Math.floor(pattern.times[i]! / frameMs), frames - 1);
    const neuron = pattern.neurons[i]!;
    const cell = frame * channels + Math.floor(neuron / group);
    const weight = code === "latency" ? 1 - (pattern.times[i]! - frame * frameMs) / frameMs : 1;
    weights[cell] = weights[cell]! + weight;
    centres[cell] = centres[cell]! + (weight * (neuron % group)) / (group - 1);
  }
  return new Matrix(
    frames,
    channels,
    centres.map((sum, i) => sum / weights[i]!),
  );
}
