// The long-vector work of a Krylov-Schur iteration in binary64 (docs/numerics.md, rule 7): products
// with W, orthogonalization, change of basis. Every sum is in the order of
// assembly/spectrum/krylov.ts, so a radius has the host's bits. The small projected problem is the
// host's.
#include "packing.cuh"

using packing::bfloat16;

namespace {

/** Of the largest basis that is tried (krylov-attempts.ts). */
const int mostVectors = 120;

/** What an Arnoldi step leaves for the host, before its two passes of projections. */
enum Record { BEFORE = 0, AFTER_FIRST = 1, AFTER_SECOND = 2, HEAD = 4 };

__device__ __forceinline__ double widened(double w) { return w; }
__device__ __forceinline__ double widened(float w) { return (double)w; }
__device__ __forceinline__ double widened(bfloat16 w) { return (double)__uint_as_float((unsigned)w << 16); }

/** Whether the first pass left so much of the vector that there is no second. */
__device__ __forceinline__ bool oncePassed(const double* record) {
  return record[AFTER_FIRST] > portable::mul(0.5, record[BEFORE]);
}

/** sum + in[0] + in[1] + ..., one after the other. `in` is aligned to 16 bytes. */
__device__ __forceinline__ double added(double sum, const double* in, int count) {
  int k = 0;
  for (; k + 32 <= count; k += 32) {
    double2 v[16];
#pragma unroll
    for (int i = 0; i < 16; i++) v[i] = *(const double2*)(in + k + 2 * i);
#pragma unroll
    for (int i = 0; i < 16; i++) sum = portable::add(portable::add(sum, v[i].x), v[i].y);
  }
  for (; k < count; k++) sum = portable::add(sum, in[k]);
  return sum;
}

/**
 * Threads of the largest block of `chains`, those of its first warp aside, and the numbers that
 * each multiplies for a tile.
 */
const int mostMakers = 256, each = 4;

/**
 * CHAINS sums of a[k] b[k], k modulo CHAINS, each in rising order: warp 0 adds one product after
 * the other while the other warps make those of the next tile and load those of the one after it.
 * The sums are in the first CHAINS lanes of warp 0.
 */
template <int CHAINS> __device__ __forceinline__ double chains(const double* __restrict__ a, const double* __restrict__ b, int n) {
  __shared__ __align__(16) double products[2][CHAINS][mostMakers * each / CHAINS + 2];
  const int maker = (int)threadIdx.x - 32, makers = blockDim.x - 32, tile = makers * each;
  double left[each], right[each], sum = 0;
  auto load = [&](int first) {
#pragma unroll
    for (int i = 0; i < each; i++) {
      const int k = first + maker + i * makers;
      left[i] = k < n ? a[k] : 0.0;
      right[i] = k < n ? b[k] : 0.0;
    }
  };
  if (maker >= 0) load(0);
  for (int from = -tile, turn = 1; from < n; from += tile, turn ^= 1) {
    if (maker >= 0 && from + tile < n) {
#pragma unroll
      for (int i = 0; i < each; i++) {
        const int k = maker + i * makers;
        products[turn ^ 1][k % CHAINS][k / CHAINS] = portable::mul(left[i], right[i]);
      }
      if (from + 2 * tile < n) load(from + 2 * tile);
    } else if (threadIdx.x < CHAINS && from >= 0) {
      const int count = (min(tile, n - from) - (int)threadIdx.x + CHAINS - 1) / CHAINS;
      sum = added(sum, products[turn][threadIdx.x], count);
    }
    __syncthreads();
  }
  return sum;
}

/**
 * y = A x for rows of `stride` elements: the sums of a row's even and odd columns, 32 rows a block.
 * Two warps add while eight, of four rows each, multiply and load what comes next.
 */
template <typename Weight>
__device__ __forceinline__ void denseProduct(const Weight* __restrict__ A, const double* __restrict__ x, double* y, int n, int stride) {
  const int columns = 64, half = 40, pitch = 74;
  __shared__ __align__(16) double products[2][32 * pitch];
  __shared__ double odd[32];
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, row0 = blockIdx.x * 32, ownRow = row0 + 4 * (warp - 2);
  Weight weights[4][2];
  double factors[2], sum = 0;
  auto load = [&](int first) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
      const int c = first + lane + 32 * i;
      factors[i] = c < n ? x[c] : 0.0;
#pragma unroll
      for (int r = 0; r < 4; r++) weights[r][i] = c < n && ownRow + r < n ? A[(size_t)(ownRow + r) * stride + c] : (Weight)0;
    }
  };
  if (warp >= 2 && ownRow < n) load(0);
  for (int from = -columns, turn = 1; from < n; from += columns, turn ^= 1) {
    if (warp >= 2 && ownRow < n && from + columns < n) {
#pragma unroll
      for (int i = 0; i < 2; i++) {
        const int c = lane + 32 * i;
#pragma unroll
        for (int r = 0; r < 4; r++)
          products[turn ^ 1][(4 * (warp - 2) + r) * pitch + (c & 1) * half + (c >> 1)] = portable::mul(widened(weights[r][i]), factors[i]);
      }
      if (from + 2 * columns < n) load(from + 2 * columns);
    } else if (warp < 2 && from >= 0 && row0 + lane < n) {
      sum = added(sum, products[turn] + lane * pitch + warp * half, (min(columns, n - from) - warp + 1) / 2);
    }
    __syncthreads();
  }
  if (warp == 1) odd[lane] = sum;
  __syncthreads();
  if (warp == 0 && row0 + lane < n) y[row0 + lane] = portable::add(sum, odd[lane]);
}

}  // namespace

/**
 * y = W x for a CSR matrix; four lanes a row, by position modulo 4, (0 + 1) + (2 + 3), and then the
 * up to three entries that are left over.
 */
extern "C" __global__ void __launch_bounds__(256)
    krylov_product_sparse(const unsigned* __restrict__ offsets, const unsigned* __restrict__ columns, const double* __restrict__ values,
                          const double* __restrict__ x, double* y, int rows) {
  const int warps = gridDim.x * (blockDim.x >> 5), lane = threadIdx.x & 3;
  for (int first = 8 * (blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5)); first < rows; first += 8 * warps) {
    const int r = first + ((threadIdx.x & 31) >> 2);
    const unsigned begin = r < rows ? offsets[r] : 0, end = r < rows ? offsets[r + 1] : 0, whole = begin + ((end - begin) & ~3u);
    double sum = 0;
#pragma unroll 4
    for (unsigned p = begin + lane; p < whole; p += 4) sum = portable::mulAdd(values[p], x[columns[p]], sum);
    sum = portable::add(sum, __shfl_xor_sync(0xffffffffu, sum, 1));
    sum = portable::add(sum, __shfl_xor_sync(0xffffffffu, sum, 2));
    for (unsigned p = whole; p < end; p++) sum = portable::mulAdd(values[p], x[columns[p]], sum);
    if (lane == 0 && r < rows) y[r] = sum;
  }
}

#define PRODUCT_DENSE(NAME, WEIGHT)                                                                                                          \
  extern "C" __global__ void __launch_bounds__(320) NAME(const WEIGHT* A, const double* x, double* y, int n, int stride) {                   \
    denseProduct<WEIGHT>(A, x, y, n, stride);                                                                                                \
  }
PRODUCT_DENSE(krylov_product_f64, double)
PRODUCT_DENSE(krylov_product_f32, float)
PRODUCT_DENSE(krylov_product_bf16, bfloat16)

/**
 * Block i < count: h[i] = v_i . w. Block `count`: norm = w . w, or the norm after the first pass
 * if there is no second and `last` is set.
 */
extern "C" __global__ void __launch_bounds__(32 + mostMakers)
    krylov_dots(const double* basis, const double* w, double* h, double* record, int which, int last, int count, int n) {
  if (blockIdx.x < count) {
    const double sum = chains<2>(basis + (size_t)blockIdx.x * n, w, n);
    if (threadIdx.x < 32) {
      const double other = __shfl_xor_sync(0xffffffffu, sum, 1);
      if (threadIdx.x == 0) h[blockIdx.x] = portable::add(sum, other);
    }
    return;
  }
  if (last && oncePassed(record)) {
    if (threadIdx.x == 0) record[which] = record[AFTER_FIRST];
    return;
  }
  double sum = chains<4>(w, w, n);
  if (threadIdx.x >= 32) return;
  sum = portable::add(sum, __shfl_xor_sync(0xffffffffu, sum, 2));
  sum = portable::add(sum, __shfl_xor_sync(0xffffffffu, sum, 1));
  if (threadIdx.x == 0) record[which] = sum;
}

/**
 * w -= V^T h, four vectors at a time; nothing if `second` is set and there is no second pass.
 */
extern "C" __global__ void __launch_bounds__(256)
    krylov_subtract(const double* __restrict__ basis, double* w, const double* __restrict__ h, const double* record, int second, int count, int n) {
  if (second && oncePassed(record)) return;
  for (int c = blockIdx.x * blockDim.x + threadIdx.x; c < n; c += gridDim.x * blockDim.x) {
    const double* v = basis + c;
    double x = w[c];
    int i = 0;
    for (; i + 4 <= count; i += 4, v += 4 * (size_t)n) {
      const double left = portable::add(portable::mul(h[i], v[0]), portable::mul(h[i + 1], v[n]));
      const double right = portable::add(portable::mul(h[i + 2], v[2 * (size_t)n]), portable::mul(h[i + 3], v[3 * (size_t)n]));
      x = portable::sub(x, portable::add(left, right));
    }
    for (; i < count; i++, v += n) x = portable::sub(x, portable::mul(h[i], v[0]));
    w[c] = x;
  }
}

/** w / |w|, or zeros if next to nothing is left of it. */
extern "C" __global__ void __launch_bounds__(256) krylov_normalise(double* w, const double* record, int n) {
  const double after = record[AFTER_SECOND];
  const double factor = after <= portable::mul(1e-26, record[BEFORE]) ? 0.0 : portable::div(1.0, portable::root(after));
  for (int c = blockIdx.x * blockDim.x + threadIdx.x; c < n; c += gridDim.x * blockDim.x) w[c] = portable::mul(w[c], factor);
}

/**
 * The first `keep` of `count` vectors become V Q, Q of rows of `ld`; 32 numbers of each vector a
 * block.
 */
extern "C" __global__ void __launch_bounds__(256) krylov_change_basis(double* basis, const double* __restrict__ q, int count, int keep, int ld, int n) {
  __shared__ double strip[mostVectors][32];
  const int c = blockIdx.x * 32 + (threadIdx.x & 31), part = threadIdx.x >> 5;
  for (int i = part; i < count; i += 8) strip[i][threadIdx.x & 31] = c < n ? basis[(size_t)i * n + c] : 0.0;
  __syncthreads();
  for (int j = part; j < keep; j += 8) {
    double sum = 0;
#pragma unroll 4
    for (int i = 0; i < count; i++) sum = portable::mulAdd(q[i * ld + j], strip[i][threadIdx.x & 31], sum);
    if (c < n) basis[(size_t)j * n + c] = sum;
  }
}
