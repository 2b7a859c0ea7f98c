// Brings the cases of an experiment on recordings: a folder of WAV files whose names tell their classes.
import { basename } from "node:path";
import { readWavFolder, type SoundFolder } from "../../pipeline/index.js";
import { UsageError } from "../exit.js";
import type { CaseData, Cases } from "./data.js";
import type { SoundData } from "./description.js";
import { resolveDataPath } from "./paths.js";

/** @throws FileError, DataError, UsageError where no recording tests or none trains */
export async function loadSounds({ sounds, names, test }: SoundData, experimentPath: string): Promise<CaseData> {
  const folder = resolveDataPath(sounds, experimentPath);
  const isTest = (fields: Readonly<Record<string, string>>) =>
    Object.entries(test!).every(([field, values]) => values.map(String).includes(fields[field] ?? ""));
  const read = (keep?: (fields: Readonly<Record<string, string>>) => boolean) => readWavFolder(folder, { pattern: names, keep });
  const [train, tested] = test ? [await read((fields) => !isTest(fields)), await read(isTest)] : [await read(), undefined];
  if (tested && tested.sampleRate !== train.sampleRate) {
    throw new UsageError(
      `${folder}: test recordings have ${tested.sampleRate} samples a second and the others ${train.sampleRate}; they take one rate`,
    );
  }
  const classes = [...new Set(train.labels.map(String))].sort();
  const unknown = tested?.labels.map(String).find((label) => !classes.includes(label));
  if (unknown !== undefined) throw new UsageError(`${folder}: the class ${JSON.stringify(unknown)} occurs in test recordings only`);
  const count = `${train.labels.length}${tested ? ` + ${tested.labels.length}` : ""}`;
  return {
    kind: "cases",
    train: casesOf(train),
    test: tested && casesOf(tested),
    classes,
    sampleRate: train.sampleRate,
    summary: `${basename(folder)}: ${count} recordings, ${classes.length} classes, ${train.sampleRate} Hz`,
  };
}

function casesOf({ sequences, labels }: SoundFolder): Cases {
  return { sequences: sequences.map((sound) => sound.slice() as Cases["sequences"][number]), labels: labels.map(String) };
}
