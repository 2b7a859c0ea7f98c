// How a network's synapses lie in device memory (docs/internals/spiking.md): in a table by source, or in
// slots by source and block of targets.
#pragma once

namespace network {

/**
 * A projection: first source, sources, first target, targets, counter, first of its thresholds, how
 * many, least delay, first of its degrees; what added to a source (modulo 2^32) is a target that it
 * must not have; and the synapses of every source, 0 if degrees are drawn.
 */
enum { projectionWords = 11, mostOutgoing = 1024 };
/**
 * A class of sources: the first, the first entry of its slots / 4, entries a slot, and 1 for a
 * negative sign.
 */
enum { classWords = 4 };

/** Slot of a neuron: four in a row stay together, and fours are distributed round robin. */
struct Home {
  unsigned block, local;
  __device__ __forceinline__ Home(unsigned neuron, unsigned blocks) {
    const unsigned four = neuron >> 2, turn = four / blocks;
    block = four - turn * blocks;
    local = turn << 2 | (neuron & 3u);
  }
};

static __device__ __forceinline__ unsigned neuronOf(unsigned local, unsigned block, unsigned blocks) {
  return ((local >> 2) * blocks + block) << 2 | (local & 3u);
}

/** local target 10, delay 6 and units 16 bits. Delays are 1 or more, so no entry is 0. */
static __device__ __forceinline__ unsigned entryOf(unsigned local, unsigned delay, unsigned units) { return local | delay << 10 | units << 16; }

/** The class of a source: the last that begins at or before it. */
static __device__ __forceinline__ int classOf(const unsigned* __restrict__ classes, int count, unsigned source) {
  int own = 0;
  for (int k = 1; k < count; k++)
    if (classes[k * classWords] <= source) own = k;
  return own;
}

}  // namespace network
