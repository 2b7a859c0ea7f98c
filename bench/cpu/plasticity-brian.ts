// A plastic network here and in Brian2: spike-timing-dependent plasticity among excitatory neurons,
// short-term plasticity of inhibition. It prints how far spikes and weights differ, and the time of
// both. It needs Brian2 (Debian: python3-brian).
//   npx tsx bench/cpu/plasticity-brian.ts [seconds=1] [python=/usr/bin/python3]
import { loadWasm } from "../../packages/numerics/src/wasm/index.js";
import { drawNetwork, type PlasticTable, planNetwork, spikeHash } from "../../src/spikes/index.js";
import { brianNetwork, brianShortTerm as shortTerm, brianPairs as stdp } from "../../test/spikes/network/plastic-network.js";
import { besideBrian } from "./brian.js";

const { seconds = "1", python = "/usr/bin/python3" } = Object.fromEntries(process.argv.slice(2).map((each) => each.split("=")));
const durationMs = Number(seconds) * 1000;
await loadWasm();
const model = drawNetwork(planNetwork(brianNetwork));
const [timing, dynamic] = model.plastic as [PlasticTable, PlasticTable];
const { timeStep } = model.config;

function listed({ offsets, packed, projection }: PlasticTable, weights: ArrayLike<number>) {
  const sources: number[] = [];
  for (let j = 0; j < projection.source.size; j++)
    for (let s = offsets[j]!; s < offsets[j + 1]!; s++) sources.push(projection.source.first + j);
  return {
    sources,
    targets: Array.from(packed, (word) => word & (2 ** model.cellBits - 1)),
    // Brian2 takes in a spike at the end of its step, here it is the beginning of the next.
    delays: Array.from(packed, (word) => (word >>> model.cellBits) * timeStep),
    weights: Array.from(weights, (units) => units / 2 ** model.fractionBits),
  };
}

const { driveGain } = model.populations[0]!.neuron;
const { network, spikes, there, machine, counts, times } = besideBrian(model, {
  ...{ steps: durationMs / timeStep, script: "plasticity.py", python },
  given: {
    ...{ size: model.size, durationMs, timeStep, threshold: 15, tau: 20, stdp, shortTerm },
    drive: Array.from(model.drive, (each) => each / driveGain),
    timing: listed(timing, timing.units),
    dynamic: listed(dynamic, dynamic.units),
  },
});
const weights = listed(timing, network.getWeights(0)!).weights;
const changed = listed(timing, timing.units).weights.map((before, s) => Math.abs(weights[s]! - before));
const apart = weights.map((each, s) => Math.abs(each - there.weights[s]!));
console.log(machine);
console.log(`${model.size} neurons, ${weights.length} synapses with stdp, ${dynamic.units.length} with shortTerm, ${durationMs} ms`);
console.log(counts);
console.log(`weights changed by up to ${Math.max(...changed)}, mean ${changed.reduce((a, b) => a + b, 0) / changed.length}`);
console.log(`they differ by at most ${Math.max(...apart)}`);
console.log(
  `sum of its weights ${there.weights.reduce((a, b) => a + b, 0)}, first ${there.weights.slice(0, 3)}; hash of the spikes ${spikeHash(spikes)}`,
);
console.log(times);
