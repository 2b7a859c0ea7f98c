// Members of an ensemble, or sequences of a batch, in integers (docs/numerics.md, rule 18), a block
// each, with W in shared memory for all steps or read again in each. Words of 32 bits stand where
// other ensemble kernels have numbers: W_in, W_fb and b as integer_drive takes them, and 16 a + e in
// place of a.
#include "ensemble.cuh"
#include "integer.cuh"

namespace {

extern __shared__ unsigned shared[];

/** Lanes that share a row of a dense W. */
const int lanes = 4;

/** x(t+1) of a neuron from its dot product and x(t). */
__device__ __forceinline__ int advance(const ensemble::Data<float>& data, const ensemble::Member& member, const short* table, int row, int t, int dot,
                                       int x) {
  const size_t parameters = member.parameters, size = data.size;
  const int* in = (const int*)data.inputWeights + parameters * data.inputSize * size + row;
  const float* u = data.inputs + (size_t)(member.inputRow + t) * data.inputSize;
  int sum = 0;
#pragma unroll 1
  for (int i = 0; i < data.inputSize; i++) sum += in[i * size] * integer::inputSteps(u[i]);
  if (data.outputSize > 0 && member.outputRow >= 0) {
    const int* fed = (const int*)data.feedbackWeights + parameters * data.outputSize * size + row;
    const float* y = data.outputs + (size_t)(member.outputRow + t) * data.outputSize;
#pragma unroll 1
    for (int o = 0; o < data.outputSize; o++) sum += fed[o * size] * integer::inputSteps(y[o]);
  }
  const int rates = ((const int*)data.leak)[parameters * size + row];
  const unsigned whole = ((unsigned)sum << 3) + ((const unsigned*)data.bias)[parameters * size + row] + (unsigned)dot;
  return integer::leakyStep((int)whole >> (rates & 15), rates >> 4, x, table);
}

/** Copies a member's x, N values, to pairs of 16 bits with zeros up to a whole number of loads. */
__device__ __forceinline__ void loadState(const float* state, short* x, int size, int padded) {
#pragma unroll 1
  for (int i = threadIdx.x; i < padded; i += blockDim.x) x[i] = i < size ? (short)(state[i] * 32768.0f) : (short)0;
}

__device__ __forceinline__ void storeState(const short* x, float* state, int size) {
#pragma unroll 1
  for (int i = threadIdx.x; i < size; i += blockDim.x) state[i] = (float)x[i] * 0x1p-15f;
}

__device__ __forceinline__ void copyWords(const unsigned* from, unsigned* to, int words) {
#pragma unroll 1
  for (int i = threadIdx.x; i < words; i += blockDim.x) to[i] = from[i];
}

/**
 * Dense: four lanes a row; pair p of a row's columns is lane p mod 4's. W stands pair by pair of a
 * lane, [pair / 4][4 row + lane], so that neighbouring threads read neighbouring words.
 */
template <bool RESIDENT> __device__ __forceinline__ void runDense(const unsigned* __restrict__ all, const short* table, const ensemble::Data<float>& data) {
  const int size = data.size, turns = (size + 2 * lanes - 1) / (2 * lanes), words = turns * lanes * size, padded = turns * 2 * lanes;
  const ensemble::Member member = data.members[blockIdx.x];
  short* const states = (short*)shared;
  const unsigned* W = all + (size_t)member.weights * words;
  float* const state = data.state + (size_t)blockIdx.x * size;
  if (RESIDENT) {
    copyWords(W, shared + padded, words);
    W = shared + padded;
  }
  loadState(state, states, size, padded);
  loadState(state, states + padded, size, padded);
  __syncthreads();
  for (int t = 0; t < member.steps; t++) {
    const short* const x = states + (t & 1) * padded;
    short* const next = states + (~t & 1) * padded;
    for (int first = 0; first < size * lanes; first += blockDim.x) {
      const int unit = first + threadIdx.x, row = unit / lanes;
      int sum = 0;
      if (row < size) {
        const unsigned* const pairs = (const unsigned*)x + (unit & (lanes - 1));
#pragma unroll 4
        for (int k = 0; k < turns; k++) {
          const unsigned w = W[k * lanes * size + unit], value = pairs[k * lanes];
          sum += integer::low(w) * integer::low(value) + integer::high(w) * integer::high(value);
        }
      }
      sum = integer::summed(sum, lanes);
      if (row < size && (unit & (lanes - 1)) == 0) {
        const int y = advance(data, member, table, row, t, sum, x[row]);
        next[row] = (short)y;
        if (data.states) data.states[(size_t)(member.stateRow + t) * size + row] = (float)y * 0x1p-15f;
      }
    }
    __syncthreads();
  }
  storeState(states + (member.steps & 1) * padded, state, size);
}

/**
 * Sparse: a thread a slot of the slices of ensemble_general.cuh; an entry is column 2^16 + weight.
 */
template <bool RESIDENT>
__device__ __forceinline__ void runSparse(const unsigned* __restrict__ all, const int* patterns, const int* orders, const int* allOffsets, int entries,
                                          int slots, const short* table, const ensemble::Data<float>& data) {
  const int size = data.size, padded = (size + 1) / 2 * 2;
  const ensemble::Member member = data.members[blockIdx.x];
  const size_t pattern = patterns[member.weights];
  const int* const order = orders + pattern * slots;
  const int* const offsets = allOffsets + pattern * (slots / 32 + 1);
  const unsigned* W = all + (size_t)member.weights * entries;
  short* const states = (short*)shared;
  float* const state = data.state + (size_t)blockIdx.x * size;
  if (RESIDENT) {
    copyWords(W, shared + padded, offsets[slots / 32] * 32);
    W = shared + padded;
  }
  loadState(state, states, size, padded);
  loadState(state, states + padded, size, padded);
  __syncthreads();
  for (int t = 0; t < member.steps; t++) {
    const short* const x = states + (t & 1) * padded;
    short* const next = states + (~t & 1) * padded;
    for (int slot = threadIdx.x; slot < slots; slot += blockDim.x) {
      const int row = order[slot];
      if (row >= size) continue;
      int sum = 0;
      const int last = offsets[slot / 32 + 1];
#pragma unroll 4
      for (int entry = offsets[slot / 32]; entry < last; entry++) {
        const unsigned w = W[entry * 32 + (threadIdx.x & 31)];
        sum += integer::low(w) * (int)x[w >> 16];
      }
      next[row] = (short)advance(data, member, table, row, t, sum, x[row]);
    }
    __syncthreads();
    // Rows stand in another order than slots: written from here, they are written side by side.
    if (data.states)
#pragma unroll 1
      for (int i = threadIdx.x; i < size; i += blockDim.x) data.states[(size_t)(member.stateRow + t) * size + i] = (float)next[i] * 0x1p-15f;
  }
  storeState(states + (member.steps & 1) * padded, state, size);
}

}  // namespace

#define DENSE(NAME, RESIDENT)                                                                                                                \
  extern "C" __global__ void __launch_bounds__(1024) NAME(const unsigned* weights, const short* table, ENSEMBLE_PARAMETERS(float)) {         \
    runDense<RESIDENT>(weights, table, ENSEMBLE_DATA(float));                                                                                \
  }
DENSE(ensemble_integer_dense, false)
DENSE(ensemble_integer_dense_shared, true)

#define SPARSE(NAME, RESIDENT)                                                                                                               \
  extern "C" __global__ void __launch_bounds__(1024)                                                                                         \
      NAME(const unsigned* values, const int* patterns, const unsigned short* columns, const int* order, const int* offsets, int entries,    \
           int slots, const short* table, ENSEMBLE_PARAMETERS(float)) {                                                                      \
    runSparse<RESIDENT>(values, patterns, order, offsets, entries, slots, table, ENSEMBLE_DATA(float));                                      \
  }
SPARSE(ensemble_integer_sparse, false)
SPARSE(ensemble_integer_sparse_shared, true)
