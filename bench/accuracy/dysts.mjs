// The dysts table: 131 chaotic systems by the published protocol, beside the stored results of other
// models. Usage:
//   node bench/accuracy/dysts.mjs [--candidates 60] [--repeats 3] [--threads 2]
//   node bench/accuracy/dysts.mjs --engine cuda [--candidates 10000] [--repeats 3] [--precision float64] \
//     [--cuts 30,45,60] [--combine mean] [--best 10]
// The second tries the same candidates on every system, all of them by sweeps on one engine;
// choose-dysts.mjs says what its last flags may be.
import { existsSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { RandomStream, seedKeys } from "spillway/numerics";
import { choose, choosingSeries, fitted, forecast, leftOut, median, medians, parseWithNaN, scored, smape } from "./dysts-protocol.mjs";
import { candidatesOf, combinations, combined, forecastsOf, ranked, scoresOf } from "./dysts-sweep.mjs";

const mostBest = 10;
const folder = `${process.env.SPILLWAY_DATA ?? "../shared/data"}/dysts`;
if (!existsSync(folder)) throw new Error(`no data in ${folder}: set SPILLWAY_DATA to the folder that holds dysts/`);
const name = "univariate__pts_per_period_15__periods_12.json";
const read = (file) => parseWithNaN(readFileSync(`${folder}/${file}`, "utf8"));
const [train, test] = [read(`train_${name}`), read(`test_${name}`)];
const stored = read("benchmark_results.json");
const systems = Object.keys(test)
  .filter((system) => system in stored.smape)
  .sort();

/** The score of one system, and the seconds that choosing and the ten fits took. */
async function solve(system, repeat, candidates) {
  const series = test[system].values;
  const begun = performance.now();
  const tried = await choose(system, repeat, choosingSeries(train[system].values, series), candidates);
  const chosen = performance.now();
  const forecasts = [];
  for (const { settings } of tried.slice(0, mostBest)) forecasts.push(await forecast(settings, series));
  return {
    system,
    repeat,
    score: smape(series.slice(fitted, fitted + scored), medians(forecasts)),
    choosing: (chosen - begun) / 1000,
    fitting: (performance.now() - chosen) / 1000,
  };
}

if (!isMainThread) {
  const { candidates } = workerData;
  parentPort.on("message", async ({ system, repeat }) => parentPort.postMessage(await solve(system, repeat, candidates)));
} else await main();

/** Every repeat by sweeps: scores of all systems, and seconds in all. */
async function bySweeps({ engine, candidates, repeats, precision, cuts, combine, best }) {
  const results = [];
  const seconds = [];
  let reason;
  for (let repeat = 0; repeat < repeats; repeat++) {
    const begun = performance.now();
    const drawn = candidatesOf(repeat, candidates);
    const tests = systems.map((system) => test[system].values);
    const choosing = systems.map((system, s) => choosingSeries(train[system].values, tests[s]));
    const found = await scoresOf(drawn, choosing, cuts, { engine, precision });
    reason = found.reason;
    const chosen = performance.now();
    const forecasts = await forecastsOf(drawn, tests, fitted, { engine, precision });
    const ended = performance.now();
    for (const [s, system] of systems.entries()) {
      const made = combined(ranked(found.scores[s], combinations[combine]), forecasts[s], best);
      results.push({
        ...{ system, repeat, score: smape(tests[s].slice(fitted, fitted + scored), made) },
        ...{ choosing: (chosen - begun) / 1000, fitting: (ended - chosen) / 1000 },
      });
    }
    seconds.push((performance.now() - begun) / 1000);
    process.stderr.write(`\r${repeat + 1} of ${repeats} repeats, ${seconds.at(-1).toFixed(1)} s `);
  }
  for (const each of results) for (const field of ["choosing", "fitting"]) each[field] /= systems.length;
  return { results, ran: `${reason}; by the clock ${seconds.map((each) => each.toFixed(1)).join(", ")} s` };
}

/** Every repeat by threads that try a system's own candidates. */
async function byThreads({ candidates, repeats, threads }) {
  const work = Array.from({ length: repeats }, (_, repeat) => systems.map((system) => ({ system, repeat }))).flat();
  const results = [];
  const begun = performance.now();
  await Promise.all(
    Array.from({ length: threads }, () => {
      const worker = new Worker(new URL(import.meta.url), { workerData: { candidates } });
      return new Promise((done, fail) => {
        const next = () => {
          const job = work.shift();
          if (job) worker.postMessage(job);
          else worker.terminate().then(done);
        };
        worker.on("error", fail);
        worker.on("message", (result) => {
          results.push(result);
          process.stderr.write(`\r${results.length} of ${systems.length * repeats} `);
          next();
        });
        next();
      });
    }),
  );
  return { results, ran: `${threads} threads; ${((performance.now() - begun) / 1000 / repeats).toFixed(0)} s a repeat by the clock` };
}

async function main() {
  const text = { type: "string" };
  const { values: flags } = parseArgs({
    options: {
      ...{ engine: text, candidates: text, repeats: text, threads: text },
      ...{ precision: text, cuts: text, combine: text, best: text },
    },
  });
  const candidates = Number(flags.candidates ?? (flags.engine ? 10_000 : 60));
  const [repeats, threads] = [flags.repeats ?? 3, flags.threads ?? 2].map(Number);
  const { precision = "float64", combine = "mean" } = flags;
  const best = Number(flags.best ?? mostBest);
  const cuts = flags.cuts?.split(",").map(Number) ?? leftOut;
  const { results, ran } = flags.engine
    ? await bySweeps({ engine: flags.engine, candidates, repeats, precision, cuts, combine, best })
    : await byThreads({ candidates, repeats, threads });
  process.stderr.write("\n");
  const nbeats = stored.models.indexOf("NBEATSModel");
  const toBeat = systems.map((system) => stored.smape[system][nbeats]);
  console.log(`sMAPE of ${systems.length} systems: fitted on ${fitted} rows, scored on the ${scored} after them`);
  console.log(`| model | mean +- standard error | median (95 % interval) | below NBEATS |\n|---|---|---|---|`);
  const line = (model, scores) => {
    const kept = scores.map((value, i) => [value, toBeat[i]]).filter(([value]) => Number.isFinite(value));
    const values = kept.map(([value]) => value);
    const wins = kept.filter(([value, other]) => value < other).length / kept.length;
    console.log(`| ${model} | ${meanAndError(values)} | ${medianAndInterval(values)} | ${wins.toFixed(2)} |`);
    return { mean: mean(values), wins };
  };
  for (const [m, model] of stored.models.entries())
    line(
      `${model} (stored)`,
      systems.map((system) => stored.smape[system][m] ?? Number.NaN),
    );
  const naive = (make) =>
    systems.map((system) => smape(test[system].values.slice(fitted, fitted + scored), make(test[system].values.slice(0, fitted))));
  line(
    "persistence",
    naive((rows) => Array(scored).fill(rows.at(-1))),
  );
  line(
    "mean",
    naive((rows) => Array(scored).fill(mean(rows))),
  );
  line(
    "seasonal naive, 15 rows",
    naive((rows) => Array.from({ length: scored }, (_, t) => rows[rows.length - 15 + (t % 15)])),
  );
  const all = [];
  for (let repeat = 0; repeat < repeats; repeat++) {
    const of = new Map(results.filter((result) => result.repeat === repeat).map((result) => [result.system, result.score]));
    all.push(
      line(
        `spillway, median of the ${best} best of ${candidates}, repeat ${repeat}`,
        systems.map((system) => of.get(system)),
      ),
    );
  }
  const sum = (field) => results.reduce((total, result) => total + result[field], 0) / repeats;
  const overall = { mean: mean(all.map((one) => one.mean)), wins: mean(all.map((one) => one.wins)) };
  console.log(
    `\n200 neurons, ${flags.engine ? precision : "float64"}, ${candidates} candidates, ${combine} of cuts ${cuts.join(", ")}: choosing ${sum("choosing").toFixed(1)} s and forecasting ` +
      `${sum("fitting").toFixed(1)} s a repeat; ${ran}`,
  );
  const [bar, share] = candidates < 10_000 ? [54, 68] : [52, 70];
  console.log(
    `mean of ${repeats} repeats: ${overall.mean.toFixed(1)} (bar ${bar}), below NBEATS ${(100 * overall.wins).toFixed(0)} % (bar ${share} %)`,
  );
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function meanAndError(values) {
  const centre = mean(values);
  const variance = values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (values.length - 1);
  return `${centre.toFixed(2)} +- ${Math.sqrt(variance / values.length).toFixed(1)}`;
}

/** Bootstrap over systems, 2,000 draws of a fixed seed. */
function medianAndInterval(values) {
  const draws = new RandomStream(seedKeys("dysts bootstrap").weights, 0);
  const found = Array.from({ length: 2000 }, (_, b) =>
    median(values.map((_, i) => values[Math.min(values.length - 1, Math.floor(draws.uniform(i, b) * values.length))])),
  ).sort((a, b) => a - b);
  return `${median(values).toFixed(1)} (${found[50].toFixed(1)} to ${found[1949].toFixed(1)})`;
}
