// A million steps of 1000 neurons at spectral radius 1.25 on the CPU and on a GPU: the same SHA-256
// of all states. The CPU takes minutes, so its sum is kept beside this file (bits.json), with the
// configuration it is of.
// Usage: npx tsx bench/gpu/bits.ts [--engine cuda|cpu] [--plan PLAN] [--write]; "--engine cpu --write" makes bits.json anew.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { Matrix, RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import { cpuEngine } from "../../src/engine/cpu/index.js";
import { cudaEngine } from "../../src/engine/cuda/index.js";
import { resolveConfig } from "../../src/reservoir/config-schema.js";
import { buildModel } from "../../src/reservoir/weights.js";

const { values: flags } = parseArgs({
  options: { engine: { type: "string", default: "cuda" }, plan: { type: "string", default: "auto" }, write: { type: "boolean" } },
});
const file = new URL("bits.json", import.meta.url);
const config = {
  size: 1000,
  inputSize: 1,
  connectionProbability: 1,
  storage: "dense",
  spectralRadius: 1.25,
  leakRate: 0.3,
  seed: 2026,
} as const;
const steps = 1_000_000;
const piece = 10_000;

const onCpu = flags.engine === "cpu";
const cuda = onCpu ? undefined : cudaEngine(0);
const model = buildModel(resolveConfig(config));
const session = await (cuda ?? cpuEngine).open(model, cuda ? { plan: flags.plan } : {});
const stream = new RandomStream(seedKeys("inputs of bits.ts").weights, 77);
const hash = createHash("sha256");
const states = Matrix.zeros(piece, config.size, "float32");
const inputs = Matrix.zeros(piece, 1, "float32");
let running = 0;
for (let from = 0; from < steps; from += piece) {
  for (let t = 0; t < piece; t++) inputs.data[t] = 2 * stream.uniform(0, from + t) - 1;
  const start = performance.now();
  await session.run({ inputs }, { into: states });
  running += performance.now() - start;
  hash.update(states.data);
  if (onCpu && (from / piece) % 10 === 9) console.log(`${from + piece} steps, ${((running / (from + piece)) * 1000).toFixed(1)} us a step`);
}
const sha256 = hash.digest("hex");
console.log(`${session.plan.summary}`);
console.log(
  `${steps} steps in ${(running / 1000).toFixed(1)} s, ${((running / steps) * 1000).toFixed(2)} us a step with all states on the host: ${sha256}`,
);
await session.dispose();
cuda?.close();

if (flags.write) writeFileSync(file, `${JSON.stringify({ config, steps, engine: flags.engine, sha256 }, undefined, 2)}\n`);
else {
  const kept = JSON.parse(readFileSync(file, "utf8")) as { config: unknown; steps: number; engine: string; sha256: string };
  const same = kept.sha256 === sha256 && kept.steps === steps && JSON.stringify(kept.config) === JSON.stringify(config);
  console.log(same ? `equal to the ${kept.engine} engine's` : `NOT equal to the ${kept.engine} engine's, ${kept.sha256}`);
  if (!same) process.exitCode = 1;
}
