// Information processing capacity on the device: products of a reservoir's states with targets that are
// made as they are needed, summed in the order of docs/numerics.md, rule 9.
#include "portable.cuh"

namespace {
using portable::add;
using portable::mul;
using portable::sub;
}  // namespace

namespace {

constexpr int capacityRows = 1024, targetTile = 128, leftTile = 52, capacityDepth = 16;

/** Left columns and targets that a thread sums, and threads of a block: a warp has its own columns. */
constexpr int ownLefts = 13, ownTargets = 4, productThreads = leftTile / ownLefts * 32;

/** Columns of a tile with those of each warp at an even place. */
constexpr int paddedTile = leftTile / ownLefts * (ownLefts + 1);

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

/** The upper word of 2^-479; what is smaller counts as 0. */
constexpr unsigned smallest = 0x22000000u;

/** Row t of column c of [1, states less those of the first row]. */
template <typename Real> __device__ __forceinline__ double centred(const Real* states, const double* origin, int size, int t, int c) {
  return c == 0 ? 1.0 : sub((double)states[(size_t)t * size + c - 1], origin[c - 1]);
}

/** The first 32 bits of a factor. */
__device__ __forceinline__ double cutFactor(double value) {
  const unsigned high = __double2hiint(value);
  return (high & 0x7fffffffu) < smallest ? 0.0 : __hiloint2double(high, __double2loint(value) & 0xffe00000u);
}

/** The upper word of a target: its first 21 bits, of which a product with a factor is exact. */
__device__ __forceinline__ unsigned cutTarget(double value) {
  const unsigned high = __double2hiint(value);
  return (high & 0x7fffffffu) < smallest ? 0u : high;
}

/**
 * Products of the columns [1, states] with the targets over a block of 1024 rows, and the targets'
 * squares, each sum in rising order from +0 (rule 9). Products are exact, so fused operations have
 * the bits of separate ones. A tile of lefts and targets a block of threads: 16 rows of it are
 * multiplied while the next ones are made.
 */
__device__ __forceinline__ void products(const double2* factors, int rows, int lefts, const Targets& targets, long long at, double* sums, double* squares) {
  __shared__ double2 left[2][capacityDepth][leftTile / ownLefts][(ownLefts + 1) / 2];
  __shared__ uint4 right[2][targetTile][capacityDepth / 4 + 1];
  __shared__ long long places[targetTile][heldTerms];
  const int tiles = (lefts + leftTile - 1) / leftTile;
  const int tile = blockIdx.x % tiles, firstLeft = tile * leftTile, firstTarget = blockIdx.x / tiles * targetTile;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int begin = blockIdx.y * capacityRows, end = min(rows, begin + capacityRows);
  auto place = [&](unsigned term) { return targets.degrees[term] * targets.pitch - targets.delays[term]; };
  for (int i = threadIdx.x; i < targetTile * heldTerms; i += productThreads) {
    const int target = firstTarget + i / heldTerms, term = i % heldTerms;
    long long found = -1;
    if (target < targets.count && term < targets.first[target + 1] - targets.first[target]) found = place(targets.first[target] + term);
    places[i / heldTerms][term] = found;
  }
  __syncthreads();
  // Degrees begin at 1 and delays end within the series: a place is never below 0.
  auto value = [&](int own, int row) {
    const double* const now = targets.values + at + row;
    if (places[own][0] < 0) return 0.0;
    double product = now[places[own][0]];
#pragma unroll
    for (int k = 1; k < heldTerms; k++) {
      const long long next = places[own][k];
      if (next >= 0) product = mul(product, now[next]);
    }
    if (places[own][heldTerms - 1] >= 0) {
      const unsigned last = targets.first[firstTarget + own + 1];
      for (unsigned term = targets.first[firstTarget + own] + heldTerms; term < last; term++) product = mul(product, now[place(term)]);
    }
    return product;
  };
  auto make = [&](int t, int slot) {
    const int count = min(capacityDepth, end - t);
    double2* const columns = &left[slot][0][0][0];
    const double2* const from = factors + (size_t)t * tiles * (paddedTile / 2) + tile * (paddedTile / 2);
#pragma unroll 2
    for (int i = threadIdx.x; i < capacityDepth * paddedTile / 2; i += productThreads) {
      const int row = i / (paddedTile / 2), c = i % (paddedTile / 2);
      columns[i] = row < count ? from[(size_t)row * tiles * (paddedTile / 2) + c] : double2{0.0, 0.0};
    }
    const int row = threadIdx.x % capacityDepth;
    const bool there = row < count;
    unsigned* const words = reinterpret_cast<unsigned*>(right[slot]);
#pragma unroll 2
    for (int own = threadIdx.x / capacityDepth; own < targetTile; own += productThreads / capacityDepth)
      words[own * (capacityDepth + 4) + row] = there ? cutTarget(value(own, t + row)) : 0u;
  };
  double sum[ownLefts][ownTargets] = {}, square = 0.0;
  auto word = [](const uint4& four, int i) { return i == 0 ? four.x : i == 1 ? four.y : i == 2 ? four.z : four.w; };
  for (int t = begin - capacityDepth, slot = 1; t < end; t += capacityDepth, slot ^= 1) {
    if (t + capacityDepth < end) make(t + capacityDepth, slot ^ 1);
    if (t < begin) {
      __syncthreads();
      continue;
    }
#pragma unroll 1
    for (int quad = 0; quad < capacityDepth / 4; quad++) {
      uint4 given[ownTargets];
#pragma unroll
      for (int j = 0; j < ownTargets; j++) given[j] = right[slot][j * 32 + lane][quad];
#pragma unroll
      for (int r = 0; r < 4; r++) {
        double b[ownTargets];
#pragma unroll
        for (int j = 0; j < ownTargets; j++) b[j] = __hiloint2double(word(given[j], r), 0);
#pragma unroll
        for (int pair = 0; pair < (ownLefts + 1) / 2; pair++) {
          const double2 a = left[slot][quad * 4 + r][warp][pair];
#pragma unroll
          for (int j = 0; j < ownTargets; j++) {
            sum[2 * pair][j] = __fma_rn(a.x, b[j], sum[2 * pair][j]);
            if (2 * pair + 1 < ownLefts) sum[2 * pair + 1][j] = __fma_rn(a.y, b[j], sum[2 * pair + 1][j]);
          }
        }
      }
    }
    if (firstLeft == 0)
#pragma unroll
      for (int quad = 0; quad < capacityDepth / 4; quad++) {
        const uint4 own = right[slot][threadIdx.x][quad];
#pragma unroll
        for (int r = 0; r < 4; r++) {
          const double z = __hiloint2double(word(own, r), 0);
          square = __fma_rn(z, z, square);
        }
      }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < ownLefts; i++)
#pragma unroll
    for (int j = 0; j < ownTargets; j++) {
      const int target = firstTarget + j * 32 + lane, c = firstLeft + warp * ownLefts + i;
      if (target < targets.count && c < lefts) sums[((size_t)blockIdx.y * targets.count + target) * lefts + c] = sum[i][j];
    }
  if (firstLeft == 0 && firstTarget + threadIdx.x < targets.count) squares[(size_t)blockIdx.y * targets.count + firstTarget + threadIdx.x] = square;
}

}  // namespace

#define CAPACITY(suffix, Real)                                                                                                                     \
  /* the first row of states in binary64 */                                                                                                        \
  extern "C" __global__ void __launch_bounds__(256) capacity_origin_##suffix(const Real* states, int size, double* origin) {                        \
    for (int i = threadIdx.x; i < size; i += blockDim.x) origin[i] = (double)states[i];                                                            \
  }                                                                                                                                                \
  /* rows of [1, states] as a panel; grid: any */                                                                                               \
  extern "C" __global__ void __launch_bounds__(256)                                                                                                \
      capacity_rows_##suffix(const Real* states, const double* origin, int count, int size, double* out) {                                          \
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count * (size + 1); i += gridDim.x * blockDim.x)                                        \
      out[i] = centred(states, origin, size, i / (size + 1), i % (size + 1));                                                                      \
  }                                                                                                                                                \
  /* the same as factors of products: rows x tiles x paddedTile; grid: any */                                                                      \
  extern "C" __global__ void __launch_bounds__(256)                                                                                                \
      capacity_factors_##suffix(const Real* states, const double* origin, int count, int size, double* out) {                                       \
    const int width = (size + leftTile) / leftTile * paddedTile;                                                                                   \
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count * width; i += gridDim.x * blockDim.x) {                                           \
      const int own = i % width % (ownLefts + 1), c = i % width / (ownLefts + 1) * ownLefts + own;                                                 \
      out[i] = own < ownLefts && c <= size ? cutFactor(centred(states, origin, size, i / width, c)) : 0.0;                                          \
    }                                                                                                                                              \
  }
CAPACITY(f32, float)
CAPACITY(f64, double)

/** factors: those of rows; sums: blocks x targets x lefts; squares: blocks x targets; grid: tiles x blocks of 1024 rows. */
extern "C" __global__ void __launch_bounds__(productThreads, 3)
    capacity_products(const double2* factors, int rows, int lefts, const double* values, long long pitch, long long at, const unsigned* first,
                      const unsigned char* degrees, const unsigned* delays, int count, double* sums, double* squares) {
  products(factors, rows, lefts, Targets{values, pitch, first, delays, degrees, count}, at, sums, squares);
}

/** totals[i] += parts[0][i], then parts[1][i], ...; grid: any. */
extern "C" __global__ void __launch_bounds__(256) capacity_fold(const double* parts, int blocks, long long count, double* totals) {
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < count; i += (long long)gridDim.x * blockDim.x) {
    double total = totals[i];
    for (int block = 0; block < blocks; block++) total = add(total, parts[block * count + i]);
    totals[i] = total;
  }
}
