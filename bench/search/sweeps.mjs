// How long sweeps of many candidates take, end to end: NARMA-10, N = 200, p = .1, 2000 rows of which
// the last 500 score. Usage:
//   node bench/search/sweeps.mjs [--engine cuda] [--seeds 1000] [--settings 100]
import { parseArgs } from "node:util";
import { narma, sweepReadouts } from "spillway";

const text = { type: "string" };
const { values: flags } = parseArgs({ options: { engine: text, seeds: text, settings: text } });
const [seedCount, settingCount] = [flags.seeds ?? 1000, flags.settings ?? 100].map(Number);
const { inputs, targets } = narma(2000, { seed: 1 });
const seedsOf = (count, first) => Array.from({ length: count }, (_, s) => first + s);
const settingsOf = (count) =>
  Array.from({ length: count }, (_, i) => ({ spectralRadius: 0.3 + (0.9 * i) / count, inputScaling: 0.1 + (i % 10) / 10, leakRate: 1 }));

async function measure(name, reservoir, seeds, settings) {
  const begun = performance.now();
  const work = { reservoir: { size: 200, ...reservoir }, seeds, settings, inputs, targets, washout: 200, validation: 500 };
  const { best, engine, profile } = await sweepReadouts({ ...work, engine: flags.engine, profile: true });
  const seconds = (performance.now() - begun) / 1000;
  const phases = profile.phases.filter(({ milliseconds }) => milliseconds >= 1);
  const spent = phases.map(({ phase, milliseconds }) => `${phase} ${milliseconds.toFixed(0)}`).join(", ");
  console.log(
    `| ${name} | ${seeds.length} x ${settings.length} | ${seconds.toFixed(2)} | ${best.score.toExponential(3)} | ${engine.name} | ${spent} |`,
  );
}

console.log("| sweep | seeds x settings | s | best | engine | phases, ms |\n|---|---|---|---|---|---|");
await measure("first of a process", {}, seedsOf(2, 0), settingsOf(10));
await measure("radii measured", {}, seedsOf(seedCount, 1), settingsOf(settingCount));
await measure("radii by the circular law", { radiusMethod: "circularLaw" }, seedsOf(seedCount, 1), settingsOf(settingCount));
// The same reservoirs with one penalty and with eleven.
const few = seedsOf(20, 1);
const base = settingsOf(100);
const lambdas = Array.from({ length: 11 }, (_, l) => 10 ** (l - 10));
await measure("one lambda", {}, few, base);
await measure(
  "eleven lambdas",
  {},
  few,
  base.flatMap((setting) => lambdas.map((lambda) => ({ ...setting, lambda }))),
);
