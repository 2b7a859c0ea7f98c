// Event lists in HDF5, many patterns in one file, laid out as the Spiking Heidelberg Digits are (Cramer et al. 2020): spikes/times and
// spikes/units of one row a pattern, labels, extra/keys. h5wasm, an optional peer, reads the file; nothing of it is loaded before.
import { unzlibSync } from "fflate";
import type { Dataset, File as Hdf5File } from "h5wasm";
import { writeFileAtomic } from "../../io/atomic.js";
import { FileError } from "../../io/errors.js";
import { readBytes } from "../../io/files.js";
import { halfBits } from "../../core/half.js";
import { float16ToFloat32 } from "../../io/half.js";
import { checkFields } from "../../reservoir/validate.js";
import { checkOneOf, checkPositive, checkWhole, SpikeError } from "../errors.js";
import { hdf5Templates } from "./hdf5-templates.js";
import { checkPatterns, SpikePattern } from "./pattern.js";

type Hdf5 = typeof import("h5wasm");

/** What an event file does not say of itself. */
export interface SpikeHdf5Options {
  /** Neurons of each pattern; default 700, the channels of the Spiking Heidelberg Digits. */
  readonly neuronCount?: number | undefined;
  /** How long each pattern lasts, in ms; default up to its own last spike. */
  readonly durationMs?: number | undefined;
  /** The name that errors call the data by. */
  readonly source?: string | undefined;
}

const readFields: readonly (keyof SpikeHdf5Options)[] = ["neuronCount", "durationMs", "source"];

let opened = 0;

/**
 * An open file of event lists. Patterns are read one at a time; `dispose` (or `using`) frees the memory of the file.
 */
export class SpikeEventFile implements Disposable {
  /** How many patterns there are. */
  readonly count: number;
  /** The class of each pattern, where the file has labels. */
  readonly labels: Uint32Array | undefined;
  /** The names of the classes, where the file has them. */
  readonly classNames: readonly string[] | undefined;
  readonly neuronCount: number;
  readonly #hdf5: Awaited<Hdf5["ready"]>;
  readonly #file: Hdf5File;
  readonly #options: SpikeHdf5Options;
  readonly #speakers: Uint32Array | undefined;
  #open = true;

  /** @throws FileError where the file is no HDF5 file of event lists. */
  private constructor(hdf5: Awaited<Hdf5["ready"]>, file: Hdf5File, options: SpikeHdf5Options) {
    this.#hdf5 = hdf5;
    this.#file = file;
    this.#options = options;
    this.neuronCount = checkWhole("neuronCount", options.neuronCount ?? 700, 1);
    if (options.durationMs !== undefined) checkPositive("durationMs", options.durationMs, "ms");
    const times = this.#dataset("spikes/times");
    const units = this.#dataset("spikes/units");
    if (!times || !units) throw this.#error('it has no datasets "spikes/times" and "spikes/units"');
    const counts = [times, units].map(({ shape, metadata }) => (metadata.vlen_type && shape?.length === 1 ? shape[0]! : -1));
    if (counts[0] !== counts[1] || counts[0] === -1) {
      throw this.#error("spikes/times and spikes/units are not one row of variable length for each of the same number of patterns");
    }
    this.count = counts[0]!;
    this.labels = this.#numbers("labels");
    this.#speakers = this.#numbers("extra/speaker");
    const keys = this.#dataset("extra/keys")?.value;
    this.classNames = Array.isArray(keys) ? keys.map(String) : undefined;
  }

  /** @throws FileError where the file is no HDF5 file of event lists, or h5wasm is not installed. */
  static async decode(bytes: Uint8Array, options: SpikeHdf5Options = {}): Promise<SpikeEventFile> {
    checkFields(options, readFields);
    if (!(bytes instanceof Uint8Array)) throw new SpikeError("bytes", bytes, "a Uint8Array");
    const source = options.source ?? "HDF5 data";
    if (!signatureAt(bytes)) throw new FileError(source, "it is no HDF5 file", "content");
    const { library, module } = await loadHdf5();
    const name = `spikes-${opened++}.h5`;
    module.FS.writeFile(name, bytes);
    let file: Hdf5File | undefined;
    try {
      file = new library.File(name, "r");
      if (file.file_id < 0n) throw new FileError(source, "it is no HDF5 file", "content");
      return new SpikeEventFile(module, file, { ...options, source });
    } catch (error) {
      file?.close();
      module.FS.unlink(name);
      if (error instanceof FileError || error instanceof SpikeError) throw error;
      throw new FileError(source, `it is no HDF5 file: ${(error as Error).message}`, "content", error);
    }
  }

  /** Opens a file (Node). @throws FileError */
  static async open(path: string, options: Omit<SpikeHdf5Options, "source"> = {}): Promise<SpikeEventFile> {
    checkFields(options, ["neuronCount", "durationMs"] satisfies (keyof SpikeHdf5Options)[]);
    return SpikeEventFile.decode(await readBytes(path), { ...options, source: path });
  }

  /**
   * Pattern `i`, its times turned from seconds into ms. Its label is the name of its class, or the number where classes have no names.
   * @throws SpikeError where there is none, FileError where a unit or a time lies outside neuronCount and durationMs.
   */
  pattern(i: number): SpikePattern {
    if (!this.#open) throw new Error("the file of event lists is closed");
    checkWhole("the index of a pattern", i, 0, Math.max(0, this.count - 1));
    const times = Float64Array.from(this.#row("spikes/times", i), (seconds) => Number(seconds) * 1000);
    const neurons = this.#row("spikes/units", i);
    const label = this.labels?.[i];
    const speaker = this.#speakers?.[i];
    const metadata = {
      source: `${this.#options.source}, pattern ${i}`,
      ...(label === undefined ? {} : { label: this.classNames?.[label] ?? String(label) }),
      ...(speaker === undefined ? {} : { speaker }),
    };
    const durationMs = this.#options.durationMs ?? times.reduce((a, b) => Math.max(a, b), 0);
    try {
      return SpikePattern.from({ times, neurons: Array.from(neurons, Number) }, { durationMs, neuronCount: this.neuronCount, metadata });
    } catch (error) {
      throw this.#error(`pattern ${i}: ${(error as Error).message}`);
    }
  }

  /** All patterns, one at a time. */
  *[Symbol.iterator](): IterableIterator<SpikePattern> {
    for (let i = 0; i < this.count; i++) yield this.pattern(i);
  }

  /** Closes the file and frees its memory. Idempotent. */
  dispose(): void {
    if (!this.#open) return;
    this.#open = false;
    const name = this.#file.filename;
    this.#file.close();
    this.#hdf5.FS.unlink(name);
  }

  /** Lets `using` dispose of it. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  /** One row of variable length: h5wasm has no arrays of 16-bit floats, so the bytes are taken from its memory. */
  #row(path: string, i: number): ArrayLike<number | bigint> {
    const { vlen_type: type } = this.#dataset(path)!.metadata;
    const module = this.#hdf5;
    const pointer = module._malloc(8);
    try {
      module.get_dataset_data(this.#file.file_id, path, [1n], [BigInt(i)], [1n], BigInt(pointer));
      const [length, data] = new Uint32Array(module.HEAPU8.buffer, pointer, 2) as unknown as [number, number];
      const bytes = module.HEAPU8.slice(data, data + length * type!.size).buffer as ArrayBuffer;
      module.reclaim_vlen_memory_count(this.#file.file_id, path, "", BigInt(pointer), [1n]);
      return numbersOf(bytes, type!) ?? this.#fail(`${path} holds numbers of a type that is not read`);
    } finally {
      module._free(pointer);
    }
  }

  #numbers(path: string): Uint32Array | undefined {
    const dataset = this.#dataset(path);
    if (!dataset) return undefined;
    const value = dataset.value;
    if (!ArrayBuffer.isView(value) || dataset.shape?.[0] !== this.count) throw this.#error(`${path} is not one number a pattern`);
    return Uint32Array.from(value as unknown as ArrayLike<number | bigint>, Number);
  }

  #dataset(path: string): Dataset | undefined {
    const found = this.#file.get(path);
    return found && "metadata" in found ? (found as Dataset) : undefined;
  }

  #error(reason: string): FileError {
    return new FileError(this.#options.source ?? "HDF5 data", reason, "content");
  }

  #fail(reason: string): never {
    throw this.#error(reason);
  }
}

/** How times and classes are written. */
export interface SpikeHdf5WriteOptions {
  /** "float16", as in the Spiking Heidelberg Digits: at 1 s times are right to 0.5 ms. Default "float32": to 0.06 microseconds. */
  readonly times?: "float16" | "float32" | undefined;
  /** The names of the classes in the order of their numbers; default the labels of the patterns in the order in which they occur. */
  readonly classNames?: readonly string[] | undefined;
}

/**
 * Patterns as an HDF5 file of event lists: times in seconds, units, and, where the patterns have labels, labels and extra/keys. Amplitudes,
 * durations and neuron counts have no place in this layout.
 * @throws SpikeError where some patterns have labels and others do not, or a neuron is beyond 65535.
 */
export async function encodeSpikeHdf5(patterns: readonly SpikePattern[], options: SpikeHdf5WriteOptions = {}): Promise<Uint8Array> {
  checkPatterns(patterns);
  checkFields(options, ["times", "classNames"] satisfies (keyof SpikeHdf5WriteOptions)[]);
  const { times = "float32" } = options;
  if (options.classNames !== undefined && !Array.isArray(options.classNames))
    throw new SpikeError("classNames", options.classNames, "a list of texts");
  checkOneOf("times", times, ["float16", "float32"]);
  const classes = classesOf(patterns, options.classNames);
  const { library, module } = await loadHdf5();
  const name = `spikes-${opened++}.h5`;
  module.FS.writeFile(name, unzlibSync(Uint8Array.from(atob(hdf5Templates[times]), (character) => character.charCodeAt(0))));
  try {
    const file = new library.File(name, "a");
    for (const path of ["spikes/times", "spikes/units"]) (file.get(path) as Dataset).resize([patterns.length]);
    for (const [i, pattern] of patterns.entries()) {
      const seconds = pattern.times.map((timeMs) => timeMs / 1000);
      putRow(module, file, "spikes/times", i, times === "float16" ? Uint16Array.from(seconds, halfBits) : Float32Array.from(seconds));
      putRow(module, file, "spikes/units", i, Uint16Array.from(pattern.neurons));
    }
    if (classes) {
      file.create_dataset({ name: "labels", data: Uint16Array.from(classes.labels) });
      file.create_group("extra").create_dataset({ name: "keys", data: [...classes.names] });
    }
    file.close();
    return module.FS.readFile(name);
  } finally {
    module.FS.unlink(name);
  }
}

/** Writes {@link encodeSpikeHdf5} to a file, whole or not at all (Node). @throws FileError */
export async function writeSpikeHdf5(path: string, patterns: readonly SpikePattern[], options: SpikeHdf5WriteOptions = {}): Promise<void> {
  await writeFileAtomic(path, await encodeSpikeHdf5(patterns, options));
}

function classesOf(
  patterns: readonly SpikePattern[],
  classNames: readonly string[] | undefined,
): { names: readonly string[]; labels: number[] } | undefined {
  for (const [i, { neuronCount }] of patterns.entries()) {
    if (neuronCount > 65536) throw new SpikeError(`the neuronCount of pattern ${i}`, neuronCount, "at most 65536: units are 16 bits wide");
  }
  if (patterns.every(({ metadata }) => metadata.label === undefined)) return undefined;
  const names = classNames ?? [...new Set(patterns.map(({ metadata }) => metadata.label))].filter((label) => label !== undefined);
  const labels = patterns.map(({ metadata: { label } }, i) => {
    const index = label === undefined ? -1 : names.indexOf(label);
    if (index < 0)
      throw new SpikeError(`the label of pattern ${i}`, label, `one of the ${names.length} class names, as all patterns or none have one`);
    return index;
  });
  return { names, labels };
}

/** Writes one row of variable length: HDF5 takes its length and its address. */
function putRow(module: Awaited<Hdf5["ready"]>, file: Hdf5File, path: string, i: number, row: Float32Array | Uint16Array): void {
  const bytes = new Uint8Array(row.buffer, row.byteOffset, row.byteLength);
  const pair = module._malloc(8);
  const data = module._malloc(Math.max(1, bytes.length));
  try {
    module.HEAPU8.set(bytes, data);
    new Uint32Array(module.HEAPU8.buffer, pair, 2).set([row.length, data]);
    module.set_dataset_data(file.file_id, path, [1n], [BigInt(i)], [1n], BigInt(pair));
  } finally {
    module._free(data);
    module._free(pair);
  }
}

function numbersOf(
  bytes: ArrayBuffer,
  { type, size, signed }: { type: number; size: number; signed: boolean },
): ArrayLike<number | bigint> | undefined {
  const float = type === 1;
  if (float && size === 2) return float16ToFloat32(new Uint16Array(bytes));
  if (float) return size === 4 ? new Float32Array(bytes) : size === 8 ? new Float64Array(bytes) : undefined;
  if (type !== 0) return undefined;
  const types = signed ? [Int8Array, Int16Array, Int32Array, BigInt64Array] : [Uint8Array, Uint16Array, Uint32Array, BigUint64Array];
  const Numbers = types.find(({ BYTES_PER_ELEMENT }) => BYTES_PER_ELEMENT === size);
  return Numbers && new Numbers(bytes);
}

/**
 * Whether the bytes that every HDF5 file begins with stand at 0, 512, 1024, 2048, ...: the library prints a page of errors where they do
 * not.
 */
function signatureAt(bytes: Uint8Array): boolean {
  const signature = [0x89, 0x48, 0x44, 0x46, 0x0d, 0x0a, 0x1a, 0x0a];
  for (let at = 0; at + 8 <= bytes.length; at = at === 0 ? 512 : 2 * at)
    if (signature.every((byte, i) => bytes[at + i] === byte)) return true;
  return false;
}

async function loadHdf5(): Promise<{ library: Hdf5; module: Awaited<Hdf5["ready"]> }> {
  let library: Hdf5;
  try {
    library = await import("h5wasm");
  } catch (error) {
    throw new FileError(
      "HDF5",
      "event lists in HDF5 take the package h5wasm, which is not installed: npm install h5wasm",
      "unavailable",
      error,
    );
  }
  return { library, module: await library.ready };
}
