// Trained models as ONNX files, to run without Spillway. Training, noise and portable bits stay
// behind.
import { ArgumentError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import { writeFileAtomic } from "@spillway/io/atomic.js";
import { classifierParts } from "../c/parts.js";
import { checkOneSeries, type ExportedModel } from "../c/refuse.js";
import { Classifier } from "../classifier/classifier.js";
import { decodeForecaster } from "../forecaster/file.js";
import { Forecaster } from "../forecaster/forecaster.js";
import { decodeModelFile } from "../model-file.js";
import { stableJson } from "../stable-json.js";
import { packageVersion } from "../version.js";
import { classifierGraph } from "./classifier.js";
import { encodeOnnx } from "./encode.js";
import { forecasterGraph } from "./forecaster.js";
import { type OnnxOptions, onnxTable } from "./options.js";

export type { ForecasterUse } from "./forecaster.js";
export type { OnnxOptions } from "./options.js";

/**
 * A trained model as the bytes of an ONNX file (opset 17; the time loop is a Scan). Arithmetic is
 * the runtime's binary32: predictions agree with Spillway's to about 1e-5 while the reservoir
 * forgets, not bit for bit, and a chaotic closed loop drifts apart. Probabilities of "statistics"
 * can differ by the share of a row: the runtime counts a state otherwise that is within 5e-7 of a
 * level.
 *
 * A classifier takes "sequence" (T x C, one case) and gives "label" and "probabilities" (K). A
 * forecaster takes "inputs" (T x I) and gives "outputs" (T x O), "endState", "endFedBack" and
 * "endLastInput", which a `stateful` graph takes as "state", "fedBack" and "lastInput".
 * @throws NotFittedError; ArgumentError for a model of another kind or an option of another type,
 * or for noise, for the representation "output", and for more neurons than a file holds
 */
export async function toOnnx(model: ExportedModel, options: OnnxOptions = {}): Promise<Uint8Array> {
  if (!(model instanceof Classifier || (model instanceof Forecaster && model.kind === "forecaster")))
    throw ArgumentError.because(
      "model is of another kind; ONNX takes a Forecaster or a Classifier, such as the `classifier` of a pipeline",
      { field: "model" },
    );
  const { use, stateful } = resolve(onnxTable, options);
  if (model instanceof Forecaster) checkOneSeries(model);
  if (model instanceof Classifier) {
    const parts = await classifierParts(model);
    const metadata = { settings: stableJson(parts.settings), classes: stableJson(parts.classes) };
    return encodeOnnx(classifierGraph(parts), packageVersion, metadata);
  }
  const parts = await decodeForecaster(await decodeModelFile(await model.toBytes(), "forecaster", "forecaster"), "forecaster");
  return encodeOnnx(forecasterGraph(parts, use, stateful), packageVersion, {
    settings: stableJson(parts.settings),
  });
}

/**
 * Writes `toOnnx()` to a file, whole or not at all (Node). @throws FileError, and what toOnnx
 * throws
 */
export async function saveOnnx(path: string, model: ExportedModel, options: OnnxOptions = {}): Promise<void> {
  await writeFileAtomic(path, await toOnnx(model, options));
}
