// A deep and a grouped reservoir against a flat one of the same number of neurons on twelve series,
// and the linear memory capacity of ES2N beside a ring and random reservoirs.
// Usage: node bench/accuracy/deep-and-cells.mjs [forecast] [memory] [--seeds 3]
// Settings are fixed here; lambda is chosen inside the training part, and nothing else is. Readouts
// see no lags of the series, so that only the reservoirs differ.
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { memoryCapacity } from "../../dist/api/analysis.js";
import { Forecaster } from "../../dist/index.js";
import { all, testing } from "./twelve-series.mjs";

const { values: flags, positionals } = parseArgs({ allowPositionals: true, options: { seeds: { type: "string", default: "3" } } });
const wanted = positionals.length > 0 ? positionals : ["forecast", "memory"];
const middle = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
const spread = (numbers, digits) =>
  `${middle(numbers).toFixed(digits)} (${Math.min(...numbers).toFixed(digits)} to ${Math.max(...numbers).toFixed(digits)})`;

console.log(`Node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores, one thread`);

const rates = [0.9, 0.3, 0.1];
const parts = rates.map((leakRate) => ({ leakRate }));
const shapes = {
  "flat, leak .3": { size: 300 },
  "flat, leak .1 to .9": { size: 300, leakRate: { from: 0.1, to: 0.9 } },
  "3 layers, leak .3": { layers: [{}, {}, {}], size: 100 },
  "3 layers": { layers: parts, size: 100 },
  "3 groups": { groups: parts, size: 100 },
};

async function nrmse(series, shape, seed) {
  const { values, horizon } = series;
  const { from, error } = testing(series);
  const rows = (a, b) => Float64Array.from(values.slice(a, b));
  const model = await Forecaster.fit(rows(0, from), { horizon, lags: 0, members: 1, reservoir: { ...shape, seed } });
  let at = from;
  const score = await error(async (start) => {
    if (start > at) await model.predict(rows(at, start));
    at = start;
    return (await model.forecast(horizon)).data;
  });
  await model.dispose();
  return score;
}

if (wanted.includes("forecast")) {
  const seeds = Array.from({ length: Number(flags.seeds) }, (_, k) => 7001 + k);
  const names = Object.keys(shapes);
  console.log(`\nseeds ${seeds.join(", ")}; leak rates of layers and groups ${rates.join(", ")}, 100 neurons each\n`);
  console.log(`| series | ${names.join(" | ")} |`);
  console.log(`|---|${names.map(() => "---|").join("")}`);
  const logs = names.map(() => 0);
  for (const [name, series] of Object.entries(all)) {
    const cells = [];
    for (const [s, shape] of Object.values(shapes).entries()) {
      const scores = [];
      for (const seed of seeds) scores.push(await nrmse(series, shape, seed));
      logs[s] += Math.log(middle(scores));
      cells.push(spread(scores, 3));
    }
    console.log(`| ${name} | ${cells.join(" | ")} |`);
  }
  const count = Object.keys(all).length;
  console.log(`| geometric mean of the medians | ${logs.map((log) => Math.exp(log / count).toFixed(3)).join(" | ")} |`);
}

if (wanted.includes("memory")) {
  const base = { size: 100, inputScaling: 0.1, precision: "float64" };
  const random = { ...base, connectionProbability: 0.1, spectralRadius: 0.9, leakRate: 1 };
  const es2n = (proximity) => ({ ...base, connectionProbability: 0.1, spectralRadius: 0.9, cell: { type: "es2n", proximity } });
  const rows = {
    "ring, linear": { ...base, topology: "ring", leakRate: 1, activation: "identity" },
    "ring, tanh": { ...base, topology: "ring", leakRate: 1 },
    "random, tanh, radius .9": random,
    ...Object.fromEntries([0.5, 0.2, 0.1, 0.05, 0.02, 0.01].map((proximity) => [`ES2N, tanh, B = ${proximity}`, es2n(proximity)])),
  };
  const seeds = [1, 2, 3, 4, 5];
  console.log("\n| N = 100, input weights uniform in +-.1 | memory capacity, median (least to most) of 5 |");
  console.log("|---|---|");
  for (const [name, config] of Object.entries(rows)) {
    const totals = [];
    for (const seed of seeds) totals.push((await memoryCapacity({ ...config, seed }, { seed })).total);
    console.log(`| ${name} | ${spread(totals, 1)} |`);
  }
}
