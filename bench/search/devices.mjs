// What several GPUs give a sweep of many candidates: NARMA-10, N = 200, p = .1, 2000 rows of which
// the last 500 score; a process a GPU, each with its share of the cores, started and warm.
//   A  1000 seeds x 100 settings on one GPU, no radius known
//   C  the same seeds and settings, shared out to all GPUs
//   D  the same number of seeds again for each GPU: all of them on one GPU, and shared out to all
// Usage: node bench/search/devices.mjs [--engines cuda:0,cuda:1,cuda:2,cuda:3] [--seeds 1000]
//        [--settings 100] [--size 200] [--rows 2000] [--rounds 3], whose median counts
// It ends with 1 if what is shared out has another best reservoir, or the same with other bits.
import { execFileSync, fork } from "node:child_process";
import { availableParallelism, cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { narma, sweepReadouts } from "spillway";

const text = (value) => ({ type: "string", default: value });
const { values: flags } = parseArgs({
  options: {
    ...{ engines: text("cuda:0,cuda:1,cuda:2,cuda:3"), seeds: text("1000"), settings: text("100") },
    ...{ size: text("200"), rows: text("2000"), rounds: text("3"), engine: { type: "string" } },
  },
});
const [seedCount, settingCount, size, rows, rounds] = [flags.seeds, flags.settings, flags.size, flags.rows, flags.rounds].map(Number);

if (flags.engine !== undefined) serve();
else await measure();

/** A process of one device: sweeps over the seeds that it is asked for. */
function serve() {
  const { inputs, targets } = narma(rows, { seed: 1 });
  process.on("message", async ({ first, count, settings: some }) => {
    const seeds = Array.from({ length: count }, (_, s) => first + s);
    const settings = Array.from({ length: some }, (_, i) => ({
      ...{ spectralRadius: 0.3 + (0.9 * i) / some, inputScaling: 0.1 + (i % 10) / 10, leakRate: 1 },
    }));
    const work = { reservoir: { size }, seeds, settings, inputs, targets, washout: rows / 10, validation: rows / 4 };
    const begun = performance.now();
    const { best, engine } = await sweepReadouts({ ...work, engine: flags.engine });
    const seconds = (performance.now() - begun) / 1000;
    process.send({ seconds, engine: engine.name, seed: best.seed, setting: JSON.stringify(best.setting), score: best.score });
  });
}

async function measure() {
  const engines = flags.engines.split(",");
  const cores = Math.floor(availableParallelism() / engines.length);
  const devices = engines.map((engine, k) => deviceProcess(engine, k * cores, cores));
  try {
    await Promise.all(devices.map((ask) => ask({ first: 0, count: 2, settings: Math.min(10, settingCount) })));
    console.log(`${engines.join(", ")}; ${Math.max(1, cores)} cores of ${cpus()[0].model} each\n`);
    console.log("| case | seeds x settings | GPUs | s | candidates/s | best of all |\n|---|---|---|---|---|---|");
    const n = engines.length;
    const one = await timed("A", devices.slice(0, 1), 1, seedCount);
    const shared = await timed("C", devices, 1, seedCount);
    const many = 1 + seedCount;
    const all = await timed("D, one", devices.slice(0, 1), many, n * seedCount);
    const allShared = await timed(`D, ${n}`, devices, many, n * seedCount);
    console.log(
      `\nC: ${(one.seconds / shared.seconds).toFixed(2)} times A; D: ${(all.seconds / allShared.seconds).toFixed(2)} times one GPU`,
    );
    const differs = [
      [one, shared],
      [all, allShared],
    ].some(([a, b]) => a.seed !== b.seed || a.setting !== b.setting || !Object.is(a.score, b.score));
    if (!differs) return;
    console.error("what is shared out has another best reservoir, or other bits");
    process.exitCode = 1;
  } finally {
    for (const ask of devices) ask.end();
  }
}

/** Seconds until the last process has answered, the median of the rounds, and the best of all. */
async function timed(name, devices, first, seeds) {
  const part = (k) => Math.floor((seeds * k) / devices.length);
  const times = [];
  let found = [];
  for (let round = 0; round < rounds; round++) {
    const begun = performance.now();
    found = await Promise.all(
      devices.map((ask, k) => ask({ first: first + part(k), count: part(k + 1) - part(k), settings: settingCount })),
    );
    times.push((performance.now() - begun) / 1000);
  }
  const seconds = times.sort((a, b) => a - b)[rounds >> 1];
  // The first of equals, as one process has it.
  const best = found.reduce((a, b) => (b.score < a.score ? b : a));
  const rate = ((seeds * settingCount) / seconds).toFixed(0);
  console.log(
    `| ${name} | ${seeds} x ${settingCount} | ${devices.length} | ${seconds.toFixed(2)} | ${rate} | ${best.score} (seed ${best.seed}) |`,
  );
  return { ...best, seconds };
}

/** Asks a process of one engine, on its own cores where the system can say so. */
function deviceProcess(engine, core, cores) {
  const own = ["--engine", engine, ...["seeds", "settings", "size", "rows"].flatMap((name) => [`--${name}`, flags[name]])];
  const child = fork(fileURLToPath(import.meta.url), own);
  if (cores > 0 && process.platform === "linux") {
    try {
      execFileSync("taskset", ["-apc", `${core}-${core + cores - 1}`, String(child.pid)], { stdio: "ignore" });
    } catch {
      console.log("taskset is not there: processes share all cores");
    }
  }
  const ask = (message) =>
    new Promise((resolve, reject) => {
      const onExit = (code) => reject(new Error(`the process of ${engine} ended with ${code}`));
      child.once("exit", onExit);
      child.once("message", (answer) => {
        child.off("exit", onExit);
        resolve(answer);
      });
      child.send(message);
    });
  ask.end = () => child.kill();
  return ask;
}
