// Trained forecasters and classifiers as one WebAssembly module each, to run where a page or a
// program has nothing else of this package: the exported C, compiled here, whose arrays are data
// of the module, and a host of some sixty lines of JavaScript that calls it.
import { option, resolve, type TableOf, text } from "@spillway/core/options.js";
import { writeFileAtomic } from "@spillway/io/atomic.js";
import { AnomalyDetector } from "../anomaly/detector.js";
import { checkKind, type ExportedModel } from "../c/refuse.js";
import { Classifier } from "../classifier/classifier.js";
import { decodeClassifier } from "../classifier/file.js";
import { decodeForecaster } from "../forecaster/file.js";
import { decodeModelFile } from "../model-file.js";
import { packageVersion } from "../version.js";
import { hostProgram } from "./host.js";
import { classifierModule, detectorFile, forecasterModule } from "./module.js";

/** A model as a WebAssembly module: what belongs into NAME.wasm and NAME.js. */
export interface WasmFiles {
  readonly module: Uint8Array;
  readonly host: string;
}

/** How a module is written. */
export interface WasmExportOptions {
  /** The files' name; default "model". */
  readonly name?: string | undefined;
}

/** The options of `saveWasm`. */
export const wasmTable = {
  name: option(text(), "model", "The files' name."),
} satisfies TableOf<WasmExportOptions>;

/**
 * A trained model as a WebAssembly module with SIMD, which imports nothing, and its host. It is
 * the program of `toC`, compiled here, and has its bits: those of this package.
 *
 * The host exports `load(source)`: of a forecaster it gives `predict`, `observe`, `teach`,
 * `calendar`, `forecast`, `begin`, `reset` and `state`, of a classifier `classify`, of a detector
 * `update`, `feedback`, `begin` and `state`.
 * @throws NotFittedError; ArgumentError for a model of another kind, or what C does not hold
 * (`toC`)
 */
export async function toWasm(model: ExportedModel): Promise<WasmFiles> {
  checkKind(model);
  if (model instanceof AnomalyDetector) return { module: detectorFile(model.settings, model.state), host: hostProgram };
  const bytes = await model.toBytes();
  const note = { version: packageVersion };
  const module =
    model instanceof Classifier
      ? classifierModule(await decodeClassifier(await decodeModelFile(bytes, "classifier", "classifier"), "classifier"), note)
      : forecasterModule(await decodeForecaster(await decodeModelFile(bytes, "forecaster", "forecaster"), "forecaster"), {
          ...note,
          calendar: model.calendar,
        });
  return { module, host: hostProgram };
}

/**
 * Writes `toWasm()` to NAME.wasm and NAME.js in a folder, each whole or not at all (Node), and
 * gives their paths. @throws FileError, and what toWasm throws
 */
export async function saveWasm(folder: string, model: ExportedModel, options: WasmExportOptions = {}): Promise<readonly string[]> {
  const { name } = resolve(wasmTable, options);
  const { module, host } = await toWasm(model);
  const paths = [`${folder}/${name}.wasm`, `${folder}/${name}.js`] as const;
  await writeFileAtomic(paths[0], module);
  await writeFileAtomic(paths[1], host);
  return paths;
}
