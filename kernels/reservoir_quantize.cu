// Rows of W in binary32 to rows of eight or four bits, with the bits that the host's rounding has
// (docs/numerics.md, rule 7), a warp a row; and rows drawn some at a time for it. The steps that
// read them are in reservoir_step_fast and reservoir_q4k.
#include "draws.cuh"
#include "packing.cuh"

namespace {

/** Below this a row counts as zero: what is left of its smallest steps would be subnormal. */
const float leastMagnitude = 0x1p-100f;

__device__ __forceinline__ double nearest(double x) { return portable::sub(portable::add(x, 6755399441055744.0), 6755399441055744.0); }

/** x to its first 53 - log2(splitter - 1) bits, to nearest (T. J. Dekker 1971). */
__device__ __forceinline__ double shortened(double x, double splitter) {
  const double c = portable::mul(x, splitter);
  return portable::sub(c, portable::sub(c, x));
}

__device__ __forceinline__ double powerOfTwo(int exponent) { return __longlong_as_double((long long)(1023 + exponent) << 52); }
__device__ __forceinline__ int exponentOf(double x) { return (int)(__double_as_longlong(x) >> 52 & 0x7ff) - 1023; }

/** The nearest number of binary16 to x, at least 0 and below 65504. */
__device__ __forceinline__ double half(double x) {
  return x >= 0x1p-14 ? shortened(x, 0x1p42 + 1) : portable::mul(nearest(portable::mul(x, 0x1p24)), 0x1p-24);
}

__device__ __forceinline__ unsigned halfBits(double x) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"((float)x));
  return bits;
}

__device__ __forceinline__ float magnitude(float w) { return __uint_as_float(__float_as_uint(w) & 0x7fffffffu); }

__device__ __forceinline__ float largestOfWarp(float value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance >>= 1) value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, distance));
  return value;
}

__device__ __forceinline__ float largestOfRow(const float* row, int N) {
  float largest = 0;
  for (int c = threadIdx.x & 31; c < N; c += 32) largest = fmaxf(largest, magnitude(row[c]));
  return largestOfWarp(largest);
}

/**
 * w / step to the nearest whole number of at most `most`; what is as large as `largest` gets
 * `most`.
 */
__device__ __forceinline__ double steps(float w, double step, float largest, double most) {
  double k = magnitude(w) == largest ? (w < 0 ? -most : most) : nearest(portable::div((double)w, step));
  if (k > most) k = most;
  if (k < -most) k = -most;
  return k;
}

}  // namespace

/** W[r] = scales[r] k, k + 128 at the positions of a lane's 16 columns. */
extern "C" __global__ void __launch_bounds__(128) pack_rows_int8(const float* source, unsigned char* target, float* scales, int rows, int N, int stride) {
  const int lane = threadIdx.x & 31;
  for (int r = blockIdx.x * 4 + (threadIdx.x >> 5); r < rows; r += gridDim.x * 4) {
    const float* row = source + (size_t)r * N;
    const float largest = largestOfRow(row, N);
    const double step = largest < leastMagnitude ? 0.0 : shortened(portable::div((double)largest, 127.0), 0x1p37 + 1);
    if (lane == 0) scales[r] = (float)step;
    for (int c = lane; c < stride; c += 32) {
      const double k = c < N && step > 0 ? steps(row[c], step, largest, 127.0) : 0.0;
      target[(size_t)r * stride + packing::positionOf(c, 16)] = (unsigned char)((int)k + 128);
    }
  }
}

/**
 * W[r] = scales[r] (d s (q - 8)): superblocks of 256 as q4k.ts describes them, with
 * dmin = 8 d and m = s. scales[r] is the power of two that leaves the largest d of a row between
 * 1024 and 2048.
 */
extern "C" __global__ void __launch_bounds__(128) pack_rows_q4k(const float* source, unsigned char* target, float* scales, int rows, int N, int stride) {
  const int lane = threadIdx.x & 31, blocks = stride / 256;
  for (int r = blockIdx.x * 4 + (threadIdx.x >> 5); r < rows; r += gridDim.x * 4) {
    const float* row = source + (size_t)r * N;
    const float largest = largestOfRow(row, N);
    const bool zero = largest < leastMagnitude;
    const int exponent = zero ? 0 : 10 - exponentOf(shortened(portable::div((double)largest, 441.0), 0x1p42 + 1));
    const double up = powerOfTwo(exponent);
    if (lane == 0) scales[r] = zero ? 0.0f : (float)powerOfTwo(-exponent);
    for (int b = 0; b < blocks; b++) {
      float values[8], groups[8], most = 0;
#pragma unroll
      for (int g = 0; g < 8; g++) {
        const int c = b * 256 + 32 * g + lane;
        values[g] = c < N ? row[c] : 0.0f;
        groups[g] = largestOfWarp(magnitude(values[g]));
        most = fmaxf(most, groups[g]);
      }
      const double d = zero ? 0.0 : half(portable::div(portable::mul((double)most, up), 441.0));
      unsigned s[8], q[8];
#pragma unroll
      for (int g = 0; g < 8; g++) {
        double scale = 0.0;
        if (d > 0) {
          scale = nearest(portable::div(portable::mul((double)groups[g], up), portable::mul(7.0, d)));
          if (scale > 63.0 || groups[g] == most) scale = 63.0;
        }
        s[g] = (unsigned)scale;
        // A power of two changes no quotient: the step is that of the weights themselves.
        const double step = portable::div(portable::mul(d, scale), up);
        q[g] = (unsigned)(int)((step > 0 ? steps(values[g], step, groups[g], 7.0) : 0.0) + 8.0);
      }
      unsigned char* block = target + ((size_t)r * blocks + b) * 144;
#pragma unroll
      for (int j = 0; j < 4; j++) block[16 + 32 * j + lane] = (unsigned char)(q[2 * j] | q[2 * j + 1] << 4);
      if (lane == 0) {
        unsigned first = 0, both = 0;
#pragma unroll
        for (int g = 0; g < 4; g++) {
          first |= (s[g] | s[g + 4] >> 4 << 6) << (8 * g);
          both |= ((s[g + 4] & 15) | (s[g + 4] & 15) << 4) << (8 * g);
        }
        *(uint4*)block = make_uint4(halfBits(d) | halfBits(portable::mul(8.0, d)) << 16, first, first, both);
      }
    }
  }
}

/**
 * Rows `first` to `first + rows` of W = draw * factor in binary32, to rows of N numbers that hold
 * zeros.
 */
extern "C" __global__ void __launch_bounds__(128) draw_some_rows(DRAW_PARAMETERS, double factor, float* target, int first, int rows) {
  DRAW;
  for (int r = blockIdx.x * blockDim.x + threadIdx.x; r < rows; r += gridDim.x * blockDim.x) {
    float* out = target + (size_t)r * size;
    draws::forRow(draw, first + r, [&](int column, double value) { out[column] = (float)portable::mul(value, factor); });
  }
}
