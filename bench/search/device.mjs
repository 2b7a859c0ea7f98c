// How long searches take whose batches are evaluated at once on a GPU: NARMA-10, N = 200, p = .1,
// 2000 training rows of which the last 500 score. Usage:
//   node bench/search/device.mjs [--engine cuda] [--cases tpe,sweep]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { searchExperiment } from "../../dist/api/experiment.js";

const text = { type: "string" };
const { values: flags } = parseArgs({ options: { engine: text, cases: text } });
const engine = flags.engine ?? "cuda";
const lambda = { "readout.lambda": { float: [1e-10, 1], log: true } };
const space = {
  "reservoir.spectralRadius": { float: [0.1, 1.5] },
  "reservoir.inputScaling": { float: [0.01, 2], log: true },
  "reservoir.bias": { float: [0, 1] },
  "reservoir.leakRate": { float: [0.2, 1] },
};
const tpe = { type: "tpe", batch: 64 };
const cases = {
  warm: { space: { ...space, ...lambda }, seeds: 2, sampler: { type: "random", batch: 16 }, budget: { trials: 16 } },
  tpe: { space: { ...space, ...lambda }, seeds: 10, sampler: tpe, budget: { trials: 1000 } },
  random: { space: { ...space, ...lambda }, seeds: 10, sampler: { type: "random", batch: 64 }, budget: { trials: 1000 } },
  sweep: { space: { ...space, "readout.lambda": { sweep: [1e-10, 1], points: 11 } }, seeds: 10, sampler: tpe, budget: { trials: 1000 } },
  halving: {
    ...{ space: { ...space, ...lambda }, seeds: 10, sampler: tpe, budget: { trials: 1000 } },
    halving: { rows: [375, 750, 1500], keep: 0.33 },
  },
  // Closed loops on Lorenz's system, N = 300 in float64: ten starts of 500 steps after 200 each.
  loops: { space: { ...space, ...lambda }, seeds: 3, sampler: tpe, budget: { trials: 256 }, objective: { rows: 1250 } },
  // 1000 seeds whose radii are measured in the first batch alone.
  seeds: { space: { ...space, ...lambda }, seeds: 1000, sampler: { type: "random", batch: 10 }, budget: { trials: 100 } },
};
/** Fields of an experiment in place of NARMA-10's. */
const others = {
  loops: {
    ...{ data: { task: "lorenz", options: { dt: 0.02, discard: 1000 } }, reservoir: { size: 300, precision: "float64" }, washout: 100 },
    ...{ task: { type: "forecast", horizon: 500, starts: 10, warmup: 200 }, split: { train: 5000, test: 2000 } },
    metrics: ["validPredictionTime"],
  },
};
const folder = mkdtempSync(join(tmpdir(), "spillway-bench-"));
console.log(`| search on ${engine} | trials x seeds | s | first batch, s | a later batch, ms | best |\n|---|---|---|---|---|---|`);
for (const [name, search] of Object.entries(cases)) {
  if (flags.cases && name !== "warm" && !flags.cases.split(",").includes(name)) continue;
  const source = {
    ...{ name, data: { task: "narma" }, reservoir: { size: 200, connectionProbability: 0.1, leakRate: 1 }, task: "predict" },
    ...{ washout: 200, split: { train: 2000, test: 500 }, metrics: ["nrmse"], outputs: { report: false } },
    ...others[name],
    search: { objective: { rows: 500 }, ...search },
  };
  const told = [];
  const begun = performance.now();
  const onProgress = () => void told.push((performance.now() - begun) / 1000);
  const { result } = await searchExperiment(source, { engine, refit: false, storage: join(folder, `${name}.log`), onProgress });
  const seconds = (performance.now() - begun) / 1000;
  // The first report comes before the first batch, and the last after all of them.
  const gaps = told.slice(2, -1).map((at, i) => at - told[i + 1]);
  const later = gaps.toSorted((a, b) => a - b)[gaps.length >> 1] ?? Number.NaN;
  const { complete, pruned } = result.trials;
  console.log(
    `| ${name} | ${complete + pruned} x ${search.seeds} | ${seconds.toFixed(2)} | ${told[1].toFixed(2)} | ${(1000 * later).toFixed(0)} | ${result.validation.toFixed(5)} |`,
  );
}
rmSync(folder, { recursive: true, force: true });
