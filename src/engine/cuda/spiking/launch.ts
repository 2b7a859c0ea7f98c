// How a spiking network is laid over a device: blocks, threads, shared memory, bytes. Nothing is
// allocated here.
import type { DeviceInfo } from "@spillway/gpu";
import { EngineCapacityError } from "../../../reservoir/engine.js";
import type { SpikingModel } from "../../../reservoir/spiking-model.js";
import { usableMemory } from "../memory.js";

/** Lists of N values: constants and state (kernels/leaky_integrate_fire.cu). */
export const constantLists = 9;
export const stateLists = 5;

/** A launch of kernels/leaky_integrate_fire.cu for one network. */
export interface SpikingLaunch {
  readonly blocks: number;
  readonly threads: number;
  /**
   * Warps that share the synapses of one spike. A spike's are its own block's, those of an input
   * spike anybody's.
   */
  readonly slices: number;
  readonly inputSlices: number;
  /** Bytes of shared memory a block: the list of its neurons that fired. */
  readonly sharedBytes: number;
  /**
   * Rows of the ring of pending input. There is one more than the model's: no block then writes to
   * the row that another still reads.
   */
  readonly rows: number;
  /** Steps in one chunk. */
  readonly capacity: number;
  readonly bytes: number;
}

/** A chunk's states take about this many bytes. */
const chunkBytes = 32 * 2 ** 20;
/** Steps after which a chunk ends, to let progress and signals through. */
const mostSteps = 4096;
/** Neurons of a block below which more blocks only wait for each other longer. */
const leastNeurons = 32;

/** @throws EngineCapacityError if the network does not fit the device */
export function planLaunch(model: SpikingModel, device: DeviceInfo, stepsPerChunk: number = mostSteps): SpikingLaunch {
  const { size, inputSize, precision, synapses, inputSynapses, inputWeights, ringRows } = model;
  const element = precision === "float32" ? 4 : 8;
  const blocks = Math.max(1, Math.min(device.attributes.multiprocessors, Math.ceil(size / leastNeurons)));
  const perBlock = Math.ceil(size / blocks);
  // More than there are neurons: the others deliver spikes, which wait for memory.
  const threads = perBlock <= 512 ? 512 : 1024;
  const slicesOf = (count: number, sources: number, most: number) =>
    Math.max(1, Math.min(most, Math.ceil(count / Math.max(1, sources) / 32)));
  const slices = slicesOf(synapses.targets.length, size, threads / 32);
  const inputSlices = slicesOf(inputSynapses?.targets.length ?? 0, inputSize, (blocks * threads) / 32);
  const rows = ringRows + 1;
  const capacity = Math.max(1, Math.min(mostSteps, stepsPerChunk, Math.floor(chunkBytes / (size * element))));
  const tableBytes = (count: number, sources: number) => 10 * count + 4 * (sources + 1);
  const networkBytes = size * (stateLists * element + 4) + rows * 8 * size;
  const bytes =
    size * (constantLists * element + 4) +
    // The state, and the copy of it that a chunk with a bad step goes back to.
    2 * networkBytes +
    tableBytes(synapses.targets.length, size) +
    tableBytes(inputSynapses?.targets.length ?? 0, inputSize) +
    (inputWeights ? size * inputSize * element : 0) +
    capacity * (inputSize + size) * element;
  const sharedBytes = 4 * perBlock;
  const { sharedBytesPerBlockOptIn } = device.attributes;
  const what = `a spiking reservoir of ${size} neurons with ${synapses.targets.length.toLocaleString("en")} synapses on ${device.name}`;
  if (bytes > usableMemory(device))
    throw new EngineCapacityError(
      what,
      bytes,
      usableMemory(device),
      "take fewer neurons, a smaller probability of connection, or shorter delays",
    );
  if (sharedBytes + 1024 > sharedBytesPerBlockOptIn)
    throw new EngineCapacityError(
      `${what}, of which a block holds ${perBlock},`,
      sharedBytes + 1024,
      sharedBytesPerBlockOptIn,
      "take fewer neurons",
    );
  return { blocks, threads, slices, inputSlices, sharedBytes, rows, capacity, bytes };
}
