// Chooses a classifier's settings by five-fold cross-validation over five seeds on the training
// cases; the test cases are never read. Usage:
//   node bench/accuracy/choose-classification.mjs JapaneseVowels | GunPoint | ItalyPowerDemand
// Representation last+mean, with and without the same statistics of the inputs; fewest errors wins,
// then the smallest squared error of the mean scores. The winners are written by hand into
// classification.json, which is committed before classification.mjs looks at the test cases.
import { Matrix, ReservoirComputer, ridge } from "spillway";
import { readUea } from "spillway/series";

const grids = {
  JapaneseVowels: { spectralRadius: [0.3, 0.6, 0.9, 1.1], leakRate: [0.2, 0.3, 0.5], inputScaling: [0.1, 0.2, 0.4], bias: [0, 0.8] },
  GunPoint: { spectralRadius: [0.9, 1.1], leakRate: [0.02, 0.05, 0.1], inputScaling: [0.3, 1, 2], bias: [0, 0.3] },
  ItalyPowerDemand: { spectralRadius: [0.7, 0.9, 1.1], leakRate: [0.5, 1], inputScaling: [0.1, 0.3, 1], bias: [0, 0.5] },
};
const lambdas = [1e-5, 1e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1, 10];
const seeds = ["tune 0", "tune 1", "tune 2", "tune 3", "tune 4"];
const folds = 5;
const size = 200;

const name = process.argv[2];
const grid = grids[name];
if (!grid) throw new Error(`give one of ${Object.keys(grids).join(", ")}`);
const folder = process.env.SPILLWAY_DATA ?? "../shared/data";
const { sequences, labels, classes, channels } = await readUea(`${folder}/uea/${name}_TRAIN.ts`);
const cases = sequences.length;

const scaled = standardised(sequences);
const oneHot = Matrix.zeros(cases, classes.length);
const counts = new Map();
const foldOf = labels.map((label, i) => {
  oneHot.data[i * classes.length + classes.indexOf(label)] = 1;
  counts.set(label, (counts.get(label) ?? -1) + 1);
  return counts.get(label) % folds;
});

/** Z-scores per channel over all training rows. */
function standardised(list) {
  const channel = Array.from({ length: channels }, (_, c) => moments(list.flatMap((series) => [...series.column(c)])));
  return list.map((series) => {
    const data = series.data.map((value, i) => (value - channel[i % channels].mean) / channel[i % channels].deviation);
    return new Matrix(series.rows, channels, data);
  });
}

function moments(values) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return { mean, deviation: Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length) };
}

/** The last row and the mean row of each series, beside each other. */
function statistics(list) {
  const cols = list[0].cols;
  const out = Matrix.zeros(cases, 2 * cols);
  list.forEach((series, i) => {
    for (let c = 0; c < cols; c++) {
      let sum = 0;
      for (let t = 0; t < series.rows; t++) sum += series.at(t, c);
      out.row(i)[c] = series.at(series.rows - 1, c);
      out.row(i)[cols + c] = sum / series.rows;
    }
  });
  return out;
}

function beside(left, right) {
  const out = Matrix.zeros(left.rows, left.cols + right.cols);
  for (let i = 0; i < left.rows; i++) {
    out.row(i).set(left.row(i));
    out.row(i).set(right.row(i), left.cols);
  }
  return out;
}

function rowsWhere(matrix, wanted) {
  const rows = foldOf.flatMap((fold, i) => (wanted(fold) ? [i] : []));
  const out = Matrix.zeros(rows.length, matrix.cols);
  rows.forEach((i, r) => {
    out.row(r).set(matrix.row(i));
  });
  return { rows, out };
}

const largest = (row) => row.reduce((best, value, k) => (value > row[best] ? k : best), 0);

function* combinations(fields, chosen = {}) {
  const [first, ...rest] = fields;
  if (!first) yield chosen;
  else for (const value of grid[first]) yield* combinations(rest, { ...chosen, [first]: value });
}

const inputStatistics = statistics(scaled);
const results = [];
for (const reservoir of combinations(Object.keys(grid))) {
  const found = new Map();
  for (const seed of seeds) {
    const computer = await ReservoirComputer.create({ size, inputSize: channels, ...reservoir, seed });
    const plain = statistics(await computer.batch(scaled));
    await computer.dispose();
    for (const input of [false, true]) {
      const features = input ? beside(plain, inputStatistics) : plain;
      for (let fold = 0; fold < folds; fold++) {
        const train = rowsWhere(features, (f) => f !== fold).out;
        const targets = rowsWhere(oneHot, (f) => f !== fold).out;
        const held = rowsWhere(features, (f) => f === fold);
        for (const lambda of lambdas) {
          const key = JSON.stringify({ ...reservoir, input, lambda });
          if (!found.has(key)) found.set(key, { errors: 0, scores: Matrix.zeros(cases, classes.length) });
          const entry = found.get(key);
          const scores = ridge({ lambda, solver: "dual" }).fit(train, targets).predict(held.out);
          held.rows.forEach((i, r) => {
            const row = scores.row(r);
            if (classes[largest(row)] !== labels[i]) entry.errors += 1 / seeds.length;
            row.forEach((value, k) => {
              entry.scores.data[i * classes.length + k] += value / seeds.length;
            });
          });
        }
      }
    }
  }
  for (const [key, { errors, scores }] of found) {
    const squared = scores.data.reduce((sum, value, i) => sum + (value - oneHot.data[i]) ** 2, 0) / cases;
    results.push({ key, errors, squared });
  }
}
results.sort((a, b) => a.errors - b.errors || a.squared - b.squared);
for (const { key, errors, squared } of results.slice(0, 12)) {
  console.log(`${errors.toFixed(1)} errors of ${cases}, squared error of the mean scores ${squared.toFixed(4)}: ${key}`);
}
