// Scores the pipelines of spoken-digits.json on the test recordings (index 0 to 4), trained on the others: seeds 0 to 2. A liquid of leaky integrate-and-fire neurons,
// and a rate reservoir of the same size beside it. Usage: node bench/accuracy/spoken-digits.mjs
import { readFileSync } from "node:fs";
import "spillway";
import { Pipeline, readWavFolder } from "spillway/pipeline";

const folder = `${process.env.SPILLWAY_DATA ?? "../shared/data"}/fsdd`;
const pipelines = JSON.parse(readFileSync(new URL("spoken-digits.json", import.meta.url), "utf8"));
const seeds = [0, 1, 2];

for (const [name, { encoder, reservoir, ...settings }] of Object.entries(pipelines)) {
  const accuracies = [];
  const begun = performance.now();
  for (const seed of seeds) {
    const train = await readWavFolder(folder, { keep: ({ index }) => Number(index) >= 5 });
    const test = await readWavFolder(folder, { keep: ({ index }) => Number(index) < 5 });
    const parameters = { ...settings, encoder: { ...encoder, sampleRate: train.sampleRate }, reservoir: { ...reservoir, seed } };
    await using pipeline = await new Pipeline(parameters, { engine: "cpu" }).fit(train.sequences, train.labels);
    accuracies.push(await pipeline.score(test.sequences, test.labels));
    if (seed === 0) console.log(`${name}: ${train.labels.length} recordings to train, ${test.labels.length} to test`);
  }
  const seconds = (performance.now() - begun) / 1000 / seeds.length;
  const mean = accuracies.reduce((sum, value) => sum + value, 0) / seeds.length;
  console.log(`  ${JSON.stringify({ encoder, reservoir, ...settings })}`);
  console.log(`  accuracy for seeds 0 to 2: ${accuracies.map((value) => value.toFixed(4)).join(", ")}; mean ${mean.toFixed(4)}`);
  console.log(`  ${seconds.toFixed(1)} s a seed from WAV files to scores`);
}
