// What can be wrong with a pipeline's parameters, found before any case is seen. Cases are checked
// when it is trained.
import { ArgumentError } from "../core/errors.js";
import { nearest } from "../core/near-names.js";
import type { TableOf } from "../core/options.js";
import { classTrainer } from "../model/class-readout.js";
import { parseClassifierSettings, requireReservoir } from "../model/schemas.js";
import { resolveConfig } from "../reservoir/config-schema.js";
import { isSpiking } from "../reservoir/index.js";
import { engineTable, threadsTable } from "../reservoir/options.js";
import { encoders } from "../spikes/index.js";
import { resolveSpikingConfig } from "../spikes/liquid/schema.js";
import { type EncoderParameters, type PipelineParameters, scalerOf } from "./parameters.js";
import type { PipelineRunOptions } from "./pipeline.js";

/** Fields of a pipeline that a classifier has not. */
const ownFields: readonly string[] = ["scaler", "encoder", "reservoir"];

/** Where a pipeline runs. */
export const runTable = { ...engineTable, ...threadsTable } satisfies TableOf<PipelineRunOptions>;

/** @throws ArgumentError naming the option of the readout */
export function checkParameters(parameters: PipelineParameters): void {
  if (typeof parameters !== "object" || parameters === null)
    throw new ArgumentError("parameters", parameters, "an object that describes a pipeline, at least {reservoir: {size}}");
  requireReservoir(parameters);
  const { scaler: _, encoder, reservoir, ...settings } = parameters;
  if ("standardise" in settings) throw new ArgumentError("standardise", settings.standardise, 'scaler: "standard" or "none" in its place');
  for (const [name, value] of Object.entries(settings))
    if (nearest(name, ownFields)) throw ArgumentError.unknownField(name, value, ownFields);
  classTrainer(parseClassifierSettings(settings).readout);
  if ((reservoir.feedback ?? null) !== null)
    throw new ArgumentError(
      "reservoir.feedback",
      reservoir.feedback,
      "nothing in a pipeline, whose reservoirs have no outputs to feed back",
    );
  checkReservoir(reservoir);
  const scaler = scalerOf(parameters);
  if (isSpiking(reservoir) && reservoir.input?.mode !== "current" && scaler === "standard")
    throw new ArgumentError("scaler", scaler, '"unit" or "none" before a reservoir that takes spikes, which are counts');
  if (!encoder) return;
  checkEncoder(encoder);
  if (scaler === "standard") throw new ArgumentError("scaler", scaler, '"unit" or "none" before an encoder: z-scores have no bounds');
  if (encoder.type === "pattern" && scaler !== "none")
    throw new ArgumentError("scaler", scaler, '"none" before the encoder "pattern": spikes are not scaled');
}

/** A description with its path before what is wrong. */
function checkReservoir(reservoir: PipelineParameters["reservoir"]): void {
  try {
    if (isSpiking(reservoir)) resolveSpikingConfig(reservoir);
    else resolveConfig(reservoir);
  } catch (error) {
    throw error instanceof ArgumentError && error.field !== "reservoir" ? error.under("reservoir") : error;
  }
}

function checkEncoder(encoder: EncoderParameters): void {
  if (!["spikes", "cochleagram", "pattern"].includes(encoder?.type))
    throw new ArgumentError("encoder.type", encoder?.type, '"spikes", "cochleagram" or "pattern"');
  if (encoder.type === "spikes") encoders.get(encoder.encoder, "encoder.encoder");
  const positive = (name: string, value: unknown) => {
    if (!(typeof value === "number" && Number.isFinite(value) && value > 0))
      throw new ArgumentError(`encoder.${name}`, value, `a finite number above 0${name === "binMs" ? ", in ms" : ""}`);
  };
  if (encoder.type === "spikes" || (encoder.type === "pattern" && encoder.binMs !== undefined)) positive("binMs", encoder.binMs);
  if (encoder.type === "cochleagram") positive("sampleRate", encoder.sampleRate);
}
