// The cortical microcircuit on any engine: how long it takes to draw and open, its table's sum, the
// hashes of its spikes, and the real-time factor (wall time / model time). The SHA-256 is of the
// step and the neuron of every spike, 32 bits each, in order: every engine gives the same.
//   npx tsx bench/cpu/microcircuit.ts [engine=cpu] [threads=1] [scale=1] [drive=dc] [seed=1] [steps=15000]
import { createHash } from "node:crypto";
import { loadavg } from "node:os";
import "../../src/index.js";
import { microcircuit, planNetwork, spikeHash, tableSum } from "../../src/spikes/index.js";
import { networkEngine } from "../../src/spikes/network/engines.js";

const given = Object.fromEntries(process.argv.slice(2).map((each) => each.split("=")));
const { engine = "cpu", threads = "1", scale = "1", drive = "dc", seed = "1", steps = "15000" } = given as Record<string, string>;
const seconds = (since: number) => (performance.now() - since) / 1000;
const plan = planNetwork(microcircuit({ scale: Number(scale), drive: drive as "dc" | "poisson", seed }));
const began = performance.now();
await using network = await (await networkEngine(engine, plan)).open(plan, { threads: Number(threads) });
console.log(
  `${plan.size} neurons, ${plan.expectedSynapses} synapses, drawn and opened in ${seconds(began).toFixed(1)} s; ${network.summary}`,
);
// A device has the sum of its table; a host has the table.
const { tableSum: sum, model } = network as { tableSum?: string; model?: { synapses: Parameters<typeof tableSum>[0] } };
console.log(`sum of synapses ${sum ?? tableSum(model!.synapses)}`);
const sha = createHash("sha256");
let hash: string | undefined;
let counts = new Float64Array(plan.populations.length);
let simulated = 0;
for (let t = 0; t < Number(steps); t += 1000) {
  const part = Math.min(1000, Number(steps) - t);
  const from = performance.now();
  const spikes = (await network.advance(part, undefined, true))!;
  simulated += seconds(from);
  hash = spikeHash(spikes, t, hash);
  for (let k = 0; k < part; k++)
    for (const neuron of spikes.neurons.subarray(spikes.offsets[k], spikes.offsets[k + 1])) sha.update(Uint32Array.of(t + k, neuron));
  if (t === 5000) counts = new Float64Array(plan.populations.length);
  plan.populations.forEach(({ first, size }, p) => {
    for (const neuron of spikes.neurons) if (neuron >= first && neuron < first + size) counts[p]!++;
  });
  if (t + part === 10_000) console.log(`after 10,000 steps: hash ${hash}, SHA-256 ${sha.copy().digest("hex")}`);
}
const modelled = (Number(steps) * plan.config.timeStep) / 1000;
console.log(`all spikes: hash ${hash}, SHA-256 ${sha.digest("hex")}`);
const load = `load ${loadavg()[0]!.toFixed(1)}`;
console.log(`${modelled} s of model time in ${simulated.toFixed(2)} s: real-time factor ${(simulated / modelled).toFixed(2)}; ${load}`);
const measured = modelled - (Number(steps) > 5000 ? 0.5 : 0);
const rates = plan.populations.map(({ name, size }, p) => `${name} ${(counts[p]! / size / measured).toFixed(3)}`);
console.log(`rates in Hz${Number(steps) > 5000 ? " after 0.5 s" : ""}: ${rates.join(", ")}`);
