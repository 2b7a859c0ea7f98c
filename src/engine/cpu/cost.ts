// What a step costs on the CPU engine, by a model fitted to bench/results/cpu-2026-11-22.md (AMD
// EPYC, one thread): for the choice between engines.
import type { ModelShape } from "../../reservoir/shape.js";

/**
 * Microseconds: a step, a neuron of it, and a stored weight, float32. W beyond a cache's size comes
 * from memory.
 */
const perStep = 0.3;
const perNeuron = 0.0025;
const perWeight = { sparse: 2.05e-4, dense: 5.2e-5, denseFromMemory: 1.25e-4 };
const cacheWeights = 8e6;

/** Microseconds of one step on one thread. */
export function cpuMicroseconds({ size, inputSize, outputSize, nonzeros, storage, precision }: ModelShape): number {
  const weight = storage === "sparse" ? perWeight.sparse : nonzeros > cacheWeights ? perWeight.denseFromMemory : perWeight.dense;
  const width = precision === "float32" ? 1 : 2;
  return perStep + width * (perNeuron * size + weight * nonzeros + perWeight.dense * size * (inputSize + outputSize));
}
