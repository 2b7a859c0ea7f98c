// What the persistent kernels share around the product W x: the order of neurons, the rest of a
// step (docs/numerics.md, rules 3 to 6) and its arguments. How states reach other blocks is in
// exchange.cuh.
#pragma once
#include "approximate.cuh"
#include "exchange.cuh"
#include "philox.cuh"

/**
 * What is known of the arguments of a kernel compiled for one model: its steps then decide nothing.
 */
#ifdef GIVEN
#define RECURRENCE_GIVEN __builtin_assume(GIVEN);
#else
#define RECURRENCE_GIVEN
#endif

namespace recurrence {

#ifdef FAST_ARITHMETIC
namespace arithmetic = approximate;
/** Products of W x whose sums do not wait for one another: in fast arithmetic the order is free. */
constexpr int Sums = 4;
#else
namespace arithmetic = portable;
constexpr int Sums = 1;
#endif

/** Products of W x with the rows of a warp, in sums that are one row's in the end. */
template <typename Real, int Rows> struct Partial {
  Real sum[Sums][Rows];
  __device__ __forceinline__ Partial() {
#pragma unroll
    for (int s = 0; s < Sums; s++)
#pragma unroll
      for (int r = 0; r < Rows; r++) sum[s][r] = (Real)0;
  }
  __device__ __forceinline__ void add(int r, int product, Real a, Real b) {
    Real& to = sum[product % Sums][r];
    to = arithmetic::mulAdd(a, b, to);
  }
  __device__ __forceinline__ Real (&rows())[Rows] {
#pragma unroll
    for (int apart = Sums / 2; apart > 0; apart /= 2)
#pragma unroll
      for (int s = 0; s < apart; s++)
#pragma unroll
        for (int r = 0; r < Rows; r++) sum[s][r] = portable::add(sum[s][r], sum[s + apart][r]);
    return sum[0];
  }
};

/**
 * Neurons stand in an order in which the four that are columns l, l + 32, l + 64, l + 96 of a group
 * of 128 lie side by side: a lane of rule 1 reads four of its columns at once, and in rising order.
 */
static __device__ __forceinline__ int neuronAt(int position) {
  return (position & ~127) | (position & 3) << 5 | (position >> 2 & 31);
}
static __device__ __forceinline__ int positionOf(int neuron) {
  return (neuron & ~127) | (neuron & 31) << 2 | (neuron >> 5 & 3);
}

/** A chunk of steps. */
template <typename Real> struct Steps {
  /** a, N values. */
  const Real* leakRate;
  /** steps x N, or null. */
  const Real *drive, *feedback;
  /** N values, before and after. */
  Real* state;
  /** steps x N, or null. */
  Real* states;
  int size, steps, activation;
  Real noiseLevel;
  unsigned key0, key1, firstStep, sequence;
  /** Whether something is fed back, from `feedback` or by a closed loop. */
  bool fed;
};

/**
 * One neuron's part of the steps. Lanes that are given the same neuron do the same; `writes` says
 * which of them stores.
 */
template <typename Real> struct Neuron {
  Real x, leak, keep, drive, feedback, noise;
  size_t at;
  unsigned index;
  bool real, writes;

  __device__ __forceinline__ Neuron(const Steps<Real>& run, int neuron, bool writer)
      : x(0), leak(0), keep(0), drive(0), feedback(0), noise(0), at((size_t)neuron), index((unsigned)neuron),
        real(neuron < run.size), writes(writer && neuron < run.size) {
    if (!real) return;
    x = run.state[neuron];
    leak = run.leakRate[neuron];
    keep = portable::sub((Real)1, leak);
    if (run.drive) drive = run.drive[at];
    if (run.feedback) feedback = run.feedback[at];
    drawNoise(run, 0);
  }

  __device__ __forceinline__ void drawNoise(const Steps<Real>& run, int step) {
    if (run.noiseLevel != (Real)0) noise = philox::noise(run.noiseLevel, run.key0, run.key1, run.firstStep + step, index, run.sequence);
  }

  /**
   * x after a step. Selections, not branches: what is not asked for costs an instruction or two, a
   * jump in the middle of a step far more.
   */
  __device__ __forceinline__ Real advance(const Steps<Real>& run, Real dot) {
    Real z = portable::add(drive, dot);
    const Real fed = portable::add(z, feedback);
    z = run.fed ? fed : z;
    const Real noisy = portable::add(z, noise);
    z = run.noiseLevel != (Real)0 ? noisy : z;
    const Real half = portable::mul((Real)0.5, z);
    const Real t = arithmetic::tanh(run.activation == portable::SIGMOID ? half : z);
    Real f = run.activation == portable::SIGMOID ? portable::add((Real)0.5, portable::mul((Real)0.5, t)) : t;
    f = run.activation == portable::IDENTITY ? z : f;
    f = run.activation == portable::RELU ? portable::relu(z) : f;
    x = arithmetic::leakyStep(keep, x, leak, f);
    return x;
  }

  /** Stores that nobody waits for, and the next step's loads. */
  __device__ __forceinline__ void finish(const Steps<Real>& run, int step) {
    if (writes && run.states) run.states[at] = x;
    at += (unsigned)run.size;
    if (!real || step + 1 >= run.steps) return;
    if (run.drive) drive = run.drive[at];
    if (run.feedback) feedback = run.feedback[at];
    drawNoise(run, step + 1);
  }

  __device__ __forceinline__ void end(const Steps<Real>& run) {
    if (writes) run.state[index] = x;
  }
};

/**
 * What a loop whose drive is known beforehand does between steps: nothing. closed_loop.cuh has the
 * other.
 */
struct Open {
  static constexpr bool closes = false;
  template <typename Real, typename States>
  __device__ __forceinline__ void before(const Steps<Real>&, Neuron<Real>&, int, States) const {}
  template <typename Real, typename States> __device__ __forceinline__ void after(const Steps<Real>&, States) const {}
};

/** The states of a block's shared memory by neuron, where they stand by position or in order. */
template <typename Real> struct ByPosition {
  const Real* x;
  __device__ __forceinline__ Real operator[](int neuron) const { return x[positionOf(neuron)]; }
};

/**
 * Whether every state of the chunk stays in [-1, 1]: a x' between x and f(z) does, and portable
 * tanh never exceeds 1. Asked by all threads of a block.
 */
template <typename Real> static __device__ __forceinline__ bool bounded(const Steps<Real>& run) {
  bool large = run.activation == portable::IDENTITY || run.activation == portable::RELU;
  for (int i = threadIdx.x; i < run.size; i += blockDim.x) large = large || !(run.state[i] >= (Real)-1 && run.state[i] <= (Real)1);
  return __syncthreads_or(large) == 0;
}

/**
 * The butterflies over `Lanes` partial sums of `Rows` rows, 32 lanes for rule 1 and 8 for rule 2:
 * each lane ends with the sum of one of the rows, that with the number lane / (Lanes / Rows) among
 * its `Lanes`.
 */
template <typename Real, int Rows, int Lanes> static __device__ __forceinline__ Real sumRows(Real (&partial)[Rows]) {
  const int lane = threadIdx.x & 31;
  int distance = Lanes / 2;
#pragma unroll
  for (int rows = Rows; rows > 1; rows >>= 1, distance >>= 1) {
    const bool upper = lane & distance;
#pragma unroll
    for (int r = 0; r < rows / 2; r++) {
      const Real sent = upper ? partial[r] : partial[r + rows / 2], kept = upper ? partial[r + rows / 2] : partial[r];
      partial[r] = portable::add(kept, __shfl_xor_sync(0xffffffffu, sent, distance));
    }
  }
  Real sum = partial[0];
#pragma unroll
  for (; distance > 0; distance >>= 1) sum = portable::add(sum, __shfl_xor_sync(0xffffffffu, sum, distance));
  return sum;
}

}  // namespace recurrence
