// Checks of a pipeline's parameters that need no case. Cases are checked in training.
import { ArgumentError } from "@spillway/core/errors.js";
import {
  choice,
  choiceOf,
  given,
  type Kind,
  type Option,
  type OptionTable,
  object,
  optional,
  resolve,
  type TableOf,
  withoutDefaults,
} from "@spillway/core/options.js";
import { classTrainer } from "../model/classifier/class-readout.js";
import { classifierReservoirOption, classifierTable } from "../model/classifier/options.js";
import { classifierReservoir, classifierSettings, takesSpikes } from "../model/defaults.js";
import { isComposite } from "../reservoir/composite/config.js";
import { resolveComposite } from "../reservoir/composite/schema.js";
import { resolveConfig } from "../reservoir/config-schema.js";
import { type AnyReservoirOptions, isSpiking } from "../reservoir/index.js";
import { selectionTable } from "../reservoir/options.js";
import { isRegistered, resolveRegistered } from "../reservoir/registered/model.js";
import { encoders } from "../spikes/index.js";
import { resolveSpikingConfig } from "../spikes/liquid/schema.js";
import { positive } from "../spikes/options.js";
import { binTable } from "../spikes/pattern/binning.js";
import { type EncoderParameters, type PipelineParameters, type PipelineRunOptions, scalerOf } from "./parameters.js";

/** Where a pipeline runs. */
export const runTable = { ...selectionTable } satisfies TableOf<PipelineRunOptions>;

const encoderTakes = 'an object whose type is "spikes", "cochleagram" or "pattern"';
const typeTable = { type: given(choice("spikes", "cochleagram", "pattern"), "What turns a case into rows.") };
const anyEncoder = object(typeTable, encoderTakes, "kept") as unknown as Kind<EncoderParameters>;
const { bins: _, ...patternTable } = binTable;

/** An encoder with the options of its type, and of its own if it gives spikes. */
const encoderKind: Kind<EncoderParameters> = {
  ...anyEncoder,
  read(value, field) {
    const described = anyEncoder.read(value, field);
    return object({ ...typeTable, ...encoderTable(described, field) }).read(value, field) as unknown as EncoderParameters;
  },
};

function encoderTable(encoder: EncoderParameters, field: string): OptionTable {
  if (encoder.type === "pattern") return patternTable;
  if (encoder.type === "cochleagram") return encoders.table("cochleagram");
  const name = encoder.encoder;
  return {
    encoder: given(choiceOf(encoders), "The encoder."),
    binMs: given(positive("ms"), "Width of a bin in which spikes are counted."),
    ...encoders.get(name, `${field}.encoder`).options,
  };
}

const { standardise: __, ...settingsTable } = withoutDefaults(classifierTable);

/** A pipeline's parameters; what it does not say of a reservoir is checked with it. */
export const pipelineTable = {
  scaler: optional(
    choice("standard", "unit", "none"),
    "What every channel goes through first; left out, it follows from encoder and reservoir.",
  ),
  encoder: optional(encoderKind, "What turns a case into what drives the reservoir; left out, nothing does."),
  reservoir: classifierReservoirOption,
  ...settingsTable,
} satisfies { [Field in keyof PipelineParameters]-?: Option<unknown, unknown> };

/** @throws ArgumentError naming the parameter, or the option of the readout */
export function checkParameters(parameters: PipelineParameters): void {
  if (typeof parameters !== "object" || parameters === null)
    throw new ArgumentError("parameters", parameters, "an object that describes a pipeline, which may be empty");
  const standardise = (parameters as { readonly standardise?: unknown }).standardise;
  if (standardise !== undefined) throw new ArgumentError("standardise", standardise, 'scaler: "standard" or "none" in its place');
  const { reservoir: described, encoder, readout, ...settings } = resolve(pipelineTable, parameters);
  const { representation } = classifierSettings(settings, described, readout);
  const reservoir = classifierReservoir(described, representation);
  classTrainer(readout ?? {}, representation === "statistics");
  if ((reservoir.feedback ?? null) !== null)
    throw new ArgumentError(
      "reservoir.feedback",
      reservoir.feedback,
      "nothing in a pipeline, whose reservoirs have no outputs to feed back",
    );
  checkReservoir(reservoir);
  const scaler = scalerOf(parameters);
  if (takesSpikes(reservoir) && scaler === "standard")
    throw new ArgumentError("scaler", scaler, '"unit" or "none" before a reservoir that takes spikes, which are counts');
  if (!encoder) return;
  if (scaler === "standard") throw new ArgumentError("scaler", scaler, '"unit" or "none" before an encoder: z-scores have no bounds');
  if (encoder.type === "pattern" && scaler !== "none")
    throw new ArgumentError("scaler", scaler, '"none" before the encoder "pattern": spikes are not scaled');
}

/** A description with its path before what is wrong. */
function checkReservoir(reservoir: AnyReservoirOptions): void {
  try {
    if (isSpiking(reservoir)) resolveSpikingConfig(reservoir);
    else if (isRegistered(reservoir)) resolveRegistered(reservoir);
    else if (isComposite(reservoir)) resolveComposite(reservoir);
    else resolveConfig(reservoir);
  } catch (error) {
    throw error instanceof ArgumentError && error.field !== "reservoir" ? error.under("reservoir") : error;
  }
}
