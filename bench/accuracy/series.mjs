// The literature's protocols on series, as the files of examples/experiments have them (the demo
// runs the same): every seed draws a network, a training series and trials of its own.
// Usage: node bench/accuracy/series.mjs [NAME ...]      NAME: mackey-glass, narma10 or lorenz; all without arguments
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Title, file, and what is changed in it. The bar is what a change of ours must not fall behind.
 */
const protocols = [
  { file: "mackey-glass", title: "Mackey-Glass, N=400, float64, lambda 1e-16", bar: 3.5e-4, set: [] },
  {
    file: "mackey-glass",
    title: "Mackey-Glass, N=400, float32, lambda 1e-12",
    bar: 1.2e-3,
    set: ["reservoir.precision=float32", "readout.lambda=1.0e-12"],
  },
  {
    file: "mackey-glass",
    title: "Mackey-Glass, N=1000, float64, lambda 1e-18 (after Jaeger and Haas 2004)",
    bar: 6.3e-5,
    set: [
      ...["reservoir.size=1000", "reservoir.leakRate=1", "reservoir.spectralRadius=0.8", "reservoir.connectionProbability=0.01"],
      ...["reservoir.feedback.scaling=1", "readout.lambda=1.0e-18", "seeds=20", "published=[]"],
    ],
  },
  { file: "narma10", title: "NARMA-10, N=100", bar: 0.33, set: ["reservoir.size=100"] },
  { file: "narma10", title: "NARMA-10, N=200", bar: 0.25, set: [] },
  { file: "narma10", title: "NARMA-10, N=400", bar: 0.15, set: ["reservoir.size=400"] },
  { file: "lorenz", title: "Lorenz-63, N=300, float64", bar: 8, set: [] },
  { file: "lorenz", title: "Lorenz-63, N=300, float32", bar: 8, set: ["reservoir.precision=float32"] },
];

const chosen = process.argv.slice(2);
const out = mkdtempSync(join(tmpdir(), "spillway-bench-"));
for (const { file, title, bar, set } of protocols) {
  if (chosen.length > 0 && !chosen.includes(file)) continue;
  const words = ["run", `examples/experiments/${file}.yaml`, "--json", "--quiet", "--out", out, "--set", "outputs.report=false"];
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ["dist/cli/main.js", ...words, ...set.flatMap((change) => ["--set", change])],
    { encoding: "utf8", maxBuffer: 2 ** 28 },
  );
  if (status !== 0) throw new Error(`${title}: ${stderr}`);
  const { scores, seeds, timing, config } = JSON.parse(stdout);
  const [{ metric, median, quartiles, mean, sd, better, statistic }] = scores;
  const values = seeds.map((seed) => seed.scores[metric]);
  const show = (value) => value.toPrecision(3);
  const reached = better === "lower" ? scores[0].value <= bar : scores[0].value >= bar;
  console.log(`${title}: ${metric}, ${config.seeds.length} seeds, ${timing.total.toFixed(0)} s`);
  console.log(
    `  median ${show(median)}, quartiles ${show(quartiles[0])} and ${show(quartiles[1])}; mean ${show(mean)}, sd ${show(sd)}; least ${show(Math.min(...values))}, most ${show(Math.max(...values))}`,
  );
  console.log(`  ${statistic} against the bar ${bar}: ${reached ? "reached" : "NOT REACHED"}; by seed ${values.map(show).join(" ")}`);
  if (!reached) process.exitCode = 1;
}
rmSync(out, { recursive: true });
