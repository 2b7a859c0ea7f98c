// The encoders by name: for experiments, pipelines and whoever chooses one in a file.
import { ArgumentError } from "@spillway/core/errors.js";
import { callback, choice, resolve } from "@spillway/core/options.js";
import { Registry } from "@spillway/core/registry.js";
import { asMatrix, type Matrix, type MatrixLike } from "@spillway/numerics";
import { SpikePattern } from "../pattern/pattern.js";
import { type CochleaEncoderOptions, type CochleaOptions, cochleaEncoder, cochleagramEncoder } from "./cochlea.js";
import { type DeltaEncoderOptions, deltaEncoder } from "./delta.js";
import type { Encoder } from "./encoder.js";
import { type LatencyEncoderOptions, latencyEncoder } from "./latency.js";
import { type PhaseEncoderOptions, phaseEncoder } from "./phase.js";
import { type PopulationEncoderOptions, populationEncoder } from "./population.js";
import { type RateEncoderOptions, rateEncoder } from "./rate.js";

/**
 * The options of each encoder by its name. A package that registers its own adds to it:
 * `declare module "spillway/spikes" { interface EncoderTypes { own: OwnOptions } }`.
 */
export interface EncoderTypes {
  readonly rate: RateEncoderOptions;
  readonly latency: LatencyEncoderOptions;
  readonly population: PopulationEncoderOptions;
  readonly phase: PhaseEncoderOptions;
  readonly delta: DeltaEncoderOptions;
  readonly cochlea: CochleaEncoderOptions;
  readonly cochleagram: CochleaOptions;
}

/** An encoder and its options, as JSON. */
export type EncoderConfig = {
  [Name in keyof EncoderTypes]: { readonly encoder: Name } & EncoderTypes[Name];
}[keyof EncoderTypes];

/** Every encoder, by name. */
export const encoders: Registry<Encoder> = new Registry<Encoder>(
  {
    kind: "encoder",
    register: "registerEncoder",
    needs: { range: choice("unit", "any"), encode: callback("a function of a series and options") },
    reserved: ["type", "encoder", "binMs"],
  },
  [rateEncoder, latencyEncoder, populationEncoder, phaseEncoder, deltaEncoder, cochleaEncoder, cochleagramEncoder],
);

/**
 * Adds an encoder: experiments, pipelines and {@link encodeSpikes} find it by its name.
 * @throws ArgumentError for a name that another encoder has, or a field that is missing or
 * malformed
 */
export function registerEncoder(encoder: Encoder): void {
  encoders.register(encoder);
}

/**
 * A series, T x C (for "cochlea" and "cochleagram" a sound), through the encoder that `config`
 * names: spikes, or rows that drive a reservoir. @throws ArgumentError as that encoder does.
 */
export function encode(values: MatrixLike, config: EncoderConfig): SpikePattern | Matrix {
  if (typeof config !== "object" || config === null)
    throw new ArgumentError("the encoder's description", config, "{ encoder, ...its options }");
  const { encoder: name, ...options } = config;
  const encoder = encoders.get(name, "encoder");
  return encoder.encode(asMatrix(values, "series"), resolve(encoder.options, options));
}

/** {@link encode} with an encoder that gives spikes. @throws ArgumentError for one that does not */
export function encodeSpikes(values: MatrixLike, config: EncoderConfig): SpikePattern {
  const made = encode(values, config);
  if (made instanceof SpikePattern) return made;
  throw new ArgumentError("encoder", config.encoder, "an encoder that gives spikes");
}

export { type CochleaOptions, cochleaEncode, cochleagram, filterCentres } from "./cochlea.js";
export { deltaDecode, deltaEncode } from "./delta.js";
export type { Encoder } from "./encoder.js";
export { latencyDecode, latencyEncode } from "./latency.js";
export { phaseEncode } from "./phase.js";
export { populationDecode, populationEncode } from "./population.js";
export { rateDecode, rateEncode } from "./rate.js";
export { scaleToUnit, squashToUnit } from "./series.js";
