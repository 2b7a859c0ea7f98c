// A Forecaster as a model file and back: which tensors and notes it is made of.
import type { TrainedReadout } from "../readout/index.js";
import { restoreReadout } from "../readout/trainer.js";
import type { EngineModel, SessionState } from "../reservoir/index.js";
import { getReadout, getReservoir, getState, putReadout, putReservoir, putState } from "./content.js";
import { emptyContent, floats } from "./mutable-content.js";
import type { ForecasterSettings } from "./forecaster-options.js";
import { encodeModelFile, type ModelFile } from "./model-file.js";
import { stableJson } from "./stable-json.js";
import type { Standardisation } from "./standardisation.js";
import { TensorReader } from "./tensor-reader.js";

/** All that a trained Forecaster is. */
export interface ForecasterParts {
  readonly settings: ForecasterSettings;
  readonly model: EngineModel;
  readonly readout: TrainedReadout;
  readonly state: SessionState;
  readonly inputScale: Standardisation;
  readonly targetScale: Standardisation;
}

/**
 * Beside reservoir, readout and state: tensors `inputs.mean`, `inputs.deviation` (I),
 * `targets.mean`, `targets.deviation` (O), note
 * `forecaster`.
 */
export async function encodeForecaster(parts: ForecasterParts): Promise<Uint8Array> {
  const content = emptyContent();
  putReservoir(content, "", parts.model);
  putReadout(content, "", parts.readout);
  putState(content, parts.state);
  putStandardisation(content.tensors, "inputs", parts.inputScale);
  putStandardisation(content.tensors, "targets", parts.targetScale);
  content.metadata["forecaster"] = stableJson(parts.settings);
  return encodeModelFile("forecaster", content);
}

/** @throws ModelFileError with the reason why the content is not a Forecaster */
export async function decodeForecaster(file: ModelFile, source: string): Promise<ForecasterParts> {
  const { parseForecasterSettings } = await import("./schemas.js");
  const reader = new TensorReader(file, source);
  const settings = reader.check("forecaster", () => parseForecasterSettings(reader.json("forecaster")));
  const model = await getReservoir(reader, "");
  const linear = await getReadout(reader, "", model.size, model.inputSize);
  const readout = reader.check("forecaster", () => restoreReadout(settings.readout.type, linear));
  if (model.outputSize > 0 && model.outputSize !== readout.outputSize) {
    throw reader.error(`its readout has ${readout.outputSize} outputs and its reservoir feeds back ${model.outputSize}`);
  }
  const state = await getState(reader, model);
  const inputScale = getStandardisation(reader, "inputs", model.inputSize);
  const targetScale = getStandardisation(reader, "targets", readout.outputSize);
  reader.finish();
  return { settings, model, readout, state, inputScale, targetScale };
}

export function putStandardisation(tensors: Record<string, unknown>, name: string, scale: Standardisation): void {
  tensors[`${name}.mean`] = floats(scale.mean);
  tensors[`${name}.deviation`] = floats(scale.deviation);
}

/** @throws ModelFileError */
export function getStandardisation(reader: TensorReader, name: string, length: number): Standardisation {
  const mean = reader.vector(`${name}.mean`, length, "float64") as Float64Array;
  const deviation = reader.vector(`${name}.deviation`, length, "float64") as Float64Array;
  const bad = deviation.findIndex((value) => !(value > 0));
  if (bad >= 0) throw reader.error(`its tensor "${name}.deviation" holds ${deviation[bad]} at ${bad}; it takes numbers above 0`);
  return { mean, deviation };
}
