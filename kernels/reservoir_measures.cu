// Measures of many reservoirs at once, a block or a thread each, with the bits of the host: tangents
// (Lyapunov exponents), least squares by reflections (docs/numerics.md, rule 11) and the
// correlations of what they give (memory capacity), singular values (ranks), and distances of runs
// (echo state index). States come from the ensemble's kernels.
#include "elementary.cuh"
#include "portable.cuh"

namespace {

using portable::add;
using portable::div;
using portable::mul;
using portable::mulAdd;
using portable::root;
using portable::sub;

/** f'(z), written in f = f(z). */
__device__ __forceinline__ double slope(int activation, double f) {
  switch (activation) {
    case portable::TANH: return sub(1.0, mul(f, f));
    case portable::RELU: return f > 0.0 ? 1.0 : 0.0;
    case portable::SIGMOID: return mul(f, sub(1.0, f));
    default: return 1.0;
  }
}

/** Weights as ensembles have them: dense, row-major, or in slices of 32 rows (`slots` above 0). */
template <typename Real> struct Weights {
  const Real* values;
  const int* patterns;
  const unsigned short* columns;
  const int* order;
  const int* offsets;
  int entries, slots;
};

/** Row r of W times v, one sum in rising order of columns. */
template <typename Real> __device__ __forceinline__ double rowDot(const Real* row, int count, const double* v) {
  double sum = 0.0;
#pragma unroll 8
  for (int c = 0; c < count; c++) sum = mulAdd((double)row[c], v[c], sum);
  return sum;
}

/**
 * A small difference of a member's state along `steps` of its states: v' = keep v + a f'(z) (W v),
 * rescaled to length 1 after every step. Growths are [step][member]. A member a block; shared
 * memory: v and the new squares, then W with an odd pitch if `resident`.
 */
template <typename Real>
__device__ __forceinline__ void tangent(const Weights<Real>& weights, const Real* allStates, const Real* before, const Real* leaks, double* tangents,
                                        double* growths, int steps, int size, int activation, int resident) {
  extern __shared__ double shared[];
  __shared__ double length;
  double* const v = shared;
  double* const squares = v + size;
  Real* const held = reinterpret_cast<Real*>(squares + size);
  const size_t member = blockIdx.x;
  const Real* const states = allStates + member * steps * size;
  const int pitch = size | 1;
  const bool sliced = weights.slots > 0;
  const Real* matrix = weights.values + member * (sliced ? (size_t)weights.entries : (size_t)size * size);
  if (resident && !sliced)
    for (int i = threadIdx.x; i < size * size; i += blockDim.x) held[i / size * pitch + i % size] = matrix[i];
  for (int i = threadIdx.x; i < size; i += blockDim.x) v[i] = tangents[member * size + i];
  __syncthreads();
  const size_t pattern = sliced ? weights.patterns[member] : 0;
  const unsigned short* const columns = weights.columns + pattern * weights.entries;
  const int* const order = weights.order + pattern * weights.slots;
  const int* const offsets = weights.offsets + pattern * (weights.slots / 32 + 1);
  const int count = sliced ? weights.slots : size;
  for (int t = 0; t < steps; t++) {
    const Real* const x = t > 0 ? states + (size_t)(t - 1) * size : before + member * size;
    // New values are kept apart: all threads still read the old ones.
    for (int slot = threadIdx.x; slot < count; slot += blockDim.x) {
      const int row = sliced ? order[slot] : slot;
      if (row >= size) continue;
      double sum = 0.0;
      if (sliced) {
        const int last = offsets[slot / 32 + 1];
        for (int entry = offsets[slot / 32]; entry < last; entry++) {
          const int at = entry * 32 + slot % 32;
          sum = mulAdd((double)matrix[at], v[columns[at]], sum);
        }
      } else {
        sum = rowDot(resident ? held + (size_t)row * pitch : matrix + (size_t)row * size, size, v);
      }
      const double a = (double)leaks[member * size + row], keep = sub(1.0, a);
      const double f = div(sub((double)states[(size_t)t * size + row], mul(keep, (double)x[row])), a);
      squares[row] = add(mul(keep, v[row]), a == 0.0 ? 0.0 : mul(mul(a, slope(activation, f)), sum));
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      double sum = 0.0;
#pragma unroll 16
      for (int i = 0; i < size; i++) sum = mulAdd(squares[i], squares[i], sum);
      length = root(sum);
      growths[(size_t)t * gridDim.x + member] = length;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < size; i += blockDim.x) v[i] = length > 0.0 ? div(squares[i], length) : squares[i];
    __syncthreads();
  }
  for (int i = threadIdx.x; i < size; i += blockDim.x) tangents[member * size + i] = v[i];
}

/** a + b without loss, high and low (Knuth's TwoSum). */
struct Pair {
  double high, low;
};
__device__ __forceinline__ Pair twoSum(double a, double b) {
  const double high = add(a, b), part = sub(high, a);
  return {high, add(sub(a, sub(high, part)), sub(b, part))};
}
__device__ __forceinline__ Pair fastSum(double a, double b) {
  const double high = add(a, b);
  return {high, sub(b, sub(high, a))};
}

constexpr int panelRows = 256, group = 36;

/**
 * Rule 11's reflections of a member's panel B of `rows` rows into its R (features x columns), from
 * the group of column `first` on. A member a block; shared memory: 36 x 256 + 36 x 36 + 36 x 2
 * values; `scratch` has 36 x columns of each member.
 */
__device__ __forceinline__ void factor(double* b, double* r, double* d, int rows, int first, int features, int columns) {
  extern __shared__ double shared[];
  __shared__ double divisor;
  double* const v = shared;
  double* const products = v + panelRows * group;
  double* const taus = products + group * group;
  double* const along = taus + group;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  for (int from = first / group * group; from < features; from += group) {
    const int width = min(group, features - from);
    for (int i = threadIdx.x; i < rows * group; i += blockDim.x) {
      const int t = i / group, c = i % group;
      v[i] = c < width ? b[(size_t)t * columns + from + c] : 0.0;
    }
    __syncthreads();
    for (int j = 0; j < width; j++) {
      double* const rRow = r + (size_t)(from + j) * columns + from;
      if (threadIdx.x == 0) {
        double squares = 0.0;
#pragma unroll 16
        for (int t = 0; t < rows; t++) squares = mulAdd(v[t * group + j], v[t * group + j], squares);
        double tau = 0.0;
        if (squares != 0.0) {
          const double alpha = rRow[j], norm = root(add(mul(alpha, alpha), squares)), beta = alpha >= 0.0 ? -norm : norm;
          divisor = sub(alpha, beta);
          rRow[j] = beta;
          tau = div(sub(beta, alpha), beta);
        }
        taus[j] = tau;
      }
      __syncthreads();
      const double tau = taus[j];
      for (int t = threadIdx.x; t < rows; t += blockDim.x) v[t * group + j] = tau == 0.0 ? 0.0 : div(v[t * group + j], divisor);
      __syncthreads();
      if (tau == 0.0) continue;
      const int own = threadIdx.x;
      if (own > j && own < width) {
        const double before = rRow[own];
        double sum = before;
#pragma unroll 16
        for (int t = 0; t < rows; t++) sum = mulAdd(v[t * group + own], v[t * group + j], sum);
        sum = mul(sum, tau);
        rRow[own] = sub(before, sum);
        along[own] = sum;
      }
      __syncthreads();
      for (int t = warp; t < rows; t += warps)
        for (int c = j + 1 + lane; c < width; c += 32) v[t * group + c] = sub(v[t * group + c], mul(along[c], v[t * group + j]));
      __syncthreads();
    }
    for (int at = threadIdx.x; at < group * group; at += blockDim.x) {
      const int k = at / group, i = at % group;
      double sum = 0.0;
      if (k < i && i < width)
#pragma unroll 4
        for (int t = 0; t < rows; t++) sum = mulAdd(v[t * group + k], v[t * group + i], sum);
      products[at] = sum;
    }
    __syncthreads();
    for (int c = from + width + threadIdx.x; c < columns; c += blockDim.x) {
      double sum[group];
#pragma unroll
      for (int i = 0; i < group; i++) sum[i] = i < width ? r[(size_t)(from + i) * columns + c] : 0.0;
#pragma unroll 1
      for (int t = 0; t < rows; t++) {
        const double value = b[(size_t)t * columns + c];
#pragma unroll
        for (int i = 0; i < group; i++) sum[i] = mulAdd(v[t * group + i], value, sum[i]);
      }
#pragma unroll
      for (int i = 0; i < group; i++) d[i * columns + c] = sum[i];
      for (int i = 0; i < width; i++) {
        double value = d[i * columns + c];
#pragma unroll 4
        for (int k = 0; k < i; k++) value = sub(value, mul(products[k * group + i], d[k * columns + c]));
        value = mul(value, taus[i]);
        d[i * columns + c] = value;
        double* const element = r + (size_t)(from + i) * columns + c;
        *element = sub(*element, value);
      }
#pragma unroll
      for (int i = 0; i < group; i++) sum[i] = i < width ? d[i * columns + c] : 0.0;
#pragma unroll 2
      for (int t = 0; t < rows; t++) {
        double value = b[(size_t)t * columns + c];
#pragma unroll
        for (int i = 0; i < group; i++) value = sub(value, mul(v[t * group + i], sum[i]));
        b[(size_t)t * columns + c] = value;
      }
    }
    __syncthreads();
  }
}

/** The largest magnitude of `count` values `step` apart; all lanes of a warp. */
__device__ __forceinline__ double largestOf(const double* values, int count) {
  double most = 0.0;
  for (int i = threadIdx.x % 32; i < count; i += 32) most = fmax(most, fabs(values[i]));
#pragma unroll
  for (int distance = 16; distance > 0; distance >>= 1) most = fmax(most, __shfl_xor_sync(0xffffffffu, most, distance));
  return most;
}

/** Makes the reflector of `count` values in place, one warp; 0 for values that are all 0. */
__device__ __forceinline__ double reflector(double* v, int count) {
  const int lane = threadIdx.x % 32;
  const double most = largestOf(v, count);
  if (most == 0.0) return 0.0;
  for (int i = lane; i < count; i += 32) v[i] = div(v[i], most);
  __syncwarp();
  double sum = 0.0;
#pragma unroll 4
  for (int i = 0; i < count; i++) sum = mulAdd(v[i], v[i], sum);
  const double norm = root(sum), first = v[0], result = first > 0.0 ? -norm : norm;
  __syncwarp();
  if (lane == 0) v[0] = sub(first, result);
  __syncwarp();
  const double scale = root(mul(norm, add(norm, fabs(first))));
  for (int i = lane; i < count; i += 32) v[i] = div(v[i], scale);
  return mul(result, most);
}

/** How many of the 2n eigenvalues of the tridiagonal matrix are x or more. */
__device__ __forceinline__ int countAtLeast(const double* squares, int n, double x) {
  constexpr double smallest = 0x1p-1000;
  int below = 0;
  double pivot = -x;
  for (int i = 0;; i++) {
    if (fabs(pivot) < smallest) pivot = -smallest;
    if (pivot < 0.0) below++;
    if (i == 2 * n - 1) return 2 * n - below;
    pivot = sub(-x, div(squares[i], pivot));
  }
}

/**
 * Singular values of an n x n matrix, falling, as the host has them: Householder bidiagonalisation,
 * then bisection. A matrix a block. `shared` has 4 n values: v, w, the bidiagonal.
 */
__device__ __forceinline__ void singular(double* a, int pitch, int n, double tolerance, double* shared, double* values, int* rank) {
  __shared__ double whole, bound;
  double* const v = shared;
  double* const w = v + n;
  double* const between = w + n;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  if (warp == 0) {
    double most = 0.0;
    for (int i = 0; i < n; i++) most = fmax(most, largestOf(a + (size_t)i * pitch, n));
    if (lane == 0) whole = most;
  }
  __syncthreads();
  if (whole == 0.0) {
    for (int k = threadIdx.x; k < n; k += blockDim.x) values[k] = 0.0;
    if (threadIdx.x == 0) *rank = 0;
    return;
  }
  for (int i = warp; i < n; i += warps)
    for (int j = lane; j < n; j += 32) a[(size_t)i * pitch + j] = div(a[(size_t)i * pitch + j], whole);
  __syncthreads();
  for (int k = 0; k < n; k++) {
    if (warp == 0) {
      for (int i = k + lane; i < n; i += 32) v[i] = a[(size_t)i * pitch + k];
      __syncwarp();
      const double pivot = reflector(v + k, n - k);
      if (lane == 0) between[2 * k] = pivot;
    }
    __syncthreads();
    for (int j = k + 1 + threadIdx.x; j < n; j += blockDim.x) {
      double sum = 0.0;
#pragma unroll 4
      for (int i = k; i < n; i++) sum = mulAdd(v[i], a[(size_t)i * pitch + j], sum);
      w[j] = sum;
    }
    __syncthreads();
    for (int i = k + warp; i < n; i += warps)
      for (int j = k + 1 + lane; j < n; j += 32) a[(size_t)i * pitch + j] = sub(a[(size_t)i * pitch + j], mul(v[i], w[j]));
    __syncthreads();
    if (k + 1 >= n) break;
    if (warp == 0) {
      for (int j = k + 1 + lane; j < n; j += 32) w[j] = a[(size_t)k * pitch + j];
      __syncwarp();
      const double beside = reflector(w + k + 1, n - k - 1);
      if (lane == 0) between[2 * k + 1] = beside;
    }
    __syncthreads();
    for (int i = k + 1 + threadIdx.x; i < n; i += blockDim.x) {
      double sum = 0.0;
#pragma unroll 4
      for (int j = k + 1; j < n; j++) sum = mulAdd(w[j], a[(size_t)i * pitch + j], sum);
      v[i] = sum;
    }
    __syncthreads();
    for (int i = k + 1 + warp; i < n; i += warps)
      for (int j = k + 1 + lane; j < n; j += 32) a[(size_t)i * pitch + j] = sub(a[(size_t)i * pitch + j], mul(w[j], v[i]));
    __syncthreads();
  }
  const int count = 2 * n - 1;
  if (threadIdx.x == 0) {
    double most = 0.0;
    for (int i = 0; i <= count; i++)
      most = fmax(most, add(i > 0 ? fabs(between[i - 1]) : 0.0, i < count ? fabs(between[i]) : 0.0));
    bound = most;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < count; i += blockDim.x) between[i] = mul(between[i], between[i]);
  __syncthreads();
  for (int k = threadIdx.x; k < n; k += blockDim.x) {
    double low = 0.0, high = bound;
    while (sub(high, low) > mul(0x1p-51, high) && high > mul(bound, 0x1p-60)) {
      const double middle = mul(add(low, high), 0.5);
      if (countAtLeast(between, n, middle) > k) low = middle;
      else high = middle;
    }
    v[k] = mul(whole, high > mul(bound, 0x1p-60) ? mul(add(low, high), 0.5) : 0.0);
    values[k] = v[k];
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    const double limit = mul(tolerance, v[0]);
    int found = 0;
    for (int k = 0; k < n; k++) found += v[k] > limit;
    *rank = found;
  }
}

/** Euclidean distance of two states. */
template <typename Real> __device__ __forceinline__ double distance(const Real* a, const Real* b, int size) {
  double sum = 0.0;
#pragma unroll 4
  for (int i = 0; i < size; i++) {
    const double difference = sub((double)a[i], (double)b[i]);
    sum = mulAdd(difference, difference, sum);
  }
  return root(sum);
}

}  // namespace

#define MEASURES(suffix, Real)                                                                                                                       \
  /* states: members x steps x size; before, leaks: members x size; tangents: members x size; growths: steps x members; grid: members */           \
  extern "C" __global__ void __launch_bounds__(1024)                                                                                                 \
      measure_tangent_##suffix(const Real* weights, const int* patterns, const unsigned short* columns, const int* order, const int* offsets,       \
                               int entries, int slots, const Real* states, const Real* before, const Real* leaks, double* tangents,                  \
                               double* growths, int steps, int size, int activation, int resident) {                                                 \
    tangent(Weights<Real>{weights, patterns, columns, order, offsets, entries, slots}, states, before, leaks, tangents, growths, steps, size,        \
            activation, resident);                                                                                                                   \
  }                                                                                                                                                  \
  /* rows of least squares in binary64: states [member][rows][size] from row `first` on, a one, and u(t), u(t - 1), ... in `delays` columns,         \
     u(t) of the first row being values[at]; out: [member][count][size + 1 + delays]; grid: some x members */                                        \
  extern "C" __global__ void __launch_bounds__(256) measure_rows_##suffix(const Real* states, int rows, int first, int count, int size,              \
                                                                          const double* values, int at, int delays, double* out, long long pitch) { \
    const int columns = size + 1 + delays;                                                                                                           \
    const Real* const own = states + ((size_t)blockIdx.y * rows + first) * size;                                                                     \
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count * columns; i += gridDim.x * blockDim.x) {                                          \
      const int t = i / columns, c = i % columns;                                                                                                    \
      out[blockIdx.y * pitch + i] = c < size ? (double)own[(size_t)t * size + c] : c == size ? 1.0 : values[at + t - (c - size - 1)];                \
    }                                                                                                                                                \
  }                                                                                                                                                  \
  /* a member's rows r, at matrices + (r * members + member) * size, side by side in binary64; grid: some x members */                              \
  extern "C" __global__ void __launch_bounds__(256) measure_gather_##suffix(const Real* matrices, int members, int first, int size, double* out) {   \
    const int member = first + blockIdx.y;                                                                                                           \
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size * size; i += gridDim.x * blockDim.x)                                                \
      out[(size_t)blockIdx.y * size * size + i] = (double)matrices[((size_t)(i / size) * members + member) * size + i % size];                       \
  }                                                                                                                                                  \
  /* curve[t][member] += distance(run, reference) / runs of steps [0, steps); grid: some x members */                                                \
  extern "C" __global__ void __launch_bounds__(256) measure_distance_##suffix(const Real* reference, const Real* run, int steps, int size,           \
                                                                              double runs, double* curve) {                                          \
    const size_t member = blockIdx.y;                                                                                                                \
    for (int t = blockIdx.x * blockDim.x + threadIdx.x; t < steps; t += gridDim.x * blockDim.x) {                                                    \
      const size_t at = (member * steps + t) * size;                                                                                                 \
      double* const value = curve + (size_t)t * gridDim.y + member;                                                                                  \
      *value = add(*value, div(distance(run + at, reference + at, size), runs));                                                                     \
    }                                                                                                                                                \
  }
MEASURES(f32, float)
MEASURES(f64, double)

/**
 * Sums logarithms of growths [step][member] from step `from` on in double-double, `sums` being
 * members x 2; a growth of 0 makes the sum -infinite for good. A thread a member.
 */
extern "C" __global__ void __launch_bounds__(256) measure_logarithms(const double* growths, int from, int steps, int members, double* sums) {
  const int member = blockIdx.x * blockDim.x + threadIdx.x;
  if (member >= members) return;
  Pair sum = {sums[2 * member], sums[2 * member + 1]};
  for (int t = 0; t < steps; t++) {
    const double growth = growths[(size_t)t * members + member];
    if (growth == 0.0) sum = {-1.0 / 0.0, 0.0};
    if (t < from || !portable::finite(sum.high)) continue;
    const Pair s = twoSum(sum.high, elementary::log(growth)), part = twoSum(sum.low, 0.0);
    const Pair v = fastSum(s.high, add(s.low, part.high));
    sum = fastSum(v.high, add(part.low, v.low));
  }
  sums[2 * member] = sum.high;
  sums[2 * member + 1] = sum.low;
}

/** The rows diag(value, ..., value, 0) from row `first` on, as a panel; grid: some x members. */
extern "C" __global__ void __launch_bounds__(256) measure_diagonal(double* panels, long long pitch, int count, int first, int features, int columns, double value) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count * columns; i += gridDim.x * blockDim.x) {
    const int row = first + i / columns;
    panels[blockIdx.y * pitch + i] = i % columns == row && row < features - 1 ? value : 0.0;
  }
}

/** Takes a panel of `rows` rows, at most 256, into the triangle of each member; grid: members. */
extern "C" __global__ void __launch_bounds__(256) measure_factor(double* panels, long long pitch, int rows, int first, int features, int columns, double* triangles,
                                                                  double* scratch) {
  factor(panels + blockIdx.x * pitch, triangles + (size_t)blockIdx.x * features * columns, scratch + (size_t)blockIdx.x * group * columns, rows, first,
         features, columns);
}

/** w of R w = z for every target: members x features x targets; a block a member, a thread a target. */
extern "C" __global__ void __launch_bounds__(256) measure_solve(const double* triangles, int features, int columns, double* weights) {
  const int targets = columns - features;
  const double* const r = triangles + (size_t)blockIdx.x * features * columns;
  double* const w = weights + (size_t)blockIdx.x * features * targets;
  for (int o = threadIdx.x; o < targets; o += blockDim.x)
    for (int i = features - 1; i >= 0; i--) {
      double value = r[(size_t)i * columns + features + o];
#pragma unroll 4
      for (int k = features - 1; k > i; k--) value = sub(value, mul(r[(size_t)i * columns + k], w[(size_t)k * targets + o]));
      w[(size_t)i * targets + o] = div(value, r[(size_t)i * columns + i]);
    }
}

/**
 * Takes rows of a panel into the correlations of targets with what the readouts make of the
 * features (rule 10, then Welford's updates), `done` rows having come before. `sums` is members x 5
 * x targets: means, squares, products. With `curves` (members x targets) the squared correlations
 * are written there. A block a member; shared memory: 8 rows of features, and the weights if
 * `resident`.
 */
extern "C" __global__ void __launch_bounds__(128) measure_recall(const double* panels, long long pitch, int rows, int done, int features, int columns,
                                                                  const double* weights, double* sums, double* curves, int resident) {
  extern __shared__ double shared[];
  constexpr int batch = 8;
  const int targets = columns - features, dotted = features - 1;
  const double* const panel = panels + blockIdx.x * pitch;
  double* const staged = shared;
  const double* w = weights + (size_t)blockIdx.x * features * targets;
  if (resident) {
    double* const held = staged + batch * features;
    for (int i = threadIdx.x; i < features * targets; i += blockDim.x) held[i] = w[i];
    w = held;
  }
  double* const own = sums + (size_t)blockIdx.x * 5 * targets;
  for (int from = 0; from < rows; from += batch) {
    const int count = min(batch, rows - from);
    __syncthreads();
    for (int i = threadIdx.x; i < count * features; i += blockDim.x)
      staged[i] = panel[(size_t)(from + i / features) * columns + i % features];
    __syncthreads();
    for (int o = threadIdx.x; o < targets; o += blockDim.x) {
      double meanX = own[o], meanY = own[targets + o], xx = own[2 * targets + o], yy = own[3 * targets + o], xy = own[4 * targets + o];
      for (int t = 0; t < count; t++) {
        double part[32];
#pragma unroll
        for (int l = 0; l < 32; l++) part[l] = 0.0;
        for (int base = 0; base < dotted; base += 32)
#pragma unroll
          for (int l = 0; l < 32; l++)
            if (base + l < dotted) part[l] = mulAdd(w[(size_t)(base + l) * targets + o], staged[t * features + base + l], part[l]);
#pragma unroll
        for (int half = 16; half > 0; half >>= 1)
#pragma unroll
          for (int l = 0; l < half; l++) part[l] = add(part[l], part[l + half]);
        const double y = add(part[0], w[(size_t)dotted * targets + o]), x = panel[(size_t)(from + t) * columns + features + o];
        const double number = (double)(done + from + t + 1), dx = sub(x, meanX), dy = sub(y, meanY);
        meanX = add(meanX, div(dx, number));
        meanY = add(meanY, div(dy, number));
        xx = add(xx, mul(dx, sub(x, meanX)));
        yy = add(yy, mul(dy, sub(y, meanY)));
        xy = add(xy, mul(dx, sub(y, meanY)));
      }
      own[o] = meanX, own[targets + o] = meanY, own[2 * targets + o] = xx, own[3 * targets + o] = yy, own[4 * targets + o] = xy;
    }
  }
  if (curves)
    for (int o = threadIdx.x; o < targets; o += blockDim.x) {
      const double xx = own[2 * targets + o], yy = own[3 * targets + o], xy = own[4 * targets + o];
      curves[(size_t)blockIdx.x * targets + o] = xx > 0.0 && yy > 0.0 ? div(mul(xy, xy), mul(xx, yy)) : 0.0;
    }
}

/**
 * Singular values and rank of each of the n x n matrices, which are overwritten; grid: matrices.
 * Shared memory: 4 n values, and the matrix with an odd pitch if `resident`.
 */
extern "C" __global__ void __launch_bounds__(256) measure_singular(double* matrices, int n, double tolerance, double* values, int* ranks, int resident) {
  extern __shared__ double shared[];
  double* const given = matrices + (size_t)blockIdx.x * n * n;
  double* const held = shared + 4 * n;
  const int pitch = resident ? n | 1 : n;
  if (resident) {
    for (int i = threadIdx.x; i < n * n; i += blockDim.x) held[i / n * pitch + i % n] = given[i];
    __syncthreads();
  }
  singular(resident ? held : given, pitch, n, tolerance, shared, values + (size_t)blockIdx.x * n, ranks + blockIdx.x);
}

/** Sums the values of steps [from, steps) of a curve [step][member], on top of `sums`. A thread a member. */
extern "C" __global__ void __launch_bounds__(256) measure_sum(const double* curve, int from, int steps, int members, double* sums) {
  const int member = blockIdx.x * blockDim.x + threadIdx.x;
  if (member >= members) return;
  double sum = sums[member];
  for (int t = from; t < steps; t++) sum = add(sum, curve[(size_t)t * members + member]);
  sums[member] = sum;
}
