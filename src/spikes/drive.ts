// From cases to the rows that drive a reservoir: a spike pattern is counted in bins, a series or a
// sound is encoded first. Every path from spikes to a class begins here. Both happen in the memory
// of the reservoir's device if it can, else on the host, with the same bits.
import { checkHas } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import type { Context, Stream } from "@spillway/gpu";
import { asMatrix, type Matrix, type MatrixLike } from "@spillway/numerics";
import { type AnyReservoirComputer, type DeviceMatrix, isSpiking } from "../reservoir/index.js";
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

/** The rows of all cases, where the reservoir takes them. */
export interface CaseRows extends Disposable {
  readonly sequences: readonly (Matrix | DeviceMatrix)[];
}

/** Gives an error of case b the name of the case. */
type NameCase = (error: ArgumentError, b: number) => unknown;

/** Cases and how they become rows. */
export class EncodedCases {
  readonly cases: readonly (MatrixLike | SpikePattern)[];
  readonly #options: DriveOptions;
  readonly #named: NameCase;
  readonly #rows: (Matrix | undefined)[] = [];

  constructor(cases: readonly (MatrixLike | SpikePattern)[], options: DriveOptions, named: NameCase = (error) => error) {
    this.cases = cases;
    this.#options = options;
    this.#named = named;
  }

  get count(): number {
    return this.cases.length;
  }

  /** Columns of the rows; of the first case. */
  get columns(): number {
    return this.row(0).cols;
  }

  /** The rows of one case on the host. @throws ArgumentError of its encoder */
  row(b: number): Matrix {
    try {
      this.#rows[b] ??= drivingRows(this.cases[b]!, this.#options, b);
      return this.#rows[b];
    } catch (error) {
      throw error instanceof ArgumentError ? this.#named(error, b) : error;
    }
  }

  /** The rows of all cases on the host. */
  matrices(): Matrix[] {
    return this.cases.map((_, b) => this.row(b));
  }

  /** The rows of all cases for a reservoir. @throws ArgumentError of their encoder */
  async rows({ model, context, deviceStream }: AnyReservoirComputer): Promise<CaseRows> {
    const there =
      context && deviceStream && model.precision === "float32" && this.count > 0 ? await this.#there(context, deviceStream) : undefined;
    return there ?? { sequences: this.matrices(), [Symbol.dispose]: () => undefined };
  }

  /** Undefined for what the device does not encode, or refuses: the host says what is wrong. */
  async #there(context: Context, stream: Stream): Promise<CaseRows | undefined> {
    const { range, encoder, bins } = this.#options;
    const { binPatternsOnDevice, encodeOnDevice, isDeviceEncoder } = await import("./gpu/index.js");
    const binning = { ...bins, values: bins.values ?? "amplitudes", stream } as const;
    try {
      const { cases } = this;
      if (cases.every(isPattern)) return await binPatternsOnDevice(context, cases, binning);
      if (!encoder || !isDeviceEncoder(encoder) || cases.some(isPattern)) return undefined;
      const series = (cases as readonly MatrixLike[]).map((one, b) => asMatrix(one, `sequences[${b}]`));
      using spikes = await encodeOnDevice(context, range ? series.map((one) => scaleToUnit(one, range)) : series, encoder, { stream });
      return await binPatternsOnDevice(context, spikes, binning);
    } catch (error) {
      // Groups of cases that go there one after the other need less memory than all.
      if (error instanceof ArgumentError || (error as Error).name === "OutOfMemoryError") return undefined;
      throw error;
    }
  }
}
