// Draws a random W where it is used, from the same streams and with the same bits as the host (docs/numerics.md, rule 7), for matrices that the host does
// not hold: a thread a row. It writes packed rows for the dense step of reservoir_step.
#include "elementary.cuh"
#include "packing.cuh"
#include "philox.cuh"

using namespace packing;

namespace {

enum Distribution { UNIFORM = 0, NORMAL = 1, BERNOULLI = 2 };

/** What a row is drawn from. */
struct Draw {
  unsigned key0, key1;
  int size, selfConnections, distribution;
  /** Whether every position is taken, and else log(1 - p). */
  int full;
  double logMiss;
};

__device__ __forceinline__ double uniformDraw(const Draw& draw, unsigned row, unsigned index, unsigned purpose) {
  const uint4 w = philox::block(draw.key0, draw.key1, index >> 1, row, 0, purpose);
  return index & 1 ? philox::uniform(w.z, w.w) : philox::uniform(w.x, w.y);
}

__device__ __forceinline__ double valueDraw(const Draw& draw, unsigned row, unsigned index) {
  if (draw.distribution == NORMAL) {
    const uint4 w = philox::block(draw.key0, draw.key1, index, row, 0, 0);
    const double radius = portable::root(portable::mul(-2.0, elementary::log(portable::sub(1.0, philox::uniform(w.x, w.y)))));
    return portable::mul(radius, elementary::cos(portable::mul(6.283185307179586, philox::uniform(w.z, w.w))));
  }
  const double u = uniformDraw(draw, row, index, 0);
  if (draw.distribution == UNIFORM) return portable::sub(portable::mul(2.0, u), 1.0);
  return u < 0.5 ? -1.0 : 1.0;
}

/** Calls visit(column, value) for every entry of a row, columns rising. */
template <typename Visit> __device__ __forceinline__ void forRow(const Draw& draw, int row, Visit visit) {
  const int candidates = draw.selfConnections ? draw.size : draw.size - 1;
  double position = -1.0;
  for (unsigned m = 0;; m++) {
    double skip = 1.0;
    if (!draw.full)
      skip = portable::add(1.0, floor(portable::div(elementary::log(portable::sub(1.0, uniformDraw(draw, row, m, 1))), draw.logMiss)));
    position = portable::add(position, skip);
    if (position >= (double)candidates) return;
    const int taken = (int)position;
    visit(!draw.selfConnections && taken >= row ? taken + 1 : taken, valueDraw(draw, row, m));
  }
}

/** Writes rows of W = draw * factor, rounded to the model's precision, to packed rows that hold zeros. */
template <typename Real, typename Weight>
__device__ __forceinline__ void drawRows(const Draw& draw, double factor, Weight* __restrict__ target, int stride) {
  const int V = Lanes<Real, Weight>::V;
  for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < draw.size; row += gridDim.x * blockDim.x) {
    Weight* out = target + (size_t)row * stride;
    forRow(draw, row, [&](int column, double value) { out[placeOf(column, V)] = rounded((Real)portable::mul(value, factor), (Weight)0); });
  }
}

}  // namespace

#define DRAW_PARAMETERS unsigned key0, unsigned key1, int size, int selfConnections, int distribution, int full, double logMiss
#define DRAW Draw draw = {key0, key1, size, selfConnections, distribution, full, logMiss}

#define DRAW_ROWS(NAME, REAL, WEIGHT)                                                                                                        \
  extern "C" __global__ void __launch_bounds__(128) NAME(DRAW_PARAMETERS, double factor, WEIGHT* target, int stride) {                       \
    DRAW;                                                                                                                                    \
    drawRows<REAL, WEIGHT>(draw, factor, target, stride);                                                                                    \
  }
DRAW_ROWS(draw_rows_f32, float, float)
DRAW_ROWS(draw_rows_f64, double, double)
DRAW_ROWS(draw_rows_f32_bf16, float, bfloat16)
DRAW_ROWS(draw_rows_f64_bf16, double, bfloat16)

/** sums[row] = the row's draws added in rising order from +0, squares[row] those of their squares. */
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
