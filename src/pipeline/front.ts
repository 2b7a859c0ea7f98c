// The front of a pipeline: scaling fitted on the training cases, then an encoder. What comes out
// drives a reservoir.
import { ArgumentError } from "@spillway/core/errors.js";
import { asMatrix, type Matrix } from "@spillway/numerics";
import { checkSequences } from "../reservoir/inputs.js";
import { binWidth, type DriveOptions, EncodedCases, rangeOf, type UnitRange } from "../spikes/drive.js";
import { SpikePattern } from "../spikes/index.js";
import { type EncoderParameters, type PipelineCase, type PipelineParameters, type Scaler, scalerOf } from "./parameters.js";

export class Front {
  readonly scaler: Scaler;
  readonly range: UnitRange | undefined;
  readonly #parameters: PipelineParameters;

  constructor(parameters: PipelineParameters, range?: UnitRange) {
    this.#parameters = parameters;
    this.scaler = scalerOf(parameters);
    this.range = range;
  }

  /** Whether the classifier behind is to turn its inputs into z-scores. */
  get standardise(): boolean {
    return this.scaler === "standard";
  }

  /** The same front, with the range of these cases. */
  fit(sequences: readonly PipelineCase[]): Front {
    if (this.scaler !== "unit") return this;
    checkSequences(sequences, "sequences");
    return new Front(this.#parameters, rangeOf(sequences.map((one, b) => this.#series(one, b))));
  }

  /**
   * Cases for the reservoir, which an encoder makes rows of. @throws ArgumentError for a case that
   * it does not take
   */
  apply(sequences: readonly PipelineCase[]): EncodedCases {
    checkSequences(sequences, "sequences");
    const { encoder, reservoir = {} } = this.#parameters;
    const named = (error: ArgumentError, b: number) => error.at(`sequences[${b}]`);
    if (encoder?.type === "pattern") {
      const b = sequences.findIndex((one) => !(one instanceof SpikePattern));
      if (b >= 0)
        throw ArgumentError.because(
          `sequences[${b}] is a series; the encoder "pattern" takes spike patterns: { type: "spikes" } makes them of series`,
          { field: "sequences" },
        );
      const { type: _, binMs, ...options } = encoder;
      return new EncodedCases(sequences, { bins: { ...options, binMs: binWidth(reservoir, binMs) } }, named);
    }
    const series = sequences.map((one, b) => this.#series(one, b));
    return new EncodedCases(series, { range: this.range, ...driveOf(encoder) }, named);
  }

  #series(one: PipelineCase, b: number): Matrix {
    if (!(one instanceof SpikePattern)) return asMatrix(one, `sequences[${b}]`);
    throw ArgumentError.because(`sequences[${b}] is a spike pattern; patterns take the encoder { type: "pattern" }`, {
      field: "sequences",
    });
  }
}

/** An encoder's parameters as options of {@link drivingRows}. */
function driveOf(encoder: Exclude<EncoderParameters, { readonly type: "pattern" }> | undefined): DriveOptions {
  if (!encoder) return { bins: {} };
  if (encoder.type === "cochleagram") {
    const { type: _, ...options } = encoder;
    return { encoder: { encoder: "cochleagram", ...options }, bins: {} };
  }
  const { type: _, binMs, ...config } = encoder;
  return { encoder: config, bins: { binMs } };
}
