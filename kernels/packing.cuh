// The order of the columns of a dense W in device memory: one load of 16 bytes brings the next
// columns of a lane. And how weights are rounded there.
#pragma once
#include "portable.cuh"

namespace packing {

typedef unsigned short bfloat16;

/**
 * V neighbouring values that one lane loads at once: those of columns l, l + 32, l + 64, ... of a
 * tile of 32 V columns.
 */
template <typename Real, typename Weight> struct Lanes;
template <> struct Lanes<float, float> { static const int V = 4; };
template <> struct Lanes<double, double> { static const int V = 2; };
template <> struct Lanes<float, bfloat16> { static const int V = 8; };
template <> struct Lanes<double, bfloat16> { static const int V = 8; };

/**
 * Where column c of a row stands: tiles of 32 V columns, lane after lane. V = 0 leaves it in its
 * position.
 */
static __device__ __forceinline__ int positionOf(int c, int V) {
  if (V == 0) return c;
  const int tile = 32 * V;
  return c / tile * tile + c % 32 * V + c % tile / 32;
}

static __device__ __forceinline__ float rounded(float w, float) { return w; }
static __device__ __forceinline__ double rounded(double w, double) { return w; }

/** To 8 significant bits, to nearest even, by way of binary32 (docs/numerics.md, rule 7). */
template <typename Real> static __device__ __forceinline__ bfloat16 rounded(Real w, bfloat16) {
  const unsigned bits = __float_as_uint((float)w);
  return (bfloat16)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace packing
