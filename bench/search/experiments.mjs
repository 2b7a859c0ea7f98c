// What a search is worth on reservoirs: 200 trials of TPE and of random settings beside the
// defaults, ten studies each with a series and seeds of its own: `npm run bench:search:experiments`.
// Usage: node bench/search/experiments.mjs [--tasks a,b] [--methods tpe] [--studies 10] [--trials 200]
//        [--jobs 2] [--out FOLDER] [--seconds 560]
// Scores are those of the test part, which no trial sees; data/series is read from SPILLWAY_DATA.
// Each study is a process of its own, the longest first. With --out the folder holds results.jsonl,
// a line a study that is through, and unfinished.json.gz, the journals of the others, written anew
// every ten seconds: what is there is not done again, so the bench can be stopped after --seconds,
// killed, carried to another machine and gone on with, from the same SPILLWAY_DATA: a study is of
// its file. table.md is what is printed.
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, constants, setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gunzipSync, gzipSync } from "node:zlib";
import { runExperiment, searchExperiment } from "../../dist/api/experiment.js";

const folder = join(process.env.SPILLWAY_DATA ?? "../shared/data", "series");

/** Public holidays of France in the years of the series. */
const holidays = [
  ...["2017-01-01", "2017-04-17", "2017-05-01", "2017-05-08", "2017-05-25", "2017-06-05", "2017-07-14", "2017-08-15"],
  ...["2017-11-01", "2017-11-11", "2017-12-25", "2018-01-01", "2018-04-02", "2018-05-01", "2018-05-08", "2018-05-10"],
  ...["2018-05-21", "2018-07-14", "2018-08-15", "2018-11-01", "2018-11-11", "2018-12-25"],
];

const dayAhead = {
  reservoir: { size: 200 },
  task: { type: "forecast", horizon: 24, starts: 50, warmup: 192 },
  split: { train: 0.8 },
  metrics: ["nrmse"],
  baselines: [{ autoregression: 192 }, { seasonalNaive: 24 }, { seasonalNaive: 168 }, "persistence"],
};
const mackeyGlass = {
  data: { task: "mackeyGlass", options: { tau: 17, method: "euler", step: 0.1 }, redraw: true },
  transforms: ["squash"],
  reservoir: { size: 400, connectionProbability: 0.0125, precision: "float64" },
  readout: { type: "ridge", solver: "qr" },
  task: { type: "forecast", horizon: 84, starts: 20, warmup: 1000, independent: true },
  washout: 200,
  split: { train: 3000 },
  metrics: ["nrmseAtHorizon"],
  baselines: [{ autoregression: 24 }, "persistence", "mean"],
};

/**
 * Every method starts from these fields, which say data and protocol and no setting. Tasks whose
 * studies take longest stand first.
 */
const tasks = {
  "mackey-glass": mackeyGlass,
  "mackey-glass-plain": mackeyGlass,
  "load-france": {
    data: { file: join(folder, "load_rte.csv"), columns: ["y"], time: "ds", calendar: ["hour", "weekday", { holidays }] },
    ...dayAhead,
  },
  load: {
    data: {
      ...{ file: join(folder, "made-load.csv"), columns: ["load_mw"], time: "timestamp", missing: "interpolate" },
      calendar: ["hour", "weekday"],
    },
    ...dayAhead,
  },
  lorenz: {
    data: { task: "lorenz", options: { dt: 0.02, discard: 1000 }, redraw: true },
    reservoir: { size: 300, precision: "float64" },
    task: { type: "forecast", horizon: 1200, starts: 30, warmup: 200 },
    washout: 100,
    split: { train: 5000, test: 20000 },
    metrics: ["validPredictionTime"],
    baselines: [{ autoregression: 24 }, "persistence", "mean"],
  },
  narma10: {
    data: { task: "narma", redraw: true },
    reservoir: { size: 200 },
    task: "predict",
    washout: 200,
    split: { train: 2200, test: 2000 },
    metrics: ["nrmse"],
    baselines: ["persistence", "mean"],
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
const loads = { ...common, "readout.lambda": { float: [1e-4, 1000], log: true }, "task.lags": { choice: [0, 28, 192] } };
const mackeySpace = { ...common, "readout.lambda": { float: [1e-18, 1e-6], log: true } };
const spaces = {
  load: loads,
  "load-france": loads,
  "mackey-glass": { ...mackeySpace, "readout.transform": { choice: ["plain", "squares"] } },
  "mackey-glass-plain": mackeySpace,
};

/** How a setting is scored inside the training part, if not as the task says. */
const objectives = {
  // Starts that do not lie on top of each other, and steps as far as a forecast is good for.
  lorenz: { rows: 2000, starts: 10, horizon: 700 },
};

/** Seeds of a trial: a load's forecast is the median of three reservoirs, so one is enough. */
const members = { load: 3, "load-france": 3 };

/** The test score of a study, over ten seeds that no trial had, and its baselines. */
async function testScore(name, method, study, { storage, signal }) {
  const { task } = tasks[name];
  const experiment = { name: `${name}-${study}`, ...tasks[name], outputs: { report: false, model: false } };
  if (method === "defaults") {
    const seeds = Array.from({ length: 10 }, (_, k) => k + 3);
    const { result } = await runExperiment({ ...experiment, seeds }, { signal });
    return described(name, method, study, result);
  }
  const count = members[name];
  const seeds = (count ? [0] : [0, 1, 2]).map((k) => 1000 * (study + 1) + k);
  const search = {
    space: spaces[name] ?? common,
    objective: objectives[name] ?? {},
    ...{ seeds, sampler: { type: method, seed: study }, budget: { trials }, refit: { seeds: 10 } },
  };
  // Baselines are those of the defaults.
  const own = { ...experiment, baselines: [], ...(count && { task: { ...task, members: count } }) };
  const { refit, result } = await searchExperiment({ ...own, search }, { storage, signal });
  return { ...described(name, method, study, refit), best: result.best.values, validation: result.validation };
}

function described(name, method, study, { scores }) {
  const [{ value, better, baselines }] = scores;
  return { name, method, study, value, better, baselines };
}

const { values: options } = parseArgs({
  options: {
    tasks: { type: "string", default: Object.keys(tasks).join(",") },
    methods: { type: "string", default: "defaults,random,tpe" },
    studies: { type: "string", default: "10" },
    trials: { type: "string", default: "200" },
    jobs: { type: "string", default: String(availableParallelism()) },
    out: { type: "string" },
    seconds: { type: "string" },
    job: { type: "string" },
  },
});
const trials = Number(options.trials);

/** One study. SIGTERM stops it, and its trials stay in its journal. */
async function doJob(job) {
  const [name, method, study] = job.split(":");
  const stop = new AbortController();
  process.once("SIGTERM", () => stop.abort());
  const path = join(options.out, fileOf(job));
  const found = await testScore(name, method, Number(study), { storage: `${path}.log`, signal: stop.signal }).catch((error) => {
    if (!stop.signal.aborted) throw error;
  });
  if (found?.value === undefined) process.exit(75);
  writeFileSync(`${path}.json`, JSON.stringify(found));
}

async function distribute() {
  const names = Object.keys(tasks).filter(
    (name) => options.tasks.split(",").includes(name) && (!name.startsWith("load") || existsSync(folder)),
  );
  const methods = options.methods.split(",");
  const studies = Array.from({ length: Number(options.studies) }, (_, k) => k);
  const jobs = names.flatMap((name) =>
    studies.flatMap((study) =>
      methods.filter((method) => method !== "defaults" || study === 0).map((method) => `${name}:${method}:${study}`),
    ),
  );
  const scratch = mkdtempSync(join(tmpdir(), "spillway-bench-"));
  const kept = new Keeper(options.out, scratch);
  const waiting = jobs.filter((job) => !kept.results.has(job));
  const running = new Set();
  const over = options.seconds === undefined ? undefined : setTimeout(stopAll, 1000 * Number(options.seconds));
  const keeping = setInterval(() => kept.keepJournals(), 10_000);
  const work = async () => {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) if (await inProcess(job, scratch, running)) kept.add(job);
  };
  function stopAll() {
    waiting.length = 0;
    for (const child of running) child.kill("SIGTERM");
  }
  process.once("SIGTERM", stopAll);
  await Promise.all(Array.from({ length: Number(options.jobs) }, work));
  clearTimeout(over);
  clearInterval(keeping);
  kept.keepJournals();
  rmSync(scratch, { recursive: true });
  const results = jobs.flatMap((job) => kept.results.get(job) ?? []);
  const rows = names.filter((name) => results.some((result) => result.name === name)).map((name) => row(name, results));
  const head = "| task (better) | defaults | random | TPE | TPE better | baselines |\n|---|---|---|---|---|---|";
  const text = `${results.length} of ${jobs.length} studies are through\n\n${[head, ...rows].join("\n")}\n`;
  console.log(text);
  if (options.out !== undefined) writeFileSync(join(options.out, "table.md"), text);
}

function fileOf(job) {
  return job.replaceAll(":", "-");
}

/** What stands in the folder of the results, if there is one, and comes from the scratch folder. */
class Keeper {
  results = new Map();
  #out;
  #scratch;

  constructor(out, scratch) {
    this.#out = out;
    this.#scratch = scratch;
    if (out === undefined) return;
    mkdirSync(out, { recursive: true });
    // A line that was cut off has no end; its study is done again.
    const lines = existsSync(this.#lines) ? readFileSync(this.#lines, "utf8").split("\n").slice(0, -1) : [];
    writeFileSync(this.#lines, lines.map((line) => `${line}\n`).join(""));
    for (const line of lines) {
      const result = JSON.parse(line);
      this.results.set(`${result.name}:${result.method}:${result.study}`, result);
    }
    if (!existsSync(this.#journals)) return;
    const journals = JSON.parse(gunzipSync(readFileSync(this.#journals)).toString());
    for (const [name, text] of Object.entries(journals)) writeFileSync(join(scratch, name), text);
  }

  get #lines() {
    return join(this.#out, "results.jsonl");
  }

  get #journals() {
    return join(this.#out, "unfinished.json.gz");
  }

  /** Takes over the result of a study that is through. */
  add(job) {
    const path = join(this.#scratch, fileOf(job));
    const result = JSON.parse(readFileSync(`${path}.json`, "utf8"));
    this.results.set(job, result);
    if (this.#out !== undefined) appendFileSync(this.#lines, `${JSON.stringify(result)}\n`);
    rmSync(`${path}.log`, { force: true });
  }

  keepJournals() {
    if (this.#out === undefined) return;
    const names = readdirSync(this.#scratch).filter((name) => name.endsWith(".log"));
    const journals = Object.fromEntries(names.map((name) => [name, readFileSync(join(this.#scratch, name), "utf8")]));
    writeFileSync(`${this.#journals}.part`, gzipSync(JSON.stringify(journals), { level: 1 }));
    renameSync(`${this.#journals}.part`, this.#journals);
  }
}

/** One study in a process of its own, behind everything else; so several take several cores. */
async function inProcess(job, out, running) {
  const words = ["--job", job, "--trials", String(trials), "--out", out];
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), ...words], { stdio: ["ignore", "inherit", "inherit"] });
  setPriority(child.pid, constants.priority.PRIORITY_LOW);
  running.add(child);
  const begun = performance.now();
  const status = await new Promise((resolve) => child.on("close", resolve));
  running.delete(child);
  console.log(`${job} ${status === 0 ? "through" : `ended with ${status}`} after ${((performance.now() - begun) / 1000).toFixed(0)} s`);
  return status === 0;
}

/** A row a task: the median of the studies with quartiles and how many there are, and baselines. */
function row(name, results) {
  const mine = results.filter((result) => result.name === name);
  const of = (method) => mine.filter((result) => result.method === method);
  const show = (value) => (value !== 0 && Math.abs(value) < 1e-3 ? value.toExponential(2) : value.toPrecision(3));
  const cell = (method) => {
    const sorted = of(method)
      .map(({ value }) => value)
      .sort((a, b) => a - b);
    const at = (share) => sorted[Math.round(share * (sorted.length - 1))];
    if (sorted.length === 0) return "";
    if (method === "defaults") return show(sorted[0]);
    return `${show(at(0.5))} [${show(at(0.25))} ${show(at(0.75))}] of ${sorted.length}`;
  };
  const { better } = mine[0];
  const baselines = of("defaults")[0]?.baselines ?? [];
  const randoms = new Map(of("random").map(({ study, value }) => [study, value]));
  const pairs = of("tpe").filter(({ study }) => randoms.has(study));
  const wins = pairs.filter(({ study, value }) => (better === "lower" ? value < randoms.get(study) : value > randoms.get(study)));
  const beside = baselines.map(({ name: baseline, value }) => `${baseline} ${show(value)}`).join(", ");
  const cells = [`${name} (${better})`, cell("defaults"), cell("random"), cell("tpe"), `${wins.length} of ${pairs.length}`, beside];
  return `| ${cells.join(" | ")} |`;
}

if (options.job !== undefined) await doJob(options.job);
else await distribute();
