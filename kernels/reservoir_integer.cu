// Steps of a reservoir in integers (docs/numerics.md, rule 18): products of 16 bits, or of 16 and
// 8, and sums of 32 bits, which wrap around on their way and end within 32 bits: they have no
// order. States stand in pairs of 16 bits between steps. Not here: readouts, which are those of
// reservoir_step.
#include "chunk.cuh"
#include "integer.cuh"

using namespace integer;

namespace {

/** e and a 2^15 of a neuron. */
typedef int2 Row;

/** Everything of one neuron but its dot product, loaded before the product. */
struct Neuron {
  int driven, x;
  Row row;
  float* state;

  __device__ __forceinline__ void load(const Chunk* chunk, int t, int r, int N, const Row* rows, int before) {
    const size_t at = (size_t)(chunk->row + t) * N + r;
    driven = ((const int*)chunk->drive)[at];
    if (chunk->feedback) driven = (int)((unsigned)driven + (unsigned)((const int*)chunk->feedback)[at]);
    row = rows[r];
    x = before;
    state = chunk->states ? (float*)chunk->states + at : nullptr;
  }

  __device__ __forceinline__ short next(int dot, const short* table) const {
    const int z = (int)((unsigned)driven + (unsigned)dot) >> row.x;
    const int y = leakyStep(z, row.y, x, table);
    if (state) *state = (float)y * 0x1p-15f;
    return (short)y;
  }
};

/** Eight weights of 16 bits with eight states. */
__device__ __forceinline__ int multiplied(uint4 w, uint4 x, int sum) {
  sum += low(w.x) * low(x.x) + high(w.x) * high(x.x);
  sum += low(w.y) * low(x.y) + high(w.y) * high(x.y);
  sum += low(w.z) * low(x.z) + high(w.z) * high(x.z);
  return sum + low(w.w) * low(x.w) + high(w.w) * high(x.w);
}

/** Eight weights of 8 bits, in two words, with eight states. */
__device__ __forceinline__ int multiplied(unsigned w0, unsigned w1, uint4 x, int sum) {
  sum = __dp2a_lo((int)x.x, (int)w0, sum);
  sum = __dp2a_hi((int)x.y, (int)w0, sum);
  sum = __dp2a_lo((int)x.z, (int)w1, sum);
  return __dp2a_hi((int)x.w, (int)w1, sum);
}

/** Dense: a warp makes a row. `stride` columns of W and of x, a whole number of a warp's loads. */
template <typename Weight>
__device__ __forceinline__ void denseStep(const Weight* __restrict__ W, const float* __restrict__ xIn, float* __restrict__ xOut,
                                          const Chunk* __restrict__ chunk, const Row* __restrict__ rows, const short* __restrict__ table, int N,
                                          int stride, int t) {
  const int lane = threadIdx.x & 31, r = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
  if (r >= N) return;
  Neuron neuron;
  if (lane == 0) neuron.load(chunk, t, r, N, rows, ((const short*)xIn)[r]);
  const uint4* w = (const uint4*)(W + (size_t)r * stride) + lane;
  const uint4* x = (const uint4*)xIn;
  int sum = 0;
  const int loads = stride / (512 / (int)sizeof(Weight));
#pragma unroll 4
  for (int k = 0; k < loads; k++) {
    const uint4 weights = __ldg(w + k * 32);
    if (sizeof(Weight) == 2) {
      sum = multiplied(weights, x[k * 32 + lane], sum);
    } else {
      const uint4* two = x + (k * 32 + lane) * 2;
      sum = multiplied(weights.x, weights.y, two[0], sum);
      sum = multiplied(weights.z, weights.w, two[1], sum);
    }
  }
  sum = summed(sum, 32);
  if (lane == 0) ((short*)xOut)[r] = neuron.next(sum, table);
}

/** V weights and V columns of a lane's next entries. */
template <int V, typename T> struct alignas(sizeof(T) * V) Entries { T at[V]; };

extern __shared__ unsigned staged[];

/**
 * Sparse: a warp makes the four rows of a slice, eight lanes a row. Entries of a slice stand load
 * by load, lane by lane, V to a lane, as reservoir_step has them. With STAGED the block first
 * copies x to shared memory.
 */
template <typename Weight, int V, bool STAGED>
__device__ __forceinline__ void sparseStep(const Weight* __restrict__ values, const unsigned short* __restrict__ columns,
                                           const unsigned* __restrict__ offsets, const int* __restrict__ order, int slices,
                                           const float* __restrict__ xIn, float* __restrict__ xOut, const Chunk* __restrict__ chunk,
                                           const Row* __restrict__ rows, const short* __restrict__ table, int N, int t) {
  const short* x = (const short*)xIn;
  if (STAGED) {
    for (int i = threadIdx.x; i < (N + 1) >> 1; i += blockDim.x) staged[i] = ((const unsigned*)xIn)[i];
    __syncthreads();
    x = (const short*)staged;
  }
  const int lane = threadIdx.x & 31;
  for (int slice = (threadIdx.x >> 5) * gridDim.x + blockIdx.x; slice < slices; slice += gridDim.x * (blockDim.x >> 5)) {
    const int r = order[slice * 4 + (lane >> 3)];
    const bool owner = (lane & 7) == 0 && r >= 0;
    Neuron neuron;
    if (owner) neuron.load(chunk, t, r, N, rows, ((const short*)xIn)[r]);
    const unsigned begin = offsets[slice], end = offsets[slice + 1];
    const Entries<V, Weight>* w = (const Entries<V, Weight>*)values + (size_t)begin * 32 + lane;
    const Entries<V, unsigned short>* c = (const Entries<V, unsigned short>*)columns + (size_t)begin * 32 + lane;
    int sum = 0;
#pragma unroll 2
    for (unsigned k = begin; k < end; k++) {
      const Entries<V, Weight> weight = *w;
      const Entries<V, unsigned short> column = *c;
#pragma unroll
      for (int j = 0; j < V; j++) sum += (int)weight.at[j] * (int)x[column.at[j]];
      w += 32;
      c += 32;
    }
    sum = summed(sum, 8);
    if (owner) ((short*)xOut)[r] = neuron.next(sum, table);
  }
}

}  // namespace

/**
 * out[t, r] = bias[r] + 8 (sum of W[i, r] u*[t, i]), 32 bits, in steps of 2^-(15 + e); without a
 * bias it starts at 0. W is input by input, whole numbers of 2^-e.
 */
extern "C" __global__ void __launch_bounds__(256)
    integer_drive(const int* __restrict__ W, const int* __restrict__ bias, const float* __restrict__ inputs, int* __restrict__ out, int N, int I,
                  int steps) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= N) return;
  for (int t = blockIdx.y; t < steps; t += gridDim.y) {
    const float* u = inputs + (size_t)t * I;
    int sum = 0;
    for (int i = 0; i < I; i++) sum += W[(size_t)i * N + r] * inputSteps(u[i]);
    out[(size_t)t * N + r] = (int)(((unsigned)sum << 3) + (unsigned)(bias ? bias[r] : 0));
  }
}

/** x in pairs of 16 bits, zeros behind it; `words` of them. `lanes` is of no meaning here. */
extern "C" __global__ void __launch_bounds__(256) pack_state_integer(const float* x, float* packed, int N, int words, int lanes) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= words) return;
  const int first = 2 * c < N ? (int)(x[2 * c] * 32768.0f) : 0, second = 2 * c + 1 < N ? (int)(x[2 * c + 1] * 32768.0f) : 0;
  ((unsigned*)packed)[c] = ((unsigned)first & 0xffffu) | ((unsigned)second << 16);
}

extern "C" __global__ void __launch_bounds__(256) unpack_state_integer(const float* packed, float* x, int N, int lanes) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c < N) x[c] = (float)((const short*)packed)[c] * 0x1p-15f;
}

#define DENSE_STEP(NAME, WEIGHT)                                                                                                             \
  extern "C" __global__ void __launch_bounds__(128) NAME(const WEIGHT* W, const float* xIn, float* xOut, const Chunk* chunk, const Row* rows, \
                                                         const short* table, int N, int stride, int t) {                                     \
    denseStep<WEIGHT>(W, xIn, xOut, chunk, rows, table, N, stride, t);                                                                       \
  }
DENSE_STEP(integer_dense_i16, short)
DENSE_STEP(integer_dense_i8, signed char)

#define SPARSE_STEP(NAME, WEIGHT, V, STAGED)                                                                                                 \
  extern "C" __global__ void __launch_bounds__(1024)                                                                                         \
      NAME(const WEIGHT* values, const unsigned short* columns, const unsigned* offsets, const int* order, int slices, const float* xIn,     \
           float* xOut, const Chunk* chunk, const Row* rows, const short* table, int N, int t) {                                             \
    sparseStep<WEIGHT, V, STAGED>(values, columns, offsets, order, slices, xIn, xOut, chunk, rows, table, N, t);                             \
  }
SPARSE_STEP(integer_sparse_i16_staged, short, 4, true)
SPARSE_STEP(integer_sparse_i16_short, short, 1, false)
SPARSE_STEP(integer_sparse_i8_staged, signed char, 4, true)
SPARSE_STEP(integer_sparse_i8_short, signed char, 1, false)
