// Plastic networks on a GPU. First NEST's benchmark of spike-timing-dependent plasticity
// (hpc_benchmark): seconds to draw it on the host, to open it and to run it without recording, beside
// what PyGeNN published. Then what a step of a small network costs with each kind of plasticity.
// Usage: npx tsx bench/gpu/plasticity.ts [--scale 1] [--seconds 0.35] [--rounds 3] [--neurons 2500]
// A scale or number of neurons of 0 leaves that part out.
import { parseArgs } from "node:util";
import { type Context, openDevice } from "../../packages/gpu/src/index.js";
import { openNetwork } from "../../src/engine/cuda/network/index.js";
import { drawNetwork, hpcBenchmark, type NetworkModel, planNetwork } from "../../src/spikes/network/index.js";
import { spikeHash } from "../../src/spikes/network/spike-hash.js";
import { smallNetworks } from "../cpu/plastic-networks.js";

const { values: flags } = parseArgs({
  options: {
    scale: { type: "string", default: "1" },
    seconds: { type: "string", default: "0.35" },
    rounds: { type: "string", default: "3" },
    neurons: { type: "string", default: "2500" },
  },
});
const [scale, seconds, rounds, neurons] = [flags.scale, flags.seconds, flags.rounds, flags.neurons].map(Number) as [
  number,
  number,
  number,
  number,
];
/** Knight, Komissarov, Nowotny 2021, doi 10.3389/fninf.2021.659005: PyGeNN, 0.35 s of model time. */
const published = { seconds: 0.359, on: "a Titan RTX" };

const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(2)} GB`;
const median = (times: readonly number[]) => [...times].sort((a, b) => a - b)[times.length >> 1]!;
async function timed<T>(work: () => T | Promise<T>): Promise<readonly [T, number]> {
  const began = performance.now();
  const result = await work();
  return [result, (performance.now() - began) / 1000];
}

/** Seconds of each of the rounds, all from the first state. */
async function run(context: Context, model: NetworkModel, steps: number) {
  const before = context.memoryInfo().free;
  const [opened, opening] = await timed(() => openNetwork(context, model));
  await using network = opened;
  const memory = before - context.memoryInfo().free;
  const start = network.getState();
  const spikes = (await network.advance(steps, undefined, true))!;
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    network.setState(start);
    times.push((await timed(() => network.advance(steps, undefined, false)))[1]);
  }
  return { summary: network.summary, opening, memory, spikes, times };
}

const context = openDevice(0);
console.log(`${context.info.name}, Node ${process.versions.node}`);
if (scale > 0) {
  const plan = planNetwork(hpcBenchmark({ scale, seed: 1 }));
  const [model, drawing] = await timed(() => drawNetwork(plan));
  const drawn = process.resourceUsage().maxRSS * 1024;
  const steps = Math.round(seconds * 1e4);
  const { summary, opening, memory, spikes, times } = await run(context, model, steps);
  const count = spikes.neurons.length;
  console.log(`hpc_benchmark, scale ${scale}: ${plan.size} neurons; ${summary}`);
  console.log(`  drawn in ${drawing.toFixed(1)} s with ${gigabytes(drawn)} of host memory at most, opened in ${opening.toFixed(1)} s`);
  console.log(`  ${gigabytes(memory)} of device memory; ${gigabytes(process.resourceUsage().maxRSS * 1024)} of host memory at most`);
  console.log(`  ${count} spikes in ${seconds} s, ${(count / plan.size / seconds).toFixed(2)} Hz, hash ${spikeHash(spikes)}`);
  const each = times.map((time) => time.toFixed(3)).join(" ");
  console.log(
    `  ${seconds} s in ${median(times).toFixed(3)} s (${each}), factor ${(median(times) / seconds).toFixed(3)}, ${((1e6 * median(times)) / steps).toFixed(1)} us a step`,
  );
  if (scale === 1 && seconds === 0.35)
    console.log(`  PyGeNN on ${published.on}, as published: ${published.seconds} s, factor ${(published.seconds / 0.35).toFixed(2)}`);
}
if (neurons > 0) {
  const steps = 10_000;
  for (const [name, description] of Object.entries(smallNetworks(neurons))) {
    const plan = planNetwork(description);
    const { summary, spikes, times } = await run(context, drawNetwork(plan), steps);
    const rate = spikes.neurons.length / plan.size / (steps / 1e4);
    console.log(`${name.padEnd(18)} ${((1e6 * median(times)) / steps).toFixed(2)} us a step, ${rate.toFixed(2)} Hz; ${summary}`);
  }
}
context.dispose();
