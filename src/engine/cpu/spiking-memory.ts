// The layout of one spiking network in the memory of its WebAssembly instance, decided
// before anything is allocated.
import { wasmMemoryLimit } from "@spillway/numerics/wasm/index.js";
import { EngineCapacityError } from "../../reservoir/engine.js";
import type { SpikingModel, SynapseTable } from "../../reservoir/spiking-model.js";
import { placeRegions, type Region, stepsPerChunk } from "./memory.js";

/** Lists of N values of the model's precision. */
export const neuronLists = [
  "state",
  "potential",
  "recovery",
  "excitatory",
  "inhibitory",
  "nextPotential",
  "nextRecovery",
  "nextExcitatory",
  "nextInhibitory",
  "drive",
  "bias",
  "keep",
  "driveGain",
  "excitatoryGain",
  "inhibitoryGain",
  "threshold",
  "reset",
  "recoveryKeep",
  "recoveryStep",
] as const;

type RegionName =
  | (typeof neuronLists)[number]
  | "fields"
  | "held"
  | "refractorySteps"
  | "ring"
  | "inputWeights"
  | "inputs"
  | "states"
  | "spikes"
  | "segments"
  | "segmentEnds"
  | "segmentDelays"
  | "synapses"
  | "inputSegments"
  | "inputSegmentEnds"
  | "inputSegmentDelays"
  | "inputSynapses";

/** The memory of one network. */
export interface SpikingMemoryMap {
  readonly elementBytes: 4 | 8;
  /** Neurons rounded up to 32. */
  readonly paddedSize: number;
  /** Steps in one chunk. */
  readonly capacity: number;
  readonly regions: Readonly<Record<RegionName, Region>>;
  /** Bytes from address 0. */
  readonly totalBytes: number;
}

/** Runs of synapses of one source and one delay. */
function countSegments({ offsets, delays }: SynapseTable): number {
  let count = 0;
  for (let source = 0; source + 1 < offsets.length; source++) {
    for (let s = offsets[source]!; s < offsets[source + 1]!; s++) if (s === offsets[source] || delays[s] !== delays[s - 1]) count++;
  }
  return count;
}

/** Lays out the memory. @throws EngineCapacityError above 4 GiB */
export function planSpikingMemory(model: SpikingModel): SpikingMemoryMap {
  const { size, inputSize, precision, synapses, inputSynapses: inputs, inputWeights, ringRows } = model;
  const elementBytes = precision === "float32" ? 4 : 8;
  const paddedSize = Math.ceil(size / 32) * 32;
  const capacity = stepsPerChunk(size * elementBytes);
  const tableBytes = (table: SynapseTable | undefined) => {
    const segments = table ? countSegments(table) : 0;
    return {
      segments: table ? 4 * table.offsets.length : 0,
      ends: 4 * segments,
      delays: 4 * segments,
      synapses: 8 * (table?.targets.length ?? 0),
    };
  };
  const own = tableBytes(synapses);
  const input = tableBytes(inputs);
  const bytes = {
    fields: 512,
    held: 4 * paddedSize,
    refractorySteps: 4 * paddedSize,
    ring: ringRows * 8 * paddedSize,
    inputWeights: inputWeights ? inputSize * paddedSize * elementBytes : 0,
    inputs: capacity * inputSize * elementBytes,
    // The last row's vectors may reach beyond it by the padding.
    states: (capacity * size + paddedSize) * elementBytes,
    spikes: 4 * paddedSize,
    segments: own.segments,
    segmentEnds: own.ends,
    segmentDelays: own.delays,
    synapses: own.synapses,
    inputSegments: input.segments,
    inputSegmentEnds: input.ends,
    inputSegmentDelays: input.delays,
    inputSynapses: input.synapses,
    ...Object.fromEntries(neuronLists.map((name) => [name, paddedSize * elementBytes])),
  } as Record<RegionName, number>;
  const { regions, totalBytes } = placeRegions(bytes);
  if (totalBytes > wasmMemoryLimit) {
    throw new EngineCapacityError(
      `a spiking reservoir of ${size} neurons with ${synapses.targets.length.toLocaleString("en")} synapses on the CPU engine`,
      totalBytes,
      wasmMemoryLimit,
      "a WebAssembly memory ends there; take fewer neurons, a smaller probability of connection, or shorter delays",
    );
  }
  return { elementBytes, paddedSize, capacity, regions, totalBytes };
}
