// Independent reservoirs, one a block, of any size whose states fit shared memory: sparse weights
// in both precisions, and the dense ones that do not fit the registers (docs/internals/many-reservoirs.md).
// Also what makes members out of matrices that they share.
#include "ensemble_general.cuh"

namespace {

__device__ __forceinline__ float toBfloat16(float value) {
  const unsigned word = __float_as_uint(value);
  return __uint_as_float((word + 0x7fffu + (word >> 16 & 1u)) & 0xffff0000u);
}

/**
 * Rule 7: draw times factor, rounded to binary64, then to Real, and if asked to 8 significant
 * bits.
 */
template <typename Real> __device__ __forceinline__ Real scaled(double draw, double factor, int bfloat16) {
  const double product = portable::mul(draw, factor);
  return bfloat16 ? (Real)toBfloat16((float)product) : (Real)product;
}

}  // namespace

#define ENSEMBLE_SCALE(suffix, Real)                                                                                                       \
  /* out[member][i] = draws[of[member]][i] factors[member]; grid: any x members */                                                         \
  extern "C" __global__ void ensemble_scale_##suffix(const double* draws, const int* of, const double* factors, int count, int bfloat16,   \
                                                     Real* out) {                                                                          \
    const double* const source = draws + (size_t)of[blockIdx.y] * count;                                                                   \
    const double factor = factors[blockIdx.y];                                                                                             \
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)                                            \
      out[(size_t)blockIdx.y * count + i] = scaled<Real>(source[i], factor, bfloat16);                                                     \
  }

ENSEMBLE_GENERAL(f32, float)
ENSEMBLE_GENERAL(f64, double)
ENSEMBLE_SCALE(f32, float)
ENSEMBLE_SCALE(f64, double)
