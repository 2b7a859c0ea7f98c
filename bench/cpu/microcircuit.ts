// The cortical microcircuit on the CPU engine: how long it takes to draw, its table's sum, the
// hash of its spikes, and the real-time factor (wall time / model time).
//   npx tsx bench/cpu/microcircuit.ts [scale=1] [drive=dc] [seed=1] [steps=15000]
import { WasmNetwork } from "../../src/engine/cpu/network.js";
import { drawNetwork, microcircuit, planNetwork, spikeHash, tableSum } from "../../src/spikes/index.js";

const given = Object.fromEntries(process.argv.slice(2).map((each) => each.split("=")));
const { scale = "1", drive = "dc", seed = "1", steps = "15000" } = given as Record<string, string>;
const seconds = (since: number) => (performance.now() - since) / 1000;
const began = performance.now();
const model = drawNetwork(planNetwork(microcircuit({ scale: Number(scale), drive: drive as "dc" | "poisson", seed })));
console.log(`${model.size} neurons, ${model.synapses.places.length} synapses, drawn in ${seconds(began).toFixed(1)} s`);
console.log(`sum of synapses ${tableSum(model.synapses)}`);
await using network = new WasmNetwork(model);
let hash: string | undefined;
let counts = new Float64Array(model.populations.length);
let simulated = 0;
for (let t = 0; t < Number(steps); t += 1000) {
  const part = Math.min(1000, Number(steps) - t);
  const from = performance.now();
  const spikes = network.advance(part, undefined, true)!;
  simulated += seconds(from);
  hash = spikeHash(spikes, t, hash);
  if (t === 5000) counts = new Float64Array(model.populations.length);
  model.populations.forEach(({ first, size }, p) => {
    for (const neuron of spikes.neurons) if (neuron >= first && neuron < first + size) counts[p]!++;
  });
  if (t + part === 10_000) console.log(`hash of the first 10,000 steps ${hash}`);
}
const modelled = (Number(steps) * model.config.timeStep) / 1000;
console.log(`hash of all spikes ${hash}`);
console.log(`${modelled} s of model time in ${simulated.toFixed(2)} s: real-time factor ${(simulated / modelled).toFixed(2)}`);
const measured = modelled - (Number(steps) > 5000 ? 0.5 : 0);
const rates = model.populations.map(({ name, size }, p) => `${name} ${(counts[p]! / size / measured).toFixed(3)}`);
console.log(`rates in Hz${Number(steps) > 5000 ? " after 0.5 s" : ""}: ${rates.join(", ")}`);
