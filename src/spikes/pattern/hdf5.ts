// Event lists in HDF5, many patterns in one file, laid out as the Spiking Heidelberg Digits are
// (Cramer et al. 2020): spikes/times and spikes/units of one row a pattern, labels, extra/keys; and
// extra/amplitudes, one a spike. h5wasm, an optional peer, reads the file in a thread of its own
// (hdf5-thread.ts).

import { checkWhole } from "@spillway/core/checks.js";
import { DisposedByUsing } from "@spillway/core/disposal.js";
import { ArgumentError, SpillwayError } from "@spillway/core/errors.js";
import { halfBits } from "@spillway/core/half.js";
import { choice, type InputOf, list, option, optional, type Resolved, resolve, text } from "@spillway/core/options.js";
import { writeFileAtomic } from "@spillway/io/atomic.js";
import { FileError } from "@spillway/io/errors.js";
import { readBytes } from "@spillway/io/files.js";
import { float16ToFloat32 } from "@spillway/io/half.js";
import { fromBytes, type NumberArray, type NumberArrayConstructor } from "@spillway/io/typed-bytes.js";
import { unzlibSync } from "fflate";
import { neurons, positive } from "../options.js";
import { hdf5Templates } from "./hdf5-templates.js";
import { type EventData, type EventRows, readEvents, writeEvents } from "./hdf5-thread.js";
import { checkPatterns, SpikePattern } from "./pattern.js";

/** The options of `SpikeEventFile.open`. */
export const eventFileTable = {
  /** Neurons of each pattern; default 700, the channels of the Spiking Heidelberg Digits. */
  neuronCount: option(neurons, 700, "Neurons of each pattern."),
  /** How long each pattern lasts, in ms; default up to its own last spike. */
  durationMs: optional(positive("ms"), "How long each pattern lasts; left out, up to its own last spike."),
  /**
   * When reading is broken off, in ms; default 5 s and 1 s for every 10 MB of the file. A damaged
   * file may otherwise never be read.
   */
  timeLimitMs: optional(positive("ms"), "When reading is broken off; left out, 5 s and 1 s for every 10 MB."),
};

const decodeTable = {
  ...eventFileTable,
  /** The name that errors call the data by. */
  source: option(text(), "HDF5 data", "The name that errors call the data by."),
};

/** What an event file does not say of itself. */
export interface SpikeHdf5Options extends InputOf<typeof decodeTable> {}

/**
 * A file of event lists that was read. Patterns are made one at a time; `dispose` (or `using`) lets
 * go of the memory.
 */
export class SpikeEventFile extends DisposedByUsing {
  /** How many patterns there are. */
  readonly count: number;
  /** The class of each pattern, if the file has labels. */
  readonly labels: Uint32Array | undefined;
  /** The names of the classes, if the file has them. */
  readonly classNames: readonly string[] | undefined;
  readonly neuronCount: number;
  readonly #options: Resolved<typeof decodeTable>;
  #data: EventData | undefined;

  private constructor(data: EventData, options: Resolved<typeof decodeTable>) {
    super();
    this.#data = data;
    this.#options = options;
    this.neuronCount = options.neuronCount;
    this.count = data.count;
    this.labels = data.labels && Uint32Array.from(data.labels);
    this.classNames = data.classNames;
    for (const { type } of [data.times, data.units]) {
      if (!arrayOf(type)) throw this.#error(`it holds numbers of ${8 * type.size} bits of a type that is not read`);
    }
  }

  /**
   * @throws FileError if the file is no HDF5 file of event lists or takes too long, or h5wasm is
   * not installed.
   */
  static async decode(bytes: Uint8Array, options: SpikeHdf5Options = {}): Promise<SpikeEventFile> {
    const read = resolve(decodeTable, options);
    if (!(bytes instanceof Uint8Array)) throw new ArgumentError("bytes", bytes, "a Uint8Array");
    const { source, timeLimitMs = 5000 + bytes.length / 10_000 } = read;
    if (!signatureAt(bytes)) throw new FileError(source, "it is no HDF5 file", "content");
    return new SpikeEventFile(await readEvents(bytes, source, Math.round(timeLimitMs)), read);
  }

  /** Opens a file (Node). @throws FileError */
  static async open(path: string, options: Omit<SpikeHdf5Options, "source"> = {}): Promise<SpikeEventFile> {
    const read = resolve(eventFileTable, options);
    return SpikeEventFile.decode(await readBytes(path), { ...read, source: path });
  }

  /**
   * Pattern `i`, its times turned from seconds into ms. Its label is the name of its class, or the
   * number if classes have no names.
   * @throws ArgumentError if there is none, FileError if a unit or a time lies outside
   * neuronCount and durationMs.
   */
  pattern(i: number): SpikePattern {
    const data = this.#data;
    if (!data) throw new SpillwayError("lifecycle", "the file of event lists is closed; open it again");
    checkWhole("the index of a pattern", i, 0, Math.max(0, this.count - 1));
    const times = Float64Array.from(rowOf(data.times, i), (seconds) => Number(seconds) * 1000);
    const neurons = Float64Array.from(rowOf(data.units, i), Number);
    const amplitudes = data.amplitudes?.subarray(data.times.offsets[i]!, data.times.offsets[i + 1]!);
    const label = this.labels?.[i];
    const speaker = data.speakers?.[i];
    const metadata = {
      source: `${this.#options.source}, pattern ${i}`,
      ...(label === undefined ? {} : { label: this.classNames?.[label] ?? String(label) }),
      ...(speaker === undefined ? {} : { speaker }),
    };
    const durationMs = this.#options.durationMs ?? times.reduce((a, b) => Math.max(a, b), 0);
    try {
      return SpikePattern.from({ times, neurons, amplitudes }, { durationMs, neuronCount: this.neuronCount, metadata });
    } catch (error) {
      throw this.#error(`pattern ${i}: ${(error as Error).message}`);
    }
  }

  /** All patterns, one at a time. */
  *[Symbol.iterator](): IterableIterator<SpikePattern> {
    for (let i = 0; i < this.count; i++) yield this.pattern(i);
  }

  /** Lets go of the memory. Idempotent. */
  dispose(): void {
    this.#data = undefined;
  }

  #error(reason: string): FileError {
    return new FileError(this.#options.source, reason, "content");
  }
}

export const writeHdf5Table = {
  /**
   * "float16", as in the Spiking Heidelberg Digits: at 1 s times are right to 0.5 ms. Default
   * "float32": to 0.06 microseconds.
   */
  times: option(choice("float16", "float32"), "float32", "How times are written: float16 as in the Spiking Heidelberg Digits."),
  /**
   * The names of the classes in the order of their numbers; default the labels of the patterns in
   * the order in which they occur.
   */
  classNames: optional(list(text(), "a list of texts"), "The names of the classes by number; left out, the labels as they occur."),
};

/** How times and classes are written. */
export interface SpikeHdf5WriteOptions extends InputOf<typeof writeHdf5Table> {}

/**
 * Patterns as an HDF5 file of event lists: times in seconds, units, and, if the patterns have
 * labels, labels and extra/keys. Amplitudes, which that layout does not know, are in
 * extra/amplitudes, a binary32 number a spike. Durations and neuron counts are not kept.
 * @throws ArgumentError if some patterns have labels and others do not, or a neuron is beyond
 * 65535.
 */
export async function encodeSpikeHdf5(patterns: readonly SpikePattern[], options: SpikeHdf5WriteOptions = {}): Promise<Uint8Array> {
  checkPatterns(patterns);
  const { times, classNames } = resolve(writeHdf5Table, options);
  const classes = classesOf(patterns, classNames);
  const seconds = patterns.map((pattern) => pattern.times.map((timeMs) => timeMs / 1000));
  return writeEvents({
    template: unzlibSync(Uint8Array.from(atob(hdf5Templates[times]), (character) => character.charCodeAt(0))),
    times: seconds.map((row) => (times === "float16" ? Uint16Array.from(row, halfBits) : Float32Array.from(row))),
    units: patterns.map(({ neurons }) => Uint16Array.from(neurons)),
    labels: classes && Uint16Array.from(classes.labels),
    classNames: classes?.names,
    amplitudes: amplitudesOf(patterns),
  });
}

/** Of all spikes, 1 for those of a pattern without amplitudes; undefined if no pattern has any. */
function amplitudesOf(patterns: readonly SpikePattern[]): Float32Array | undefined {
  if (patterns.every(({ amplitudes }) => amplitudes === undefined)) return undefined;
  const out = new Float32Array(patterns.reduce((sum, { spikeCount }) => sum + spikeCount, 0)).fill(1);
  let at = 0;
  for (const { amplitudes, spikeCount } of patterns) {
    if (amplitudes) out.set(amplitudes, at);
    at += spikeCount;
  }
  return out;
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
    if (neuronCount > 65536)
      throw new ArgumentError(`the neuronCount of pattern ${i}`, neuronCount, "at most 65536: units are 16 bits wide");
  }
  if (patterns.every(({ metadata }) => metadata.label === undefined)) return undefined;
  const names = classNames ?? [...new Set(patterns.map(({ metadata }) => metadata.label))].filter((label) => label !== undefined);
  const labels = patterns.map(({ metadata: { label } }, i) => {
    const index = label === undefined ? -1 : names.indexOf(label);
    if (index < 0)
      throw new ArgumentError(
        `the label of pattern ${i}`,
        label,
        `one of the ${names.length} class names, as all patterns or none have one`,
      );
    return index;
  });
  return { names, labels };
}

/** The numbers of row `i`. */
function rowOf({ bytes, offsets, type }: EventRows, i: number): ArrayLike<number | bigint> {
  const count = offsets[i + 1]! - offsets[i]!;
  const numbers = fromBytes(arrayOf(type)!, bytes, offsets[i]! * type.size, count, true);
  return type.type === 1 && type.size === 2 ? float16ToFloat32(numbers as Uint16Array) : numbers;
}

/** The typed array of a type of HDF5; halves are their bits. */
function arrayOf({ type, size, signed }: EventRows["type"]): NumberArrayConstructor | undefined {
  const floats = [Uint16Array, Float32Array, Float64Array];
  const whole = signed ? [Int8Array, Int16Array, Int32Array, BigInt64Array] : [Uint8Array, Uint16Array, Uint32Array, BigUint64Array];
  const types: readonly NumberArrayConstructor<NumberArray>[] = type === 1 ? floats : type === 0 ? whole : [];
  return types.find(({ BYTES_PER_ELEMENT }) => BYTES_PER_ELEMENT === size);
}

/**
 * Whether the bytes that every HDF5 file begins with are at 0, 512, 1024, 2048, ...: the library
 * prints a page of errors if they do not.
 */
function signatureAt(bytes: Uint8Array): boolean {
  const signature = [0x89, 0x48, 0x44, 0x46, 0x0d, 0x0a, 0x1a, 0x0a];
  for (let at = 0; at + 8 <= bytes.length; at = at === 0 ? 512 : 2 * at)
    if (signature.every((byte, i) => bytes[at + i] === byte)) return true;
  return false;
}
