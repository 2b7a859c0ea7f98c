// One step of a rate reservoir whose W comes from memory, dense or sparse (docs/numerics.md, rules
// 1 to 6): what the kernels of the streamed plan share. With FAST products and sums are fused,
// which is not the rules' arithmetic.
#pragma once
#include "chunk.cuh"
#include "packing.cuh"
#include "philox.cuh"

namespace packing {

/** A whole number from -127 to 127, plus 128. */
typedef unsigned char int8;
template <> struct Lanes<float, int8> { static const int V = 16; };

}  // namespace packing

namespace streamed {

using packing::bfloat16;
using packing::int8;
using packing::Lanes;
using packing::positionOf;

/** sum + a b: two roundings, or one. */
template <bool FAST> static __device__ __forceinline__ float sumUp(float a, float b, float sum) {
  return FAST ? __fmaf_rn(a, b, sum) : portable::mulAdd(a, b, sum);
}
template <bool FAST> static __device__ __forceinline__ double sumUp(double a, double b, double sum) {
  return FAST ? __fma_rn(a, b, sum) : portable::mulAdd(a, b, sum);
}

static __device__ __forceinline__ void loadWeights(const float* p, float (&w)[4]) {
  const float4 v = __ldcs((const float4*)p);
  w[0] = v.x; w[1] = v.y; w[2] = v.z; w[3] = v.w;
}
static __device__ __forceinline__ void loadWeights(const double* p, double (&w)[2]) {
  const double2 v = __ldcs((const double2*)p);
  w[0] = v.x; w[1] = v.y;
}
template <typename Real> static __device__ __forceinline__ void loadWeights(const bfloat16* p, Real (&w)[8]) {
  const uint4 v = __ldcs((const uint4*)p);
  const unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
  for (int i = 0; i < 4; i++) {
    w[2 * i] = (Real)__uint_as_float(words[i] << 16);
    w[2 * i + 1] = (Real)__uint_as_float(words[i] & 0xffff0000u);
  }
}
static __device__ __forceinline__ void loadWeights(const int8* p, float (&w)[16]) {
  const uint4 v = __ldcs((const uint4*)p);
  const unsigned words[4] = {v.x, v.y, v.z, v.w};
  // A byte under 0x4b0000 is binary32 for 2^23 and the byte.
#pragma unroll
  for (int i = 0; i < 16; i++) w[i] = __uint_as_float(__byte_perm(words[i >> 2], 0x4b000000u, 0x7440u | (i & 3))) - 8388736.0f;
}
template <int V> static __device__ __forceinline__ void loadState(const float* p, float (&x)[V]) {
#pragma unroll
  for (int i = 0; i < V; i += 4) {
    const float4 v = *(const float4*)(p + i);
    x[i] = v.x; x[i + 1] = v.y; x[i + 2] = v.z; x[i + 3] = v.w;
  }
}
template <int V> static __device__ __forceinline__ void loadState(const double* p, double (&x)[V]) {
#pragma unroll
  for (int i = 0; i < V; i += 2) {
    const double2 v = *(const double2*)(p + i);
    x[i] = v.x; x[i + 1] = v.y;
  }
}

/**
 * Everything of one neuron but its dot product, loaded before the product: the two waits overlap.
 */
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

/** Where x goes beside xOut: the same position in the memory of `count` other devices. */
struct Others {
  const unsigned long long* addresses;
  int count;
  template <typename Real> __device__ __forceinline__ void put(int position, Real x) const {
    for (int k = 0; k < count; k++) ((Real*)addresses[k])[position] = x;
  }
};

/**
 * Dense: a warp makes ROWS rows, a lane one of the 32 partial sums of each; BATCH tiles of weights
 * are loaded before they are used. W begins with row `from`. With `scales` row r of W is scales[r]
 * times what its weights say.
 */
template <typename Real, typename Weight, int ROWS, int BATCH, bool FAST = false>
static __device__ __forceinline__ void denseStep(const Weight* __restrict__ W, const Real* __restrict__ xIn, Real* __restrict__ xOut,
                                                 const Chunk* __restrict__ chunk, const Real* __restrict__ leak, const Real* __restrict__ keep, int N,
                                                 int stride, int activation, Real noiseLevel, unsigned key0, unsigned key1, int t, int from,
                                                 const Others others, const Real* __restrict__ scales = nullptr) {
  const int V = Lanes<Real, Weight>::V;
  const int lane = threadIdx.x & 31;
  const int first = from + (blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5)) * ROWS;
  if (first >= N) return;
  const int mine = first + lane;
  const bool owner = lane < ROWS && mine < N;
  Neuron<Real> neuron;
  if (owner) neuron.load(chunk, t, mine, N, leak, keep, xIn[positionOf(mine, V)]);
  const Weight* w[ROWS];
  Real sum[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    w[r] = W + (size_t)(min(first + r, N - 1) - from) * stride + lane * V;
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
        for (int j = 0; j < V; j++) sum[r] = sumUp<FAST>(weights[r][b][j], values[j], sum[r]);
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
      for (int j = 0; j < V; j++) sum[r] = sumUp<FAST>(weights[j], values[j], sum[r]);
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
  if (scales && owner) dot = portable::mul(scales[mine], dot);
  if (!owner) return;
  const Real after = neuron.next(dot, mine, activation, noiseLevel, key0, key1);
  xOut[positionOf(mine, V)] = after;
  others.put(positionOf(mine, V), after);
}

/** V weights and V columns of a lane's next entries. */
template <int V, typename T> struct alignas(sizeof(T) * V > 16 ? 16 : sizeof(T) * V) Entries { T at[V]; };

static __device__ __forceinline__ float realOf(float w, float) { return w; }
static __device__ __forceinline__ double realOf(double w, double) { return w; }
static __device__ __forceinline__ float realOf(bfloat16 w, float) { return __uint_as_float((unsigned)w << 16); }
static __device__ __forceinline__ double realOf(bfloat16 w, double) { return (double)__uint_as_float((unsigned)w << 16); }

/**
 * Sparse: a warp makes the four rows of a slice, eight lanes a row, each one of its eight partial
 * sums. Entries of a slice stand load by load, lane by lane, V to a lane; rows are padded with zero
 * weights to the longest of the slice.
 */
template <typename Real, typename Weight, typename Column, int V, bool FAST>
static __device__ __forceinline__ void sparseSlice(int slice, const Weight* __restrict__ values, const Column* __restrict__ columns,
                                                   const unsigned* __restrict__ offsets, const int* __restrict__ rows, const Real* x,
                                                   const Real* __restrict__ xIn, Real* __restrict__ xOut, const Chunk* __restrict__ chunk,
                                                   const Real* __restrict__ leak, const Real* __restrict__ keep, int N, int activation,
                                                   Real noiseLevel, unsigned key0, unsigned key1, int t, const Others others) {
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
    for (int j = 0; j < V; j++) sum = sumUp<FAST>(realOf(weight.at[j], (Real)0), x[column.at[j]], sum);
    w += 32;
    c += 32;
  }
  const Real dot = portable::butterfly8(sum);
  if (!owner) return;
  const Real after = neuron.next(dot, r, activation, noiseLevel, key0, key1);
  xOut[r] = after;
  others.put(r, after);
}

extern __shared__ double dynamicShared[];

/**
 * With STAGED the block first copies x to shared memory, for rows long enough to gather from it
 * often.
 */
template <typename Real, typename Weight, typename Column, int V, bool STAGED, bool FAST = false>
static __device__ __forceinline__ void sparseStep(const Weight* values, const Column* columns, const unsigned* offsets, const int* rows, int slices,
                                                  const Real* xIn, Real* xOut, const Chunk* chunk, const Real* leak, const Real* keep, int N,
                                                  int activation, Real noiseLevel, unsigned key0, unsigned key1, int t, const Others others) {
  const Real* x = xIn;
  if (STAGED) {
    Real* staged = (Real*)dynamicShared;
    for (int i = threadIdx.x; i < N; i += blockDim.x) staged[i] = xIn[i];
    __syncthreads();
    x = staged;
  }
  // Neighbouring slices go to different blocks: all multiprocessors have as many.
  for (int slice = (threadIdx.x >> 5) * gridDim.x + blockIdx.x; slice < slices; slice += gridDim.x * (blockDim.x >> 5))
    sparseSlice<Real, Weight, Column, V, FAST>(slice, values, columns, offsets, rows, x, xIn, xOut, chunk, leak, keep, N, activation, noiseLevel,
                                               key0, key1, t, others);
}

}  // namespace streamed
