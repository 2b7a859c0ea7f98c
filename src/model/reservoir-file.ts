// A bare reservoir, with or without a readout, as a model file and back.
import { checkHas } from "@spillway/core/checks.js";
import { resolve } from "@spillway/core/options.js";
import { writeFileAtomic } from "@spillway/io/atomic.js";
import { readBytes } from "@spillway/io/files.js";
import type { TrainedReadout } from "../readout/index.js";
import { type AnyReservoirComputer, type LinearReadout, ReservoirComputer } from "../reservoir/index.js";
import { checkReadout } from "../reservoir/inputs.js";
import { getReadout, getReservoir, getState, putReadout, putReservoir, putState } from "./content.js";
import { decodeModelFile, encodeModelFile, type LoadOptions, loadTable, type ModelFile } from "./model-file.js";
import { emptyContent } from "./mutable-content.js";
import { TensorReader } from "./tensor-reader.js";

/** A reservoir from a file, at the state it was saved in, and its readout if there is one. */
export interface LoadedReservoir {
  readonly computer: AnyReservoirComputer;
  readonly readout: TrainedReadout | undefined;
}

/**
 * A reservoir and, if given, a readout of it, as the bytes of one safetensors file. It includes the
 * state: a run goes on exactly where it stood.
 * @throws ArgumentError for a readout of another reservoir
 */
export async function encodeReservoir(computer: AnyReservoirComputer, readout?: LinearReadout): Promise<Uint8Array> {
  checkHas("computer", computer, "a ReservoirComputer", "model");
  const content = emptyContent();
  putReservoir(content, "", computer.model);
  putState(content, "", computer.state);
  if (readout) {
    checkReadout(computer.model, readout);
    putReadout(content, "", readout);
  }
  return encodeModelFile("reservoir", content);
}

/**
 * Writes `encodeReservoir` to a file, whole or not at all (Node). @throws FileError, ArgumentError
 */
export async function saveReservoir(path: string, computer: AnyReservoirComputer, readout?: LinearReadout): Promise<void> {
  await writeFileAtomic(path, await encodeReservoir(computer, readout));
}

/** Opens what `encodeReservoir` gave. @throws FileError with the reason if it cannot be used */
export async function decodeReservoir(bytes: Uint8Array, options: LoadOptions = {}): Promise<LoadedReservoir> {
  const { source, ...selection } = resolve(loadTable, options);
  return openReservoir(await decodeModelFile(bytes, source, "reservoir"), source, selection);
}

/**
 * Opens a file that `saveReservoir` wrote (Node). @throws FileError with the reason if it cannot
 * be used
 */
export async function loadReservoir(path: string, options: Omit<LoadOptions, "source"> = {}): Promise<LoadedReservoir> {
  resolve(loadTable, options);
  return decodeReservoir(await readBytes(path), { ...options, source: path });
}

async function openReservoir(file: ModelFile, source: string, options: Omit<LoadOptions, "source">): Promise<LoadedReservoir> {
  const reader = new TensorReader(file, source);
  const model = await getReservoir(reader, "");
  const readout = file.metadata["readout"] === undefined ? undefined : getReadout(reader, "", model.size, model.inputSize);
  const state = getState(reader, "", model);
  reader.finish();
  const computer = await ReservoirComputer.fromModel(model, options);
  computer.state = state;
  return { computer, readout };
}
