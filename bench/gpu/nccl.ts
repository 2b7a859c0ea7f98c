// NCCL from one Node process: an all-reduce of 1 GiB over 2, 4 and all GPUs, in GB/s of the bus, as
// NCCL's own tests count it. bench/gpu/sharded_peers.py has PyTorch's.
// Usage: npx tsx bench/gpu/nccl.ts [--mebibytes 1024]
import { parseArgs } from "node:util";
import { communicatorGroup, openCommunicators, openDevices } from "../../packages/gpu/src/index.js";

const { values: flags } = parseArgs({ options: { mebibytes: { type: "string" } } });
const length = (Number(flags.mebibytes ?? 1024) * 2 ** 20) / 4;
const rounds = 20;
const contexts = openDevices("cuda:all");
const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

console.log(`${contexts.length} x ${contexts[0]!.info.name}; medians of 5 times ${rounds} all-reduces\n`);
console.log("| GPUs | ms | GB/s of the bus | sums |\n|---|---|---|---|");
for (const count of new Set([2, 4, contexts.length])) {
  if (count > contexts.length || count < 2) continue;
  const used = contexts.slice(0, count);
  const ranks = openCommunicators(used);
  const streams = used.map((context) => context.stream());
  const values = used.map((context, k) => context.zeros("f32", length, { label: `values of rank ${k}` }));
  const sums = used.map((context) => context.zeros("f32", length, { label: "sums" }));
  for (const [k, context] of used.entries()) {
    const first = context.upload(Float32Array.of(k + 1));
    streams[k]!.copy(values[k]!.slice(length - 1), first);
    streams[k]!.sync();
    first.dispose();
  }
  const reduce = (times: number) => {
    for (let round = 0; round < times; round++)
      communicatorGroup(() => {
        for (const [k, rank] of ranks.entries()) rank.allReduce(streams[k]!, sums[k]!, values[k]!);
      });
    for (const stream of streams) stream.sync();
  };
  reduce(5);
  const times = Array.from({ length: 5 }, () => {
    const begun = performance.now();
    reduce(rounds);
    return (performance.now() - begun) / rounds;
  });
  const milliseconds = median(times);
  const bus = (2 * (count - 1) * 4 * length) / count / milliseconds / 1e6;
  const right = used.every((context, k) => context.read(sums[k]!.slice(length - 1))[0] === (count * (count + 1)) / 2);
  if (!right) process.exitCode = 1;
  console.log(`| ${count} | ${milliseconds.toFixed(3)} | ${bus.toFixed(1)} | ${right ? "right" : "WRONG"} |`);
  for (const rank of ranks) rank.dispose();
  for (const each of [...values, ...sums, ...streams]) each.dispose();
}
for (const context of contexts) context.dispose();
