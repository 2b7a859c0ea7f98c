// How fast the simulated device runs shipped kernels with all of its checks: thread-instructions a
// second of processor time, which the threads that compile and collect garbage add to. A kernel's
// first launch has its own compilation in it.
// Usage: npx tsx bench/cpu/simulated-device.ts

import { KernelExecutor, openDevice } from "../../packages/gpu/src/index.js";
import { Matrix } from "../../packages/numerics/src/index.js";
import { simulatedDriver } from "../../packages/sim/src/index.js";
import { deviceEngine } from "../../src/engine/cuda/index.js";
import { resolveConfig } from "../../src/reservoir/config-schema.js";
import { buildModel } from "../../src/reservoir/weights.js";

/** The figure that is asked for. */
const bar = 20;

let instructions = 0;
const driver = simulatedDriver({ onLaunch: ({ counters }) => (instructions += counters.instructions) });

/** Millions of thread-instructions, and those a second of processor time. */
async function rate(work: () => Promise<unknown>): Promise<{ millions: number; rate: number }> {
  instructions = 0;
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return { millions: instructions / 1e6, rate: instructions / (user + system) };
}

async function line(name: string, work: () => Promise<unknown>): Promise<void> {
  const first = await rate(work);
  const later = await rate(async () => {
    for (let k = 0; k < 3; k++) await work();
  });
  console.log(
    `| ${name} | ${(later.millions / 3).toFixed(1)} | ${first.rate.toFixed(0)} | ${later.rate.toFixed(0)} | ${later.rate >= bar ? "met" : "MISSED"} |`,
  );
}

const series = (length: number): Float32Array<ArrayBuffer> =>
  Float32Array.from({ length }, (_, k) => Math.fround(((k * 37) % 101) / 101 - 0.5));

console.log(`Node ${process.version}; millions of thread-instructions a second of processor time, all checks on; ${bar} are asked for\n`);
console.log("| work | millions of thread-instructions | first launch | later | |");
console.log("|---|---|---|---|---|");

const executor = new KernelExecutor(openDevice({ driver }));
const [a, b] = [series(256 * 256), series(256 * 256)];
await line("product of 256 x 256", () => executor.matmul(a, b, 256, 256, 256, { blas: "none" }));
await line("softmax of 1000 rows of 300", () => executor.softmax(series(300_000), 1000, 300));
executor.dispose();

for (const [name, options, plan] of [
  ["dense, grid plan", { storage: "dense" }, "grid"],
  ["dense, cluster plan", { storage: "dense" }, "cluster"],
  ["dense, streamed plan", { storage: "dense" }, "streamed"],
  ["sparse, streamed plan", { storage: "sparse", connectionProbability: 0.1 }, "streamed"],
  ["dense float64, streamed plan", { storage: "dense", precision: "float64" }, "streamed"],
] as const) {
  const engine = deviceEngine({ name: "sim", open: () => openDevice({ driver }) });
  const model = buildModel(resolveConfig({ size: 130, inputSize: 1, connectionProbability: 1, seed: 1, ...options }));
  const session = await engine.open(model, { plan });
  const inputs = new Matrix(20, 1, model.precision === "float32" ? series(20) : Float64Array.from(series(20)));
  await line(`20 steps of 130 neurons, ${name}`, () => session.run({ inputs }, {}));
  await session.dispose();
  engine.close();
}
