// A network of 4.1 million neurons and a billion synapses on one GPU: drawing, and microseconds a
// step. Usage: npx tsx bench/gpu/large-network.ts [scale=1] [device=0]

import { openDevice } from "../../packages/gpu/src/index.js";
import { openNetwork } from "../../src/engine/cuda/network/index.js";
import { type NetworkOptions, planNetwork } from "../../src/spikes/network/index.js";
import "../../packages/sim/src/index.js";

const options = Object.fromEntries(process.argv.slice(2).map((text) => text.split("=") as [string, string]));
const scale = Number(options["scale"] ?? 1);
const device = options["device"] ?? "0";
const context = device === "sim" ? openDevice("sim") : openDevice(Number(device));
const count = (full: number) => Math.round(full * scale);
const delay = { distribution: "normal", mean: 0.8, deviation: 0.4, least: 0.1, most: 1.5 } as const;
const weight = (mean: number) =>
  ({ distribution: "normal", mean, deviation: 0.1 * Math.abs(mean), ...(mean < 0 ? { most: 0 } : { least: 0 }) }) as const;
const from = (source: string, target: string, number: number, mean: number) =>
  ({ from: source, to: target, connect: { rule: "fixedTotalNumber", number: count(number) }, weight: weight(mean), delay }) as const;
const description: NetworkOptions = {
  kind: "network",
  seed: 1,
  populations: {
    E: {
      size: count(3_280_000),
      neuron: {
        type: "leakyIntegrateAndFire",
        membraneTimeConstant: 10,
        restingPotential: -65,
        threshold: -50,
        resetPotential: -65,
        refractoryPeriod: 2,
      },
      receptors: { current: { timeConstant: 0.5 } },
      background: { rate: 10_000, weight: 3.5 },
      initialPotential: { distribution: "uniform", from: -65, to: -50 },
    },
    I: { like: "E", size: count(820_000) },
  },
  projections: [from("E", "E", 640e6, 3.5), from("E", "I", 160e6, 3.5), from("I", "E", 160e6, -17.5), from("I", "I", 40e6, -17.5)],
};

const plan = planNetwork(description);
const began = performance.now();
await using network = await openNetwork(context, plan);
console.log(
  `${plan.size} neurons: ${network.summary}; drawn in ${network.drawingMs.toFixed(0)} ms, opened in ${((performance.now() - began) / 1000).toFixed(1)} s; sum ${network.tableSum}; ${(context.poolStatistics().used / 2 ** 30).toFixed(1)} GiB in use`,
);
const steps = device === "sim" ? 20 : 2000;
await network.advance(steps, undefined, false);
const times: number[] = [];
for (let round = 0; round < 3; round++) {
  const start = performance.now();
  await network.advance(steps, undefined, false);
  times.push((1000 * (performance.now() - start)) / steps);
}
const spikes = (await network.advance(steps, undefined, true))!.neurons.length;
const best = Math.min(...times);
console.log(
  `${best.toFixed(1)} us a step (${times.map((time) => time.toFixed(1)).join(" ")}), real-time factor ${(best / 100).toFixed(3)}; ${(spikes / plan.size / (steps * 1e-4)).toFixed(2)} Hz a neuron`,
);
context.dispose();
