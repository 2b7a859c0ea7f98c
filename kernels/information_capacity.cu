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

constexpr int capacityRows = 1024, targetTile = 128, leftTile = 64, capacityDepth = 16;

/** Terms of a target that are kept at hand; those behind are read anew. */
constexpr int heldTerms = 6;

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
 * squares, each sum in rising order from +0 (rule 9); `fused` multiplies and adds in one rounding. A
 * tile of lefts and targets a block of threads, blockDim.x / 16 times 4 lefts.
 */
template <typename Real>
__device__ __forceinline__ void products(const Real* states, const double* origin, int rows, int size, const Targets& targets, long long at, double* sums,
                                         double* squares, bool fused) {
  constexpr int part = targetTile / 16;
  __shared__ double left[capacityDepth][leftTile], right[targetTile][capacityDepth + 1];
  __shared__ long long places[targetTile][heldTerms];
  const int lefts = size + 1, width = blockDim.x / 16 * 4, tiles = (lefts + width - 1) / width;
  const int firstLeft = blockIdx.x % tiles * width, firstTarget = blockIdx.x / tiles * targetTile;
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  const int begin = blockIdx.y * capacityRows, end = min(rows, begin + capacityRows);
  auto place = [&](unsigned term) { return targets.degrees[term] * targets.pitch - targets.delays[term]; };
  for (int i = threadIdx.x; i < targetTile * heldTerms; i += blockDim.x) {
    const int target = firstTarget + i / heldTerms;
    if (target >= targets.count) continue;
    const unsigned term = targets.first[target] + i % heldTerms;
    places[i / heldTerms][i % heldTerms] = term < targets.first[target + 1] ? place(term) : -1;
  }
  // Degrees begin at 1 and delays end within the series: a place is never below 0.
  auto value = [&](int own, int row) {
    const double* const now = targets.values + at + row;
    double product = now[places[own][0]];
    for (int k = 1; k < heldTerms; k++) {
      const long long next = places[own][k];
      if (next < 0) return product;
      product = mul(product, now[next]);
    }
    const unsigned last = targets.first[firstTarget + own + 1];
    for (unsigned term = targets.first[firstTarget + own] + heldTerms; term < last; term++) product = mul(product, now[place(term)]);
    return product;
  };
  double sum[4][part] = {}, square[2] = {};
  __syncthreads();
  for (int t = begin; t < end; t += capacityDepth) {
    const int count = min(capacityDepth, end - t);
    for (int i = threadIdx.x; i < capacityDepth * width; i += blockDim.x) {
      const int row = i / width, c = i % width;
      left[row][c] = row < count && firstLeft + c < lefts ? centred(states, origin, size, t + row, firstLeft + c) : 0.0;
    }
    for (int i = threadIdx.x; i < targetTile * capacityDepth; i += blockDim.x) {
      const int own = i / capacityDepth, row = i % capacityDepth;
      right[own][row] = row < count && firstTarget + own < targets.count ? value(own, t + row) : 0.0;
    }
    __syncthreads();
    auto accumulate = [&](int row, bool inOne) {
      double a[4], b[part];
#pragma unroll
      for (int i = 0; i < 4; i++) a[i] = left[row][y * 4 + i];
#pragma unroll
      for (int j = 0; j < part; j++) b[j] = right[j * 16 + x][row];
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < part; j++) sum[i][j] = inOne ? __fma_rn(a[i], b[j], sum[i][j]) : mulAdd(a[i], b[j], sum[i][j]);
    };
    if (fused)
#pragma unroll 2
      for (int row = 0; row < capacityDepth; row++) accumulate(row, true);
    else
#pragma unroll 2
      for (int row = 0; row < capacityDepth; row++) accumulate(row, false);
    if (firstLeft == 0)
#pragma unroll
      for (int s = 0; s < 2; s++) {
        const int own = threadIdx.x + s * blockDim.x;
        if (own < targetTile)
          for (int row = 0; row < count; row++) square[s] = mulAdd(right[own][row], right[own][row], square[s]);
      }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < part; j++) {
      const int target = firstTarget + j * 16 + x, c = firstLeft + y * 4 + i;
      if (target < targets.count && c < lefts) sums[((size_t)blockIdx.y * targets.count + target) * lefts + c] = sum[i][j];
    }
  if (firstLeft == 0)
#pragma unroll
    for (int s = 0; s < 2; s++) {
      const int own = threadIdx.x + s * blockDim.x;
      if (own < targetTile && firstTarget + own < targets.count) squares[(size_t)blockIdx.y * targets.count + firstTarget + own] = square[s];
    }
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
  extern "C" __global__ void __launch_bounds__(256, 2)                                                                                             \
      capacity_products_##suffix(const Real* states, const double* origin, int rows, int size, const double* values, long long pitch, long long at, \
                                 const unsigned* first, const unsigned char* degrees, const unsigned* delays, int count, double* sums,             \
                                 double* squares, int fused) {                                                                                     \
    products(states, origin, rows, size, Targets{values, pitch, first, delays, degrees, count}, at, sums, squares, fused != 0);                     \
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
