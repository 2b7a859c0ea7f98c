// target: sm_75
// z-scores of series that lie one behind the other in device memory, with the bits of
// src/model/standardisation.ts: sums over all rows of all series, one after the other.
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

/** (x - mean) / deviation of its column, rounded once. */
template <typename Real>
static __device__ __forceinline__ void scores(const Real* values, Wide count, unsigned cols, const double* mean, const double* deviation, Real* out) {
  const Wide stride = (Wide)gridDim.x * blockDim.x;
  for (Wide i = (Wide)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
    const unsigned c = (unsigned)(i % cols);
    put(out + i, portable::div(portable::sub((double)values[i], mean[c]), deviation[c]));
  }
}

}  // namespace standardisation

#define MOMENTS(NAME, REAL)                                                                                                         \
  extern "C" __global__ void __launch_bounds__(1024)                                                                                \
      standardisation_moments_##NAME(const REAL* values, unsigned long long rows, unsigned cols, double* mean, double* deviation) { \
    standardisation::moments(values, rows, cols, mean, deviation);                                                                  \
  }
#define SCORES(NAME, REAL)                                                                                                   \
  extern "C" __global__ void __launch_bounds__(1024) standardisation_scores_##NAME(                                          \
      const REAL* values, unsigned long long count, unsigned cols, const double* mean, const double* deviation, REAL* out) { \
    standardisation::scores(values, count, cols, mean, deviation, out);                                                      \
  }

MOMENTS(f32, float)
MOMENTS(f64, double)
SCORES(f32, float)
SCORES(f64, double)
