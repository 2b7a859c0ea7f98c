// Phase coding: the neurons of a channel fire once in every cycle of a common oscillation, and the
// value is where in the cycle.
import { ArgumentError } from "@spillway/core/errors.js";
import { seed as anySeed, type InputOf, number, option, optional, resolve } from "@spillway/core/options.js";
import type { MatrixLike } from "@spillway/numerics";
import { notNegative, positive } from "../options.js";
import { SpikePattern } from "../pattern/pattern.js";
import { spikeStream } from "../streams.js";
import type { Encoder } from "./encoder.js";
import { checkSpikes, encoderMetadata, type FrameOptions, framesOf, frameTable } from "./series.js";

const twoPi = 6.283185307179586;

export const phaseTable = {
  ...frameTable,
  /** The frequency of the oscillation in Hz; default 40. */
  baseFrequencyHz: option(positive("Hz"), 40, "The frequency of the oscillation."),
  /**
   * The phase of value 1, in radians, up to 2 pi; default pi. At 2 pi the values 0 and 1 have the
   * same phase.
   */
  phaseRange: option(number({ atLeast: 0, atMost: twoPi, unit: "radians" }), twoPi / 2, "The phase of value 1."),
  /**
   * Each spike is moved by a uniform time of at most this many ms either way; default 1. Above 0 it
   * takes a seed.
   */
  jitterMs: option(notNegative("ms"), 1, "Each spike is moved by a uniform time of at most this; above 0 it takes a seed."),
  /** Draws the jitter. */
  seed: optional(anySeed, "Draws the jitter."),
};

/** Frames, oscillation and jitter of `phaseEncode`. */
export interface PhaseEncoderOptions extends FrameOptions, InputOf<typeof phaseTable> {}

/**
 * Spikes at t = (m + f phaseRange / 2 pi) period + U(-1, 1) jitterMs for every cycle m, with period
 * = 1000 / baseFrequency ms from the pattern's beginning and f in [0, 1] the value of the frame in
 * which the cycle begins. A spike that jitter or phase carry out of the pattern is left out.
 * Source: O'Keefe and Recce 1993, "Phase relationship between hippocampal place units and the EEG
 * theta rhythm"; here with a fixed frequency.
 * @throws ArgumentError on a value outside [0, 1] or an option that it does not take.
 */
export function phaseEncode(values: MatrixLike, options: PhaseEncoderOptions): SpikePattern {
  const { baseFrequencyHz, phaseRange, jitterMs, seed, ...framing } = resolve(phaseTable, options);
  if (jitterMs > 0 && seed === undefined) throw new ArgumentError("seed", seed, "a number or a text: jitter is drawn from it");
  const { series, frameMs, group, durationMs, neuronCount } = framesOf(values, framing);
  checkSpikes((durationMs / 1000) * baseFrequencyHz * neuronCount);
  const draws = jitterMs > 0 ? spikeStream("phaseEncoder", seed!) : undefined;
  const period = 1000 / baseFrequencyHz;
  const times: number[] = [];
  const neurons: number[] = [];
  for (let cycle = 0; cycle * period < durationMs; cycle++) {
    const row = Math.min(Math.floor((cycle * period) / frameMs), series.rows - 1);
    for (let neuron = 0; neuron < neuronCount; neuron++) {
      const value = series.data[row * series.cols + Math.floor(neuron / group)]!;
      const shift = draws ? jitterMs * (2 * draws.uniform(neuron, cycle) - 1) : 0;
      const timeMs = (cycle + (value * phaseRange) / twoPi) * period + shift;
      if (!(timeMs >= 0 && timeMs <= durationMs)) continue;
      times.push(timeMs);
      neurons.push(neuron);
    }
  }
  return SpikePattern.from({ times, neurons }, { durationMs, neuronCount, metadata: encoderMetadata("phase", series) });
}

export const phaseEncoder: Encoder = {
  name: "phase",
  description: "Where in the cycle of a common oscillation a neuron fires is the value.",
  options: phaseTable,
  range: "unit",
  encode: phaseEncode,
};
