// Information processing capacity on a GPU, N = 50, T = 1,000,000, float64, beside CuPy on the same
// GPU in the same run, one target at a time and in batches. Ours is the whole call: states, products
// and triangular factor on the device, capacities on the host. CuPy gets its states for nothing.
// Usage: npx tsx bench/gpu/information-capacity.ts [--length 1000000] [--no-peers]
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { informationCapacity } from "../../src/analysis/index.js";
import { cudaEngine } from "../../src/engine/cuda/index.js";
import { Matrix, RandomStream, seedKeys } from "../../src/numerics/index.js";
import { ReservoirComputer, registerEngine } from "../../src/reservoir/index.js";
import "../../src/index.js";

const { values: flags } = parseArgs({ options: { length: { type: "string", default: "1000000" }, "no-peers": { type: "boolean" } } });
const length = Number(flags.length);
const washout = 10_000;
const engine = cudaEngine(0);
registerEngine("bench", async () => engine, { automatic: false });
const reservoir = {
  ...{ size: 50, connectionProbability: 0.5, storage: "dense", spectralRadius: 0.9, inputScaling: 0.1 },
  ...{ leakRate: 1, precision: "float64", seed: 1 },
} as const;
const draws = new RandomStream(seedKeys(1).weights, 77);
const inputs = new Matrix(
  washout + length,
  1,
  Float64Array.from({ length: washout + length }, (_, t) => 2 * draws.uniform(0, t) - 1),
);
const degrees = [
  [1, 1999],
  [2, 299],
  [3, 49],
  [4, 29],
  [5, 14],
] as const;

const computer = await ReservoirComputer.create(reservoir, { engine: "bench" });
const measured = async (of: (typeof degrees)[number][], rows = inputs) => {
  const begun = performance.now();
  const found = await informationCapacity(computer, { inputs: rows, washout, amplitude: 1, degrees: of });
  return { seconds: (performance.now() - begun) / 1000, found };
};
console.log(`${engine.context().info.name}: N = 50, T = ${length}, float64; seconds of a whole call from JavaScript\n`);
await measured([[1, 10]], inputs.subarray(0, washout + 20_000));
console.log("| degrees | targets | seconds | again | rank | capacity |\n|---|---|---|---|---|---|");
for (const [name, of] of [
  ["1", [degrees[0]]],
  ["3", [degrees[2]]],
  ["1 to 5", [...degrees]],
] as const) {
  const [one, { seconds, found }] = [await measured([...of]), await measured([...of])];
  const targets = found.byDegree.reduce((sum, each) => sum + each.targets, 0);
  console.log(`| ${[name, targets, one.seconds.toFixed(2), seconds.toFixed(2), found.rank, found.total.toFixed(4)].join(" | ")} |`);
}
let begun = performance.now();
await computer.batch([inputs], { keep: "last" });
console.log(`\nstates alone, by the engine's plan: ${((performance.now() - begun) / 1000).toFixed(2)} s`);
const few = inputs.subarray(0, washout + 3000);
const small = { inputs: few, washout, amplitude: 1, degrees: [[1, 50] as const, [3, 5] as const] };
begun = performance.now();
const [ours, theirs] = [await informationCapacity(computer, small), await informationCapacity(reservoir, { ...small, engine: "cpu" })];
console.log(`3000 rows beside the CPU engine: ${JSON.stringify(ours) === JSON.stringify(theirs) ? "the same bits" : "DIFFERENT BITS"}`);
await computer.dispose();
engine.close();

if (!flags["no-peers"]) {
  const script = new URL("information_capacity_peers.py", import.meta.url).pathname;
  if (spawnSync("python3", [script, String(length)], { stdio: "inherit" }).status !== 0) console.log("no peers");
}
