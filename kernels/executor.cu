// The standard kernels of the executor on binary32 arrays, row-major. No reservoir is in here. Sums
// are in a fixed order, so a result depends on nothing but its input; every grid works, since
// threads stride over the elements.
#include "portable.cuh"

#define FOR_EACH_FOUR(i, n) for (unsigned i = 4 * (blockIdx.x * blockDim.x + threadIdx.x); i < (unsigned)(n); i += 4 * gridDim.x * blockDim.x)

/**
 * Whether memory may be read and written by four elements at once, from any multiple of four on.
 */
static __device__ __forceinline__ bool inFours(const float* a) { return ((size_t)a & 15) == 0; }

/** Elements i to i + 3 of n; beyond the end 0. */
static __device__ __forceinline__ float4 load4(const float* x, unsigned i, unsigned n, bool fours) {
  if (fours && i + 3 < n) return *(const float4*)(x + i);
  return make_float4(x[i], i + 1 < n ? x[i + 1] : 0.0f, i + 2 < n ? x[i + 2] : 0.0f, i + 3 < n ? x[i + 3] : 0.0f);
}

static __device__ __forceinline__ void store4(float* y, float4 v, unsigned i, unsigned n, bool fours) {
  if (fours && i + 3 < n) {
    *(float4*)(y + i) = v;
    return;
  }
  y[i] = v.x;
  if (i + 1 < n) y[i + 1] = v.y;
  if (i + 2 < n) y[i + 2] = v.z;
  if (i + 3 < n) y[i + 3] = v.w;
}

/** y = f(x), element by element; y may be x. */
template <typename F> static __device__ __forceinline__ void map(const float* x, float* y, int n, F f) {
  const bool fours = inFours(x) && inFours(y);
  FOR_EACH_FOUR(i, n) {
    const float4 v = load4(x, i, n, fours);
    store4(y, make_float4(f(v.x), f(v.y), f(v.z), f(v.w)), i, n, fours);
  }
}

template <typename F> static __device__ __forceinline__ void map(const float* a, const float* b, float* c, int n, F f) {
  const bool fours = inFours(a) && inFours(b) && inFours(c);
  FOR_EACH_FOUR(i, n) {
    const float4 u = load4(a, i, n, fours), v = load4(b, i, n, fours);
    store4(c, make_float4(f(u.x, v.x), f(u.y, v.y), f(u.z, v.z), f(u.w, v.w)), i, n, fours);
  }
}

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n) {
  map(a, b, c, n, [](float x, float y) { return x + y; });
}

extern "C" __global__ void elementwise_multiply(const float* a, const float* b, float* c, int n) {
  map(a, b, c, n, [](float x, float y) { return x * y; });
}

extern "C" __global__ void elementwise_exp(const float* x, float* y, int n) {
  map(x, y, n, [](float v) { return expf(v); });
}

extern "C" __global__ void relu(float* data, int n) {
  map(data, data, n, [](float v) { return portable::relu(v); });
}

/**
 * By the exponential of -|x|, which is small where the sigmoid is and so loses none of its digits.
 */
extern "C" __global__ void sigmoid(float* data, int n) {
  map(data, data, n, [](float v) {
    const float e = expf(-fabsf(v));
    return (v < 0.0f ? e : 1.0f) / (1.0f + e);
  });
}

extern "C" __global__ void tanh_activation(float* data, int n) {
  map(data, data, n, [](float v) { return portable::tanh(v); });
}

/** data[r][f] += bias[f]. */
extern "C" __global__ void broadcast_add(float* data, const float* bias, int batch, int features) {
  const bool fours = inFours(data) && inFours(bias) && (features & 3) == 0;
  FOR_EACH_FOUR(f, features) {
    const float4 b = load4(bias, f, features, fours);
    for (unsigned row = blockIdx.y; row < (unsigned)batch; row += gridDim.y) {
      float* x = data + (size_t)row * features;
      const float4 v = load4(x, f, features, fours);
      store4(x, make_float4(v.x + b.x, v.y + b.y, v.z + b.z, v.w + b.w), f, features, fours);
    }
  }
}

/** The inference form: (x - mean) / sqrt(variance + epsilon) gamma + beta, feature by feature. */
extern "C" __global__ void batch_norm(float* data, const float* gamma, const float* beta, const float* mean, const float* variance, int batch,
                                      int features, float epsilon) {
  const bool fours = inFours(data) && inFours(gamma) && inFours(beta) && inFours(mean) && inFours(variance) && (features & 3) == 0;
  FOR_EACH_FOUR(f, features) {
    const float4 g = load4(gamma, f, features, fours), b = load4(beta, f, features, fours), c = load4(mean, f, features, fours),
                 v = load4(variance, f, features, fours);
    const float4 s = make_float4(g.x / sqrtf(v.x + epsilon), g.y / sqrtf(v.y + epsilon), g.z / sqrtf(v.z + epsilon), g.w / sqrtf(v.w + epsilon));
    for (unsigned row = blockIdx.y; row < (unsigned)batch; row += gridDim.y) {
      float* x = data + (size_t)row * features;
      const float4 u = load4(x, f, features, fours);
      const float4 y = make_float4((u.x - c.x) * s.x + b.x, (u.y - c.y) * s.y + b.y, (u.z - c.z) * s.z + b.z, (u.w - c.w) * s.w + b.w);
      store4(x, y, f, features, fours);
    }
  }
}

/** The butterfly's sum and maximum over a warp: the same in every lane. */
static __device__ __forceinline__ double warpSum(double x) {
#pragma unroll
  for (int distance = 16; distance > 0; distance >>= 1) x += __shfl_xor_sync(0xffffffffu, x, distance);
  return x;
}

/**
 * The sum over a row of threads of the block (blockDim.x, a power of two from 32 to 1024), in every
 * thread of that row.
 */
static __device__ double rowSum(double x) {
  __shared__ double sums[32];
  x = warpSum(x);
  const unsigned warps = blockDim.x >> 5;
  if (warps == 1) return x;
  double* mine = sums + threadIdx.y * warps;
  __syncthreads();
  if ((threadIdx.x & 31) == 0) mine[threadIdx.x >> 5] = x;
  __syncthreads();
  const unsigned lane = threadIdx.x & 31;
  return warpSum(lane < warps ? mine[lane] : 0.0);
}

static __device__ __forceinline__ float minusInfinity() { return __uint_as_float(0xff800000u); }

/** A maximum and the sum of exp(x - maximum) over the values so far. */
struct Peak {
  float maximum;
  float sum;
};

static __device__ __forceinline__ Peak joined(Peak a, Peak b) {
  const float maximum = fmaxf(a.maximum, b.maximum);
  const float left = a.maximum == maximum ? a.sum : a.sum * expf(a.maximum - maximum);
  const float right = b.maximum == maximum ? b.sum : b.sum * expf(b.maximum - maximum);
  return {maximum, left + right};
}

static __device__ __forceinline__ Peak warpPeak(Peak peak) {
#pragma unroll
  for (int distance = 16; distance > 0; distance >>= 1)
    peak = joined(peak, {__shfl_xor_sync(0xffffffffu, peak.maximum, distance), __shfl_xor_sync(0xffffffffu, peak.sum, distance)});
  return peak;
}

/**
 * exp(x - max) / sum over each row, in place. A block is (threads of a row, rows): a power of two
 * from 32 to 1024 threads, at most 1024 in all. The sum goes along with the maximum, so a row is
 * read twice and written once.
 */
extern "C" __global__ void softmax(float* data, int batch, int classes) {
  __shared__ Peak peaks[32];
  const unsigned warps = blockDim.x >> 5, lane = threadIdx.x & 31;
  Peak* mine = peaks + threadIdx.y * warps;
  for (unsigned first = blockIdx.x * blockDim.y; first < (unsigned)batch; first += gridDim.x * blockDim.y) {
    const unsigned row = first + threadIdx.y;
    const bool there = row < (unsigned)batch;
    float* x = data + (size_t)(there ? row : 0) * classes;
    Peak peak = {minusInfinity(), 0.0f};
    if (there)
      for (unsigned i = threadIdx.x; i < (unsigned)classes; i += blockDim.x) peak = joined(peak, {x[i], 1.0f});
    peak = warpPeak(peak);
    if (warps > 1) {
      __syncthreads();
      if (lane == 0) mine[threadIdx.x >> 5] = peak;
      __syncthreads();
      peak = warpPeak(lane < warps ? mine[lane] : Peak{minusInfinity(), 0.0f});
    }
    if (there)
      for (unsigned i = threadIdx.x; i < (unsigned)classes; i += blockDim.x) x[i] = expf(x[i] - peak.maximum) / peak.sum;
  }
}

/**
 * Divides each row by its sum (0), its sum of magnitudes (1) or its Euclidean length (2), which is
 * added in binary64. Blocks as in softmax.
 */
extern "C" __global__ void normalize(float* data, int rows, int columns, int norm) {
  for (unsigned first = blockIdx.x * blockDim.y; first < (unsigned)rows; first += gridDim.x * blockDim.y) {
    const unsigned row = first + threadIdx.y;
    const bool there = row < (unsigned)rows;
    float* x = data + (size_t)(there ? row : 0) * columns;
    double total = 0.0;
    if (there)
      for (unsigned i = threadIdx.x; i < (unsigned)columns; i += blockDim.x) {
        const double value = x[i];
        total += norm == 0 ? value : norm == 1 ? fabs(value) : value * value;
      }
    total = rowSum(total);
    if (norm == 2) total = sqrt(total);
    if (there)
      for (unsigned i = threadIdx.x; i < (unsigned)columns; i += blockDim.x) x[i] = (float)(x[i] / total);
  }
}

/**
 * The sum over the block's share of x, in binary64: partial[block]. Threads are one row of the
 * block; the order is the same for every address.
 */
extern "C" __global__ void reduce_sum(const float* x, double* partial, int n) {
  const bool fours = inFours(x);
  double total = 0.0;
#pragma unroll 4
  FOR_EACH_FOUR(i, n) {
    const float4 v = load4(x, i, n, fours);
    total += ((double)v.x + (double)v.y) + ((double)v.z + (double)v.w);
  }
  total = rowSum(total);
  if (threadIdx.x == 0) partial[blockIdx.x] = total;
}

/**
 * The sum over the block's share of a b, in binary64, where the products are exact: partial[block].
 */
extern "C" __global__ void dot_product(const float* a, const float* b, double* partial, int n) {
  const bool fours = inFours(a) && inFours(b);
  double total = 0.0;
#pragma unroll 4
  FOR_EACH_FOUR(i, n) {
    const float4 u = load4(a, i, n, fours), v = load4(b, i, n, fours);
    const double low = __fma_rn((double)u.x, (double)v.x, (double)u.y * (double)v.y);
    const double high = __fma_rn((double)u.z, (double)v.z, (double)u.w * (double)v.w);
    total += low + high;
  }
  total = rowSum(total);
  if (threadIdx.x == 0) partial[blockIdx.x] = total;
}

/** The sum of the partial sums, by one block, in binary64. */
extern "C" __global__ void sum_partials(const double* partial, double* sum, int count) {
  double total = 0.0;
  for (unsigned i = threadIdx.x; i < (unsigned)count; i += blockDim.x) total += partial[i];
  total = rowSum(total);
  if (threadIdx.x == 0) *sum = total;
}

/**
 * C = A B by tiles in shared memory. A block has ROWS x COLUMNS of C. A thread has (ROWS / HIGH) of
 * it, in groups of 4 rows by 4 columns: a warp then reads shared memory as vectors without
 * conflicts. The next tile is loaded into registers while this one is multiplied. An element is one
 * chain of fused multiply-adds in the order of k, whatever the tile.
 */
template <int ROWS, int COLUMNS, int DEPTH, int DOWN, int ACROSS>
struct Tiled {
  static constexpr int down = ROWS / (4 * DOWN), across = COLUMNS / (4 * ACROSS);
  static constexpr int threads = down * across;
  static constexpr int loadsOfA = ROWS * DEPTH / 4 / threads, loadsOfB = COLUMNS * DEPTH / 4 / threads;
  static_assert(loadsOfA * threads * 4 == ROWS * DEPTH && loadsOfB * threads * 4 == COLUMNS * DEPTH, "every thread loads equally much");
  static constexpr int pitchOfA = ROWS + 4;

  /** Four neighbours of a row; what lies outside is 0. */
  static __device__ __forceinline__ float4 four(const float* matrix, int row, int column, int rows, int columns, bool vectors) {
    float4 value = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (row >= rows) return value;
    const float* from = matrix + (size_t)row * columns + column;
    if (vectors && column + 3 < columns) return *(const float4*)from;
    if (column < columns) value.x = from[0];
    if (column + 1 < columns) value.y = from[1];
    if (column + 2 < columns) value.z = from[2];
    if (column + 3 < columns) value.w = from[3];
    return value;
  }

  static __device__ __forceinline__ void multiply(const float* a, const float* b, float* c, int m, int k, int n) {
    __shared__ __align__(16) float tilesOfA[2][DEPTH][pitchOfA];
    __shared__ __align__(16) float tilesOfB[2][DEPTH][COLUMNS];
    const int thread = threadIdx.x, y = thread / across, x = thread % across;
    const unsigned tilesAcross = (n + COLUMNS - 1) / COLUMNS;
    const int top = blockIdx.x / tilesAcross * ROWS, left = blockIdx.x % tilesAcross * COLUMNS;
    const bool vectorsOfA = (k & 3) == 0 && ((size_t)a & 15) == 0, vectorsOfB = (n & 3) == 0 && ((size_t)b & 15) == 0;
    float4 nextA[loadsOfA], nextB[loadsOfB];
    float sum[4 * DOWN][4 * ACROSS] = {};

    auto fetch = [&](int from) {
#pragma unroll
      for (int i = 0; i < loadsOfA; i++) {
        const int index = thread + i * threads;
        nextA[i] = four(a, top + index / (DEPTH / 4), from + index % (DEPTH / 4) * 4, m, k, vectorsOfA);
      }
#pragma unroll
      for (int i = 0; i < loadsOfB; i++) {
        const int index = thread + i * threads;
        nextB[i] = four(b, from + index / (COLUMNS / 4), left + index % (COLUMNS / 4) * 4, k, n, vectorsOfB);
      }
    };
    auto keep = [&](int half) {
#pragma unroll
      for (int i = 0; i < loadsOfA; i++) {
        const int index = thread + i * threads, row = index / (DEPTH / 4), column = index % (DEPTH / 4) * 4;
        tilesOfA[half][column][row] = nextA[i].x;
        tilesOfA[half][column + 1][row] = nextA[i].y;
        tilesOfA[half][column + 2][row] = nextA[i].z;
        tilesOfA[half][column + 3][row] = nextA[i].w;
      }
#pragma unroll
      for (int i = 0; i < loadsOfB; i++) {
        const int index = thread + i * threads;
        *(float4*)&tilesOfB[half][index / (COLUMNS / 4)][index % (COLUMNS / 4) * 4] = nextB[i];
      }
    };

    fetch(0);
    keep(0);
    __syncthreads();
    int half = 0;
    for (int from = 0; from < k; from += DEPTH) {
      const bool more = from + DEPTH < k;
      if (more) fetch(from + DEPTH);
#pragma unroll
      for (int depth = 0; depth < DEPTH; depth++) {
        float left4[4 * DOWN], right4[4 * ACROSS];
#pragma unroll
        for (int i = 0; i < DOWN; i++) *(float4*)&left4[4 * i] = *(const float4*)&tilesOfA[half][depth][4 * (y + i * down)];
#pragma unroll
        for (int j = 0; j < ACROSS; j++) *(float4*)&right4[4 * j] = *(const float4*)&tilesOfB[half][depth][4 * (x + j * across)];
#pragma unroll
        for (int i = 0; i < 4 * DOWN; i++)
#pragma unroll
          for (int j = 0; j < 4 * ACROSS; j++) sum[i][j] = __fmaf_rn(left4[i], right4[j], sum[i][j]);
      }
      if (more) keep(half ^ 1);
      __syncthreads();
      half ^= 1;
    }

    const bool vectorsOfC = (n & 3) == 0 && ((size_t)c & 15) == 0;
#pragma unroll
    for (int i = 0; i < 4 * DOWN; i++) {
      const int row = top + 4 * (y + i / 4 * down) + i % 4;
      if (row >= m) continue;
#pragma unroll
      for (int j = 0; j < ACROSS; j++) {
        const int column = left + 4 * (x + j * across);
        float* to = c + (size_t)row * n + column;
        if (vectorsOfC && column + 3 < n) *(float4*)to = make_float4(sum[i][4 * j], sum[i][4 * j + 1], sum[i][4 * j + 2], sum[i][4 * j + 3]);
        else
#pragma unroll
          for (int e = 0; e < 4; e++)
            if (column + e < n) to[e] = sum[i][4 * j + e];
      }
    }
  }
};

#define MATMUL(NAME, ROWS, COLUMNS, DEPTH, DOWN, ACROSS)                                                                                   \
  extern "C" __global__ void __launch_bounds__(Tiled<ROWS, COLUMNS, DEPTH, DOWN, ACROSS>::threads)                                         \
      NAME(const float* a, const float* b, float* c, int m, int k, int n) {                                                                \
    Tiled<ROWS, COLUMNS, DEPTH, DOWN, ACROSS>::multiply(a, b, c, m, k, n);                                                                 \
  }

// A grid of ceil(m / rows) ceil(n / columns) tiles, row after row: few large ones do the least
// traffic, many small ones fill the device.
MATMUL(matmul, 64, 64, 32, 2, 1)
MATMUL(matmul_small, 32, 64, 32, 1, 1)
MATMUL(matmul_large, 128, 256, 8, 2, 4)
