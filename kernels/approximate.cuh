// Arithmetic for `arithmetic: "fast"`, which is quicker than portable.cuh's and has other bits:
// fused products and sums, tanh by the device's approximate exponential, binary16. Functions have
// the names that they have there.
#pragma once
#include "portable.cuh"

namespace approximate {

/** sum + a b, one rounding. */
static __device__ __forceinline__ float mulAdd(float a, float b, float sum) { return __fmaf_rn(a, b, sum); }
static __device__ __forceinline__ double mulAdd(double a, double b, double sum) { return __fma_rn(a, b, sum); }

/** Absolute error below 3e-7. */
static __device__ __forceinline__ float tanh(float z) {
  float power, quotient;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(2.885390082f * z));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(quotient) : "f"(power + 1.0f));
  return __fmaf_rn(-2.0f, quotient, 1.0f);
}
static __device__ __forceinline__ double tanh(double z) { return portable::tanh(z); }

template <typename Real> static __device__ __forceinline__ Real activate(int activation, Real z) {
  switch (activation) {
    case portable::TANH: return tanh(z);
    case portable::RELU: return portable::relu(z);
    case portable::SIGMOID: return mulAdd((Real)0.5, tanh((Real)0.5 * z), (Real)0.5);
    default: return z;
  }
}

/** f(z) of the two that keep states between -1 and 1. */
static __device__ __forceinline__ float activateBounded(int activation, float z) {
  const bool sigmoid = activation == portable::SIGMOID;
  const float f = tanh(sigmoid ? 0.5f * z : z);
  return sigmoid ? __fmaf_rn(0.5f, f, 0.5f) : f;
}

/** (1 - a) x + a f, with keep = 1 - a. */
template <typename Real> static __device__ __forceinline__ Real leakyStep(Real keep, Real x, Real leak, Real f) { return mulAdd(leak, f, keep * x); }

typedef unsigned short half_bits;

static __device__ __forceinline__ half_bits toHalf(float value) {
  half_bits bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}

}  // namespace approximate
