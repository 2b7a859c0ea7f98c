// Delta coding (send on delta, threshold crossing): a channel's two neurons fire when the signal
// has risen or fallen by a threshold.
import { ArgumentError } from "@spillway/core/errors.js";
import { checked, given, type InputOf, number, optional, resolve } from "@spillway/core/options.js";
import { asMatrix, isList, Matrix, type MatrixLike } from "@spillway/numerics";
import { positive } from "../options.js";
import { checkPattern, SpikePattern } from "../pattern/pattern.js";
import type { Encoder } from "./encoder.js";
import { checkFiniteValues, encoderMetadata } from "./series.js";

const startKind = checked<readonly number[]>("a list of levels, one a channel", isList, { type: "array", items: { type: "number" } });

const deltaTable = {
  /** The time from one row of the series to the next, in ms. */
  stepMs: given(positive("ms"), "The time from one row of the series to the next."),
  /** How far a signal moves between two spikes, in its own units. */
  threshold: given(number({ above: 0 }), "How far a signal moves between two spikes, in its own units."),
  /** The level that each channel starts from; default its first value. */
  start: optional(startKind, "The level that each channel starts from; left out, its first value."),
};

/** Time step and threshold of send-on-delta. */
export interface DeltaEncoderOptions extends InputOf<typeof deltaTable> {}

/**
 * Up spikes (neuron 2c) and down spikes (neuron 2c + 1) of channel c of a T x F series of any
 * finite numbers: a level starts at the first value and moves by +-threshold with each spike; a
 * spike falls where the straight line between two samples reaches the level plus or minus the
 * threshold. Row k is at k stepMs, and the pattern lasts (T - 1) stepMs. {@link deltaDecode} gets
 * the signal back within the threshold at every sample. Source: Lichtsteiner, Posch, Delbruck 2008
 * (event cameras); Petro, Kasabov, Kiss 2020, "Selection and optimization of temporal spike
 * encoding methods", "step forward".
 * @throws ArgumentError on a value that is not finite, or a threshold that is not above 0.
 */
export function deltaEncode(values: MatrixLike, options: DeltaEncoderOptions): SpikePattern {
  const { stepMs, threshold, start } = resolve(deltaTable, options);
  const series = asMatrix(values, "series");
  if (series.cols === 0) throw new ArgumentError("the number of channels", 0, "at least 1", { code: "shape" });
  if (start !== undefined) checkStart(start, series.cols);
  checkFiniteValues(series);
  const durationMs = Math.max(0, series.rows - 1) * stepMs;
  const times: number[] = [];
  const neurons: number[] = [];
  for (let c = 0; c < series.cols; c++) {
    const origin = start?.[c] ?? series.data[c] ?? 0;
    let level = 0;
    let before = series.data[c]!;
    for (let row = 0; row < series.rows; row++) {
      const value = series.data[row * series.cols + c]!;
      // Levels are counted, not summed: a decoder meets the very same numbers.
      for (const [step, neuron] of [
        [1, 2 * c],
        [-1, 2 * c + 1],
      ] as const) {
        for (let next = origin + (level + step) * threshold; step > 0 ? value >= next : value <= next; ) {
          const share = value === before ? 0 : Math.min(1, Math.max(0, (next - before) / (value - before)));
          times.push(row === 0 ? 0 : Math.min((row - 1 + share) * stepMs, durationMs));
          neurons.push(neuron);
          level += step;
          next = origin + (level + step) * threshold;
        }
      }
      before = value;
    }
  }
  return SpikePattern.from({ times, neurons }, { durationMs, neuronCount: 2 * series.cols, metadata: encoderMetadata("delta", series) });
}

export const deltaEncoder: Encoder = {
  name: "delta",
  description: "A neuron fires each time the signal has risen, another each time it has fallen, by a threshold.",
  options: deltaTable,
  range: "any",
  encode: deltaEncode,
};

/**
 * The signal that up and down spikes stand for, T x F with T = durationMs / stepMs + 1: start +
 * threshold (ups - downs up to row k's time k stepMs).
 * @throws ArgumentError if the number of neurons is odd or `start` does not have one number a
 * channel.
 */
export function deltaDecode(
  pattern: SpikePattern,
  options: DeltaEncoderOptions & { readonly start: readonly number[] },
): Matrix<Float64Array> {
  const { stepMs, threshold, start } = resolve(
    { ...deltaTable, start: given(startKind, "The level that each channel starts from.") },
    options,
  );
  checkPattern(pattern);
  if (pattern.neuronCount % 2 !== 0) throw new ArgumentError("neuronCount", pattern.neuronCount, "an even number: two neurons a channel");
  const channels = pattern.neuronCount / 2;
  checkStart(start, channels);
  const rows = Math.round(pattern.durationMs / stepMs) + 1;
  const out = Matrix.zeros(rows, channels);
  const levels = new Int32Array(channels);
  let i = 0;
  for (let row = 0; row < rows; row++) {
    for (; i < pattern.spikeCount && pattern.times[i]! <= row * stepMs; i++) {
      const neuron = pattern.neurons[i]!;
      levels[neuron >>> 1] = levels[neuron >>> 1]! + ((neuron & 1) === 0 ? 1 : -1);
    }
    for (let c = 0; c < channels; c++) out.data[row * channels + c] = start[c]! + levels[c]! * threshold;
  }
  return out;
}

function checkStart(start: ArrayLike<number>, channels: number): void {
  if (start.length !== channels)
    throw new ArgumentError("the number of start levels", start.length, `${channels}, one a channel`, { code: "shape" });
  for (let c = 0; c < channels; c++)
    if (!Number.isFinite(start[c])) throw new ArgumentError(`the start level of channel ${c}`, start[c], "a finite number");
}
