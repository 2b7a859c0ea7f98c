// The named kernels of a reservoir, for use one at a time: matrix-vector products and leaky integration in portable arithmetic (docs/numerics.md, rules 1,
// 4, 5 and 6), for any size. A whole run is faster by reservoir_step or reservoir_grid, which fuse them.
#include "philox.cuh"

namespace {

/** Row r of A times x by a warp, in rule 1's order; every lane gets it. */
template <typename Real> __device__ __forceinline__ Real rowProduct(const Real* __restrict__ row, const Real* __restrict__ x, int columns) {
  Real sum = (Real)0;
#pragma unroll 4
  for (int k = threadIdx.x & 31; k < columns; k += 32) sum = portable::mulAdd(row[k], x[k], sum);
  return portable::butterfly32(sum);
}

/** y = alpha A x + beta y for A of rows x columns, row-major; a warp a row. With beta 0, y is never read. */
template <typename Real>
__device__ __forceinline__ void product(const Real* A, const Real* x, Real* y, Real alpha, Real beta, int rows, int columns) {
  const int warps = blockDim.x >> 5;
  for (int r = blockIdx.x * warps + (threadIdx.x >> 5); r < rows; r += gridDim.x * warps) {
    const Real scaled = portable::mul(alpha, rowProduct(A + (size_t)r * columns, x, columns));
    if ((threadIdx.x & 31) == 0) y[r] = beta == (Real)0 ? scaled : portable::add(scaled, portable::mul(beta, y[r]));
  }
}

/** next = (1 - leak) previous + leak tanh(input). */
template <typename Real> __device__ __forceinline__ void leaky(Real* next, const Real* previous, const Real* input, Real leak, int n) {
  const Real keep = portable::sub((Real)1, leak);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    next[i] = portable::leakyStep(keep, previous[i], leak, portable::tanh(input[i]));
}

/** next = (1 - leak) previous + leak tanh((input + recurrent) + noiseLevel (2U - 1)), U by rule 6 of neuron i at `step`. */
template <typename Real>
__device__ __forceinline__ void noisyLeaky(Real* next, const Real* previous, const Real* input, const Real* recurrent, Real leak,
                                           Real noiseLevel, unsigned key0, unsigned key1, unsigned step, unsigned sequence, int n) {
  const Real keep = portable::sub((Real)1, leak);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    Real z = portable::add(input[i], recurrent[i]);
    if (noiseLevel != (Real)0) z = portable::add(z, philox::noise(noiseLevel, key0, key1, step, (unsigned)i, sequence));
    next[i] = portable::leakyStep(keep, previous[i], leak, portable::tanh(z));
  }
}

/** y = A x of a square A, and squares[w] = the sum of y^2 over the rows of warp w of the grid, in rising order: a fixed order for a fixed grid. */
template <typename Real> __device__ __forceinline__ void powerStep(Real* y, double* squares, const Real* A, const Real* x, int n) {
  const int warps = blockDim.x >> 5, warp = blockIdx.x * warps + (threadIdx.x >> 5);
  double sum = 0;
  for (int r = warp; r < n; r += gridDim.x * warps) {
    const Real dot = rowProduct(A + (size_t)r * n, x, n);
    sum = portable::mulAdd((double)dot, (double)dot, sum);
    if ((threadIdx.x & 31) == 0) y[r] = dot;
  }
  if ((threadIdx.x & 31) == 0) squares[warp] = sum;
}

/** x = y / sqrt(sum of squares[0 .. count)), the sum in rising order; `norm` gets the root. */
template <typename Real> __device__ __forceinline__ void normalise(Real* x, const Real* y, const double* squares, int count, double* norm, int n) {
  __shared__ double root;
  if (threadIdx.x == 0) {
    double sum = 0;
    for (int i = 0; i < count; i++) sum = portable::add(sum, squares[i]);
    root = portable::root(sum);
    if (blockIdx.x == 0) *norm = root;
  }
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    x[i] = root > 0 ? (Real)portable::div((double)y[i], root) : (Real)0;
}

}  // namespace

#define FOR_REAL(SUFFIX, REAL)                                                                                                               \
  extern "C" __global__ void __launch_bounds__(256)                                                                                          \
      matvec_input##SUFFIX(const REAL* A, const REAL* x, REAL* y, REAL alpha, REAL beta, int rows, int columns) {                            \
    product<REAL>(A, x, y, alpha, beta, rows, columns);                                                                                      \
  }                                                                                                                                          \
  extern "C" __global__ void __launch_bounds__(256)                                                                                          \
      matvec_reservoir##SUFFIX(const REAL* A, const REAL* x, REAL* y, REAL alpha, REAL beta, int rows) {                                     \
    product<REAL>(A, x, y, alpha, beta, rows, rows);                                                                                         \
  }                                                                                                                                          \
  extern "C" __global__ void __launch_bounds__(256)                                                                                          \
      leaky_integration##SUFFIX(REAL* next, const REAL* previous, const REAL* input, REAL leak, int n) {                                     \
    leaky<REAL>(next, previous, input, leak, n);                                                                                             \
  }                                                                                                                                          \
  extern "C" __global__ void __launch_bounds__(256)                                                                                          \
      leaky_integration_noise##SUFFIX(REAL* next, const REAL* previous, const REAL* input, const REAL* recurrent, REAL leak,                 \
                                      REAL noiseLevel, unsigned key0, unsigned key1, unsigned step, unsigned sequence, int n) {              \
    noisyLeaky<REAL>(next, previous, input, recurrent, leak, noiseLevel, key0, key1, step, sequence, n);                                     \
  }                                                                                                                                          \
  extern "C" __global__ void __launch_bounds__(256)                                                                                          \
      power_iteration##SUFFIX(REAL* y, double* squares, const REAL* A, const REAL* x, int n) {                                               \
    powerStep<REAL>(y, squares, A, x, n);                                                                                                    \
  }                                                                                                                                          \
  extern "C" __global__ void __launch_bounds__(256)                                                                                          \
      power_normalise##SUFFIX(REAL* x, const REAL* y, const double* squares, int count, double* norm, int n) {                               \
    normalise<REAL>(x, y, squares, count, norm, n);                                                                                          \
  }
FOR_REAL(, float)
FOR_REAL(_f64, double)
