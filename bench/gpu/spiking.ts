// Spikes on a GPU: ten million of them into bins, and a pattern against a thousand templates,
// beside PyTorch in the same run (if python3 has it). All data is on the device. Spiking
// reservoirs are bench/gpu/liquid.ts. Usage: npx tsx bench/gpu/spiking.ts [--no-peers]
import { spawnSync } from "node:child_process";
import { type Context, openDevice, type Stream } from "../../packages/gpu/src/index.js";
import { Matrix } from "../../packages/numerics/src/index.js";
import { copiesOf, enqueueBinning } from "../../src/spikes/gpu/binning.js";
import { binSpikesOnDevice, DeviceSpikePattern, DeviceTemplates } from "../../src/spikes/gpu/index.js";
import { binSpikes, PatternTemplates, SpikePattern } from "../../src/spikes/index.js";

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;
const context: Context = openDevice(0);
const stream = context.stream();

/** Numbers in [0, 1) of a linear congruential sequence. */
function numbers(count: number, seed: number): Float32Array<ArrayBuffer> {
  let s = seed;
  return Float32Array.from({ length: count }, () => {
    s = (Math.imul(1664525, s) + 1013904223) >>> 0;
    return (s >>> 8) / 2 ** 24;
  });
}

/** Median microseconds of work by events. */
async function microseconds(work: (stream: Stream) => void, rounds = 21): Promise<number> {
  const [begun, ended] = [context.event(), context.event()];
  const times: number[] = [];
  for (let k = 0; k < rounds; k++) {
    begun.record(stream);
    work(stream);
    ended.record(stream);
    await stream.done();
    if (k > 2) times.push(1000 * ended.elapsedSince(begun));
  }
  begun.dispose();
  ended.dispose();
  return median(times);
}

async function wall(work: () => Promise<unknown>, rounds = 11): Promise<number> {
  const times: number[] = [];
  for (let k = 0; k < rounds; k++) {
    const begun = performance.now();
    await work();
    if (k > 1) times.push(1000 * (performance.now() - begun));
  }
  return median(times);
}

const peers = process.argv.includes("--no-peers") ? undefined : spawnSync("python3", ["bench/gpu/spiking_peers.py"], { encoding: "utf8" });
if (peers && peers.status !== 0) console.log(`no peers: ${peers.stderr.trim().split("\n").at(-1)}`);
const theirs = peers?.status === 0 ? (JSON.parse(peers.stdout.trim().split("\n").at(-1)!) as Record<string, number | string>) : {};
const beside = (name: string, ours: number): string => {
  const peer = theirs[name];
  return typeof peer === "number" ? `${peer.toFixed(1)} | ${(peer / ours).toFixed(1)}` : "- | -";
};
let failed = false;
const isSame = (a: Float32Array, b: Float32Array): string => {
  const same = Buffer.compare(Buffer.from(a.buffer, a.byteOffset, a.byteLength), Buffer.from(b.buffer, b.byteOffset, b.byteLength)) === 0;
  failed ||= !same;
  return same ? "same" : "OTHER";
};

console.log(`${context.info.name}; ${theirs["about"] ?? "no PyTorch beside it"}; medians, microseconds\n`);
console.log("| work | on the device | from JavaScript | bar | bits of the CPU | PyTorch | PyTorch / ours |");
console.log("|---|---|---|---|---|---|---|");

const spikeCount = 10_000_000;
const cases = [
  ["1000 bins x 1000 neurons, counts", 1000, 1000, "counts"],
  ["1000 bins x 1000 neurons, amplitudes", 1000, 1000, "amplitudes"],
  ["100 bins x 100,000 neurons, counts", 100, 100_000, "counts"],
  ["20 bins x 8 neurons, counts", 20, 8, "counts"],
] as const;
const durationMs = 1000;
const times = Float64Array.from({ length: spikeCount }, (_, i) => (i * durationMs) / spikeCount);
const where = numbers(spikeCount, 1);
const amplitudes = numbers(spikeCount, 2);
for (const [name, bins, neuronCount, values] of cases) {
  const neurons = Uint32Array.from(where, (u) => Math.floor(u * neuronCount));
  const pattern = new SpikePattern({ times, neurons, ...(values === "amplitudes" ? { amplitudes } : {}) }, { durationMs, neuronCount });
  const spikes = DeviceSpikePattern.upload(context, pattern);
  const cells = context.alloc("f32", bins * neuronCount);
  const report = context.alloc("u64", 3);
  const copies = copiesOf(cells.length);
  const length = copies * cells.length;
  const parts = { high: context.alloc("i64", length), low: context.alloc("u64", length) };
  const counts = copies === 1 ? cells : context.alloc("f32", length);
  const sums = values === "amplitudes" ? { copies, ...parts } : { copies, counts: counts.as("u32") };
  const shape = { bins, channels: neuronCount, width: durationMs / bins };
  const time = await microseconds((on) => enqueueBinning(on, context, spikes, shape, { cells, report, sums }));
  const fromJavaScript = await wall(async () => (await binSpikesOnDevice(context, spikes, { bins, values, stream })).dispose());
  const bits = isSame(context.read(cells), binSpikes(pattern, { bins, values }).data);
  console.log(`| 1e7 spikes to ${name} | ${time.toFixed(0)} | ${fromJavaScript.toFixed(0)} | 1000 | ${bits} | ${beside(name, time)} |`);
  for (const owned of [spikes, cells, report, parts.high, parts.low, counts]) owned.dispose();
}

// More sets of templates than the second-level cache holds, one after the other: they come from
// memory.
const [count, length, sets] = [1000, 4096, 8];
const labels = Array.from({ length: count }, (_, p) => `${p}`);
const given = Array.from({ length: sets }, (_, k) => {
  const values = numbers(count * length, 3 + k).map((u) => 2 * u - 1);
  return new PatternTemplates(labels, new Matrix(count, length, values), { bins: 1, channels: length });
});
const vector = numbers(length, 99).map((u) => 2 * u - 1);
for (const score of ["cosine", "dot"] as const) {
  const there = given.map((templates) => new DeviceTemplates(context, templates, { score }));
  const x = context.upload(vector);
  const out = { scores: context.alloc("f32", count), best: context.alloc("i32", 1), matches: context.alloc("i32", 1) };
  const graph = stream.capture((on) => {
    for (const templates of there) templates.enqueue(on, x, out);
  });
  const time = (await microseconds((on) => graph.launch(on))) / sets;
  const one = await wall(async () => {
    there[0]!.enqueue(stream, x, out);
    await stream.download(out.matches);
  }, 51);
  let bits = "-";
  if (score === "cosine") {
    there[0]!.enqueue(stream, x, out);
    await stream.done();
    bits = isSame(context.read(out.scores), given[0]!.matchVector(vector).scores);
  }
  const name = `1000 templates x 4096, ${score}`;
  console.log(`| ${name} | ${time.toFixed(1)} | ${one.toFixed(0)} | 30 | ${bits} | ${beside(name, time)} |`);
  graph.dispose();
  for (const owned of [...there, x, ...Object.values(out)]) owned.dispose();
}
stream.dispose();
context.dispose();
if (failed) process.exitCode = 1;
