// The named kernels of a reservoir: a step is matvec_input (rule 3 of docs/numerics.md),
// matvec_reservoir (rules 1 and 2) and leaky_integration (rules 3 to 6), for any size. The plan
// "named" runs them, own programs may too, and matvec_input serves every plan. Not here: kernels
// that fuse them.
// target: sm_75 sm_90
#include "chunk.cuh"
#include "philox.cuh"

namespace {

const int inputSteps = 16, inputTile = 32;

/**
 * out[t, r] = ((bias[r] + W[0, r] u[t, 0]) + W[1, r] u[t, 1]) + ...; without a bias it starts at
 * +0. W is input by input. A thread makes 16 steps of a neuron.
 */
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
 * Launches may overlap (compute capability 9.0 on): a kernel lets the next one begin at once, and
 * waits for the one before it to end before it reads what that wrote, or writes anything. Weights,
 * leak rates and the drive, which no step writes, may be loaded before.
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

/** Elements that a lane loads before it adds the first: 64 bytes, which one wait serves. */
template <typename Real> struct Ahead { static const int count = 64 / sizeof(Real); };

/**
 * Row of A times x by a warp, in rule 1's order; every lane gets it. Beyond the last column 0 is
 * added to a sum that is never -0. The first weights are loaded before the kernel before has ended.
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

/** The product of a row as it is. */
struct AsItIs {
  template <typename Real> __device__ __forceinline__ Real operator()(Real dot) const { return dot; }
};

/** A row's share of A (x / |x|); 0 for an x of zeros. */
template <typename Real> struct OverLength {
  Real length;
  __device__ __forceinline__ Real operator()(Real dot) const { return length > (Real)0 ? portable::div(dot, length) : (Real)0; }
};

/**
 * y = A x for A of rows x columns, row-major; a warp a row. `store` makes what is stored of a row's
 * product.
 */
template <typename Real, typename Store>
__device__ __forceinline__ void denseProduct(const Real* A, const Real* x, Real* y, int rows, int columns, Store store) {
  const int warps = blockDim.x >> 5;
  letNextBegin();
  for (int r = blockIdx.x * warps + (threadIdx.x >> 5); r < rows; r += gridDim.x * warps) {
    const Real dot = rowProduct(A + (size_t)r * columns, x, columns);
    if ((threadIdx.x & 31) == 0) y[r] = store(dot);
  }
}

/**
 * y = A x for A in CSR form, by rule 2: eight lanes a row, each one of its eight partial sums.
 * `store` as above.
 */
template <typename Real, typename Store>
__device__ __forceinline__ void sparseProduct(const Real* __restrict__ values, const unsigned* __restrict__ columns,
                                              const unsigned* __restrict__ offsets, const Real* x, Real* y, int rows, Store store) {
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
    if (lane == 0 && r < rows) y[r] = store(sum);
  }
}

/**
 * next = (1 - leak) x + leak f(((drive + recurrent) + feedback) + noise), by rules 3 to 6.
 * `recurrent` and `feedback` may be null: nothing is added. With a chunk, drive and feedback are
 * rows of its matrices, which are there before the kernel before this one begins; next also goes to
 * a row of its states, and `step` counts from its step.
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

/**
 * |x| for every thread of a block of 256: partial sum t adds the squares of x[t], x[t + 256], ...; then rule 1's butterfly over each 32 neighbouring
 * partial sums, and the eight sums from +0 in rising order.
 */
template <typename Real> __device__ __forceinline__ Real lengthOf(const Real* x, int n) {
  __shared__ Real sums[8];
  const int ahead = 8;
  Real sum = (Real)0;
  for (int k = threadIdx.x; k < n; k += 256 * ahead) {
    Real value[ahead];
#pragma unroll
    for (int i = 0; i < ahead; i++) value[i] = k + 256 * i < n ? x[k + 256 * i] : (Real)0;
#pragma unroll
    for (int i = 0; i < ahead; i++) sum = portable::mulAdd(value[i], value[i], sum);
  }
  sum = portable::butterfly32(sum);
  if ((threadIdx.x & 31) == 0) sums[threadIdx.x >> 5] = sum;
  __syncthreads();
  Real total = (Real)0;
#pragma unroll
  for (int w = 0; w < 8; w++) total = portable::add(total, sums[w]);
  return portable::root(total);
}

/**
 * The length of x, which every block computes for itself and the first one stores. Nothing is read
 * before the kernel before has ended.
 */
template <typename Real> __device__ __forceinline__ OverLength<Real> overLength(const Real* x, Real* norm, int n) {
  awaitBefore();
  const Real length = lengthOf(x, n);
  if (blockIdx.x == 0 && threadIdx.x == 0) *norm = length;
  return {length};
}

}  // namespace

#define FOR_REAL(SUFFIX, REAL)                                                                                                               \
  extern "C" __global__ void __launch_bounds__(128)                                                                                          \
      matvec_input##SUFFIX(const REAL* W, const REAL* bias, const REAL* inputs, REAL* out, int N, int I, int steps) {                        \
    inputProduct<REAL>(W, bias, inputs, out, N, I, steps);                                                                                   \
  }                                                                                                                                          \
  extern "C" __global__ void __launch_bounds__(256)                                                                                          \
      matvec_reservoir##SUFFIX(const REAL* W, const REAL* x, REAL* y, int rows, int columns) {                                               \
    denseProduct<REAL>(W, x, y, rows, columns, AsItIs());                                                                                    \
  }                                                                                                                                          \
  extern "C" __global__ void __launch_bounds__(256)                                                                                          \
      matvec_reservoir_csr##SUFFIX(const REAL* values, const unsigned* columns, const unsigned* offsets, const REAL* x, REAL* y,             \
                                   int rows) {                                                                                               \
    sparseProduct<REAL>(values, columns, offsets, x, y, rows, AsItIs());                                                                     \
  }                                                                                                                                          \
  extern "C" __global__ void __launch_bounds__(256)                                                                                          \
      leaky_integration##SUFFIX(REAL* next, const REAL* x, const REAL* drive, const REAL* recurrent, const REAL* feedback,                   \
                                const REAL* leak, int n, int activation, REAL noiseLevel, unsigned key0, unsigned key1, unsigned step,       \
                                unsigned sequence, const Chunk* chunk) {                                                                     \
    integrate<REAL>(next, x, drive, recurrent, feedback, leak, n, activation, noiseLevel, key0, key1, step, sequence, chunk);                \
  }                                                                                                                                          \
  /* y = A (x / |x|), and |x|: an iteration. Blocks of 256 threads. */                                                                       \
  extern "C" __global__ void __launch_bounds__(256)                                                                                          \
      power_iteration##SUFFIX(const REAL* A, const REAL* x, REAL* y, REAL* norm, int n) {                                                    \
    denseProduct<REAL>(A, x, y, n, n, overLength(x, norm, n));                                                                               \
  }                                                                                                                                          \
  extern "C" __global__ void __launch_bounds__(256)                                                                                          \
      power_iteration_csr##SUFFIX(const REAL* values, const unsigned* columns, const unsigned* offsets, const REAL* x, REAL* y,              \
                                  REAL* norm, int n) {                                                                                       \
    sparseProduct<REAL>(values, columns, offsets, x, y, n, overLength(x, norm, n));                                                          \
  }
FOR_REAL(, float)
FOR_REAL(_f64, double)
