// A model file of any kind, opened for serving.
import { readBytes } from "@spillway/io";
import { decodeModel } from "../model/load-model.js";
import { decodeModelFile } from "../model/model-file.js";
import { Pipeline } from "../pipeline/index.js";
import type { EngineSelection } from "../reservoir/index.js";
import type { ServableModel } from "./served-model.js";

/** Opens a model file of any kind. @throws FileError with the reason if it cannot be used */
export async function openModel(
  path: string,
  { engine, plan, threads }: Pick<EngineSelection, "engine" | "plan" | "threads">,
): Promise<ServableModel> {
  const bytes = await readBytes(path);
  const open = { engine, plan, threads, source: path };
  if ((await decodeModelFile(bytes, path)).kind === "pipeline") return Pipeline.fromBytes(bytes, open);
  const loaded = await decodeModel(bytes, open);
  if (loaded.kind === "detector") return loaded.detector;
  return loaded.kind === "classifier" ? loaded.classifier : loaded.kind === "reservoir" ? loaded : loaded.forecaster;
}
