// A golden spiking reservoir as spiking.c reads it, and the hashes. Run as a program (npx tsx
// test/golden/spiking.ts) it writes spiking.json anew from spiking.c, with gcc: the hashes change
// only with docs/numerics.md, for a reason that the CHANGELOG gives.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { seedKeys } from "../../packages/numerics/src/index.js";
import type { NeuronConfig, SpikingReservoirConfig } from "../../src/reservoir/index.js";
import { gridSides } from "../../src/spikes/liquid/grid.js";
import { resolveSpikingConfig } from "../../src/spikes/liquid/schema.js";
import { type SpikingRun, spikingRuns } from "./series.js";

/** SHA-256 sums; spiking.c says of what. */
export type SpikingHashes = Readonly<Record<"synapses" | "states" | "potentials", string>>;

export const spikingPath: URL = new URL("spiking.json", import.meta.url);

export function spikingHashes(): Readonly<Record<string, SpikingHashes>> {
  return JSON.parse(readFileSync(spikingPath, "utf8")) as Record<string, SpikingHashes>;
}

const distributions = { constant: 0, uniform: 1, exponential: 2 };
const neuronKinds = { leakyIntegrateAndFire: 0, adaptiveIntegrateAndFire: 1, izhikevich: 2 };

/** One case in the words of spiking.c. */
export function describeSpiking({ name, config: options, steps }: SpikingRun): string {
  const config = resolveSpikingConfig(options);
  const { neuron, inhibitory, connectivity, synapses, input, background, initialPotential } = config;
  const { weights, noise } = seedKeys(config.seed);
  const isDistance = connectivity.type === "distance";
  if (typeof input.weight !== "number") throw new Error(`${name} has a weight for every channel; spiking.c takes one`);
  const pairs = <Value>({ ee, ei, ie, ii }: { ee: Value; ei: Value; ie: Value; ii: Value }) => [ee, ei, ie, ii];
  const words = [
    name,
    ...[...weights, ...noise].map((word) => word.toString(16)),
    ...[config.precision === "float32", config.size, config.inputSize, steps, config.timeStep, neuronKinds[neuron.type]],
    neuron.type !== "izhikevich" && neuron.reset === "subtract",
    ...neuronWords(neuron),
    ...neuronWords(inhibitory.neuron),
    ...[inhibitory.share, isDistance, isDistance ? connectivity.lambda : 1, ...sidesOf(config), ...pairs(connectivity.probability)],
    ...[synapses.excitatoryTimeConstant, synapses.inhibitoryTimeConstant, distributions[synapses.distribution], ...pairs(synapses.weight)],
    ...pairs(synapses.delay).flatMap((delay) => (typeof delay === "number" ? [delay, delay] : [...delay])),
    ...[input.mode === "current", input.connectivity, input.weight, distributions[input.distribution], input.negativeShare, input.delay],
    ...[background.current, background.deviation, background.rate, background.weight],
    ...(initialPotential === "rest" ? [0, 0] : [initialPotential.from, initialPotential.to]),
    ...[config.stateTimeConstant, config.fractionBits],
  ];
  return `${words.map((word) => (typeof word === "boolean" ? Number(word) : word)).join(" ")}\n`;
}

function sidesOf({ size, connectivity }: SpikingReservoirConfig): readonly number[] {
  return connectivity.type === "distance" ? (connectivity.grid ?? gridSides(size)) : [0, 0, 0];
}

function neuronWords(neuron: NeuronConfig): number[] {
  if (neuron.type === "izhikevich") return [neuron.a, neuron.b, neuron.c, neuron.d];
  const { membraneTimeConstant, restingPotential, threshold, resetPotential, refractoryPeriod } = neuron;
  const plain = [membraneTimeConstant, restingPotential, threshold, resetPotential, refractoryPeriod];
  return neuron.type === "adaptiveIntegrateAndFire" ? [...plain, neuron.adaptationTimeConstant, neuron.adaptationStep] : plain;
}

/**
 * Compiles spiking.c and asks it for the sums of every run. Needs a C compiler; it is an error
 * if there is none.
 */
export function computeSpikingHashes(compiler: string, ...flags: string[]): Record<string, SpikingHashes> {
  const folder = mkdtempSync(join(tmpdir(), "spillway-golden-"));
  try {
    const program = join(folder, "spiking");
    const source = fileURLToPath(new URL("spiking.c", import.meta.url));
    const always = ["-std=c11", "-ffp-contract=off", "-Wall", "-Wextra", "-Wno-unused-function"];
    execFileSync(compiler, [...always, ...flags, "-o", program, source, "-lm"], { stdio: "inherit" });
    const output = execFileSync(program, { input: spikingRuns.map(describeSpiking).join(""), encoding: "utf8" });
    const hashes: Record<string, Record<string, string>> = {};
    for (const line of output.trim().split("\n")) {
      const [name = "", what = "", hash = ""] = line.split(" ");
      hashes[name] = { ...hashes[name], [what]: hash };
    }
    return hashes as unknown as Record<string, SpikingHashes>;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(spikingPath, `${JSON.stringify(computeSpikingHashes("gcc", "-O2"), undefined, 2)}\n`);
}
