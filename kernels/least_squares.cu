// Householder reflections in double-double (docs/numerics.md, rule 11): a column of X is reflected,
// and the columns behind it with it, those of the targets last. High and low parts are matrices of
// rows x columns. Sums over rows are in rising order, as on the host: threads have a column each.
#include "double_double.cuh"

using double_double::Number;

namespace {

const int tile = 128;

__device__ __forceinline__ Number at(const double* high, const double* low, size_t i) { return {high[i], low[i]}; }

}  // namespace

/** The pivot of column k, the column's reflection and -1 / (pivot v_k), for one block of `tile`. */
extern "C" __global__ void __launch_bounds__(tile)
    least_squares_pivot(double* high, double* low, double* pivots, double* scale, int rows, int columns, int k) {
  __shared__ double terms[2][tile];
  Number sum = {0.0, 0.0};
  for (int first = k; first < rows; first += tile) {
    const int r = first + (int)threadIdx.x;
    if (r < rows) {
      const Number value = at(high, low, (size_t)r * columns + k), square = double_double::term(value, value);
      terms[0][threadIdx.x] = square.high;
      terms[1][threadIdx.x] = square.low;
    }
    __syncthreads();
    if (threadIdx.x == 0)
      for (int i = 0; i < min(tile, rows - first); i++) sum = double_double::plus(sum, {terms[0][i], terms[1][i]});
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  const Number norm = double_double::squareRoot(sum);
  Number pivot = norm, factor = {0.0, 0.0};
  if (norm.high > 0.0) {
    const size_t own = (size_t)k * columns + k;
    const Number head = at(high, low, own);
    if (head.high > 0.0) pivot = -norm;
    const Number v = head - pivot;
    high[own] = v.high;
    low[own] = v.low;
    factor = -(Number{1.0, 0.0} / (pivot * v));
  }
  pivots[2 * k] = pivot.high;
  pivots[2 * k + 1] = pivot.low;
  scale[0] = factor.high;
  scale[1] = factor.low;
}

/** For each column behind k: what of v is taken from it, two numbers a column. */
extern "C" __global__ void __launch_bounds__(tile)
    least_squares_dots(const double* __restrict__ high, const double* __restrict__ low, const double* __restrict__ scale, double* multiples,
                       int rows, int columns, int k) {
  const int j = k + 1 + blockIdx.x * tile + (int)threadIdx.x;
  if (j >= columns) return;
  Number sum = {0.0, 0.0};
#pragma unroll 2
  for (int r = k; r < rows; r++) {
    const size_t row = (size_t)r * columns;
    sum = double_double::plus(sum, double_double::term(at(high, low, row + k), at(high, low, row + j)));
  }
  const Number f = Number{scale[0], scale[1]} * sum;
  multiples[2 * j] = f.high;
  multiples[2 * j + 1] = f.low;
}

/**
 * Takes it: a thread a column, blockIdx.y every gridDim.y-th row. A column of zeros has no
 * reflection: its scale is 0.
 */
extern "C" __global__ void __launch_bounds__(tile)
    least_squares_reflect(double* high, double* low, const double* __restrict__ scale, const double* __restrict__ multiples, int rows,
                          int columns, int k) {
  const int j = k + 1 + blockIdx.x * tile + (int)threadIdx.x;
  if (j >= columns || scale[0] == 0.0) return;
  const Number f = -Number{multiples[2 * j], multiples[2 * j + 1]};
  for (int r = k + (int)blockIdx.y; r < rows; r += (int)gridDim.y) {
    const size_t row = (size_t)r * columns;
    const Number left = double_double::plus(at(high, low, row + j), double_double::term(f, at(high, low, row + k)));
    high[row + j] = left.high;
    low[row + j] = left.low;
  }
}
