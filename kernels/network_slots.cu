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
 * list. There are four buffers by the step: a block publishes a step once it has taken all messages
 * of the one before the last, so nobody is more than three behind.
 */
enum { inMessage = 3, buffers = 4 };

struct Exchange {
  Message* messages;
  /** buffers x blocks x 1024: the spikes of a message that are too many for it. */
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
 * Named barriers, each for even and odd steps: delivered, row taken, spikes listed; and one of the
 * neurons alone.
 */
enum { deliveredBarrier = 1, takenBarrier = 3, listedBarrier = 5, neuronBarrier = 7 };

/** Spikes of one step that a block lists; if there are more it goes over the messages again. */
enum { listLength = 1024 };

/** What a block shares besides its ring. */
struct Shared {
  unsigned counts[2];
  unsigned short fired[2][1024];
  /** The sources to deliver of an even and of an odd step, and how many, alternately. */
  unsigned lists[2][listLength], listed[2][2];
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
                                                      unsigned firstStep, unsigned steps, int neuronThreads, int withGroup, const Exchange& exchange,
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
    if (k > 1) meet(deliveredBarrier + (k & 1), withGroup);
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
    arrive(takenBarrier + (k & 1), withGroup);
    meet(neuronBarrier, neuronThreads);
    if (threadIdx.x < 32) {
      const unsigned count = shared.counts[k & 1], buffer = (k & (buffers - 1)) * gridDim.x + blockIdx.x;
      const unsigned short* const fired = shared.fired[k & 1];
      Message message = (Message)(k + 1 & 0xffffu) << 48 | (Message)count << 32;
      if (count <= inMessage) {
        for (unsigned s = 0; s < count; s++) message |= (Message)fired[s] << 10 * s;
      } else {
        for (unsigned s = lane; s < count; s += 32) exchange.lists[(size_t)buffer * 1024 + s] = fired[s];
        __threadfence();
      }
      __syncwarp();
      if (lane == 0) {
        publish(exchange.messages + buffer, message);
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

/** Where a slot of this block begins, for one lane, and its entries; the sign of its source. */
struct Slot {
  const unsigned* at;
  unsigned length, negative;
  __device__ __forceinline__ Slot(const Slots& slots, unsigned source) {
    const unsigned lane = threadIdx.x & 31;
    const int own = __popc(__ballot_sync(0xffffffffu, (int)lane < slots.classes && slots.first <= source)) - 1;
    length = __shfl_sync(0xffffffffu, slots.length, own);
    negative = __shfl_sync(0xffffffffu, slots.negative, own);
    at = slots.entries + (size_t)__shfl_sync(0xffffffffu, slots.base, own) * 4 +
         ((size_t)(source - __shfl_sync(0xffffffffu, slots.first, own)) * gridDim.x + blockIdx.x) * length + 2 * lane;
  }
  __device__ __forceinline__ uint2 load(unsigned first) const {
    return first + 2 * (threadIdx.x & 31) < length ? __ldg((const uint2*)(at + first)) : make_uint2(0, 0);
  }
};

/**
 * Delivers every `stride`-th of some sources from `first` on, a warp together, several slots under
 * way at once.
 */
static __device__ __forceinline__ void deliver(const Slots& slots, const unsigned* sources, unsigned count, unsigned first, unsigned stride, int* ring,
                                               unsigned perBlock, unsigned rowMask, unsigned next) {
  constexpr unsigned batch = 8;
  for (unsigned from = first; from < count; from += batch * stride) {
    uint2 entries[batch];
    unsigned negative = 0, longer = 0;
#pragma unroll
    for (unsigned u = 0; u < batch; u++) {
      if (from + u * stride >= count) break;
      const Slot slot(slots, sources[from + u * stride]);
      entries[u] = slot.load(0);
      negative |= slot.negative << u;
    }
#pragma unroll
    for (unsigned u = 0; u < batch; u++) {
      if (from + u * stride >= count) break;
      apply(entries[u].x, ring, perBlock, rowMask, next, negative >> u & 1u);
      apply(entries[u].y, ring, perBlock, rowMask, next, negative >> u & 1u);
      // Slots are filled from their beginning: an unused entry ends them.
      if (__shfl_sync(0xffffffffu, entries[u].y, 31) != 0) longer |= 1u << u;
    }
    for (; longer != 0; longer &= longer - 1) {
      const Slot slot(slots, sources[from + (__ffs(longer) - 1) * stride]);
      for (unsigned at = 64; at < slot.length; at += 64) {
        const uint2 entry = slot.load(at);
        apply(entry.x, ring, perBlock, rowMask, next, slot.negative);
        apply(entry.y, ring, perBlock, rowMask, next, slot.negative);
      }
    }
  }
}

static __device__ __forceinline__ unsigned spikesIn(Message message) { return (unsigned)(message >> 32) & 0xffffu; }

/** Spike s of a message of a block, as a neuron. */
static __device__ __forceinline__ unsigned spikeOf(Message message, unsigned s, const unsigned short* list, unsigned block) {
  return neuronOf(spikesIn(message) <= inMessage ? (unsigned)(message >> 10 * s) & 1023u : (unsigned)__ldcg(list + s), block, gridDim.x);
}

/**
 * The warps that deliver, in two groups: one takes the even steps, the other the odd ones, so that
 * one waits for messages while the other waits for memory.
 */
static __device__ __forceinline__ void deliverMessages(const Slots& slots, Shared& shared, int* ring, unsigned perBlock, unsigned rowMask,
                                                       unsigned firstStep, unsigned steps, int neuronThreads, int withGroup, const Exchange& exchange,
                                                       unsigned long long* report, long long limit) {
  const unsigned threads = withGroup - neuronThreads, group = (threadIdx.x - neuronThreads) / threads;
  const unsigned thread = threadIdx.x - neuronThreads - group * threads, lane = thread & 31, warp = thread >> 5, warps = threads >> 5;
  unsigned* const list = shared.lists[group];
  bool lost = false;
  for (unsigned k = group; k < steps; k += 2) {
    const unsigned base = (k & (buffers - 1)) * gridDim.x, next = firstStep + k + 1;
    unsigned* const listed = shared.listed[group] + (k >> 1 & 1);
    meet(takenBarrier + group, withGroup);
    for (unsigned block = thread; block < gridDim.x; block += threads) {
      exchange::Patience patience(limit);
      Message message = 0;
      while (!lost && (unsigned)((message = peek(exchange.messages + base + block)) >> 48) != (k + 1 & 0xffffu)) {
        if (!patience.over()) continue;
        reportStall(report, firstStep + k);
        lost = true;
      }
      const unsigned count = lost ? 0 : spikesIn(message);
      if (count == 0) continue;
      if (count > inMessage) __threadfence();
      const unsigned at = atomicAdd(listed, count);
      if (at + count <= listLength)
        for (unsigned s = 0; s < count; s++) list[at + s] = spikeOf(message, s, exchange.lists + (size_t)(base + block) * 1024, block);
    }
    __syncwarp();
    meet(listedBarrier + group, threads);
    const unsigned count = *listed;
    if (thread == 0) shared.listed[group][(k >> 1 & 1) ^ 1] = 0;
    const bool isListed = count <= listLength;
    // A list that was too short holds 32 sources of each warp.
    for (unsigned block = isListed ? 0 : warp; block < (isListed ? 1 : gridDim.x); block += warps) {
      const Message message = isListed ? 0 : peek(exchange.messages + base + block);
      const unsigned spikes = isListed ? count : spikesIn(message);
      for (unsigned first = 0; first < spikes; first += isListed ? spikes : 32) {
        if (!isListed) {
          __syncwarp();
          if (first + lane < spikes) list[warp * 32 + lane] = spikeOf(message, first + lane, exchange.lists + (size_t)(base + block) * 1024, block);
          __syncwarp();
        }
        deliver(slots, isListed ? list : list + warp * 32, isListed ? spikes : min(32u, spikes - first), isListed ? warp : 0, isListed ? warps : 1, ring,
                perBlock, rowMask, next);
      }
    }
    __syncwarp();
    if (k + 2 < steps) arrive(deliveredBarrier + group, withGroup);
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
  if (threadIdx.x < 2) shared.counts[threadIdx.x] = shared.listed[threadIdx.x][0] = shared.listed[threadIdx.x][1] = 0;
  const int withGroup = neuronThreads + ((int)blockDim.x - neuronThreads) / 2;
  __syncthreads();
  if ((int)threadIdx.x < neuronThreads) {
    advanceNeurons(neurons, shared, thresholds, ring, perBlock, rows - 1, firstStep, steps, neuronThreads, withGroup, exchange, record, report);
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
    deliverMessages(slots, shared, ring, perBlock, rows - 1, firstStep, steps, neuronThreads, withGroup, exchange, report, limit);
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
