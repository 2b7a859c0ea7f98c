// What a run of a network costs before its first step: it keeps the state, so that a failure can
// bring it back. Beside it what `getState` takes, a copy of everything for the caller, as every run
// took one before.
//   npx tsx bench/cpu/network-keep.ts [neurons=2500] [plastic=80] [constant=20] [rounds=9]
import { cpus } from "node:os";
import { loadWasm } from "../../packages/numerics/src/wasm/index.js";
import { WasmNetwork } from "../../src/engine/cpu/network.js";
import { drawNetwork, planNetwork } from "../../src/spikes/index.js";

const given = Object.fromEntries(process.argv.slice(2).map((each) => each.split("=")));
const [neurons, plastic, constant, rounds] = [
  given["neurons"] ?? 2500,
  given["plastic"] ?? 80,
  given["constant"] ?? 20,
  given["rounds"] ?? 9,
].map(Number);
await loadWasm();
const network = new WasmNetwork(
  drawNetwork(
    planNetwork({
      kind: "network",
      populations: { E: { size: neurons!, current: { distribution: "uniform", from: 10, to: 19 } } },
      projections: [
        { from: "E", to: "E", connect: { rule: "fixedInDegree", number: constant! }, weight: 0.1, delay: 1.5 },
        {
          ...{ from: "E", to: "E", connect: { rule: "fixedInDegree", number: plastic! }, weight: 0.1, delay: 1.5 },
          plasticity: {
            kind: "stdp",
            ...{ potentiationTimeConstant: 15, depressionTimeConstant: 30, learningRate: 1e-4, maximumWeight: 1 },
          },
        },
      ],
    }),
  ),
);
const ways: Record<string, () => unknown> = {
  "getState, a copy for the caller": () => network.getState(),
  "keep, as a run does": () => network.keep(),
  "10 steps": () => network.advance(10, undefined, false),
};
console.log(`${cpus()[0]!.model}, Node ${process.versions.node}; ${neurons} neurons, ${neurons! * plastic!} plastic synapses`);
const times = Object.fromEntries(Object.keys(ways).map((name) => [name, [] as number[]]));
for (let round = -1; round < rounds!; round++)
  for (const [name, way] of Object.entries(ways)) {
    const began = performance.now();
    way();
    if (round >= 0) times[name]!.push(performance.now() - began);
  }
for (const [name, list] of Object.entries(times)) {
  const sorted = list.sort((a, b) => a - b);
  console.log(`${name.padEnd(32)} ${sorted[sorted.length >> 1]!.toFixed(2)} ms (${sorted[0]!.toFixed(2)} to ${sorted.at(-1)!.toFixed(2)})`);
}
