// The draws of a random W on the device: the same streams and bits as the host's (docs/numerics.md,
// rule 7), row by row. It stores nothing.
#pragma once
#include "elementary.cuh"
#include "philox.cuh"

namespace draws {

enum Distribution { UNIFORM = 0, NORMAL = 1, BERNOULLI = 2 };

/** What a row is drawn from. */
struct Draw {
  unsigned key0, key1;
  int size, selfConnections, distribution;
  /** Whether every position is taken, and else log(1 - p). */
  int full;
  double logMiss;
};

static __device__ __forceinline__ double uniformDraw(const Draw& draw, unsigned row, unsigned index, unsigned purpose) {
  const uint4 w = philox::block(draw.key0, draw.key1, index >> 1, row, 0, purpose);
  return index & 1 ? philox::uniform(w.z, w.w) : philox::uniform(w.x, w.y);
}

static __device__ __forceinline__ double valueDraw(const Draw& draw, unsigned row, unsigned index) {
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
template <typename Visit> static __device__ __forceinline__ void forRow(const Draw& draw, int row, Visit visit) {
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

}  // namespace draws

/** What every kernel that draws takes first, and the Draw of it. */
#define DRAW_PARAMETERS unsigned key0, unsigned key1, int size, int selfConnections, int distribution, int full, double logMiss
#define DRAW draws::Draw draw = {key0, key1, size, selfConnections, distribution, full, logMiss}
