// Networks that only the plan "general" runs, on a GPU: microseconds a step beside the CPU's, and
// whether the spikes are the same. Usage: npx tsx bench/gpu/conductances.ts [seconds=1] [rounds=3]
import "../../src/index.js";
import { openDevice } from "../../packages/gpu/src/index.js";
import { loadWasm } from "../../packages/numerics/src/wasm/index.js";
import { WasmNetwork } from "../../src/engine/cpu/network.js";
import { openNetwork } from "../../src/engine/cuda/network/index.js";
import { loadNetworkExperiment } from "../../src/experiment/index.js";
import { drawNetwork, microcircuit, type NetworkOptions, planNetwork, spikeHash } from "../../src/spikes/network/index.js";

const options = Object.fromEntries(process.argv.slice(2).map((text) => text.split("=") as [string, string]));
const steps = Math.round(Number(options["seconds"] ?? 1) * 10_000);
const rounds = Number(options["rounds"] ?? 3);
const context = openDevice(0);
await loadWasm();

const example = async (name: string): Promise<NetworkOptions> => ({
  ...((await loadNetworkExperiment(`examples/experiments/${name}.yaml`))!.network as NetworkOptions),
  kind: "network",
  seed: 1,
});
const networks: Record<string, NetworkOptions> = {
  "COBA, 4,750 neurons": await example("coba"),
  "CUBA, 4,000 neurons": await example("cuba"),
  "a tenth of the microcircuit": microcircuit({ scale: 0.1, drive: "poisson", seed: 1 }),
};

console.log(`${context.info.name}; us a step of 0.1 ms, ${steps} steps, nothing recorded\n`);
console.log("| network | plan | us a step, best (all runs) | CPU, one thread | spikes |\n|---|---|---|---|---|");
for (const [name, description] of Object.entries(networks)) {
  const model = drawNetwork(planNetwork(description));
  const cpu = new WasmNetwork(model);
  const began = performance.now();
  const hash = spikeHash(cpu.advance(steps, undefined, true)!);
  const onHost = ((performance.now() - began) * 1000) / steps;
  for (const plan of name.startsWith("a tenth") ? (["general", "table"] as const) : (["general"] as const)) {
    await using network = await openNetwork(context, model, { plan });
    const same = spikeHash((await network.advance(steps, undefined, true))!) === hash ? "the same" : "DIFFERENT";
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const start = performance.now();
      await network.advance(steps, undefined, false);
      times.push(((performance.now() - start) * 1000) / steps);
    }
    const all = times.map((time) => time.toFixed(2)).join(" ");
    console.log(`| ${name} | ${plan} | ${Math.min(...times).toFixed(2)} (${all}) | ${onHost.toFixed(1)} | ${same} |`);
  }
}
context.dispose();
