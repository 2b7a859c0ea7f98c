// Members of any size whose states fit shared memory, one a block: sparse weights in both
// precisions, and the dense ones that do not fit the registers.
#pragma once
#include "ensemble.cuh"

namespace ensemble {

/**
 * Row-major weights, read again in each step: a warp has four rows at a time, lane l the columns k
 * with k mod 32 = l (rule 1).
 */
template <typename Real> __device__ __forceinline__ void runDense(const Real* __restrict__ allWeights, const Data<Real>& data) {
  constexpr int group = 4;
  extern __shared__ double shared[];
  const int size = data.size, padded = (size + 31) / 32 * 32, lane = threadIdx.x & 31;
  Real* const x = reinterpret_cast<Real*>(shared);
  Real* const dots = x + padded;
  const Member member = data.members[blockIdx.x];
  const Real* const matrix = allWeights + (size_t)member.weights * size * size;
  for (int i = threadIdx.x; i < padded; i += blockDim.x) x[i] = i < size ? data.state[(size_t)blockIdx.x * size + i] : (Real)0;
  __syncthreads();
  for (int t = 0; t < member.steps; t++) {
    for (int first = threadIdx.x / 32 * group; first < size; first += blockDim.x / 32 * group) {
      Real sum[group] = {};
      for (int k = lane; k < size; k += 32) {
        const Real value = x[k];
#pragma unroll
        for (int r = 0; r < group; r++)
          if (first + r < size) sum[r] = arithmetic::mulAdd(matrix[(size_t)(first + r) * size + k], value, sum[r]);
      }
#pragma unroll
      for (int r = 0; r < group; r++) {
        sum[r] = portable::butterfly32(sum[r]);
        if (lane == r && first + r < size) dots[first + r] = sum[r];
      }
    }
    __syncthreads();
    for (int row = threadIdx.x; row < size; row += blockDim.x) {
      const Neuron<Real> neuron(data, member, row);
      const Real next = neuron.step(data, member, row, t, neuron.drive(data, member, t), dots[row], x[row]);
      x[row] = next;
      if (data.states) data.states[(size_t)(member.stateRow + t) * size + row] = next;
    }
    __syncthreads();
  }
  for (int i = threadIdx.x; i < size; i += blockDim.x) data.state[(size_t)blockIdx.x * size + i] = x[i];
}

/**
 * Sparse weights in slices: a slot is a row, 32 slots are a slice, whose entries lie side by side,
 * [entry][slot mod 32]; a slice has a multiple of eight entries, the missing ones of weight 0.
 * Patterns may be shared by weights that differ in their values.
 */
template <typename Real> struct Slices {
  const Real* values;
  const unsigned short* columns;
  /** Of each slot its row, at least `size` if it has none. */
  const int* order;
  /** Of each slice the number of entries before it, in groups of 32. */
  const int* offsets;

  __device__ __forceinline__ Slices(const Real* allValues, const int* patterns, const unsigned short* columns, const int* order, const int* offsets,
                                    int entries, int slots, int weights) {
    const size_t pattern = patterns[weights];
    values = allValues + (size_t)weights * entries;
    this->columns = columns + pattern * entries;
    this->order = order + pattern * slots;
    this->offsets = offsets + pattern * (slots / 32 + 1);
  }
};

/** Rule 2: eight partial sums over the position in the row. */
template <typename Real>
__device__ __forceinline__ Real slotDot(const Real* values, const unsigned short* columns, int first, int last, const Real* x) {
  Real sum[8] = {};
  for (int entry = first; entry < last; entry += 8)
#pragma unroll
    for (int i = 0; i < 8; i++) {
      const int at = (entry + i) * 32 + (threadIdx.x & 31);
      sum[i] = arithmetic::mulAdd(values[at], x[columns[at]], sum[i]);
    }
#pragma unroll
  for (int half = 4; half > 0; half >>= 1)
#pragma unroll
    for (int i = 0; i < half; i++) sum[i] = portable::add(sum[i], sum[i + half]);
  return sum[0];
}

/** Weights in shared memory for all steps, a thread a slot: blockDim is the number of slots. */
template <typename Real> __device__ __forceinline__ void runSparseShared(const Slices<Real>& slices, int slots, int entries, const Data<Real>& data) {
  extern __shared__ double shared[];
  const int size = data.size, slice = threadIdx.x / 32;
  Real* const values = reinterpret_cast<Real*>(shared);
  Real* const states = values + entries;
  unsigned short* const columns = reinterpret_cast<unsigned short*>(states + 2 * slots);
  const Member member = data.members[blockIdx.x];
  const int used = slices.offsets[slots / 32] * 32;
  for (int i = threadIdx.x; i < used; i += blockDim.x) {
    values[i] = slices.values[i];
    columns[i] = slices.columns[i];
  }
  for (int i = threadIdx.x; i < slots; i += blockDim.x) states[i] = i < size ? data.state[(size_t)blockIdx.x * size + i] : (Real)0;
  const int first = slices.offsets[slice], last = slices.offsets[slice + 1], row = slices.order[threadIdx.x];
  const bool live = row < size;
  const Neuron<Real> neuron(data, member, live ? row : 0);
  Real driven = member.steps > 0 ? neuron.drive(data, member, 0) : (Real)0;
  __syncthreads();
  Real x = live ? states[row] : (Real)0;
  for (int t = 0; t < member.steps; t++) {
    const Real dot = slotDot(values, columns, first, last, states + (t & 1) * slots);
    x = neuron.step(data, member, row, t, driven, dot, x);
    Real* const next = states + (~t & 1) * slots;
    if (live) next[row] = x;
    if (t + 1 < member.steps) driven = neuron.drive(data, member, t + 1);
    __syncthreads();
    // Rows stand in another order than slots: written from here, they are written side by side.
    if (data.states && threadIdx.x < size) data.states[(size_t)(member.stateRow + t) * size + threadIdx.x] = next[threadIdx.x];
  }
  if (live) data.state[(size_t)blockIdx.x * size + row] = x;
}

/** Weights read again in each step. */
template <typename Real> __device__ __forceinline__ void runSparse(const Slices<Real>& slices, int slots, const Data<Real>& data) {
  extern __shared__ double shared[];
  const int size = data.size;
  Real* const states = reinterpret_cast<Real*>(shared);
  const Member member = data.members[blockIdx.x];
  for (int i = threadIdx.x; i < size; i += blockDim.x) states[i] = data.state[(size_t)blockIdx.x * size + i];
  __syncthreads();
  for (int t = 0; t < member.steps; t++) {
    const Real* const now = states + (t & 1) * size;
    Real* const next = states + (~t & 1) * size;
    for (int slot = threadIdx.x; slot < slots; slot += blockDim.x) {
      const int row = slices.order[slot];
      if (row >= size) continue;
      const Real dot = slotDot(slices.values, slices.columns, slices.offsets[slot / 32], slices.offsets[slot / 32 + 1], now);
      const Neuron<Real> neuron(data, member, row);
      next[row] = neuron.step(data, member, row, t, neuron.drive(data, member, t), dot, now[row]);
    }
    __syncthreads();
    if (data.states)
      for (int i = threadIdx.x; i < size; i += blockDim.x) data.states[(size_t)(member.stateRow + t) * size + i] = next[i];
  }
  const Real* const last = states + (member.steps & 1) * size;
  for (int i = threadIdx.x; i < size; i += blockDim.x) data.state[(size_t)blockIdx.x * size + i] = last[i];
}

}  // namespace ensemble

/** The kernels of a precision. */
#define ENSEMBLE_GENERAL(suffix, Real)                                                                                                     \
  /* grid: members; dynamic shared memory: twice the padded states */                                                                      \
  extern "C" __global__ void __launch_bounds__(512) ensemble_dense_##suffix(const Real* weights, ENSEMBLE_PARAMETERS(Real)) {              \
    ensemble::runDense(weights, ENSEMBLE_DATA(Real));                                                                                                \
  }                                                                                                                                        \
  /* grid: members; dynamic shared memory: two states */                                                                                   \
  extern "C" __global__ void __launch_bounds__(1024)                                                                                       \
      ensemble_sparse_##suffix(const Real* values, const int* patterns, const unsigned short* columns, const int* order, const int* offsets, \
                               int entries, int slots, ENSEMBLE_PARAMETERS(Real)) {                                                        \
    const ensemble::Slices<Real> slices(values, patterns, columns, order, offsets, entries, slots, members[blockIdx.x * 8]);                         \
    ensemble::runSparse(slices, slots, ENSEMBLE_DATA(Real));                                                                                         \
  }                                                                                                                                        \
  /* grid: members; block: slots; dynamic shared memory: entries, two states of `slots` values, columns */                                 \
  extern "C" __global__ void __launch_bounds__(1024)                                                                                       \
      ensemble_sparse_shared_##suffix(const Real* values, const int* patterns, const unsigned short* columns, const int* order,            \
                                      const int* offsets, int entries, int slots, ENSEMBLE_PARAMETERS(Real)) {                             \
    const ensemble::Slices<Real> slices(values, patterns, columns, order, offsets, entries, slots, members[blockIdx.x * 8]);                         \
    ensemble::runSparseShared(slices, slots, entries, ENSEMBLE_DATA(Real));                                                                          \
  }
