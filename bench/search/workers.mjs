// What worker threads give a search: `npm run bench:search:workers [TRIALS] [REPEATS]`. NARMA-10,
// 200 neurons, 2200 training rows, three seeds a trial, Sobol trials, so that all do the same work.
// One worker and several take turns. On a machine that is shared, what others take of the cores
// counts in the seconds and not in the processor time: "free cores" is what that time comes to
// with nothing beside, one worker's main thread over an equal share of the others' whole time.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { searchExperiment } from "../../dist/api/experiment.js";

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
      "readout.lambda": { sweep: [1e-10, 1], points: 11 },
    },
    sampler: "sobol",
    seeds: 3,
    budget: { trials },
  },
};
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** Seconds that the main thread was at work, by Linux; NaN elsewhere. */
function mainThreadSeconds() {
  try {
    const fields = readFileSync(`/proc/self/task/${process.pid}/stat`, "utf8").split(") ").at(-1).split(" ");
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return Number.NaN;
  }
}

if (process.argv[4] !== undefined) {
  const { result } = await searchExperiment(experiment, { workers: Number(process.argv[4]), refit: false });
  const { user, system } = process.cpuUsage();
  console.log(JSON.stringify({ all: (user + system) / 1e6, main: mainThreadSeconds(), found: [result.best, result.validation] }));
} else compare();

/** A search in a process of its own: nothing is compiled or known before. */
function search(workers) {
  const begun = performance.now();
  const args = [fileURLToPath(import.meta.url), String(trials), "1", String(workers)];
  const said = spawnSync(process.execPath, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }).stdout;
  return { wall: (performance.now() - begun) / 1000, ...JSON.parse(said) };
}

function compare() {
  const rounds = Array.from({ length: repeats }, () => [1, 2, 4].map(search));
  const cores = availableParallelism();
  console.log(`${trials} trials of 3 seeds and 11 lambdas, ${cores} cores, medians of ${repeats}, load ${loadavg()[0].toFixed(1)}`);
  console.log("workers      seconds  processor seconds  times one  on free cores");
  for (const [i, workers] of [1, 2, 4].entries()) {
    const of = (figure) => median(rounds.map((runs) => figure(runs[i], runs[0])));
    const free = (run, one) => one.main / (workers > 1 ? run.all / Math.min(workers, cores) : run.main);
    const figures = [of(({ wall }) => wall), of(({ all }) => all), of((run, one) => one.wall / run.wall), of(free)];
    console.log([String(workers).padStart(7), ...figures.map((figure) => figure.toFixed(2).padStart(13))].join(""));
  }
  const best = new Set(rounds.flat().map(({ found }) => JSON.stringify(found)));
  console.log(best.size === 1 ? "the same best setting and score each time" : "DIFFERENT results");
  process.exitCode = best.size === 1 ? 0 : 1;
}
