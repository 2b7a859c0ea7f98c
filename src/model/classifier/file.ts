// A Classifier as a model file and back: which tensors and notes it is made of.
import { Matrix } from "@spillway/numerics";
import type { TrainedReadout } from "../../readout/index.js";
import { restoreReadout } from "../../readout/registered.js";
import type { AnyModel } from "../../reservoir/index.js";
import { getReadout, getReservoir, putReadout, putReservoir } from "../content.js";
import { getStandardisation, putStandardisation } from "../forecaster/file.js";
import { encodeModelFile, type ModelFile } from "../model-file.js";
import { emptyContent, floats } from "../mutable-content.js";
import { classesNote, factorsNote } from "../notes.js";
import { stableJson } from "../stable-json.js";
import type { Standardisation } from "../standardisation.js";
import { TensorReader } from "../tensor-reader.js";
import { type Levels, statisticsCount, viewsOf } from "../views.js";
import { type ClassifierSettings, classifierTable, type Label } from "./options.js";

/** All that a trained Classifier is. */
export interface ClassifierParts {
  readonly settings: ClassifierSettings;
  readonly classes: readonly Label[];
  readonly scale: Standardisation;
  /** Of the differences, if a second reservoir of each member sees them. */
  readonly differences?: Standardisation | undefined;
  readonly members: readonly MemberParts[];
}

/** A member: its reservoir, then that of the differences if there is one. */
interface MemberParts {
  readonly models: readonly AnyModel[];
  readonly readout: TrainedReadout;
  readonly levels?: Levels | undefined;
  /** What makes probabilities of the readout's outputs. */
  readonly factor?: number | undefined;
}

/**
 * Reservoir and readout of member m under the prefix `member.m.`, its reservoir of differences
 * under `member.m.differences.`; tensors `inputs.mean`, `inputs.deviation`, `differences.mean`,
 * `differences.deviation` (C), and levels of "statistics" by view, `member.m.levels.v` (Q x N), and
 * of inputs, `member.m.inputLevels.k` (Q x C); notes `classifier` and `classes`.
 */
export async function encodeClassifier(parts: ClassifierParts): Promise<Uint8Array> {
  const content = emptyContent();
  parts.members.forEach(({ models, readout, levels }, m) => {
    models.forEach((model, k) => {
      putReservoir(content, prefixOf(m, k), model);
    });
    putReadout(content, prefixOf(m), readout);
    for (const [name, matrices] of Object.entries(levelTensors(levels)))
      matrices.forEach(({ rows, cols, data }, v) => {
        if (rows > 0) content.tensors[`${prefixOf(m)}${name}.${v}`] = floats(data, [rows, cols]);
      });
  });
  if (parts.differences) putStandardisation(content.tensors, "differences", parts.differences);
  putStandardisation(content.tensors, "inputs", parts.scale);
  content.metadata["classifier"] = stableJson(parts.settings);
  content.metadata["classes"] = stableJson(parts.classes);
  const factors = parts.members.map(({ factor }) => factor ?? null);
  if (factors.some((factor) => factor !== null)) content.metadata["calibration"] = stableJson(factors);
  return encodeModelFile("classifier", content);
}

/** @throws ModelFileError with the reason why the content is not a Classifier */
export async function decodeClassifier(file: ModelFile, source: string): Promise<ClassifierParts> {
  const reader = new TensorReader(file, source);
  const settings = reader.settings("classifier", classifierTable);
  const classes = reader.note("classes", classesNote);
  const count = typeof settings.members === "number" ? settings.members : settings.members.length;
  const factors = reader.hasNote("calibration") ? reader.note("calibration", factorsNote(count)) : [];
  const members: MemberParts[] = [];
  const hasStatistics = settings.representation === "statistics";
  for (let m = 0; m < count; m++) {
    const model = await getReservoir(reader, prefixOf(m));
    const models = [model];
    if (hasStatistics && settings.differences) models.push(await getReservoir(reader, prefixOf(m, 1)));
    const readout = getReadout(reader, prefixOf(m), featureCountOf(settings, model), 0);
    if (readout.outputSize !== classes.length) {
      throw reader.error(`the readout of member ${m} has ${readout.outputSize} outputs and there are ${classes.length} classes`);
    }
    const channels = members[0]?.models[0]?.inputSize ?? model.inputSize;
    for (const { inputSize, size } of models) {
      if (inputSize !== channels) throw reader.error(`member ${m} takes ${inputSize} channels and member 0 takes ${channels}`);
      if (size !== model.size)
        throw reader.error(`the reservoirs of member ${m} have ${model.size} and ${size} neurons; they take the same number`);
    }
    const levels = hasStatistics ? getLevels(reader, prefixOf(m), settings, model) : undefined;
    members.push({
      models,
      readout: reader.check("classifier", () => restoreReadout(settings.readout.type, readout)),
      levels,
      factor: factors[m] ?? undefined,
    });
  }
  const { inputSize } = members[0]!.models[0]!;
  const scale = getStandardisation(reader, "inputs", inputSize);
  const differences = hasStatistics && settings.differences ? getStandardisation(reader, "differences", inputSize) : undefined;
  reader.finish();
  return { settings, classes, scale, differences, members };
}

function prefixOf(m: number, reservoir = 0): string {
  return reservoir === 0 ? `member.${m}.` : `member.${m}.differences.`;
}

function levelTensors(levels: Levels | undefined): Record<string, readonly Matrix<Float64Array>[]> {
  return levels ? { levels: levels.states, inputLevels: levels.inputs } : {};
}

function getLevels(reader: TensorReader, prefix: string, settings: ClassifierSettings, { size, inputSize }: AnyModel): Levels {
  const { thresholds, input } = settings;
  const views = viewsOf(settings);
  const read = (name: string, v: number, cols: number) =>
    thresholds === 0
      ? Matrix.zeros(0, cols)
      : (reader.matrix(`${prefix}${name}.${v}`, thresholds, cols, "float64") as Matrix<Float64Array>);
  const forward = views.filter(({ backward }) => !backward);
  return {
    states: views.map((_, v) => read("levels", v, size)),
    inputs: input ? forward.map((_, k) => read("inputLevels", k, inputSize)) : [],
  };
}

/** F of the representation, as `represent` makes it. */
function featureCountOf(settings: ClassifierSettings, { size, inputSize }: AnyModel): number {
  const { representation, input } = settings;
  if (representation === "statistics") return statisticsCount(settings, size, inputSize);
  const columns = size + (input ? inputSize : 0);
  if (representation === "output") return inputSize * (columns + 1);
  return representation === "last+mean" ? 2 * columns : columns;
}
