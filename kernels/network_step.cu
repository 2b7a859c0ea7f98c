// target: sm_75
// Networks of populations, docs/numerics.md rule 13, of any size: whole chunks of steps in one
// launch, one barrier a step. Spikes of a step stand in one list, which all blocks deliver during
// the next: no delay is below a step, so that is early enough.
#include "network_general.cuh"
#include "network_grid.cuh"

namespace network {

/**
 * Adds the units of the sources of a list, from `first` on, to the rows of the ring that delay 0
 * begins at `row`. A row has so many cells.
 */
static __device__ __forceinline__ void deliver(const Table& table, int* ring, unsigned rowMask, size_t cells, unsigned row, const unsigned* list,
                                               unsigned count, unsigned slices, unsigned first = 0) {
  const unsigned warps = blockDim.x >> 5, lane = threadIdx.x & 31, mask = (1u << table.targetBits) - 1;
  for (unsigned k = blockIdx.x + gridDim.x * (threadIdx.x >> 5); k < count * slices; k += gridDim.x * warps) {
    const unsigned source = first + __ldcg(list + k / slices), slice = k % slices;
    const unsigned end = table.offsets[source + 1];
    const int sign = table.wideUnits == nullptr && (table.negative[source >> 5] >> (source & 31) & 1u) ? -1 : 1;
    for (unsigned s = table.offsets[source] + slice * 32 + lane; s < end; s += slices * 32) {
      const unsigned destination = table.destinations[s], at = row + (destination >> table.targetBits) & rowMask;
      atomicAdd(ring + at * cells + (destination & mask), table.wideUnits == nullptr ? sign * (int)table.units[s] : table.wideUnits[s]);
    }
  }
}

/** What a launch works with besides neurons and synapses. */
struct Chunk {
  int* ring;
  unsigned rowMask, firstStep, steps, slices;
  /** Two of N: the spikes of even and of odd steps. */
  unsigned* lists;
  /** Three numbers of spikes, zeros at first. */
  unsigned *counts, *arrived;
  Record record;
  unsigned long long* report;
  long long limit;
};

/** Lists a neuron that fires in step k of the launch, and records it. */
static __device__ __forceinline__ void list(const Chunk& chunk, int size, unsigned k, int r) {
  __stcg(chunk.lists + (size_t)(k & 1) * size + atomicAdd(chunk.counts + k % 3, 1u), (unsigned)r);
  if (chunk.record.spikes != nullptr) chunk.record.spikes[atomicAdd(chunk.record.counts, 1u)] = Record::spike(k, r);
}

template <typename Real>
static __device__ __forceinline__ void step(const Neurons<Real>& neurons, Neuron<Real>& neuron, const Chunk& chunk, unsigned k, int r) {
  const unsigned step = chunk.firstStep + k;
  int* const cell = chunk.ring + (size_t)(step & chunk.rowMask) * neurons.size + r;
  int units = __ldcg(cell);
  if (units != 0) __stcg(cell, 0);
  if (neurons.background != nullptr && neurons.background[r] >= 0) {
    const unsigned word = philox::word(philox::block(neurons.key0, neurons.key1, step, (unsigned)r >> 2, neurons.stream, 0), r & 3);
    units += neurons.background[neurons.size + r] *
             spikesOf(neurons.thresholds + neurons.background[r] * neurons.thresholdCount, neurons.thresholdCount, word);
  }
  bool bad;
  const bool fires = neuron.advance(units, neurons.unit, bad);
  if (bad) reportBad(chunk.report, k, r);
  if (fires) list(chunk, neurons.size, k, r);
}

template <typename Real> static __device__ __forceinline__ void step(const Populations<Real>& all, const Chunk& chunk, unsigned k, int r) {
  const unsigned step = chunk.firstStep + k;
  bool bad;
  const bool fires = advance(all, chunk.ring + (size_t)(step & chunk.rowMask) * all.receptors * all.size, step, r, bad);
  if (bad) reportBad(chunk.report, k, r);
  if (fires) list(chunk, all.size, k, r);
}

/** `Resident`: every thread has one neuron at most, and keeps it in registers. */
template <bool Resident, typename Real>
static __device__ __forceinline__ void run(const Neurons<Real>& neurons, const Table& table, const Chunk& chunk) {
  const int stride = gridDim.x * blockDim.x;
  // Neurons are distributed round robin, 32 at a time: neighbours fire together.
  const int first = ((threadIdx.x >> 5) * gridDim.x + blockIdx.x) * 32 + (threadIdx.x & 31);
  Neuron<Real> own;
  if (Resident && first < neurons.size) own.load(neurons, first);
  for (unsigned k = 0; k < chunk.steps; k++) {
    const unsigned* const before = chunk.lists + (size_t)((k + 1) & 1) * neurons.size;
    if (blockIdx.x == 0 && threadIdx.x == 0) __stcg(chunk.counts + (k + 1) % 3, 0u);
    if (k > 0) deliver(table, chunk.ring, chunk.rowMask, neurons.size, chunk.firstStep + k, before, __ldcg(chunk.counts + (k + 2) % 3), chunk.slices);
    if (Resident) {
      if (first < neurons.size) step(neurons, own, chunk, k, first);
    } else {
      for (int r = first; r < neurons.size; r += stride) {
        Neuron<Real> neuron;
        neuron.load(neurons, r);
        step(neurons, neuron, chunk, k, r);
        neuron.store(neurons, r);
      }
    }
    if (!barrier(chunk.arrived, k + 1, chunk.report, chunk.firstStep + k, chunk.limit)) return;
  }
  if (Resident && first < neurons.size) own.store(neurons, first);
  if (chunk.steps == 0) return;
  const unsigned last = chunk.steps - 1;
  deliver(table, chunk.ring, chunk.rowMask, neurons.size, chunk.firstStep + chunk.steps, chunk.lists + (size_t)(last & 1) * neurons.size,
          __ldcg(chunk.counts + last % 3), chunk.slices);
}

/** Spikes that are given to channels of inputs: those of step k are from offsets[k] on. */
struct Inputs {
  const unsigned *offsets, *channels;
};

/**
 * Neurons of any kind, in global memory. `atOnce`: spikes may arrive in the step in which they are
 * delivered, so that all are delivered before a neuron advances.
 */
template <typename Real>
static __device__ __forceinline__ void runGeneral(const Populations<Real>& all, const Table& table, const Chunk& chunk, const Inputs& inputs, bool atOnce) {
  const int stride = gridDim.x * blockDim.x, first = blockIdx.x * blockDim.x + threadIdx.x;
  const size_t cells = (size_t)all.receptors * all.size;
  unsigned round = 0;
#pragma unroll 1
  for (unsigned k = 0; k <= chunk.steps; k++) {
    const unsigned now = chunk.firstStep + k;
    // The spikes of the step before, and those of inputs.
#pragma unroll 1
    for (int given = 0; given < 2; given++) {
      if (given ? k == chunk.steps || inputs.offsets == nullptr : k == 0) continue;
      const unsigned* const spikes = given ? inputs.channels + inputs.offsets[k] : chunk.lists + (size_t)((k - 1) & 1) * all.size;
      const unsigned count = given ? inputs.offsets[k + 1] - inputs.offsets[k] : __ldcg(chunk.counts + (k + 2) % 3);
      deliver(table, chunk.ring, chunk.rowMask, cells, now, spikes, count, chunk.slices, given ? all.size : 0);
    }
    if (k == chunk.steps) return;
    if (blockIdx.x == 0 && threadIdx.x == 0) __stcg(chunk.counts + (k + 1) % 3, 0u);
    if (atOnce && !barrier(chunk.arrived, ++round, chunk.report, now, chunk.limit)) return;
    for (int r = first; r < all.size; r += stride) step(all, chunk, k, r);
    if (!barrier(chunk.arrived, ++round, chunk.report, now, chunk.limit)) return;
  }
}

}  // namespace network

#define NETWORK_STEP(name, Real)                                                                                                                      \
  extern "C" __global__ void __launch_bounds__(1024, 1)                                                                                               \
      name(const Real* constants, const int* refractory, Real* state, int* held, const int* background, const unsigned* thresholds, int thresholdCount, int size, \
           Real unit, unsigned key0, unsigned key1, unsigned stream, const unsigned* offsets, const unsigned* destinations, const unsigned short* units,    \
           const unsigned* negative, int targetBits, int* ring, unsigned rows, unsigned firstStep, unsigned steps, unsigned slices, unsigned* lists,  \
           unsigned* counts, unsigned* arrived, unsigned long long* spikes, unsigned* spikeCounts, unsigned spikeCapacity, unsigned long long* report, long long spinLimit) { \
    const network::Neurons<Real> neurons = {constants, refractory, state, held, background, thresholds, thresholdCount, size, unit, key0, key1, stream};              \
    const network::Table table = {offsets, destinations, units, negative, nullptr, targetBits};                                                                      \
    const network::Chunk chunk = {ring, rows - 1, firstStep, steps, slices, lists, counts, arrived, {spikes, spikeCounts, spikeCapacity}, report, spinLimit}; \
    if (size <= (int)(gridDim.x * blockDim.x)) network::run<true>(neurons, table, chunk);                                                             \
    else network::run<false>(neurons, table, chunk);                                                                                                  \
  }

NETWORK_STEP(network_step_f32, float)
NETWORK_STEP(network_step_f64, double)

#define NETWORK_GENERAL(name, Real)                                                                                                                   \
  extern "C" __global__ void __launch_bounds__(512, 1)                                                                                                \
      name(const int* whole, const Real* number, const unsigned* thresholds, const unsigned* population, const Real* drive, Real* state, int* held,   \
           int size, int receptors, Real unit, unsigned key0, unsigned key1, unsigned stream, const unsigned* offsets, const unsigned* destinations,        \
           const unsigned short* units, const unsigned* negative, const int* wideUnits, int targetBits, int* ring, unsigned rows, unsigned firstStep, \
           unsigned steps, unsigned slices, const unsigned* inputOffsets, const unsigned* inputChannels, int atOnce, unsigned* lists,                 \
           unsigned* counts, unsigned* arrived, unsigned long long* spikes, unsigned* spikeCounts, unsigned spikeCapacity, unsigned long long* report, long long spinLimit) { \
    const network::Populations<Real> all = {whole, number, thresholds, population, drive, state, held, size, receptors, unit, key0, key1, stream};    \
    const network::Table table = {offsets, destinations, units, negative, wideUnits, targetBits};                                                           \
    const network::Chunk chunk = {ring, rows - 1, firstStep, steps, slices, lists, counts, arrived, {spikes, spikeCounts, spikeCapacity}, report, spinLimit}; \
    network::runGeneral<Real>(all, table, chunk, {inputOffsets, inputChannels}, atOnce != 0);                                                         \
  }

NETWORK_GENERAL(network_general_f32, float)
NETWORK_GENERAL(network_general_f64, double)
