// Brings the cases of an experiment: folders of recordings, of series or of spike patterns whose
// names tell their classes, or patterns that are generated.

import { basename } from "node:path";
import { ArgumentError } from "@spillway/core/errors.js";
import { tally } from "@spillway/core/text.js";
import { Matrix } from "@spillway/numerics";
import { type FolderCases, readSeriesFolder, readSpikeFolder, readWavFolder, type SoundFolderOptions } from "../../pipeline/index.js";
import type { AnyReservoirOptions } from "../../reservoir/index.js";
import { binWidth } from "../../spikes/drive.js";
import { patternMeasures, poissonPattern, type SpikePattern } from "../../spikes/index.js";
import { editPattern, type PatternEdits } from "../../spikes/pattern/edits.js";
import { isPattern } from "../../spikes/pattern/pattern.js";
import type { NamedFiles, PatternData, SeriesFolderData, SoundData, SpikeData } from "../description/description.js";
import { ExperimentError } from "../description/errors.js";
import { resolveDataPath } from "../description/paths.js";
import type { CaseData, Cases } from "./experiment-data.js";

/** @throws FileError, ArgumentError, ExperimentError if no recording tests or none trains */
export async function loadSounds(data: SoundData, experimentPath: string | undefined): Promise<CaseData> {
  const folder = resolveDataPath(data.sounds, experimentPath);
  const { train, test } = await partsOf(data, (options) => readWavFolder(folder, options));
  const { sampleRate } = train;
  if (test && test.sampleRate !== sampleRate) {
    throw new ExperimentError(
      `${folder}: test recordings have ${test.sampleRate} samples a second and the others ${sampleRate}; they take one rate`,
    );
  }
  const sounds = ({ sequences }: FolderCases) => sequences.map((sound) => sound.slice());
  return caseData(folder, "recordings", `${sampleRate} Hz`, train, test, sounds, { sampleRate });
}

/** @throws FileError, ArgumentError, ExperimentError if no series tests or none trains */
export async function loadSeriesFolder(data: SeriesFolderData, experimentPath: string | undefined): Promise<CaseData> {
  const folder = resolveDataPath(data.cases, experimentPath);
  const { train, test } = await partsOf(data, (options) => readSeriesFolder(folder, options));
  if (test && test.channels !== train.channels)
    throw new ExperimentError(
      `${folder}: test series have ${test.channels} columns and the others ${train.channels}; they take one number`,
    );
  return caseData(folder, "series", tally(train.channels, "channel"), train, test, ({ sequences }) => sequences);
}

/** @throws FileError, ArgumentError, ExperimentError if no pattern tests or none trains */
export async function loadSpikes(data: SpikeData, experimentPath: string | undefined, reservoir: AnyReservoirOptions): Promise<CaseData> {
  const path = resolveDataPath(data.spikes, experimentPath);
  const { neuronCount, durationMs } = data;
  const { train, test } = await partsOf(data, (options) => readSpikeFolder(path, { ...options, neuronCount, durationMs }));
  if (test && test.neuronCount !== train.neuronCount)
    throw new ExperimentError(
      `${path}: test patterns have ${test.neuronCount} neurons and the others ${train.neuronCount}; give neuronCount`,
    );
  const binMs = binWidth(reservoir, data.binMs);
  const patterns = (folder: typeof train) =>
    folder.sequences.map((pattern, b) => edited(pattern, data, `${folder === train ? "train" : "test"}/${b}`));
  return caseData(path, "spike patterns", `${train.neuronCount} neurons, bins of ${binMs} ms`, train, test, patterns, { binMs });
}

/** The most spikes that are generated. */
const mostSpikes = 100_000_000;

/** Patterns that need no file. @throws ExperimentError for what a generator does not take */
export function loadPatterns({ patterns, ...data }: PatternData, reservoir: AnyReservoirOptions): CaseData {
  const { types, count, seed, ...shape } = patterns;
  const { neuronCount = 50, durationMs = 1000, rateHz = 20 } = shape;
  const spikes = types.length * count * neuronCount * rateHz * (durationMs / 1000);
  if (spikes > mostSpikes)
    throw new ArgumentError(
      "data.patterns",
      patterns,
      `fewer or shorter patterns: these would have ${Math.round(spikes)} spikes, and at most ${mostSpikes} are generated`,
    );
  const binMs = binWidth(reservoir, data.binMs);
  const labels = types.flatMap((type) => Array.from({ length: count }, () => type as string));
  const sequences = types
    .flatMap((type) =>
      Array.from({ length: count }, (_, k) => {
        const options = { ...shape, seed: `${seed}/${type}/${k}` };
        try {
          return type === "poisson" ? poissonPattern(options) : patternMeasures[type].generate(options);
        } catch (error) {
          if (error instanceof ArgumentError) throw new ExperimentError(`data.patterns: ${error.message}`, { cause: error });
          throw error;
        }
      }),
    )
    .map((pattern, b) => edited(pattern, data, String(b)));
  const neurons = sequences[0]!.neuronCount;
  const summary = `${labels.length} generated spike patterns, ${types.length} types, ${neurons} neurons, bins of ${binMs} ms`;
  return { kind: "cases", train: { sequences, labels }, classes: [...types].sort(), binMs, summary };
}

/** @throws ArgumentError for a schedule that is shorter than a pattern */
function edited(pattern: SpikePattern, { schedule, jitter, thin, noise }: PatternEdits, name: string): SpikePattern {
  try {
    return editPattern(pattern, { schedule, jitter, thin, noise }, name);
  } catch (error) {
    throw error instanceof ArgumentError ? error.under("data") : error;
  }
}

/** The files that train, and those that test if names choose them. */
async function partsOf<Folder>(
  { names, test }: NamedFiles,
  read: (options: SoundFolderOptions) => Promise<Folder>,
): Promise<{ readonly train: Folder; readonly test: Folder | undefined }> {
  if (!test) return { train: await read({ names }), test: undefined };
  const isTest = (fields: Readonly<Record<string, string>>) =>
    Object.entries(test).every(([field, values]) => values.map(String).includes(fields[field] ?? ""));
  const train = await read({ names, keep: (fields) => !isTest(fields) });
  return { train, test: await read({ names, keep: isTest }) };
}

function caseData<Folder extends Pick<FolderCases, "labels">>(
  path: string,
  what: string,
  about: string,
  train: Folder,
  test: Folder | undefined,
  sequencesOf: (folder: Folder) => readonly (Matrix | SpikePattern)[],
  more: Pick<CaseData, "sampleRate" | "binMs"> = {},
): CaseData {
  const classes = [...new Set(train.labels.map(String))].sort();
  const unknown = test?.labels.map(String).find((label) => !classes.includes(label));
  if (unknown !== undefined) throw new ExperimentError(`${path}: the class ${JSON.stringify(unknown)} occurs in test ${what} only`);
  const cases = (folder: Folder): Cases => ({
    sequences: sequencesOf(folder).map((sequence) => (isPattern(sequence) ? sequence : Matrix.from(sequence))),
    labels: folder.labels.map(String),
  });
  const count = `${train.labels.length}${test ? ` + ${test.labels.length}` : ""}`;
  const summary = `${basename(path)}: ${count} ${what}, ${classes.length} classes, ${about}`;
  return { kind: "cases", train: cases(train), test: test && cases(test), classes, ...more, summary };
}
