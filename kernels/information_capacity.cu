// Information processing capacity on the device: products of a reservoir's states with targets that
// are made as they are needed, summed in the order of docs/numerics.md, rule 9.
#include "portable.cuh"

namespace {
using portable::add;
using portable::mul;
using portable::sub;
}  // namespace

namespace {

constexpr int capacityRows = 1024, targetTile = 128, leftTile = 52, capacityDepth = 16;

/**
 * Left columns and targets that a thread sums, and threads of a block: a warp has its own columns.
 */
constexpr int ownLefts = 13, ownTargets = 4, productThreads = leftTile / ownLefts * 32;

/** Columns of a tile with those of each warp at an even index. */
constexpr int paddedTile = leftTile / ownLefts * (ownLefts + 1);

/** Terms of a target that are kept at hand; those behind are read anew. */
constexpr int heldTerms = 6;

/**
 * The targets of information processing capacity: terms of target j are first[j] to first[j + 1].
 */
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
 * multiplied while the next ones are made. Blocks of rows follow one another, or with `apart` are
 * the same `rows` rows of one reservoir each.
 */
__device__ __forceinline__ void products(const double2* factors, int rows, int lefts, const Targets& targets, long long at, bool apart, double* sums,
                                         double* squares) {
  __shared__ double2 left[2][capacityDepth][leftTile / ownLefts][(ownLefts + 1) / 2];
  __shared__ uint4 right[2][targetTile][capacityDepth / 4 + 1];
  __shared__ long long indices[targetTile][heldTerms];
  const int tiles = (lefts + leftTile - 1) / leftTile;
  const int tile = blockIdx.x % tiles, firstLeft = tile * leftTile, firstTarget = blockIdx.x / tiles * targetTile;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int begin = blockIdx.y * capacityRows, end = apart ? begin + rows : min(rows, begin + capacityRows);
  const double* const series = targets.values + (apart ? at - begin : at);
  auto indexOf = [&](unsigned term) { return targets.degrees[term] * targets.pitch - targets.delays[term]; };
  for (int i = threadIdx.x; i < targetTile * heldTerms; i += productThreads) {
    const int target = firstTarget + i / heldTerms, term = i % heldTerms;
    long long found = -1;
    if (target < targets.count && term < targets.first[target + 1] - targets.first[target]) found = indexOf(targets.first[target] + term);
    indices[i / heldTerms][term] = found;
  }
  __syncthreads();
  // Degrees begin at 1 and delays end within the series: an index is never below 0.
  auto value = [&](int own, int row) {
    const double* const now = series + row;
    if (indices[own][0] < 0) return 0.0;
    double product = now[indices[own][0]];
#pragma unroll
    for (int k = 1; k < heldTerms; k++) {
      const long long next = indices[own][k];
      if (next >= 0) product = mul(product, now[next]);
    }
    if (indices[own][heldTerms - 1] >= 0) {
      const unsigned last = targets.first[firstTarget + own + 1];
      for (unsigned term = targets.first[firstTarget + own] + heldTerms; term < last; term++) product = mul(product, now[indexOf(term)]);
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
  /* the first row of the states of each reservoir, `rows` x size, in binary64; grid: 1 x reservoirs */                                            \
  extern "C" __global__ void __launch_bounds__(256) capacity_origin_##suffix(const Real* states, int rows, int size, double* origin) {              \
    const size_t own = blockIdx.y;                                                                                                                 \
    for (int i = threadIdx.x; i < size; i += blockDim.x) origin[own * size + i] = (double)states[own * rows * size + i];                           \
  }                                                                                                                                                \
  /* rows of [1, states] as a panel, those of the next reservoir 1024 rows behind; grid: any x reservoirs */                                       \
  extern "C" __global__ void __launch_bounds__(256)                                                                                                \
      capacity_rows_##suffix(const Real* states, const double* origin, int count, int size, double* out) {                                          \
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count * (size + 1); i += gridDim.x * blockDim.x)                                        \
      out[(size_t)blockIdx.y * capacityRows * (size + 1) + i] =                                                                                    \
          centred(states + (size_t)blockIdx.y * count * size, origin + (size_t)blockIdx.y * size, size, i / (size + 1), i % (size + 1));           \
  }                                                                                                                                                \
  /* the same as factors of products: rows x tiles x paddedTile; grid: any x reservoirs */                                                         \
  extern "C" __global__ void __launch_bounds__(256)                                                                                                \
      capacity_factors_##suffix(const Real* states, const double* origin, int count, int size, double* out) {                                       \
    const int width = (size + leftTile) / leftTile * paddedTile;                                                                                   \
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count * width; i += gridDim.x * blockDim.x) {                                           \
      const int own = i % width % (ownLefts + 1), c = i % width / (ownLefts + 1) * ownLefts + own;                                                 \
      out[(size_t)blockIdx.y * capacityRows * width + i] =                                                                                         \
          own < ownLefts && c <= size                                                                                                              \
              ? cutFactor(centred(states + (size_t)blockIdx.y * count * size, origin + (size_t)blockIdx.y * size, size, i / width, c))             \
              : 0.0;                                                                                                                               \
    }                                                                                                                                              \
  }
CAPACITY(f32, float)
CAPACITY(f64, double)

/**
 * factors: those of rows; sums: blocks x targets x lefts; squares: blocks x targets; grid: tiles x
 * blocks of 1024 rows, or with `apart` of so many reservoirs' first `rows` of 1024 rows.
 */
extern "C" __global__ void __launch_bounds__(productThreads, 3)
    capacity_products(const double2* factors, int rows, int lefts, const double* values, long long pitch, long long at, const unsigned* first,
                      const unsigned char* degrees, const unsigned* delays, int count, int apart, double* sums, double* squares) {
  products(factors, rows, lefts, Targets{values, pitch, first, delays, degrees, count}, at, apart != 0, sums, squares);
}

/** totals[i] += parts[0][i], then parts[1][i], ...; grid: any. */
extern "C" __global__ void __launch_bounds__(256) capacity_fold(const double* parts, int blocks, long long count, double* totals) {
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < count; i += (long long)gridDim.x * blockDim.x) {
    double total = totals[i];
    for (int block = 0; block < blocks; block++) total = add(total, parts[block * count + i]);
    totals[i] = total;
  }
}

/**
 * Sums of [1, states] with the targets, reservoirs x targets x lefts, less the means of the states
 * times the targets' sums: reservoirs x size x targets. Means are of the triangles' first rows.
 */
extern "C" __global__ void __launch_bounds__(256) capacity_centre(const double* sums, const double* triangles, int targets, int size, double* out) {
  const int lefts = size + 1;
  const double* const own = sums + (size_t)blockIdx.y * targets * lefts;
  const double* const first = triangles + (size_t)blockIdx.y * lefts * lefts;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < targets * size; i += gridDim.x * blockDim.x) {
    const int c = i / targets, j = i % targets;
    const double mean = portable::div(first[c + 1], first[0]);
    out[(size_t)blockIdx.y * targets * size + i] = sub(own[(size_t)j * lefts + c + 1], mul(mean, own[(size_t)j * lefts]));
  }
}

namespace {

/** Passes over all pairs of rows, and products of a warp that are made at a time. */
constexpr int mostPasses = 60, ahead = 30;

__device__ __forceinline__ double dot(const double* p, const double* q, int n) {
  double sum = 0.0;
#pragma unroll 8
  for (int c = 0; c < n; c++) sum = portable::mulAdd(p[c], q[c], sum);
  return sum;
}

/**
 * Rotates the rows of an n x n matrix until they are orthogonal (one-sided Jacobi), as the host
 * does: one warp. Products of row i with the next rows are made at once, and again from the row on
 * that was turned.
 */
__device__ __forceinline__ void orthogonalise(double* r, int pitch, int n, double* squares) {
  const int lane = threadIdx.x;
  for (int i = lane; i < n; i += 32) squares[i] = dot(r + (size_t)i * pitch, r + (size_t)i * pitch, n);
  __syncwarp();
  bool rotated = true;
  for (int pass = 0; rotated && pass < mostPasses; pass++) {
    rotated = false;
    for (int i = 0; i < n; i++) {
      double* const p = r + (size_t)i * pitch;
      // The longest of the rows from i on comes here, the first of equals.
      double most = squares[i];
      int longest = i;
      for (int j = i + 1 + lane; j < n; j += 32)
        if (squares[j] > most) most = squares[j], longest = j;
#pragma unroll
      for (int distance = 16; distance > 0; distance >>= 1) {
        const double theirs = __shfl_xor_sync(0xffffffffu, most, distance);
        const int other = __shfl_xor_sync(0xffffffffu, longest, distance);
        if (theirs > most || (theirs == most && other < longest)) most = theirs, longest = other;
      }
      if (longest != i) {
        double* const q = r + (size_t)longest * pitch;
        for (int c = lane; c < n; c += 32) {
          const double value = p[c];
          p[c] = q[c];
          q[c] = value;
        }
        __syncwarp();
        if (lane == 0) {
          const double value = squares[i];
          squares[i] = squares[longest];
          squares[longest] = value;
        }
      }
      __syncwarp();
      int turned = -1;
      for (int j = i + 1; j < n || turned >= 0;) {
        // Lanes behind `ahead` have the new lengths of the two rows that were turned.
        const int other = lane < ahead ? j + lane : lane == ahead ? i : turned;
        const bool wanted = lane < ahead ? other < n : turned >= 0;
        const double product = wanted ? dot(lane <= ahead ? p : r + (size_t)other * pitch, r + (size_t)other * pitch, n) : 0.0;
        if (lane >= ahead && wanted) squares[other] = product;
        turned = -1;
        __syncwarp();
        bool turns = false;
        if (lane < ahead && wanted) turns = fabs(product) > mul(0x1p-51, portable::root(mul(squares[i], squares[other])));
        const unsigned those = __ballot_sync(0xffffffffu, turns);
        if (those == 0) {
          j += ahead;
          continue;
        }
        rotated = true;
        const int first = __ffs(those) - 1;
        turned = j + first;
        const double pq = __shfl_sync(0xffffffffu, product, first);
        double* const q = r + (size_t)turned * pitch;
        const double ratio = portable::div(sub(squares[turned], squares[i]), mul(2.0, pq));
        const double tangent = portable::div(ratio < 0.0 ? -1.0 : 1.0, add(fabs(ratio), portable::root(add(1.0, mul(ratio, ratio)))));
        const double cosine = portable::div(1.0, portable::root(add(1.0, mul(tangent, tangent)))), sine = mul(cosine, tangent);
        for (int c = lane; c < n; c += 32) {
          const double x = p[c], y = q[c];
          p[c] = sub(mul(cosine, x), mul(sine, y));
          q[c] = add(mul(sine, x), mul(cosine, y));
        }
        j = turned + 1;
        __syncwarp();
      }
    }
  }
  for (int i = lane; i < n; i += 32) squares[i] = dot(r + (size_t)i * pitch, r + (size_t)i * pitch, n);
  __syncwarp();
}

}  // namespace

/**
 * Singular values and right singular vectors of the states of each reservoir, those above
 * `tolerance` times the largest: of the triangles of [1, states], (n + 1) x (n + 1), the part of
 * the states. values: reservoirs x n, vectors: reservoirs x n x n, row by row; a warp a reservoir.
 * Shared memory: n values, and the matrix with an odd pitch if `resident`; else it is in `vectors`
 * and `work`.
 */
extern "C" __global__ void __launch_bounds__(32) capacity_basis(const double* triangles, int n, double tolerance, double* values, double* vectors,
                                                                 double* work, int* ranks, int resident) {
  extern __shared__ double shared[];
  const size_t own = blockIdx.x;
  const int lane = threadIdx.x, lefts = n + 1, pitch = resident ? n | 1 : n;
  double* const squares = shared;
  double* const r = resident ? shared + n : work + own * n * n;
  const double* const from = triangles + own * lefts * lefts;
  for (int i = lane; i < n * n; i += 32) r[i / n * pitch + i % n] = from[(size_t)(i / n + 1) * lefts + i % n + 1];
  __syncwarp();
  orthogonalise(r, pitch, n, squares);
  double most = 0.0;
  for (int i = 0; i < n; i++) most = fmax(most, squares[i]);
  const double least = mul(tolerance, portable::root(most));
  int kept = 0;
  for (int i = 0; i < n; i++) {
    const double square = squares[i], value = portable::root(square);
    if (!(value > least)) continue;
    kept++;
    int before = 0;
    for (int j = lane; j < n; j += 32) before += squares[j] > square || (squares[j] == square && j < i);
#pragma unroll
    for (int distance = 16; distance > 0; distance >>= 1) before += __shfl_xor_sync(0xffffffffu, before, distance);
    const int rank = before;
    if (lane == 0) values[own * n + rank] = value;
    for (int c = lane; c < n; c += 32) vectors[own * n * n + (size_t)rank * n + c] = portable::div(r[(size_t)i * pitch + c], value);
  }
  if (lane == 0) ranks[own] = kept;
}

/**
 * Capacities of centred products (reservoirs x n x targets): reservoirs x targets; grid: targets /
 * 128 x reservoirs.
 */
extern "C" __global__ void __launch_bounds__(128) capacity_shares(const double* centred, const double* squares, const double* values, const double* vectors,
                                                                  const int* ranks, int targets, int n, double* out) {
  constexpr int together = 8;
  const size_t own = blockIdx.y;
  const int j = blockIdx.x * blockDim.x + threadIdx.x, rank = ranks[own];
  if (j >= targets) return;
  const double* const product = centred + own * targets * n + j;
  double share = 0.0;
  for (int first = 0; first < rank; first += together) {
    const double* const directions = vectors + own * n * n + (size_t)first * n;
    double sum[together] = {};
    const int count = min(together, rank - first);
    for (int i = 0; i < n; i++) {
      const double value = product[(size_t)i * targets];
#pragma unroll
      for (int k = 0; k < together; k++)
        if (k < count) sum[k] = portable::mulAdd(directions[(size_t)k * n + i], value, sum[k]);
    }
#pragma unroll
    for (int k = 0; k < together; k++)
      if (k < count) {
        const double along = portable::div(sum[k], values[own * n + first + k]);
        share = portable::mulAdd(along, along, share);
      }
  }
  const double square = squares[own * targets + j];
  out[own * targets + j] = square > 0.0 ? portable::div(share, square) : 0.0;
}
