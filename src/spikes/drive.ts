// From a case to the rows that drive a reservoir: a spike pattern is counted in bins, a series or a
// sound is encoded first. Every path from spikes to a class begins here.
import { checkHas } from "@spillway/core/checks.js";
import { asMatrix, type Matrix, type MatrixLike } from "@spillway/numerics";
import { isSpiking } from "../reservoir/index.js";
import { type EncoderConfig, encode, scaleToUnit } from "./encoders/index.js";
import { type BinOptions, binSpikes } from "./pattern/binning.js";
import { isPattern, type SpikePattern } from "./pattern/pattern.js";
import { caseSeed } from "./streams.js";

/** Extremes of each channel, which are mapped onto 0 and 1. */
export interface UnitRange {
  readonly minimum: readonly number[];
  readonly maximum: readonly number[];
}

/** What is done to a case. */
export interface DriveOptions {
  /** Maps a series onto 0 to 1 first. */
  readonly range?: UnitRange | undefined;
  /** What encodes a series; left out, a series drives the reservoir as it is. */
  readonly encoder?: EncoderConfig | undefined;
  /**
   * How spikes are counted; `values` defaults to "amplitudes", which are 1 if a pattern has none.
   */
  readonly bins: BinOptions;
}

/**
 * The rows of one case, T x I.
 * @param index the case's index in its list: a seeded encoder draws from "SEED/INDEX"
 * @throws ArgumentError as the encoder does
 */
export function drivingRows(one: SpikePattern, options: DriveOptions, index?: number): Matrix<Float32Array>;
export function drivingRows(one: MatrixLike | SpikePattern, options: DriveOptions, index?: number): Matrix;
export function drivingRows(one: MatrixLike | SpikePattern, options: DriveOptions, index = 0): Matrix {
  const { range, encoder, bins } = checkHas("options", options, "an object with bins", "bins");
  const binned = (pattern: SpikePattern) => binSpikes(pattern, { ...bins, values: bins.values ?? "amplitudes" });
  if (isPattern(one)) return binned(one);
  const given = asMatrix(one, `sequences[${index}]`);
  const series = range ? scaleToUnit(given, range) : given;
  if (!encoder) return series;
  const seed = "seed" in encoder ? encoder.seed : undefined;
  const made = encode(series, seed === undefined ? encoder : ({ ...encoder, seed: caseSeed(seed, index) } as EncoderConfig));
  return isPattern(made) ? binned(made) : made;
}

/** The width of a bin in ms: the given one, or the time step of a liquid, or 1. */
export function binWidth(reservoir: object, said: number | undefined): number {
  return said ?? (isSpiking(reservoir) ? reservoir.timeStep : undefined) ?? 1;
}

/** The extremes of each channel over all rows of all series. */
export function rangeOf(sequences: readonly Matrix[]): UnitRange {
  const minimum: number[] = [];
  const maximum: number[] = [];
  for (const [k, each] of checkHas("sequences", sequences, "a list of matrices", "entries").entries()) {
    const { data, cols } = checkHas(`sequences[${k}]`, each, "a Matrix", "data", "cols");
    for (let i = 0; i < data.length; i++) {
      const c = i % cols;
      minimum[c] = Math.min(minimum[c] ?? Number.POSITIVE_INFINITY, data[i]!);
      maximum[c] = Math.max(maximum[c] ?? Number.NEGATIVE_INFINITY, data[i]!);
    }
  }
  return { minimum, maximum };
}
