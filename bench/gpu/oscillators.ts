// Phase oscillators: microseconds an input on a device and on the host, with whether all bits are
// equal, and PyTorch's steps as a CUDA graph (oscillators_peers.py) on the same device.
// Usage: npx tsx bench/gpu/oscillators.ts [--no-peers]
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import "../../src/index.js";
import { openDevice } from "../../packages/gpu/src/index.js";
import { Matrix } from "../../packages/numerics/src/index.js";
import { ReservoirComputer } from "../../src/reservoir/index.js";

using context = openDevice();
console.log(`${context.info.name}; two Heun steps an input; median of five runs, least and most\n`);
console.log("| oscillators | coupling | precision | blocks | device us an input | host us | bits |");
console.log("|---|---|---|---|---|---|---|");

for (const [size, coupling, precision] of [
  [300, "meanField", "float64"],
  [10000, "meanField", "float64"],
  [300, "random", "float32"],
  [1000, "random", "float32"],
  [1000, "random", "float64"],
  [4000, "random", "float32"],
  [10000, "random", "float32"],
] as const) {
  const rows = size > 4000 ? 512 : 2048;
  const inputs = Float64Array.from({ length: rows }, (_, t) => Math.sin(0.3 * t));
  const few = Math.max(1, Math.min(rows, Math.floor(2e7 / size ** 2)));
  const host = await ReservoirComputer.create({ kind: "oscillator", size, coupling, precision, steps: 2, seed: 1 }, { engine: "cpu" });
  const there = await ReservoirComputer.fromModel(host.model, { context });
  await there.run(inputs);
  const micros: number[] = [];
  let states = Matrix.zeros(0, 0);
  for (let k = 0; k < 5; k++) {
    there.reset();
    const start = performance.now();
    states = (await there.run(inputs)) as typeof states;
    micros.push((1000 * (performance.now() - start)) / rows);
  }
  const begun = performance.now();
  const expected = await host.run(inputs.subarray(0, few));
  const onHost = (1000 * (performance.now() - begun)) / few;
  const isEqual = Buffer.compare(Buffer.from(expected.data.buffer), Buffer.from(states.data.slice(0, expected.data.length).buffer)) === 0;
  const [least, , median, , most] = micros.sort((a, b) => a - b).map((value) => value.toFixed(1));
  console.log(
    `| ${size} | ${coupling} | ${precision} | ${there.engine.plan.details["blocks"]} | ${median} (${least} to ${most}) | ${onHost.toFixed(0)} | ${isEqual ? `equal, ${few} inputs` : "DIFFERENT"} |`,
  );
  await Promise.all([host.dispose(), there.dispose()]);
}
if (!process.argv.includes("--no-peers"))
  console.log(execFileSync("python3", [join(import.meta.dirname, "oscillators_peers.py")], { encoding: "utf8" }));
