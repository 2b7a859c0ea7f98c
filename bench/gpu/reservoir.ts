// One sequence through one reservoir on a GPU, beside PyTorch, cuDNN, JAX and cuSPARSE in the same
// run (if python3 has them). All states are kept on the device; float32, portable arithmetic,
// one input. Times by events are of the input drive and the steps; those from JavaScript are of
// whole runs.
// Usage: npx tsx bench/gpu/reservoir.ts [--plan PLAN] [--kernel-source SOURCE] [--no-peers]
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { Matrix, RandomStream, type SparseMatrix, seedKeys } from "../../packages/numerics/src/index.js";
import { cpuEngine } from "../../src/engine/cpu/index.js";
import { CommonKernels } from "../../src/engine/cuda/common-kernels.js";
import { cudaEngine } from "../../src/engine/cuda/index.js";
import { whyNoCompiler } from "../../src/engine/cuda/persistent/kernel-code.js";
import { choices } from "../../src/engine/cuda/plan.js";
import { shapeOf } from "../../src/engine/cuda/shape.js";
import type { RealSlice, TimeLoopPlan } from "../../src/engine/cuda/time-loop.js";
import { resolveConfig } from "../../src/reservoir/config-schema.js";
import type { ReservoirModel } from "../../src/reservoir/model.js";
import { roundWeights } from "../../src/reservoir/weight-rounding.js";
import { buildModel } from "../../src/reservoir/weights.js";

const { values: flags } = parseArgs({
  options: {
    plan: { type: "string", default: "auto" },
    "kernel-source": { type: "string", default: "auto" },
    "no-peers": { type: "boolean" },
  },
});
const engine = cudaEngine(0);
const context = engine.context();
const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

/** Uniform values in (-scale, scale). */
function uniform(length: number, scale: number, seed: number): Float32Array {
  const stream = new RandomStream(seedKeys(seed).weights, 77);
  return Float32Array.from({ length }, (_, i) => scale * (2 * stream.uniform(0, i) - 1));
}

/** A model of leak rate 0.3 with a W of spectral radius about 1.2 by the circular law. */
function reservoir(size: number, density: number, weightPrecision: "full" | "bfloat16" = "full"): ReservoirModel {
  const config = resolveConfig({
    size,
    connectionProbability: 0,
    spectralRadius: null,
    storage: "sparse",
    leakRate: 0.3,
    bias: 0.2,
    inputSize: 1,
    weightPrecision,
  });
  const scale = 1.2 * Math.sqrt(3 / (size * density));
  const weights: Matrix | SparseMatrix =
    density === 1 ? new Matrix(size, size, uniform(size * size, scale, 1)) : randomRows(size, density, scale);
  roundWeights((weights instanceof Matrix ? weights.data : weights.values) as Float32Array, size, weightPrecision);
  return { ...buildModel(config), weights };
}

function randomRows(size: number, density: number, scale: number): SparseMatrix {
  const stream = new RandomStream(seedKeys(2).weights, 78);
  const rowOffsets = new Uint32Array(size + 1);
  const columns: number[] = [];
  const gap = (r: number, i: number): number => 1 + Math.floor(Math.log(1 - stream.uniform(r, i)) / Math.log(1 - density));
  for (let r = 0; r < size; r++) {
    let drawn = 0;
    for (let c = gap(r, 0) - 1; c < size; c += gap(r, ++drawn)) columns.push(c);
    rowOffsets[r + 1] = columns.length;
  }
  return { rows: size, cols: size, rowOffsets, columns: Uint32Array.from(columns), values: uniform(columns.length, scale, 3) };
}

interface Measured {
  readonly name: string;
  readonly details: TimeLoopPlan["details"];
  /** Medians, in microseconds a step: the steps, and the steps with the drive. */
  readonly loop: number;
  readonly whole: number;
}

/** Drive and steps of one chunk, by events. */
async function byEvents(model: ReservoirModel, steps: number, plan: TimeLoopPlan): Promise<Measured | undefined> {
  const loop = await plan.open(context, model, {});
  if (!loop) return undefined;
  const { size } = model;
  const stream = context.stream();
  const common = new CommonKernels(context, "float32");
  const [inputs, inputWeights, bias] = [uniform(steps, 1, 4), transposed(model.inputWeights), model.bias as Float32Array].map((values) =>
    context.upload(values as Float32Array<ArrayBuffer>),
  ) as [RealSlice & Disposable, RealSlice & Disposable, RealSlice & Disposable];
  const [drive, state, states] = [steps * size, size, steps * size].map((length) => context.zeros("f32", length)) as [never, never, never];
  const events = [context.event(), context.event(), context.event()] as const;
  const [loops, wholes]: [number[], number[]] = [[], []];
  for (let round = 0; round < 8; round++) {
    events[0].record(stream);
    common.drive(stream, inputWeights, bias, inputs, drive, { size, inputs: 1, steps });
    events[1].record(stream);
    loop.enqueue(stream, { steps, firstStep: round * steps, sequence: 0, drive, state, states });
    events[2].record(stream);
    await stream.done();
    loop.check();
    if (round === 0) continue;
    loops.push((1000 * events[2].elapsedSince(events[1])) / steps);
    wholes.push((1000 * events[2].elapsedSince(events[0])) / steps);
  }
  const { name, details } = loop;
  for (const owned of [inputs, inputWeights, bias, drive, state, states, ...events, stream, loop] as readonly { dispose(): void }[])
    owned.dispose();
  return { name, details, loop: median(loops), whole: median(wholes) };
}

const transposed = ({ rows, cols, data }: Matrix): Float32Array =>
  Float32Array.from({ length: rows * cols }, (_, i) => data[(i % rows) * cols + Math.floor(i / rows)]!);

/**
 * Whole runs from JavaScript, the states left on the device; and whether the first steps have the
 * CPU engine's bits.
 */
async function fromJavaScript(model: ReservoirModel, steps: number, plan: string): Promise<{ microseconds: number; same: boolean }> {
  const session = await engine.open(model, { plan });
  const inputs = new Matrix(steps, 1, uniform(steps, 1, 4));
  const times: number[] = [];
  for (let round = 0; round < 6; round++) {
    const start = performance.now();
    await session.run({ inputs }, {});
    if (round > 0) times.push((1000 * (performance.now() - start)) / steps);
  }
  session.reset();
  const few = 20;
  const first = new Matrix(few, 1, inputs.data.subarray(0, few) as Float32Array);
  const [mine, theirs] = [Matrix.zeros(few, model.size, "float32"), Matrix.zeros(few, model.size, "float32")];
  await session.run({ inputs: first }, { into: mine });
  await session.dispose();
  const cpu = await cpuEngine.open(model);
  await cpu.run({ inputs: first }, { into: theirs });
  await cpu.dispose();
  return { microseconds: median(times), same: Buffer.from(mine.data.buffer).equals(Buffer.from(theirs.data.buffer)) };
}

type Case = readonly [label: string, size: number, density: number, steps: number, bar: number, aim: number, weights?: "bfloat16"];
const cases: readonly Case[] = [
  ["dense N=256", 256, 1, 8000, 0.75, 0.6],
  ["dense N=512", 512, 1, 8000, Number.NaN, Number.NaN],
  ["dense N=1000", 1000, 1, 8000, 1.5, 1.0],
  ["dense N=2000", 2000, 1, 4000, 2.1, 1.6],
  ["dense N=4096", 4096, 1, 2000, 6.5, 5],
  ["dense N=5000", 5000, 1, 1000, 14, 11],
  ["dense N=6000", 6000, 1, 1000, 21, 18],
  ["dense N=6000, bfloat16 weights", 6000, 1, 1000, 8, 6, "bfloat16"],
  ["sparse N=1000, p=0.1", 1000, 0.1, 8000, 1.3, 1.0],
  ["sparse N=10000, p=0.1", 10_000, 0.1, 1000, 15, 8],
  ["sparse N=20000, p=0.005", 20_000, 0.005, 1000, Number.NaN, Number.NaN],
  ["sparse N=50000, p=0.002", 50_000, 0.002, 1000, 10, 7],
];

console.log(`${context.info.name}: one sequence, float32, all states kept on the device, medians of 7; microseconds a step\n`);
type Peers = Record<string, Record<string, number>>;
let theirs: Peers = {};
if (!flags["no-peers"]) {
  const peers = spawnSync("python3", [new URL("reservoir_peers.py", import.meta.url).pathname], { encoding: "utf8" });
  if (peers.status === 0) theirs = JSON.parse(peers.stdout) as Peers;
  else console.log(`no peers: ${peers.stderr.trim().split("\n").at(-1)}\n`);
}
console.log(
  "| case | plan | steps alone | with the drive | from JavaScript | bits of the CPU | bar | aim | modelled | peers | best peer / ours |",
);
console.log("|---|---|---|---|---|---|---|---|---|---|---|");
const plans: string[] = [];
for (const [label, size, density, steps, bar, aim, weights] of cases) {
  const model = reservoir(size, density, weights);
  const target = { engine: "cuda", device: context.info, memory: context.memoryInfo().free, whyNoCompiler: () => whyNoCompiler(context) };
  let measured: Measured | undefined;
  let modelled = 0;
  for (const { loop } of choices(shapeOf(model), target, { plan: flags.plan, kernelSource: flags["kernel-source"] as "auto" })) {
    measured = await byEvents(model, steps, loop);
    modelled = loop.microsecondsPerStep;
    if (measured) break;
  }
  const { name, details, loop, whole } = measured!;
  const { microseconds, same } = await fromJavaScript(model, steps, flags.plan);
  const peers = Object.entries(theirs[label] ?? {});
  const best = Math.min(...peers.map(([, time]) => time));
  const goal = (value: number): string => (Number.isNaN(value) ? "" : value.toFixed(2));
  console.log(
    `| ${label} | ${name} | ${loop.toFixed(3)} | ${whole.toFixed(3)} | ${microseconds.toFixed(3)} | ${same ? "equal" : "DIFFERENT"} | ${goal(bar)} | ${goal(aim)} | ${modelled.toFixed(2)} | ${peers.map(([peer, time]) => `${peer} ${time.toFixed(2)}`).join(", ")} | ${peers.length > 0 ? `${(best / whole).toFixed(1)}x` : ""} |`,
  );
  plans.push(
    `- ${label}: ${Object.entries(details)
      .map(([key, value]) => `${key} ${value}`)
      .join(", ")}`,
  );
}
console.log(`\n${plans.join("\n")}`);

console.log(
  "\nClosed loop through the input, one output, from JavaScript:\n\n| case | plan | us/step | us/step, streamed |\n|---|---|---|---|",
);
for (const [label, size, density] of [
  ["dense N=256", 256, 1],
  ["dense N=1000", 1000, 1],
  ["sparse N=1000, p=0.1", 1000, 0.1],
] as const) {
  const model = reservoir(size, density);
  const readout = {
    ...({ features: { state: "plain", input: false, squares: false }, stateSize: size, inputSize: 1 } as const),
    weights: new Matrix(1, size, Float64Array.from(uniform(size, 1 / size, 5))),
    intercept: new Float64Array(1),
  };
  const row: string[] = [];
  for (const plan of [flags.plan, "streamed"]) {
    const session = await engine.open(model, { plan });
    const times: number[] = [];
    for (let round = 0; round < 6; round++) {
      const start = performance.now();
      await session.generate({ readout, steps: 4096 });
      if (round > 0) times.push((1000 * (performance.now() - start)) / 4096);
    }
    if (row.length === 0) row.push(String(session.plan.details["plan"]));
    row.push(median(times).toFixed(2));
    await session.dispose();
  }
  console.log(`| ${label} | ${row.join(" | ")} |`);
}
if (theirs["about"]) console.log(`\npeers: ${String(theirs["about"])}`);
engine.close();
