// From spike times to T x N inputs of a reservoir, and back. Sums are of whole numbers: the order
// of the spikes does not change a bit.
import { checkWhole } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { choice, given, type InputOf, option, optional, resolve } from "@spillway/core/options.js";
import { Matrix } from "@spillway/numerics";
import { checkMemory } from "../errors.js";
import { count, positive } from "../options.js";
import { checkPattern, SpikePattern } from "./pattern.js";

export const binTable = {
  /** How many bins the duration is cut into: T. Give this or `binMs`. */
  bins: optional(count, "How many bins the duration is cut into; this or binMs."),
  /**
   * The width of a bin in ms; the last bin reaches past the end if the duration is no multiple
   * of it.
   */
  binMs: optional(positive("ms"), "Width of a bin; the last one may reach past the end."),
  /** What a spike adds to its bin: "counts" (default) adds 1, "amplitudes" its amplitude. */
  values: option(choice("counts", "amplitudes"), "counts", "What a spike adds to its bin: 1, or its amplitude."),
  /**
   * Sums neighbouring neurons into this many columns: neuron n goes to column floor(n channels /
   * N). Default one column a neuron.
   */
  channels: optional(count, "Columns that neighbouring neurons are summed into; left out, one a neuron."),
};

/** How the duration is cut into bins, and what a spike adds to its bin. */
export interface BinOptions extends InputOf<typeof binTable> {}

const stepTable = { stepMs: given(positive("ms"), "Length of a step.") };

/** Amplitudes are added in units of 2^-24, each rounded to the nearest. */
const amplitudeUnit = 16777216;

/**
 * Spikes counted in bins of time and neuron, T x N (or T x channels), in binary32: element (k, n)
 * is the number of spikes of neuron n, or the sum of their amplitudes, with k = min(floor(t /
 * width), T - 1) and width = durationMs / T, each rounded to binary64. Amplitudes are added as
 * whole numbers in units of 2^-24 and the sum is rounded once. If the duration is 0 every spike
 * falls into the first bin.
 * @throws ArgumentError unless exactly one of `bins` and `binMs` is given, and if the amplitudes
 * of one bin reach 2^29.
 */
export function binSpikes(pattern: SpikePattern, options: BinOptions): Matrix<Float32Array> {
  checkPattern(pattern);
  const { values, channels = pattern.neuronCount, ...given } = resolve(binTable, options);
  checkWhole("channels", channels, 1, pattern.neuronCount);
  const { bins, width } = binsOf(pattern, given);
  checkMemory(`a table of ${bins} bins x ${channels} neurons`, bins * channels * 12);
  const sums = new Float64Array(bins * channels);
  const amplitudes = values === "amplitudes" ? pattern.amplitudes : undefined;
  for (let i = 0; i < pattern.spikeCount; i++) {
    const column =
      channels === pattern.neuronCount ? pattern.neurons[i]! : Math.floor((pattern.neurons[i]! * channels) / pattern.neuronCount);
    const cell = binOf(pattern.times[i]!, width, bins) * channels + column;
    const sum = sums[cell]! + (amplitudes ? Math.floor(amplitudes[i]! * amplitudeUnit + 0.5) : 1);
    if (!(Math.abs(sum) < Number.MAX_SAFE_INTEGER)) {
      const bin = Math.floor(cell / channels);
      throw new ArgumentError(`the sum of amplitudes in bin ${bin}`, sum / amplitudeUnit, "sums below 2^29: scale the amplitudes down");
    }
    sums[cell] = sum;
  }
  return new Matrix(bins, channels, Float32Array.from(sums, amplitudes ? (sum) => sum / amplitudeUnit : undefined));
}

/**
 * The profile of a whole population over time, 1 x bins in binary64: each spike adds 1, and its
 * amplitude besides if it has one, to bin min(floor(t / width), bins - 1), for every neuron; then
 * all is divided by the total, and the profile sums to 1. Zeros if there are no spikes. One pattern
 * is one input of a reservoir with inputSize = bins.
 * @throws ArgumentError if `bins` is not a whole number of at least 1.
 */
export function timeProfile(pattern: SpikePattern, bins: number): Matrix<Float64Array> {
  checkPattern(pattern);
  checkWhole("bins", bins, 1);
  const { width } = binsOf(pattern, { bins });
  checkMemory(`a profile of ${bins} bins`, bins * 8);
  const sums = new Float64Array(bins);
  let total = 0;
  for (let i = 0; i < pattern.spikeCount; i++) {
    const units = amplitudeUnit + Math.floor((pattern.amplitudes?.[i] ?? 0) * amplitudeUnit + 0.5);
    const bin = binOf(pattern.times[i]!, width, bins);
    sums[bin] = sums[bin]! + units;
    total += units;
  }
  return new Matrix(1, bins, total === 0 ? sums : sums.map((sum) => sum / total));
}

/**
 * The raster of a pattern: T x N in binary32, 1 if neuron n fires within step k of `stepMs`
 * (once or more) and 0 elsewhere.
 * @throws ArgumentError if `stepMs` is not above 0.
 */
export function spikeRaster(pattern: SpikePattern, options: { readonly stepMs: number }): Matrix<Float32Array> {
  const counts = binSpikes(pattern, { binMs: resolve(stepTable, options).stepMs });
  return new Matrix(
    counts.rows,
    counts.cols,
    counts.data.map((count) => (count > 0 ? 1 : 0)),
  );
}

/**
 * The pattern of a raster, T x N: a spike at t = k stepMs wherever element (k, n) is not 0; lasting
 * T steps. Rasters of patterns whose spikes lie on the grid come back as those patterns.
 * @throws ArgumentError if `stepMs` is not above 0 or the raster has no columns.
 */
export function patternFromRaster(raster: Matrix, options: { readonly stepMs: number }): SpikePattern {
  const { stepMs } = resolve(stepTable, options);
  if (!(raster instanceof Matrix)) throw new ArgumentError("raster", raster, "a Matrix, T x N");
  const times: number[] = [];
  const neurons: number[] = [];
  for (let i = 0; i < raster.data.length; i++) {
    if (raster.data[i] === 0) continue;
    times.push(Math.floor(i / raster.cols) * stepMs);
    neurons.push(i % raster.cols);
  }
  return new SpikePattern({ times, neurons }, { durationMs: raster.rows * stepMs, neuronCount: raster.cols });
}

/**
 * How many bins, and how wide they are in ms, of options that were read. @throws ArgumentError
 * unless exactly one of `bins` and `binMs` is given.
 */
export function binsOf(
  { durationMs }: Pick<SpikePattern, "durationMs">,
  { bins, binMs: width }: Pick<BinOptions, "bins" | "binMs">,
): { bins: number; width: number } {
  if ((bins === undefined) === (width === undefined))
    throw new ArgumentError("the binning", [bins, width], "one of bins and binMs", { shown: `bins = ${bins}, binMs = ${width}` });
  if (bins !== undefined || width === undefined) return { bins: bins!, width: durationMs / bins! };
  // A duration that is a multiple of the width may divide to a hair above the whole number.
  return { bins: Math.max(1, Math.ceil(durationMs / width - 1e-9)), width };
}

function binOf(timeMs: number, width: number, bins: number): number {
  return width === 0 ? 0 : Math.min(Math.floor(timeMs / width), bins - 1);
}
