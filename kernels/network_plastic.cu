// target: sm_75
// Networks of populations with plastic projections, docs/numerics.md rule 13: whole chunks of steps
// in one launch, two barriers a step. Before the first of them spikes arrive, depression and
// short-term plasticity included; behind it come potentiation by the targets' spikes, the neurons,
// and the traces of the next step. In each half a plastic synapse belongs to one thread. If every
// delay is dendritic or behind constant weights, and none is 0, nothing that arrives is for the
// step itself: both halves are one, without the first barrier.
#include "network_general.cuh"
#include "network_grid.cuh"
#include "power.cuh"

namespace network {

/** Whole numbers of a plastic projection, in the order in which the host writes them. */
enum PlasticWord {
  isTiming,
  sourceFirst,
  sourceCount,
  targetFirst,
  targetCount,
  /** The first cell of its targets. */
  cellFirst,
  isNegative,
  isBounded,
  /**
   * Whether delays lie behind the synapses: on the way to the targets, and of their spikes back.
   */
  isDendritic,
  /**
   * Delays on the way from sources to synapses, so many from the least on, and on that from targets
   * back; 0 alone if there are none. Of shortTerm 0, whatever they are.
   */
  arrivingLeast,
  arrivingCount,
  returningLeast,
  returningCount,
  /** Where its part of `runs`, of `incomingOffsets`, of `traces` and of `resources` begins. */
  runFirst,
  incomingFirst,
  sourceTraces,
  targetTraces,
  resourceFirst,
  /**
   * Warps that share the synapses of one delay of a source, and those of one delay onto a target.
   */
  outgoingSlices,
  incomingSlices,
  plasticWords
};

/** Its other numbers: of stdp all of the precision but the exponents. */
enum PlasticNumber { sourceKeep, targetKeep, potentiation, depression, perScale, leastWeight, mostWeight, potentiationExponent, depressionExponent, plasticNumbers };
/** Of shortTerm; no facilitation is a rate below 0. */
enum ShortTermNumber { release, recoveryRate, facilitationRate };

/** Plastic synapses, those of stdp first; weights and traces in the order of the projections. */
template <typename Real> struct Plastic {
  const unsigned* words;
  const double* numbers;
  int projections;
  /**
   * Synapses of source j with the d-th arriving delay: from runs[j * delays + d] on, to the next.
   * `units` are those of shortTerm, which begin at synapse `timed`.
   */
  const unsigned *runs, *destinations;
  const int* units;
  unsigned timed;
  /**
   * The same by target and returning delay: their numbers, sources, and how long the sources'
   * spikes take to them.
   */
  const unsigned *incomingOffsets, *incoming, *incomingSources;
  const unsigned short* incomingDelays;
  Real *weights, *traces;
  double* resources;
};

/** Spikes by time: how often each source fired, and a list of those that did. A row a time. */
struct History {
  unsigned *fired, *lists, *counts;
  unsigned rows, sources, now;
  __device__ __forceinline__ unsigned ago(unsigned steps) const { return now >= steps ? now - steps : now + rows - steps; }
  __device__ __forceinline__ unsigned next() const { return ago(rows - 1); }
  __device__ __forceinline__ unsigned times(unsigned row, unsigned source) const { return __ldcg(fired + (size_t)row * sources + source); }
  __device__ __forceinline__ void list(unsigned row, unsigned source) const { __stcg(lists + (size_t)row * sources + atomicAdd(counts + row, 1u), source); }
};

/** What a launch works with besides neurons and synapses. */
struct PlasticChunk {
  int* ring;
  unsigned rowMask, cellBits, firstStep, steps, slices;
  /** Whether the two halves of a step are one: a synapse that both change is then the first's. */
  bool isOneHalf;
  const unsigned *inputOffsets, *inputChannels;
  unsigned* arrived;
  Record record;
  unsigned long long* report;
  long long limit;
};

static __device__ __forceinline__ unsigned warpOfGrid() { return blockIdx.x + gridDim.x * (threadIdx.x >> 5); }
static __device__ __forceinline__ unsigned warpsOfGrid() { return gridDim.x * (blockDim.x >> 5); }
static __device__ __forceinline__ unsigned threadOfGrid() { return blockIdx.x * blockDim.x + threadIdx.x; }
static __device__ __forceinline__ unsigned threadsOfGrid() { return gridDim.x * blockDim.x; }

/** Adds the units of constant synapses. `from`: sources below it have been delivered already. */
static __device__ __forceinline__ void deliverConstant(const Table& table, const History& history, const PlasticChunk& chunk, size_t cells, unsigned row, unsigned from) {
  const unsigned lane = threadIdx.x & 31, mask = (1u << table.targetBits) - 1, slices = chunk.slices, count = __ldcg(history.counts + history.now) * slices;
  for (unsigned k = warpOfGrid(); k < count; k += warpsOfGrid()) {
    const unsigned source = __ldcg(history.lists + (size_t)history.now * history.sources + k / slices), slice = k % slices;
    if (source < from) continue;
    const unsigned end = table.offsets[source + 1];
    const int times = history.times(history.now, source);
    const int sign = table.wideUnits == nullptr && (table.negative[source >> 5] >> (source & 31) & 1u) ? -times : times;
    for (unsigned s = table.offsets[source] + slice * 32 + lane; s < end; s += slices * 32) {
      const unsigned destination = table.destinations[s], at = row + (destination >> table.targetBits) & chunk.rowMask;
      atomicAdd(chunk.ring + at * cells + (destination & mask), sign * (table.wideUnits == nullptr ? (int)table.units[s] : table.wideUnits[s]));
    }
  }
}

/** share^exponent, rounded once. */
static __device__ __forceinline__ float rounded(double value, float) { return __double2float_rn(value); }
static __device__ __forceinline__ double rounded(double value, double) { return value; }
template <typename Real> static __device__ __forceinline__ Real powerOf(Real share, double exponent) {
  return exponent == 0.0 ? (Real)1 : exponent == 1.0 ? share : rounded(elementary::power((double)share, exponent), (Real)0);
}
template <typename Real> static __device__ __forceinline__ Real between(Real least, Real most, Real value) {
  return value > most ? most : value < least ? least : value;
}

/**
 * Delays of spikes on their way to the synapses of a projection, and the neurons they come from.
 */
struct Way {
  unsigned least, delays, firstNeuron, neurons, slices;
  /** Synapses of a neuron with one delay. */
  const unsigned* runs;
};

/**
 * Deals the spikes that come to synapses at this time out to the warps, a slice of their synapses
 * each: `visit` gets the first synapse of the lane, the end, how often the neuron fired, and its
 * number of those that the way comes from.
 */
template <typename Visit> static __device__ __forceinline__ void forSpikes(const History& history, const Way& way, Visit visit) {
  const unsigned lane = threadIdx.x & 31, all = 0xffffffffu;
  // A lane looks up the spikes of one of 32 delays.
#pragma unroll 1
  for (unsigned first = 0; first < way.delays; first += 32) {
    const unsigned own = first + lane, ownRow = history.ago(way.least + (own < way.delays ? own : first));
    const unsigned ownCount = own < way.delays ? __ldcg(history.counts + ownRow) : 0;
    unsigned upTo = ownCount;
#pragma unroll
    for (int distance = 1; distance < 32; distance <<= 1) {
      const unsigned other = __shfl_up_sync(all, upTo, distance);
      if ((int)lane >= distance) upTo += other;
    }
    const unsigned total = __shfl_sync(all, upTo, 31) * way.slices;
#pragma unroll 1
    for (unsigned k = warpOfGrid(); k < total; k += warpsOfGrid()) {
      const unsigned spike = k / way.slices, slice = k % way.slices;
      const int which = __ffs(__ballot_sync(all, upTo > spike)) - 1;
      const unsigned row = __shfl_sync(all, ownRow, which), before = __shfl_sync(all, upTo - ownCount, which);
      const unsigned neuron = __ldcg(history.lists + (size_t)row * history.sources + (spike - before)), j = neuron - way.firstNeuron;
      if (j >= way.neurons) continue;
      const unsigned* const run = way.runs + j * way.delays + first + which;
      visit(run[0] + slice * 32 + lane, run[1], history.times(row, neuron), j);
    }
  }
}

/**
 * Spikes arrive at the synapses of a projection: depression by the targets' traces as they are at
 * the synapse, then the weights, which reach the targets after what is left of the delay.
 */
template <typename Real>
static __device__ __forceinline__ void arrive(const Plastic<Real>& plastic, const unsigned* words, const double* numbers, const History& history, const PlasticChunk& chunk,
                                              size_t cells, unsigned step) {
  const unsigned mask = (1u << chunk.cellBits) - 1, slices = words[outgoingSlices], targets = words[targetCount], firstCell = words[cellFirst];
  const bool dendritic = words[isDendritic], bounded = words[isBounded], negative = words[isNegative];
  const unsigned firstTarget = words[targetFirst];
  const Real least = (Real)numbers[leastWeight], most = (Real)numbers[mostWeight], scale = (Real)numbers[perScale];
  const Real down = (Real)numbers[depression], up = (Real)numbers[potentiation];
  const double downExponent = numbers[depressionExponent], upExponent = numbers[potentiationExponent];
  const Real* const traces = plastic.traces + words[targetTraces];
  const Real* const sources = plastic.traces + words[sourceTraces] + (size_t)history.now * words[sourceCount];
  const Way way = {words[arrivingLeast], words[arrivingCount], words[sourceFirst], words[sourceCount], slices, plastic.runs + words[runFirst]};
  forSpikes(history, way, [&](unsigned first, unsigned end, unsigned times, unsigned j) {
#pragma unroll 1
    for (unsigned s = first; s < end; s += slices * 32) {
      const unsigned destination = plastic.destinations[s], cell = destination & mask, ahead = dendritic ? destination >> chunk.cellBits : 0;
      Real weight = __ldcg(plastic.weights + s);
      const unsigned i = cell - firstCell;
      const Real y = __ldcg(traces + (size_t)history.ago(ahead) * targets + i);
      // The target's spike that comes back now is behind those that arrive.
      const unsigned rises = chunk.isOneHalf && history.times(history.ago(ahead), firstTarget + i) != 0 ? 1 : 0;
      int units = 0;
      for (unsigned n = times + rises; n > 0; n--) {
        const bool isRise = n <= rises;
        const Real share = mul(!bounded ? weight : isRise ? portable::sub(most, weight) : portable::sub(weight, least), scale);
        const Real change = mul(mul(isRise ? up : down, powerOf(share, isRise ? upExponent : downExponent)), isRise ? __ldcg(sources + j) : y);
        weight = between(least, most, isRise ? add(weight, change) : portable::sub(weight, change));
        if (!isRise) units += (int)floor(add((double)weight, 0.5));
      }
      __stcg(plastic.weights + s, weight);
      atomicAdd(chunk.ring + (step + ahead & chunk.rowMask) * cells + cell, negative ? -units : units);
    }
  });
}

/**
 * Spikes of the targets come to the synapses: potentiation by the traces of the sources as they are
 * there.
 */
template <typename Real>
static __device__ __forceinline__ void potentiate(const Plastic<Real>& plastic, const unsigned* words, const double* numbers, const History& history, const PlasticChunk& chunk) {
  const unsigned slices = words[incomingSlices], sources = words[sourceCount], firstSource = words[sourceFirst];
  const bool bounded = words[isBounded];
  const Real least = (Real)numbers[leastWeight], most = (Real)numbers[mostWeight], scale = (Real)numbers[perScale], rate = (Real)numbers[potentiation];
  const double exponent = numbers[potentiationExponent];
  const Real* const traces = plastic.traces + words[sourceTraces];
  const Way way = {words[returningLeast], words[returningCount], words[targetFirst], words[targetCount], slices, plastic.incomingOffsets + words[incomingFirst]};
  forSpikes(history, way, [&](unsigned first, unsigned end, unsigned, unsigned) {
#pragma unroll 1
    for (unsigned at = first; at < end; at += slices * 32) {
      const unsigned s = plastic.incoming[at], j = plastic.incomingSources[at];
      if (chunk.isOneHalf && history.times(history.now, firstSource + j) != 0) continue;
      const Real x = __ldcg(traces + (size_t)history.ago(plastic.incomingDelays[at]) * sources + j), weight = __ldcg(plastic.weights + s);
      const Real share = mul(bounded ? portable::sub(most, weight) : weight, scale);
      const Real change = mul(mul(rate, powerOf(share, exponent)), x);
      __stcg(plastic.weights + s, between(least, most, add(weight, change)));
    }
  });
}

/** Traces of the next time, from those of this one and its spikes. */
template <typename Real>
static __device__ __forceinline__ void decay(const Plastic<Real>& plastic, const unsigned* words, const double* numbers, const History& history) {
  const unsigned sources = words[sourceCount], targets = words[targetCount];
  for (unsigned k = threadOfGrid(); k < sources + targets; k += threadsOfGrid()) {
    const bool isSource = k < sources;
    const unsigned each = isSource ? sources : targets, own = isSource ? k : k - sources;
    Real times;
    convert((int)history.times(history.now, words[isSource ? sourceFirst : targetFirst] + own), times);
    Real* const traces = plastic.traces + words[isSource ? sourceTraces : targetTraces] + own;
    __stcg(traces + history.next() * each, mul((Real)numbers[isSource ? sourceKeep : targetKeep], add(__ldcg(traces + history.now * each), times)));
  }
}

/** Sources with short-term plasticity fire, a block each: the share u x of their weights. */
template <typename Real>
static __device__ __forceinline__ void releaseShares(const Plastic<Real>& plastic, const unsigned* words, const double* numbers, const History& history, const PlasticChunk& chunk,
                                                     size_t cells, unsigned step) {
  using elementary::expOfNegative;
  const unsigned count = __ldcg(history.counts + history.now), mask = (1u << chunk.cellBits) - 1;
#pragma unroll 1
  for (unsigned k = blockIdx.x; k < count; k += gridDim.x) {
    const unsigned source = __ldcg(history.lists + (size_t)history.now * history.sources + k), j = source - words[sourceFirst];
    if (j >= words[sourceCount]) continue;
    double* const resources = plastic.resources + words[resourceFirst] + j;
    double u = __ldcg(resources), x = __ldcg(resources + words[sourceCount]);
    double steps = portable::sub((double)step, __ldcg(resources + 2 * words[sourceCount]));
    __syncthreads();
    const unsigned* const run = plastic.runs + words[runFirst] + j;
    const unsigned first = run[0] + threadIdx.x, end = run[1];
#pragma unroll 1
    for (unsigned n = history.times(history.now, source); n > 0; n--) {
      const double kept = numbers[facilitationRate] < 0.0 ? 0.0 : mul(u, expOfNegative(-mul(steps, numbers[facilitationRate])));
      u = add(kept, mul(numbers[release], portable::sub(1.0, kept)));
      x = portable::sub(1.0, mul(portable::sub(1.0, x), expOfNegative(-mul(steps, numbers[recoveryRate]))));
      const double share = mul(u, x);
      x = portable::sub(x, share);
      steps = 0.0;
      for (unsigned s = first; s < end; s += blockDim.x) {
        const unsigned destination = plastic.destinations[s], at = step + (destination >> chunk.cellBits) & chunk.rowMask;
        atomicAdd(chunk.ring + at * cells + (destination & mask), (int)floor(add(mul((double)plastic.units[s - plastic.timed], share), 0.5)));
      }
    }
    if (threadIdx.x == 0) {
      __stcg(resources, u);
      __stcg(resources + words[sourceCount], x);
      __stcg(resources + 2 * words[sourceCount], (double)step);
    }
  }
}

/** Lists the spikes of inputs of step k of the launch in a row of the history. */
static __device__ __forceinline__ void listInputs(const PlasticChunk& chunk, const History& history, unsigned row, unsigned k, unsigned neurons) {
  if (chunk.inputOffsets == nullptr) return;
  for (unsigned s = chunk.inputOffsets[k] + threadOfGrid(); s < chunk.inputOffsets[k + 1]; s += threadsOfGrid()) {
    const unsigned source = neurons + chunk.inputChannels[s];
    if (atomicAdd(history.fired + (size_t)row * history.sources + source, 1u) == 0) history.list(row, source);
  }
}

template <typename Real>
static __device__ __forceinline__ void runPlastic(const Populations<Real>& all, const Table& table, const Plastic<Real>& plastic, History history, const PlasticChunk& chunk) {
  const size_t cells = (size_t)all.receptors * all.size;
  unsigned round = 0;
  if (chunk.inputOffsets != nullptr) {
    listInputs(chunk, history, history.now, 0, all.size);
    if (!barrier(chunk.arrived, ++round, chunk.report, chunk.firstStep, chunk.limit)) return;
  }
#pragma unroll 1
  for (unsigned k = 0; k < chunk.steps; k++) {
    const unsigned now = chunk.firstStep + k, next = history.next();
    int* const row = chunk.ring + (size_t)(now & chunk.rowMask) * cells;
    // The row of the next step is empty since the last one.
    const unsigned second = history.ago(history.rows - 2);
    if (threadOfGrid() == 0) __stcg(history.counts + second, 0u);
    for (unsigned j = threadOfGrid(); j < history.sources; j += threadsOfGrid()) __stcg(history.fired + (size_t)second * history.sources + j, 0u);
    // What neurons fired in the last step of the launch before is delivered by that launch.
    deliverConstant(table, history, chunk, cells, now, k == 0 ? all.size : 0);
#pragma unroll 1
    for (int p = 0; p < plastic.projections; p++) {
      const unsigned* const words = plastic.words + p * plasticWords;
      const double* const numbers = plastic.numbers + p * plasticNumbers;
      if (words[isTiming]) arrive(plastic, words, numbers, history, chunk, cells, now);
      else releaseShares(plastic, words, numbers, history, chunk, cells, now);
    }
    if (!chunk.isOneHalf && !barrier(chunk.arrived, ++round, chunk.report, now, chunk.limit)) return;
#pragma unroll 1
    for (int p = 0; p < plastic.projections; p++) {
      const unsigned* const words = plastic.words + p * plasticWords;
      const double* const numbers = plastic.numbers + p * plasticNumbers;
      if (!words[isTiming]) continue;
      potentiate(plastic, words, numbers, history, chunk);
      decay(plastic, words, numbers, history);
    }
    if (k + 1 < chunk.steps) listInputs(chunk, history, next, k + 1, all.size);
    for (int r = threadOfGrid(); r < all.size; r += threadsOfGrid()) {
      bool bad;
      const bool fires = advance(all, row, now, r, bad);
      if (bad) reportBad(chunk.report, k, r);
      if (!fires) continue;
      history.list(next, r);
      __stcg(history.fired + (size_t)next * history.sources + r, 1u);
      if (chunk.record.spikes != nullptr) chunk.record.spikes[atomicAdd(chunk.record.counts, 1u)] = Record::spike(k, r);
    }
    if (!barrier(chunk.arrived, ++round, chunk.report, now, chunk.limit)) return;
    history.now = next;
  }
  deliverConstant(table, history, chunk, cells, chunk.firstStep + chunk.steps, 0);
}

}  // namespace network

#define NETWORK_PLASTIC(name, Real)                                                                                                                            \
  extern "C" __global__ void __launch_bounds__(512, 1)                                                                                                         \
      name(const int* whole, const Real* number, const unsigned* thresholds, const unsigned* population, const Real* drive, Real* state, int* held,            \
           int size, int receptors, Real unit, unsigned key0, unsigned key1, unsigned stream, const unsigned* offsets, const unsigned* destinations,           \
           const unsigned short* units, const unsigned* negative, const int* wideUnits, int targetBits, int* ring, unsigned rows, unsigned firstStep,          \
           unsigned steps, unsigned slices, const unsigned* inputOffsets, const unsigned* inputChannels, const unsigned* plasticWords,                         \
           const double* plasticNumbers, int projections, const unsigned* runs, const unsigned* plasticDestinations, const int* plasticUnits,                  \
           unsigned timed, const unsigned* incomingOffsets, const unsigned* incoming, const unsigned* incomingSources,                                         \
           const unsigned short* incomingDelays, Real* weights, Real* traces, double* resources, unsigned* fired, unsigned* lists, unsigned* counts,           \
           unsigned historyRows, unsigned now, unsigned sources, unsigned isOneHalf, unsigned* arrived, unsigned long long* spikes, unsigned* spikeCounts,     \
           unsigned spikeCapacity, unsigned long long* report, long long spinLimit) {                                                                          \
    const network::Populations<Real> all = {whole, number, thresholds, population, drive, state, held, size, receptors, unit, key0, key1, stream};             \
    const network::Table table = {offsets, destinations, units, negative, wideUnits, targetBits};                                                              \
    const network::Plastic<Real> plastic = {plasticWords, plasticNumbers, projections, runs, plasticDestinations, plasticUnits, timed, incomingOffsets,        \
                                            incoming, incomingSources, incomingDelays, weights, traces, resources};                                            \
    const network::PlasticChunk chunk = {ring, rows - 1, (unsigned)targetBits, firstStep, steps, slices, isOneHalf != 0, inputOffsets, inputChannels, arrived, \
                                         {spikes, spikeCounts, spikeCapacity}, report, spinLimit};                                                             \
    network::runPlastic<Real>(all, table, plastic, {fired, lists, counts, historyRows, sources, now}, chunk);                                                  \
  }

NETWORK_PLASTIC(network_plastic_f32, float)
NETWORK_PLASTIC(network_plastic_f64, double)
