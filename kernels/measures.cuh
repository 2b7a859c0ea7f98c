// Spike patterns in order, in device memory, and what measures of src/spikes/detection have in
// common: every sum in the order that it has there.
#pragma once
#include "exact.cuh"

namespace measures {

typedef unsigned long long Wide;

constexpr double twoPi = 6.283185307179586;

/**
 * One pattern's spikes in order of time and then neuron; and train by train, of the neurons that
 * fire, each in order of time.
 */
struct Pattern {
  const double* times;
  const unsigned* neurons;
  const double* trainTimes;
  /** The first spike of each train, and behind the last the number of all. */
  const unsigned* starts;
  unsigned trains, spikes, neuronCount;
  double duration;

  __device__ __forceinline__ unsigned lengthOf(unsigned train) const { return starts[train + 1] - starts[train]; }
};

/**
 * Patterns one behind the other, as pattern_measures_sort leaves them. Pattern p has its starts
 * from offsets[p] + p on.
 */
struct Patterns {
  const double* times;
  const unsigned* neurons;
  const double* trainTimes;
  const unsigned* starts;
  const unsigned* trains;
  const Wide* offsets;
  const double* durations;
  unsigned count, neuronCount;

  __device__ __forceinline__ Pattern operator[](unsigned p) const {
    const Wide first = offsets[p];
    return {times + first, neurons + first, trainTimes + first, starts + first + p, trains[p], (unsigned)(offsets[p + 1] - first), neuronCount, durations[p]};
  }
};

/** Steps of `width` ms that a duration is cut into, as binsOf cuts it, and the step of a time. */
struct Steps {
  double width;
  unsigned count;
  __device__ __forceinline__ unsigned of(double time) const {
    const double step = floor(portable::div(time, width));
    return step < (double)(count - 1) ? (unsigned)step : count - 1;
  }
  /** The first spike that is not before step s. */
  __device__ __forceinline__ unsigned firstIn(const Pattern& pattern, unsigned s) const {
    unsigned low = 0, high = pattern.spikes;
    while (low < high) {
      const unsigned middle = low + (high - low) / 2;
      if (of(pattern.times[middle]) < s) low = middle + 1;
      else high = middle;
    }
    return low;
  }
};

static __device__ __forceinline__ Steps binsOf(double duration, double width) {
  const double bins = ceil(portable::sub(portable::div(duration, width), 1e-9));
  return {width, bins > 1.0 ? (unsigned)bins : 1u};
}

static __device__ __forceinline__ unsigned lane() { return threadIdx.x & 31; }

/** term(0) + term(1) + ..., one after the other from +0, by a full warp: in every lane. */
template <typename Term> static __device__ __forceinline__ Exact sumInOrder(unsigned count, Term term) {
  Exact sum = 0.0;
  for (unsigned base = 0; base < count; base += 32) {
    const Exact own = base + lane() < count ? term(base + lane()) : Exact(0.0);
    const unsigned some = count - base < 32 ? count - base : 32;
#pragma unroll 2
    for (unsigned j = 0; j < some; j++) sum = sum + Exact(__shfl_sync(0xffffffffu, own.value, j));
  }
  return sum;
}

/** A sum of whole numbers over the trains by a full warp: in every lane. */
template <typename Term> static __device__ __forceinline__ Wide sumOfWhole(unsigned count, Term term) {
  Wide sum = 0;
#pragma unroll 1
  for (unsigned i = lane(); i < count; i += 32) sum += term(i);
  for (int half = 16; half >= 1; half >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, half);
  return sum;
}

/** A number and where it stands. */
struct Ranked {
  double value;
  unsigned index;
  /** Takes another if it is greater, or as great and further ahead. */
  __device__ __forceinline__ void take(double other, unsigned at) {
    if (!(other > value || (other == value && at < index))) return;
    value = other;
    index = at;
  }
};

/**
 * The first of the greatest of all threads of a block, in thread 0. `shared` holds one a warp.
 */
static __device__ __forceinline__ Ranked firstOfGreatest(Ranked own, Ranked* shared) {
  for (int half = 16; half >= 1; half >>= 1) {
    const double value = __shfl_xor_sync(0xffffffffu, own.value, half);
    own.take(value, __shfl_xor_sync(0xffffffffu, own.index, half));
  }
  if (lane() == 0) shared[threadIdx.x >> 5] = own;
  __syncthreads();
  if (threadIdx.x == 0)
    for (unsigned w = 1; w < blockDim.x / 32; w++) own.take(shared[w].value, shared[w].index);
  __syncthreads();
  return own;
}

/**
 * The types in the order of patternTypes, three numbers each in what a pattern gets: its score, a
 * frequency's number, a wave number.
 */
enum Type { SYNCHRONOUS, TRAVELLING, STANDING, CHAOTIC, EMERGENT, RHYTHMIC, SPARSE, BURST, TYPES };

static __device__ __forceinline__ void report(double* out, unsigned p, Type type, Exact score, double frequency = 0.0, double wave = 0.0) {
  double* const at = out + ((Wide)p * TYPES + type) * 3;
  at[0] = score.value;
  at[1] = frequency;
  at[2] = wave;
}

static __device__ __forceinline__ Exact aboveChance(Exact square, Exact chance) {
  return chance >= 1.0 ? Exact(0.0) : least(1.0, greatest(0.0, (square - chance) / (1.0 - chance)));
}

}  // namespace measures

/** The parameters of every measure that describe the patterns, and those as one. */
#define PATTERNS                                                                                                                        \
  const double *times, const unsigned *neurons, const double *trainTimes, const unsigned *starts, const unsigned *trainCounts,          \
      const unsigned long long *offsets, const double *durations, unsigned count, unsigned neuronCount
#define ALL_PATTERNS {times, neurons, trainTimes, starts, trainCounts, offsets, durations, count, neuronCount}
