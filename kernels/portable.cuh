// Portable arithmetic on the device (docs/numerics.md, rules 1, 2, 4 and 5), for float and double:
// every operation rounded to nearest even, none fused, whatever the compiler's flags. It needs no
// host header, so nvcc and NVRTC both take it.
#pragma once

namespace portable {

static __device__ __forceinline__ float mul(float a, float b) { return __fmul_rn(a, b); }
static __device__ __forceinline__ double mul(double a, double b) { return __dmul_rn(a, b); }
static __device__ __forceinline__ float add(float a, float b) { return __fadd_rn(a, b); }
static __device__ __forceinline__ double add(double a, double b) { return __dadd_rn(a, b); }
static __device__ __forceinline__ float sub(float a, float b) { return __fsub_rn(a, b); }
static __device__ __forceinline__ double sub(double a, double b) { return __dsub_rn(a, b); }
static __device__ __forceinline__ float div(float a, float b) { return __fdiv_rn(a, b); }
static __device__ __forceinline__ double div(double a, double b) { return __ddiv_rn(a, b); }
static __device__ __forceinline__ float root(float a) { return __fsqrt_rn(a); }
static __device__ __forceinline__ double root(double a) { return __dsqrt_rn(a); }

static __device__ __forceinline__ bool finite(float x) { return (__float_as_uint(x) & 0x7f800000u) != 0x7f800000u; }
static __device__ __forceinline__ bool finite(double x) { return ((unsigned)__double2hiint(x) & 0x7ff00000u) != 0x7ff00000u; }

/** sum + a b, two roundings. */
template <typename Real> static __device__ __forceinline__ Real mulAdd(Real a, Real b, Real sum) { return add(sum, mul(a, b)); }

/** Rule 4, binary32. */
static __device__ __forceinline__ float tanh(float x) {
  float ax = __uint_as_float(__float_as_uint(x) & 0x7fffffffu);
  if (ax > 10.0f) ax = 10.0f;
  const float y = mul(ax, ax);
  float p = -0x1.50c476p-8f;
  p = add(mul(p, y), 0x1.492fd6p-6f);
  p = add(mul(p, y), -0x1.b6c112p-5f);
  p = add(mul(p, y), 0x1.10faeep-3f);
  p = add(mul(p, y), -0x1.5554f6p-2f);
  const float small = add(ax, mul(ax, mul(y, p)));
  const float u = add(ax, ax);
  const float t = add(mul(u, 0x1.715476p+0f), 12582912.0f);
  const float n = sub(t, 12582912.0f);
  const float r = sub(sub(u, mul(n, 0.693359375f)), mul(n, -0x1.bd0106p-13f));
  float g = 0x1.6a2434p-10f;
  g = add(mul(g, r), 0x1.1239e2p-7f);
  g = add(mul(g, r), 0x1.5558f2p-5f);
  g = add(mul(g, r), 0x1.555492p-3f);
  g = add(mul(g, r), 0x1.fffffcp-2f);
  const float m = add(add(mul(mul(r, r), g), r), 1.0f);
  const float e = __uint_as_float(__float_as_uint(m) + (__float_as_uint(t) << 23));
  const float big = sub(1.0f, div(2.0f, add(e, 1.0f)));
  return __uint_as_float(__float_as_uint(ax >= 0x1.666666p-1f ? big : small) | (__float_as_uint(x) & 0x80000000u));
}

/** Rule 4, binary64; one division serves both sides. */
static __device__ __forceinline__ double tanh(double x) {
  const long long sign = __double_as_longlong(x) & (long long)0x8000000000000000ull;
  double ax = __longlong_as_double(__double_as_longlong(x) & 0x7fffffffffffffffll);
  if (ax > 20.0) ax = 20.0;
  const double y = mul(ax, ax);
  double p = -0x1.edc96e785fd6bp-1;
  p = add(mul(p, y), -0x1.8d708b75ea536p+6);
  p = add(mul(p, y), -0x1.940b6ad154878p+10);
  double q = add(y, 0x1.c38f38eb58886p+6);
  q = add(mul(q, y), 0x1.17afcd2a40919p+11);
  q = add(mul(q, y), 0x1.2f08901cff660p+12);
  const double u = add(ax, ax);
  const double t = add(mul(u, 0x1.71547652b82fep+0), 6755399441055744.0);
  const double n = sub(t, 6755399441055744.0);
  const double r = sub(sub(u, mul(n, 0x1.62e42fefa3800p-1)), mul(n, 0x1.ef35793c76730p-45));
  double g = 0x1.ad7ea9353e2f6p-26;
  g = add(mul(g, r), 0x1.28ad95cf92e62p-22);
  g = add(mul(g, r), 0x1.71df2614b7264p-19);
  g = add(mul(g, r), 0x1.a01999ed849b7p-16);
  g = add(mul(g, r), 0x1.a01a0129e7000p-13);
  g = add(mul(g, r), 0x1.6c16c184321cap-10);
  g = add(mul(g, r), 0x1.1111111127d64p-7);
  g = add(mul(g, r), 0x1.555555555086dp-5);
  g = add(mul(g, r), 0x1.55555555554f9p-3);
  g = add(mul(g, r), 0x1.000000000000ap-1);
  const double m = add(add(mul(mul(r, r), g), r), 1.0);
  const double e = __longlong_as_double(__double_as_longlong(m) + (__double_as_longlong(t) << 52));
  const bool big = ax >= 0x1.6666666666666p-1;
  const double quotient = div(big ? -2.0 : mul(ax, mul(y, p)), big ? add(e, 1.0) : q);
  return __longlong_as_double(__double_as_longlong(add(big ? 1.0 : ax, quotient)) | sign);
}

template <typename Real> static __device__ __forceinline__ Real sigmoid(Real z) {
  const Real half = (Real)0.5;
  return add(half, mul(half, tanh(mul(half, z))));
}

/** z > 0 ? z : 0; a NaN stays a NaN. */
template <typename Real> static __device__ __forceinline__ Real relu(Real z) { return z <= (Real)0 ? (Real)0 : z; }

/** The activations by number, as in assembly/reservoir.ts. */
enum Activation { TANH = 0, IDENTITY = 1, RELU = 2, SIGMOID = 3 };

/** f(z). With a constant `activation` the other cases vanish. */
template <typename Real> static __device__ __forceinline__ Real activate(int activation, Real z) {
  switch (activation) {
    case TANH: return tanh(z);
    case RELU: return relu(z);
    case SIGMOID: return sigmoid(z);
    default: return z;
  }
}

/** Rule 5: x' = ((1 - a) x) + (a f), with keep = 1 - a computed once in the model's precision. */
template <typename Real> static __device__ __forceinline__ Real leakyStep(Real keep, Real x, Real leak, Real f) {
  return add(mul(keep, x), mul(leak, f));
}

/** Rule 1's butterfly over the 32 lanes of a full warp: the sum ends in every lane. */
template <typename Real> static __device__ __forceinline__ Real butterfly32(Real p) {
#pragma unroll
  for (int distance = 16; distance > 0; distance >>= 1) p = add(p, __shfl_xor_sync(0xffffffffu, p, distance));
  return p;
}

/** Rule 2's butterfly over each 8 neighbouring lanes of a full warp. */
template <typename Real> static __device__ __forceinline__ Real butterfly8(Real p) {
#pragma unroll
  for (int distance = 4; distance > 0; distance >>= 1) p = add(p, __shfl_xor_sync(0xffffffffu, p, distance));
  return p;
}

}  // namespace portable
