// Time-series classification with the default pipeline, and with settings chosen on the training
// cases, beside published figures. Usage:
//   node bench/accuracy/uea.mjs
// Default: z-scores, 200 neurons, everything else as Pipeline has it. Chosen: the best of a small grid by five-fold cross-validation over two seeds on
// the training cases. Both are then trained on all training cases with seeds 0 to 9 and tested once
// each.
import { existsSync } from "node:fs";
import { gridSearch, Pipeline, readUeaFolder } from "spillway/pipeline";
import "spillway";

/**
 * Published accuracies on the archive's own split: ROCKET by Dempster, Petitjean and Webb 2020
 * (results_ucr.csv of their repository, mean of ten runs); 1-NN with Euclidean distance and dynamic
 * time warping (window learned; for several channels "dependent") by the UCR archive's summary (Dau
 * et al. 2019) and the UEA archive (Bagnall et al. 2018), which nearest-neighbour.mjs prints again.
 * ROCKET's authors have none for Japanese Vowels, whose cases differ in length.
 */
const published = {
  JapaneseVowels: { rocket: undefined, dtw: 0.949 },
  GunPoint: { rocket: 1, dtw: 0.913 },
  ItalyPowerDemand: { rocket: 0.97, dtw: 0.955 },
};
const seeds = Array.from({ length: 10 }, (_, k) => k);
const grid = {
  "reservoir.spectralRadius": [0.3, 0.9],
  "reservoir.leakRate": [0.05, 0.2, 0.6],
  "reservoir.inputScaling": [0.1, 0.5],
  "reservoir.bias": [0, 0.5],
};
const folder = `${process.env.SPILLWAY_DATA ?? "../shared/data"}/uea`;
if (!existsSync(folder)) throw new Error(`no data in ${folder}: set SPILLWAY_DATA to the folder that holds uea/`);

const percent = (share) => (share === undefined ? "-" : `${(100 * share).toFixed(1)} %`);
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Accuracy on the test cases by seed, and seconds a seed for training and testing. */
async function test(parameters, { train, test: held }) {
  const scores = [];
  const begin = performance.now();
  for (const seed of seeds) {
    const pipeline = new Pipeline({ ...parameters, reservoir: { ...parameters.reservoir, seed } });
    await pipeline.fit(train.sequences, train.labels);
    scores.push(await pipeline.score(held.sequences, held.labels));
    await pipeline.dispose();
  }
  return { scores, seconds: (performance.now() - begin) / 1000 / seeds.length };
}

for (const [name, { rocket, dtw }] of Object.entries(published)) {
  const data = await readUeaFolder(folder, name);
  const base = { reservoir: { size: 200 } };
  const { best } = await gridSearch(base, grid, data.train, { folds: 5, seeds: [100, 101] });
  const plain = await test(base, data);
  const chosen = await test(best.parameters, data);
  console.log(`${name}: ${data.train.sequences.length} cases to train, ${data.test.sequences.length} to test, ${data.channels} channels`);
  for (const [label, { scores, seconds }] of [
    ["default", plain],
    ["chosen", chosen],
  ]) {
    console.log(
      `  ${label.padEnd(8)} mean of ten seeds ${percent(mean(scores))} (${percent(Math.min(...scores))} to ${percent(Math.max(...scores))}), ${seconds.toFixed(2)} s to train and test`,
    );
  }
  console.log(`  chosen by cross-validation (${percent(best.validation.mean)}): ${JSON.stringify(best.values)}`);
  console.log(`  published: ROCKET ${percent(rocket)}, 1-NN DTW ${percent(dtw)}`);
}
