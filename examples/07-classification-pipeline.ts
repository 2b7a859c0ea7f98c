// A classification pipeline: choose settings by cross-validation on the training cases, then look at the test cases once. Data: the Japanese Vowels
// of the UEA archive (https://www.timeseriesclassification.com) in the folder that SPILLWAY_DATA names.
import { crossValidate, gridSearch, Pipeline, readUeaFolder } from "spillway/pipeline";
import "spillway";

const { train, test, classes } = await readUeaFolder(`${process.env["SPILLWAY_DATA"] ?? "../shared/data"}/uea`, "JapaneseVowels");
console.log(`${train.sequences.length} cases to train, ${test.sequences.length} to test, ${classes.length} speakers`);

const base = {
  reservoir: { size: 100, spectralRadius: 0.3, leakRate: 0.2, inputScaling: 0.1, bias: 0.8, seed: 0 },
  input: true,
  readout: { lambda: 0.1 },
};
const first = await crossValidate(base, train, { folds: 5, seeds: [0, 1] });
console.log(`five folds, two seeds: ${(100 * first.mean).toFixed(1)} % (standard deviation ${(100 * first.deviation).toFixed(1)})`);

const { best } = await gridSearch(base, { "reservoir.leakRate": [0.1, 0.2, 0.4], "readout.lambda": [0.03, 0.1] }, train);
console.log(`best of six settings: ${JSON.stringify(best.values)}`);

await using pipeline = await new Pipeline({ ...best.parameters, members: 5 }).fit(train.sequences, train.labels);
console.log(`test: ${(100 * (await pipeline.score(test.sequences, test.labels))).toFixed(1)} %`);
