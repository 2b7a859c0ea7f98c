// A Pipeline as a model file: a classifier's file of the kind "pipeline", with the parameters and
// ranges of the front as a note.
import { ArgumentError } from "@spillway/core/errors.js";
import { given, list, number, object, objectLater, optional } from "@spillway/core/options.js";
import { decodeModelFile, encodeModelFile, ModelFileError } from "../model/model-file.js";
import { stableJson } from "../model/stable-json.js";
import type { UnitRange } from "../spikes/drive.js";
import { checkParameters } from "./check.js";
import type { PipelineParameters } from "./parameters.js";

/** What of a pipeline the classifier's file does not hold. */
export interface PipelineNote {
  readonly parameters: PipelineParameters;
  readonly range: UnitRange | undefined;
}

export async function encodePipeline(classifier: Uint8Array, note: PipelineNote): Promise<Uint8Array> {
  const { tensors, metadata } = await decodeModelFile(classifier, "classifier", "classifier");
  return encodeModelFile("pipeline", { tensors, metadata: { ...metadata, pipeline: stableJson(note) } });
}

/** @throws ModelFileError with the reason why the content is not a Pipeline */
export async function decodePipeline(bytes: Uint8Array, source: string): Promise<PipelineNote & { readonly classifier: Uint8Array }> {
  const { tensors, metadata } = await decodeModelFile(bytes, source, "pipeline");
  const { pipeline, ...rest } = metadata;
  try {
    const { parameters, range } = pipelineNote.read(JSON.parse(pipeline ?? ""), "pipeline") as PipelineNote;
    if (range && range.minimum.length !== range.maximum.length)
      throw ArgumentError.shape(`range has ${range.minimum.length} minima and ${range.maximum.length} maxima; they take as many`);
    checkParameters(parameters);
    return { parameters, range, classifier: await encodeModelFile("classifier", { tensors, metadata: rest }) };
  } catch (error) {
    const why = error instanceof SyntaxError ? "it is no JSON" : (error as Error).message;
    throw new ModelFileError(source, `its metadata "pipeline" describes no pipeline: ${why}`, error);
  }
}

const limits = list(number(), "a list of finite numbers");
const pipelineNote = object({
  parameters: given(objectLater<PipelineParameters>("an object of a pipeline's parameters"), "The parameters."),
  range: optional(
    object({ minimum: given(limits, "Least values."), maximum: given(limits, "Largest values.") }),
    "What a case's channels are mapped from.",
  ),
});
