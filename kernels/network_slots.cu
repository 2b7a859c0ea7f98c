// target: sm_75
// Networks of populations, docs/numerics.md rule 13, whose pending input fits the shared memory of
// the blocks: whole chunks of steps in one launch without a barrier of all blocks. Each block owns
// its neurons, one a thread, and the ring of what reaches them. Its first warps advance neurons and
// publish a message a step, the others wait for the messages of all blocks and deliver. A spike of
// step t is delivered before step t + 2, which no delay is too short for, so two steps are under
// way.
#include "exchange.cuh"
#include "network_neurons.cuh"
#include "network_tables.cuh"

namespace network {

typedef unsigned long long Message;

/**
 * A message: step + 1 in 16 bits, a count in 16, and up to three spikes of 10 bits. More stand in a
 * list. There are four places by the step: a block publishes a step once it has taken all messages
 * of the one before the last, so nobody is more than three behind.
 */
enum { inMessage = 3, places = 4, queueLength = 32 * inMessage };

struct Exchange {
  Message* messages;
  /** places x blocks x 1024: the spikes of a message that has no room for them. */
  unsigned short* lists;
};

static __device__ __forceinline__ Message peek(const Message* from) {
  Message value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  return value;
}
static __device__ __forceinline__ void publish(Message* to, Message value) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}
static __device__ __forceinline__ void meet(int barrier, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory"); }
static __device__ __forceinline__ void arrive(int barrier, int threads) { asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory"); }

/**
 * Named barriers, each for even and odd steps: delivered, row taken; and one of the neurons alone.
 */
enum { deliveredBarrier = 1, takenBarrier = 3, neuronBarrier = 5 };

/** What a block shares besides its ring. */
struct Shared {
  unsigned counts[2];
  unsigned short fired[2][1024];
  unsigned queues[32][queueLength];
};

struct Slots {
  const unsigned* entries;
  /** Lane k holds class k. */
  unsigned first, base, length, negative;
  int classes;
};

/** Four background counts of one lane: neuron's four at one step, a byte each. */
static __device__ __forceinline__ unsigned countsOf(uint4 words, const unsigned* thresholds, int most, unsigned distributions) {
  unsigned packed = 0;
#pragma unroll
  for (int k = 0; k < 4; k++) {
    const unsigned which = distributions >> 8 * k & 255u;
    if (which != 255u) packed |= (unsigned)spikesOf(thresholds + which * most, most, philox::word(words, k)) << 8 * k;
  }
  return packed;
}

template <typename Real>
static __device__ __forceinline__ void advanceNeurons(const Neurons<Real>& neurons, Shared& shared, const unsigned* thresholds, int* ring, unsigned perBlock, unsigned rowMask,
                                                      unsigned firstStep, unsigned steps, int neuronThreads, const Exchange& exchange,
                                                      const Record& record, unsigned long long* report) {
  const unsigned local = threadIdx.x, lane = local & 31, r = neuronOf(local, blockIdx.x, gridDim.x);
  const bool isNeuron = local < perBlock && r < (unsigned)neurons.size;
  Neuron<Real> neuron = {};
  unsigned distributions = 255u;
  int backgroundUnits = 0;
  if (isNeuron) {
    neuron.load(neurons, r);
    if (neurons.background != nullptr) {
      distributions = (unsigned)neurons.background[r] & 255u;
      backgroundUnits = neurons.background[neurons.size + r];
    }
  }
  // Each lane draws for its four neighbours, one step in four.
  const unsigned fours = lane & ~3u;
  distributions = __shfl_sync(0xffffffffu, distributions, fours) | __shfl_sync(0xffffffffu, distributions, fours + 1) << 8 |
                  __shfl_sync(0xffffffffu, distributions, fours + 2) << 16 | __shfl_sync(0xffffffffu, distributions, fours + 3) << 24;
  unsigned background = 0, recorded = 0;
  for (unsigned k = 0; k < steps; k++) {
    const unsigned step = firstStep + k;
    int units = 0;
    if (neurons.background != nullptr) {
      if ((k & 3u) == 0)
        background = countsOf(philox::block(neurons.key0, neurons.key1, step + (lane & 3u), r >> 2, neurons.stream, 0), thresholds, neurons.thresholdCount, distributions);
      units = backgroundUnits * (int)(__shfl_sync(0xffffffffu, background, fours + (k & 3u)) >> 8 * (lane & 3u) & 255u);
    }
    if (k > 1) meet(deliveredBarrier + (k & 1), blockDim.x);
    bool fires = false;
    if (isNeuron) {
      int* const cell = ring + (size_t)(step & rowMask) * perBlock + local;
      units += *cell;
      *cell = 0;
      bool bad;
      fires = neuron.advance(units, neurons.unit, bad);
      if (bad) reportBad(report, k, r);
      if (fires) shared.fired[k & 1][atomicAdd(shared.counts + (k & 1), 1u)] = (unsigned short)local;
    }
    __syncwarp();
    arrive(takenBarrier + (k & 1), blockDim.x);
    meet(neuronBarrier, neuronThreads);
    if (threadIdx.x < 32) {
      const unsigned count = shared.counts[k & 1], place = (k & (places - 1)) * gridDim.x + blockIdx.x;
      const unsigned short* const fired = shared.fired[k & 1];
      Message message = (Message)(k + 1 & 0xffffu) << 48 | (Message)count << 32;
      if (count <= inMessage) {
        for (unsigned s = 0; s < count; s++) message |= (Message)fired[s] << 10 * s;
      } else {
        for (unsigned s = lane; s < count; s += 32) exchange.lists[(size_t)place * 1024 + s] = fired[s];
        __threadfence();
      }
      __syncwarp();
      if (lane == 0) {
        publish(exchange.messages + place, message);
        shared.counts[k & 1] = 0;
      }
      if (record.spikes != nullptr)
        for (unsigned s = lane; s < count; s += 32)
          record.spikes[(size_t)blockIdx.x * record.capacity + recorded + s] = Record::spike(k, neuronOf(fired[s], blockIdx.x, gridDim.x));
      recorded += count;
    }
  }
  if (isNeuron) neuron.store(neurons, r);
  if (threadIdx.x == 0 && record.spikes != nullptr) record.counts[blockIdx.x] = recorded;
}

/** Adds an entry to the ring of its block. */
static __device__ __forceinline__ void apply(unsigned entry, int* ring, unsigned perBlock, unsigned rowMask, unsigned next, bool negative) {
  if (entry == 0) return;
  const int units = (int)(entry >> 16);
  atomicAdd(ring + ((next + (entry >> 10 & 63u)) & rowMask) * perBlock + (entry & 1023u), negative ? -units : units);
}

/**
 * Delivers spikes of sources `of(0)` to `of(count - 1)`, a warp together, several slots under way
 * at once.
 */
template <typename Of>
static __device__ __forceinline__ void deliver(const Slots& slots, unsigned count, Of of, int* ring, unsigned perBlock, unsigned rowMask, unsigned next) {
  constexpr unsigned batch = 4;
  const unsigned lane = threadIdx.x & 31;
  for (unsigned from = 0; from < count; from += batch) {
    uint2 entries[batch];
    const unsigned* at[batch];
    unsigned length[batch], negative[batch];
#pragma unroll
    for (unsigned u = 0; u < batch; u++) {
      entries[u] = make_uint2(0, 0);
      if (from + u >= count) continue;
      const unsigned source = of(from + u);
      const int own = __popc(__ballot_sync(0xffffffffu, (int)lane < slots.classes && slots.first <= source)) - 1;
      length[u] = __shfl_sync(0xffffffffu, slots.length, own);
      negative[u] = __shfl_sync(0xffffffffu, slots.negative, own);
      at[u] = slots.entries + (size_t)__shfl_sync(0xffffffffu, slots.base, own) * 4 +
              ((size_t)(source - __shfl_sync(0xffffffffu, slots.first, own)) * gridDim.x + blockIdx.x) * length[u] + 2 * lane;
      if (2 * lane < length[u]) entries[u] = __ldg((const uint2*)at[u]);
    }
#pragma unroll
    for (unsigned u = 0; u < batch; u++) {
      if (from + u >= count) continue;
      uint2 entry = entries[u];
      for (unsigned first = 64;; first += 64) {
        apply(entry.x, ring, perBlock, rowMask, next, negative[u]);
        apply(entry.y, ring, perBlock, rowMask, next, negative[u]);
        // Slots are filled from their beginning: an unused entry ends them.
        if (first >= length[u] || __shfl_sync(0xffffffffu, entry.y, 31) == 0) break;
        entry = first + 2 * lane < length[u] ? __ldg((const uint2*)(at[u] + first)) : make_uint2(0, 0);
      }
    }
  }
}

static __device__ __forceinline__ void deliverMessages(const Slots& slots, unsigned* queue, int* ring, unsigned perBlock, unsigned rowMask,
                                                       unsigned firstStep, unsigned steps, int neuronThreads, const Exchange& exchange,
                                                       unsigned long long* report, long long limit) {
  const unsigned lane = threadIdx.x & 31, warps = (blockDim.x - neuronThreads) >> 5, warp = (threadIdx.x - neuronThreads) >> 5;
  const unsigned each = (gridDim.x + warps - 1) / warps, from = warp * each + lane;
  const bool hasMessage = lane < each && from < gridDim.x;
  bool lost = false;
  for (unsigned k = 0; k < steps; k++) {
    const unsigned place = (k & (places - 1)) * gridDim.x + from, next = firstStep + k + 1;
    const Message* const message = exchange.messages + place;
    meet(takenBarrier + (k & 1), blockDim.x);
    bool waits = hasMessage && !lost;
    exchange::Patience patience(limit);
    while (__any_sync(0xffffffffu, waits)) {
      Message got = 0;
      bool came = false;
      if (waits) {
        got = peek(message);
        came = (unsigned)(got >> 48) == (k + 1 & 0xffffu);
      }
      const unsigned spikes = came ? (unsigned)(got >> 32) & 0xffffu : 0u;
      if (came) waits = false;
      if (__any_sync(0xffffffffu, spikes != 0)) {
        unsigned count = 0;
#pragma unroll
        for (unsigned s = 0; s < inMessage; s++) {
          const bool has = spikes <= inMessage && s < spikes;
          const unsigned with = __ballot_sync(0xffffffffu, has);
          if (has) queue[count + __popc(with & ((1u << lane) - 1))] = neuronOf((unsigned)(got >> 10 * s) & 1023u, from, gridDim.x);
          count += __popc(with);
        }
        __syncwarp();
        deliver(slots, count, [&](unsigned q) { return queue[q]; }, ring, perBlock, rowMask, next);
        unsigned full = __ballot_sync(0xffffffffu, spikes > inMessage);
        if (full != 0) __threadfence();
        for (; full != 0; full &= full - 1) {
          const int of = __ffs(full) - 1;
          const unsigned block = __shfl_sync(0xffffffffu, from, of);
          const unsigned short* const list = exchange.lists + (size_t)__shfl_sync(0xffffffffu, place, of) * 1024;
          deliver(slots, __shfl_sync(0xffffffffu, spikes, of), [&](unsigned q) { return neuronOf(__ldcg(list + q), block, gridDim.x); }, ring, perBlock,
                  rowMask, next);
        }
        __syncwarp();
      }
      if (waits && patience.over()) {
        reportStall(report, firstStep + k);
        lost = true;
        waits = false;
      }
    }
    if (k + 2 < steps) arrive(deliveredBarrier + (k & 1), blockDim.x);
  }
}

template <typename Real>
static __device__ __forceinline__ void runSlots(const Neurons<Real>& neurons, const unsigned* entries, const unsigned* classes, int classCount, int* pending,
                                                unsigned rows, unsigned perBlock, unsigned firstStep, unsigned steps, int neuronThreads, int distributions,
                                                const Exchange& exchange, const Record& record, unsigned long long* report, long long limit, int* ring) {
  __shared__ Shared shared;
  unsigned* const thresholds = (unsigned*)ring + rows * perBlock;
  for (unsigned k = threadIdx.x; k < rows * perBlock; k += blockDim.x) {
    const unsigned row = k / perBlock, r = neuronOf(k - row * perBlock, blockIdx.x, gridDim.x);
    ring[k] = r < (unsigned)neurons.size ? pending[(size_t)row * neurons.size + r] : 0;
  }
  for (int k = threadIdx.x; k < distributions * neurons.thresholdCount; k += blockDim.x) thresholds[k] = neurons.thresholds[k];
  if (threadIdx.x < 2) shared.counts[threadIdx.x] = 0;
  __syncthreads();
  if ((int)threadIdx.x < neuronThreads) {
    advanceNeurons(neurons, shared, thresholds, ring, perBlock, rows - 1, firstStep, steps, neuronThreads, exchange, record, report);
  } else {
    const unsigned lane = threadIdx.x & 31;
    Slots slots = {entries, 0xffffffffu, 0, 0, 0, classCount};
    if ((int)lane < classCount) {
      const unsigned* const own = classes + lane * classWords;
      slots.first = own[0];
      slots.base = own[1];
      slots.length = own[2];
      slots.negative = own[3];
    }
    deliverMessages(slots, shared.queues[(threadIdx.x - neuronThreads) >> 5], ring, perBlock, rows - 1, firstStep, steps, neuronThreads, exchange, report,
                    limit);
  }
  __syncthreads();
  for (unsigned k = threadIdx.x; k < rows * perBlock; k += blockDim.x) {
    const unsigned row = k / perBlock, r = neuronOf(k - row * perBlock, blockIdx.x, gridDim.x);
    if (r < (unsigned)neurons.size) pending[(size_t)row * neurons.size + r] = ring[k];
  }
}

}  // namespace network

#define NETWORK_SLOTS(name, Real)                                                                                                                     \
  extern "C" __global__ void __launch_bounds__(1024, 1)                                                                                               \
      name(const Real* constants, const int* refractory, Real* state, int* held, const int* background, const unsigned* thresholds, int thresholdCount, int size, \
           Real unit, unsigned key0, unsigned key1, unsigned stream, const unsigned* slots, const unsigned* classes, int classCount, int* pending,    \
           unsigned rows, unsigned perBlock, unsigned firstStep, unsigned steps, int neuronThreads, int distributions, unsigned long long* messages,  \
           unsigned short* lists, unsigned long long* spikes, unsigned* spikeCounts, unsigned spikeCapacity, unsigned long long* report, long long spinLimit) { \
    extern __shared__ int ring[];                                                                                                                     \
    const network::Neurons<Real> neurons = {constants, refractory, state, held, background, thresholds, thresholdCount, size, unit, key0, key1, stream};              \
    network::runSlots(neurons, slots, classes, classCount, pending, rows, perBlock, firstStep, steps, neuronThreads, distributions,                   \
                      network::Exchange{messages, lists}, network::Record{spikes, spikeCounts, spikeCapacity}, report, spinLimit, ring);\
  }

NETWORK_SLOTS(network_slots_f32, float)
NETWORK_SLOTS(network_slots_f64, double)
