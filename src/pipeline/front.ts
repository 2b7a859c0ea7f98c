// The front of a pipeline: scaling fitted on the training cases, then an encoder. What comes out drives a reservoir.
import { ArgumentError } from "../core/errors.js";
import { asMatrix, type Matrix } from "../numerics/index.js";
import { isSpiking } from "../reservoir/index.js";
import { checkSequences } from "../reservoir/inputs.js";
import { binSpikes, cochleagram, encodeSpikes, scaleToUnit, SpikePattern } from "../spikes/index.js";
import { type PipelineCase, type PipelineParameters, type Scaler, scalerOf } from "./parameters.js";

/** Extremes of each channel over the training cases, where the scaler is "unit". */
export interface UnitRange {
  readonly minimum: readonly number[];
  readonly maximum: readonly number[];
}

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
    const minimum: number[] = [];
    const maximum: number[] = [];
    checkSequences(sequences, "sequences");
    for (const sequence of sequences.map((one, b) => this.#series(one, b))) {
      for (let i = 0; i < sequence.data.length; i++) {
        const c = i % sequence.cols;
        const value = sequence.data[i]!;
        minimum[c] = Math.min(minimum[c] ?? Infinity, value);
        maximum[c] = Math.max(maximum[c] ?? -Infinity, value);
      }
    }
    return new Front(this.#parameters, { minimum, maximum });
  }

  /** Cases as the reservoir sees them. @throws ArgumentError naming the case that an encoder refuses */
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
    const { encoder, reservoir } = this.#parameters;
    if (encoder?.type === "pattern") {
      if (!(one instanceof SpikePattern)) {
        throw ArgumentError.because(
          `sequences[${b}] is a series; the encoder "pattern" takes spike patterns: { type: "spikes" } makes them of series`,
          { field: "sequences" },
        );
      }
      const { type: _, binMs = (isSpiking(reservoir) ? reservoir.timeStep : undefined) ?? 1, ...options } = encoder;
      return binSpikes(one, { ...options, binMs });
    }
    const sequence = this.#series(one, b);
    const scaled = this.range ? scaleToUnit(sequence, this.range) : sequence;
    if (!encoder) return scaled;
    if (encoder.type === "cochleagram") {
      const { type: _, ...options } = encoder;
      return cochleagram(scaled, options);
    }
    const { type: _, binMs, seed, ...config } = encoder;
    const drawn = seed === undefined ? config : { ...config, seed: `${seed}/${b}` };
    return binSpikes(encodeSpikes(scaled, drawn as typeof config), { binMs });
  }

  #series(one: PipelineCase, b: number): Matrix {
    if (!(one instanceof SpikePattern)) return asMatrix(one, `sequences[${b}]`);
    throw ArgumentError.because(`sequences[${b}] is a spike pattern; patterns take the encoder { type: "pattern" }`, {
      field: "sequences",
    });
  }
}
