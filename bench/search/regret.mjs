// Regret of the samplers on three functions, and what a trial costs: `npm run bench:search`. With
// OPTUNA=1 the same by Optuna of this machine's Python, and a paired test between the two.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cmaes, randomSampler, Study, sobol, tpe } from "../../dist/api/search.js";

const A = [
  [10, 3, 17, 3.5, 1.7, 8],
  [0.05, 10, 17, 0.1, 8, 14],
  [3, 3.5, 1.7, 10, 17, 8],
  [17, 8, 0.05, 10, 0.1, 14],
];
const P = [
  [1312, 1696, 5569, 124, 8283, 5886],
  [2329, 4135, 8307, 3736, 1004, 9991],
  [2348, 1451, 3522, 2883, 3047, 6650],
  [4047, 8828, 8732, 5743, 1091, 381],
];
const branin = ([x, y]) =>
  (y - (5.1 / (4 * Math.PI ** 2)) * x * x + (5 / Math.PI) * x - 6) ** 2 + 10 * (1 - 1 / (8 * Math.PI)) * Math.cos(x) + 10;
const hartmann = (x) =>
  -A.reduce((s, a, i) => s + [1, 1.2, 3, 3.2][i] * Math.exp(-a.reduce((q, v, j) => q + v * (x[j] - 1e-4 * P[i][j]) ** 2, 0)), 0);
const rosenbrock = (x) => x.slice(1).reduce((s, v, i) => s + 100 * (v - x[i] ** 2) ** 2 + (1 - x[i]) ** 2, 0);
const functions = {
  branin: [
    branin,
    [
      [-5, 10],
      [0, 15],
    ],
    false,
    0.39788735772973816,
  ],
  hartmann6: [hartmann, Array(6).fill([0, 1]), false, -3.322368011415515],
  rosenbrock5log: [rosenbrock, Array(5).fill([0.01, 10]), true, 0],
};

const seeds = Number(process.argv[2] ?? 20);
const quantile = (values, share) => {
  const sorted = [...values].sort((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const low = sorted[Math.floor(at)];
  return low + (sorted[Math.ceil(at)] - low) * (at % 1);
};

async function regrets(make, [f, bounds, log, least], batch, trials) {
  const out = { 64: [], 256: [] };
  for (let seed = 0; seed < seeds; seed++) {
    const space = Object.fromEntries(bounds.map((range, j) => [`x${j}`, { float: range, log }]));
    const study = await Study.open({ space, sampler: make({ seed }) });
    let best = Infinity;
    for (let k = 0; k < trials; k += batch) {
      const asked = await study.ask(batch);
      const values = asked.map(({ params }) => f(bounds.map((_, j) => params[`x${j}`])));
      await study.tell(asked.map((trial, i) => [trial, values[i]]));
      values.forEach((value, i) => {
        best = Math.min(best, value);
        out[k + i + 1]?.push(best - least);
      });
    }
  }
  return out;
}

/** Two-sided sign test of paired values: how likely so uneven a count is by chance. */
function signTest(a, b) {
  const better = a.filter((value, i) => value < b[i]).length;
  const n = a.filter((value, i) => value !== b[i]).length;
  let tail = 0;
  for (let k = 0; k <= Math.min(better, n - better); k++) {
    let ways = 1;
    for (let i = 0; i < k; i++) ways = (ways * (n - i)) / (i + 1);
    tail += ways / 2 ** n;
  }
  return { better, of: n, p: Math.min(1, 2 * tail) };
}

function optuna() {
  const path = join(tmpdir(), `spillway-regret-${process.pid}.json`);
  const { status } = spawnSync(process.env.PYTHON ?? "python3", ["bench/search/optuna_regret.py", path, String(seeds)], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  return status === 0 ? JSON.parse(readFileSync(path, "utf8")) : undefined;
}

const show = (values) =>
  `${quantile(values, 0.5).toPrecision(3)} [${quantile(values, 0.25).toPrecision(3)} ${quantile(values, 0.75).toPrecision(3)}]`;
const results = { seeds, node: process.version, regret: {} };
const runs = [
  ["random", randomSampler, 1],
  ["sobol", sobol, 1],
  ["tpe", tpe, 1],
  ["tpe", tpe, 16],
  ["tpe", tpe, 64],
  ["cmaes", cmaes, 1],
];
for (const [name, make, batch] of runs) {
  for (const [title, description] of Object.entries(functions)) {
    const found = await regrets(make, description, batch, 256);
    results.regret[`${name}, batches of ${batch}, ${title}`] = found;
    console.log(
      `${name.padEnd(7)} batch ${String(batch).padEnd(3)} ${title.padEnd(15)} 64: ${show(found[64]).padEnd(26)} 256: ${show(found[256])}`,
    );
  }
}
if (process.env.OPTUNA) {
  const theirs = optuna();
  results.optuna = theirs;
  for (const title of Object.keys(theirs?.regret ?? {}))
    for (const at of [64, 256]) {
      const [ours, other] = [results.regret[`tpe, batches of 1, ${title}`][at], theirs.regret[title][at]];
      const { better, of, p } = signTest(ours, other);
      console.log(
        `optuna ${theirs.version} tpe ${title.padEnd(15)} ${at}: ${show(other)}; ours better in ${better} of ${of}, sign test p = ${p.toFixed(3)}`,
      );
    }
}
results.overhead = {};
const six = Object.fromEntries(
  Array.from({ length: 6 }, (_, j) => [`x${j}`, j < 4 ? { float: [0.01, 1], log: j % 2 === 0 } : { int: [1, 100] }]),
);
for (const [name, make] of [
  ["random", randomSampler],
  ["tpe", tpe],
  ["cmaes", cmaes],
]) {
  const study = await Study.open({ space: six, sampler: make() });
  const one = async (batch) => {
    const asked = await study.ask(batch);
    await study.tell(asked.map((trial) => [trial, Object.values(trial.params).reduce((sum, value) => sum + value, 0)]));
  };
  for (const [from, to] of [
    [0, 1000],
    [1000, 10_000],
  ]) {
    while (study.finished < to) await one(Math.min(500, to - study.finished));
    const begun = performance.now();
    for (let i = 0; i < 50; i++) await one(1);
    const each = (performance.now() - begun) / 50;
    results.overhead[`${name}, after ${to} trials, ms`] = each;
    console.log(`${name} after ${to} trials: ${each.toFixed(2)} ms a trial (ask and tell, 6 parameters), from ${from}`);
  }
}
