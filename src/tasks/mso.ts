// Multiple superimposed oscillators: a sum of sines whose common period is very long.

import { checked, flag, type InputOf, option, resolve } from "@spillway/core/options.js";
import { type Matrix, portableSin } from "@spillway/numerics";
import { checkLength, discardOption } from "./options.js";
import { finishedSeries, type SeriesTask, seriesTask } from "./task.js";

const frequenciesOption = option(
  checked<readonly number[]>(
    "one or more numbers above 0",
    (value) => Array.isArray(value) && value.length > 0 && value.every((item) => Number.isFinite(item) && item > 0),
  ),
  [0.2, 0.311],
  "angular frequencies, radians a sample",
);

const table = {
  /** Angular frequencies, radians a sample; default [0.2, 0.311]. */
  frequencies: frequenciesOption,
  /** Whether the series is moved and scaled to span -1 to 1; default true. */
  normalise: option(flag, true, "whether the series is moved and scaled to span -1 to 1"),
  /** Samples left out at the start; default 0. */
  discard: discardOption,
};

/** The sines that are superimposed. */
export interface MsoOptions extends InputOf<typeof table> {}

/**
 * The eight frequencies of the MSO-8 task (B. Roeschies, C. Igel 2010, Logic Journal of IGPL 18);
 * its first n are MSO-n.
 */
export const msoFrequencies: readonly number[] = [0.2, 0.311, 0.42, 0.51, 0.63, 0.74, 0.85, 0.97];

/**
 * Multiple superimposed oscillators (H. Jaeger et al. 2007, "Optimization and applications of echo
 * state networks with leaky-integrator neurons", Neural Networks 20):
 *
 *     y(t) = sum over k of sin(frequencies[k] t),  t = discard, discard + 1, ...
 *
 * With `normalise` the returned rows become (2 y - min - max) / (max - min), so they depend on
 * `length`. Defaults: frequencies [0.2, 0.311] (MSO-2; `msoFrequencies` holds MSO-8), normalise
 * true, discard 0.
 * @returns length x 1.
 * @throws ArgumentError on options it does not take.
 */
export function mso(length: number, options: MsoOptions = {}): Matrix<Float64Array> {
  const { frequencies, normalise, discard } = resolve(table, options, "mso");
  checkLength("mso", length);
  const out = new Float64Array(length);
  let low = Infinity;
  let high = -Infinity;
  for (let row = 0; row < length; row++) {
    let sum = 0;
    for (const frequency of frequencies) sum += portableSin(frequency * (discard + row));
    out[row] = sum;
    low = Math.min(low, sum);
    high = Math.max(high, sum);
  }
  if (normalise && high > low) for (let row = 0; row < length; row++) out[row] = (2 * out[row]! - low - high) / (high - low);
  return finishedSeries("mso", 1, out);
}

export const msoTask: SeriesTask = seriesTask("mso", "Multiple superimposed oscillators: a sum of incommensurate sines", table, mso);
