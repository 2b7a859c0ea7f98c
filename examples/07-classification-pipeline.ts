// A classification pipeline: see on the training cases what the defaults are worth and whether
// other settings are better, then look at the test cases once. Data: the Japanese Vowels of the UEA
// archive (https://www.timeseriesclassification.com), in the folder uea of SPILLWAY_DATA. If they
// are absent, four contours stand in.
import { existsSync } from "node:fs";
import { crossValidate, gridSearch, Pipeline, readUeaFolder } from "spillway/model";

/** Contours over a case, at times from 0 to 1. */
const contours = {
  rise: (time: number) => 2 * time - 1,
  fall: (time: number) => 1 - 2 * time,
  peak: (time: number) => 1 - 4 * Math.abs(time - 0.5),
  dip: (time: number) => 4 * Math.abs(time - 0.5) - 1,
};

/**
 * A case is T x channels, and each has a label: here one channel of 20 to 29 rows, shaken and
 * shifted.
 */
function madeCases(count: number, from: number) {
  const labels = Array.from({ length: count }, (_, k) => Object.keys(contours)[k % 4] as keyof typeof contours);
  const sequences = labels.map((label, k) => {
    const rows = 20 + ((7 * k) % 10);
    const noise = (t: number) => Math.sin(17 * t * t + 3 * (k + from)) + Math.sin(5 * (k + from));
    return Array.from({ length: rows }, (_, t) => [contours[label](t / rows) + 0.5 * noise(t)]);
  });
  return { sequences, labels };
}

const folder = `${process.env["SPILLWAY_DATA"] ?? "../shared/data"}/uea`;
const { train, test } = existsSync(`${folder}/JapaneseVowels_TRAIN.ts`)
  ? await readUeaFolder(folder, "JapaneseVowels")
  : { train: madeCases(120, 0), test: madeCases(200, 1000) };
console.log(`${train.sequences.length} cases to train, ${test.sequences.length} to test, ${new Set(train.labels).size} classes`);

const base = { reservoir: { seed: 0 } };
const first = await crossValidate(base, train, { folds: 5, seeds: [0, 1] });
console.log(`five folds, two seeds: ${(100 * first.mean).toFixed(1)} % (standard deviation ${(100 * first.deviation).toFixed(1)})`);

const { best, verdict } = await gridSearch(base, { "reservoir.inputScaling": [0.3, 1] }, train, { outer: 3 });
console.log(`${verdict}\nchosen: ${JSON.stringify(best.values)}`);

await using pipeline = await new Pipeline({ ...best.parameters, members: 3 }).fit(train.sequences, train.labels);
console.log(`test: ${(100 * (await pipeline.score(test.sequences, test.labels))).toFixed(1)} %`);
