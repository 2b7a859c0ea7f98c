// A Pipeline as a model file: a classifier's file of the kind "pipeline", with the parameters and
// ranges of the front as a note.
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
  let note: PipelineNote;
  try {
    note = JSON.parse(pipeline ?? "") as PipelineNote;
  } catch (error) {
    throw new ModelFileError(source, 'its metadata "pipeline" is no JSON', error);
  }
  const lists = note.range === undefined ? [] : [note.range.minimum, note.range.maximum];
  const isSound =
    typeof note.parameters === "object" &&
    note.parameters !== null &&
    lists.every((list) => Array.isArray(list) && list.every(Number.isFinite));
  if (!isSound) throw new ModelFileError(source, 'its metadata "pipeline" describes no pipeline; it takes parameters, and finite ranges');
  try {
    checkParameters(note.parameters);
  } catch (error) {
    throw new ModelFileError(source, `its metadata "pipeline" describes no pipeline: ${(error as Error).message}`, error);
  }
  return { ...note, classifier: await encodeModelFile("classifier", { tensors, metadata: rest }) };
}
