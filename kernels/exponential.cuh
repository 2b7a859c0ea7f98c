// exp in binary64 by docs/numerics.md, rule 8, for arguments up to 0.
#pragma once
#include "portable.cuh"

namespace elementary {

/** 2^n for -1023 < n < 1024. */
static __device__ __forceinline__ double powerOfTwo(int n) { return __hiloint2double((n + 1023) << 20, 0); }

/** The whole n with x near n log 2, for finite x. */
static __device__ __forceinline__ double wholeLogs(double x) {
  return portable::sub(portable::add(portable::mul(x, 1.4426950408889634), 6755399441055744.0), 6755399441055744.0);
}

/** 2^n e^(a - b). */
static __device__ __forceinline__ double expOfParts(double n, double a, double b) {
  using portable::add;
  using portable::mul;
  using portable::sub;
  const double r = sub(a, b);
  const double tail[] = {0.5,
                         0.16666666666666666,
                         0.041666666666666706,
                         0.008333333333333269,
                         0.0013888888888865742,
                         0.00019841269841474671,
                         2.4801587360626592e-5,
                         2.755731893278914e-6,
                         2.7557243790959107e-7,
                         2.5052289442474558e-8,
                         2.0923899565540267e-9,
                         1.6029159577883632e-10};
  double e = tail[11];
#pragma unroll
  for (int degree = 10; degree >= 0; degree--) e = add(mul(e, r), tail[degree]);
  const double rest = sub(mul(mul(r, r), e), b), sum = add(1.0, a);
  const double mantissa = add(sum, add(add(sub(1.0, sum), a), rest));
  const int whole = (int)n, half = whole >> 1;
  return mul(mul(mantissa, powerOfTwo(half)), powerOfTwo(whole - half));
}

/** e^x for x <= 0. */
static __device__ __forceinline__ double expOfNegative(double x) {
  if (x < -746.0) return 0.0;
  const double n = wholeLogs(x);
  return expOfParts(n, portable::sub(x, portable::mul(n, 0.6931471805598903)), portable::mul(n, 5.497923018708371e-14));
}

}  // namespace elementary
