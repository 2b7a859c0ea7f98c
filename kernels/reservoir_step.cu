// One step of a rate reservoir a launch, in portable arithmetic (docs/numerics.md, rules 1 to 6 and 10): the streamed plan, whose weights come from
// memory each step. The input drive of many steps, readouts and packing stand here too. Not here: loops that stay on the device (reservoir_run).
#include "packing.cuh"
#include "philox.cuh"

using namespace packing;

namespace {

/** What changes from chunk to chunk, in device memory, so that a graph of steps needs no change. */
struct Chunk {
  /** Addresses of steps x N matrices; 0 where there is none. */
  unsigned long long drive, feedback, states;
  /** Row of the matrices that step 0 of the graph stands at, and its noise counter. */
  unsigned row, step, sequence, unused;
};

__device__ __forceinline__ void loadWeights(const float* p, float (&w)[4]) {
  const float4 v = __ldcs((const float4*)p);
  w[0] = v.x; w[1] = v.y; w[2] = v.z; w[3] = v.w;
}
__device__ __forceinline__ void loadWeights(const double* p, double (&w)[2]) {
  const double2 v = __ldcs((const double2*)p);
  w[0] = v.x; w[1] = v.y;
}
template <typename Real> __device__ __forceinline__ void loadWeights(const bfloat16* p, Real (&w)[8]) {
  const uint4 v = __ldcs((const uint4*)p);
  const unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
  for (int i = 0; i < 4; i++) {
    w[2 * i] = (Real)__uint_as_float(words[i] << 16);
    w[2 * i + 1] = (Real)__uint_as_float(words[i] & 0xffff0000u);
  }
}
template <int V> __device__ __forceinline__ void loadState(const float* p, float (&x)[V]) {
#pragma unroll
  for (int i = 0; i < V; i += 4) {
    const float4 v = *(const float4*)(p + i);
    x[i] = v.x; x[i + 1] = v.y; x[i + 2] = v.z; x[i + 3] = v.w;
  }
}
template <int V> __device__ __forceinline__ void loadState(const double* p, double (&x)[V]) {
#pragma unroll
  for (int i = 0; i < V; i += 2) {
    const double2 v = *(const double2*)(p + i);
    x[i] = v.x; x[i + 1] = v.y;
  }
}

/** Everything of one neuron but its dot product, loaded before the product so that the two wait together. */
template <typename Real> struct Neuron {
  Real drive, feedback, leak, keep, x;
  bool fedBack;
  Real* state;
  unsigned step, sequence;

  __device__ __forceinline__ void load(const Chunk* chunk, int t, int r, int N, const Real* leaks, const Real* keeps, Real before) {
    const size_t at = (size_t)(chunk->row + t) * N + r;
    drive = ((const Real*)chunk->drive)[at];
    fedBack = chunk->feedback != 0;
    feedback = fedBack ? ((const Real*)chunk->feedback)[at] : (Real)0;
    leak = leaks[r];
    keep = keeps[r];
    x = before;
    state = chunk->states ? (Real*)chunk->states + at : nullptr;
    step = chunk->step + t;
    sequence = chunk->sequence;
  }

  __device__ __forceinline__ Real next(Real dot, int r, int activation, Real noiseLevel, unsigned key0, unsigned key1) const {
    Real z = portable::add(drive, dot);
    if (fedBack) z = portable::add(z, feedback);
    if (noiseLevel != (Real)0) z = portable::add(z, philox::noise(noiseLevel, key0, key1, step, (unsigned)r, sequence));
    const Real y = portable::leakyStep(keep, x, leak, portable::activate(activation, z));
    if (state) *state = y;
    return y;
  }
};

/** Dense: a warp makes ROWS rows, a lane one of the 32 partial sums of each; BATCH tiles of weights are loaded before they are used. */
template <typename Real, typename Weight, int ROWS, int BATCH>
__device__ __forceinline__ void denseStep(const Weight* __restrict__ W, const Real* __restrict__ xIn, Real* __restrict__ xOut,
                                          const Chunk* __restrict__ chunk, const Real* __restrict__ leak, const Real* __restrict__ keep, int N,
                                          int stride, int activation, Real noiseLevel, unsigned key0, unsigned key1, int t) {
  const int V = Lanes<Real, Weight>::V;
  const int lane = threadIdx.x & 31;
  const int first = (blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5)) * ROWS;
  if (first >= N) return;
  const int mine = first + lane;
  const bool owner = lane < ROWS && mine < N;
  Neuron<Real> neuron;
  if (owner) neuron.load(chunk, t, mine, N, leak, keep, xIn[placeOf(mine, V)]);
  const Weight* w[ROWS];
  Real sum[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    w[r] = W + (size_t)min(first + r, N - 1) * stride + lane * V;
    sum[r] = (Real)0;
  }
  const Real* x = xIn + lane * V;
  int left = stride / (32 * V);
  for (; left >= BATCH; left -= BATCH) {
    Real weights[ROWS][BATCH][V];
#pragma unroll
    for (int b = 0; b < BATCH; b++)
#pragma unroll
      for (int r = 0; r < ROWS; r++) loadWeights(w[r] + b * 32 * V, weights[r][b]);
#pragma unroll
    for (int b = 0; b < BATCH; b++) {
      Real values[V];
      loadState<V>(x + b * 32 * V, values);
#pragma unroll
      for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int j = 0; j < V; j++) sum[r] = portable::mulAdd(weights[r][b][j], values[j], sum[r]);
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) w[r] += BATCH * 32 * V;
    x += BATCH * 32 * V;
  }
  for (; left > 0; left--) {
    Real values[V];
    loadState<V>(x, values);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      Real weights[V];
      loadWeights(w[r], weights);
#pragma unroll
      for (int j = 0; j < V; j++) sum[r] = portable::mulAdd(weights[j], values[j], sum[r]);
      w[r] += 32 * V;
    }
    x += 32 * V;
  }
  Real dot = (Real)0;
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    const Real total = portable::butterfly32(sum[r]);
    if (lane == r) dot = total;
  }
  if (owner) xOut[placeOf(mine, V)] = neuron.next(dot, mine, activation, noiseLevel, key0, key1);
}

/** V weights and V columns of a lane's next entries. */
template <int V, typename T> struct alignas(sizeof(T) * V > 16 ? 16 : sizeof(T) * V) Entries { T at[V]; };

__device__ __forceinline__ float realOf(float w, float) { return w; }
__device__ __forceinline__ double realOf(double w, double) { return w; }
__device__ __forceinline__ float realOf(bfloat16 w, float) { return __uint_as_float((unsigned)w << 16); }
__device__ __forceinline__ double realOf(bfloat16 w, double) { return (double)__uint_as_float((unsigned)w << 16); }

/**
 * Sparse: a warp makes the four rows of a slice, eight lanes a row, each one of its eight partial sums. Entries of a slice stand load by load, lane
 * by lane, V to a lane; rows are padded with zero weights to the longest of the slice.
 */
template <typename Real, typename Weight, typename Column, int V>
__device__ __forceinline__ void sparseSlice(int slice, const Weight* __restrict__ values, const Column* __restrict__ columns,
                                            const unsigned* __restrict__ offsets, const int* __restrict__ rows, const Real* x,
                                            const Real* __restrict__ xIn, Real* __restrict__ xOut, const Chunk* __restrict__ chunk,
                                            const Real* __restrict__ leak, const Real* __restrict__ keep, int N, int activation,
                                            Real noiseLevel, unsigned key0, unsigned key1, int t) {
  const int lane = threadIdx.x & 31;
  const int r = rows[slice * 4 + (lane >> 3)];
  const bool owner = (lane & 7) == 0 && r >= 0;
  Neuron<Real> neuron;
  if (owner) neuron.load(chunk, t, r, N, leak, keep, xIn[r]);
  const unsigned begin = offsets[slice], end = offsets[slice + 1];
  const Entries<V, Weight>* w = (const Entries<V, Weight>*)values + (size_t)begin * 32 + lane;
  const Entries<V, Column>* c = (const Entries<V, Column>*)columns + (size_t)begin * 32 + lane;
  Real sum = (Real)0;
#pragma unroll 4
  for (unsigned k = begin; k < end; k++) {
    const Entries<V, Weight> weight = *w;
    const Entries<V, Column> column = *c;
#pragma unroll
    for (int j = 0; j < V; j++) sum = portable::mulAdd(realOf(weight.at[j], (Real)0), x[column.at[j]], sum);
    w += 32;
    c += 32;
  }
  const Real dot = portable::butterfly8(sum);
  if (owner) xOut[r] = neuron.next(dot, r, activation, noiseLevel, key0, key1);
}

extern __shared__ double dynamicShared[];

/** With STAGED the block first copies x to shared memory, for rows long enough to gather from it often. */
template <typename Real, typename Weight, typename Column, int V, bool STAGED>
__device__ __forceinline__ void sparseStep(const Weight* values, const Column* columns, const unsigned* offsets, const int* rows, int slices,
                                           const Real* xIn, Real* xOut, const Chunk* chunk, const Real* leak, const Real* keep, int N,
                                           int activation, Real noiseLevel, unsigned key0, unsigned key1, int t) {
  const Real* x = xIn;
  if (STAGED) {
    Real* staged = (Real*)dynamicShared;
    for (int i = threadIdx.x; i < N; i += blockDim.x) staged[i] = xIn[i];
    __syncthreads();
    x = staged;
  }
  // Neighbouring slices go to different blocks, so that all multiprocessors have as many.
  for (int slice = (threadIdx.x >> 5) * gridDim.x + blockIdx.x; slice < slices; slice += gridDim.x * (blockDim.x >> 5))
    sparseSlice<Real, Weight, Column, V>(slice, values, columns, offsets, rows, x, xIn, xOut, chunk, leak, keep, N, activation, noiseLevel,
                                         key0, key1, t);
}

const int driveSteps = 16, driveInputs = 32;

/** out[t, r] = ((b[r] + W[0, r] u[t, 0]) + W[1, r] u[t, 1]) + ...; without b it starts at +0. W is input by input. A thread makes 16 steps of a neuron. */
template <typename Real>
__device__ __forceinline__ void drive(const Real* __restrict__ W, const Real* __restrict__ bias, const Real* __restrict__ inputs,
                                      Real* __restrict__ out, int N, int I, int steps) {
  __shared__ Real u[driveInputs][driveSteps];
  const int r = blockIdx.x * blockDim.x + threadIdx.x, t0 = blockIdx.y * driveSteps;
  Real sum[driveSteps];
  const Real start = bias && r < N ? bias[r] : (Real)0;
#pragma unroll
  for (int t = 0; t < driveSteps; t++) sum[t] = start;
  for (int i0 = 0; i0 < I; i0 += driveInputs) {
    const int count = min(driveInputs, I - i0);
    for (int e = threadIdx.x; e < driveSteps * driveInputs; e += blockDim.x) {
      const int i = e % driveInputs, t = e / driveInputs;
      if (i < count) u[i][t] = t0 + t < steps ? inputs[(size_t)(t0 + t) * I + i0 + i] : (Real)0;
    }
    __syncthreads();
    if (r < N)
      for (int i = 0; i < count; i++) {
        const Real w = W[(size_t)(i0 + i) * N + r];
#pragma unroll
        for (int t = 0; t < driveSteps; t++) sum[t] = portable::mulAdd(w, u[i][t], sum[t]);
      }
    __syncthreads();
  }
  if (r >= N) return;
#pragma unroll
  for (int t = 0; t < driveSteps; t++)
    if (t0 + t < steps) out[(size_t)(t0 + t) * N + r] = sum[t];
}

const int readoutTile = 2048;

/**
 * Rule 10, one block an output: y = dot(weights, features) + intercept in binary64, the products made by all threads and added by one warp in order. Feature k
 * is the state (odd ones squared with squareHalf), then the input, then the squares. y goes to `out` and, where that is not null, to `also`.
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

/** Rows of W as they come, to packed rows of `stride` columns. Weights packed to bfloat16 must be such numbers. */
template <typename Real, typename Weight>
__device__ __forceinline__ void packRows(const Real* __restrict__ source, Weight* __restrict__ target, int rows, int N, int stride) {
  const int V = Lanes<Real, Weight>::V;
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= stride) return;
  const int place = placeOf(c, V);
  for (int r = blockIdx.y; r < rows; r += gridDim.y)
    target[(size_t)r * stride + place] = c < N ? rounded(source[(size_t)r * N + c], (Weight)0) : (Weight)0;
}

/** x in its place for a dense product with V columns a lane (0: as it is), zeros behind it. */
template <typename Real> __device__ __forceinline__ void packState(const Real* __restrict__ x, Real* __restrict__ packed, int N, int stride, int V) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c < stride) packed[placeOf(c, V)] = c < N ? x[c] : (Real)0;
}

template <typename Real> __device__ __forceinline__ void unpackState(const Real* __restrict__ packed, Real* __restrict__ x, int N, int V) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c < N) x[c] = packed[placeOf(c, V)];
}

}  // namespace

#define DENSE_STEP(NAME, REAL, WEIGHT, ROWS, BATCH)                                                                                          \
  extern "C" __global__ void __launch_bounds__(128, 4)                                                                                       \
      NAME(const WEIGHT* W, const REAL* xIn, REAL* xOut, const Chunk* chunk, const REAL* leak, const REAL* keep, int N, int stride,          \
           int activation, REAL noiseLevel, unsigned key0, unsigned key1, int t) {                                                           \
    denseStep<REAL, WEIGHT, ROWS, BATCH>(W, xIn, xOut, chunk, leak, keep, N, stride, activation, noiseLevel, key0, key1, t);                 \
  }
DENSE_STEP(dense_step_f32, float, float, 1, 8)
DENSE_STEP(dense_step_f64, double, double, 1, 8)
DENSE_STEP(dense_step_f32_bf16, float, bfloat16, 4, 2)
DENSE_STEP(dense_step_f64_bf16, double, bfloat16, 2, 2)

#define SPARSE_STEP(NAME, REAL, WEIGHT, COLUMN, V, STAGED)                                                                                   \
  extern "C" __global__ void __launch_bounds__(1024)                                                                                         \
      NAME(const WEIGHT* values, const COLUMN* columns, const unsigned* offsets, const int* rows, int slices, const REAL* xIn, REAL* xOut,   \
           const Chunk* chunk, const REAL* leak, const REAL* keep, int N, int activation, REAL noiseLevel, unsigned key0, unsigned key1,     \
           int t) {                                                                                                                          \
    sparseStep<REAL, WEIGHT, COLUMN, V, STAGED>(values, columns, offsets, rows, slices, xIn, xOut, chunk, leak, keep, N, activation,         \
                                                noiseLevel, key0, key1, t);                                                                  \
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
  extern "C" __global__ void __launch_bounds__(128)                                                                                          \
      drive_##SUFFIX(const REAL* W, const REAL* bias, const REAL* inputs, REAL* out, int N, int I, int steps) {                              \
    drive<REAL>(W, bias, inputs, out, N, I, steps);                                                                                          \
  }                                                                                                                                          \
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

/** Says where the next steps read and write; null where there is no such matrix. */
extern "C" __global__ void set_chunk(Chunk* chunk, const void* drive, const void* feedback, void* states, unsigned step, unsigned sequence) {
  chunk->drive = (unsigned long long)drive;
  chunk->feedback = (unsigned long long)feedback;
  chunk->states = (unsigned long long)states;
  chunk->row = 0;
  chunk->step = step;
  chunk->sequence = sequence;
}

/** Moves the chunk's place on, so that the next launch of the same graph makes the next steps. */
extern "C" __global__ void advance_chunk(Chunk* chunk, unsigned steps) {
  chunk->row += steps;
  chunk->step += steps;
}
