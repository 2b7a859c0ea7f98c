// What the batch kernels share: copies that bypass the first cache, counters by which blocks wait
// for one another, and the end of a step.
#pragma once
#include "philox.cuh"

namespace batch {

/** Everything of a batch but its weights and its exchange buffers. */
struct Data {
  /** [sequence][step][neuron]: b + W_in u. */
  const float* drive;
  /** [sequence][step][neuron]: W_fb y; null without feedback. */
  const float* feedback;
  const float* leak;
  /** [sequence][step][neuron], or null. */
  float* states;
  /** [sequence][neuron]: before the first step, and after each sequence's last. */
  float* state;
  /** Steps of each sequence, falling. */
  const int* lengths;
  /** The noise sequence of each. */
  const int* numbers;
  /** step << 32 | neuron of a sequence's first state that is not finite, else all ones. */
  unsigned long long* failures;
  unsigned key0, key1;
  float noise;
  int size, sequences, steps, firstStep, activation;
};

static __device__ __forceinline__ unsigned sharedAddress(const void* pointer) { return (unsigned)__cvta_generic_to_shared(pointer); }
static __device__ __forceinline__ void copyAsync(unsigned shared, const void* global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(global) : "memory");
}
static __device__ __forceinline__ void commitCopies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int Pending> static __device__ __forceinline__ void waitForCopies() { asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory"); }

static __device__ __forceinline__ unsigned loadAcquire(const unsigned* address) {
  unsigned value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}

/**
 * The steps of the longest sequence of each of a block's tiles, near at hand: a wait for other
 * blocks empties the first cache.
 */
struct TileLengths {
  static constexpr int most = 64;
  int kept[most];
  template <int TileSequences> __device__ __forceinline__ void load(const Data& data, int group, int groups, int tiles) {
    for (int i = threadIdx.x; i < most && group + i * groups < tiles; i += blockDim.x) kept[i] = data.lengths[(group + i * groups) * TileSequences];
  }
  template <int TileSequences> __device__ __forceinline__ int of(const Data& data, int index, int group, int groups) const {
    return index < most ? kept[index] : data.lengths[(group + index * groups) * TileSequences];
  }
};

/**
 * One thread waits until `arrived` reaches `wanted`, for at most `limit` clock ticks; false if
 * it gave up or another block did.
 */
static __device__ __forceinline__ bool waitFor(const unsigned* arrived, unsigned wanted, long long limit, int* stalled, int step) {
  if (loadAcquire(arrived) >= wanted) return true;
  const long long begin = clock64();
  for (;;) {
    if (loadAcquire(arrived) >= wanted) return true;
    if (loadAcquire(reinterpret_cast<const unsigned*>(stalled)) != 0) return false;
    if (clock64() - begin > limit) {
      if (atomicCAS(stalled, 0, blockIdx.x + 1) == 0) stalled[1] = step;
      return false;
    }
  }
}

/** x(t+1) of one neuron of one sequence, rules 3 to 6. */
static __device__ __forceinline__ float finishStep(const Data& data, int sequence, int neuron, int t, float driven, float dot, float x, float a) {
  float z = portable::add(driven, dot);
  if (data.feedback) z = portable::add(z, data.feedback[((size_t)sequence * data.steps + t) * data.size + neuron]);
  if (data.noise != 0.0f) z = portable::add(z, philox::noise(data.noise, data.key0, data.key1, data.firstStep + t, neuron, data.numbers[sequence]));
  const float next = portable::leakyStep(portable::sub(1.0f, a), x, a, portable::activate(data.activation, z));
  if (!portable::finite(next)) atomicMin(data.failures + sequence, (unsigned long long)(data.firstStep + t) << 32 | (unsigned)neuron);
  return next;
}

/** f of each number, by one activation. */
template <int Activation, int Count> static __device__ __forceinline__ void activateAll(float (&z)[Count]) {
#pragma unroll
  for (float& each : z) each = portable::activate(Activation, each);
}

/**
 * x(t+1) of `Count` neighbouring neurons of one sequence, in place of x(t). Neurons beyond the last
 * report nothing. The branches are taken once for all, so the chains run side by side.
 */
template <int Count>
static __device__ __forceinline__ void finishSteps(const Data& data, int sequence, int neuron, int t, const float (&driven)[Count], const float (&dot)[Count],
                                                   const float (&leak)[Count], float (&x)[Count]) {
  float z[Count];
#pragma unroll
  for (int e = 0; e < Count; e++) z[e] = portable::add(driven[e], dot[e]);
  if (data.feedback) {
    const float* const fed = data.feedback + ((size_t)sequence * data.steps + t) * data.size;
#pragma unroll
    for (int e = 0; e < Count; e++) z[e] = portable::add(z[e], fed[min(neuron + e, data.size - 1)]);
  }
  if (data.noise != 0.0f) {
#pragma unroll
    for (int e = 0; e < Count; e++)
      z[e] = portable::add(z[e], philox::noise(data.noise, data.key0, data.key1, data.firstStep + t, neuron + e, data.numbers[sequence]));
  }
  switch (data.activation) {
    case portable::TANH: activateAll<portable::TANH>(z); break;
    case portable::RELU: activateAll<portable::RELU>(z); break;
    case portable::SIGMOID: activateAll<portable::SIGMOID>(z); break;
  }
#pragma unroll
  for (int e = 0; e < Count; e++) {
    x[e] = portable::leakyStep(portable::sub(1.0f, leak[e]), x[e], leak[e], z[e]);
    if (!portable::finite(x[e]) && neuron + e < data.size)
      atomicMin(data.failures + sequence, (unsigned long long)(data.firstStep + t) << 32 | (unsigned)(neuron + e));
  }
}

}  // namespace batch
