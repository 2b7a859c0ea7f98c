// One step of a rate reservoir a launch, in portable arithmetic (docs/numerics.md, rules 1 to 6 and
// 10): the streamed plan, whose weights come from memory each step. Readouts and packing stand here
// too. Not here: the input drive (neuromorphic_gemv), and loops that stay on the chip
// (reservoir_cluster, reservoir_grid, reservoir_sparse).
#include "streamed_step.cuh"

using namespace packing;
using namespace streamed;

namespace {

const int readoutTile = 2048;

/**
 * Rule 10, one block an output: y = dot(weights, features) + intercept in binary64, the products
 * made by all threads and added by one warp in order. Feature k is the state (odd ones squared with
 * squareHalf), then the input, then the squares. y goes to `out` and, if that is not null, to
 * `also`.
 */
template <typename Real>
__device__ __forceinline__ void readout(const double* __restrict__ weights, const double* __restrict__ intercept, const Real* __restrict__ x,
                                        const Real* __restrict__ u, int N, int inputs, int squareHalf, int F, Real* out, Real* also) {
  __shared__ double products[readoutTile];
  const double* w = weights + (size_t)blockIdx.x * F;
  double sum = 0;
  for (int k0 = 0; k0 < F; k0 += readoutTile) {
    const int count = min(readoutTile, F - k0);
    for (int e = threadIdx.x; e < count; e += blockDim.x) {
      const int k = k0 + e;
      double feature;
      if (k < N) {
        feature = (double)x[k];
        if (squareHalf && (k & 1)) feature = portable::mul(feature, feature);
      } else if (k < N + inputs) {
        feature = (double)u[k - N];
      } else {
        feature = (double)x[k - N - inputs];
        feature = portable::mul(feature, feature);
      }
      products[e] = portable::mul(w[k], feature);
    }
    __syncthreads();
    if (threadIdx.x < 32)
      for (int e = threadIdx.x; e < count; e += 32) sum = portable::add(sum, products[e]);
    __syncthreads();
  }
  if (threadIdx.x >= 32) return;
  sum = portable::butterfly32(sum);
  if (threadIdx.x > 0) return;
  const Real y = (Real)portable::add(sum, intercept[blockIdx.x]);
  out[blockIdx.x] = y;
  if (also) also[blockIdx.x] = y;
}

/** The least index of a value that is not finite, by atomicMin; `first` starts at 2^64 - 1. */
template <typename Real> __device__ __forceinline__ void firstNonFinite(const Real* values, unsigned long long count, unsigned long long* first) {
  const unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;
  for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
    if (!portable::finite(values[i])) {
      atomicMin(first, i);
      return;
    }
}

/**
 * Rows of W as they come, to packed rows of `stride` columns. Weights packed to bfloat16 must be
 * such numbers.
 */
template <typename Real, typename Weight>
__device__ __forceinline__ void packRows(const Real* __restrict__ source, Weight* __restrict__ target, int rows, int N, int stride) {
  const int V = Lanes<Real, Weight>::V;
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= stride) return;
  const int position = positionOf(c, V);
  for (int r = blockIdx.y; r < rows; r += gridDim.y)
    target[(size_t)r * stride + position] = c < N ? rounded(source[(size_t)r * N + c], (Weight)0) : (Weight)0;
}

/** x in its position for a dense product with V columns a lane (0: as it is), zeros behind it. */
template <typename Real> __device__ __forceinline__ void packState(const Real* __restrict__ x, Real* __restrict__ packed, int N, int stride, int V) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c < stride) packed[positionOf(c, V)] = c < N ? x[c] : (Real)0;
}

template <typename Real> __device__ __forceinline__ void unpackState(const Real* __restrict__ packed, Real* __restrict__ x, int N, int V) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c < N) x[c] = packed[positionOf(c, V)];
}

}  // namespace

#define DENSE_STEP(NAME, REAL, WEIGHT, ROWS, BATCH)                                                                                          \
  extern "C" __global__ void __launch_bounds__(128, 4)                                                                                       \
      NAME(const WEIGHT* W, const REAL* xIn, REAL* xOut, const Chunk* chunk, const REAL* leak, const REAL* keep, int N, int stride,          \
           int activation, REAL noiseLevel, unsigned key0, unsigned key1, int t, int from, const unsigned long long* others, int count) {     \
    denseStep<REAL, WEIGHT, ROWS, BATCH>(W, xIn, xOut, chunk, leak, keep, N, stride, activation, noiseLevel, key0, key1, t, from,            \
                                         Others{others, count});                                                                             \
  }
DENSE_STEP(dense_step_f32, float, float, 1, 8)
DENSE_STEP(dense_step_f64, double, double, 1, 8)
DENSE_STEP(dense_step_f32_bf16, float, bfloat16, 4, 2)
DENSE_STEP(dense_step_f64_bf16, double, bfloat16, 2, 2)

#define SPARSE_STEP(NAME, REAL, WEIGHT, COLUMN, V, STAGED)                                                                                   \
  extern "C" __global__ void __launch_bounds__(1024)                                                                                         \
      NAME(const WEIGHT* values, const COLUMN* columns, const unsigned* offsets, const int* rows, int slices, const REAL* xIn, REAL* xOut,   \
           const Chunk* chunk, const REAL* leak, const REAL* keep, int N, int activation, REAL noiseLevel, unsigned key0, unsigned key1,     \
           int t, const unsigned long long* others, int count) {                                                                             \
    sparseStep<REAL, WEIGHT, COLUMN, V, STAGED>(values, columns, offsets, rows, slices, xIn, xOut, chunk, leak, keep, N, activation,         \
                                                noiseLevel, key0, key1, t, Others{others, count});                                           \
  }
#define SPARSE_STEPS(NAME, REAL, WEIGHT)                                                                                                     \
  SPARSE_STEP(sparse_step_##NAME##_u16_staged, REAL, WEIGHT, unsigned short, 4, true)                                                        \
  SPARSE_STEP(sparse_step_##NAME##_u16_long, REAL, WEIGHT, unsigned short, 4, false)                                                         \
  SPARSE_STEP(sparse_step_##NAME##_u16_short, REAL, WEIGHT, unsigned short, 1, false)                                                        \
  SPARSE_STEP(sparse_step_##NAME##_u32_long, REAL, WEIGHT, unsigned, 4, false)                                                               \
  SPARSE_STEP(sparse_step_##NAME##_u32_short, REAL, WEIGHT, unsigned, 1, false)
SPARSE_STEPS(f32, float, float)
SPARSE_STEPS(f64, double, double)
SPARSE_STEPS(f32_bf16, float, bfloat16)
SPARSE_STEPS(f64_bf16, double, bfloat16)

#define PACK_ROWS(NAME, REAL, WEIGHT)                                                                                                        \
  extern "C" __global__ void __launch_bounds__(256) NAME(const REAL* source, WEIGHT* target, int rows, int N, int stride) {                  \
    packRows<REAL, WEIGHT>(source, target, rows, N, stride);                                                                                 \
  }
PACK_ROWS(pack_rows_f32, float, float)
PACK_ROWS(pack_rows_f64, double, double)
PACK_ROWS(pack_rows_f32_bf16, float, bfloat16)
PACK_ROWS(pack_rows_f64_bf16, double, bfloat16)

#define FOR_REAL(SUFFIX, REAL)                                                                                                               \
  extern "C" __global__ void __launch_bounds__(256)                                                                                          \
      readout_##SUFFIX(const double* weights, const double* intercept, const REAL* x, const REAL* u, int N, int inputs, int squareHalf,      \
                       int F, REAL* out, REAL* also) {                                                                                       \
    readout<REAL>(weights, intercept, x, u, N, inputs, squareHalf, F, out, also);                                                            \
  }                                                                                                                                          \
  extern "C" __global__ void __launch_bounds__(256)                                                                                          \
      first_non_finite_##SUFFIX(const REAL* values, unsigned long long count, unsigned long long* first) {                                   \
    firstNonFinite<REAL>(values, count, first);                                                                                              \
  }                                                                                                                                          \
  extern "C" __global__ void __launch_bounds__(256) pack_state_##SUFFIX(const REAL* x, REAL* packed, int N, int stride, int V) {             \
    packState<REAL>(x, packed, N, stride, V);                                                                                                \
  }                                                                                                                                          \
  extern "C" __global__ void __launch_bounds__(256) unpack_state_##SUFFIX(const REAL* packed, REAL* x, int N, int V) {                       \
    unpackState<REAL>(packed, x, N, V);                                                                                                      \
  }
FOR_REAL(f32, float)
FOR_REAL(f64, double)

/** Says where the next steps read and write; null if there is no such matrix. */
extern "C" __global__ void set_chunk(Chunk* chunk, const void* drive, const void* feedback, void* states, unsigned step, unsigned sequence) {
  chunk->drive = (unsigned long long)drive;
  chunk->feedback = (unsigned long long)feedback;
  chunk->states = (unsigned long long)states;
  chunk->row = 0;
  chunk->step = step;
  chunk->sequence = sequence;
}

/** Advances the chunk's position: the next launch of the same graph makes the next steps. */
extern "C" __global__ void advance_chunk(Chunk* chunk, unsigned steps) {
  chunk->row += steps;
  chunk->step += steps;
}
