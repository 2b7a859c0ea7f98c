// What a step costs on the CPU engine, by a model fitted to bench/results/cpu-2026-11-22.md (AMD
// EPYC, one thread): for the choice between engines.
import type { AnyShape } from "../../reservoir/shape.js";

/**
 * Microseconds: a step, a neuron of it, and a stored weight, float32. W beyond a cache's size comes
 * from memory.
 */
const perStep = 0.3;
const perNeuron = 0.0025;
const perWeight = { sparse: 2.05e-4, dense: 5.2e-5, denseFromMemory: 1.25e-4 };
/**
 * What a weight in integers takes of what one in binary32 takes
 * (bench/results/uncited/integer-steps-2026-11-23.md).
 */
const integerShare = { sparse: 1.1, dense: 0.4 };
const cacheWeights = 8e6;

/** Microseconds of one step on one thread; undefined for several reservoirs. */
export function cpuMicroseconds([shape, ...others]: readonly AnyShape[]): number | undefined {
  if (!shape || others.length > 0) return undefined;
  // Measured: 5 us a step of 1000 noisy neurons, 1.2 ns a synapse of a firing neuron; 1 % fire in a
  // step.
  if ("kind" in shape) return 0.5 + 5e-3 * shape.size + 1.2e-5 * shape.synapses;
  const { size, inputSize, outputSize, nonzeros, storage, precision, integers } = shape;
  const real = storage === "sparse" ? perWeight.sparse : nonzeros > cacheWeights ? perWeight.denseFromMemory : perWeight.dense;
  const weight = integers ? real * integerShare[storage] : real;
  const width = precision === "float32" ? 1 : 2;
  return perStep + width * (perNeuron * size + weight * nonzeros + perWeight.dense * size * (inputSize + outputSize));
}
