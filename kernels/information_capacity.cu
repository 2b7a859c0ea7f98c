// Information processing capacity on the device: products of a reservoir's states with targets that are
// made as they are needed, summed in the order of docs/numerics.md, rule 9.
#include "portable.cuh"

namespace {
using portable::add;
using portable::mul;
using portable::mulAdd;
using portable::sub;
}  // namespace

namespace {

constexpr int capacityRows = 1024, targetTile = 64, leftTile = 64, capacityDepth = 32;

/** The targets of information processing capacity: terms of target j are first[j] to first[j + 1]. */
struct Targets {
  const double* values;
  long long pitch;
  const unsigned *first, *delays;
  const unsigned char* degrees;
  int count;
};

/** Row t of column c of [1, states less those of the first row]. */
template <typename Real> __device__ __forceinline__ double centred(const Real* states, const double* origin, int size, int t, int c) {
  return c == 0 ? 1.0 : sub((double)states[(size_t)t * size + c - 1], origin[c - 1]);
}

/**
 * Products of the columns [1, states] with the targets over a block of 1024 rows, and the targets'
 * squares, each sum in rising order from +0 (rule 9). A tile of lefts and targets a block of
 * threads, at least 64: blockDim.x / 16 times 4 lefts.
 */
template <typename Real>
__device__ __forceinline__ void products(const Real* states, const double* origin, int rows, int size, const Targets& targets, long long at, double* sums,
                                         double* squares) {
  __shared__ double left[capacityDepth][leftTile], right[targetTile][capacityDepth + 1];
  const int lefts = size + 1, width = blockDim.x / 16 * 4, tiles = (lefts + width - 1) / width;
  const int firstLeft = blockIdx.x % tiles * width, firstTarget = blockIdx.x / tiles * targetTile;
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  const int begin = blockIdx.y * capacityRows, end = min(rows, begin + capacityRows);
  double sum[4][4] = {}, square = 0.0;
  for (int t = begin; t < end; t += capacityDepth) {
    const int count = min(capacityDepth, end - t);
    for (int i = threadIdx.x; i < capacityDepth * width; i += blockDim.x) {
      const int row = i / width, c = i % width;
      left[row][c] = row < count && firstLeft + c < lefts ? centred(states, origin, size, t + row, firstLeft + c) : 0.0;
    }
    for (int i = threadIdx.x; i < targetTile * capacityDepth; i += blockDim.x) {
      const int target = firstTarget + i / capacityDepth, row = i % capacityDepth;
      double value = 0.0;
      if (target < targets.count && row < count) {
        const long long now = at + t + row;
        const unsigned last = targets.first[target + 1];
        unsigned term = targets.first[target];
        value = targets.values[targets.degrees[term] * targets.pitch + now - targets.delays[term]];
        for (term++; term < last; term++) value = mul(value, targets.values[targets.degrees[term] * targets.pitch + now - targets.delays[term]]);
      }
      right[i / capacityDepth][row] = value;
    }
    __syncthreads();
#pragma unroll 2
    for (int row = 0; row < capacityDepth; row++) {
      double a[4], b[4];
#pragma unroll
      for (int i = 0; i < 4; i++) a[i] = left[row][y * 4 + i];
#pragma unroll
      for (int j = 0; j < 4; j++) b[j] = right[j * 16 + x][row];
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) sum[i][j] = mulAdd(a[i], b[j], sum[i][j]);
    }
    if (firstLeft == 0 && threadIdx.x < targetTile)
      for (int row = 0; row < count; row++) square = mulAdd(right[threadIdx.x][row], right[threadIdx.x][row], square);
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const int target = firstTarget + j * 16 + x, c = firstLeft + y * 4 + i;
      if (target < targets.count && c < lefts) sums[((size_t)blockIdx.y * targets.count + target) * lefts + c] = sum[i][j];
    }
  if (firstLeft == 0 && threadIdx.x < targetTile && firstTarget + threadIdx.x < targets.count)
    squares[(size_t)blockIdx.y * targets.count + firstTarget + threadIdx.x] = square;
}

}  // namespace

#define CAPACITY(suffix, Real)                                                                                                                     \
  /* the first row of states in binary64 */                                                                                                        \
  extern "C" __global__ void __launch_bounds__(256) capacity_origin_##suffix(const Real* states, int size, double* origin) {                        \
    for (int i = threadIdx.x; i < size; i += blockDim.x) origin[i] = (double)states[i];                                                            \
  }                                                                                                                                                \
  /* rows [first, first + count) of [1, states] as a panel; grid: any */                                                                           \
  extern "C" __global__ void __launch_bounds__(256)                                                                                                \
      capacity_rows_##suffix(const Real* states, const double* origin, int first, int count, int size, double* out) {                               \
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count * (size + 1); i += gridDim.x * blockDim.x)                                        \
      out[i] = centred(states, origin, size, first + i / (size + 1), i % (size + 1));                                                              \
  }                                                                                                                                                \
  /* states: rows x size; sums: blocks x targets x (size + 1); squares: blocks x targets; grid: tiles x blocks of 1024 rows */                      \
  extern "C" __global__ void __launch_bounds__(256)                                                                                                \
      capacity_products_##suffix(const Real* states, const double* origin, int rows, int size, const double* values, long long pitch, long long at, \
                                 const unsigned* first, const unsigned char* degrees, const unsigned* delays, int count, double* sums,             \
                                 double* squares) {                                                                                                \
    products(states, origin, rows, size, Targets{values, pitch, first, delays, degrees, count}, at, sums, squares);                                 \
  }
CAPACITY(f32, float)
CAPACITY(f64, double)

/** totals[i] += parts[0][i], then parts[1][i], ...; grid: any. */
extern "C" __global__ void __launch_bounds__(256) capacity_fold(const double* parts, int blocks, long long count, double* totals) {
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < count; i += (long long)gridDim.x * blockDim.x) {
    double total = totals[i];
    for (int block = 0; block < blocks; block++) total = add(total, parts[block * count + i]);
    totals[i] = total;
  }
}
