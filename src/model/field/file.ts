// A FieldForecaster as a model file and back: which tensors and notes it is made of.
import { resolve } from "../../core/options.js";
import type { TrainedReadout } from "../../readout/index.js";
import type { ReservoirModel, SessionState } from "../../reservoir/index.js";
import { getReadout, getReservoir, putReadout, putReservoir } from "../content.js";
import { getStandardisation, putStandardisation } from "../forecaster/file.js";
import { encodeModelFile, type ModelFile } from "../model-file.js";
import { emptyContent, floats } from "../mutable-content.js";
import { stableJson } from "../stable-json.js";
import { TensorReader } from "../tensor-reader.js";
import type { FieldFit } from "./field.js";
import { type FieldSettings, fieldTable, sitesOf } from "./options.js";

const prefixOf = (g: number): string => `group.${g}.`;

/**
 * Reservoir and readout of each group (of group 0 alone if they are shared) under the prefix
 * `group.g.`, tensors `field.mean`, `field.deviation`, `held.lower` and `held.upper` (Q), and
 * `state.values`, `state.input` (g x N, g x D), notes `field` and `state`.
 */
export async function encodeField(
  settings: FieldSettings,
  { scale, held, readouts }: FieldFit,
  models: readonly ReservoirModel[],
  states: readonly SessionState[],
): Promise<Uint8Array> {
  const content = emptyContent();
  models.forEach((model, g) => {
    putReservoir(content, prefixOf(g), model);
    putReadout(content, prefixOf(g), readouts[g]!);
  });
  putStandardisation(content.tensors, "field", scale);
  content.tensors["held.lower"] = floats(held.lower);
  content.tensors["held.upper"] = floats(held.upper);
  states.forEach(({ values, input }, g) => {
    content.tensors[`${prefixOf(g)}state.values`] = floats(values);
    content.tensors[`${prefixOf(g)}state.input`] = floats(input);
  });
  content.metadata["field"] = stableJson(settings);
  content.metadata["state"] = stableJson({ step: states[0]!.step });
  return encodeModelFile("field", content);
}

/** @throws ModelFileError with the reason why the content is no FieldForecaster */
export async function decodeField(file: ModelFile, source: string) {
  const { parseStateNote } = await import("../schemas.js");
  const reader = new TensorReader(file, source);
  const settings: FieldSettings = reader.check("field", () => resolve(fieldTable, reader.json("field") as object));
  const sites = reader.lengthOf("field.mean");
  const own = reader.check("field", () => sitesOf(settings, sites));
  const models: ReservoirModel[] = [];
  const readouts: TrainedReadout[] = [];
  for (let g = 0; g < (settings.shared ? 1 : settings.groups); g++) {
    const model = await getReservoir(reader, prefixOf(g));
    if (model.kind !== undefined || model.inputSize !== own + 2 * settings.halo || model.outputSize > 0)
      throw reader.error(`the reservoir of group ${g} does not go with its groups and halo`);
    const readout = await getReadout(reader, prefixOf(g), model.size, model.inputSize);
    if (readout.outputSize !== own) throw reader.error(`the readout of group ${g} has ${readout.outputSize} outputs; it takes ${own}`);
    models.push(model);
    readouts.push(readout);
  }
  const { step } = reader.check("state", () => parseStateNote(reader.json("state")));
  const states: SessionState[] = Array.from({ length: settings.groups }, (_, g) => {
    const { size, inputSize, precision } = models[settings.shared ? 0 : g]!;
    return {
      values: reader.vector(`${prefixOf(g)}state.values`, size, precision),
      input: reader.vector(`${prefixOf(g)}state.input`, inputSize, precision),
      output: new Float64Array(0),
      step,
    };
  });
  const range = (name: string) => reader.vector(name, sites, "float64") as Float64Array;
  const held = { lower: range("held.lower"), upper: range("held.upper") };
  const fit: FieldFit = { sites, scale: getStandardisation(reader, "field", sites), held, readouts };
  reader.finish();
  return { settings, fit, models, states };
}
