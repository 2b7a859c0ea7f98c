// A Classifier as a model file and back: which tensors and notes it is made of.
import type { TrainedReadout } from "../readout/index.js";
import { restoreReadout } from "../readout/trainer.js";
import type { EngineModel } from "../reservoir/index.js";
import type { ClassifierSettings, Label } from "./classifier-options.js";
import { getReadout, getReservoir, putReadout, putReservoir } from "./content.js";
import { emptyContent } from "./mutable-content.js";
import { getStandardisation, putStandardisation } from "./forecaster-file.js";
import { encodeModelFile, type ModelFile } from "./model-file.js";
import { stableJson } from "./stable-json.js";
import type { Standardisation } from "./standardisation.js";
import { TensorReader } from "./tensor-reader.js";

/** All that a trained Classifier is. */
export interface ClassifierParts {
  readonly settings: ClassifierSettings;
  readonly classes: readonly Label[];
  readonly scale: Standardisation;
  readonly members: readonly { readonly model: EngineModel; readonly readout: TrainedReadout }[];
}

/**
 * Reservoir and readout of member m under the prefix `member.m.`; tensors `inputs.mean` and
 * `inputs.deviation` (C), notes `classifier` and `classes`.
 */
export async function encodeClassifier(parts: ClassifierParts): Promise<Uint8Array> {
  const content = emptyContent();
  parts.members.forEach(({ model, readout }, m) => {
    putReservoir(content, `member.${m}.`, model);
    putReadout(content, `member.${m}.`, readout);
  });
  putStandardisation(content.tensors, "inputs", parts.scale);
  content.metadata["classifier"] = stableJson(parts.settings);
  content.metadata["classes"] = stableJson(parts.classes);
  return encodeModelFile("classifier", content);
}

/** @throws ModelFileError with the reason why the content is not a Classifier */
export async function decodeClassifier(file: ModelFile, source: string): Promise<ClassifierParts> {
  const { parseClassifierSettings, parseClasses } = await import("./schemas.js");
  const reader = new TensorReader(file, source);
  const settings = reader.check("classifier", () => parseClassifierSettings(reader.json("classifier")));
  const classes = reader.check("classes", () => parseClasses(reader.json("classes")));
  const count = typeof settings.members === "number" ? settings.members : settings.members.length;
  const members: { model: EngineModel; readout: TrainedReadout }[] = [];
  for (let m = 0; m < count; m++) {
    const model = await getReservoir(reader, `member.${m}.`);
    const readout = await getReadout(reader, `member.${m}.`, featureCountOf(settings, model), 0);
    if (readout.outputSize !== classes.length) {
      throw reader.error(`the readout of member ${m} has ${readout.outputSize} outputs and there are ${classes.length} classes`);
    }
    if (model.inputSize !== members[0]?.model.inputSize && m > 0) {
      throw reader.error(`member ${m} takes ${model.inputSize} channels and member 0 takes ${members[0]?.model.inputSize}`);
    }
    members.push({ model, readout: reader.check("classifier", () => restoreReadout(settings.readout.type, readout)) });
  }
  const scale = getStandardisation(reader, "inputs", members[0]!.model.inputSize);
  reader.finish();
  return { settings, classes, scale, members };
}

/** F of the representation, as `represent` makes it. */
function featureCountOf({ representation, input }: ClassifierSettings, { size, inputSize }: EngineModel): number {
  const seen = size + (input ? inputSize : 0);
  if (representation === "output") return inputSize * (seen + 1);
  return representation === "last+mean" ? 2 * seen : seen;
}
