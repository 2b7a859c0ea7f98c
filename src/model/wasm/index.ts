// Trained forecasters and classifiers as one WebAssembly module each, to run where a page or a
// program has nothing else of this package: the exported C, compiled here, whose arrays are data
// of the module, and a host of some sixty lines of JavaScript that calls it.
import { ArgumentError } from "@spillway/core/errors.js";
import { type InputOf, object, option, optional, resolve, text } from "@spillway/core/options.js";
import { writeFileAtomic } from "@spillway/io/atomic.js";
import { AnomalyDetector } from "../anomaly/detector.js";
import { classifierParts, exportedParts } from "../c/parts.js";
import { checkKind, type ExportedModel } from "../c/refuse.js";
import { Classifier } from "../classifier/classifier.js";
import { packageVersion } from "../version.js";
import { hostProgram, workletProgram } from "./host.js";
import { classifierModule, detectorFile, forecasterModule, type WasmModule } from "./module.js";
import { type ResolvedSound, soundTable } from "./sound.js";

/** A model as a WebAssembly module: what belongs into NAME.wasm and NAME.js. */
export interface WasmFiles {
  readonly module: Uint8Array;
  readonly host: string;
  /** With `sound`, what belongs into NAME.worklet.js: all of it, for an `AudioWorklet`. */
  readonly worklet?: string;
}

export const wasmTable = {
  /** The files' name; default "model". */
  name: option(text(), "model", "The files' name."),
  /**
   * The sound that a classifier or detector takes: the host then has `process(samples)`, and NAME.worklet.js is
   * written, one file for a browser's `AudioWorklet`. A forecaster is refused.
   */
  sound: optional(object(soundTable), "The sound that a classifier or detector takes, in an AudioWorklet too."),
};

/** How a module is written. */
export interface WasmExportOptions extends InputOf<typeof wasmTable> {}

/**
 * A trained model as a WebAssembly module with SIMD, which imports nothing, and its host. It is
 * the program of `toC`, compiled here, and has its bits: those of this package.
 *
 * The host exports `load(source)`: of a forecaster it gives `predict`, `observe`, `teach`,
 * `calendar`, `forecast`, `begin`, `reset` (of no combination) and `state`, of a classifier `classify`, of a detector
 * `update`, `feedback`, `begin` and `state`. With `sound` the last two also have `process(samples)`,
 * which takes a block of at most 128 samples and gives the word or alarm that it ended, if any.
 * NAME.worklet.js exports `listen(context, found)`, which gives an `AudioWorkletNode` to connect a
 * microphone to and calls `found` with each.
 * @throws NotFittedError; ArgumentError for a model of another kind, or what C does not hold
 * (`toC`)
 */
export async function toWasm(model: ExportedModel, options: WasmExportOptions = {}): Promise<WasmFiles> {
  checkKind(model);
  const { name, sound } = resolve(wasmTable, options);
  const { module, about } = await moduleOf(model, sound);
  return { module, host: hostProgram, ...(sound && { worklet: workletProgram(module, { ...about, name }) }) };
}

async function moduleOf(model: ExportedModel, sound: ResolvedSound | undefined): Promise<WasmModule> {
  if (model instanceof AnomalyDetector) return detectorFile(model.settings, model.state, sound);
  const version = packageVersion;
  if (model instanceof Classifier) return classifierModule(await classifierParts(model), { version, sound });
  if (sound) throw ArgumentError.because("a forecaster takes no sound: it is for classifiers and detectors", { field: "sound" });
  return forecasterModule(await exportedParts(model), { version, calendar: model.calendar });
}

/**
 * Writes `toWasm()` to NAME.wasm and NAME.js in a folder, with `sound` also NAME.worklet.js, each
 * whole or not at all (Node), and gives their paths. @throws FileError, and what toWasm throws
 */
export async function saveWasm(folder: string, model: ExportedModel, options: WasmExportOptions = {}): Promise<readonly string[]> {
  const { name } = resolve(wasmTable, options);
  const { module, host, worklet } = await toWasm(model, options);
  const files = [["wasm", module], ["js", host], ...(worklet === undefined ? [] : [["worklet.js", worklet] as const])] as const;
  const paths: string[] = [];
  for (const [ending, content] of files) {
    paths.push(`${folder}/${name}.${ending}`);
    await writeFileAtomic(paths.at(-1)!, content);
  }
  return paths;
}
