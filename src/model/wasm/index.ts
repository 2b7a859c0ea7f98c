// Trained forecasters and classifiers as one WebAssembly module each, to run where a page or a
// program has nothing else of this package: the model's numbers are data of the module, and a
// host of some fifty lines of JavaScript calls it.
import { ArgumentError } from "../../core/errors.js";
import { option, resolve, type TableOf, text } from "../../core/options.js";
import { writeFileAtomic } from "../../io/atomic.js";
import { exportModule } from "../../numerics/wasm/index.js";
import { Classifier } from "../classifier/classifier.js";
import { decodeClassifier } from "../classifier/file.js";
import { decodeForecaster } from "../forecaster/file.js";
import { Forecaster } from "../forecaster/forecaster.js";
import { decodeModelFile } from "../model-file.js";
import { classifierMemory } from "./classifier.js";
import { forecasterMemory } from "./forecaster.js";
import { hostProgram } from "./host.js";
import { moduleWith } from "./module.js";

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
 * A trained model as a WebAssembly module with SIMD, which imports nothing, and its host. It has
 * the bits of this package (docs/numerics.md, rules 1 to 5, 8 to 10 and 18).
 *
 * The host exports `load(source)`: of a forecaster it gives `predict`, `observe`, `teach`,
 * `forecast`, `begin`, `reset` and `state`, of a classifier `classify`.
 * @throws NotFittedError; ArgumentError for a model of another kind, or what the module does not
 * hold: what C does not (`toC`), transforms, and the calendar
 */
export async function toWasm(model: Forecaster | Classifier): Promise<WasmFiles> {
  if (!(model instanceof Forecaster || model instanceof Classifier))
    throw ArgumentError.because("model is of another kind; WebAssembly takes a Forecaster or a Classifier", { field: "model" });
  const bytes = await model.toBytes();
  const { memory, about } =
    model instanceof Classifier
      ? classifierMemory(await decodeClassifier(await decodeModelFile(bytes, "classifier", "classifier"), "classifier"))
      : forecasterMemory(await decodeForecaster(await decodeModelFile(bytes, "forecaster", "forecaster"), "forecaster"), model.calendar);
  return { module: moduleWith(await exportModule(), memory, about), host: hostProgram };
}

/**
 * Writes `toWasm()` to NAME.wasm and NAME.js in a folder, each whole or not at all (Node), and
 * gives their paths. @throws FileError, and what toWasm throws
 */
export async function saveWasm(
  folder: string,
  model: Forecaster | Classifier,
  options: WasmExportOptions = {},
): Promise<readonly string[]> {
  const { name } = resolve(wasmTable, options);
  const { module, host } = await toWasm(model);
  const paths = [`${folder}/${name}.wasm`, `${folder}/${name}.js`] as const;
  await writeFileAtomic(paths[0], module);
  await writeFileAtomic(paths[1], host);
  return paths;
}
