// target: sm_75
// Spikes in device memory to bins of time and neuron, T x C, with the bits of binSpikes: sums are
// of whole numbers, and do not depend on the order of the spikes. Encoders are not here.
#include "portable.cuh"

namespace encoding {

typedef unsigned long long Wide;

/** Amplitudes are added in units of 2^-24, and a sum must stay below 2^53 - 1 of them. */
constexpr double unitsOfOne = 16777216.0;
constexpr long long mostUnits = 9007199254740991ll;

struct Spikes {
  const double* times;
  const unsigned* neurons;
  Wide count;
  unsigned neuronCount;
  double duration;
};

/**
 * If there are few cells, there are several copies of them for blocks to take in turn: fewer spikes
 * wait for one cell.
 */
struct Bins {
  double width;
  unsigned bins, channels, copies;
  __device__ __forceinline__ Wide cells() const { return (Wide)bins * channels; }
  __device__ __forceinline__ Wide first() const { return copies == 1 ? 0 : blockIdx.x % copies * cells(); }
};

/** The cell of spike i. False for one outside the pattern; the first of these is reported. */
static __device__ __forceinline__ bool cellOf(const Spikes& spikes, const Bins& to, Wide i, Wide& cell, Wide* report) {
  const double t = spikes.times[i];
  const unsigned neuron = spikes.neurons[i];
  if (!(t >= 0.0 && t <= spikes.duration) || neuron >= spikes.neuronCount) {
    atomicMin(report, i);
    return false;
  }
  const double last = (double)(to.bins - 1);
  const double bin = to.width == 0.0 ? 0.0 : floor(portable::div(t, to.width));
  const unsigned column =
      to.channels == spikes.neuronCount ? neuron : (unsigned)floor(portable::div(portable::mul((double)neuron, (double)to.channels), (double)spikes.neuronCount));
  cell = (Wide)(bin < last ? bin : last) * to.channels + column;
  return true;
}

/**
 * One spike's amplitude in units. False if it is too large or not finite; the first such is
 * reported.
 */
static __device__ __forceinline__ bool unitsOf(float amplitude, Wide i, long long& whole, Wide* report) {
  const double units = floor(portable::add(portable::mul((double)amplitude, unitsOfOne), 0.5));
  if (!(fabs(units) < (double)mostUnits)) {
    atomicMin(report + 1, i);
    return false;
  }
  whole = (long long)units;
  return true;
}

/** Adds units to a sum that is high * 2^32 + low. */
static __device__ __forceinline__ void addUnits(long long whole, long long* high, Wide* low) {
  atomicAdd(low, (Wide)(whole & 0xffffffffll));
  if (whole >> 32 != 0) atomicAdd((Wide*)high, (Wide)(whole >> 32));
}

/**
 * Patterns one behind the other: spikes offsets[p] to offsets[p + 1] are those of pattern p, and
 * its bins begin at cell cells[p].
 */
struct Patterns {
  const double* times;
  const unsigned* neurons;
  const Wide* offsets;
  const double* durations;
  const double* widths;
  const Wide* cells;
  unsigned count, neuronCount, channels;
};

/**
 * Calls add(i, cell) for every spike i of every pattern; blocks of a column of the grid share a
 * pattern.
 */
template <typename Add> static __device__ __forceinline__ void forSpikes(const Patterns& all, Wide* report, Add add) {
  for (unsigned p = blockIdx.y; p < all.count; p += gridDim.y) {
    const Wide end = all.offsets[p + 1], first = all.cells[p];
    const Spikes spikes = {all.times, all.neurons, end, all.neuronCount, all.durations[p]};
    const Bins to = {all.widths[p], (unsigned)((all.cells[p + 1] - first) / all.channels), all.channels, 1};
    for (Wide i = all.offsets[p] + (Wide)blockIdx.x * blockDim.x + threadIdx.x; i < end; i += (Wide)gridDim.x * blockDim.x) {
      Wide cell;
      if (cellOf(spikes, to, i, cell, report)) add(i, first + cell);
    }
  }
}

/** The least i whose |values[i]| is not at most `limit`. */
template <typename Real> static __device__ __forceinline__ void firstAbove(const Real* values, Wide count, double limit, Wide* first) {
  const Wide stride = (Wide)gridDim.x * blockDim.x;
  for (Wide i = (Wide)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
    if (!(fabs((double)values[i]) <= limit)) atomicMin(first, i);
}

}  // namespace encoding

/**
 * counts[cell] += 1 for every spike. The least number of a spike outside the pattern goes to
 * report[0].
 */
extern "C" __global__ void __launch_bounds__(1024)
    spike_encoding_count(const double* times, const unsigned* neurons, unsigned long long spikeCount, unsigned neuronCount, double duration, double width,
                         unsigned bins, unsigned channels, unsigned copies, unsigned* counts, unsigned long long* report) {
  const encoding::Spikes spikes = {times, neurons, spikeCount, neuronCount, duration};
  const encoding::Bins to = {width, bins, channels, copies};
  const encoding::Wide first = to.first();
  const encoding::Wide stride = (encoding::Wide)gridDim.x * blockDim.x;
  for (encoding::Wide i = (encoding::Wide)blockIdx.x * blockDim.x + threadIdx.x; i < spikeCount; i += stride) {
    encoding::Wide cell;
    if (encoding::cellOf(spikes, to, i, cell, report)) atomicAdd(counts + first + cell, 1u);
  }
}

/**
 * Adds every spike's amplitude in units to the sum of its cell, which is high * 2^32 + low: each
 * part holds up to 2^31 spikes. The least number of a spike whose amplitude alone is too large, or
 * not finite, goes to report[1].
 */
extern "C" __global__ void __launch_bounds__(1024)
    spike_encoding_add(const double* times, const unsigned* neurons, const float* amplitudes, unsigned long long spikeCount, unsigned neuronCount,
                       double duration, double width, unsigned bins, unsigned channels, unsigned copies, long long* high,
                       unsigned long long* low, unsigned long long* report) {
  const encoding::Spikes spikes = {times, neurons, spikeCount, neuronCount, duration};
  const encoding::Bins to = {width, bins, channels, copies};
  const encoding::Wide first = to.first();
  const encoding::Wide stride = (encoding::Wide)gridDim.x * blockDim.x;
  for (encoding::Wide i = (encoding::Wide)blockIdx.x * blockDim.x + threadIdx.x; i < spikeCount; i += stride) {
    encoding::Wide cell;
    if (!encoding::cellOf(spikes, to, i, cell, report)) continue;
    long long whole;
    if (encoding::unitsOf(amplitudes[i], i, whole, report)) encoding::addUnits(whole, high + first + cell, low + first + cell);
  }
}

/** As spike_encoding_count, for patterns one behind the other. */
extern "C" __global__ void __launch_bounds__(1024)
    spike_encoding_count_each(const double* times, const unsigned* neurons, const unsigned long long* offsets, const double* durations,
                              const double* widths, const unsigned long long* cells, unsigned patterns, unsigned neuronCount,
                              unsigned channels, unsigned* counts, unsigned long long* report) {
  const encoding::Patterns all = {times, neurons, offsets, durations, widths, cells, patterns, neuronCount, channels};
  encoding::forSpikes(all, report, [=](encoding::Wide, encoding::Wide cell) { atomicAdd(counts + cell, 1u); });
}

/** As spike_encoding_add, for patterns one behind the other. */
extern "C" __global__ void __launch_bounds__(1024)
    spike_encoding_add_each(const double* times, const unsigned* neurons, const float* amplitudes, const unsigned long long* offsets,
                            const double* durations, const double* widths, const unsigned long long* cells, unsigned patterns,
                            unsigned neuronCount, unsigned channels, long long* high, unsigned long long* low, unsigned long long* report) {
  const encoding::Patterns all = {times, neurons, offsets, durations, widths, cells, patterns, neuronCount, channels};
  encoding::forSpikes(all, report, [=](encoding::Wide i, encoding::Wide cell) {
    long long whole;
    if (encoding::unitsOf(amplitudes[i], i, whole, report)) encoding::addUnits(whole, high + cell, low + cell);
  });
}

/**
 * The least i of `count` values whose magnitude is above `limit`, or that is NaN, goes to *first.
 */
extern "C" __global__ void __launch_bounds__(1024)
    spike_encoding_above_f32(const float* values, unsigned long long count, double limit, unsigned long long* first) {
  encoding::firstAbove(values, count, limit, first);
}
extern "C" __global__ void __launch_bounds__(1024)
    spike_encoding_above_f64(const double* values, unsigned long long count, double limit, unsigned long long* first) {
  encoding::firstAbove(values, count, limit, first);
}

/** Counts, all copies of a cell together, as binary32. One copy may lie where the cells do. */
extern "C" __global__ void __launch_bounds__(1024) spike_encoding_counts(const unsigned* counts, float* cells, unsigned long long count, unsigned copies) {
  const encoding::Wide stride = (encoding::Wide)gridDim.x * blockDim.x;
  for (encoding::Wide i = (encoding::Wide)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
    unsigned sum = 0;
#pragma unroll 8
    for (unsigned k = 0; k < copies; k++) sum += counts[k * count + i];
    cells[i] = __uint2float_rn(sum);
  }
}

/**
 * Sums of units, all copies of a cell together, as binary32. The least cell whose sum is too large
 * goes to report[2].
 */
extern "C" __global__ void __launch_bounds__(1024)
    spike_encoding_sums(const long long* high, const unsigned long long* low, float* cells, unsigned long long count, unsigned copies,
                        unsigned long long* report) {
  const encoding::Wide stride = (encoding::Wide)gridDim.x * blockDim.x;
  for (encoding::Wide i = (encoding::Wide)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
    long long top = 0;
    encoding::Wide rest = 0;
#pragma unroll 8
    for (unsigned k = 0; k < copies; k++) {
      top += high[k * count + i];
      rest += low[k * count + i];
    }
    top += (long long)(rest >> 32);
    const bool fits = top >= -(1ll << 21) && top < (1ll << 21);
    const long long sum = fits ? (long long)((encoding::Wide)top << 32 | (rest & 0xffffffffull)) : 0;
    if (!fits || sum >= encoding::mostUnits || sum <= -encoding::mostUnits) atomicMin(report + 2, i);
    cells[i] = __double2float_rn(portable::div((double)sum, encoding::unitsOfOne));
  }
}

namespace encoding {

/**
 * What the neurons of a liquid fired, from filtered states: x of a step is above what is left of the
 * step before. A first launch counts (times is null), a second writes where the counts say.
 */
template <typename Real>
static __device__ __forceinline__ void fired(const Real* states, const Wide* rows, unsigned count, unsigned size, Real keep, double step,
                                             Wide* cursors, double* times, unsigned* neurons) {
  const Wide all = rows[count] * size;
  for (Wide i = (Wide)blockIdx.x * blockDim.x + threadIdx.x; i < all; i += (Wide)gridDim.x * blockDim.x) {
    const Wide row = i / size;
    unsigned low = 0, high = count;
    while (high - low > 1) {
      const unsigned middle = (low + high) / 2;
      if (rows[middle] <= row) low = middle;
      else high = middle;
    }
    const Real before = row == rows[low] ? (Real)0 : states[i - size];
    if (states[i] == portable::mul(keep, before)) continue;
    const Wide at = atomicAdd(cursors + low, 1ull);
    if (times == nullptr) continue;
    times[at] = portable::mul((double)(row - rows[low] + 1), step);
    neurons[at] = (unsigned)(i % size);
  }
}

}  // namespace encoding

#define FIRED(Real) \
  const Real *states, const unsigned long long *rows, unsigned count, unsigned size, Real keep, double step, unsigned long long *cursors, double *times, unsigned *neurons
extern "C" __global__ void __launch_bounds__(1024) spike_encoding_fired_f32(FIRED(float)) {
  encoding::fired(states, rows, count, size, keep, step, cursors, times, neurons);
}
extern "C" __global__ void __launch_bounds__(1024) spike_encoding_fired_f64(FIRED(double)) {
  encoding::fired(states, rows, count, size, keep, step, cursors, times, neurons);
}
