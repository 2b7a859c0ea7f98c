// What one call from JavaScript costs: a product of a 1000 x 50 matrix, its launch included, and a
// spike pattern in 100 bins of 50 channels through a reservoir of 1000 neurons, from arrays of the
// host to states on the host, beside PyTorch on the same work in the same run (if python3 has
// it).
// Usage: npx tsx bench/gpu/calls.ts [--no-peers]
import { spawnSync } from "node:child_process";
import "../../src/index.js";
import { openDevice, type Stream } from "../../packages/gpu/src/index.js";
import { Matrix, RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import { loadEntries } from "../../src/engine/cuda/kernels.js";
import { ReservoirComputer } from "../../src/reservoir/index.js";
import { binSpikes, SpikePattern } from "../../src/spikes/index.js";

const calls = 1000;

function uniform(length: number, seed: number): Float32Array<ArrayBuffer> {
  const stream = new RandomStream(seedKeys(seed).weights, 77);
  return Float32Array.from({ length }, (_, i) => 2 * stream.uniform(0, i) - 1);
}

const quantile = (sorted: readonly number[], q: number): number => sorted[Math.floor(q * (sorted.length - 1))]!;
const show = (times: readonly number[]): string => {
  const sorted = times.toSorted((a, b) => a - b);
  return [0.5, 0.95].map((q) => quantile(sorted, q).toFixed(1)).join(" | ");
};

/** Microseconds of each of many calls. */
async function timed(work: () => unknown): Promise<number[]> {
  const times: number[] = [];
  for (let call = 0; call < calls + 50; call++) {
    const begin = performance.now();
    await work();
    if (call >= 50) times.push(1000 * (performance.now() - begin));
  }
  return times;
}

const peers = process.argv.includes("--no-peers")
  ? undefined
  : spawnSync("python3", [new URL("calls_peers.py", import.meta.url).pathname], { encoding: "utf8" });
if (peers && peers.status !== 0) console.log(`no peers: ${peers.stderr.trim().split("\n").at(-1)}\n`);
const theirs = peers?.status === 0 ? (JSON.parse(peers.stdout.trim().split("\n").at(-1)!) as Record<string, number[] | string>) : {};
const rows: string[] = [];
const row = (work: string, times: readonly number[], bar: string, peer: string): void => {
  const peerTimes = theirs[peer];
  rows.push(`| ${work} | ${show(times)} | ${bar} | ${Array.isArray(peerTimes) ? show(peerTimes) : "- | -"} |`);
};

const context = openDevice(0);
const stream: Stream = context.stream();
const [height, width] = [1000, 50];
const parameters = ["const f32*", "const f32*", "const f32*", "f32*", "i32", "i32", "i32"] as const;
const product = loadEntries(context, "neuromorphic_gemv", ["matvec_input"]).kernel("matvec_input", parameters);
const [a, x] = [context.upload(uniform(height * width, 1)), context.upload(uniform(width, 2))];
const [bias, y] = [context.zeros("f32", height), context.zeros("f32", height)];
const config = { grid: Math.ceil(height / 128), block: 128 };
const launch = (on: Stream): void => on.launch(product, config, a, bias, x, y, height, width, 1);
row(
  "matvec_input 1000 x 50, launch and wait",
  await timed(() => {
    launch(stream);
    stream.sync();
  }),
  "50",
  "matvec",
);
const [begun, ended] = [context.event(), context.event()];
const graph = stream.capture((on) => {
  for (let i = 0; i < 100; i++) launch(on);
});
const alone: number[] = [];
for (let round = 0; round < 20; round++) {
  begun.record(stream);
  graph.launch(stream);
  ended.record(stream);
  stream.sync();
  alone.push(10 * ended.elapsedSince(begun));
}
row("the kernel alone, one of 100 in a graph, by events", alone, "-", "none");
for (const owned of [graph, begun, ended, a, bias, x, y, stream]) owned.dispose();

const [bins, channels, size] = [100, 50, 1000];
const spikeCount = 1000;
const durationMs = 100;
const times = Float64Array.from({ length: spikeCount }, (_, i) => (i * durationMs) / spikeCount);
const neurons = Uint32Array.from(uniform(spikeCount, 3), (u) => Math.floor(((u + 1) / 2) * channels) % channels);
const pattern = new SpikePattern({ times, neurons }, { durationMs, neuronCount: channels });
const binned = binSpikes(pattern, { bins });
let differ = false;
for (const [label, options] of [
  ["dense", { storage: "dense", connectionProbability: 1 }],
  ["p=0.1", { storage: "sparse", connectionProbability: 0.1 }],
] as const) {
  const description = { size, inputSize: channels, seed: 1, ...options };
  const computer = await ReservoirComputer.create(description, { engine: "cuda" });
  const cpu = await ReservoirComputer.create(description, { engine: "cpu" });
  const states = await computer.run(binned);
  const expected = await cpu.run(binned);
  differ ||= Buffer.compare(Buffer.from((states.data as Float32Array).buffer), Buffer.from((expected.data as Float32Array).buffer)) !== 0;
  const last = { every: bins };
  const into = Matrix.zeros(bins, size, "float32") as Matrix;
  row(`N=1000 ${label}: 100 x 50 in, last state out`, await timed(() => computer.run(binned, last)), "1000", `${label} last`);
  row(`N=1000 ${label}: 100 x 50 in, 100 x 1000 states out`, await timed(() => computer.run(binned)), "1000", `${label} all`);
  row(`the same into a matrix that is there`, await timed(() => computer.run(binned, { into })), "1000", "none");
  row(
    `the same with ${spikeCount} spikes binned in the call`,
    await timed(() => computer.run(binSpikes(pattern, { bins }))),
    "1000",
    "none",
  );
  console.log(`N=1000 ${label}: ${computer.engine.plan.summary}`);
  await computer.dispose();
  await cpu.dispose();
}
console.log(`\n${context.info.name}; ${theirs["about"] ?? "no PyTorch beside it"}; microseconds of ${calls} calls, from call to result\n`);
console.log("| work | median | 95 of 100 within | bar | PyTorch, median | 95 of 100 within |");
console.log("|---|---|---|---|---|---|");
for (const line of rows) console.log(line);
console.log(`\nstates: ${differ ? "OTHER bits than" : "the bits of"} the CPU engine`);
context.dispose();
if (differ) process.exitCode = 1;
