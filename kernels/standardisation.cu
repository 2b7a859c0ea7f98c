// target: sm_75
// z-scores of series that lie one behind the other in device memory, with the bits of
// src/series/standardisation.ts: sums over all rows of all series, one after the other.
#include "portable.cuh"

namespace standardisation {

typedef unsigned long long Wide;

/** A thread a column: its mean and deviation over all rows; 1 if the deviation counts as 0. */
template <typename Real> static __device__ __forceinline__ void moments(const Real* values, Wide rows, unsigned cols, double* mean, double* deviation) {
  const unsigned c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols) return;
  const Real first = values[c];
  bool changes = false;
  double sum = 0.0, squares = 0.0;
#pragma unroll 8
  for (Wide t = 0; t < rows; t++) {
    const Real value = values[t * cols + c];
    changes |= value != first;
    sum = portable::add(sum, (double)value);
  }
  const double middle = portable::div(sum, (double)rows);
  if (changes) {
#pragma unroll 8
    for (Wide t = 0; t < rows; t++) {
      const double difference = portable::sub((double)values[t * cols + c], middle);
      squares = portable::add(squares, portable::mul(difference, difference));
    }
  }
  const double spread = portable::root(portable::div(squares, (double)rows));
  const double rounding = portable::mul(portable::mul((double)rows, 0x1p-53), fabs(middle));
  const bool counts = changes && portable::finite(spread) && spread > rounding;
  mean[c] = !changes ? (double)first : portable::finite(middle) ? middle : 0.0;
  deviation[c] = counts ? spread : 1.0;
}

static __device__ __forceinline__ void put(float* out, double value) { *out = __double2float_rn(value); }
static __device__ __forceinline__ void put(double* out, double value) { *out = value; }

static __device__ __forceinline__ double score(double value, double mean, double deviation) {
  return portable::div(portable::sub(value, mean), deviation);
}

/** (x - mean) / deviation of its column, rounded once. */
template <typename Real, typename Out>
static __device__ __forceinline__ void scores(const Real* values, Wide count, unsigned cols, const double* mean, const double* deviation, Out* out) {
  const Wide stride = (Wide)gridDim.x * blockDim.x;
  for (Wide i = (Wide)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
    const unsigned c = (unsigned)(i % cols);
    put(out + i, score((double)values[i], mean[c], deviation[c]));
  }
}

/** A block or more a series, whose rows are starts[b] to starts[b + 1]: z(t) - z(t-1), first 0. */
template <typename Real>
static __device__ __forceinline__ void differences(const Real* values, const Wide* starts, unsigned cols, const double* mean, const double* deviation, double* out) {
  const Wide first = starts[blockIdx.x] * cols, end = starts[blockIdx.x + 1] * cols;
  const Wide stride = (Wide)gridDim.y * blockDim.x;
  for (Wide i = first + (Wide)blockIdx.y * blockDim.x + threadIdx.x; i < end; i += stride) {
    const unsigned c = (unsigned)(i % cols);
    const double now = score((double)values[i], mean[c], deviation[c]);
    out[i] = i < first + cols ? 0.0 : portable::sub(now, score((double)values[i - cols], mean[c], deviation[c]));
  }
}

/** The same series, each from its last row to its first. */
template <typename Real> static __device__ __forceinline__ void reversed(const Real* values, const Wide* starts, unsigned cols, Real* out) {
  const Wide first = starts[blockIdx.x], rows = starts[blockIdx.x + 1] - first;
  const Wide stride = (Wide)gridDim.y * blockDim.x;
  for (Wide i = (Wide)blockIdx.y * blockDim.x + threadIdx.x; i < rows * cols; i += stride)
    out[first * cols + i] = values[(first + rows - 1 - i / cols) * cols + i % cols];
}

}  // namespace standardisation

#define MOMENTS(NAME, REAL)                                                                                                         \
  extern "C" __global__ void __launch_bounds__(1024)                                                                                \
      standardisation_moments_##NAME(const REAL* values, unsigned long long rows, unsigned cols, double* mean, double* deviation) { \
    standardisation::moments(values, rows, cols, mean, deviation);                                                                  \
  }
#define SCORES(NAME, REAL, OUT)                                                                                             \
  extern "C" __global__ void __launch_bounds__(1024) standardisation_scores_##NAME(                                         \
      const REAL* values, unsigned long long count, unsigned cols, const double* mean, const double* deviation, OUT* out) { \
    standardisation::scores(values, count, cols, mean, deviation, out);                                                     \
  }
#define SERIES(NAME, REAL)                                                                                                            \
  extern "C" __global__ void __launch_bounds__(1024) standardisation_differences_##NAME(                                              \
      const REAL* values, const unsigned long long* starts, unsigned cols, const double* mean, const double* deviation, double* out) { \
    standardisation::differences(values, starts, cols, mean, deviation, out);                                                         \
  }                                                                                                                                   \
  extern "C" __global__ void __launch_bounds__(1024)                                                                                  \
      standardisation_reversed_##NAME(const REAL* values, const unsigned long long* starts, unsigned cols, REAL* out) {               \
    standardisation::reversed(values, starts, cols, out);                                                                             \
  }

MOMENTS(f32, float)
MOMENTS(f64, double)
SCORES(f32, float, float)
SCORES(f64, double, double)
SCORES(f64_f32, double, float)
SERIES(f32, float)
SERIES(f64, double)
