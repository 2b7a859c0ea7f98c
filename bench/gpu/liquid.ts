// Spiking reservoirs on a GPU, beside PyTorch on a network of the same numbers in the same run
// (if python3 has it). Leaky integrate-and-fire neurons, exponential synapses, delays of 1 to 20
// steps, background spikes that make them fire at about 10 Hz. Times are of whole runs from
// JavaScript, without keeping states. Usage: npx tsx bench/gpu/liquid.ts [--no-peers]
import { spawnSync } from "node:child_process";
import { Matrix } from "../../packages/numerics/src/index.js";
import { cpuEngine } from "../../src/engine/cpu/index.js";
import { cudaEngine } from "../../src/engine/cuda/index.js";
import { referenceEngine } from "../../src/engine/reference/index.js";
import type { SpikingModel, SynapseTable } from "../../src/reservoir/index.js";
import { build } from "../../src/spikes/liquid/kind.js";

const delays = 20;
const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

interface Case {
  readonly name: string;
  readonly size: number;
  readonly fanOut: number;
  readonly timeStep: number;
  readonly steps: number;
  readonly bar: number;
}

const cases: readonly Case[] = [
  { name: "10,000 neurons, 1 % connected, 1 ms", size: 10_000, fanOut: 100, timeStep: 1, steps: 20_000, bar: 8 },
  { name: "100,000 neurons, 1e8 synapses, 0.1 ms", size: 100_000, fanOut: 1000, timeStep: 0.1, steps: 10_000, bar: 100 },
];

/**
 * `fanOut` synapses a source to targets of a linear congruential sequence, an equal share for each
 * delay; every fifth source inhibits.
 */
function synapses(size: number, fanOut: number, units: number): SynapseTable {
  const targets = new Uint32Array(size * fanOut);
  const weights = new Int32Array(size * fanOut);
  const steps = new Uint16Array(size * fanOut);
  let s = 1;
  for (let source = 0, at = 0; source < size; source++) {
    const weight = source < 0.8 * size ? units : -4 * units;
    for (let k = 0; k < fanOut; k++, at++) {
      s = (Math.imul(1664525, s) + 1013904223) >>> 0;
      targets[at] = Math.floor((s / 2 ** 32) * size);
      weights[at] = weight;
      steps[at] = Math.floor((k * delays) / fanOut);
    }
  }
  return { offsets: Uint32Array.from({ length: size + 1 }, (_, source) => source * fanOut), targets, weights, delays: steps };
}

function network({ size, fanOut, timeStep }: Case): SpikingModel {
  const model = build({
    kind: "spiking",
    size,
    inputSize: 0,
    timeStep,
    connectivity: { type: "random", probability: 0 },
    background: { rate: 400, weight: 12 },
    seed: "bench",
  });
  return { ...model, synapses: synapses(size, fanOut, Math.round((15 / fanOut) * 2 ** model.fractionBits)), ringRows: delays };
}

const engine = cudaEngine(0);
const peers = process.argv.includes("--no-peers") ? undefined : spawnSync("python3", ["bench/gpu/liquid_peers.py"], { encoding: "utf8" });
const theirs = peers?.status === 0 ? (JSON.parse(peers.stdout.trim().split("\n").at(-1)!) as Record<string, number | string>) : {};
console.log(`${engine.context().info.name}; ${theirs["about"] ?? "no PyTorch beside it"}`);
for (const one of cases) {
  const model = network(one);
  const session = await engine.open(model);
  const inputs = new Matrix(one.steps, 0, new Float32Array(0));
  await session.run({ inputs: inputs.subarray(0, 2000) }, {});
  const times: number[] = [];
  for (let k = 0; k < 5; k++) {
    const begun = performance.now();
    await session.run({ inputs }, {});
    times.push(((performance.now() - begun) * 1000) / one.steps);
  }
  const window = Math.min(1000, one.steps);
  const before = session.getState().values;
  const states = Matrix.zeros(window, one.size, "float32");
  await session.run({ inputs: inputs.subarray(0, window) }, { into: states });
  let spikes = 0;
  for (let t = 0; t < window; t++) {
    const last = t === 0 ? before : states.row(t - 1);
    const row = states.row(t);
    for (let r = 0; r < one.size; r++) if (row[r] !== Math.fround(model.stateKeep * last[r]!)) spikes++;
  }
  const rate = (spikes / one.size / window / one.timeStep) * 1000;
  const time = median(times);
  const peer = theirs[one.name] as number | undefined;
  const beside = peer === undefined ? "" : `; PyTorch ${peer.toFixed(0)} us, ${(peer / time).toFixed(1)}x`;
  console.log(
    `${one.name}: ${time.toFixed(2)} us a step (bar ${one.bar}), ${((one.timeStep * 1000) / time).toFixed(1)}x real time, ${rate.toFixed(1)} Hz${beside}; ${session.plan.summary}`,
  );
  await session.dispose();
}

// The bits of a smaller network of the same kind, against the host.
const small = network({ ...cases[0]!, size: 1000, fanOut: 100 });
const inputs = new Matrix(10_000, 0, new Float32Array(0));
const rows = await Promise.all(
  [engine, cpuEngine, referenceEngine].map(async (each) => {
    const states = Matrix.zeros(10_000, 1000, "float32");
    const session = await each.open(small);
    await session.run({ inputs }, { into: states });
    await session.dispose();
    return Buffer.from(states.data.buffer);
  }),
);
const isSame = rows.every((row) => Buffer.compare(row, rows[0]!) === 0);
console.log(`1000 neurons over 10,000 steps: ${isSame ? "the same bits" : "OTHER BITS"} on the GPU, in WebAssembly and in TypeScript`);
engine.close();
if (!isSame) process.exitCode = 1;
