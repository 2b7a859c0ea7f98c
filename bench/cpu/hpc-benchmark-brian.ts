// NEST's benchmark of plasticity, scaled down, here and in Brian2: the same synapses, potentials
// and spikes from outside, alpha-shaped currents, power-law plasticity with dendritic delays. It
// prints how far spikes and weights differ, and the time of both. It needs Brian2 (Debian:
// python3-brian).
//   npx tsx bench/cpu/hpc-benchmark-brian.ts [scale=0.02] [ms=1000] [python=/usr/bin/python3]
import { loadWasm } from "../../packages/numerics/src/wasm/index.js";
import { drawNetwork, planNetwork, spikeHash } from "../../src/spikes/index.js";
import { givenSpikes, hpcBenchmarkWithInputs } from "../../test/spikes/network/hpc-network.js";
import { besideBrian } from "./brian.js";

const given = Object.fromEntries(process.argv.slice(2).map((each) => each.split("=")));
const { scale = "0.02", ms = "1000", python = "/usr/bin/python3" } = given as Record<string, string>;
const durationMs = Number(ms);
await loadWasm();
const { description, rate } = hpcBenchmarkWithInputs(Number(scale));
const model = drawNetwork(planNetwork(description));
const { timeStep } = model.config;
const steps = Math.round(durationMs / timeStep);
const inputs = givenSpikes(model.inputs, rate, steps, timeStep);
const [timing] = model.plastic;
const { plasticity } = description.projections!.find((each) => each.plasticity)!;
const mask = 2 ** model.cellBits - 1;
const unit = 2 ** -model.fractionBits;

/** Synapses as Brian2 takes them; a spike of step t is there at the end of it, and is taken in by the next. */
function listed(offsets: Uint32Array, packed: Uint32Array, first: number) {
  const sources: number[] = [];
  for (let j = 0; j + 1 < offsets.length; j++) for (let s = offsets[j]!; s < offsets[j + 1]!; s++) sources.push(first + j);
  return {
    sources,
    targets: Array.from(packed, (word) => word & mask),
    delays: Array.from(packed, (word) => (word >>> model.cellBits) * timeStep),
  };
}

const { offsets, packed, units, signs } = model.synapses;
const own = offsets.slice(0, model.size + 1);
const fixed = listed(own, packed.subarray(0, own.at(-1)), 0);
const neuron = description.populations["E"]!;
const { network, spikes, there, machine, counts, times } = besideBrian(model, {
  ...{ steps, inputs, script: "hpc_benchmark.py", python },
  given: {
    ...{ size: model.size, steps, timeStep, threshold: 20, tau: 10, refractory: 0.5, unit, plasticity },
    tauS: neuron.receptors!["current"]!.timeConstant,
    perWeight: 10 / neuron.capacitance!,
    drive: Array.from(model.drive, (each) => each / model.populations[0]!.neuron.driveGain),
    potential: Array.from(model.initialPotential),
    fixed: { ...fixed, weights: fixed.sources.map((j, s) => signs[j]! * units[s]! * unit) },
    plastic: { ...listed(timing!.offsets, timing!.packed, 0), weights: Array.from(timing!.units, (each) => each * unit) },
    inputs: { offsets: [...inputs.offsets], neurons: [...inputs.neurons], weight: units[own.at(-1)!]! * unit },
  },
});
const weights = Array.from(network.getWeights(0)!, (each) => each * unit);
const changed = weights.map((each, s) => Math.abs(each - timing!.units[s]! * unit));
const apart = weights.map((each, s) => Math.abs(each - there.weights[s]!));
const most = (values: readonly number[]) => values.reduce((a, b) => Math.max(a, b), 0);
console.log(machine);
console.log(
  `${model.size} neurons, ${weights.length} synapses with stdp, ${fixed.sources.length} without, ${inputs.neurons.length} spikes from outside, ${durationMs} ms`,
);
console.log(`${counts}; hash ${spikeHash(spikes)}`);
console.log(
  `weights in mV: ${weights[0]} and sum ${weights.reduce((a, b) => a + b, 0)} here, ${there.weights[0]} and ${there.weights.reduce((a, b) => a + b, 0)} there`,
);
console.log(`changed by up to ${most(changed)}; they differ by at most ${most(apart)}`);
console.log(times);
