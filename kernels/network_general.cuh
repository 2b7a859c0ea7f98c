// Neurons of networks of every kind, each population with its own: several receptors, conductances,
// adaptation, filtered spikes. docs/numerics.md, rule 13.
#pragma once
#include "exponential.cuh"
#include "network_neurons.cuh"

namespace network {

enum NeuronType { leaky, adaptive, izhikevich, adaptiveExponential };

/** Whole numbers of a population, in the order in which the host writes them. */
enum Whole {
  neuronType,
  relaxes,
  subtracts,
  refractorySteps,
  hasState,
  receptorCount,
  backgroundReceptor,
  backgroundUnits,
  thresholdFirst,
  thresholdCount,
  wholes
};

/**
 * Its numbers of the precision. Behind them, of each receptor: keep, gain, whether it conducts, and
 * gain and feed of its rise, 0 if it has none.
 */
enum Number { keep, threshold, reset, recoveryKeep, recoveryStep, stateKeep, halfStep, onset, slope, perSlope, adaptationGain, numbers };
enum ReceptorNumber { receptorKeep, receptorGain, conducts, riseGain, riseFeed, receptorNumbers };

/** What neurons are and carry. Lists of N values stand one after the other. */
template <typename Real> struct Populations {
  const int* whole;
  const Real* number;
  /** Of background spikes. */
  const unsigned* thresholds;
  /** Of each neuron. */
  const unsigned* population;
  /** What the constant current adds. */
  const Real* drive;
  /** potential, recovery, filtered spikes, the current of each receptor, and the rise of each if there are any. */
  Real* state;
  int* held;
  int size, receptors;
  Real unit;
  unsigned key0, key1, stream;
};

/** exp in binary64, rounded once. The arguments are at most 80, where it holds as well as below 0. */
static __device__ __forceinline__ float exponential(float x) { return __double2float_rn(elementary::expOfNegative((double)x)); }
static __device__ __forceinline__ double exponential(double x) { return elementary::expOfNegative(x); }

/** ((((0.04 v) v + 5 v) + 140) - u) + current. */
template <typename Real> static __device__ __forceinline__ Real slopeOf(Real v, Real u, Real current) {
  const Real curve = add(add(mul(mul((Real)0.04, v), v), mul((Real)5, v)), (Real)140);
  return add(portable::sub(curve, u), current);
}

/**
 * The potential after a step that goes towards where currents and conductances draw it.
 */
template <typename Real>
static __device__ __forceinline__ Real relaxed(const Real* number, bool isExponential, Real before, Real recovery, Real sum, Real conductance) {
  if (isExponential) {
    const Real below = before < number[threshold] ? before : number[threshold];
    const Real height = mul(portable::sub(below, number[onset]), number[perSlope]);
    sum = add(portable::sub(sum, recovery), mul(number[slope], exponential(height)));
  }
  const Real goal = portable::div(sum, conductance);
  return add(goal, mul(portable::sub(before, goal), exponential(-mul(number[keep], conductance))));
}

/**
 * A step of neuron r with what arrives in `row`, which is emptied. Says whether the neuron fires;
 * `bad`, whether its potential is not finite.
 */
template <typename Real>
static __device__ __forceinline__ bool advance(const Populations<Real>& all, int* row, unsigned step, int r, bool& bad) {
  const size_t n = all.size;
  const unsigned population = all.population[r];
  const int* const whole = all.whole + population * wholes;
  const Real* const number = all.number + population * (numbers + receptorNumbers * all.receptors);
  const int type = whole[neuronType];
  int background = 0;
  if (whole[backgroundReceptor] >= 0) {
    const unsigned word = philox::word(philox::block(all.key0, all.key1, step, (unsigned)r >> 2, all.stream, 0), r & 3);
    background = whole[backgroundUnits] * spikesOf(all.thresholds + whole[thresholdFirst], whole[thresholdCount], word);
  }
  const Real before = all.state[r], recovery = all.state[n + r];
  const bool isSum = type == izhikevich || whole[relaxes] != 0;
  Real sum = isSum ? (Real)0 : mul(number[keep], before), conductance = 1;
#pragma unroll 1
  for (int c = 0; c < whole[receptorCount]; c++) {
    int* const cell = row + c * n + r;
    int units = __ldcg(cell);
    if (units != 0) __stcg(cell, 0);
    if (c == whole[backgroundReceptor]) units += background;
    Real arrived;
    convert(units, arrived);
    Real* const current = all.state + (3 + c) * n + r;
    const Real* const receptor = number + numbers + receptorNumbers * c;
    const bool isAlpha = receptor[riseFeed] != 0;
    const Real input = mul(arrived, all.unit), now = isAlpha ? *current : add(*current, input);
    Real added = mul(receptor[receptorGain], now), then = now;
    if (receptor[conducts] != 0) conductance = add(conductance, now);
    if (isAlpha) {
      Real* const rise = current + all.receptors * n;
      const Real spiked = add(*rise, input);
      added = add(added, mul(receptor[riseGain], spiked));
      then = add(now, mul(receptor[riseFeed], spiked));
      *rise = mul(receptor[receptorKeep], spiked);
    }
    sum = isSum && c == 0 ? added : add(sum, added);
    *current = mul(receptor[receptorKeep], then);
  }
  sum = add(sum, all.drive[r]);
  const int held = all.held[r];
  const bool isFree = held == 0;
  Real after = sum, limit = number[threshold], next = recovery;
  if (type == izhikevich) {
    const Real middle = add(before, mul(number[halfStep], slopeOf(before, recovery, sum)));
    after = add(middle, mul(number[halfStep], slopeOf(middle, recovery, sum)));
    next = add(recovery, mul(number[keep], portable::sub(mul(number[recoveryKeep], after), recovery)));
  } else {
    if (whole[relaxes] != 0) after = relaxed(number, type == adaptiveExponential, before, recovery, sum, conductance);
    if (!isFree) after = before;
    if (type == adaptive) limit = add(limit, recovery);
  }
  bad = !portable::finite(after) || !portable::finite(next);
  const bool fires = isFree && after >= limit;
  all.state[r] = !fires ? after : whole[subtracts] != 0 ? portable::sub(after, number[reset]) : number[reset];
  all.held[r] = fires ? whole[refractorySteps] : isFree ? 0 : held - 1;
  if (type != leaky) {
    if (type != izhikevich) next = mul(number[recoveryKeep], recovery);
    if (type == adaptiveExponential) next = add(next, mul(number[adaptationGain], before));
    all.state[n + r] = fires ? add(next, number[recoveryStep]) : next;
  }
  if (whole[hasState] != 0) {
    const Real kept = mul(number[stateKeep], all.state[2 * n + r]);
    all.state[2 * n + r] = fires ? add(kept, (Real)1) : kept;
  }
  return fires;
}

}  // namespace network
