// Members of up to 256 neurons with dense weights in binary32, one a block, whose weights stay in
// registers for all steps. Larger, sparse and binary64 members are in ensemble_general.cuh.
#pragma once
#include "ensemble.cuh"

namespace ensemble {

static constexpr __host__ __device__ int reversed(int value, int bits) {
  int result = 0;
  for (int bit = 0; bit < bits; bit++) result |= ((value >> bit) & 1) << (bits - 1 - bit);
  return result;
}

/**
 * How a row of `Columns` weights lies over the `Lanes` lanes that sum it. A lane has its own
 * columns, those with the same k mod Lanes: the partial sums l = lane + Lanes m of rule 1, m in
 * bit-reversed order. A stack of sums then does the first stages of the butterfly.
 */
template <int Columns, int Lanes> struct Layout {
  static constexpr int partials = 32 / Lanes;
  static constexpr int bits = partials == 32 ? 5 : partials == 16 ? 4 : partials == 8 ? 3 : partials == 4 ? 2 : partials == 2 ? 1 : 0;
  static constexpr int entries = Columns / Lanes;
  static constexpr int quads = (entries + 3) / 4;
  static constexpr __host__ __device__ int terms(int m) { return Columns > Lanes * m ? (Columns - Lanes * m + 31) / 32 : 0; }
  /** The column of an entry, without the lane. */
  static constexpr __host__ __device__ int column(int entry) {
    for (int v = 0; v < partials; v++) {
      const int m = reversed(v, bits);
      if (entry < terms(m)) return Lanes * m + 32 * entry;
      entry -= terms(m);
    }
    return Columns;
  }
  /** Where the state of a column lies in shared memory: [quad][lane][entry mod 4]. */
  static __device__ int indexOf(int k) {
    const int m = k / Lanes % partials;
    int entry = k / 32;
    for (int v = 0; reversed(v, bits) != m; v++) entry += terms(reversed(v, bits));
    return (entry / 4 * Lanes + k % Lanes) * 4 + entry % 4;
  }
};

/**
 * Sums of the rows of a lane, entry by entry; everything but the values is known to the compiler.
 */
template <int Columns, int Lanes, int Rows, int RegisterQuads> struct Lane {
  using L = Layout<Columns, Lanes>;
  static constexpr int rowsOfWarp = 32 / Lanes * Rows, threads = (Columns + rowsOfWarp - 1) / rowsOfWarp * 32;
  static constexpr int sharedQuads = L::quads - RegisterQuads, stateValues = L::quads * 4 * Lanes;

  float weights[Rows][RegisterQuads * 4];
  /** The weights that are not in registers: [row][quad][thread]. */
  float4* others;
  /** Sums of 1, 2, 4, ... partials. */
  float stack[Rows][L::bits + 1];
  float sum[Rows];
  float w[Rows][4], x[4];

  template <int Entry = 0> __device__ __forceinline__ void load(const float* matrix, int firstRow, int part, int size) {
    if constexpr (Entry < L::quads * 4) {
      constexpr int quad = Entry / 4, column = Entry < L::entries ? L::column(Entry) : Columns;
#pragma unroll
      for (int r = 0; r < Rows; r++) {
        const int row = firstRow + r, k = column + part;
        const float value = row < size && k < size ? matrix[(size_t)row * size + k] : 0.0f;
        if constexpr (quad < RegisterQuads) weights[r][Entry] = value;
        else reinterpret_cast<float*>(others + (r * sharedQuads + quad - RegisterQuads) * threads + threadIdx.x)[Entry % 4] = value;
      }
      load<Entry + 1>(matrix, firstRow, part, size);
    }
  }

#ifdef FAST_ARITHMETIC
  /** One chain of fused products a row. */
  template <int Entry = 0> __device__ __forceinline__ void dot(const float4* state) {
    if constexpr (Entry < L::entries) {
      if constexpr (Entry % 4 == 0) take<Entry / 4>(state);
#pragma unroll
      for (int r = 0; r < Rows; r++)
        sum[r] = Entry == 0 ? w[r][0] * x[0] : arithmetic::mulAdd(w[r][Entry % 4], x[Entry % 4], sum[r]);
      dot<Entry + 1>(state);
    }
  }
#else
  template <int Entry = 0, int Visit = 0, int Term = 0> __device__ __forceinline__ void dot(const float4* state) {
    constexpr int terms = L::terms(reversed(Visit, L::bits));
    if constexpr (Term == terms && Visit < L::partials) {
      if constexpr (terms == 0) {
#pragma unroll
        for (int r = 0; r < Rows; r++) sum[r] = 0.0f;
      }
      fold<0, Visit>();
      dot<Entry, Visit + 1, 0>(state);
    } else if constexpr (Entry < L::entries) {
      if constexpr (Entry % 4 == 0) take<Entry / 4>(state);
#pragma unroll
      for (int r = 0; r < Rows; r++) {
        const float product = portable::mul(w[r][Entry % 4], x[Entry % 4]);
        if constexpr (Term == 0) sum[r] = product;
        else sum[r] = portable::add(sum[r], product);
      }
      dot<Entry + 1, Visit, Term + 1>(state);
    }
  }

#endif

  template <int Quad> __device__ __forceinline__ void take(const float4* state) {
    const float4 values = state[Quad * Lanes];
    x[0] = values.x, x[1] = values.y, x[2] = values.z, x[3] = values.w;
#pragma unroll
    for (int r = 0; r < Rows; r++) {
      if constexpr (Quad < RegisterQuads) {
#pragma unroll
        for (int i = 0; i < 4; i++) w[r][i] = weights[r][Quad * 4 + i];
      } else {
        const float4 given = others[(r * sharedQuads + Quad - RegisterQuads) * threads + threadIdx.x];
        w[r][0] = given.x, w[r][1] = given.y, w[r][2] = given.z, w[r][3] = given.w;
      }
    }
  }

  /** Adds a finished partial to those before it, as a binary counter carries. */
  template <int Level, int Visit> __device__ __forceinline__ void fold() {
    if constexpr ((Visit >> Level & 1) != 0) {
#pragma unroll
      for (int r = 0; r < Rows; r++) sum[r] = portable::add(stack[r][Level], sum[r]);
      fold<Level + 1, Visit>();
    } else {
#pragma unroll
      for (int r = 0; r < Rows; r++) stack[r][Level] = sum[r];
    }
  }

  /**
   * The stages of the butterfly that go over lanes: of the group's rows each lane ends with one,
   * and lanes share one if there are fewer.
   */
  template <int Distance, int Count> __device__ __forceinline__ float across() {
    if constexpr (Distance == 0) {
      return sum[0];
    } else {
      if constexpr (Count > 1) {
        const bool upper = threadIdx.x & Distance;
#pragma unroll
        for (int r = 0; r < Count / 2; r++) {
          const float sent = upper ? sum[r] : sum[r + Count / 2], kept = upper ? sum[r + Count / 2] : sum[r];
          sum[r] = portable::add(kept, __shfl_xor_sync(0xffffffffu, sent, Distance));
        }
      } else {
        sum[0] = portable::add(sum[0], __shfl_xor_sync(0xffffffffu, sum[0], Distance));
      }
      return across<Distance / 2, (Count > 1 ? Count / 2 : 1)>();
    }
  }

  /** The whole sum of the row that this lane ends with. */
  __device__ __forceinline__ float product(const float4* state) {
    dot(state);
#ifndef FAST_ARITHMETIC
    // Partials were begun with a product in place of +0, which differs if all of them are -0.
#pragma unroll
    for (int r = 0; r < Rows; r++) sum[r] = portable::add(stack[r][L::bits], 0.0f);
#endif
    return across<Lanes / 2, Rows>();
  }
};

/**
 * Runs a member: `Rows` rows on each group of `Lanes` lanes; of a lane's weights of a row the first
 * `RegisterQuads` quads are in registers, the others in shared memory.
 */
template <int Columns, int Lanes, int Rows, int RegisterQuads>
__device__ __forceinline__ void run(const float* __restrict__ allWeights, const Data<float>& data) {
  using Sums = Lane<Columns, Lanes, Rows, RegisterQuads>;
  extern __shared__ float4 memory[];
  float* const states = reinterpret_cast<float*>(memory + Rows * Sums::sharedQuads * Sums::threads);
  const int lane = threadIdx.x & 31, part = lane % Lanes, size = data.size;
  const int firstRow = (threadIdx.x >> 5) * Sums::rowsOfWarp + lane / Lanes * Rows;
  const Member member = data.members[blockIdx.x];
  Sums sums;
  sums.others = memory;
  sums.load(allWeights + (size_t)member.weights * size * size, firstRow, part, size);

  const int row = firstRow + part / (Lanes / Rows);
  const bool live = row < size, owner = live && part % (Lanes / Rows) == 0;
  const Neuron<float> neuron(data, member, live ? row : 0);
  const int index = Sums::L::indexOf(live ? row : 0);
  for (int i = threadIdx.x; i < 2 * Sums::stateValues; i += Sums::threads) states[i] = 0.0f;
  __syncthreads();
  float x = live ? data.state[(size_t)blockIdx.x * size + row] : 0.0f;
  if (owner) states[index] = x;
  float driven = member.steps > 0 ? neuron.drive(data, member, 0) : 0.0f;
  __syncthreads();

  for (int t = 0; t < member.steps; t++) {
    const float dot = sums.product(reinterpret_cast<const float4*>(states + (t & 1) * Sums::stateValues) + part);
    x = neuron.step(data, member, row, t, driven, dot, x);
    if (owner) {
      states[((t + 1) & 1) * Sums::stateValues + index] = x;
      if (data.states) data.states[(size_t)(member.stateRow + t) * size + row] = x;
    }
    if (t + 1 < member.steps) driven = neuron.drive(data, member, t + 1);
    __syncthreads();
  }
  if (owner) data.state[(size_t)blockIdx.x * size + row] = x;
}

}  // namespace ensemble

/** The kernel of a number of columns. `blocks`: members that a multiprocessor is to hold. */
#define ENSEMBLE_DENSE(name, columns, lanes, rows, registerQuads, blocks)                                              \
  extern "C" __global__ void __launch_bounds__((columns + 32 / lanes * rows - 1) / (32 / lanes * rows) * 32, blocks)   \
      name(const float* weights, ENSEMBLE_PARAMETERS(float)) {                                                         \
    ensemble::run<columns, lanes, rows, registerQuads>(weights, ENSEMBLE_DATA(float));                                 \
  }
