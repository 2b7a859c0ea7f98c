// Draws a random W where it is used, from the same streams and with the same bits as the host
// (docs/numerics.md, rule 7), for matrices that the host does not hold or is slower to draw: a
// thread a row. It writes packed rows and slices for the steps of reservoir_step, the order of
// reservoir_grid and reservoir_sparse, and plain rows and CSR; all rows, or those of one device.
#include "draws.cuh"
#include "packing.cuh"
#include "recurrence.cuh"

using namespace draws;
using namespace packing;

namespace {

/**
 * Writes `rows` rows of W = draw * factor from row `first` on, rounded to the model's precision, to
 * rows that hold zeros: packed for lanes of V columns, or plain for V = 0.
 */
template <typename Real, int V, typename Weight>
__device__ __forceinline__ void drawRows(const Draw& draw, double factor, Weight* __restrict__ target, int stride, int first, int rows) {
  for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += gridDim.x * blockDim.x) {
    Weight* out = target + (size_t)row * stride;
    forRow(draw, first + row, [&](int column, double value) { out[positionOf(column, V)] = rounded((Real)portable::mul(value, factor), (Weight)0); });
  }
}

/**
 * Writes W to slices of four rows (src/engine/cuda/streamed/sparse-layout.ts) that hold zeros:
 * group g of eight lanes has row rows[g], -1 for none, and
 * `entries` entries of a lane side by side.
 */
template <typename Real, typename Weight, typename Column>
__device__ __forceinline__ void drawSlices(const Draw& draw, double factor, const unsigned* __restrict__ offsets, const int* __restrict__ rows,
                                           int groups, int entries, Weight* __restrict__ values, Column* __restrict__ columns) {
  for (int group = blockIdx.x * blockDim.x + threadIdx.x; group < groups; group += gridDim.x * blockDim.x) {
    const int row = rows[group];
    if (row < 0) continue;
    const size_t slice = (size_t)offsets[group >> 2] * 32 * entries;
    unsigned m = 0;
    forRow(draw, row, [&](int column, double value) {
      const unsigned turn = m >> 3, load = entries == 1 ? turn : turn >> 2, within = entries == 1 ? 0 : turn & 3;
      const size_t at = slice + (size_t)(load * 32 + (group & 3) * 8 + (m & 7)) * entries + within;
      values[at] = rounded((Real)portable::mul(value, factor), (Weight)0);
      columns[at] = (Column)column;
      m++;
    });
  }
}

}  // namespace

#define DRAW_ROWS(NAME, REAL, V, WEIGHT)                                                                                                     \
  extern "C" __global__ void __launch_bounds__(128)                                                                                          \
      NAME(DRAW_PARAMETERS, double factor, WEIGHT* target, int stride, int first, int rows) {                                                \
    DRAW;                                                                                                                                    \
    drawRows<REAL, V>(draw, factor, target, stride, first, rows);                                                                            \
  }
#define DRAW_PACKED_ROWS(NAME, REAL, WEIGHT) DRAW_ROWS(NAME, REAL, (Lanes<REAL, WEIGHT>::V), WEIGHT)
DRAW_PACKED_ROWS(draw_rows_f32, float, float)
DRAW_PACKED_ROWS(draw_rows_f64, double, double)
DRAW_PACKED_ROWS(draw_rows_f32_bf16, float, bfloat16)
DRAW_PACKED_ROWS(draw_rows_f64_bf16, double, bfloat16)
DRAW_ROWS(draw_plain_rows_f64, double, 0, double)
DRAW_ROWS(draw_plain_rows_f32, float, 0, float)
DRAW_ROWS(draw_plain_rows_bf16, float, 0, bfloat16)

#define DRAW_SLICES(NAME, REAL, WEIGHT, COLUMN)                                                                                              \
  extern "C" __global__ void __launch_bounds__(128) NAME(DRAW_PARAMETERS, double factor, const unsigned* offsets, const int* rows,           \
                                                         int groups, int entries, WEIGHT* values, COLUMN* columns) {                         \
    DRAW;                                                                                                                                    \
    drawSlices<REAL>(draw, factor, offsets, rows, groups, entries, values, columns);                                                         \
  }
#define DRAW_SLICES_BY_COLUMN(NAME, REAL, WEIGHT)                                                                                            \
  DRAW_SLICES(NAME##_u16, REAL, WEIGHT, unsigned short)                                                                                      \
  DRAW_SLICES(NAME##_u32, REAL, WEIGHT, unsigned)
DRAW_SLICES_BY_COLUMN(draw_slices_f32, float, float)
DRAW_SLICES_BY_COLUMN(draw_slices_f64, double, double)
DRAW_SLICES_BY_COLUMN(draw_slices_f32_bf16, float, bfloat16)
DRAW_SLICES_BY_COLUMN(draw_slices_f64_bf16, double, bfloat16)

/** counts[row] = entries of the row. */
extern "C" __global__ void __launch_bounds__(128) count_drawn(DRAW_PARAMETERS, unsigned* counts) {
  DRAW;
  for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < size; row += gridDim.x * blockDim.x) {
    unsigned count = 0;
    forRow(draw, row, [&](int, double) { count++; });
    counts[row] = count;
  }
}

/** What is left of a weight: rounding 0 keeps binary64, 1 rounds to binary32, 2 to bfloat16. */
__device__ __forceinline__ double leftOf(double scaled, int rounding) {
  if (rounding == 0) return scaled;
  return rounding == 1 ? (double)(float)scaled : (double)__uint_as_float((unsigned)rounded((float)scaled, (bfloat16)0) << 16);
}

/** `rows` rows of W = draw * factor from row `first` on in CSR form, each of which begins at its offset. */
#define DRAW_CSR(NAME, REAL)                                                                                                                 \
  extern "C" __global__ void __launch_bounds__(128)                                                                                          \
      NAME(DRAW_PARAMETERS, double factor, int rounding, const unsigned* offsets, unsigned* columns, REAL* values, int first, int rows) {    \
    DRAW;                                                                                                                                    \
    for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += gridDim.x * blockDim.x) {                                       \
      unsigned at = offsets[row];                                                                                                            \
      forRow(draw, first + row, [&](int column, double value) {                                                                                      \
        columns[at] = (unsigned)column;                                                                                                      \
        values[at++] = (REAL)leftOf(portable::mul(value, factor), rounding);                                                                 \
      });                                                                                                                                    \
    }                                                                                                                                        \
  }
DRAW_CSR(draw_csr, double)
DRAW_CSR(draw_csr_f32, float)

/** How weights lie in the blocks of a grid. */
enum Stored { BINARY32 = 0, BINARY64 = 1, UPPER_HALVES = 2 };

/**
 * W = draw * factor for the blocks of a dense grid, where there are zeros (packDense of
 * src/engine/cuda/persistent/pack.ts): `positions` of them from `first` on, `rows` a warp; column c
 * is in tile c / 128 (256 of halves), which is the indices[c / 128]-th of `tiles`.
 */
extern "C" __global__ void __launch_bounds__(128) draw_grid(DRAW_PARAMETERS, double factor, int rounding, int stored, const int* indices, int tiles,
                                                            int rows, int first, int positions, void* target) {
  DRAW;
  const int shift = stored == UPPER_HALVES ? 8 : 7, each = 1 << (shift - 5);
  for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < positions; at += gridDim.x * blockDim.x) {
    const int neuron = recurrence::neuronAt(first + at);
    if (neuron >= size) continue;
    const size_t begin = ((size_t)(at / rows) * tiles * rows + at % rows) << shift;
    forRow(draw, neuron, [&](int column, double value) {
      const int within = column & ((1 << shift) - 1);
      const size_t index = begin + (((size_t)indices[column >> shift] * rows) << shift) + within % 32 * each + within / 32;
      const double left = leftOf(portable::mul(value, factor), rounding);
      if (stored == BINARY32)
        ((float*)target)[index] = (float)left;
      else if (stored == BINARY64)
        ((double*)target)[index] = left;
      else
        ((bfloat16*)target)[index] = (bfloat16)(__float_as_uint((float)left) >> 16);
    });
  }
}

/**
 * The same for the blocks of a sparse grid (packSparse): `count` rows from `first` on, in `rounds` of
 * four a warp; unit k of a row is the indices[k]-th of `units`.
 */
extern "C" __global__ void __launch_bounds__(128) draw_units(DRAW_PARAMETERS, double factor, int rounding, int stored, const int* indices, int units,
                                                             int rounds, int first, int count, unsigned char* target) {
  DRAW;
  // Values of 16 bytes, and how many 16 bytes of each lane the values of a unit are.
  const int perPart = stored == BINARY64 ? 2 : 4, valueParts = 8 / perPart, bytes = 32 * 16 * (valueParts + 1);
  for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < count; at += gridDim.x * blockDim.x) {
    if (first + at >= size) continue;
    const int warp = at / (4 * rounds), octet = at / rounds % 4, round = at % rounds;
    unsigned char* const row = target + (size_t)(warp * rounds + round) * units * bytes;
    int m = 0;
    forRow(draw, first + at, [&](int column, double value) {
      unsigned char* const unit = row + (size_t)indices[m / 64] * bytes;
      const int lane = octet * 8 + m % 8, k = m % 64 / 8, index = (k / perPart * 32 + lane) * perPart + k % perPart;
      const double left = leftOf(portable::mul(value, factor), rounding);
      if (stored == BINARY32)
        ((float*)unit)[index] = (float)left;
      else
        ((double*)unit)[index] = left;
      ((unsigned short*)unit)[(valueParts * 32 + lane) * 8 + k] = (unsigned short)column;
      m++;
    });
  }
}

/** Rows of W = draw * factor, rounded and kept in Real, to rows that hold zeros. */
#define DRAW_ROUNDED_ROWS(NAME, REAL)                                                                                                        \
  extern "C" __global__ void __launch_bounds__(128) NAME(DRAW_PARAMETERS, double factor, int rounding, REAL* target) {                       \
    DRAW;                                                                                                                                    \
    for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < size; row += gridDim.x * blockDim.x) {                                       \
      REAL* out = target + (size_t)row * size;                                                                                               \
      forRow(draw, row, [&](int column, double value) { out[column] = (REAL)leftOf(portable::mul(value, factor), rounding); });              \
    }                                                                                                                                        \
  }
DRAW_ROUNDED_ROWS(draw_rounded_rows_f32, float)
DRAW_ROUNDED_ROWS(draw_rounded_rows_f64, double)

/**
 * sums[row] = the row's draws added in rising order from +0, squares[row] those of their squares.
 */
extern "C" __global__ void __launch_bounds__(128) draw_row_sums(DRAW_PARAMETERS, double* sums, double* squares) {
  DRAW;
  for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < size; row += gridDim.x * blockDim.x) {
    double sum = 0, square = 0;
    forRow(draw, row, [&](int, double value) {
      sum = portable::add(sum, value);
      square = portable::mulAdd(value, value, square);
    });
    sums[row] = sum;
    squares[row] = square;
  }
}
