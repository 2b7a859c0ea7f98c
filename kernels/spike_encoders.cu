// target: sm_75
// Series in device memory to spikes there: rate, latency, population, phase and delta coding, each
// spike with the time that the encoder of src/spikes/encoders gives it. Spikes of a pattern come in
// any order. A first launch counts them (times is null), a second writes them where the counts say.
// Binning is spike_encoding.cu.
#include "elementary.cuh"
#include "exponential.cuh"
#include "philox.cuh"

namespace encoders {

using portable::add;
using portable::div;
using portable::mul;
using portable::sub;

typedef unsigned long long Wide;

/**
 * Series one behind the other: rows rows[p] to rows[p + 1] are those of pattern p, `columns` values
 * each.
 */
template <typename Real> struct Series {
  const Real* values;
  const Wide* rows;
  unsigned count, columns;
};

/**
 * Where spikes go: cursors[p] is the index of the next one of pattern p, or how many there were so
 * far.
 */
struct Spikes {
  Wide* cursors;
  double* times;
  unsigned* neurons;
  /** The least number of a value that cannot be encoded. */
  Wide* bad;
  __device__ __forceinline__ void add(unsigned p, double time, unsigned neuron) const {
    const Wide at = atomicAdd(cursors + p, 1ull);
    if (times == nullptr) return;
    times[at] = time;
    neurons[at] = neuron;
  }
};

/** Draws of a stream by (row, index), as RandomStream has them. */
struct Draws {
  const unsigned* keys;
  unsigned stream;
  __device__ __forceinline__ double uniform(unsigned p, unsigned row, unsigned index, unsigned purpose) const {
    const uint4 w = philox::block(keys[2 * p], keys[2 * p + 1], index >> 1, row, stream, purpose);
    return index & 1 ? philox::uniform(w.z, w.w) : philox::uniform(w.x, w.y);
  }
};

static __device__ __forceinline__ Wide ownIndex() { return (Wide)blockIdx.x * blockDim.x + threadIdx.x; }
static __device__ __forceinline__ Wide stride() { return (Wide)gridDim.x * blockDim.x; }
static __device__ __forceinline__ double least(double a, double b) { return a < b ? a : b; }

/** Reports values outside 0 to 1 in the launch that counts. */
template <typename Real> static __device__ __forceinline__ void checkUnit(const Series<Real>& series, const Spikes& spikes, unsigned p) {
  if (spikes.times != nullptr) return;
  for (Wide i = series.rows[p] * series.columns + ownIndex(); i < series.rows[p + 1] * series.columns; i += stride()) {
    const double value = (double)series.values[i];
    if (!(value >= 0.0 && value <= 1.0)) atomicMin(spikes.bad, i);
  }
}

/** Spikes of a neuron beyond which a rate is too high for its duration. */
constexpr unsigned mostOfNeuron = 2147483647u;

struct Rate {
  double frame, lowest, highest;
  unsigned group, regular;
  Draws draws;
  /** The level after `level`; `made` levels came before. */
  __device__ __forceinline__ double next(unsigned p, unsigned neuron, double level, unsigned made) const {
    if (regular) return made == 0 ? div(portable::add((double)(neuron % group), 0.5), (double)group) : portable::add(level, 1.0);
    return sub(level, elementary::log(sub(1.0, draws.uniform(p, neuron, made, 0))));
  }
  template <typename Real> __device__ void encode(const Series<Real>& series, const Spikes& spikes, unsigned p) const {
    const Wide first = series.rows[p], rows = series.rows[p + 1] - first;
    const double duration = mul((double)rows, frame);
    checkUnit(series, spikes, p);
    for (Wide n = ownIndex(); n < (Wide)series.columns * group; n += stride()) {
      const unsigned neuron = (unsigned)n;
      const Real* values = series.values + first * series.columns + neuron / group;
      unsigned made = 0;
      double passed = 0.0, level = next(p, neuron, 0.0, made++);
      for (Wide row = 0; row < rows; row++) {
        const double value = (double)values[row * series.columns];
        if (!(value >= 0.0 && value <= 1.0)) break;
        const double rate = div(portable::add(lowest, mul(value, sub(highest, lowest))), 1000.0);
        const double end = portable::add(passed, mul(rate, frame));
        while (level < end && made < mostOfNeuron) {
          const double time = portable::add(mul((double)row, frame), div(sub(level, passed), rate));
          spikes.add(p, least(time, duration), neuron);
          level = next(p, neuron, level, made++);
        }
        passed = end;
      }
    }
  }
};

struct Latency {
  double frame, range, constant, full, delay, threshold;
  unsigned group, weakFirst, logarithmic;
  template <typename Real> __device__ void encode(const Series<Real>& series, const Spikes& spikes, unsigned p) const {
    const Wide first = series.rows[p] * series.columns, count = series.rows[p + 1] * series.columns - first;
    const double duration = mul((double)(series.rows[p + 1] - series.rows[p]), frame);
    checkUnit(series, spikes, p);
    for (Wide i = ownIndex(); i < count; i += stride()) {
      const double value = (double)series.values[first + i];
      if (!(value >= threshold && value <= 1.0)) continue;
      const double share = weakFirst ? value : sub(1.0, value);
      const double start = logarithmic ? mul(-constant, elementary::log(sub(1.0, mul(share, full)))) : mul(range, share);
      const double origin = mul((double)(i / series.columns), frame);
      for (unsigned j = 0; j < group; j++) {
        const double after = portable::add(start, mul((double)j, delay));
        if (after >= frame) break;
        spikes.add(p, least(portable::add(origin, after), duration), (unsigned)(i % series.columns) * group + j);
      }
    }
  }
};

struct Population {
  double frame, width, peak, threshold;
  unsigned group, byLatency;
  Draws draws;
  template <typename Real> __device__ void encode(const Series<Real>& series, const Spikes& spikes, unsigned p) const {
    const Wide first = series.rows[p] * series.columns, count = (series.rows[p + 1] * series.columns - first) * group;
    const double duration = mul((double)(series.rows[p + 1] - series.rows[p]), frame);
    checkUnit(series, spikes, p);
    for (Wide k = ownIndex(); k < count; k += stride()) {
      const Wide i = k / group;
      const unsigned j = (unsigned)(k % group), row = (unsigned)(i / series.columns);
      const unsigned neuron = (unsigned)(i % series.columns) * group + j;
      const double value = (double)series.values[first + i];
      if (!(value >= 0.0 && value <= 1.0)) continue;
      const double distance = div(sub((double)j, mul(value, (double)(group - 1))), width);
      const double response = elementary::expOfNegative(mul(mul(-0.5, distance), distance));
      if (byLatency ? response < threshold : draws.uniform(p, neuron, row, 0) >= mul(peak, response)) continue;
      const double share = byLatency ? sub(1.0, response) : draws.uniform(p, neuron, row, 1);
      spikes.add(p, least(mul(portable::add((double)row, share), frame), duration), neuron);
    }
  }
};

struct Phase {
  double frame, period, range, jitter;
  unsigned group;
  Draws draws;
  template <typename Real> __device__ void encode(const Series<Real>& series, const Spikes& spikes, unsigned p) const {
    const Wide first = series.rows[p], rows = series.rows[p + 1] - first;
    const double duration = mul((double)rows, frame);
    const unsigned neurons = series.columns * group;
    checkUnit(series, spikes, p);
    if (rows == 0) return;
    Wide cycles = (Wide)floor(div(duration, period));
    while (mul((double)cycles, period) < duration) cycles++;
    while (cycles > 0 && !(mul((double)(cycles - 1), period) < duration)) cycles--;
    for (Wide k = ownIndex(); k < cycles * neurons; k += stride()) {
      const unsigned cycle = (unsigned)(k / neurons), neuron = (unsigned)(k % neurons);
      const double begins = floor(div(mul((double)cycle, period), frame)), last = (double)(rows - 1);
      const Wide row = (Wide)(begins < last ? begins : last);
      const double value = (double)series.values[(first + row) * series.columns + neuron / group];
      const double shift = jitter > 0.0 ? mul(jitter, sub(mul(2.0, draws.uniform(p, neuron, cycle, 0)), 1.0)) : 0.0;
      const double time = portable::add(mul(portable::add((double)cycle, div(mul(value, range), 6.283185307179586)), period), shift);
      if (time >= 0.0 && time <= duration) spikes.add(p, time, neuron);
    }
  }
};

/** Spikes of a channel beyond which a threshold is too small for its signal. */
constexpr double mostLevels = 2147483648.0;

struct Delta {
  double step, threshold;
  /** The level that each channel starts from; null for its first value. */
  const double* start;
  template <typename Real> __device__ void encode(const Series<Real>& series, const Spikes& spikes, unsigned p) const {
    const Wide first = series.rows[p], rows = series.rows[p + 1] - first;
    if (rows == 0) return;
    const double duration = mul((double)(rows - 1), step);
    for (Wide c = ownIndex(); c < series.columns; c += stride()) {
      const Real* values = series.values + first * series.columns + c;
      double before = (double)values[0], level = 0.0, made = 0.0;
      const double origin = start == nullptr ? before : start[c];
      for (Wide row = 0; row < rows; row++) {
        const double value = (double)values[row * series.columns];
        if (!portable::finite(value)) {
          atomicMin(spikes.bad, (first + row) * series.columns + c);
          break;
        }
        for (int sign = 1; sign >= -1; sign -= 2) {
          for (;;) {
            const double next = portable::add(origin, mul(portable::add(level, (double)sign), threshold));
            if (!(sign > 0 ? value >= next : value <= next) || made >= mostLevels) break;
            double share = value == before ? 0.0 : div(sub(next, before), sub(value, before));
            share = share > 0.0 ? least(share, 1.0) : 0.0;
            const double time = row == 0 ? 0.0 : least(mul(portable::add((double)(row - 1), share), step), duration);
            spikes.add(p, time, 2 * (unsigned)c + (sign > 0 ? 0 : 1));
            level = portable::add(level, (double)sign);
            made = portable::add(made, 1.0);
          }
        }
        before = value;
      }
    }
  }
};

/** Blocks of a column of the grid share a pattern. */
template <typename Real, typename Code>
static __device__ __forceinline__ void forSeries(const Series<Real>& series, const Spikes& spikes, const Code& code) {
  for (unsigned p = blockIdx.y; p < series.count; p += gridDim.y) code.encode(series, spikes, p);
}

}  // namespace encoders

#define SERIES(Real) const Real *values, const unsigned long long *rows, unsigned count, unsigned columns
#define SPIKES unsigned long long *cursors, double *times, unsigned *neurons, unsigned long long *bad
#define ENCODE(Real, code)                                                         \
  const encoders::Series<Real> series = {values, rows, count, columns};            \
  const encoders::Spikes spikes = {cursors, times, neurons, bad};                  \
  encoders::forSeries(series, spikes, code)
#define KERNEL(name) extern "C" __global__ void __launch_bounds__(256) name

#define RATE double frame, double lowest, double highest, unsigned group, unsigned regular, const unsigned *keys, unsigned stream
#define RATE_CODE encoders::Rate{frame, lowest, highest, group, regular, {keys, stream}}
KERNEL(spike_encoders_rate_f32)(SERIES(float), RATE, SPIKES) { ENCODE(float, (RATE_CODE)); }
KERNEL(spike_encoders_rate_f64)(SERIES(double), RATE, SPIKES) { ENCODE(double, (RATE_CODE)); }

#define LATENCY double frame, double range, double constant, double full, double delay, double threshold, unsigned group, unsigned weakFirst, unsigned logarithmic
#define LATENCY_CODE encoders::Latency{frame, range, constant, full, delay, threshold, group, weakFirst, logarithmic}
KERNEL(spike_encoders_latency_f32)(SERIES(float), LATENCY, SPIKES) { ENCODE(float, (LATENCY_CODE)); }
KERNEL(spike_encoders_latency_f64)(SERIES(double), LATENCY, SPIKES) { ENCODE(double, (LATENCY_CODE)); }

#define POPULATION double frame, double width, double peak, double threshold, unsigned group, unsigned byLatency, const unsigned *keys, unsigned stream
#define POPULATION_CODE encoders::Population{frame, width, peak, threshold, group, byLatency, {keys, stream}}
KERNEL(spike_encoders_population_f32)(SERIES(float), POPULATION, SPIKES) { ENCODE(float, (POPULATION_CODE)); }
KERNEL(spike_encoders_population_f64)(SERIES(double), POPULATION, SPIKES) { ENCODE(double, (POPULATION_CODE)); }

#define PHASE double frame, double period, double range, double jitter, unsigned group, const unsigned *keys, unsigned stream
#define PHASE_CODE encoders::Phase{frame, period, range, jitter, group, {keys, stream}}
KERNEL(spike_encoders_phase_f32)(SERIES(float), PHASE, SPIKES) { ENCODE(float, (PHASE_CODE)); }
KERNEL(spike_encoders_phase_f64)(SERIES(double), PHASE, SPIKES) { ENCODE(double, (PHASE_CODE)); }

#define DELTA double step, double threshold, const double *start
#define DELTA_CODE encoders::Delta{step, threshold, start}
KERNEL(spike_encoders_delta_f32)(SERIES(float), DELTA, SPIKES) { ENCODE(float, (DELTA_CODE)); }
KERNEL(spike_encoders_delta_f64)(SERIES(double), DELTA, SPIKES) { ENCODE(double, (DELTA_CODE)); }
