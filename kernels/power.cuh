// pow in binary64 by docs/numerics.md, rule 8, for x >= 0 and exponents above 0 and up to 1.
#pragma once
#include "elementary.cuh"
#include "exponential.cuh"

namespace elementary {

/** x^y for finite x >= 0 and 0 < y <= 1. */
static __device__ __forceinline__ double power(double x, double y) {
  if (x == 0.0) return 0.0;
  const bool isSubnormal = x < 2.2250738585072014e-308;
  const Pair log = logPair(isSubnormal ? mul(x, 18014398509481984.0) : x, isSubnormal ? -54 : 0);
  const double p = mul(y, log.high), l = add(productError(y, log.high, p), mul(y, log.low));
  const double n = wholeLogs(p);
  return expOfParts(n, sub(p, mul(n, 0.6931471805598903)), sub(mul(n, 5.497923018708371e-14), l));
}

}  // namespace elementary
