// Cases on their way to a reservoir: spike patterns are binned, series are encoded first. Both
// happen in the memory of the reservoir's device if it can, else on the host, with the same bits.
import { ArgumentError } from "@spillway/core/errors.js";
import type { Context, Stream } from "@spillway/gpu";
import { asMatrix, type Matrix, type MatrixLike } from "@spillway/numerics";
import type { AnyReservoirComputer, DeviceMatrix } from "../reservoir/index.js";
import { type DriveOptions, drivingRows } from "./drive.js";
import { scaleToUnit } from "./encoders/index.js";
import { isPattern, type SpikePattern } from "./pattern/pattern.js";

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
