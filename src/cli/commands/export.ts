// `spillway export`: a saved model as C, as an ONNX graph, or as a WebAssembly module.
import "../../index.js";
import { join, normalize } from "node:path";
import { ArgumentError } from "@spillway/core/errors.js";
import { ensureFolder, readBytes } from "@spillway/io";
import { modelFileOf } from "../../experiment/runs/ahead.js";
import {
  type AnomalyDetector,
  type Classifier,
  type COptions,
  type Forecaster,
  loadModel,
  type OnnxOptions,
  type SoundOptions,
  saveC,
  saveOnnx,
  saveWasm,
} from "../../model/index.js";
import { decodeModelFile } from "../../model/model-file.js";
import { Pipeline } from "../../pipeline/index.js";

/** What a model can be written as. */
export const exportTargets = ["c", "onnx", "wasm"] as const;

/** What `spillway export` takes. */
export interface ExportFlags extends COptions, OnnxOptions {
  readonly to: (typeof exportTargets)[number];
  readonly out: string;
  readonly name: string;
}

/** Writes the files, and gives what is printed. */
export async function exportModel(path: string, { to, out, name, use, stateful }: ExportFlags): Promise<string> {
  const file = await modelFileOf(path);
  const { model, sound, close } = await opened(file);
  try {
    await ensureFolder(out);
    if (to === "c") return (await saveC(out, model, { name })).map(normalize).join("\n");
    if (to === "wasm") return (await saveWasm(out, model, { name, sound })).map(normalize).join("\n");
    const graph = join(out, `${name}.onnx`);
    await saveOnnx(graph, model, { use, stateful });
    return graph;
  } finally {
    await close();
  }
}

interface Opened {
  readonly model: Forecaster | Classifier | AnomalyDetector;
  /** The cochleagram that a pipeline classifies. */
  readonly sound?: SoundOptions | undefined;
  close(): Promise<void>;
}

function soundOf({ parameters: { encoder } }: Pipeline): SoundOptions | undefined {
  if (encoder?.type !== "cochleagram") return undefined;
  const { type: _, ...sound } = encoder;
  return sound;
}

/** The forecaster or classifier of a file, a pipeline's too. @throws FileError, ArgumentError */
async function opened(file: string): Promise<Opened> {
  const { kind } = await decodeModelFile(await readBytes(file), file);
  if (kind === "pipeline") {
    const pipeline = await Pipeline.load(file, { engine: "reference" });
    return { model: pipeline.classifier, sound: soundOf(pipeline), close: () => pipeline.dispose() };
  }
  const loaded = await loadModel(file, { engine: "reference" });
  if (loaded.kind === "forecaster") return { model: loaded.forecaster, close: () => loaded.forecaster.dispose() };
  if (loaded.kind === "classifier") return { model: loaded.classifier, close: () => loaded.classifier.dispose() };
  if (loaded.kind === "detector") return { model: loaded.detector, close: async () => {} };
  if (loaded.kind !== "reservoir") await loaded.forecaster.dispose();
  throw ArgumentError.because(`${file} holds a ${kind}; a forecaster, a classifier, a pipeline or a detector can be exported`, {
    field: "model",
  });
}
