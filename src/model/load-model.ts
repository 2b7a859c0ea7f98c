// Opens a model file of any kind.
import { ArgumentError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import { readBytes } from "@spillway/io/files.js";
import { AnomalyDetector } from "./anomaly/detector.js";
import { Classifier } from "./classifier/classifier.js";
import { FieldForecaster } from "./field/field.js";
import { Forecaster } from "./forecaster/forecaster.js";
import { type ForecasterLoadOptions, forecasterLoadTable } from "./forecaster/options.js";
import { decodeModelFile, ModelFileError } from "./model-file.js";
import { NvarForecaster } from "./nvar/nvar.js";
import { decodeReservoir, type LoadedReservoir } from "./reservoir-file.js";

/** What a model file holds. */
export type LoadedModel =
  | { readonly kind: "forecaster"; readonly forecaster: Forecaster }
  | { readonly kind: "nvar"; readonly forecaster: NvarForecaster }
  | { readonly kind: "field"; readonly forecaster: FieldForecaster }
  | { readonly kind: "classifier"; readonly classifier: Classifier }
  | { readonly kind: "detector"; readonly detector: AnomalyDetector }
  | ({ readonly kind: "reservoir" } & LoadedReservoir);

/**
 * Reads a model file of any kind (Node). `model` is the model of yours of a hybrid forecaster.
 * @throws FileError with the reason if it cannot be used; ArgumentError if `model` does not go with
 * it
 */
export async function loadModel(path: string, options: Omit<ForecasterLoadOptions, "source"> = {}): Promise<LoadedModel> {
  const { model, ...rest } = resolve(forecasterLoadTable, options);
  return decodeModel(await readBytes(path), { ...rest, model, source: path });
}

/** The model that the bytes of a file hold. @throws what `loadModel` throws */
export async function decodeModel(bytes: Uint8Array, options: ForecasterLoadOptions & { readonly source: string }): Promise<LoadedModel> {
  const { model, ...open } = options;
  const path = options.source;
  const { kind } = await decodeModelFile(bytes, path);
  if (kind !== "forecaster" && model)
    throw ArgumentError.because(`model was given; the file holds a ${kind}, which has none`, { field: "model" });
  switch (kind) {
    case "forecaster":
      return { kind, forecaster: await Forecaster.fromBytes(bytes, { ...open, model }) };
    case "nvar":
      return { kind, forecaster: await NvarForecaster.fromBytes(bytes, open) };
    case "field":
      return { kind, forecaster: await FieldForecaster.fromBytes(bytes, open) };
    case "classifier":
      return { kind, classifier: await Classifier.fromBytes(bytes, open) };
    case "reservoir":
      return { kind, ...(await decodeReservoir(bytes, open)) };
    case "detector":
      return { kind, detector: await AnomalyDetector.fromBytes(bytes, open) };
    case "pipeline":
      throw new ModelFileError(path, "it holds a pipeline; Pipeline.load opens it");
  }
}
