// Scores the pipelines of spoken-digits.json, trained on recordings 5 to 29 of each digit and
// speaker, where their settings were chosen too: a liquid of leaky integrate-and-fire neurons, and
// a rate reservoir of the same size. Tested on recordings 0 to 4, which earlier runs of this bench
// have looked at, and on 30 and above, which nothing was chosen on. Usage:
//   node bench/accuracy/spoken-digits.mjs      SPILLWAY_DATA names the folder that holds fsdd, the recordings of the Free Spoken Digit Dataset
import { existsSync, readFileSync } from "node:fs";
import "spillway";
import { Pipeline, readWavFolder } from "spillway/model";

const folder = `${process.env.SPILLWAY_DATA ?? "../shared/data"}/fsdd`;
const pipelines = JSON.parse(readFileSync(new URL("spoken-digits.json", import.meta.url), "utf8"));
const seeds = [0, 1, 2, 3, 4];
const parts = { "recordings 0 to 4": (index) => index < 5, "recordings 30 and above, unseen": (index) => index >= 30 };

const recordings = (wanted) => readWavFolder(folder, { keep: ({ index }) => wanted(Number(index)) });
const train = await recordings((index) => index >= 5 && index < 30);
const hasAll = existsSync(`${folder}/0_george_30.wav`);
if (!hasAll) delete parts["recordings 30 and above, unseen"];
const tests = await Promise.all(Object.values(parts).map(recordings));
for (const [name, { encoder, reservoir, ...settings }] of Object.entries(pipelines)) {
  console.log(`${name}: ${JSON.stringify({ encoder, reservoir, ...settings })}`);
  const accuracies = tests.map(() => []);
  const begun = performance.now();
  for (const seed of seeds) {
    const parameters = { ...settings, encoder: { ...encoder, sampleRate: train.sampleRate }, reservoir: { ...reservoir, seed } };
    const pipeline = await new Pipeline(parameters, { engine: "cpu" }).fit(train.sequences, train.labels);
    for (const [k, test] of tests.entries()) accuracies[k].push(await pipeline.score(test.sequences, test.labels));
    await pipeline.dispose();
  }
  Object.keys(parts).forEach((part, k) => {
    const values = accuracies[k];
    const percent = (share) => `${(100 * share).toFixed(1)} %`;
    const median = values.toSorted((a, b) => a - b)[values.length >> 1];
    console.log(
      `  ${part}: ${tests[k].labels.length} after training on ${train.labels.length}: median of ${seeds.length} seeds ${percent(median)} (${percent(Math.min(...values))} to ${percent(Math.max(...values))})`,
    );
  });
  if (!hasAll) console.log(`  recordings 30 and above are not in ${folder}`);
  console.log(`  ${((performance.now() - begun) / 1000 / seeds.length).toFixed(1)} s a seed`);
}
