// A pipeline as parameters: plain JSON, checked. pipeline.ts and front.ts do what they say.
import { ArgumentError } from "@spillway/core/errors.js";
import type { MatrixLike } from "@spillway/numerics";
import { takesSpikes } from "../model/defaults.js";
import type { ClassifierReservoir, ClassifierSettings } from "../model/index.js";
import type { ReadoutDescription } from "../readout/index.js";
import type { EngineSelection } from "../reservoir/index.js";
import { type BinOptions, type CochleaOptions, type EncoderConfig, encoders, type SpikePattern } from "../spikes/index.js";

/** Where a pipeline runs. */
export interface PipelineRunOptions extends EngineSelection {}

/** One case: a series of T x C, or, before the encoder "pattern", a spike pattern. */
export type PipelineCase = MatrixLike | SpikePattern;

/**
 * What every channel goes through first, by the training cases: z-scores, a linear map onto [0, 1],
 * or nothing.
 */
export type Scaler = "standard" | "unit" | "none";

/**
 * What turns a case into what drives the reservoir:
 * - `{ type: "spikes", encoder: "rate" | "latency" | "population" | "phase" | "delta" | "cochlea",
 *   ..., binMs }`, or a registered encoder's name: spikes, counted in bins;
 * - `{ type: "cochleagram", sampleRate, ... }`: a sound's levels by frequency;
 * - `{ type: "pattern", binMs?, values?, channels? }`: cases that are spike patterns already, their
 *   amplitudes summed in bins; default width the time step of a liquid, or 1 ms.
 * A seeded encoder draws anew for every case: case i has the seed "SEED/i" of its index in the
 * list.
 */
export type EncoderParameters =
  | ({ readonly type: "spikes"; readonly binMs: number; readonly seed?: string | number | undefined } & EncoderConfig)
  | ({ readonly type: "cochleagram" } & CochleaOptions)
  | ({ readonly type: "pattern" } & Omit<BinOptions, "bins">);

/** A pipeline from raw cases to classes. Everything has a default. */
export interface PipelineParameters extends Partial<Omit<ClassifierSettings, "standardise" | "readout">> {
  /** How classes are learnt, by name and options. Default ridge. */
  readonly readout?: ReadoutDescription | undefined;
  /**
   * Default "standard" without an encoder ("unit" if the reservoir takes spikes), "unit" before
   * spikes (but "none" before delta and cochlea), "none" before a cochleagram and for patterns.
   */
  readonly scaler?: Scaler | undefined;
  /** Default none: the reservoir sees the scaled series themselves. */
  readonly encoder?: EncoderParameters | undefined;
  /** As a classifier takes it; `inputSize` follows from the cases if it is left out. */
  readonly reservoir?: ClassifierReservoir | undefined;
}

/** The scaler that is meant. */
export function scalerOf({ scaler, encoder, reservoir }: PipelineParameters): Scaler {
  if (scaler !== undefined) return scaler;
  if (!encoder) return reservoir && takesSpikes(reservoir) ? "unit" : "standard";
  return encoder.type === "spikes" && encoders.find(encoder.encoder)?.range === "unit" ? "unit" : "none";
}

/**
 * The parameters with one changed: `path` is "reservoir.leakRate", "readout.lambda",
 * "encoder.binMs", ... @throws ArgumentError for a path that is malformed or leads through a value
 * that is no object
 */
export function withParameter(parameters: PipelineParameters, path: string, value: unknown): PipelineParameters {
  if (typeof path !== "string" || path.split(".").includes(""))
    throw new ArgumentError("path", path, 'names with points between them, such as "reservoir.leakRate"');
  if (typeof parameters !== "object" || parameters === null)
    throw new ArgumentError("parameters", parameters, "the parameters of a pipeline");
  const [first = "", ...rest] = path.split(".");
  const here: Readonly<Record<string, unknown>> = { ...parameters };
  if (rest.length === 0) return { ...parameters, [first]: value };
  const inner = here[first] ?? {};
  if (typeof inner !== "object" || Array.isArray(inner))
    throw new ArgumentError(path, value, `a path through objects; ${first} is ${JSON.stringify(inner)}`);
  return { ...parameters, [first]: withParameter(inner as PipelineParameters, rest.join("."), value) };
}
