// The bits of one reservoir over several GPUs (the plan "sharded"): a sum of x after so many steps, on
// one GPU and on 2, 4 and all of them, or on the CPU of any machine. Equal sums are equal bits; a
// difference between the columns of GPUs ends it with 1.
// Usage: npx tsx bench/gpu/sharded-bits.ts [--on cuda|cpu] [--steps 1000] [TEXT...], for the cases
// whose names have one of these texts
import { createHash } from "node:crypto";
import { parseArgs } from "node:util";
import { openDevices } from "../../packages/gpu/src/index.js";
import { Matrix } from "../../packages/numerics/src/index.js";
import { cpuEngine } from "../../src/engine/cpu/index.js";
import { contextEngine } from "../../src/engine/cuda/index.js";
import type { Engine } from "../../src/reservoir/engine.js";
import type { ReservoirModel } from "../../src/reservoir/model.js";
import { dense, filled, rounded } from "./filled-models.js";

const text = { type: "string" } as const;
const { values: flags, positionals: only } = parseArgs({ allowPositionals: true, options: { on: text, steps: text } });
const steps = Number(flags.steps ?? 1000);

const cases: readonly (readonly [name: string, make: () => ReservoirModel])[] = [
  ["dense N=2048", () => dense(2048)],
  ["dense N=5792", () => dense(5792)],
  ["dense N=8192", () => dense(8192)],
  ["dense N=16384, bfloat16 weights", () => rounded(16384)],
  ["dense N=16384", () => dense(16384)],
];

/** Twelve digits of the SHA-256 of x. */
async function sumOf(engine: Engine, model: ReservoirModel, plan?: string): Promise<string> {
  const session = await engine.open(model, plan === undefined ? {} : { plan });
  try {
    await session.run({ inputs: new Matrix(steps, 1, filled(steps, 1)) }, {});
    const { values } = session.getState();
    return createHash("sha256").update(new Uint8Array(values.slice().buffer)).digest("hex").slice(0, 12);
  } finally {
    await session.dispose();
  }
}

const contexts = flags.on === "cpu" ? [] : openDevices("cuda:all");
const engines = contexts.map((context) => contextEngine(context));
const counts = [...new Set([2, 4, engines.length])].filter((count) => count > 1 && count <= engines.length);
const columns = engines.length === 0 ? ["CPU"] : ["one GPU", ...counts.map((count) => `${count} GPUs`)];
console.log(`x after ${steps} steps, ${contexts[0] ? `${contexts.length} x ${contexts[0].info.name}` : "CPU"}\n`);
console.log(`| case | ${columns.join(" | ")} |\n|---|${columns.map(() => "---|").join("")}`);
for (const [name, make] of cases) {
  if (only.length > 0 && !only.some((part) => name.includes(part))) continue;
  const model = make();
  const [first] = engines;
  const sums = [await sumOf(first ?? cpuEngine, model)];
  for (const count of counts) sums.push(await sumOf(first!.device.beside(engines.slice(1, count)), model, "sharded"));
  if (new Set(sums).size > 1) process.exitCode = 1;
  console.log(`| ${name} | ${sums.join(" | ")} |`);
}
for (const context of contexts) context.dispose();
