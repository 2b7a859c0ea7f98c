// What plastic synapses cost a step on one thread: the same network with weights that stay, with
// short-term plasticity and with spike-timing-dependent plasticity, one after the other in one run.
//   npx tsx bench/cpu/plasticity.ts [neurons=2500] [ms=500] [rounds=3]
import { availableParallelism, cpus } from "node:os";
import { loadWasm } from "../../packages/numerics/src/wasm/index.js";
import { WasmNetwork } from "../../src/engine/cpu/network.js";
import { drawNetwork, planNetwork } from "../../src/spikes/index.js";
import { smallNetworks } from "./plastic-networks.js";

const { neurons = "2500", ms = "500", rounds = "3" } = Object.fromEntries(process.argv.slice(2).map((each) => each.split("=")));
const excitatory = Math.round(0.8 * Number(neurons));
const steps = Number(ms) * 10;
await loadWasm();
const networks = Object.entries(smallNetworks(Number(neurons))).map(([name, description]) => ({
  name,
  network: new WasmNetwork(drawNetwork(planNetwork(description))),
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
