// What a search is worth on reservoirs: 200 trials of TPE and of random settings beside the
// defaults, ten studies each with a series and seeds of its own: `npm run bench:search:experiments`.
// Usage: node bench/search/experiments.mjs [--tasks a,b] [--studies 10] [--trials 200] [--jobs 2]
// Scores are those of the test part, which no trial sees; data/series is read from SPILLWAY_DATA.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { runExperiment, searchExperiment } from "../../dist/experiment/index.js";

const folder = join(process.env.SPILLWAY_DATA ?? "../shared/data", "series");

/** Every method starts from these fields, which say data and protocol and no setting. */
const tasks = {
  narma10: {
    data: { task: "narma", redraw: true },
    reservoir: { size: 200 },
    task: "predict",
    washout: 200,
    split: { train: 2200, test: 2000 },
    metrics: ["nrmse"],
  },
  "mackey-glass": {
    data: { task: "mackeyGlass", options: { tau: 17, method: "euler", step: 0.1 }, redraw: true },
    transforms: ["squash"],
    reservoir: { size: 400, connectionProbability: 0.0125, precision: "float64" },
    readout: { type: "ridge", solver: "qr" },
    task: { type: "forecast", horizon: 84, starts: 20, warmup: 1000, independent: true },
    washout: 1000,
    split: { train: 3000 },
    metrics: ["nrmseAtHorizon"],
  },
  lorenz: {
    data: { task: "lorenz", options: { dt: 0.02, discard: 1000 }, redraw: true },
    reservoir: { size: 300, precision: "float64" },
    task: { type: "forecast", horizon: 1200, starts: 30, warmup: 200 },
    washout: 100,
    split: { train: 5000, test: 20000 },
    metrics: ["validPredictionTime"],
  },
  load: {
    data: { file: join(folder, "made-load.csv"), columns: ["load_mw"], time: "timestamp", missing: "interpolate" },
    reservoir: { size: 200 },
    task: { type: "forecast", horizon: 24, starts: 50, warmup: 192 },
    split: { train: 0.8 },
    metrics: ["nrmse"],
    baselines: [{ autoregression: 192 }],
  },
  "load-france": {
    data: { file: join(folder, "load_rte.csv"), columns: ["y"], time: "ds" },
    reservoir: { size: 200 },
    task: { type: "forecast", horizon: 24, starts: 50, warmup: 192 },
    split: { train: 0.8 },
    metrics: ["nrmse"],
    baselines: [{ autoregression: 192 }],
  },
};

/** What is searched: the same for all tasks but lags of loads, and the penalty without noise. */
const common = {
  "reservoir.spectralRadius": { float: [0.1, 1.5] },
  "reservoir.leakRate": { float: [0.1, 1] },
  "reservoir.inputScaling": { float: [0.01, 2], log: true },
  "reservoir.bias": { float: [0, 1] },
  "readout.lambda": { float: [1e-12, 1], log: true },
};
const lags = { "task.lags": { choice: [0, 28, 192] } };
const spaces = {
  load: { ...common, ...lags },
  "load-france": { ...common, ...lags },
  "mackey-glass": { ...common, "readout.lambda": { float: [1e-18, 1e-6], log: true } },
};

/** The test score of a study, over ten seeds that no trial had, and its baselines. */
async function testScore(name, method, study, trials) {
  const experiment = { name: `${name}-${study}`, ...tasks[name], outputs: { report: false } };
  const seeds = [0, 1, 2].map((k) => 1000 * (study + 1) + k);
  const search = { space: spaces[name] ?? common, seeds, sampler: { type: method, seed: study }, budget: { trials }, refit: { seeds: 10 } };
  const result =
    method === "defaults"
      ? (await runExperiment({ ...experiment, seeds: Array.from({ length: 10 }, (_, k) => k + 3) })).result
      : (await searchExperiment({ ...experiment, search })).refit;
  const [{ value, better, baselines }] = result.scores;
  return { name, method, study, value, better, baselines };
}

const { values: options } = parseArgs({
  options: {
    tasks: { type: "string", default: Object.keys(tasks).join(",") },
    studies: { type: "string", default: "10" },
    trials: { type: "string", default: "200" },
    jobs: { type: "string", default: "2" },
    job: { type: "string" },
  },
});
const trials = Number(options.trials);

if (options.job !== undefined) {
  const [name, method, study] = options.job.split(":");
  console.log(JSON.stringify(await testScore(name, method, Number(study), trials)));
} else {
  const names = options.tasks.split(",").filter((name) => !name.startsWith("load") || existsSync(folder));
  const studies = Array.from({ length: Number(options.studies) }, (_, k) => k);
  const waiting = studies.flatMap((study) =>
    names.flatMap((name) => [...(study === 0 ? ["defaults"] : []), "random", "tpe"].map((method) => `${name}:${method}:${study}`)),
  );
  const results = [];
  const work = async () => {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) results.push(await inProcess(job));
  };
  await Promise.all(Array.from({ length: Number(options.jobs) }, work));
  for (const name of names) print(name, results);
}

/** One study in a process of its own, so that several take several cores. */
async function inProcess(job) {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), "--job", job, "--trials", String(trials)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (data) => (text += data));
  const status = await new Promise((resolve) => child.on("close", resolve));
  if (status !== 0) throw new Error(`${job} ended with ${status}`);
  const result = JSON.parse(text.trim().split("\n").at(-1));
  console.log(`${job} ${result.value.toPrecision(4)}`);
  return result;
}

/** A row a method: the median of the studies, their quartiles, and the baselines once. */
function print(name, results) {
  const mine = results.filter((result) => result.name === name);
  const of = (method) => mine.filter((result) => result.method === method).map(({ value }) => value);
  const show = (value) => value.toPrecision(3);
  const line = (method) => {
    const sorted = of(method).sort((a, b) => a - b);
    const at = (share) => sorted[Math.round(share * (sorted.length - 1))];
    return sorted.length === 0 ? "" : `${method} ${show(at(0.5))} [${show(at(0.25))} ${show(at(0.75))}]`;
  };
  const { better, baselines } = mine[0];
  const wins = mine
    .filter(({ method }) => method === "tpe")
    .filter(({ study, value }) => {
      const random = mine.find((other) => other.method === "random" && other.study === study)?.value;
      return better === "lower" ? value < random : value > random;
    }).length;
  console.log(`${name}, ${better} is better: ${["defaults", "random", "tpe"].map(line).join("; ")}; tpe better in ${wins} studies`);
  console.log(`  ${baselines.map(({ name: baseline, value }) => `${baseline} ${show(value)}`).join(", ")}`);
}
