// From a case to the rows that drive a reservoir: a spike pattern is counted in bins, a series or a
// sound is encoded first. Every road from spikes to a class begins here.
import { asMatrix, type Matrix, type MatrixLike } from "../numerics/index.js";
import { type AnyReservoirOptions, isSpiking } from "../reservoir/index.js";
import { type EncoderConfig, encode, scaleToUnit } from "./encoders/index.js";
import { type BinOptions, binSpikes } from "./pattern/binning.js";
import { SpikePattern } from "./pattern/pattern.js";

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
  /** How spikes are counted. */
  readonly bins: BinOptions;
}

/**
 * The rows of one case, T x I.
 * @param name tells the case from others: a seeded encoder draws from "SEED/NAME"
 * @throws ArgumentError as the encoder does
 */
export function drivingRows(one: MatrixLike | SpikePattern, { range, encoder, bins }: DriveOptions, name: string | number): Matrix {
  if (one instanceof SpikePattern) return binSpikes(one, bins);
  const given = asMatrix(one, `sequences[${name}]`);
  const series = range ? scaleToUnit(given, range) : given;
  if (!encoder) return series;
  const isSeeded = "seed" in encoder && encoder.seed !== undefined;
  const made = encode(series, isSeeded ? { ...encoder, seed: `${String(encoder.seed)}/${name}` } : encoder);
  return made instanceof SpikePattern ? binSpikes(made, bins) : made;
}

/** The width of a bin in ms: the given one, or the time step of a liquid, or 1. */
export function binWidth(reservoir: AnyReservoirOptions, said: number | undefined): number {
  return said ?? (isSpiking(reservoir) ? reservoir.timeStep : undefined) ?? 1;
}

/** The extremes of each channel over all rows of all series. */
export function rangeOf(sequences: readonly Matrix[]): UnitRange {
  const minimum: number[] = [];
  const maximum: number[] = [];
  for (const { data, cols } of sequences) {
    for (let i = 0; i < data.length; i++) {
      const c = i % cols;
      minimum[c] = Math.min(minimum[c] ?? Number.POSITIVE_INFINITY, data[i]!);
      maximum[c] = Math.max(maximum[c] ?? Number.NEGATIVE_INFINITY, data[i]!);
    }
  }
  return { minimum, maximum };
}
