// Many sequences through one reservoir on a GPU, beside cuDNN and PyTorch in the same run (if
// python3 has them). float32, all states kept, leak rate
// 0.3; microseconds a step of all sequences. Usage: npx tsx bench/gpu/batch.ts [--no-peers]
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { Matrix, RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import { cpuEngine } from "../../src/engine/cpu/index.js";
import { DenseBatchRun } from "../../src/engine/cuda/batch/dense.js";
import { type BatchPlan, planBatch } from "../../src/engine/cuda/batch/shapes.js";
import { cudaEngine } from "../../src/engine/cuda/index.js";
import { resolveConfig } from "../../src/reservoir/config-schema.js";
import type { ReservoirModel } from "../../src/reservoir/model.js";
import { buildModel } from "../../src/reservoir/weights.js";

const { values: flags } = parseArgs({ options: { "no-peers": { type: "boolean" } } });
const engine = cudaEngine(0);
const context = engine.context();

function uniform(length: number, scale: number, seed: number): Float32Array {
  const stream = new RandomStream(seedKeys(seed).weights, 77);
  return Float32Array.from({ length }, (_, i) => scale * (2 * stream.uniform(0, i) - 1));
}

function reservoir(size: number, arithmetic: "portable" | "fast"): ReservoirModel {
  const base = buildModel(resolveConfig({ size, connectionProbability: 0, spectralRadius: null, storage: "dense", bias: 0.2, arithmetic }));
  return { ...base, weights: new Matrix(size, size, uniform(size * size, 1.2 * Math.sqrt(3 / size), 1)) };
}

const pool = uniform(4096, 1, 2);
const sequence = (steps: number, b: number) => ({
  inputs: new Matrix(
    steps,
    1,
    Float32Array.from({ length: steps }, (_, t) => pool[(t + 31 * b) % 4096]!),
  ),
});

/**
 * Microseconds a step of the kernels and of the whole run from JavaScript, and the largest
 * difference from the CPU engine's states.
 */
async function measure(model: ReservoirModel, count: number, steps: number) {
  const sequences = Array.from({ length: count }, (_, b) => sequence(steps, b));
  const plan: BatchPlan = planBatch(context.info, model, count)!;
  let [kernel, whole] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  let states: Matrix[] = [];
  const kernels: number[] = [];
  for (let round = 0; round < 4; round++) {
    const start = performance.now();
    const run = new DenseBatchRun(context, model, plan, sequences, {}, 2 ** 33);
    states = await run.run();
    if (round > 0) kernels.push((1000 * run.stepMilliseconds) / steps);
    run.dispose();
    whole = Math.min(whole, (1000 * (performance.now() - start)) / steps);
  }
  kernel = kernels.toSorted((a, b) => a - b)[1]!;
  const session = await cpuEngine.open(model);
  const few = 20;
  const expected = Matrix.zeros(few, model.size, "float32");
  await session.run({ inputs: sequences[count - 1]!.inputs.subarray(0, few) }, { into: expected });
  await session.dispose();
  const difference = expected.data.reduce((most, x, i) => Math.max(most, Math.abs(x - states[count - 1]!.data[i]!)), 0);
  return { name: plan.kernel.name, modelled: plan.microsecondsPerStep, kernel, whole, difference };
}

const cases = [
  ["N=1024, B=64, portable", 1024, 64, 400, "portable", 10],
  ["N=1024, B=512, portable", 1024, 512, 100, "portable", Number.NaN],
  ["N=1024, B=1024, portable", 1024, 1024, 100, "portable", 95],
  ["N=1024, B=64, fast", 1024, 64, 400, "fast", 5],
  ["N=1024, B=256, fast", 1024, 256, 200, "fast", Number.NaN],
  ["N=1024, B=1024, fast", 1024, 1024, 100, "fast", 12],
  ["N=4096, B=64, portable", 4096, 64, 50, "portable", Number.NaN],
] as const;

console.log(`${context.info.name}: batches, float32, all states kept on the device; microseconds a step of all sequences\n`);
let theirs: Record<string, Record<string, number>> = {};
if (!flags["no-peers"]) {
  const peers = spawnSync("python3", [new URL("batch_peers.py", import.meta.url).pathname], { encoding: "utf8" });
  if (peers.status === 0) theirs = JSON.parse(peers.stdout) as typeof theirs;
  else console.log(`no peers: ${peers.stderr.trim().split("\n").at(-1)}\n`);
}
console.log(
  "| case | kernel | steps by events | modelled | from JavaScript, states on the host | largest difference from the CPU | bar | peers |",
);
console.log("|---|---|---|---|---|---|---|---|");
for (const [label, size, count, steps, arithmetic, bar] of cases) {
  const found = await measure(reservoir(size, arithmetic), count, steps);
  const peers = Object.entries(theirs[`${size} ${count}`] ?? {}).map(([name, value]) => `${name} ${value.toFixed(1)}`);
  const difference = found.difference === 0 ? "none, bit for bit" : found.difference.toExponential(1);
  const cells = [label, found.name, found.kernel.toFixed(2), found.modelled.toFixed(1), found.whole.toFixed(1), difference];
  console.log(`| ${[...cells, Number.isNaN(bar) ? "-" : bar, peers.join(", ") || "-"].join(" | ")} |`);
}
engine.close();
