// Many independent reservoirs on a GPU, each with weights of its own, beside JAX's vmap in the same
// run (if python3 has it). All states are kept on the device; float32, portable and fast
// arithmetic, one input. From JavaScript: from host arrays to the last states in host arrays, with
// weights that come anew in each call, and with weights that stay on the device. Usage: npx tsx
// bench/gpu/ensemble.ts [--no-peers]
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { Matrix, RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import { cpuEngine } from "../../src/engine/cpu/index.js";
import { DeviceEnsemble } from "../../src/engine/cuda/ensemble/index.js";
import { DeviceMembers, type Member } from "../../src/engine/cuda/ensemble/members.js";
import { planMembers, runMembers } from "../../src/engine/cuda/ensemble/run.js";
import { DeviceWeights } from "../../src/engine/cuda/ensemble/weights.js";
import { cudaEngine } from "../../src/engine/cuda/index.js";
import { resolveConfig } from "../../src/reservoir/config-schema.js";
import { openEnsemble } from "../../src/reservoir/engine/one-by-one.js";
import { buildModel } from "../../src/reservoir/weights.js";

const { values: flags } = parseArgs({ options: { "no-peers": { type: "boolean" } } });
const engine = cudaEngine(0);
const context = engine.context();
const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

function uniform(length: number, scale: number, seed: number): Float32Array {
  const stream = new RandomStream(seedKeys(seed).weights, 77);
  return Float32Array.from({ length }, (_, i) => scale * (2 * stream.uniform(0, i) - 1));
}

/**
 * Members with weights, input weights and leak rates of their own: W is a stretch of one long row
 * of random numbers.
 */
function dense(size: number, count: number, steps: number, arithmetic: "portable" | "fast" = "portable"): Member[] {
  const base = buildModel(resolveConfig({ size, connectionProbability: 0, spectralRadius: null, storage: "dense", bias: 0.2, arithmetic }));
  const pool = uniform(size * size + 7 * count, 1.2 * Math.sqrt(3 / size), 1);
  const sequence = { inputs: new Matrix(steps, 1, uniform(steps, 1, 2)) };
  return Array.from({ length: count }, (_, r) => {
    const weights = new Matrix(size, size, pool.slice(7 * r, 7 * r + size * size));
    return { model: { ...base, weights, leakRate: base.leakRate.map(() => 0.2 + (r % 7) / 10) }, sequence, number: 0 };
  });
}

/** Members of p = 0.1; every 20th has a pattern of its own. */
function sparse(size: number, count: number, steps: number): Member[] {
  const models = Array.from({ length: 20 }, (_, seed) =>
    buildModel(resolveConfig({ size, seed, spectralRadius: null, storage: "sparse" })),
  );
  const sequence = { inputs: new Matrix(steps, 1, uniform(steps, 1, 2)) };
  return Array.from({ length: count }, (_, r) => ({ model: models[r % 20]!, sequence, number: 0 }));
}

/** Million reservoir-steps a second. */
interface Speeds {
  readonly kernel: string;
  /** By events, the median of five launches. */
  readonly events: number;
  /** The medians of whole calls. */
  readonly anew: number;
  readonly kept: number;
  /** The largest difference from the CPU's states over 20 steps, and whether every bit is equal. */
  readonly difference: number;
  readonly same: boolean;
}

async function medianTime(work: () => Promise<unknown>, rounds: number): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const begin = performance.now();
    await work();
    if (round > 0) times.push(performance.now() - begin);
  }
  return median(times);
}

async function measure(members: readonly Member[]): Promise<Speeds> {
  const { model, sequence } = members[0]!;
  const steps = sequence.inputs.rows;
  const plan = planMembers(context, members)!;
  const { kernel } = plan.groups[0]!;
  const stream = context.stream();
  const models = members.map((member) => member.model);
  const weights = new DeviceWeights(context, { compute: stream, sender: stream, clock: undefined }, kernel, models, plan.patterns);
  await weights.sent();
  const device = new DeviceMembers(context, stream, weights, members);
  const states = context.alloc("f32", members.length * steps * model.size);
  const [start, end] = [context.event(), context.event()];
  const times: number[] = [];
  // The device's clock rises with work: the first launches of a quiet device are slower.
  for (const begin = performance.now(); performance.now() - begin < 300; ) {
    device.enqueue(stream, 0, steps, states, steps);
    await stream.done();
  }
  for (let round = 0; round < 6; round++) {
    start.record(stream);
    device.enqueue(stream, 0, steps, states, steps);
    end.record(stream);
    await stream.done();
    if (round > 0) times.push(end.elapsedSince(start));
  }
  for (const owned of [device, weights, states, start, end, stream]) owned.dispose();
  const anew = await medianTime(() => runMembers(context, members, plan, { keep: "last" }), 3);
  const ensemble = new DeviceEnsemble(context, "cuda", models, plan);
  const other = [1, 2].map((seed) => ({ inputs: new Matrix(steps, 1, uniform(steps, 1, seed)) }));
  let turn = 0;
  const kept = await medianTime(() => ensemble.run(other[turn++ % 2]!, { keep: "last" }), 9);
  await ensemble.dispose();
  const few = [0, members.length - 1].map((r): Member => ({ ...members[r]!, sequence: { inputs: sequence.inputs.subarray(0, 20) } }));
  const mine = await runMembers(context, few, planMembers(context, few)!, { keep: "all" });
  const onHost = await openEnsemble(
    cpuEngine,
    few.map((member) => member.model),
  );
  const theirs = await onHost.run(
    few.map((member) => member.sequence),
    { keep: "all" },
  );
  await onHost.dispose();
  const same = mine.every((each, r) => Buffer.from(each.data.slice().buffer).equals(Buffer.from(theirs[r]!.data.slice().buffer)));
  let difference = 0;
  for (const [r, { data }] of mine.entries())
    for (const [i, x] of data.entries()) difference = Math.max(difference, Math.abs(x - theirs[r]!.data[i]!));
  const rate = (milliseconds: number) => (members.length * steps) / milliseconds / 1000;
  return { kernel: kernel.name, events: rate(median(times)), anew: rate(anew), kept: rate(kept), difference, same };
}

const cases = [
  ["dense N=64", () => dense(64, 1056, 2000), 650, 900],
  ["dense N=128", () => dense(128, 1056, 2000), 380, 500],
  ["dense N=200", () => dense(200, 1056, 1000), 140, 220],
  ["dense N=256", () => dense(256, 1056, 1000), 95, 150],
  ["dense N=64, fast", () => dense(64, 1056, 2000, "fast"), Number.NaN, Number.NaN],
  ["dense N=128, fast", () => dense(128, 1056, 2000, "fast"), Number.NaN, Number.NaN],
  ["dense N=200, fast", () => dense(200, 1056, 1000, "fast"), Number.NaN, Number.NaN],
  ["dense N=256, fast", () => dense(256, 1056, 1000, "fast"), Number.NaN, Number.NaN],
  ["sparse N=200, p=0.1", () => sparse(200, 1056, 1000), Number.NaN, Number.NaN],
  ["sparse N=1000, p=0.1", () => sparse(1000, 264, 500), Number.NaN, Number.NaN],
] as const;

console.log(
  `${context.info.name}: 1056 reservoirs (264 of N=1000), float32, all states kept on the device; million reservoir-steps a second\n`,
);
let theirs: Record<string, number> = {};
if (!flags["no-peers"]) {
  const peers = spawnSync("python3", [new URL("ensemble_peers.py", import.meta.url).pathname], { encoding: "utf8" });
  if (peers.status === 0) theirs = JSON.parse(peers.stdout) as Record<string, number>;
  else console.log(`no peers: ${peers.stderr.trim().split("\n").at(-1)}\n`);
}
console.log(
  "| case | kernel | by events | from JavaScript, weights kept | weights anew | bits of the CPU | bar | aim | JAX vmap | ours / JAX |",
);
console.log("|---|---|---|---|---|---|---|---|---|---|");
for (const [label, make, bar, aim] of cases) {
  const { kernel, events, anew, kept, difference, same } = await measure(make());
  const jax = theirs[label.replace(", fast", "")];
  const fast = label.endsWith("fast");
  const asked = (value: number) => (Number.isNaN(value) ? "-" : value);
  const speeds = [events, kept, anew].map((speed) => speed.toFixed(1));
  const cells = [
    label,
    kernel,
    ...speeds,
    same ? "equal" : fast ? `within ${difference.toExponential(1)}` : "DIFFERENT",
    asked(bar),
    asked(aim),
  ];
  console.log(`| ${[...cells, jax?.toFixed(1) ?? "-", jax ? (events / jax).toFixed(1) : "-"].join(" | ")} |`);
}
if (theirs["version"] !== undefined) console.log(`\nJAX ${theirs["version"]}, matrix products in float32`);
engine.close();
