// log, sin and cos in binary64 by docs/numerics.md, rule 8, for normal x > 0 and for |x| < 2^30:
// not the whole of the rule.
#pragma once
#include "portable.cuh"

namespace elementary {

using portable::add;
using portable::div;
using portable::mul;
using portable::sub;

/**
 * The exact a b - p for p = a b rounded. One fused operation gives it exactly, as the rule's
 * splitting does.
 */
static __device__ __forceinline__ double productError(double a, double b, double p) { return __fma_rn(a, b, -p); }

/** high + low. */
struct Pair {
  double high, low;
};

/** log(x 2^scale) for normal x > 0, to about 2^-65 of its size. */
static __device__ __forceinline__ Pair logPair(double x, int scale = 0) {
  const long long bits = __double_as_longlong(x);
  double k = (double)((int)(bits >> 52) - 1023 + scale);
  double m = __longlong_as_double((bits & 0xfffffffffffffll) | 0x3ff0000000000000ll);
  if (m >= 0x1.6a09e667f3bcdp+0) {
    m = mul(m, 0.5);
    k = add(k, 1.0);
  }
  const double f = sub(m, 1.0), d = add(m, 1.0), d2 = sub(m, sub(d, 1.0));
  const double s = div(f, d), p = mul(s, d), s2 = div(sub(sub(sub(f, p), productError(s, d, p)), mul(s, d2)), d);
  const double z = mul(s, s), z2 = add(productError(s, s, z), mul(add(s, s), s2));
  double t = 0x1.eafc5f24eeec9p-4;
  t = add(mul(t, z), 0x1.de362ee673b21p-4);
  t = add(mul(t, z), 0x1.1120a263665c5p-3);
  t = add(mul(t, z), 0x1.3b1363466b7f7p-3);
  t = add(mul(t, z), 0x1.745d182fe5540p-3);
  t = add(mul(t, z), 0x1.c71c71c586593p-3);
  t = add(mul(t, z), 0x1.2492492492ff8p-2);
  t = add(mul(t, z), 0x1.9999999999996p-2);
  const double q = mul(z, t), w = add(0x1.5555555555555p-1, q);
  const double w2 = add(add(sub(0x1.5555555555555p-1, w), q), 0x1.5555555555555p-55);
  const double c = mul(s, z), c2 = add(productError(s, z, c), add(mul(s, z2), mul(s2, z)));
  const double b = mul(c, w), b2 = add(productError(c, w, b), add(mul(c, w2), mul(c2, w)));
  const double g = mul(k, 0x1.62e42fefa3800p-1), u = add(s, s), v = add(g, u), v2 = add(sub(g, v), u);
  const double y = add(v, b), y2 = add(sub(v, y), b);
  const double o = add(add(add(v2, y2), b2), add(add(s2, s2), mul(k, 0x1.ef35793c76730p-45)));
  const double high = add(y, o);
  return {high, add(sub(y, high), o)};
}

/** For normal x > 0. */
static __device__ __forceinline__ double log(double x) { return logPair(x).high; }

/** x - n pi / 2 as high + low, and n. */
struct Reduced {
  double high, low;
  int n;
};

/** For |x| < 2^30. */
static __device__ __forceinline__ Reduced reduced(double x) {
  const double n = sub(add(mul(x, 0x1.45f306dc9c883p-1), 6755399441055744.0), 6755399441055744.0);
  double h = sub(sub(x, mul(n, 0x1.921fb4p+0)), mul(n, 0x1.4442dp-24)), l = 0.0;
  const double rest[3] = {0x1.846988p-48, 0x1.8cc514p-72, 0x1.80dc1cp-95};
#pragma unroll
  for (int i = 0; i < 3; i++) {
    const double p = mul(n, rest[i]), d = sub(h, p), e = sub(d, h);
    l = add(l, sub(sub(h, sub(d, e)), add(p, e)));
    h = d;
  }
  l = sub(l, mul(n, 0x1.a252049c1114dp-120));
  const double sum = add(h, l);
  return {sum, add(sub(h, sum), l), (int)n};
}

/** sin(h + l), |h| at most about pi / 4. */
static __device__ __forceinline__ double sineNear(double h, double l) {
  const double z = mul(h, h);
  double t = -0x1.aaa58fc09dfbcp-41;
  t = add(mul(t, z), 0x1.6120934f53911p-33);
  t = add(mul(t, z), -0x1.ae645299455a3p-26);
  t = add(mul(t, z), 0x1.71de3a533a43ap-19);
  t = add(mul(t, z), -0x1.a01a01a018aefp-13);
  t = add(mul(t, z), 0x1.111111111110bp-7);
  t = add(mul(t, z), -0x1.5555555555555p-3);
  return add(h, add(mul(mul(z, h), t), mul(l, sub(1.0, mul(0.5, z)))));
}

/** cos(h + l), likewise. */
static __device__ __forceinline__ double cosineNear(double h, double l) {
  const double z = mul(h, h);
  double t = 0x1.aac6e804cb60ap-45;
  t = add(mul(t, z), -0x1.93933b38aac88p-37);
  t = add(mul(t, z), 0x1.1eed8ca68a05cp-29);
  t = add(mul(t, z), -0x1.27e4fb7600514p-22);
  t = add(mul(t, z), 0x1.a01a01a018e1ap-16);
  t = add(mul(t, z), -0x1.6c16c16c16c10p-10);
  t = add(mul(t, z), 0x1.5555555555555p-5);
  const double g = mul(0.5, z), w = sub(1.0, g);
  return add(w, add(sub(sub(1.0, w), g), sub(mul(mul(z, z), t), mul(h, l))));
}

static __device__ __forceinline__ double negatedIf(bool negative, double value) { return negative ? -value : value; }

/** For |x| < 2^30. */
static __device__ __forceinline__ double cos(double x) {
  const Reduced at = reduced(x);
  const int quadrant = (at.n & 3) + 1;
  const double value = quadrant % 2 == 0 ? sineNear(at.high, at.low) : cosineNear(at.high, at.low);
  return negatedIf(quadrant % 4 >= 2, value);
}

struct SineCosine {
  double sine, cosine;
};

/** Both of x, |x| < 2^30. */
static __device__ __forceinline__ SineCosine sincos(double x) {
  const Reduced at = reduced(x);
  const double sine = sineNear(at.high, at.low), cosine = cosineNear(at.high, at.low);
  const bool odd = at.n & 1;
  const double whole = negatedIf(at.n & 2, odd ? cosine : sine);
  return {fabs(x) >= 7.450580596923828e-9 ? whole : x, negatedIf((at.n + 1) & 2, odd ? sine : cosine)};
}

}  // namespace elementary
