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
 * Its numbers of the precision. Behind them, of each receptor: keep, gain, what it conducts, and
 * gain, feed and what it conducts of its rise, 0 if it has none.
 */
enum Number {
  keep,
  threshold,
  reset,
  recoveryKeep,
  recoveryStep,
  stateKeep,
  halfStep,
  onset,
  slope,
  perSlope,
  adaptationGain,
  peakShare,
  resetCurrent,
  stepLoss,
  numbers
};
enum ReceptorNumber { receptorKeep, receptorGain, conducts, riseGain, riseFeed, riseConducts, receptorNumbers };

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

/** log of short-log.ts for normal x > 0, rounded to the precision. */
static __device__ __forceinline__ double logarithm(double x) {
  const long long bits = __double_as_longlong(x);
  double k = (double)((int)(bits >> 52) - 1023);
  double m = __longlong_as_double((bits & 0xfffffffffffffll) | 0x3ff0000000000000ll);
  if (m >= 1.4142135623730951) {
    m = mul(m, 0.5);
    k = add(k, 1.0);
  }
  const double s = portable::div(portable::sub(m, 1.0), add(m, 1.0)), z = mul(s, s);
  double t = 0.11986958661776294;
  t = add(mul(t, z), 0.1167508918799567);
  t = add(mul(t, z), 0.13336302629322297);
  t = add(mul(t, z), 0.15384557303099175);
  t = add(mul(t, z), 0.1818181886307375);
  t = add(mul(t, z), 0.22222222217605445);
  t = add(mul(t, z), 0.2857142857144477);
  t = add(mul(t, z), 0.3999999999999998);
  const double cubic = mul(mul(s, z), add(0.6666666666666666, mul(z, t)));
  return add(mul(k, 0.6931471805599453), add(add(s, s), cubic));
}
static __device__ __forceinline__ float logarithm(float x) { return __double2float_rn(logarithm((double)x)); }

/** The potential that goes from v towards `goal`, of which `share` is left. */
template <typename Real> static __device__ __forceinline__ Real relaxed(Real v, Real goal, Real share) {
  return add(goal, mul(portable::sub(v, goal), share));
}

/**
 * A step of an adaptive exponential neuron: half of one towards where it is drawn, one of the
 * exponential alone, and half again. Gives the potential, and what is `left` of the step behind a
 * spike; less than 0 without one.
 */
template <typename Real>
static __device__ __forceinline__ Real exponentialStep(const Real* number, Real before, Real sum, Real conductance, Real& left) {
  const Real goal = portable::div(sum, conductance), peak = number[threshold];
  const Real half = exponential(-mul(mul((Real)0.5, number[keep]), conductance));
  const Real start = relaxed(before, goal, half);
  const Real height = mul(portable::sub(start < peak ? start : peak, number[onset]), number[perSlope]);
  const Real rise = exponential(height), share = mul(number[keep], rise);
  const Real toPeak = portable::sub((Real)1, mul(rise, number[peakShare]));
  Real end = peak;
  if (toPeak > share) {
    const Real swung = portable::sub(start, mul(number[slope], logarithm(portable::sub((Real)1, share))));
    end = relaxed(swung, goal, half);
  }
  left = -1;
  if (end < peak) return end;
  left = toPeak > share ? (Real)0 : portable::sub((Real)1, portable::div(toPeak > 0 ? toPeak : (Real)0, share));
  const Real force = portable::sub(add(portable::sub(sum, number[recoveryStep]), number[resetCurrent]), mul(conductance, number[reset]));
  return add(number[reset], mul(mul(left, number[keep]), force));
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
    if (receptor[conducts] != 0) conductance = add(conductance, mul(receptor[conducts], now));
    if (isAlpha) {
      Real* const rise = current + all.receptors * n;
      const Real spiked = add(*rise, input);
      if (receptor[riseConducts] != 0) conductance = add(conductance, mul(receptor[riseConducts], spiked));
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
  Real after = sum, limit = number[threshold], next = recovery, left = -1;
  if (type == adaptiveExponential) {
    const Real w = add(mul(number[recoveryKeep], recovery), mul(number[adaptationGain], before));
    after = isFree ? exponentialStep(number, before, portable::sub(sum, w), conductance, left) : before;
    next = add(mul(number[recoveryKeep], w), mul(number[adaptationGain], after));
  } else if (type == izhikevich) {
    const Real middle = add(before, mul(number[halfStep], slopeOf(before, recovery, sum)));
    after = add(middle, mul(number[halfStep], slopeOf(middle, recovery, sum)));
    next = add(recovery, mul(number[keep], portable::sub(mul(number[recoveryKeep], after), recovery)));
  } else {
    if (whole[relaxes] != 0) after = relaxed(before, portable::div(sum, conductance), exponential(-mul(number[keep], conductance)));
    if (!isFree) after = before;
    if (type == adaptive) limit = add(limit, recovery);
  }
  bad = !portable::finite(after) || !portable::finite(next);
  const bool isExponential = type == adaptiveExponential, fires = isExponential ? !(left < 0) : isFree && after >= limit;
  all.state[r] = !fires || isExponential ? after : whole[subtracts] != 0 ? portable::sub(after, number[reset]) : number[reset];
  all.held[r] = fires ? whole[refractorySteps] : isFree ? 0 : held - 1;
  if (type != leaky) {
    if (type == adaptive) next = mul(number[recoveryKeep], recovery);
    const Real rise = isExponential ? portable::sub(number[recoveryStep], mul(left, number[stepLoss])) : number[recoveryStep];
    all.state[n + r] = fires ? add(next, rise) : next;
  }
  if (whole[hasState] != 0) {
    const Real kept = mul(number[stateKeep], all.state[2 * n + r]);
    all.state[2 * n + r] = fires ? add(kept, (Real)1) : kept;
  }
  return fires;
}

}  // namespace network
