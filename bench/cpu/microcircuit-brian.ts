// The cortical microcircuit on one thread or several, here and in Brian2 (OpenMP): the same
// synapses, weights, delays and initial potentials, Poisson spikes of the same rates; each draws
// its own spikes from outside. It needs Brian2 and a C++ compiler (Debian: python3-brian, g++).
//   npx tsx bench/cpu/microcircuit-brian.ts [scale=0.1] [seconds=1] [seed=1] [threads=1] [python=python3]
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { loadWasm } from "../../packages/numerics/src/wasm/index.js";
import { WasmNetwork } from "../../src/engine/cpu/network.js";
import { drawNetwork, microcircuit, type NetworkModel, planNetwork } from "../../src/spikes/index.js";
import { finished } from "./children.mjs";

const given = Object.fromEntries(process.argv.slice(2).map((each) => each.split("=")));
const { scale = "0.1", seconds = "1", seed = "1", threads = "1", python = "python3" } = given as Record<string, string>;
const durationMs = Number(seconds) * 1000;
const discardMs = 500;
await loadWasm();
const model = drawNetwork(planNetwork(microcircuit({ scale: Number(scale), drive: "poisson", seed })));

/** Seconds of processor time and of wall time, and rates in Hz. */
interface Measured {
  readonly seconds: number;
  readonly wall: number;
  readonly rates: Readonly<Record<string, number>>;
}

async function ours(): Promise<Measured> {
  await using network = Number(threads) === 1 ? new WasmNetwork(model) : await WasmNetwork.together(model, Number(threads));
  const { timeStep } = model.config;
  network.advance(discardMs / timeStep, undefined, false);
  const [began, wallBegan] = [process.cpuUsage(), performance.now()];
  const { neurons } = network.advance(durationMs / timeStep, undefined, true)!;
  const { user, system } = process.cpuUsage(began);
  const wall = (performance.now() - wallBegan) / 1000;
  const counts = new Float64Array(model.size);
  for (const neuron of neurons) counts[neuron]!++;
  const rates = model.populations.map(({ name, first, size }) => {
    const sum = counts.subarray(first, first + size).reduce((all, count) => all + count, 0);
    return [name, sum / size / (durationMs / 1000)] as const;
  });
  return { seconds: (user + system) / 1e6, wall, rates: Object.fromEntries(rates) };
}

/** Writes what Brian2 is given: every synapse, in ms and mV from rest. */
function write(folder: string, { synapses, populations, config, size, fractionBits, drive, initialPotential }: NetworkModel): void {
  const { offsets, packed, units, signs, cellBits } = synapses;
  const count = packed.length;
  const [sources, targets] = [new Uint32Array(count), new Uint32Array(count)];
  const [weights, delays] = [new Float64Array(count), new Float64Array(count)];
  for (let j = 0; j < size; j++)
    for (let s = offsets[j]!; s < offsets[j + 1]!; s++) {
      sources[s] = j;
      targets[s] = packed[s]! & (2 ** cellBits - 1);
      weights[s] = (signs[j]! * units[s]!) / 2 ** fractionBits;
      delays[s] = (packed[s]! >>> cellBits) * config.timeStep;
    }
  const neuron = Object.values(config.populations)[0]!.neuron as { membraneTimeConstant: number; refractoryPeriod: number };
  const { driveGain, threshold } = populations[0]!.neuron;
  const inputRate = 8;
  const network = {
    ...{ size, discardMs, durationMs, inputRate, threshold, threads: Number(threads), timeStep: config.timeStep },
    ...{ tau: neuron.membraneTimeConstant, tauS: 0.5, refractory: neuron.refractoryPeriod },
    populations: populations.map(({ name, first, size: many, background }) => {
      const { rate } = config.populations[name]!.background!;
      return { name, first, size: many, inputs: Math.round(rate / inputRate), weight: background!.units / 2 ** fractionBits };
    }),
  };
  const arrays = { "sources.u32": sources, "targets.u32": targets, "weights.f64": weights, "delays.f64": delays };
  for (const [name, array] of Object.entries(arrays)) writeFileSync(join(folder, name), array);
  writeFileSync(join(folder, "potential.f64"), Float64Array.from(initialPotential));
  writeFileSync(
    join(folder, "drive.f64"),
    Float64Array.from(drive, (each) => each / driveGain),
  );
  writeFileSync(join(folder, "network.json"), JSON.stringify(network));
}

const folder = mkdtempSync(join(tmpdir(), "spillway-brian-"));
try {
  write(folder, model);
  const here = await ours();
  const { status, stdout, stderr } = finished(python, [join(import.meta.dirname, "microcircuit.py"), folder], {
    encoding: "utf8",
    cwd: folder,
  });
  if (status !== 0) throw new Error(`Brian2 did not run: ${stderr}`);
  const there = JSON.parse(stdout.trim().split("\n").at(-1)!) as Measured & { readonly version: string };
  const many = threads === "1" ? "one thread" : `${threads} threads`;
  console.log(
    `${cpus()[0]!.model}, ${availableParallelism()} cores, load ${loadavg()[0]!.toFixed(1)}, Node ${process.versions.node}; ${many} each`,
  );
  console.log(
    `${model.size} neurons, ${model.synapses.packed.length} synapses, Poisson drive; ${durationMs} ms after ${discardMs} ms, seed ${seed}\n`,
  );
  const names = ["", "wall time / model time", "processor time / model time", `rates in Hz: ${Object.keys(here.rates).join(" | ")}`];
  console.log(`|${names.join(" | ")} |`);
  console.log(`|${"---|".repeat(3 + Object.keys(here.rates).length)}`);
  const row = (name: string, { seconds: used, wall, rates }: Measured) => {
    const cells = [wall, used].map((each) => ((each * 1000) / durationMs).toFixed(3));
    console.log(`| ${[name, ...cells, ...Object.values(rates).map((rate) => rate.toFixed(3))].join(" | ")} |`);
  };
  row("Spillway, WebAssembly", here);
  row(`Brian2 ${there.version}, C++`, there);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
