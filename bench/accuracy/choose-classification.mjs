// Chooses a classifier's settings by five-fold cross-validation on the training cases alone; the test cases are never read. Usage:
//   node bench/accuracy/choose-classification.mjs JapaneseVowels | GunPoint | ItalyPowerDemand
// The winners are written by hand into classification.json, which is committed before classification.mjs looks at the test cases.
import { Classifier } from "spillway";
import { readUea } from "spillway/io";

const grids = {
  JapaneseVowels: {
    size: [200],
    spectralRadius: [0.3, 0.6, 0.9],
    leakRate: [0.3, 0.4],
    inputScaling: [0.1, 0.15, 0.3],
    bias: [0.8, 1.2, 1.6],
    lambda: [0.003, 0.01, 0.03, 0.1],
  },
  GunPoint: {
    size: [200],
    spectralRadius: [0.9, 1.1],
    leakRate: [0.02, 0.05, 0.1],
    inputScaling: [0.3, 1, 2],
    bias: [0, 0.3],
    lambda: [1e-5, 1e-4, 1e-3, 1e-2],
  },
  ItalyPowerDemand: {
    size: [200],
    spectralRadius: [0.7, 0.9, 1.1],
    leakRate: [0.5, 1],
    inputScaling: [0.1, 0.3, 1],
    bias: [0, 0.5],
    lambda: [0.01, 0.1, 1, 10],
  },
};

const name = process.argv[2];
const grid = grids[name];
if (!grid) throw new Error(`give one of ${Object.keys(grids).join(", ")}`);
const folder = process.env.SPILLWAY_DATA ?? "../shared/data";
const { sequences, labels } = await readUea(`${folder}/uea/${name}_TRAIN.ts`);
const folds = 5;
const seen = new Map();
const foldOf = labels.map((label) => {
  seen.set(label, (seen.get(label) ?? -1) + 1);
  return seen.get(label) % folds;
});
const pick = (list, wanted) => list.filter((_, i) => wanted(foldOf[i]));

function* combinations(fields, chosen = {}) {
  const [first, ...rest] = fields;
  if (!first) yield chosen;
  else for (const value of grid[first]) yield* combinations(rest, { ...chosen, [first]: value });
}

const results = [];
for (const { lambda, ...reservoir } of combinations(Object.keys(grid))) {
  let errors = 0;
  let cases = 0;
  for (const seed of ["tune 0", "tune 1", "tune 2"]) {
    for (let fold = 0; fold < folds; fold++) {
      const classifier = await Classifier.create({ reservoir: { ...reservoir, seed }, readout: { lambda } });
      await classifier.fit(
        pick(sequences, (f) => f !== fold),
        pick(labels, (f) => f !== fold),
      );
      const held = pick(sequences, (f) => f === fold);
      const truth = pick(labels, (f) => f === fold);
      const predicted = await classifier.predict(held);
      predicted.forEach((label, i) => {
        if (label !== truth[i]) errors++;
      });
      cases += truth.length;
      await classifier.dispose();
    }
  }
  results.push({ errors: errors / 3, cases: cases / 3, settings: { ...reservoir, lambda } });
}
results.sort((a, b) => a.errors - b.errors);
for (const { errors, cases, settings } of results.slice(0, 12)) {
  console.log(`${errors.toFixed(2)} errors of ${cases}: ${JSON.stringify(settings)}`);
}
