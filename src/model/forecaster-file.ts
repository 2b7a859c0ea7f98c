// A Forecaster as a model file and back: which tensors and notes it is made of.
import type { TrainedReadout } from "../readout/index.js";
import { restoreReadout } from "../readout/trainer.js";
import { Matrix } from "../numerics/index.js";
import type { EngineModel } from "../reservoir/index.js";
import { getReadout, getReservoir, getState, putReadout, putReservoir, putState } from "./content.js";
import { emptyContent, floats } from "./mutable-content.js";
import type { ForecasterSettings } from "./forecaster-options.js";
import type { MemberState } from "./forecaster-member.js";
import type { Road } from "./forecaster-road.js";
import { encodeModelFile, type ModelFile } from "./model-file.js";
import { stableJson } from "./stable-json.js";
import type { Standardisation } from "./standardisation.js";
import { TensorReader } from "./tensor-reader.js";

/** All that a trained Forecaster is. */
export interface ForecasterParts {
  readonly settings: ForecasterSettings;
  readonly model: EngineModel;
  readonly readout: TrainedReadout;
  readonly road: Road;
  /** Rows of the series that the readout sees beside the state. */
  readonly lags: number;
  readonly state: MemberState;
}

/**
 * Beside reservoir, readout and state: tensors `inputs.mean`, `inputs.deviation` (I),
 * `targets.mean`, `targets.deviation` (O), `held.lower` and `held.upper` (O) if outputs are held,
 * `recent` (rows x O) if it has to know the last rows of its series; notes `forecaster` and, if there
 * is anything to say, `road`.
 */
export async function encodeForecaster(parts: ForecasterParts): Promise<Uint8Array> {
  const content = emptyContent();
  putReservoir(content, "", parts.model);
  putReadout(content, "", parts.readout);
  putState(content, parts.state.reservoir);
  putStandardisation(content.tensors, "inputs", parts.road.inputScale);
  putStandardisation(content.tensors, "targets", parts.road.targetScale);
  const { held, known } = parts.road;
  if (held) {
    content.tensors["held.lower"] = floats(held.lower);
    content.tensors["held.upper"] = floats(held.upper);
  }
  const { recent } = parts.state;
  if (known > 0 || parts.lags > 0) {
    content.metadata["road"] = stableJson({ known, lags: parts.lags });
    content.tensors["recent"] = floats(recent.data, [recent.rows, recent.cols]);
  }
  content.metadata["forecaster"] = stableJson(parts.settings);
  return encodeModelFile("forecaster", content);
}

/** @throws ModelFileError with the reason why the content is not a Forecaster */
export async function decodeForecaster(file: ModelFile, source: string): Promise<ForecasterParts> {
  const { parseForecasterSettings, parseRoadNote } = await import("./schemas.js");
  const reader = new TensorReader(file, source);
  const note = reader.json("forecaster");
  // Files from before outputs were held say nothing of it.
  const settings = reader.check("forecaster", () => parseForecasterSettings({ hold: reader.has("held.lower"), ...(note as object) }));
  const model = await getReservoir(reader, "");
  const { known, lags } = reader.hasNote("road") ? reader.check("road", () => parseRoadNote(reader.json("road"))) : { known: 0, lags: 0 };
  const outputs = reader.lengthOf("readout.intercept");
  const linear = await getReadout(reader, "", model.size, model.inputSize + (lags > 0 ? (lags - 1) * outputs : 0));
  const readout = reader.check("forecaster", () => restoreReadout(settings.readout.type, linear));
  if (model.outputSize > 0 && model.outputSize !== readout.outputSize) {
    throw reader.error(`its readout has ${readout.outputSize} outputs and its reservoir feeds back ${model.outputSize}`);
  }
  const state = { reservoir: await getState(reader, model), recent: getRecent(reader, outputs, known > 0 || lags > 0) };
  const inputScale = getStandardisation(reader, "inputs", model.inputSize);
  const targetScale = getStandardisation(reader, "targets", readout.outputSize);
  const held = reader.has("held.lower")
    ? {
        lower: reader.vector("held.lower", outputs, "float64") as Float64Array,
        upper: reader.vector("held.upper", outputs, "float64") as Float64Array,
      }
    : undefined;
  reader.finish();
  return { settings, model, readout, road: { inputScale, targetScale, known, held }, lags, state };
}

/** The last rows of the series. @throws ModelFileError */
function getRecent(reader: TensorReader, cols: number, isThere: boolean): Matrix {
  if (!isThere) return Matrix.zeros(0, cols);
  const length = reader.lengthOf("recent");
  if (cols === 0 || length % cols !== 0) throw reader.error(`its tensor "recent" holds ${length} values; rows take ${cols}`);
  return reader.matrix("recent", length / cols, cols, "float64");
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
