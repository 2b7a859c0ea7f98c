// Data sets as they lie in folders: archives of time series, sounds, spike patterns. Nothing is
// downloaded.
import { checkText } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { callback, type InputOf, option, optional, type Resolved, resolve, text } from "@spillway/core/options.js";
import { quoted } from "@spillway/core/text.js";
import { isParquet, listFiles, npyToMatrix, readCsv, readNpy, readParquet, readUea, readWav, type UeaOptions } from "@spillway/io";
import { Matrix } from "@spillway/numerics";
import type { Label } from "../model/index.js";
import { readSpikePattern, SpikeEventFile, type SpikeHdf5Options, type SpikePattern } from "../spikes/index.js";
import { readPatternTable } from "../spikes/pattern/files.js";

/** Cases with labels, and groups if the names of the files tell them. */
export interface FolderCases {
  readonly sequences: readonly Matrix[];
  readonly labels: readonly Label[];
  readonly groups?: readonly string[] | undefined;
  /** Where each case comes from. */
  readonly sources: readonly string[];
}

/** The two parts of an archive's data set. */
export interface ArchiveData {
  readonly name: string;
  readonly train: FolderCases;
  readonly test: FolderCases;
  readonly classes: readonly string[];
  readonly channels: number;
}

/**
 * Reads NAME_TRAIN.ts and NAME_TEST.ts of the UEA and UCR archives. @throws FileError, FormatError;
 * ArgumentError if the two do not go together
 */
export async function readUeaFolder(folder: string, name: string, options: UeaOptions = {}): Promise<ArchiveData> {
  checkText("folder", folder);
  const { join } = globalThis.process.getBuiltinModule("node:path");
  const [train, test] = await Promise.all(["TRAIN", "TEST"].map((part) => readUea(join(folder, `${name}_${part}.ts`), options)));
  if (train!.channels !== test!.channels) {
    throw ArgumentError.shape(`${name} has ${train!.channels} channels to train and ${test!.channels} to test; both take the same number`, {
      field: name,
    });
  }
  const cases = ({ sequences, labels }: typeof train & object, part: string): FolderCases => ({
    sequences,
    labels,
    sources: sequences.map((_, k) => `${name}_${part}.ts, case ${k + 1}`),
  });
  return { name, train: cases(train!, "TRAIN"), test: cases(test!, "TEST"), classes: train!.classes, channels: train!.channels };
}

export const soundFolderTable = {
  /**
   * How a file's name tells its class and where it comes from: names in braces stand for text
   * without separators. Default "{label}_{group}_{index}". Files of folders by class:
   * "{label}/{index}".
   */
  names: option(text(), "{label}_{group}_{index}", "How a file's name tells its class and where it comes from."),
  /**
   * Which files are taken, by what their names tell: `(file) => Number(file.index) < 5`. Default
   * all.
   */
  keep: optional(callback<(fields: Readonly<Record<string, string>>) => boolean>(), "Which files are taken, by what their names tell."),
};

/** How files are chosen, and how their names are read. */
export interface SoundFolderOptions extends InputOf<typeof soundFolderTable> {}

/** Sounds of one folder, samples as T x 1 in [-1, 1]. */
export interface SoundFolder extends FolderCases {
  /** Samples a second, the same for all. */
  readonly sampleRate: number;
}

/**
 * Reads the WAV files of a folder; several channels are mixed. @throws FileError; ArgumentError
 * if nothing matches, or sample rates differ
 */
export async function readWavFolder(folder: string, options: SoundFolderOptions = {}): Promise<SoundFolder> {
  const found = await matching(folder, [".wav"], resolve(soundFolderTable, options));
  const { cases, of } = await readAlike(found, readWav, (sound) => sound.sampleRate, "samples a second", "rate");
  return { ...described(found), sequences: cases.map(({ matrix }) => mono(matrix)), sampleRate: of };
}

/** Series of one folder, T x C each, of any lengths. */
export interface SeriesFolder extends FolderCases {
  /** C, of every series. */
  readonly channels: number;
}

/**
 * Reads the series of a folder, a CSV, Parquet or NPY file each, rows in time. @throws FileError;
 * ArgumentError if nothing matches, or channels differ
 */
export async function readSeriesFolder(folder: string, options: SoundFolderOptions = {}): Promise<SeriesFolder> {
  const found = await matching(folder, [".csv", ".parquet", ".npy"], resolve(soundFolderTable, options));
  const { cases, of } = await readAlike(found, readSeries, ({ cols }) => cols, "columns", "number");
  return { ...described(found), sequences: cases, channels: of };
}

async function readSeries(path: string): Promise<Matrix> {
  if (path.toLowerCase().endsWith(".npy")) return npyToMatrix(await readNpy(path), { source: path });
  return (await (isParquet(path) ? readParquet(path) : readCsv(path))).matrix;
}

export const spikeFolderTable = {
  ...soundFolderTable,
  /** Neurons of each pattern, if the files do not say; an HDF5 file has 700 unless it is given. */
  neuronCount: readPatternTable.neuronCount,
  /** How long each pattern lasts in ms; default what its file says, or its last spike's time. */
  durationMs: readPatternTable.durationMs,
};

/** How files of spike patterns are chosen and read. */
export interface SpikeFolderOptions extends SoundFolderOptions, InputOf<typeof spikeFolderTable> {}

/** Spike patterns with their classes. */
export interface SpikeFolder extends Omit<FolderCases, "sequences"> {
  /** The cases of a `Pipeline` with the encoder "pattern". */
  readonly sequences: readonly SpikePattern[];
  /** The neurons of every pattern. */
  readonly neuronCount: number;
}

/**
 * Reads the spike patterns of a folder, a JSON, CSV or NPZ file each, their classes told by their
 * names; or of one HDF5 file of event lists (.h5, .hdf5) as the Spiking Heidelberg Digits are laid
 * out, whose labels and speakers it holds itself: `names` has no say there, and `keep` gets
 * label, group (the speaker, if there is one) and index. HDF5 takes the package h5wasm.
 * @throws FileError; ArgumentError if nothing matches, an HDF5 file has no labels, or patterns
 * differ in their number of neurons
 */
export async function readSpikeFolder(path: string, options: SpikeFolderOptions = {}): Promise<SpikeFolder> {
  const { neuronCount, durationMs, ...names } = resolve(spikeFolderTable, options);
  if (/\.(h5|hdf5)$/i.test(path)) return readEvents(path, names.keep, { neuronCount, durationMs });
  const found = await matching(path, [".json", ".csv", ".npz"], names);
  const read = (file: string) => readSpikePattern(file, { neuronCount, durationMs });
  const { cases, of } = await readAlike(found, read, (pattern) => pattern.neuronCount, "neurons", "number: give neuronCount");
  return { ...described(found), sequences: cases, neuronCount: of };
}

async function readEvents(path: string, keep: SoundFolderOptions["keep"], options: SpikeHdf5Options): Promise<SpikeFolder> {
  const file = await SpikeEventFile.open(path, options);
  try {
    if (!file.labels) throw ArgumentError.because(`${path} has no labels; a data set to classify takes a class for each pattern`);
    const sequences: SpikePattern[] = [];
    const found: Found[] = [];
    for (let i = 0; i < file.count; i++) {
      const pattern = file.pattern(i);
      const { label, speaker } = pattern.metadata;
      const fields = { label: label!, ...(speaker === undefined ? {} : { group: String(speaker) }), index: String(i) };
      if (keep && !keep(fields)) continue;
      sequences.push(pattern);
      found.push({ path: `${path}, pattern ${i}`, fields });
    }
    if (found.length === 0) throw ArgumentError.because(`${path} has ${file.count} patterns${keep ? ", none that `keep` takes" : ""}`);
    return { ...described(found), sequences, neuronCount: file.neuronCount };
  } finally {
    file.dispose();
  }
}

/** The cases of files that have to have one number of something, and that number. */
async function readAlike<T>(
  found: readonly Found[],
  read: (path: string) => Promise<T>,
  numberOf: (one: T) => number,
  things: string,
  takes: string,
): Promise<{ readonly cases: readonly T[]; readonly of: number }> {
  const cases: T[] = [];
  for (const { path } of found) {
    cases.push(await read(path));
    const [first, own] = [numberOf(cases[0]!), numberOf(cases.at(-1)!)];
    if (own !== first)
      throw ArgumentError.shape(`${path} has ${own} ${things} and the files before ${first}; a data set takes one ${takes}`);
  }
  return { cases, of: numberOf(cases[0]!) };
}

interface Found {
  readonly path: string;
  readonly fields: Readonly<Record<string, string>>;
}

async function matching(
  folder: string,
  extensions: readonly string[],
  { names: form, keep }: Resolved<typeof soundFolderTable>,
): Promise<Found[]> {
  const { join } = globalThis.process.getBuiltinModule("node:path");
  const parts = form.split(/\{(\w+)\}/);
  const fieldNames = parts.filter((_, k) => k % 2 === 1);
  if (!fieldNames.includes("label")) throw new ArgumentError("names", undefined, "{label} somewhere", { shown: quoted(form) });
  const twice = fieldNames.find((name, k) => fieldNames.indexOf(name) !== k);
  if (twice !== undefined) throw new ArgumentError("names", undefined, `{${twice}} once`, { shown: quoted(form) });
  const wrong = fieldNames.find((name) => /^\d/.test(name));
  if (wrong !== undefined)
    throw ArgumentError.because(`names is ${quoted(form)}; {${wrong}} takes a name that begins with a letter`, { field: "names" });
  const escaped = parts.map((part, k) => (k % 2 === 1 ? `(?<${part}>[^/_]+)` : part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")));
  const expression = new RegExp(`^${escaped.join("")}$`);
  const files = await listFiles(folder);
  const found = files.flatMap((file): Found[] => {
    const extension = extensions.find((one) => file.toLowerCase().endsWith(one));
    if (extension === undefined) return [];
    const fields = expression.exec(file.slice(0, -extension.length))?.groups;
    return fields && (keep?.({ ...fields }) ?? true) ? [{ path: join(folder, file), fields: { ...fields } }] : [];
  });
  if (found.length === 0)
    throw ArgumentError.because(`${folder} has no ${extensions.join(" or ")} file named ${form}${keep ? " that `keep` takes" : ""}`);
  return found;
}

function described(found: readonly Found[]): Pick<FolderCases, "labels" | "groups" | "sources"> {
  const hasGroups = found.every(({ fields }) => fields["group"] !== undefined);
  return {
    labels: found.map(({ fields }) => fields["label"]!),
    ...(hasGroups ? { groups: found.map(({ fields }) => fields["group"]!) } : {}),
    sources: found.map(({ path }) => path),
  };
}

function mono(samples: Matrix): Matrix {
  if (samples.cols === 1) return samples;
  const out = Matrix.zeros(samples.rows, 1);
  for (let i = 0; i < samples.data.length; i++) {
    const row = Math.floor(i / samples.cols);
    out.data[row] = out.data[row]! + samples.data[i]! / samples.cols;
  }
  return out;
}
