// One reservoir over several GPUs (the plan "sharded") beside one GPU and, in the same run, PyTorch
// with NCCL as its users write it (if python3 has torch): microseconds a step of whole runs from
// JavaScript, drive and the look for states that are not finite included, and what the model of cost
// said. The state after the run is compared with one GPU's, bit for bit.
// Usage: npx tsx bench/gpu/sharded.ts [--twice] [--alone] [TEXT...], for the cases whose names have
// one of these texts; --twice names the first GPU twice, whose multiprocessors the two slices then
// share; --alone leaves PyTorch out
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { contextEngine } from "../../src/engine/cuda/index.js";
import { type Context, openDevices } from "../../src/gpu/index.js";
import { Matrix } from "../../src/numerics/index.js";
import type { Engine } from "../../src/reservoir/engine.js";
import type { ReservoirModel } from "../../src/reservoir/model.js";
import { filled, modelWith } from "./filled-models.js";

const { values: flags, positionals: only } = parseArgs({
  allowPositionals: true,
  options: { twice: { type: "boolean" }, alone: { type: "boolean" } },
});

function opened(): readonly Context[] {
  try {
    return openDevices(flags.twice ? "cuda:0" : "cuda:all");
  } catch (error) {
    console.error(`this bench needs GPUs: ${(error as Error).message.split("\n")[0]}`);
    process.exit(1);
  }
}

const contexts = opened();
const engines = (flags.twice ? [contexts[0]!, contexts[0]!] : contexts).map((context) => contextEngine(context));
const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

/** A W whose radius is about 1.7, so that states neither die out nor agree. */
const dense = (size: number): ReservoirModel => modelWith(size, new Matrix(size, size, filled(size * size, 3 / Math.sqrt(size))));

/** The same in eight significant bits. */
function rounded(size: number): ReservoirModel {
  const data = filled(size * size, 3 / Math.sqrt(size));
  const words = new Uint32Array(data.buffer);
  for (let i = 0; i < words.length; i++) words[i] = (words[i]! & 0xffff0000) >>> 0;
  return modelWith(size, new Matrix(size, size, data), { weightPrecision: "bfloat16" });
}

/** Every row has `perRow` entries in columns spread over the whole. */
function sparse(size: number, perRow: number): ReservoirModel {
  const rowOffsets = Uint32Array.from({ length: size + 1 }, (_, r) => r * perRow);
  const columns = new Uint32Array(size * perRow);
  const stride = Math.floor(size / perRow);
  let state = 7;
  for (let p = 0; p < columns.length; p++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    columns[p] = (p % perRow) * stride + Math.floor((state / 2 ** 32) * stride);
  }
  return modelWith(size, { rows: size, cols: size, rowOffsets, columns, values: filled(size * perRow, 3 / Math.sqrt(perRow)) });
}

interface Measured {
  readonly microseconds: number;
  readonly modelled: number;
  readonly plan: string;
  readonly state: Uint32Array;
}

/** Median microseconds of a step over five runs, after one that warms up, and x after them. */
async function measure(engine: Engine, model: ReservoirModel, steps: number, plan?: string): Promise<Measured> {
  const session = await engine.open(model, plan === undefined ? {} : { plan });
  try {
    const inputs = new Matrix(steps, 1, filled(steps, 1));
    const times: number[] = [];
    for (let round = 0; round < 6; round++) {
      const start = performance.now();
      await session.run({ inputs }, {});
      if (round > 0) times.push((1000 * (performance.now() - start)) / steps);
    }
    const { modelledMicrosecondsPerStep, plan: taken, kernel } = session.plan.details;
    const state = new Uint32Array(session.getState().values.slice().buffer);
    return { microseconds: median(times), modelled: Number(modelledMicrosecondsPerStep), plan: `${taken} ${kernel}`, state };
  } finally {
    await session.dispose();
  }
}

const cases: readonly (readonly [name: string, make: () => ReservoirModel, steps: number, devices: readonly number[]])[] = [
  ["dense N=2048", () => dense(2048), 20_000, [2, 4]],
  ["dense N=4096", () => dense(4096), 20_000, [2, 4]],
  ["dense N=5792", () => dense(5792), 10_000, [2, 4]],
  ["dense N=8192", () => dense(8192), 10_000, [2, 4]],
  ["dense N=16384", () => dense(16384), 2000, [2, 4]],
  ["dense N=16384, bfloat16 weights", () => rounded(16384), 4000, [2, 4]],
  ["dense N=32768", () => dense(32768), 500, [2, 4]],
  ["sparse N=10000, 1000 a row", () => sparse(10_000, 1000), 10_000, [2, 4]],
  ["sparse N=50000, 500 a row", () => sparse(50_000, 500), 2000, [2, 4]],
];

const peers = flags.alone
  ? undefined
  : spawnSync("python3", [new URL("sharded_peers.py", import.meta.url).pathname], {
      encoding: "utf8",
      env: { ...process.env, NCCL_NVLS_ENABLE: "0" },
    });
const theirs = (peers?.status === 0 ? JSON.parse(peers.stdout.trim().split("\n").at(-1)!) : {}) as Record<string, number | string>;
if (peers && peers.status !== 0) console.log(`no PyTorch with NCCL beside it: ${peers.stderr.trim().split("\n").at(-1)}\n`);

const { name } = contexts[0]!.info;
console.log(`${contexts.length} x ${name}; float32, one input; microseconds a step, medians of 5 runs\n`);
console.log("| case | GPUs | one GPU | plan | sharded | modelled | kernel | times one GPU's speed | NCCL eager | NCCL graph | bits |");
console.log("|---|---|---|---|---|---|---|---|---|---|---|");
for (const [label, make, steps, counts] of cases) {
  if (only.length > 0 && !only.some((text) => label.includes(text))) continue;
  const model = make();
  const one = await measure(engines[0]!, model, steps);
  for (const count of counts.filter((each) => each <= engines.length)) {
    const [first, ...others] = engines.slice(0, count);
    let cells: string;
    try {
      const all = await measure(first!.beside(others), model, steps, "sharded");
      const equal = all.state.every((word, i) => word === one.state[i]);
      const peer = (kind: string) => {
        const time = theirs[`${label}, ${count} GPUs, ${kind}`];
        return typeof time === "number" ? time.toFixed(1) : "";
      };
      const faster = (one.microseconds / all.microseconds).toFixed(2);
      cells = `${all.microseconds.toFixed(2)} | ${all.modelled.toFixed(1)} | ${all.plan.split(" ")[1]} | ${faster} | ${peer("eager")} | ${peer("graph")} | ${equal ? "equal" : "DIFFERENT"}`;
      if (!equal) process.exitCode = 1;
    } catch (error) {
      cells = `${(error as Error).message.slice(0, 150)} | | | | | | `;
    }
    console.log(`| ${label} | ${count} | ${one.microseconds.toFixed(2)} | ${one.plan} | ${cells} |`);
  }
}
if (theirs["about"]) console.log(`\npeers: ${theirs["about"]}`);
for (const context of contexts) context.dispose();
