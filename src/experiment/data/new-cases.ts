// Cases that a saved classifier is to name: files of series or sounds, encoded as those of its run
// were.
import { extname, join } from "node:path";
import { ArgumentError } from "@spillway/core/errors.js";
import { listFiles, npyToMatrix, readCsv, readNpy, readParquet, readUea, readWav } from "@spillway/io";
import { kindOfPath } from "@spillway/io/files.js";
import type { Matrix } from "@spillway/numerics";
import { encoders } from "../../spikes/index.js";
import type { OpenExperiment } from "../description/description.js";
import { ExperimentError } from "../description/errors.js";
import { readRun } from "../runs/read-run.js";
import { encoded } from "./encode.js";

/** Cases by their names. */
export interface NewCases {
  readonly names: readonly string[];
  readonly sequences: readonly Matrix[];
  /** The classes that a file says; empty if it says none. */
  readonly labels: readonly string[];
}

const formats = [".csv", ".parquet", ".npy", ".wav"];

/**
 * Reads the cases of a UEA .ts file, of a CSV, Parquet, NPY or WAV file (one case), or of all such
 * files of a folder. @param run the folder of the run whose model names them: its encoder turns them into spikes
 * @throws FileError, ExperimentError for what the encoder of the run cannot take alone
 */
export async function readNewCases(path: string, run?: string): Promise<NewCases> {
  const { sampleRate, ...cases } = await readCases(path);
  const experiment = run === undefined ? undefined : ((await readRun(run)).config as OpenExperiment);
  if (!experiment?.encode) return cases;
  const { encoder } = experiment.encode;
  if (encoders.get(encoder, "encode.encoder").range === "unit")
    throw new ExperimentError(
      `the run encodes by ${encoder}, whose range is that of its training cases, which a model file does not keep; save a Pipeline, which does`,
      { field: "encode.encoder" },
    );
  const own = { sequences: cases.sequences as never, labels: cases.names };
  const none = { sequences: [], labels: [] };
  const data = { kind: "cases", train: none, classes: [], summary: "", sampleRate } as const;
  return { ...cases, sequences: encoded(experiment, { train: none, test: own }, data).test.cases.matrices() };
}

async function readCases(path: string): Promise<NewCases & { readonly sampleRate?: number | undefined }> {
  const isFolder = (await kindOfPath(path)) === "folder";
  if (!isFolder && extname(path) === ".ts") {
    const { sequences, labels } = await readUea(path);
    return { names: sequences.map((_, b) => `case ${b + 1}`), sequences, labels };
  }
  const names = isFolder ? (await listFiles(path)).filter((name) => formats.includes(extname(name).toLowerCase())) : [path];
  if (names.length === 0) throw new ArgumentError("data", path, `a folder with ${formats.join(", ")} files, or a .ts file`);
  const sequences: Matrix[] = [];
  const rates = new Set<number>();
  for (const name of names) {
    const file = isFolder ? join(path, name) : name;
    const format = extname(file).toLowerCase();
    if (format === ".csv") sequences.push((await readCsv(file)).matrix);
    else if (format === ".parquet") sequences.push((await readParquet(file)).matrix);
    else if (format === ".npy") sequences.push(npyToMatrix(await readNpy(file), { source: file }));
    else if (format === ".wav") {
      const sound = await readWav(file);
      rates.add(sound.sampleRate);
      sequences.push(sound.matrix);
    } else throw new ArgumentError("data", path, `a .ts, ${formats.join(" or ")} file, or a folder of such`);
  }
  if (rates.size > 1)
    throw new ExperimentError(`${path}: recordings have ${[...rates].join(" and ")} samples a second; they take one rate`);
  const [sampleRate] = rates;
  return { names, sequences, labels: [], sampleRate };
}
