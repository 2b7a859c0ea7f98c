// The neurons of a network of populations: docs/numerics.md, rule 13.
#pragma once
#include "philox.cuh"

namespace network {

using portable::add;
using portable::mul;

static __device__ __forceinline__ void convert(int x, float& to) { to = __int2float_rn(x); }
static __device__ __forceinline__ void convert(int x, double& to) { to = (double)x; }

/** What neurons are and carry. Lists of N values stand one after the other. */
template <typename Real> struct Neurons {
  /** keep, gain, driveGain times drive, threshold, reset, decay. */
  const Real* constants;
  const int* refractory;
  /** potential, current. */
  Real* state;
  int* held;
  /**
   * The distribution of a neuron's background spikes, -1 for none, and the units of one; or null.
   */
  const int* background;
  const unsigned* thresholds;
  /** Thresholds of one distribution. */
  int thresholdCount;
  int size;
  Real unit;
  unsigned key0, key1, stream;
};

/** One neuron in registers. */
template <typename Real> struct Neuron {
  Real keep, gain, driven, limit, reset, decay, potential, current;
  int refractory, held;

  __device__ __forceinline__ void load(const Neurons<Real>& from, int r) {
    const size_t n = from.size;
    keep = from.constants[r];
    gain = from.constants[n + r];
    driven = from.constants[2 * n + r];
    limit = from.constants[3 * n + r];
    reset = from.constants[4 * n + r];
    decay = from.constants[5 * n + r];
    refractory = from.refractory[r];
    potential = from.state[r];
    current = from.state[n + r];
    held = from.held[r];
  }

  __device__ __forceinline__ void store(const Neurons<Real>& to, int r) const {
    to.state[r] = potential;
    to.state[(size_t)to.size + r] = current;
    to.held[r] = held;
  }

  /**
   * A step with the units that arrive in it. Says whether the neuron fires; `bad`, whether its
   * potential is not finite.
   */
  __device__ __forceinline__ bool advance(int arrived, Real unit, bool& bad) {
    Real units;
    convert(arrived, units);
    const Real now = add(current, mul(units, unit));
    const Real next = add(add(mul(keep, potential), mul(gain, now)), driven);
    const bool isFree = held == 0;
    const Real after = isFree ? next : potential;
    bad = !portable::finite(after);
    const bool fires = isFree && after >= limit;
    potential = fires ? reset : after;
    held = fires ? refractory : isFree ? 0 : held - 1;
    current = mul(decay, now);
    return fires;
  }
};

/** How many thresholds are at most `word`. */
static __device__ __forceinline__ int spikesOf(const unsigned* thresholds, int most, unsigned word) {
  int count = 0;
  while (count < most && thresholds[count] <= word) count++;
  return count;
}

/**
 * The first potential that is not finite as (2^32 - 1 - step) << 32 | 2^32 - 1 - neuron, 0 for
 * none; then block + 1 << 32 | step of a wait without end.
 */
static __device__ __forceinline__ void reportBad(unsigned long long* report, unsigned step, unsigned neuron) {
  atomicMax(report, (unsigned long long)(0xffffffffu - step) << 32 | (0xffffffffu - neuron));
}
static __device__ __forceinline__ void reportStall(unsigned long long* report, unsigned step) {
  atomicCAS(report + 1, 0ull, (unsigned long long)(blockIdx.x + 1) << 32 | step);
}

/**
 * Where the spikes of a launch are recorded: step << 32 | neuron, in regions of equal capacity, in
 * any order of neurons, and how many each region holds.
 */
struct Record {
  unsigned long long* spikes;
  unsigned* counts;
  unsigned capacity;
  static __device__ __forceinline__ unsigned long long spike(unsigned step, unsigned neuron) { return (unsigned long long)step << 32 | neuron; }
};

}  // namespace network
