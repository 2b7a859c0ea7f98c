// The encoders by name, for whoever chooses one in a file: one line each. Each is a function in a
// file of its own.
import { ArgumentError } from "../../core/errors.js";
import type { MatrixLike } from "../../numerics/index.js";
import type { SpikePattern } from "../pattern/pattern.js";
import { type CochleaEncoderOptions, cochleaEncode } from "./cochlea.js";
import { type DeltaEncoderOptions, deltaEncode } from "./delta.js";
import { type LatencyEncoderOptions, latencyEncode } from "./latency.js";
import { type PhaseEncoderOptions, phaseEncode } from "./phase.js";
import { type PopulationEncoderOptions, populationEncode } from "./population.js";
import { type RateEncoderOptions, rateEncode } from "./rate.js";

/** An encoder and its options, as JSON. */
export type EncoderConfig =
  | ({ readonly encoder: "rate" } & RateEncoderOptions)
  | ({ readonly encoder: "latency" } & LatencyEncoderOptions)
  | ({ readonly encoder: "population" } & PopulationEncoderOptions)
  | ({ readonly encoder: "phase" } & PhaseEncoderOptions)
  | ({ readonly encoder: "delta" } & DeltaEncoderOptions)
  | ({ readonly encoder: "cochlea" } & CochleaEncoderOptions);

type Encode = (values: MatrixLike, options: never) => SpikePattern;

const encoders: Readonly<Record<EncoderConfig["encoder"], Encode>> = {
  rate: rateEncode,
  latency: latencyEncode,
  population: populationEncode,
  phase: phaseEncode,
  delta: deltaEncode,
  cochlea: cochleaEncode,
};

/** The names that {@link encodeSpikes} takes. */
export const encoderNames = Object.keys(encoders) as readonly EncoderConfig["encoder"][];

/**
 * A series, T x F (for "cochlea" a sound), through the encoder that `config` names. @throws
 * ArgumentError as that encoder does.
 */
export function encodeSpikes(values: MatrixLike, config: EncoderConfig): SpikePattern {
  if (typeof config !== "object" || config === null)
    throw new ArgumentError("the encoder's description", config, "{ encoder, ...its options }");
  const { encoder, ...options } = config;
  if (!Object.hasOwn(encoders, encoder)) throw new ArgumentError("encoder", encoder, encoderNames.map((name) => `"${name}"`).join(", "));
  return encoders[encoder](values, options as never);
}

export { type CochleaEncoderOptions, type CochleaOptions, cochleaEncode, cochleagram, filterCentres } from "./cochlea.js";
export { type DeltaEncoderOptions, deltaDecode, deltaEncode } from "./delta.js";
export { type LatencyCode, type LatencyDecoderOptions, type LatencyEncoderOptions, latencyDecode, latencyEncode } from "./latency.js";
export { type PhaseEncoderOptions, phaseEncode } from "./phase.js";
export { type PopulationEncoderOptions, populationDecode, populationEncode } from "./population.js";
export { type RateDecoderOptions, type RateEncoderOptions, rateDecode, rateEncode } from "./rate.js";
export { type FrameOptions, scaleToUnit, squashToUnit, type UnitScale } from "./series.js";
