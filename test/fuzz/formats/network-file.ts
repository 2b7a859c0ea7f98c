// Files of saved networks: loadNetwork, and a few steps. Mutants of tensors and notes are whole
// safetensors files.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ArgumentError } from "../../../packages/core/src/errors.js";
import "../../../src/index.js";
import { decodeSafetensors, encodeSafetensors, FileError } from "../../../packages/io/src/index.js";
import { loadNetwork, type NetworkOptions, SpikingNetwork, saveNetwork } from "../../../src/spikes/index.js";
import { planNetwork } from "../../../src/spikes/network/planning.js";
import type { FuzzFormat } from "../format.js";
import { isSmall, runOnEngines } from "../networks.js";
import type { Random } from "../random.js";
import { changeContent } from "./model.js";

const networks: readonly NetworkOptions[] = [
  {
    kind: "network",
    populations: { E: { size: 6, neuron: "leakyIntegrateAndFire", current: 20, stateTimeConstant: 10 } },
    projections: [{ from: "E", to: "E", connect: "allToAll", weight: 1, delay: 0.3 }],
  },
  {
    kind: "network",
    precision: "float64",
    populations: { in: { size: 2, neuron: null }, E: { size: 5, neuron: "izhikevich", current: 12 } },
    projections: [
      {
        ...{ from: "in", to: "E", connect: "allToAll", weight: 2, delay: 0.5 },
        plasticity: { kind: "shortTerm", release: 0.5, recoveryTimeConstant: 50 },
      },
      {
        ...{ from: "E", to: "E", connect: { rule: "fixedInDegree", number: 2 }, weight: 1, delay: 0.2 },
        plasticity: {
          ...{ kind: "stdp", potentiationTimeConstant: 20, depressionTimeConstant: 20, learningRate: 0.2, maximumWeight: 3 },
          delay: "dendritic",
        },
      },
    ],
  },
];

const folder = mkdtempSync(join(tmpdir(), "spillway-fuzz-"));
const path = join(folder, "a.safetensors");
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

async function saved(options: NetworkOptions): Promise<Uint8Array> {
  await using network = await SpikingNetwork.create(options, { engine: "reference" });
  await network.run(5);
  await saveNetwork(path, network);
  return new Uint8Array(readFileSync(path));
}

/** Whether a file is worth its network: one that is refused, or is drawn in some ms. */
function isWorth(input: Uint8Array): boolean {
  try {
    return isSmall(planNetwork(JSON.parse(decodeSafetensors(input).metadata["config"]!)));
  } catch {
    return true;
  }
}

export default {
  corpus: async () => [await saved(networks[0]!), await saved(networks[1]!)],
  async read(input) {
    if (!isWorth(input)) return;
    writeFileSync(path, input);
    await runOnEngines((engine) => loadNetwork(path, { engine }), 3);
  },
  errors: [FileError, ArgumentError],
  async mutate(input: Uint8Array, random: Random, corpus: readonly Uint8Array[]) {
    const { tensors, metadata } = decodeSafetensors(input);
    const content = { tensors: { ...tensors }, metadata: { ...metadata } };
    await changeContent(content, random, () => decodeSafetensors(random.pick(corpus)));
    return encodeSafetensors(content.tensors, content.metadata);
  },
  testCases: 150,
} satisfies FuzzFormat;
