// The front of a pipeline: scaling fitted on the training cases, then an encoder. What comes out
// drives a reservoir.
import { ArgumentError } from "@spillway/core/errors.js";
import { asMatrix, type Matrix } from "@spillway/numerics";
import { checkSequences } from "../reservoir/inputs.js";
import { binWidth, type DriveOptions, drivingRows, rangeOf, type UnitRange } from "../spikes/drive.js";
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
   * Cases as the reservoir sees them. @throws ArgumentError naming the case that an encoder refuses
   */
  apply(sequences: readonly PipelineCase[]): Matrix[] {
    checkSequences(sequences, "sequences");
    return sequences.map((sequence, b) => {
      try {
        return this.#one(sequence, b);
      } catch (error) {
        throw error instanceof ArgumentError ? error.at(`sequences[${b}]`) : error;
      }
    });
  }

  #one(one: PipelineCase, b: number): Matrix {
    const { encoder, reservoir = {} } = this.#parameters;
    if (encoder?.type === "pattern") {
      if (!(one instanceof SpikePattern)) {
        throw ArgumentError.because(
          `sequences[${b}] is a series; the encoder "pattern" takes spike patterns: { type: "spikes" } makes them of series`,
          { field: "sequences" },
        );
      }
      const { type: _, binMs, ...options } = encoder;
      return drivingRows(one, { bins: { ...options, binMs: binWidth(reservoir, binMs) } }, b);
    }
    return drivingRows(this.#series(one, b), { range: this.range, ...driveOf(encoder) }, b);
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
