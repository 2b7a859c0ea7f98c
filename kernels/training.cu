// Ridge regression where the states are: Gram matrices in the order of docs/numerics.md rule 9,
// Cholesky factors and solutions in that of rule 11, and the errors of readouts in that of rule 10,
// for one reservoir or for many. No cross-product here leaves the fixed order.
#include "portable.cuh"

namespace {

/**
 * Where the columns of a training row come from, in their order: the state, the input, the squares,
 * a constant one, the targets.
 */
template <typename Real> struct Rows {
  const Real* states;
  const Real* inputs;
  const double* targets;
  int size, inputSize, squares, constant, outputs;
  bool squareOdd;

  __device__ __forceinline__ int features() const { return size + inputSize + squares + constant; }

  /** Row t of column c, as features are made: squares are rounded products of promoted values. */
  __device__ __forceinline__ double value(int t, int c) const {
    if (c < size) {
      const double x = (double)states[(size_t)t * size + c];
      return squareOdd && (c & 1) ? portable::mul(x, x) : x;
    }
    c -= size;
    if (c < inputSize) return (double)inputs[(size_t)t * inputSize + c];
    c -= inputSize;
    if (c < squares) {
      const double x = (double)states[(size_t)t * size + c];
      return portable::mul(x, x);
    }
    c -= squares;
    if (c < constant) return 1.0;
    c -= constant;
    return c < outputs ? targets[(size_t)t * outputs + c] : 0.0;
  }

  /**
   * Whether the column's values have at most 24 significant bits: the product of two such values is
   * exact in binary64.
   */
  __device__ __forceinline__ bool isShort(int c) const {
    if (sizeof(Real) != 4) return false;
    if (c < size) return !(squareOdd && (c & 1));
    c -= size + inputSize;
    return c < 0 || (c >= squares && c < squares + constant);
  }
};

constexpr int tile = 64, depth = 32, blockRows = 1024, tileThreads = 256, part = 4;

/**
 * Adds the rows [first, last) of a member to its Gram matrix: for each pair of columns of a tile
 * the products in rising order, in blocks of 1024 rows, `inBlock` of which are there already. Tiles
 * are those of the lower triangle from `firstTile` on, `sums` and `totals`
 * [member][tile][row of tile][column of tile].
 */
template <typename Real>
__device__ __forceinline__ void gram(Rows<Real> rows, int first, int last, int inBlock, int firstTile, double* sums,
                                                 double* totals) {
  __shared__ double left[depth][tile], right[depth][tile];
  const int number = firstTile + (int)blockIdx.x;
  int tileRow = (int)((sqrtf(8.0f * number + 1.0f) - 1.0f) * 0.5f);
  while ((tileRow + 1) * (tileRow + 2) / 2 <= number) tileRow++;
  while (tileRow * (tileRow + 1) / 2 > number) tileRow--;
  const int tileColumn = number - tileRow * (tileRow + 1) / 2;
  const size_t at = ((size_t)blockIdx.y * gridDim.x + blockIdx.x) * tile * tile;
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  bool exact = true;
  for (int c = 0; c < tile; c++) exact = exact && rows.isShort(tileRow * tile + c) && rows.isShort(tileColumn * tile + c);

  double sum[part][part], total[part][part];
#pragma unroll
  for (int i = 0; i < part; i++)
#pragma unroll
    for (int j = 0; j < part; j++) {
      sum[i][j] = sums[at + (y * part + i) * tile + j * 16 + x];
      total[i][j] = totals[at + (y * part + i) * tile + j * 16 + x];
    }
  for (int t = first; t < last;) {
    const int count = min(min(depth, last - t), blockRows - inBlock);
    for (int i = threadIdx.x; i < depth * tile; i += tileThreads) {
      const int row = i / tile, c = i % tile;
      left[row][c] = row < count ? rows.value(t + row, tileRow * tile + c) : 0.0;
      right[row][c] = row < count ? rows.value(t + row, tileColumn * tile + c) : 0.0;
    }
    __syncthreads();
    auto add = [&](int row, bool fused) {
      double a[part], b[part];
#pragma unroll
      for (int i = 0; i < part; i++) a[i] = left[row][y * part + i];
#pragma unroll
      for (int j = 0; j < part; j++) b[j] = right[row][j * 16 + x];
#pragma unroll
      for (int i = 0; i < part; i++)
#pragma unroll
        for (int j = 0; j < part; j++) sum[i][j] = fused ? __fma_rn(a[i], b[j], sum[i][j]) : portable::mulAdd(a[i], b[j], sum[i][j]);
    };
    // The product of short values is exact: a fused multiply-add rounds as the two operations do.
    if (exact)
      for (int row = 0; row < count; row++) add(row, true);
    else
      for (int row = 0; row < count; row++) add(row, false);
    __syncthreads();
    t += count;
    inBlock += count;
    if (inBlock == blockRows) {
      inBlock = 0;
#pragma unroll
      for (int i = 0; i < part; i++)
#pragma unroll
        for (int j = 0; j < part; j++) {
          total[i][j] = portable::add(total[i][j], sum[i][j]);
          sum[i][j] = 0.0;
        }
    }
  }
#pragma unroll
  for (int i = 0; i < part; i++)
#pragma unroll
    for (int j = 0; j < part; j++) {
      sums[at + (y * part + i) * tile + j * 16 + x] = sum[i][j];
      totals[at + (y * part + i) * tile + j * 16 + x] = total[i][j];
    }
}

/** Where element (i, j), j <= i, of a member's tiles lies. */
__device__ __forceinline__ size_t tileElement(int i, int j) {
  const int tileRow = i / tile, tileColumn = j / tile;
  return ((size_t)(tileRow * (tileRow + 1) / 2 + tileColumn) * tile + i % tile) * tile + j % tile;
}

__device__ __forceinline__ size_t triangle(int i) { return (size_t)i * (i + 1) / 2; }

/**
 * One member a block: L of A = Gram + lambda on the diagonal but the constant's, column by column:
 * each element has its products subtracted in rising order. The targets' rows go along as further
 * rows of L, which are the solutions z of L z = c. Then w of L^T w = z from the last row up.
 * `work` holds the triangle of the features and the rows of the targets.
 */
__device__ __forceinline__ void solve(const double* sums, const double* totals, double lambda, int features, int outputs, int constant, double* work,
                                      double* weights, int* failed) {
  __shared__ double pivot;
  const int rows = features + outputs;
  for (int i = threadIdx.x / 32; i < rows; i += blockDim.x / 32)
    for (int j = threadIdx.x % 32; j <= min(i, features - 1); j += 32) {
      const size_t at = tileElement(i, j);
      double value = portable::add(totals[at], sums[at]);
      if (i == j && i < features - constant) value = portable::add(value, lambda);
      work[i < features ? triangle(i) + j : triangle(features) + (size_t)(i - features) * features + j] = value;
    }
  auto rowOf = [&](int i) { return work + (i < features ? triangle(i) : triangle(features) + (size_t)(i - features) * features); };
  __syncthreads();
  for (int k = 0; k < features; k++) {
    if (threadIdx.x == 0) pivot = work[triangle(k) + k];
    __syncthreads();
    if (!(pivot > 0.0)) {
      if (threadIdx.x == 0) *failed = k + 1;
      return;
    }
    const double root = portable::root(pivot);
    for (int i = k + threadIdx.x; i < rows; i += blockDim.x) {
      double* const element = rowOf(i) + k;
      *element = i == k ? root : portable::div(*element, root);
    }
    __syncthreads();
    for (int i = k + 1 + threadIdx.x / 32; i < rows; i += blockDim.x / 32) {
      double* const row = rowOf(i);
      const double own = row[k];
      for (int j = k + 1 + threadIdx.x % 32; j <= min(i, features - 1); j += 32)
        row[j] = portable::sub(row[j], portable::mul(own, work[triangle(j) + k]));
    }
    __syncthreads();
  }
  // A pivot that is nothing but rounding: at most 8 sqrt(n) 2^-52 of its element of A.
  const double unit = portable::mul(portable::mul(8.0, portable::root((double)features)), 0x1p-52);
  bool lost = false;
  for (int i = threadIdx.x; i < features; i += blockDim.x) {
    const size_t at = tileElement(i, i);
    double original = portable::add(totals[at], sums[at]);
    if (i < features - constant) original = portable::add(original, lambda);
    const double root = work[triangle(i) + i];
    lost = lost || !(portable::mul(root, root) > portable::mul(unit, fabs(original)));
  }
  if (__syncthreads_or(lost)) {
    if (threadIdx.x == 0) *failed = features + 1;
    return;
  }
  for (int i = features - 1; i >= 0; i--) {
    for (int o = threadIdx.x; o < outputs; o += blockDim.x) {
      double* const z = rowOf(features + o);
      z[i] = portable::div(z[i], work[triangle(i) + i]);
      weights[(size_t)o * features + i] = z[i];
    }
    __syncthreads();
    for (int at = threadIdx.x; at < outputs * i; at += blockDim.x) {
      double* const z = rowOf(features + at / i);
      z[at % i] = portable::sub(z[at % i], portable::mul(work[triangle(i) + at % i], z[i]));
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) *failed = 0;
}

/** y of row t by rule 10, rounded to Real, from the F weights of an output; all lanes of a warp. */
template <typename Real> __device__ __forceinline__ Real predicted(const Rows<Real>& rows, int t, const double* w) {
  const int dotted = rows.features() - rows.constant;
  double partial = 0.0;
  for (int c = threadIdx.x & 31; c < dotted; c += 32) partial = portable::mulAdd(w[c], rows.value(t, c), partial);
  return (Real)portable::add(portable::butterfly32(partial), rows.constant ? w[dotted] : 0.0);
}

/**
 * Sum over rows [first, last), rising, of (y - target)^2 of each output, on top of `squares`. One
 * member a block.
 */
template <typename Real>
__device__ __forceinline__ void score(Rows<Real> rows, int first, int last, const double* weights, double* squares) {
  constexpr int batch = 64;
  __shared__ double errors[batch];
  const int features = rows.features(), lane = threadIdx.x & 31;
  for (int o = 0; o < rows.outputs; o++) {
    const double* const w = weights + (size_t)o * features;
    double sum = squares[o];
    for (int t = first; t < last; t += batch) {
      const int count = min(batch, last - t);
      for (int row = threadIdx.x / 32; row < count; row += blockDim.x / 32) {
        const double y = (double)predicted(rows, t + row, w);
        if (lane == 0) errors[row] = portable::sub(y, rows.targets[(size_t)(t + row) * rows.outputs + o]);
      }
      __syncthreads();
      if (threadIdx.x == 0)
        for (int row = 0; row < count; row++) sum = portable::mulAdd(errors[row], errors[row], sum);
      __syncthreads();
    }
    if (threadIdx.x == 0) squares[o] = sum;
  }
}

/**
 * y of a single row, held to lower[o] .. upper[o], and NaN if it is not finite; it is the next
 * input too. One member a block.
 */
template <typename Real>
__device__ __forceinline__ void answer(Rows<Real> rows, const double* weights, const double* lower, const double* upper, Real* next, double* answers) {
  for (int o = threadIdx.x / 32; o < rows.outputs; o += blockDim.x / 32) {
    const Real free = predicted(rows, 0, weights + (size_t)o * rows.features());
    double y = (double)free;
    if (y < lower[o]) y = lower[o];
    if (y > upper[o]) y = upper[o];
    const Real held = portable::finite(free) ? (Real)y : free - free;
    if ((threadIdx.x & 31) != 0) continue;
    next[o] = held;
    answers[o] = (double)held;
  }
}

}  // namespace

#define ROW_PARAMETERS(Real)                                                                                                                        \
  const Real *states, const Real *inputs, const double *targets, long long statePitch, long long inputPitch, int size, int inputSize, int squares, \
      int constant, int outputs, int squareOdd
#define ROWS(Real)                                                                                                                             \
  Rows<Real> {                                                                                                                                 \
    states + blockIdx.y * statePitch, inputs + blockIdx.y * inputPitch, targets, size, inputSize, squares, constant, outputs, squareOdd != 0   \
  }

#define TRAINING(suffix, Real)                                                                                                                \
  /* grid: tiles of the lower triangle x members; block: 256 */                                                                               \
  extern "C" __global__ void __launch_bounds__(tileThreads)                                                                                   \
      training_gram_##suffix(ROW_PARAMETERS(Real), int first, int last, int inBlock, int firstTile, double* sums, double* totals) {           \
    gram(ROWS(Real), first, last, inBlock, firstTile, sums, totals);                                                                          \
  }                                                                                                                                           \
  /* grid: 1 x members; block: a multiple of 32 */                                                                                            \
  extern "C" __global__ void __launch_bounds__(256)                                                                                           \
      training_score_##suffix(ROW_PARAMETERS(Real), int first, int last, const double* weights, double* squareSums) {                         \
    const Rows<Real> rows = ROWS(Real);                                                                                                       \
    score(rows, first, last, weights + (size_t)blockIdx.y * outputs * rows.features(), squareSums + (size_t)blockIdx.y * outputs);            \
  }                                                                                                                                           \
  /* y of rows [0, count) of each member, those of a member `pitch` after those of the other; grid: some x members; block: a multiple of 32 */          \
  extern "C" __global__ void __launch_bounds__(256)                                                                                                     \
      training_predict_##suffix(ROW_PARAMETERS(Real), int count, long long pitch, const double* weights, double* answers) {                             \
    const Rows<Real> rows = ROWS(Real);                                                                                                                 \
    const double* const w = weights + (size_t)blockIdx.y * outputs * rows.features();                                                                   \
    const int warps = gridDim.x * blockDim.x / 32;                                                                                                      \
    for (int at = (blockIdx.x * blockDim.x + threadIdx.x) / 32; at < count * outputs; at += warps) {                                                    \
      const Real y = predicted(rows, at / outputs, w + (size_t)(at % outputs) * rows.features());                                                       \
      if ((threadIdx.x & 31) == 0) answers[blockIdx.y * pitch + at] = (double)y;                                                                        \
    }                                                                                                                                                   \
  }                                                                                                                                                     \
  /* one row of each member, `each` members a start and range; grid: members of all starts; block: a multiple of 32 */                     \
  extern "C" __global__ void __launch_bounds__(256)                                                                                           \
      training_answer_##suffix(ROW_PARAMETERS(Real), int each, int readouts, const double* weights, const double* lower, const double* upper, \
                               Real* next, double* answers) {                                                                                 \
    const size_t member = blockIdx.x, range = member / each * outputs;                                                                        \
    const Rows<Real> rows = Rows<Real>{states + member * statePitch, inputs + member * inputPitch, targets, size, inputSize, squares,         \
                                       constant, outputs, squareOdd != 0};                                                                    \
    answer(rows, weights + member % readouts * outputs * rows.features(), lower + range, upper + range, next + member * outputs,              \
           answers + member * outputs);                                                                                                       \
  }                                                                                                                                           \
  /* rows [0, count) written out in binary64, features and targets side by side, for a library to multiply */                                 \
  extern "C" __global__ void __launch_bounds__(256) training_rows_##suffix(ROW_PARAMETERS(Real), int count, double* out) {                    \
    const Rows<Real> rows = ROWS(Real);                                                                                                       \
    const int columns = rows.features() + outputs;                                                                                            \
    for (int t = blockIdx.x; t < count; t += gridDim.x)                                                                                       \
      for (int c = threadIdx.x; c < columns; c += blockDim.x) out[(size_t)t * columns + c] = rows.value(t, c);                                \
  }
TRAINING(f32, float)
TRAINING(f64, double)

/**
 * grid: 1 x members; block: a multiple of 32; the work in shared memory if `work` is null, else
 * [member][triangle and targets] there.
 */
extern "C" __global__ void __launch_bounds__(512) training_solve(const double* sums, const double* totals, const double* lambdas, long long tilesPitch, int features, int outputs,
                                                      int constant, double* work, double* weights, int* failed) {
  extern __shared__ double scratch[];
  const size_t member = blockIdx.y, values = triangle(features) + (size_t)outputs * features;
  solve(sums + member * tilesPitch, totals + member * tilesPitch, lambdas[member], features, outputs, constant, work ? work + member * values : scratch,
        weights + member * outputs * features, failed + member);
}
