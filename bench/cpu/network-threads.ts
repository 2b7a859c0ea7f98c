// A network on one thread of the CPU engine and on several, in turn: networks of several sizes,
// with a least delay of a step and of 1.5 ms, and the cortical microcircuit at a part of its size.
// On a busy machine threads wait for each other: the load stands beside the figures, and the ratio
// of the least times is what idle cores give.
//   npx tsx bench/cpu/network-threads.ts [threads=2] [rounds=21] [ms=60] [sizes=300,500,...] [scale=0.1]
// A scale of 0 leaves the microcircuit out. Beside it stand what bench/cpu/microcircuit-brian.ts
// measures for Brian2 and what is published of NEST.
import { loadavg } from "node:os";
import { loadWasm } from "../../packages/numerics/src/wasm/index.js";
import { WasmNetwork } from "../../src/engine/cpu/network.js";
import { drawNetwork, microcircuit, type NetworkOptions, planNetwork } from "../../src/spikes/index.js";
import { busyThreads, machine, processorTimes } from "./machine.mjs";

const given = Object.fromEntries(process.argv.slice(2).map((each) => each.split("=")));
const { threads = "2", rounds = "21", ms = "60", sizes = "300,500,1000,2500,10000,40000", scale = "0.1" } = given as Record<string, string>;
const counts = threads.split(",").map(Number);

/** Excitatory and inhibitory neurons 4 to 1 that fire at some 10 Hz, 100 synapses onto each. */
const balanced = (neurons: number, leastDelay: number): NetworkOptions => ({
  kind: "network",
  seed: 1,
  populations: {
    E: { size: Math.round(0.8 * neurons), current: 12, background: { rate: 1000, weight: 6 } },
    I: { like: "E", size: Math.round(0.2 * neurons) },
  },
  projections: [
    ...["E", "I"].map((to) => ({
      ...{ from: "E", to, connect: { rule: "fixedInDegree", number: 80 } as const, weight: 0.5 },
      delay: { distribution: "uniform", from: leastDelay, to: 3 } as const,
    })),
    ...["E", "I"].map((to) => ({
      ...{ from: "I", to, connect: { rule: "fixedInDegree", number: 20 } as const, weight: -3 },
      delay: { distribution: "uniform", from: leastDelay, to: 3 } as const,
    })),
  ],
});

const middle = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1]!;
const least = (values: readonly number[]) => Math.min(...values);

interface Measured {
  /** Neurons, synapses and Hz. */
  readonly network: string;
  /** Wall time over model time of a microsecond a step. */
  readonly factor: number;
  /** Microseconds a step of each round: of one thread, and of each number of threads. */
  readonly alone: readonly number[];
  readonly together: readonly (readonly number[])[];
}

/** Runs a network on one thread and on several in turn, over the same steps from the same state. */
async function measure(description: NetworkOptions, milliseconds: number): Promise<Measured> {
  const model = drawNetwork(planNetwork(description));
  const steps = Math.round(milliseconds / model.config.timeStep);
  const networks = [new WasmNetwork(model)];
  for (const count of counts) networks.push(await WasmNetwork.together(model, count));
  const times: number[][] = networks.map(() => []);
  let fired = 0;
  for (let round = -1; round < Number(rounds); round++) {
    const found = networks.map((network, k) => {
      const began = performance.now();
      const spikes = network.advance(steps, undefined, true)!;
      if (round >= 0) times[k]!.push(((performance.now() - began) * 1000) / steps);
      return spikes.neurons.length;
    });
    if (found.some((count) => count !== found[0])) throw new Error(`spikes differ: ${found}`);
    if (round >= 0) fired += found[0]!;
  }
  for (const network of networks) await network.dispose();
  const rate = fired / model.size / ((Number(rounds) * milliseconds) / 1000);
  const synapses = model.synapses.packed.length.toLocaleString("en");
  return {
    network: `${model.size} | ${synapses} | ${rate.toFixed(1)}`,
    factor: 1e-3 / model.config.timeStep,
    ...{ alone: times[0]!, together: times.slice(1) },
  };
}

await loadWasm();
for (const line of machine()) console.log(line);
console.log(`Node ${process.versions.node}; ${rounds} rounds in turn of ${ms} ms of model time, steps of 0.1 ms, wall time`);
console.log("median (least); how many times as fast: the median over rounds, and by the least times\n");
console.log(
  "| least delay | neurons | synapses | Hz | threads | one thread, us a step | threads | faster | by least | load | busy cores |",
);
console.log("|---|---|---|---|---|---|---|---|---|---|---|");

const time = (values: readonly number[], digits = 1) => `${middle(values).toFixed(digits)} (${least(values).toFixed(digits)})`;

/** Measures a network and prints a row for each number of threads. */
async function row(name: string, description: NetworkOptions): Promise<Measured> {
  const before = processorTimes();
  const measured = await measure(description, Number(ms));
  const { network, alone, together } = measured;
  const busy = busyThreads(before, processorTimes()).toFixed(1);
  together.forEach((own, k) => {
    const ratios = middle(own.map((each, round) => alone[round]! / each)).toFixed(2);
    const cells = [name, network, counts[k], time(alone), time(own), ratios, (least(alone) / least(own)).toFixed(2)];
    console.log(`| ${[...cells, loadavg()[0]!.toFixed(1), busy].join(" | ")} |`);
  });
  return measured;
}

for (const delay of [0.1, 1.5]) for (const size of sizes.split(",").map(Number)) await row(`${delay} ms`, balanced(size, delay));
if (Number(scale) > 0) {
  const name = `microcircuit, scale ${scale}`;
  const { alone, together, factor } = await row(name, microcircuit({ scale: Number(scale), drive: "poisson", seed: 1 }));
  console.log("\n| | wall time / model time, median (least) |\n|---|---|");
  [alone, ...together].forEach((own, k) => {
    const wall = own.map((each) => each * factor);
    console.log(`| ${name}, ${k === 0 ? "one thread" : `${counts[k - 1]} threads`} | ${time(wall, 3)} |`);
  });
  // Senk et al. 2026, Neuromorph. Comput. Eng. 6:012001, doi 10.1088/2634-4386/ae379a.
  console.log("| NEST 2022, full size, 2 nodes of 2 EPYC 7702 (256 cores), as published | 0.53 |");
  console.log("| NEST 2018, full size, 12 nodes of 2 Xeon E5-2680v3, as published | 2.465 |");
}
