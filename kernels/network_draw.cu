// target: sm_75
// Draws the synapses of a network of populations on the device: the table that the host draws
// (docs/numerics.md, rule 13), and the same table in slots for kernels/network_slots.cu.
// Projections have a fixed total number; source and target of each synapse are drawn with
// replacement.
#include "network_tables.cuh"
#include "normal_quantile.cuh"
#include "philox.cuh"

namespace network {

static __device__ __forceinline__ unsigned below(unsigned word, unsigned n) { return __umulhi(word, n); }

/** How many of some rising thresholds are at most `word`. */
static __device__ __forceinline__ int bin(const unsigned* __restrict__ thresholds, int count, unsigned word) {
  int low = 0;
  while (count > 0) {
    const int half = count >> 1;
    if (thresholds[low + half] <= word) {
      low += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return low;
}

/**
 * A random number by a word: family, a, b, low, share, least and most of
 * src/spikes/network/plan.ts.
 */
enum { samplerNumbers = 7 };
static __device__ __forceinline__ double sample(const double* __restrict__ sampler, unsigned word) {
  const int family = (int)sampler[0];
  const double u = portable::add(sampler[3], portable::mul(sampler[4], portable::mul(portable::add((double)word, 0.5), 0x1p-32)));
  double value = sampler[1];
  if (family != 0) value = portable::add(value, portable::mul(sampler[2], family == 2 ? normal::quantile(u) : u));
  return value < sampler[5] ? sampler[5] : value > sampler[6] ? sampler[6] : value;
}

/** splitmix64's finaliser of one synapse: sums of it do not depend on the order of a table. */
static __device__ __forceinline__ unsigned long long mixed(unsigned source, unsigned target, unsigned delay, unsigned units) {
  unsigned long long x = (unsigned long long)source << 47 | (unsigned long long)target << 30 | (unsigned long long)delay << 20 | units;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

static __device__ __forceinline__ void addOverBlock(unsigned long long value, unsigned long long* sum) {
#pragma unroll
  for (int distance = 16; distance > 0; distance >>= 1) value += __shfl_xor_sync(0xffffffffu, value, distance);
  if ((threadIdx.x & 31) == 0) atomicAdd(sum, value);
}

}  // namespace network

using namespace network;

/**
 * Adds 1 to the degree of the source of every synapse of one projection: word m mod 4 of (m / 4,
 * key, stream, 0).
 */
extern "C" __global__ void __launch_bounds__(256)
    network_degrees(unsigned* __restrict__ degrees, unsigned sources, unsigned number, unsigned key, unsigned key0, unsigned key1, unsigned stream) {
  const unsigned blocks = (number + 3) >> 2;
  for (unsigned m = blockIdx.x * blockDim.x + threadIdx.x; m < blocks; m += gridDim.x * blockDim.x) {
    const uint4 words = philox::block(key0, key1, m, key, stream, 0);
#pragma unroll
    for (unsigned k = 0; k < 4; k++)
      if (4 * m + k < number) atomicAdd(degrees + below(philox::word(words, k), sources), 1u);
  }
}

/**
 * offsets[j + 1] = offsets[j] + all degrees of source j. One block of 1024. Degrees of projection p
 * begin at its word 8, by source; a given number of synapses of every source is its word 10.
 */
extern "C" __global__ void __launch_bounds__(1024)
    network_offsets(unsigned* __restrict__ offsets, const unsigned* __restrict__ degrees, const unsigned* __restrict__ projections, int count, unsigned size) {
  __shared__ unsigned sums[32];
  __shared__ unsigned before;
  const unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  if (threadIdx.x == 0) {
    before = 0;
    offsets[0] = 0;
  }
  __syncthreads();
  for (unsigned first = 0; first < size; first += 1024) {
    const unsigned j = first + threadIdx.x;
    unsigned sum = 0;
    if (j < size)
      for (int p = 0; p < count; p++) {
        const unsigned* const projection = projections + p * projectionWords;
        const unsigned within = j - projection[0];
        if (within < projection[1]) sum += projection[10] > 0 ? projection[10] : degrees[projection[8] + within];
      }
#pragma unroll
    for (int distance = 1; distance < 32; distance <<= 1) {
      const unsigned other = __shfl_up_sync(0xffffffffu, sum, distance);
      if (lane >= distance) sum += other;
    }
    if (lane == 31) sums[warp] = sum;
    __syncthreads();
    unsigned carried = before;
    for (unsigned w = 0; w < warp; w++) carried += sums[w];
    if (j < size) offsets[j + 1] = carried + sum;
    __syncthreads();
    if (threadIdx.x == 1023) before = carried + sum;
    __syncthreads();
  }
}

/**
 * The synapses of every source, numbered over its projections in order: target by word 0, weight by
 * word 1 and delay by word 2 of (n, j, stream, attempt). A destination is target | delay <<
 * targetBits. A plan makes sure that weights have 16 bits.
 */
extern "C" __global__ void __launch_bounds__(256)
    network_synapses(unsigned* __restrict__ destinations, unsigned short* __restrict__ units, const unsigned* __restrict__ offsets,
                     const unsigned* __restrict__ degrees, const unsigned* __restrict__ projections, const double* __restrict__ weights,
                     const unsigned* __restrict__ thresholds, int count, unsigned size, int targetBits, unsigned key0, unsigned key1, unsigned stream) {
  __shared__ unsigned ends[mostOutgoing];
  __shared__ int which[mostOutgoing];
  __shared__ int outgoing;
  for (unsigned j = blockIdx.x; j < size; j += gridDim.x) {
    __syncthreads();
    if (threadIdx.x == 0) {
      unsigned end = 0;
      int out = 0;
      for (int p = 0; p < count; p++) {
        const unsigned* const projection = projections + p * projectionWords;
        const unsigned within = j - projection[0];
        if (within >= projection[1]) continue;
        end += projection[10] > 0 ? projection[10] : degrees[projection[8] + within];
        ends[out] = end;
        which[out++] = p;
      }
      outgoing = out;
    }
    __syncthreads();
    const unsigned total = outgoing > 0 ? ends[outgoing - 1] : 0, first = offsets[j];
    for (unsigned n = threadIdx.x; n < total; n += blockDim.x) {
      int out = 0;
      while (n >= ends[out]) out++;
      const unsigned* const projection = projections + which[out] * projectionWords;
      uint4 words = philox::block(key0, key1, n, j, stream, 0);
      unsigned target = projection[2] + below(words.x, projection[3]);
      for (unsigned attempt = 1; target == projection[9] + j; attempt++) {
        words = philox::block(key0, key1, n, j, stream, attempt);
        target = projection[2] + below(words.x, projection[3]);
      }
      const double whole = floor(portable::add(sample(weights + which[out] * samplerNumbers, words.y), 0.5));
      const unsigned delay = projection[7] + bin(thresholds + projection[5], projection[6], words.z);
      destinations[first + n] = target | delay << targetBits;
      units[first + n] = (unsigned short)whole;
    }
  }
}

/** Adds the units of all synapses, without their signs, to the sum of their target. */
extern "C" __global__ void __launch_bounds__(256)
    network_reach(unsigned long long* __restrict__ sums, const unsigned* __restrict__ destinations, const unsigned short* __restrict__ units, unsigned synapses,
                  int targetBits) {
  for (unsigned s = blockIdx.x * blockDim.x + threadIdx.x; s < synapses; s += gridDim.x * blockDim.x)
    atomicAdd(sums + (destinations[s] & ((1u << targetBits) - 1)), (unsigned long long)units[s]);
}

/** The sum of all synapses of a table. */
extern "C" __global__ void __launch_bounds__(256)
    network_table_sum(const unsigned* __restrict__ destinations, const unsigned short* __restrict__ units, const unsigned* __restrict__ offsets, unsigned size,
                      int targetBits, unsigned long long* __restrict__ sum) {
  unsigned long long own = 0;
  for (unsigned j = blockIdx.x; j < size; j += gridDim.x)
    for (unsigned s = offsets[j] + threadIdx.x; s < offsets[j + 1]; s += blockDim.x)
      own += mixed(j, destinations[s] & ((1u << targetBits) - 1), destinations[s] >> targetBits, units[s]);
  addOverBlock(own, sum);
}

/** How many entries the fullest slot of each class has. Dynamic shared memory: a count a block. */
extern "C" __global__ void __launch_bounds__(256)
    network_slot_lengths(unsigned* __restrict__ lengths, const unsigned* __restrict__ destinations, const unsigned* __restrict__ offsets,
                         const unsigned* __restrict__ classes, int classCount, unsigned size, int targetBits, unsigned blocks) {
  extern __shared__ unsigned counts[];
  for (unsigned j = blockIdx.x; j < size; j += gridDim.x) {
    for (unsigned b = threadIdx.x; b < blocks; b += blockDim.x) counts[b] = 0;
    __syncthreads();
    for (unsigned s = offsets[j] + threadIdx.x; s < offsets[j + 1]; s += blockDim.x)
      atomicAdd(counts + Home(destinations[s] & ((1u << targetBits) - 1), blocks).block, 1u);
    __syncthreads();
    unsigned most = 0;
    for (unsigned b = threadIdx.x; b < blocks; b += blockDim.x) most = max(most, counts[b]);
    const int own = classOf(classes, classCount, j);
    if (most > 0) atomicMax(lengths + own, most);
    __syncthreads();
  }
}

/** The table in slots that hold zeros. A class: first source, first entry, entries a slot, sign. */
extern "C" __global__ void __launch_bounds__(256)
    network_slots_fill(unsigned* __restrict__ slots, const unsigned* __restrict__ destinations, const unsigned short* __restrict__ units,
                       const unsigned* __restrict__ offsets, const unsigned* __restrict__ classes, int classCount, unsigned size, int targetBits,
                       unsigned blocks) {
  extern __shared__ unsigned counts[];
  for (unsigned j = blockIdx.x; j < size; j += gridDim.x) {
    for (unsigned b = threadIdx.x; b < blocks; b += blockDim.x) counts[b] = 0;
    __syncthreads();
    const unsigned* const own = classes + classOf(classes, classCount, j) * classWords;
    unsigned* const base = slots + (size_t)own[1] * 4 + (size_t)(j - own[0]) * blocks * own[2];
    for (unsigned s = offsets[j] + threadIdx.x; s < offsets[j + 1]; s += blockDim.x) {
      const unsigned destination = destinations[s];
      const Home home(destination & ((1u << targetBits) - 1), blocks);
      const unsigned at = atomicAdd(counts + home.block, 1u);
      base[(size_t)home.block * own[2] + at] = entryOf(home.local, destination >> targetBits, units[s]);
    }
    __syncthreads();
  }
}

/** The sum of all synapses of slots, a warp a slot. */
extern "C" __global__ void __launch_bounds__(256)
    network_slots_sum(const unsigned* __restrict__ slots, const unsigned* __restrict__ classes, int classCount, unsigned size, unsigned blocks,
                      unsigned long long* __restrict__ sum) {
  unsigned long long own = 0;
  for (unsigned j = blockIdx.x; j < size; j += gridDim.x) {
    const unsigned* const of = classes + classOf(classes, classCount, j) * classWords;
    const unsigned* const base = slots + (size_t)of[1] * 4 + (size_t)(j - of[0]) * blocks * of[2];
    for (unsigned k = threadIdx.x; k < blocks * of[2]; k += blockDim.x) {
      const unsigned entry = base[k];
      if (entry != 0) own += mixed(j, neuronOf(entry & 1023u, k / of[2], blocks), entry >> 10 & 63u, entry >> 16);
    }
  }
  addOverBlock(own, sum);
}
