// The named kernels of a reservoir: a step is matvec_input (rule 3 of docs/numerics.md), matvec_reservoir (rules 1 and 2) and leaky_integration (rules 3 to
// 6), for any size. The plan "named" runs them, own programs may too, and matvec_input serves every plan. Not here: kernels that fuse them.
// target: sm_75 sm_90
#include "chunk.cuh"
#include "philox.cuh"

namespace {

const int inputSteps = 16, inputTile = 32;

/** out[t, r] = ((bias[r] + W[0, r] u[t, 0]) + W[1, r] u[t, 1]) + ...; without a bias it starts at +0. W is input by input. A thread makes 16 steps of a neuron. */
template <typename Real>
__device__ __forceinline__ void inputProduct(const Real* __restrict__ W, const Real* __restrict__ bias, const Real* __restrict__ inputs,
                                             Real* __restrict__ out, int N, int I, int steps) {
  __shared__ Real u[inputTile][inputSteps];
  const int r = blockIdx.x * blockDim.x + threadIdx.x, t0 = blockIdx.y * inputSteps;
  Real sum[inputSteps];
  const Real start = bias && r < N ? bias[r] : (Real)0;
#pragma unroll
  for (int t = 0; t < inputSteps; t++) sum[t] = start;
  for (int i0 = 0; i0 < I; i0 += inputTile) {
    const int count = min(inputTile, I - i0);
    for (int e = threadIdx.x; e < inputSteps * inputTile; e += blockDim.x) {
      const int i = e % inputTile, t = e / inputTile;
      if (i < count) u[i][t] = t0 + t < steps ? inputs[(size_t)(t0 + t) * I + i0 + i] : (Real)0;
    }
    __syncthreads();
    if (r < N)
      for (int i = 0; i < count; i++) {
        const Real w = W[(size_t)(i0 + i) * N + r];
#pragma unroll
        for (int t = 0; t < inputSteps; t++) sum[t] = portable::mulAdd(w, u[i][t], sum[t]);
      }
    __syncthreads();
  }
  if (r >= N) return;
#pragma unroll
  for (int t = 0; t < inputSteps; t++)
    if (t0 + t < steps) out[(size_t)(t0 + t) * N + r] = sum[t];
}

/**
 * Launches may overlap (compute capability 9.0 on): a kernel lets the next one begin at once, and waits for the one before it to end before it reads
 * what that wrote, or writes anything. Weights, leak rates and the drive, which no step writes, may be loaded before.
 */
__device__ __forceinline__ void letNextBegin() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}
__device__ __forceinline__ void awaitBefore() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/** Elements that a lane loads before it adds the first: 64 bytes, so that one wait serves them all. */
template <typename Real> struct Ahead { static const int count = 64 / sizeof(Real); };

/**
 * Row of A times x by a warp, in rule 1's order; every lane gets it. Beyond the last column 0 is added to a sum that is never -0. The first weights are
 * loaded before the kernel before has ended.
 */
template <typename Real> __device__ __forceinline__ Real rowProduct(const Real* __restrict__ row, const Real* x, int columns) {
  const int ahead = Ahead<Real>::count;
  Real sum = (Real)0;
  for (int k = threadIdx.x & 31, first = k; k < columns; k += 32 * ahead) {
    Real w[ahead], value[ahead];
#pragma unroll
    for (int i = 0; i < ahead; i++) w[i] = k + 32 * i < columns ? __ldcs(row + k + 32 * i) : (Real)0;
    if (k == first) awaitBefore();
#pragma unroll
    for (int i = 0; i < ahead; i++) value[i] = k + 32 * i < columns ? x[k + 32 * i] : (Real)0;
#pragma unroll
    for (int i = 0; i < ahead; i++) sum = portable::mulAdd(w[i], value[i], sum);
  }
  return portable::butterfly32(sum);
}

/** y = A x for A of rows x columns, row-major; a warp a row. */
template <typename Real> __device__ __forceinline__ void denseProduct(const Real* A, const Real* x, Real* y, int rows, int columns) {
  const int warps = blockDim.x >> 5;
  letNextBegin();
  for (int r = blockIdx.x * warps + (threadIdx.x >> 5); r < rows; r += gridDim.x * warps) {
    const Real dot = rowProduct(A + (size_t)r * columns, x, columns);
    if ((threadIdx.x & 31) == 0) y[r] = dot;
  }
}

/** y = A x for A in CSR form, by rule 2: eight lanes a row, each one of its eight partial sums. */
template <typename Real>
__device__ __forceinline__ void sparseProduct(const Real* __restrict__ values, const unsigned* __restrict__ columns,
                                              const unsigned* __restrict__ offsets, const Real* x, Real* y, int rows) {
  const int ahead = 8, lane = threadIdx.x & 7, groups = blockDim.x >> 3;
  letNextBegin();
  awaitBefore();
  // The four rows of a warp go on together: the butterfly takes all of its lanes.
  for (int r0 = (blockIdx.x * groups + (threadIdx.x >> 3)) & ~3; r0 < rows; r0 += gridDim.x * groups) {
    const int r = r0 + ((threadIdx.x >> 3) & 3);
    const unsigned end = r < rows ? offsets[r + 1] : 0;
    Real sum = (Real)0;
    for (unsigned m = (r < rows ? offsets[r] : 0) + lane; m < end; m += 8 * ahead) {
      Real w[ahead], value[ahead];
#pragma unroll
      for (int i = 0; i < ahead; i++) {
        const unsigned at = m + 8 * i;
        w[i] = at < end ? __ldcs(values + at) : (Real)0;
        value[i] = at < end ? x[__ldcs(columns + at)] : (Real)0;
      }
#pragma unroll
      for (int i = 0; i < ahead; i++) sum = portable::mulAdd(w[i], value[i], sum);
    }
    sum = portable::butterfly8(sum);
    if (lane == 0 && r < rows) y[r] = sum;
  }
}

/**
 * next = (1 - leak) x + leak f(((drive + recurrent) + feedback) + noise), by rules 3 to 6. `recurrent` and `feedback` may be null: nothing is added. With a
 * chunk, drive and feedback are rows of its matrices, which are there before the kernel before this one begins; next also goes to a row of its states,
 * and `step` counts from its step.
 */
template <typename Real>
__device__ __forceinline__ void integrate(Real* next, const Real* x, const Real* drive, const Real* recurrent, const Real* feedback, const Real* leak,
                                          int n, int activation, Real noiseLevel, unsigned key0, unsigned key1, unsigned step, unsigned sequence,
                                          const Chunk* chunk) {
  Real* states = nullptr;
  letNextBegin();
  if (chunk) {
    const size_t row = (size_t)(chunk->row + step) * n;
    drive = (const Real*)chunk->drive + row;
    feedback = chunk->feedback ? (const Real*)chunk->feedback + row : nullptr;
    states = chunk->states ? (Real*)chunk->states + row : nullptr;
    step += chunk->step;
    sequence = chunk->sequence;
  } else {
    awaitBefore();
  }
  for (int i = blockIdx.x * blockDim.x + threadIdx.x, first = i; i < n; i += gridDim.x * blockDim.x) {
    Real z = drive[i];
    const Real a = leak[i], fedBack = feedback ? feedback[i] : (Real)0;
    if (i == first) awaitBefore();
    if (recurrent) z = portable::add(z, recurrent[i]);
    if (feedback) z = portable::add(z, fedBack);
    if (noiseLevel != (Real)0) z = portable::add(z, philox::noise(noiseLevel, key0, key1, step, (unsigned)i, sequence));
    const Real y = portable::leakyStep(portable::sub((Real)1, a), x[i], a, portable::activate(activation, z));
    next[i] = y;
    if (states) states[i] = y;
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
  extern "C" __global__ void __launch_bounds__(128)                                                                                          \
      matvec_input##SUFFIX(const REAL* W, const REAL* bias, const REAL* inputs, REAL* out, int N, int I, int steps) {                        \
    inputProduct<REAL>(W, bias, inputs, out, N, I, steps);                                                                                   \
  }                                                                                                                                          \
  extern "C" __global__ void __launch_bounds__(256)                                                                                          \
      matvec_reservoir##SUFFIX(const REAL* W, const REAL* x, REAL* y, int rows, int columns) {                                               \
    denseProduct<REAL>(W, x, y, rows, columns);                                                                                              \
  }                                                                                                                                          \
  extern "C" __global__ void __launch_bounds__(256)                                                                                          \
      matvec_reservoir_csr##SUFFIX(const REAL* values, const unsigned* columns, const unsigned* offsets, const REAL* x, REAL* y,             \
                                   int rows) {                                                                                               \
    sparseProduct<REAL>(values, columns, offsets, x, y, rows);                                                                               \
  }                                                                                                                                          \
  extern "C" __global__ void __launch_bounds__(256)                                                                                          \
      leaky_integration##SUFFIX(REAL* next, const REAL* x, const REAL* drive, const REAL* recurrent, const REAL* feedback,                   \
                                const REAL* leak, int n, int activation, REAL noiseLevel, unsigned key0, unsigned key1, unsigned step,       \
                                unsigned sequence, const Chunk* chunk) {                                                                     \
    integrate<REAL>(next, x, drive, recurrent, feedback, leak, n, activation, noiseLevel, key0, key1, step, sequence, chunk);                \
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
