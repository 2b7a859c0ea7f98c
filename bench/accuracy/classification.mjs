// Scores the classifiers of classification.json on the test cases: seeds 0 to 9, and the vote of
// the ten.
import { readFileSync } from "node:fs";
import { Classifier } from "spillway";
import { readUea } from "spillway/series";

const folder = process.env.SPILLWAY_DATA ?? "../shared/data";
const problems = JSON.parse(readFileSync(new URL("classification.json", import.meta.url), "utf8"));
for (const [name, { reservoir, input = false, readout, bars }] of Object.entries(problems)) {
  const train = await readUea(`${folder}/uea/${name}_TRAIN.ts`);
  const test = await readUea(`${folder}/uea/${name}_TEST.ts`);
  const errors = [];
  const votes = test.sequences.map(() => new Map());
  const started = performance.now();
  for (let seed = 0; seed < 10; seed++) {
    const classifier = await Classifier.create({
      reservoir: { ...reservoir, seed },
      representation: "last+mean",
      input,
      scaleFeatures: false,
      readout,
    });
    await classifier.fit(train.sequences, train.labels);
    const predicted = await classifier.predict(test.sequences);
    errors.push(predicted.filter((label, i) => label !== test.labels[i]).length);
    predicted.forEach((label, i) => {
      votes[i].set(label, (votes[i].get(label) ?? 0) + 1);
    });
    await classifier.dispose();
  }
  const cases = test.labels.length;
  const mean = errors.reduce((sum, value) => sum + value, 0) / 10;
  const voted = votes.filter((vote, i) => [...vote].toSorted((a, b) => b[1] - a[1])[0][0] !== test.labels[i]).length;
  console.log(`${name}: last+mean${input ? " of states and inputs" : ""}, ${JSON.stringify(reservoir)}, lambda ${readout.lambda}`);
  console.log(`  errors of ${cases} for seeds 0-9: ${errors.join(" ")}`);
  console.log(
    `  mean ${mean.toFixed(1)}, most ${Math.max(...errors)}, vote of the ten ${voted}; mean accuracy ${(1 - mean / cases).toFixed(4)} (${bars})`,
  );
  console.log(`  ${((performance.now() - started) / 10).toFixed(0)} ms a seed for training and test`);
}
