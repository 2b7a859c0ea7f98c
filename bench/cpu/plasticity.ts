// What plastic synapses cost a step on one thread: the same network with weights that stay, with
// short-term plasticity and with spike-timing-dependent plasticity, one after the other in one run.
//   npx tsx bench/cpu/plasticity.ts [neurons=2500] [ms=500] [rounds=3]
import { availableParallelism, cpus } from "node:os";
import { WasmNetwork } from "../../src/engine/cpu/network.js";
import { loadWasm } from "../../src/numerics/wasm/index.js";
import { drawNetwork, type NetworkOptions, type ProjectionPlasticityOptions, planNetwork } from "../../src/spikes/index.js";

const { neurons = "2500", ms = "500", rounds = "3" } = Object.fromEntries(process.argv.slice(2).map((each) => each.split("=")));
const excitatory = Math.round(0.8 * Number(neurons));
const steps = Number(ms) * 10;
const pairs = {
  kind: "stdp",
  ...{ potentiationTimeConstant: 15, depressionTimeConstant: 30, learningRate: 1e-4, maximumWeight: 1 },
} as const;
const kinds: Record<string, ProjectionPlasticityOptions | null> = {
  "weights that stay": null,
  shortTerm: { kind: "shortTerm", release: 0.5, recoveryTimeConstant: 100, facilitationTimeConstant: 50 },
  "stdp, additive": pairs,
  "stdp, powerLaw": { ...pairs, weightDependence: "powerLaw", referenceWeight: 0.1 },
};
/** Excitation does next to nothing to the potentials, so that every variant fires alike. */
const describe = (plasticity: ProjectionPlasticityOptions | null): NetworkOptions => ({
  kind: "network",
  seed: 1,
  populations: {
    E: { size: excitatory, current: { distribution: "uniform", from: 10, to: 19 }, background: { rate: 500, weight: 8 } },
    I: { like: "E", size: Number(neurons) - excitatory },
  },
  projections: [
    { from: "E", to: "E", connect: { rule: "fixedInDegree", number: 100 }, weight: 0.1, delay: 1.5, plasticity },
    { from: "I", to: "E", connect: { rule: "fixedInDegree", number: 25 }, weight: -0.5, delay: 1.5 },
  ],
});
await loadWasm();
const networks = Object.entries(kinds).map(([name, plasticity]) => ({
  name,
  network: new WasmNetwork(drawNetwork(planNetwork(describe(plasticity)))),
  times: [] as number[],
  spikes: 0,
}));
console.log(`${cpus()[0]!.model}, ${availableParallelism()} cores, Node ${process.versions.node}; one thread, processor time`);
console.log(
  `${neurons} neurons, ${100 * excitatory} synapses that change, ${25 * excitatory} that do not; medians of ${rounds} rounds of ${ms} ms`,
);
for (let round = -1; round < Number(rounds); round++)
  for (const each of networks) {
    const began = process.cpuUsage();
    const { neurons: fired } = each.network.advance(round < 0 ? 500 : steps, undefined, true)!;
    const { user, system } = process.cpuUsage(began);
    if (round < 0) continue;
    each.times.push((user + system) / steps);
    each.spikes += fired.length;
  }
for (const { name, times, spikes } of networks) {
  const median = times.sort((a, b) => a - b)[times.length >> 1]!;
  const rate = spikes / Number(neurons) / ((Number(rounds) * Number(ms)) / 1000);
  console.log(`${name.padEnd(18)} ${median.toFixed(1)} us a step, ${rate.toFixed(2)} Hz`);
}
