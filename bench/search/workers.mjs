// What worker threads give a search: `npm run bench:search:workers [TRIALS] [REPEATS]`. NARMA-10,
// 200 neurons, 2200 training rows, three seeds a trial, Sobol trials, so that all do the same work.
// One worker and several take turns; on a machine that is shared, take the ratio.
import { availableParallelism } from "node:os";
import { searchExperiment } from "../../dist/experiment/index.js";

const trials = Number(process.argv[2] ?? 256);
const repeats = Number(process.argv[3] ?? 3);
const experiment = {
  name: "narma10",
  data: { task: "narma" },
  reservoir: { size: 200, connectionProbability: 0.1 },
  task: "predict",
  washout: 200,
  split: { train: 2200, test: 1000 },
  metrics: ["nrmse"],
  search: {
    space: {
      "reservoir.spectralRadius": { float: [0.1, 1.5] },
      "reservoir.inputScaling": { float: [0.01, 2], log: true },
      "readout.lambda": { ladder: [1e-10, 1], points: 11 },
    },
    sampler: "sobol",
    seeds: 3,
    budget: { trials },
  },
};
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

const took = { 1: [], 2: [], 4: [] };
const best = new Set();
for (let repeat = 0; repeat < repeats; repeat++)
  for (const workers of [1, 2, 4]) {
    const [before, begun] = [process.cpuUsage(), performance.now()];
    const { result } = await searchExperiment(experiment, { workers, refit: false });
    const { user } = process.cpuUsage(before);
    best.add(JSON.stringify([result.best, result.validation]));
    took[workers].push({ wall: (performance.now() - begun) / 1000, user: user / 1e6 });
  }
console.log(`${trials} trials of 3 seeds and 11 lambdas, ${availableParallelism()} cores, medians of ${repeats}`);
console.log("workers  seconds  user seconds  times one");
for (const [workers, runs] of Object.entries(took)) {
  const ratio = median(runs.map(({ wall }, i) => took[1][i].wall / wall));
  const figures = [median(runs.map(({ wall }) => wall)), median(runs.map(({ user }) => user)), ratio];
  console.log([workers.padStart(7), ...figures.map((figure) => figure.toFixed(2).padStart(11))].join(""));
}
console.log(best.size === 1 ? "the same best setting and score each time" : "DIFFERENT results");
process.exitCode = best.size === 1 ? 0 : 1;
